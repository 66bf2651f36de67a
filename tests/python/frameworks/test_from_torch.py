"""PyTorch's datasets and DataLoaders as feedline's.

Over 250 lines: each argument of DataLoader has its test.
"""

import collections
import random

import numpy as np
import pytest

import feedline

torch = pytest.importorskip("torch")
data = pytest.importorskip("torch.utils.data")

Pair = collections.namedtuple("Pair", "image label")


class Pairs(data.Dataset):
    """Sample i spells i."""

    def __len__(self):
        return 50

    def __getitem__(self, index):
        return torch.full((2, 3), index, dtype=torch.float32), index


class Nested(Pairs):
    def __getitem__(self, index):
        boxes = {"score": torch.tensor([index / 2]), "points": (torch.tensor(index), index > 7)}
        return {"boxes": boxes, "text": f"sample {index}"}


class Together(Pairs):
    """Samples that are made by __getitems__ alone."""

    def __getitem__(self, index):
        assert index == 0  # the one that tells the fields
        return Pair(*super().__getitem__(index))

    def __getitems__(self, indices):
        return [Pair(*Pairs.__getitem__(self, index)) for index in indices]


class Drawn(Pairs):
    def __getitem__(self, index):
        return {"y": index, "drawn": torch.tensor([random.random(), np.random.rand()])}


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(10))


def same(ours, theirs):
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs):
        assert own.dtype == other.dtype and torch.equal(own, other)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_those_of_a_dataloader(workers):
    theirs = data.DataLoader(Pairs(), batch_size=8, num_workers=workers, pin_memory=False)
    loader = feedline.from_dataloader(theirs, start_method="fork")
    assert len(loader) == len(theirs) == 7
    for _ in range(2):
        pairs = zip(loader, data.DataLoader(Pairs(), batch_size=8), strict=True)
        for (image, label), other in pairs:
            same([image, label], other)


@pytest.mark.parametrize("workers", [0, 2])
def test_nested_samples_get_dotted_names(workers):
    options = {"workers": workers} if workers == 0 else {"workers": 2, "start_method": "fork"}
    dataset = feedline.from_torch(Nested(), pad={"text": 12}, **options)
    assert [field.name for field in dataset.fields] == [
        "boxes.score", "boxes.points.0", "boxes.points.1", "text", "text_length",
    ]  # fmt: skip
    sample = dataset.read([31])
    assert sample["boxes.score"][0] == [15.5] and sample["boxes.points.0"][0] == 31
    assert bytes(sample["text"][0][:9]) == b"sample 31" and sample["text_length"][0] == 9


def test_subsets_and_concatenated_datasets_are_datasets():
    halves = data.random_split(Pairs(), [25, 25], generator=torch.Generator().manual_seed(3))
    both = feedline.from_torch(data.ConcatDataset(halves))
    expected = list(halves[0].indices) + list(halves[1].indices)
    assert both.read(range(50))["1"].tolist() == expected


def test_getitems_is_called_for_several_samples_and_named_tuples_name_fields():
    dataset = feedline.from_torch(Together())
    assert dataset.read(range(50))["label"].tolist() == list(range(50))


def test_a_tensor_dataset_is_memory_that_is_not_copied():
    values = torch.arange(40, dtype=torch.float32).reshape(20, 2)
    loader = feedline.from_dataloader(
        data.DataLoader(data.TensorDataset(values, torch.arange(20)), batch_size=20)
    )
    values[3] = -1
    ((image, label),) = loader
    same([image, label], [values, torch.arange(20)])
    named = feedline.from_torch(data.TensorDataset(values, torch.arange(20)), names=["x", "y"])
    assert named[3]["x"].tolist() == [-1, -1]
    with pytest.raises(feedline.UsageError, match="2 values for 1 names"):
        feedline.from_torch(data.TensorDataset(values, values), names=["x"])


def test_shuffle_and_drop_last_are_understood():
    generator = torch.Generator().manual_seed(7)
    theirs = data.DataLoader(
        Pairs(), batch_size=8, shuffle=True, drop_last=True, generator=generator
    )
    loader = feedline.from_dataloader(theirs)
    epochs = [[y for _, label in loader for y in label.tolist()] for _ in range(2)]
    assert len(loader) == len(theirs) == 6 and epochs[0] != epochs[1]
    order = feedline.shuffle(seed=7)
    for number, labels in enumerate(epochs):
        assert labels == order.indices(50, number)[:48].tolist()
    seeded = feedline.from_dataloader(theirs, seed=9)
    first = [y for _, label in seeded for y in label.tolist()]
    assert first == feedline.shuffle(seed=9).indices(50, 0)[:48].tolist()


def test_augmentation_in_workers_repeats_for_any_number_of_them():
    def drawn(workers, seed):
        theirs = data.DataLoader(
            Drawn(), batch_size=8, num_workers=workers, multiprocessing_context="fork"
        )
        loader = feedline.from_dataloader(theirs, seed=seed)
        return torch.cat([batch["drawn"] for batch in loader])

    assert torch.equal(drawn(1, 5), drawn(3, 5))
    assert not torch.equal(drawn(1, 5), drawn(1, 6))


class InWorker(Pairs):
    """What a worker knows, or -1 in the process that makes the dataset."""

    opened = -1

    def __getitem__(self, index):
        info = data.get_worker_info()
        known = [-1, -1] if info is None else [info.id, info.num_workers]
        return {"y": index, "known": np.array([*known, self.opened])}


def open_in_worker(number):
    data.get_worker_info().dataset.opened = 10 + number


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_workers_begin_as_a_dataloader_s(method):
    theirs = data.DataLoader(
        InWorker(), batch_size=5, num_workers=2, worker_init_fn=open_in_worker
    )
    loader = feedline.from_dataloader(theirs, start_method=method)
    found = torch.cat([batch["known"] for batch in loader])
    assert {tuple(known) for known in found.tolist()} <= {(0, 2, 10), (1, 2, 11)}


def test_a_distributed_sampler_says_the_shard_and_ranks_get_its_samples():
    def ranks(make):
        found = []
        for rank in range(2):
            order = data.distributed.DistributedSampler(
                Pairs(), num_replicas=2, rank=rank, shuffle=False
            )
            loader = make(data.DataLoader(Pairs(), batch_size=5, sampler=order))
            found.append([set(label.tolist()) for _, label in loader])
        return [sorted(a | b) for a, b in zip(*found, strict=True)]

    assert ranks(feedline.from_dataloader) == ranks(lambda loader: loader)
    order = data.distributed.DistributedSampler(Pairs(), num_replicas=2, rank=1, seed=4)
    loader = feedline.from_dataloader(data.DataLoader(Pairs(), batch_size=5, sampler=order))
    assert (loader.shard.rank, loader.shard.world) == (1, 2)
    assert [y for _, label in loader for y in label.tolist()][:5] == (
        feedline.shuffle(seed=4).indices(50, 0)[5:10].tolist()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"collate_fn": list}, "collate_fn of its own.*pad="),
        ({"batch_size": None}, "batch_size=None.*batch_size=N"),
        ({"batch_sampler": [[1, 2], [3]]}, "the batch_sampler, a list, has no batch_size"),
        ({"sampler": data.DistributedSampler(Pairs(), 2, 0, drop_last=True)}, "drop_last=True"),
    ],
)
def test_what_a_loader_cannot_do_is_refused_by_name(arguments, words):
    with pytest.raises(TypeError, match=words):
        feedline.from_dataloader(data.DataLoader(Pairs(), **arguments))


@pytest.mark.parametrize("by", ["sampler", "batch_sampler", "own batches"])
def test_any_sampler_of_a_dataloader_gives_its_order(by):
    def arguments():
        drawn = torch.Generator().manual_seed(2)
        order = data.WeightedRandomSampler([1.0] * 25 + [0.0] * 25, 30, generator=drawn)
        batches = data.BatchSampler(order, 8, drop_last=True)
        return {
            "sampler": {"sampler": order, "batch_size": 8},
            "batch_sampler": {"batch_sampler": batches},
            "own batches": {"batch_sampler": [[5, 9], [1, 1], [3]]},
        }[by]

    options = {"batch_size": 2} if by == "own batches" else {}
    loader = feedline.from_dataloader(data.DataLoader(Pairs(), **arguments()), **options)
    theirs = data.DataLoader(Pairs(), **arguments())
    for _ in range(2):
        for (image, label), other in zip(loader, theirs, strict=True):
            same([image, label], other)


@pytest.mark.parametrize("workers", [0, 1])
def test_an_iterable_dataset_s_batches_are_those_of_its_dataloader(workers):
    class Sized(Stream):
        def __iter__(self):
            return ((torch.full((2,), number), number) for number in range(21))

        def __len__(self):
            return 21

    theirs = data.DataLoader(Sized(), batch_size=4, num_workers=workers, drop_last=True)
    loader = feedline.from_dataloader(theirs, start_method="fork")
    for _ in range(2):
        for pair, other in zip(loader, theirs, strict=True):
            same(pair, other)


def test_what_a_stream_cannot_do_is_refused_by_name():
    with pytest.raises(TypeError, match="Stream is an IterableDataset.*leave out seeded"):
        feedline.from_dataloader(data.DataLoader(Stream()), seeded=False)
    with pytest.raises(feedline.UsageError, match="say length="):
        feedline.from_dataloader(data.DataLoader(Stream()))
    with pytest.raises(TypeError, match="length is for an IterableDataset"):
        feedline.from_dataloader(data.DataLoader(Pairs()), length=5)
    loader = feedline.from_dataloader(
        data.DataLoader(Stream(), batch_size=5), length=10, names=["y"]
    )
    assert [batch["y"].tolist() for batch in loader] == [list(range(5)), list(range(5, 10))]


def test_what_is_no_map_style_dataset_is_refused():
    with pytest.raises(TypeError, match="say feedline.from_dataloader"):
        feedline.from_torch(data.DataLoader(Pairs()))
    with pytest.raises(TypeError, match="int, which has no __getitem__"):
        feedline.from_torch(5)
    with pytest.raises(TypeError, match="'Pairs' is not a torch.utils.data.DataLoader"):
        feedline.from_dataloader(Pairs())


def test_options_of_the_loader_come_before_the_dataloader_s():
    loader = feedline.from_dataloader(
        data.DataLoader(Pairs(), batch_size=5, shuffle=True, num_workers=3),
        "cpu",
        workers=0,
        names=["image", "label"],
        sampler=feedline.explicit_order([4, 2]),
        batch_size=2,
    )
    (batch,) = loader
    assert batch["label"].tolist() == [4, 2] and batch["image"].shape == (2, 2, 3)


class Part(data.IterableDataset):
    """Gives a worker its own part, as PyTorch's documents say."""

    def __init__(self, size):
        self.start, self.end = 0, size

    def __iter__(self):
        info = data.get_worker_info()
        each = 1 if info is None else info.num_workers
        size = (self.end - self.start) // each
        start = self.start + (0 if info is None else info.id * size)
        return iter([(torch.full((3,), i / 2), i) for i in range(start, start + size)])


def begins(number):
    """A worker_init_fn that divides the dataset, as PyTorch's documents say."""
    info = data.get_worker_info()
    size = (info.dataset.end - info.dataset.start) // info.num_workers
    info.dataset.start = info.id * size
    info.dataset.end = info.dataset.start + size


class Whole(Part):
    def __iter__(self):
        return iter([(torch.full((3,), i / 2), i) for i in range(self.start, self.end)])


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize(("kind", "begin"), [(Part, None), (Whole, begins)])
def test_batches_of_an_iterable_dataset_are_those_of_a_dataloader(kind, begin, processes):
    options = {"batch_size": 5, "num_workers": processes, "worker_init_fn": begin}
    theirs = data.DataLoader(kind(160), **options)
    for workers in {1, 2, processes}:
        loader = feedline.from_dataloader(
            theirs, start_method="fork", workers=workers, length=160
        )
        for _ in range(2):
            for pair, other in zip(loader, theirs, strict=True):
                same(pair, other)


def test_from_torch_gives_an_iterable_dataset_to_streams():
    options = {"names": ["x", "y"], "start_method": "fork"}
    dataset = feedline.from_torch(Part(160), length=160, workers=2, **options)
    first, *_, last = feedline.Loader(dataset, batch_size=16)
    assert first["y"].numpy().tolist() == [*range(8), *range(80, 88)]
    assert last["y"].numpy().tolist() == [*range(72, 80), *range(152, 160)]
    with pytest.raises(feedline.UsageError, match="is a stream"):
        feedline.Loader(dataset, shuffle=True)
