"""Loops written for PyTorch's DataLoader: its names, states, epochs, and shards of ranks."""

import itertools
import json
import sys
import types
import warnings

import numpy as np
import pytest

import feedline


def samples_of(batches):
    return [sample for batch in batches for sample in batch.samples().tolist()]


def make(numbered, **options):
    return feedline.Loader(numbered, feedline.shuffle(seed=8), **{"batch_size": 64, **options})


def test_a_state_dict_is_plain_and_continues_in_the_middle_of_an_epoch(numbered):
    first = make(numbered)
    first.set_epoch(2)
    loop = iter(first)
    for _ in range(5):
        next(loop)
    state = json.loads(json.dumps(first.state_dict()))
    assert (state["epoch"], state["batch"]) == (2, 5)
    second = make(numbered)
    second.load_state_dict(state)
    assert samples_of(second) == samples_of(loop)
    assert samples_of(second) == samples_of(make(numbered).epoch(3))


def test_after_the_last_batch_a_state_says_the_next_epoch_though_nobody_asked_for_its_end(numbered):
    first = make(numbered)
    for _ in itertools.islice(first, len(first)):  # as Lightning, which counts
        pass
    state = first.state_dict()
    assert (state["epoch"], state["batch"]) == (1, 0)
    second = make(numbered)
    second.load_state_dict(state)
    assert samples_of(second) == samples_of(first.epoch(1))


def test_iterators_that_are_never_used_do_not_count_as_epochs(numbered):
    loader = make(numbered)
    iter(loader), iter(loader)  # as Lightning makes them
    loop = iter(loader)
    loader.set_epoch(4)
    assert {batch.epoch for batch in loop} == {4}
    assert {batch.epoch for batch in loader} == {5}


def test_set_epoch_keeps_a_loaded_position_and_refuses_another_epoch(numbered):
    state = make(numbered).state_dict() | {"epoch": 3, "batch": 2}
    loader = make(numbered)
    loader.load_state_dict(state)
    with pytest.raises(feedline.UsageError, match="epoch 0 is asked for.*goes on in epoch 3"):
        loader.set_epoch(0)
    loader.set_epoch(3)
    assert next(iter(loader)).index == 2
    loader.set_epoch(0)  # once its epoch has begun, any other may follow
    assert next(iter(loader)).epoch == 0


def test_set_epoch_begins_at_a_batch(numbered):
    loader = make(numbered)
    loader.set_epoch(2, 12)
    assert loader.next_epoch == 2
    whole = [batch.samples().tolist() for batch in make(numbered).epoch(2)]
    assert [batch.samples().tolist() for batch in loader] == whole[12:]
    skipping = make(numbered, errors=feedline.ErrorPolicy(action="skip"))
    with pytest.raises(feedline.UsageError, match="depend on those that were left out"):
        skipping.set_epoch(2, 12)


def test_a_state_of_another_order_is_refused(numbered):
    other = feedline.Loader(numbered, feedline.shuffle(seed=9), batch_size=64)
    with pytest.raises(feedline.UsageError, match="order"):
        other.load_state_dict(make(numbered).state_dict())


def test_an_epoch_knows_how_many_batches_it_has(numbered):
    loader = make(numbered)
    assert len(loader) == len(loader.epoch(0)) == 16
    loader.set_epoch(1, 5)
    epoch = loader.epoch(1)
    assert len(epoch) == sum(1 for _ in epoch) == 11
    assert len(epoch) == 11  # those already taken included, as progress bars want
    assert len(loader.epoch(2)) == 16
    assert repr(epoch) == "<feedline.Epoch 1: 11 batches>"


def test_a_progress_bar_has_a_total(numbered):
    tqdm = pytest.importorskip("tqdm").tqdm
    loader = make(numbered)
    assert tqdm(loader.epoch(0), disable=True).total == 16
    assert tqdm(loader, disable=True).total == 16


def test_a_loader_has_the_attributes_of_a_dataloader(numbered):
    loader = make(numbered, drop_last=True)
    assert loader.dataset is numbered
    assert (loader.batch_size, loader.drop_last, len(loader)) == (64, True, 15)
    assert len(loader.sampler) == 1000
    loader.sampler.set_epoch(6)
    assert loader.next_epoch == 6
    assert list(loader.sampler)[:64] == next(iter(loader)).samples().tolist()
    assert "rank" not in repr(loader) and "batch_size=64" in repr(loader)


def test_keywords_of_a_dataloader_are_understood(numbered):
    loader = feedline.Loader(numbered, batch_size=64, shuffle=True, seed=5, device="cpu")
    order = feedline.shuffle(seed=5).indices(1000, 0).tolist()
    assert samples_of(loader.epoch(0)) == order
    assert samples_of(feedline.Loader(numbered, batch_size=64, shuffle=False)) == list(range(1000))
    with pytest.raises(TypeError, match="shuffle=True and a sampler exclude each other"):
        make(numbered, shuffle=True)
    with pytest.raises(TypeError, match="drop_last=True and partial_batch='fill' differ"):
        make(numbered, drop_last=True, partial_batch="fill")


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("num_workers", "readers=N.*from_dataloader"),
        ("pin_memory", "always pinned"),
        ("collate_fn", "as_tuple="),
        ("batch_sampler", "lists of equal size"),
        ("prefetch_factor", "staging_slots"),
        ("persistent_workers", "leave it out"),
        ("worker_init_fn", "seed="),
        ("generator", "feedline.shuffle"),
        ("multiprocessing_context", "threads"),
        ("timeout", "next"),
    ],
)
def test_keywords_of_a_dataloader_without_a_meaning_name_what_to_use(numbered, option, advice):
    text = f"^Loader: {option} is an option of DataLoader; .*{advice}"
    with pytest.raises(TypeError, match=text):
        feedline.Loader(numbered, **{option: 1})


def test_devices_have_the_names_of_pytorch(numbered):
    assert next(iter(feedline.Loader(numbered, device="cpu"))).size == 1
    with pytest.raises(TypeError, match="device is 'tpu': say 'cpu', 'cuda', 'cuda:1'"):
        feedline.Loader(numbered, device="tpu")
    if feedline.cuda_device_count() == 0:
        with pytest.raises(feedline.Error):
            feedline.Loader(numbered, device="cuda:0")


def test_batches_are_tuples_where_a_loop_unpacks_them(numbered):
    loader = make(numbered, as_tuple=("label", "row"))
    epoch = loader.epoch(0)
    assert (len(epoch), epoch.number) == (16, 0)
    for label, row in epoch:
        assert (row.numpy() == label.numpy()[:, None, None]).all()
    assert epoch.next() is None
    with pytest.raises(feedline.UsageError, match="as_tuple has 'image', and batches have row"):
        make(numbered, as_tuple=("image",))


def test_batches_are_tensors_of_pytorch(numbered):
    torch = pytest.importorskip("torch")
    for batch in make(numbered, as_torch=True):
        assert type(batch) is dict and type(batch["row"]) is torch.Tensor
    for label, row in make(numbered, as_torch=True, as_tuple=["label", "row"]):
        assert (row == label[:, None, None]).all()


def test_a_batch_moves_to_a_device(numbered):
    torch = pytest.importorskip("torch")
    batch = next(iter(make(numbered)))
    moved = batch.to(torch.device("cpu"), non_blocking=True)
    assert type(moved) is dict and moved["label"].data_ptr() == batch["label"].torch().data_ptr()
    again = type(batch)({name: value for name, value in batch.items()})
    assert type(again) is dict and type(again["row"]) is torch.Tensor
    assert type(batch)({"a": 1}) == {"a": 1}


# Ranks


def of_torch(monkeypatch, rank, world):
    joined = types.SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        get_rank=lambda: rank,
        get_world_size=lambda: world,
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", joined)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)


def test_shards_come_from_the_environment_and_rank_0_says_so(numbered, monkeypatch):
    seen = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            loader = make(numbered, batch_size=50)
        assert [(str(each.message)[:50], each.filename) for each in told] == (
            [("feedline.Loader: rank 0 of 2 (RANK and WORLD_SIZE)", __file__)] if rank == 0 else []
        )
        assert f"rank {rank} of 2" in repr(loader)
        seen.append([batch.samples().tolist() for batch in loader])
    assert sorted(itertools.chain(*seen[0], *seen[1])) == list(range(1000))
    order = feedline.shuffle(seed=8).indices(1000, 0).tolist()
    assert seen[0][3] + seen[1][3] == order[300:400]


def test_a_shard_that_is_said_is_taken_without_a_word(numbered, monkeypatch):
    of_torch(monkeypatch, 1, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(samples_of(make(numbered, shard=feedline.Shard()))) == 1000
        assert len(samples_of(make(numbered, shard=feedline.Shard(rank=1, world=2)))) == 500


def test_processes_that_are_joined_after_a_loader_was_made_share_its_epochs(numbered, monkeypatch):
    loader = make(numbered)
    state = make(numbered, batch_size=128).state_dict() | {"epoch": 2, "batch": 3}
    assert len(samples_of(loader)) == 1000
    of_torch(monkeypatch, 0, 2)
    with pytest.warns(UserWarning, match=r"rank 0 of 2 \(torch.distributed\)") as told:
        assert len(loader) == 8
    assert told[0].filename == __file__
    assert len(samples_of(loader)) == 500
    loader.load_state_dict(state)  # the global batch is that of two ranks
    order = feedline.shuffle(seed=8).indices(1000, 2).tolist()
    assert next(iter(loader)).samples().tolist() == order[384:448]


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"])
def test_launchers_whose_ranks_are_not_taken_are_told(numbered, monkeypatch, variable):
    monkeypatch.setenv(variable, "8")
    with pytest.warns(UserWarning, match="takes all samples in each of them: say shard="):
        assert len(samples_of(make(numbered))) == 1000
