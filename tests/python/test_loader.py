"""A loader gives the order, the content and the options of the C++ library."""

import datetime
import inspect
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import feedline

ROOT = Path(__file__).resolve().parents[2]


def samples_of(loader, number):
    return [sample for batch in loader.epoch(number) for sample in batch.samples().tolist()]


@pytest.mark.parametrize("readers", [0, 1, 4])
@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_content_and_order_do_not_depend_on_readers(numbered, check_batch, readers, batch_size):
    order = feedline.shuffle(seed=3)
    loader = feedline.Loader(numbered, order, batch_size=batch_size, readers=readers, epochs=3)
    for epoch in range(3):
        seen = []
        for index, batch in enumerate(loader.epoch(epoch)):
            check_batch(batch)
            assert (batch.epoch, batch.index) == (epoch, index)
            seen += batch.samples().tolist()
        assert seen == order.indices(1000, epoch).tolist()
        assert len(loader) == index + 1


def test_samplers_say_their_order(numbered):
    assert feedline.sequential().indices(10, 5).tolist() == list(range(10))
    assert sorted(feedline.shuffle(seed=1).indices(100, 0)) == list(range(100))
    assert feedline.shuffle().indices(100, 1, first=3, count=2).shape == (2,)
    drawn = feedline.weighted([0, 1, 0, 3], epoch_size=100).indices(4, 0)
    assert set(drawn.tolist()) == {1, 3}
    labels = [0] * 90 + [1] * 10
    balanced = feedline.class_balanced(labels, seed=2, epoch_size=100).indices(100, 0)
    assert np.array(labels)[balanced].sum() == 50
    given = feedline.explicit_order([3, 1, 2, 0], rows=2)
    assert [given.indices(4, epoch).tolist() for epoch in (0, 1)] == [[3, 1], [2, 0]]
    assert feedline.take(feedline.sequential(), 0.3).indices(10, 1).tolist() == [3, 4, 5]
    assert feedline.take(feedline.sequential(), 2, "epoch_begin").indices(9, 4).tolist() == [0, 1]
    halves = [feedline.subset(numbered, range(500)), feedline.subset(numbered, range(500, 1000))]
    mixed = feedline.mixture(halves, [0.9, 0.1]).indices(1000, 0)
    assert (mixed < 500).sum() == 900
    points = [(0, [1, 0]), (1.0, [0.5, 0.5])]
    scheduled = feedline.scheduled_mixture(halves, points, unit="epochs", seed=3)
    assert (scheduled.indices(1000, 0) < 500).sum() == 750
    assert (scheduled.indices(1000, 7) < 500).sum() == 500
    steps = feedline.scheduled_mixture(halves, points, unit="epochs", change="steps")
    assert (steps.indices(1000, 0) < 500).all()
    with pytest.raises(feedline.UsageError, match="point 1: all 2 weights are 0"):
        feedline.scheduled_mixture(halves, [(0, [1, 1]), (9, [0, 0])])
    with pytest.raises(feedline.UsageError, match="weight"):
        feedline.weighted([-1.0])


@pytest.mark.parametrize(
    ("python", "struct", "count"),
    [
        (feedline.Loader, "loader_options", 14),
        (feedline.MemoryLimits, "memory_limits", 3),
        (feedline.ExpertOptions, "expert_options", 11),
    ],
)
def test_options_have_the_names_and_defaults_of_cpp(python, struct, count):
    header = (ROOT / f"include/feedline/loader/{struct}.hpp").read_text()
    body = header[header.index(f"struct {struct} {{") :]
    members = re.findall(r"\n  [a-z_:0-9<>]+ ([a-z_]+) =", body)
    options = inspect.signature(python).parameters
    assert len(members) == count
    for member in members:
        if member != "batch_transform":  # a function on the device's side: C++ alone
            assert options[member].default is not inspect.Parameter.empty, member
    if python is feedline.Loader:
        assert options["batch_size"].default == 1
        assert options["partial_batch"].default == "keep"


def test_options_that_there_are_not_are_type_errors(numbered):
    with pytest.raises(TypeError):
        feedline.Loader(numbered, batch_sise=4)
    with pytest.raises(feedline.UsageError, match="batch_size is 0"):
        feedline.Loader(numbered, batch_size=0)
    with pytest.raises(feedline.UsageError, match="'automatic', 'stream'"):
        feedline.Loader(numbered, placement="nowhere")
    with pytest.raises(TypeError):
        feedline.Loader(numbered, staging_slots=4)  # an option of ExpertOptions


def test_the_plan_says_who_decodes_and_why(numbered):
    plan = feedline.Loader(numbered, decode_on="device").plan()
    assert plan.decode_on == "cpu"
    assert "reads staging memory" in plan.decode_note
    assert feedline.Loader(numbered).plan().decode_note == ""
    assert plan.device_could_decode is False
    assert plan.decoded_fields == []
    with pytest.raises(feedline.UsageError, match="'cpu', 'device', 'automatic'"):
        feedline.Loader(numbered, decode_on="nobody")


def test_every_option_reaches_the_loader(numbered):
    loader = feedline.Loader(
        numbered,
        feedline.sequential(),
        feedline.make_host_device(),
        batch_size=30,
        partial_batch="drop",
        shard=feedline.Shard(rank=1, world=2),
        readers=2,
        memory=feedline.MemoryLimits(pinned=2**20),
        expert=feedline.ExpertOptions(
            batches_per_slot=2,
            staging_slots=3,
            leave_reads_after=datetime.timedelta(seconds=5),
            tuning=feedline.TuningBudget(max_readers=3),
        ),
    )
    plan = loader.plan()
    assert plan.staging_bytes <= 2**20
    assert (plan.batch_size, plan.batches_per_epoch, plan.shard.rank) == (30, 16, 1)
    assert (plan.batches_per_slot, plan.staging_slots, plan.readers) == (2, 3, 3)
    assert plan.placement == "stream"
    assert "slots" in str(plan)
    assert samples_of(loader, 0)[:31] == [*range(30, 60), 90]


def test_transforms_are_applied():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    dataset = feedline.make_memory_dataset({"image": pixels, "label": np.array([1, 0])})
    transforms = [
        feedline.FieldTransform(
            "image", scale=1 / 255, mean=[0.5], stddev=[0.5, 1, 2], layout="hwc", to_layout="chw"
        ),
        feedline.FieldTransform("label", one_hot=3),
    ]
    loader = feedline.Loader(dataset, batch_size=2, transforms=transforms)
    batch = next(loader.epoch(0))
    expected = (pixels / 255 - 0.5) / [0.5, 1, 2]
    np.testing.assert_allclose(batch["image"].numpy(), expected.transpose(0, 3, 1, 2), 1e-5, 1e-6)
    assert batch["label"].numpy().tolist() == [[0, 1, 0], [1, 0, 0]]
    crop = feedline.ImageCrop(height=1, width=2, random=False)
    cut = feedline.FieldTransform("image", to=np.uint8, layout="hwc", crop=crop)
    loader = feedline.Loader(dataset, batch_size=2, transforms=[cut])
    assert next(loader.epoch(0))["image"].shape == (2, 1, 2, 3)


def test_images_are_resized():
    dataset = feedline.make_memory_dataset({"image": np.full((2, 8, 6, 3), 7, np.uint8)})
    for kind, member in [
        (feedline.ImageResize(height=4, width=5), "resize"),
        (feedline.RandomResizedCrop(height=4, width=5, scale=(0.5, 1)), "resized_crop"),
    ]:
        transform = feedline.FieldTransform("image", layout="hwc", **{member: kind})
        assert f"{member} 4 x 5" in str(transform)
        loader = feedline.Loader(dataset, batch_size=2, transforms=[transform])
        assert (next(loader.epoch(0))["image"].numpy() == np.full((2, 4, 5, 3), 7)).all()


def test_colours_change_and_parts_are_erased():
    dataset = feedline.make_memory_dataset({"image": np.full((2, 8, 6, 3), 100, np.uint8)})
    transform = feedline.FieldTransform(
        "image",
        layout="hwc",
        jitter=feedline.ColorJitter(brightness=0.5),
        erasing=feedline.RandomErasing(probability=1, scale=(0.2, 0.4), value=[-1]),
    )
    loader = feedline.Loader(dataset, batch_size=2, transforms=[transform])
    for image in next(loader.epoch(0))["image"].numpy():
        values = np.unique(image)
        assert values[0] == -1 and len(values) == 2 and 50 <= values[1] <= 150


def mixed_loader(**mixing):
    images = np.arange(8 * 4 * 6 * 3, dtype=np.uint8).reshape(8, 4, 6, 3)
    dataset = feedline.make_memory_dataset({"image": images, "label": np.arange(8)})
    transforms = [
        feedline.FieldTransform("image", layout="hwc"),
        feedline.FieldTransform("label", one_hot=8),
    ]
    options = {"image": "image", "label": "label"} | mixing
    mixing = feedline.Mixing(**options)
    return images, feedline.Loader(dataset, batch_size=8, transforms=transforms, mixing=mixing)


def test_samples_are_mixed_with_their_neighbours():
    images, loader = mixed_loader(mixup_alpha=1.0)
    batch = next(loader.epoch(0))
    mixed, labels = batch["image"].numpy(), batch["label"].numpy()
    assert np.allclose(labels.sum(axis=1), 1)
    for i in range(8):
        own, other = labels[i, i], labels[i, i ^ 1]
        assert 0 < own < 1 and np.isclose(own + other, 1)
        expected = own * images[i].astype(np.float64) + other * images[i ^ 1]
        assert np.allclose(mixed[i], expected, atol=1e-3)


def test_a_batch_a_pair_or_a_sample_is_mixed_by_one_weight():
    def own_weights(**options):
        _, loader = mixed_loader(mixup_alpha=1.0, **options)
        return np.diag(next(loader.epoch(0))["label"].numpy()).round(5)

    assert len(set(own_weights())) == len(set(own_weights(draws="batch"))) == 1
    pairs = own_weights(draws="pair").reshape(4, 2)
    assert (pairs[:, 0] == pairs[:, 1]).all() and len(set(pairs[:, 0])) == 4
    assert len(set(own_weights(draws="sample"))) == 8
    assert feedline.Mixing(image="image", mixup_alpha=1).draws == "batch"
    with pytest.raises(feedline.UsageError, match="'epoch'"):
        feedline.Mixing(image="image", mixup_alpha=1, draws="epoch")


def test_boxes_are_cut_out_of_neighbours():
    images, loader = mixed_loader(cutmix_alpha=1.0)
    cut = 0
    for epoch in range(5):
        batch = next(loader.epoch(epoch))
        mixed, labels = batch["image"].numpy(), batch["label"].numpy()
        for i in range(8):
            taken = (mixed[i] == images[i ^ 1]).all(axis=-1)
            assert ((mixed[i] == images[i]).all(axis=-1) | taken).all()
            assert np.isclose(labels[i, i ^ 1], taken.mean())
            cut += taken.any()
    assert cut > 10


def test_options_of_mixing_are_checked():
    assert "mixing of image and label: mixup 0.2" in str(
        feedline.Mixing(image="image", label="label", mixup_alpha=0.2)
    )
    with pytest.raises(feedline.UsageError, match="mixup_alpha is -1: say 0.001 to 1000"):
        mixed_loader(mixup_alpha=-1)
    with pytest.raises(feedline.UsageError, match="probability is nan"):
        mixed_loader(mixup_alpha=1, probability=float("nan"))
    with pytest.raises(feedline.UsageError, match="image is 'picture': there is no such field"):
        mixed_loader(image="picture", mixup_alpha=1)
    with pytest.raises(feedline.UsageError, match="set one of them, or leave mixing out"):
        mixed_loader()
    with pytest.raises(TypeError):
        feedline.Mixing(image="image", alpha=1)
    with pytest.raises(TypeError):
        feedline.Mixing(image="image", mixup_alpha="much")
    with pytest.raises(TypeError):
        feedline.Loader(feedline.make_memory_dataset({"x": np.zeros(3)}), mixing=0.2)


def test_a_run_goes_on_where_its_state_says(numbered):
    def make():
        return feedline.Loader(numbered, feedline.shuffle(seed=8), batch_size=64)

    first = make()
    epoch = first.epoch(2)
    for _ in range(5):
        next(epoch)
    state = pickle.loads(pickle.dumps(feedline.State.from_json(first.state().to_json())))
    assert state == first.state()
    assert (state.epoch, state.batch) == (2, 5)
    rest = [batch.samples().tolist() for batch in epoch]

    second = make()
    second.seek(state)
    assert [batch.samples().tolist() for batch in second] == rest  # the state's epoch
    assert samples_of(second, 3) == samples_of(first, 3)
    assert second.order_digest() == first.order_digest()
    other = feedline.Loader(numbered, batch_size=64)
    with pytest.raises(feedline.UsageError, match="order"):
        other.seek(state)


def test_a_seek_goes_on_after_an_error():
    def read(index):
        if index == 5:
            raise feedline.DatasetError("damaged")
        return {"y": index}

    loader = feedline.Loader(feedline.sequence_dataset(read, size=12), batch_size=4)
    epoch = loader.epoch(0)
    assert next(epoch).samples().tolist() == [0, 1, 2, 3]
    for _ in range(2):
        with pytest.raises(feedline.StageError, match="damaged"):
            next(epoch)
    place = json.loads(loader.state().to_json())
    assert place["batch"] == 1
    place["batch"] = 2
    loader.seek(feedline.State.from_json(json.dumps(place)))
    assert samples_of(loader, 0) == [8, 9, 10, 11]


def test_a_state_whose_counts_cannot_be_is_refused(numbered):
    policy = feedline.ErrorPolicy(action="skip")
    loader = feedline.Loader(numbered, batch_size=64, errors=policy)
    place = json.loads(loader.state().to_json()) | {"batch": 2, "unreadable": 1, "skipped": 2}
    with pytest.raises(feedline.UsageError, match="which is more"):
        loader.seek(feedline.State.from_json(json.dumps(place)))


def test_a_timeout_that_is_no_time_is_refused(numbered):
    epoch = feedline.Loader(numbered, batch_size=64).epoch(0)
    with pytest.raises(feedline.UsageError, match="timeout is nan"):
        epoch.next(timeout=float("nan"))
    assert epoch.next(timeout=float("inf")) is not None


def test_each_loop_over_a_loader_is_the_next_epoch(numbered):
    loader = feedline.Loader(numbered, batch_size=100)
    assert [batch.epoch for batch in loader] == [0] * 10
    for batch in loader:
        break  # leaves epoch 1
    assert {batch.epoch for batch in loader} == {2}


def test_statistics_tell_what_was_done(numbered):
    kept = feedline.ExpertOptions(trace_events=100)
    loader = feedline.Loader(numbered, batch_size=100, expert=kept)
    samples_of(loader, 0)
    before = loader.statistics()
    assert before.consumer.batches == 10
    assert before.consumer.samples == 1000
    samples_of(loader, 1)
    seen = loader.statistics().since(before)
    assert seen.consumer.batches == 10
    assert isinstance(seen.time, datetime.timedelta)
    assert isinstance(seen.judge().limit, str)
    assert json.loads(seen.to_json())["consumer"]["batches"] == 10
    assert seen.report() == str(seen)
    assert len(loader.trace()) > 0


def test_a_trace_is_written(numbered, tmp_path):
    kept = feedline.ExpertOptions(trace_events=100)
    loader = feedline.Loader(numbered, batch_size=100, expert=kept)
    samples_of(loader, 0)
    trace = loader.trace().only_epoch(0)
    trace.write_chrome_trace(tmp_path / "t.json")
    trace.write_page(tmp_path / "t.html", "a title")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert "a title" in (tmp_path / "t.html").read_text()


def test_a_stopped_or_closed_loader_gives_no_batch(numbered):
    loader = feedline.Loader(numbered, batch_size=100)
    epoch = loader.epoch(0)
    kept = next(epoch)
    loader.stop()
    assert next(epoch, None) is None
    with feedline.Loader(numbered, batch_size=100) as other:
        ended = other.epoch(0)
        assert sum(1 for _ in ended) == 10
        inner = other.epoch(1)
        next(inner)
    assert next(ended, None) is None
    for _ in range(2):  # not an end, which would look like a short epoch
        with pytest.raises(feedline.UsageError, match="is closed, and epoch 1 had not ended"):
            next(inner)
    with pytest.raises(feedline.UsageError, match="closed"):
        other.statistics()
    other.close()  # again is nothing
    assert kept["label"].numpy()[0] == 0


def test_a_schedule_is_resumed_in_another_world_and_refuses_another_one(numbered):
    parts = [feedline.subset(numbered, range(600)), feedline.subset(numbered, range(600, 1000))]
    data = feedline.concatenate(parts)

    def load(rank=0, world=1, late=3):
        points = [(0, [1, 0]), (700, [1, 2]), (2500, [1, late])]
        order = feedline.scheduled_mixture(parts, points, seed=5)
        shard = feedline.Shard(rank=rank, world=world)
        return feedline.Loader(data, order, batch_size=40 // world, shard=shard)

    def samples(loader, state=None):
        found = []
        if state is not None:
            loader.seek(state)
        for epoch in range(state.epoch if state is not None else 0, 3):
            found += [batch.samples().tolist() for batch in loader.epoch(epoch)]
        return found

    whole = samples(load())
    first = load()
    taken = 0
    for epoch in range(2):
        for _ in first.epoch(epoch):
            taken += 1
            if taken == 33:
                break
    state = first.state()
    ranks = [samples(load(rank, 4), state) for rank in range(4)]
    assert [sum(parts, []) for parts in zip(*ranks)] == whole[33:]
    with pytest.raises(feedline.UsageError, match="fingerprints of the order"):
        load(late=4).seek(state)
