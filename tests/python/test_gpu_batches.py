"""On a GPU: what loops do with batches gives the same bytes as on the host.

Kept batches, workers, DataLoaders, images decoded by the GPU, resuming, and programs that end.
"""

import gc
import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

import feedline

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.skipif(feedline.cuda_device_count() == 0, reason="there is no GPU"),
    pytest.mark.filterwarnings("ignore:batches are kept"),
]

CYCLES = 2_000_000  # a millisecond


class Numbered:
    """A map-style dataset: sample i's bytes spell i; perhaps with random numbers."""

    def __init__(self, size=600, drawn=False):
        self.size, self.drawn = size, drawn

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        sample = {"row": np.full((16, 64), index, np.int32), "label": index}
        if self.drawn:
            sample["drawn"] = np.random.rand(3)
        return sample


def check(batch):
    """The samples of a batch, whose rows are theirs."""
    labels, row = batch["label"].torch(), batch["row"].torch()
    assert row.is_cuda
    assert (row == labels.view(-1, 1, 1)).all()
    return labels.tolist()


@pytest.mark.parametrize("readers", [0, 2])
def test_a_list_of_all_batches_just_works(numbered, readers):
    few = feedline.ExpertOptions(staging_slots=2, device_slots=2, batches_per_slot=1)
    loader = feedline.Loader(
        numbered, feedline.shuffle(seed=3), "cuda", batch_size=50, readers=readers, expert=few
    )
    kept = list(loader.epoch(0))
    torch.cuda._sleep(CYCLES)
    later = [batch["label"].torch().clone() for batch in loader.epoch(1)]
    assert sorted(sum((check(batch) for batch in kept), [])) == list(range(1000))
    assert sorted(torch.cat(later).tolist()) == list(range(1000))
    assert loader.statistics().held.slots > 0
    del kept
    gc.collect()
    torch.cuda.synchronize()
    assert loader.statistics().held.slots == 0


def test_predictions_that_are_kept_are_those_of_their_batches(numbered):
    few = feedline.ExpertOptions(staging_slots=2, device_slots=2, batches_per_slot=1)
    loader = feedline.Loader(numbered, device="cuda", batch_size=25, expert=few)
    kept, doubled = [], []
    for batch in loader:
        label = batch["label"].torch()
        torch.cuda._sleep(CYCLES // 4)
        doubled.append(label * 2)
        kept.append(label)
    assert torch.cat(kept).tolist() == list(range(1000))
    assert torch.cat(doubled).tolist() == list(range(0, 2000, 2))
    del loader
    gc.collect()
    assert torch.cat(kept).tolist() == list(range(1000))


@pytest.mark.parametrize("start_method", ["fork", "forkserver", "spawn"])
def test_samples_of_workers(start_method):
    dataset = feedline.sequence_dataset(Numbered(), workers=3, start_method=start_method)
    with feedline.Loader(
        dataset, feedline.shuffle(seed=1), "cuda", batch_size=32, epochs=2
    ) as loader:
        for epoch in range(2):
            found = sum((check(batch) for batch in loader.epoch(epoch)), [])
            assert sorted(found) == list(range(600))


def test_workers_that_are_killed_lose_nothing():
    dataset = feedline.sequence_dataset(Numbered(), workers=3)
    found = []
    with feedline.Loader(dataset, feedline.shuffle(seed=1), "cuda", batch_size=20) as loader:
        for batch in loader:
            found += check(batch)
            if batch.index % 10 == 5:
                os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
    assert sorted(found) == list(range(600))


def digest(loader, batches=None):
    found = []
    for number, batch in enumerate(loader, 1):
        found.append({name: batch[name].torch().cpu().numpy() for name in batch})
        if number == batches:
            break
    return found


def same(one, other):
    assert len(one) == len(other)
    for mine, theirs in zip(one, other):
        assert mine.keys() == theirs.keys()
        for name, values in mine.items():
            assert np.array_equal(values, theirs[name]), name


@pytest.mark.parametrize("workers", [0, 3])
def test_random_samples_are_the_hosts_also_after_resuming(workers):
    def made(device):
        dataset = feedline.sequence_dataset(Numbered(300, drawn=True), workers=workers, seeded=True)
        return feedline.Loader(dataset, device=device, batch_size=30, shuffle=True, seed=5)

    with made("cpu") as loader:
        expected = digest(loader)
    with made("cuda") as loader:
        found = digest(loader, 4)
        state = loader.state_dict()
    with made("cuda") as loader:
        loader.load_state_dict(state)
        found += digest(loader)
    same(found, expected)


def test_a_dataloaders_batches_are_on_the_gpu():
    usual = torch.utils.data.DataLoader(Numbered(), batch_size=40, num_workers=2, pin_memory=True)
    loader = feedline.from_dataloader(usual, "cuda", start_method="fork")
    for mine, theirs in zip(loader, usual, strict=True):
        assert mine["row"].is_cuda
        for name in theirs:
            assert torch.equal(mine[name].cpu(), theirs[name].to(mine[name].dtype))


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("photographs")
    random = np.random.default_rng(0)
    for number in range(48):
        path = folder / f"class{number % 3}" / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        coarse = random.integers(0, 256, (5, 7, 3), dtype=np.uint8)
        size = int(random.integers(40, 200)), int(random.integers(40, 200))
        image.fromarray(coarse).resize(size).save(
            path, quality=int(random.integers(60, 96)), subsampling=int(number % 3),
            progressive=number % 5 == 0,
        )
    return folder


@pytest.mark.parametrize("recipe", [False, True])
def test_images_that_the_gpu_decodes_are_the_readers(photographs, recipe):
    cut = {"resized_crop": feedline.CropRanges()} if recipe else {"shorter_side": 40}
    changes = {}
    if recipe:
        changes = {"trivial_augment_wide": feedline.TrivialAugmentWide(),
                   "erasing": feedline.RandomErasing(probability=0.5), "flip": 0.5}  # fmt: skip

    def made(device, decode_on):
        dataset, classes = feedline.open_image_folder(
            photographs,
            image=feedline.ImageOptions(height=32, width=32, reduced_decoding=False, **cut),
        )
        assert len(classes) == 3
        return feedline.Loader(
            dataset, feedline.shuffle(seed=2), device, batch_size=16, decode_on=decode_on, epochs=2,
            transforms=[
                feedline.FieldTransform("image", to="float32", scale=1 / 255, layout="hwc",
                                        **changes),
                feedline.FieldTransform("label", to="float32", one_hot=3)],
            mixing=feedline.Mixing(image="image", label="label", mixup_alpha=0.4),
        )  # fmt: skip

    found = []
    for where in (("cpu", "cpu"), ("cuda", "cpu"), ("cuda", "device")):
        with made(*where) as loader:
            found.append(digest(loader.epoch(0)) + digest(loader.epoch(1)))
    same(found[1], found[0])
    same(found[2], found[0])


def test_sparse_rows_that_the_gpu_makes_dense_are_scipys(tmp_path):
    h5py = pytest.importorskip("h5py")
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.random(500, 300, 0.05, "csr", dtype=np.float32, random_state=3)
    with h5py.File(tmp_path / "cells.h5ad", "w") as made:
        group = made.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", matrix.shape
        for name in ("data", "indices", "indptr"):
            values = getattr(matrix, name)
            group.create_dataset(name, data=values, chunks=(256,), compression="gzip")
    rows = feedline.open_hdf5_csr(str(tmp_path / "cells.h5ad"), "X")
    labelled = feedline.zip([rows, feedline.make_memory_dataset({"label": np.arange(500)})])
    options = {"device": "cuda", "batch_size": 64, "decode_on": "device"}
    with feedline.Loader(labelled, feedline.shuffle(seed=1), **options) as loader:
        plan = loader.plan()
        assert (plan.decode_on, plan.decode_note) == ("device", "")
        assert plan.decoded_at_once > 0
        assert plan.decoded_fields == ["X"]
        for batch in loader.epoch(0):
            label = batch["label"].torch().cpu().numpy()
            assert (batch["X"].torch().cpu().numpy() == matrix[label].toarray()).all()


def test_the_gpu_makes_positions_documents_and_masks_of_packed_rows():
    lengths = [1 + i * 7 % 40 for i in range(300)]
    texts = feedline.make_ragged_dataset(
        feedline.make_memory_dataset({"token": np.arange(sum(lengths), dtype=np.int32)}),
        feedline.make_memory_dataset({"offset": np.concatenate([[0], np.cumsum(lengths)])}),
    )
    rows = feedline.pack_together(
        [texts], capacity=61, seed=1, positions=True, documents=True, mask="followed"
    )
    made = ["token_position", "token_document", "token_mask"]
    options = {"batch_size": 8}
    with (
        feedline.Loader(rows, feedline.shuffle(seed=1), **options) as on_host,
        feedline.Loader(rows, feedline.shuffle(seed=1), device="cuda", **options) as on_gpu,
    ):
        assert on_gpu.plan().made_on_device == made
        assert on_gpu.plan().made_note == ""
        for expected, seen in zip(on_host.epoch(0), on_gpu.epoch(0), strict=True):
            for name in ("token", *made):
                assert (seen[name].torch().cpu().numpy() == expected[name].numpy()).all(), name


@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "raise ValueError", "os._exit(0)"])
@pytest.mark.parametrize("kept", ["", "kept.append(batch)", "kept.append(batch['x'].torch())"])
def test_a_program_ends_whatever_is_held(run_python, in_time, end, kept):
    code = f"""if True:
        import os, sys, threading, time
        import numpy, torch, feedline
        kept = []
        dataset = feedline.make_memory_dataset({{"x": numpy.arange(100_000)}})
        loader = feedline.Loader(dataset, device="cuda", batch_size=100, epochs=1000)
        def consume():
            for batch in loader:
                pass
        for number, batch in enumerate(loader):
            {kept}
            if number == 50:
                break
        if {not kept}:
            threading.Thread(target=consume, daemon=True).start()
        print(time.time(), flush=True)
        {end}
    """
    ran = run_python(code, timeout=60)
    ended = time.time()
    expected = {"pass": 0, "sys.exit(3)": 3, "raise ValueError": 1, "os._exit(0)": 0}[end]
    assert ran.returncode == expected, ran.stderr
    assert "terminate" not in ran.stderr
    assert in_time(ended - float(ran.stdout), 4)
