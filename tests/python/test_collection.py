"""Python's garbage collector finds cycles through C++, and nothing that is still used."""

import gc
import inspect
import os
import time
import weakref

import numpy as np
import pytest

import feedline

COMPOSED = {
    "sequence_dataset": lambda data: data,
    "concatenate": lambda data: feedline.concatenate([data, data]),
    "zip": lambda data: feedline.zip([data]),
    "select": lambda data: feedline.select(data, [("y", "renamed"), "offset"]),
    "map": lambda data: feedline.map(data, dict),
    "subset": lambda data: feedline.subset(data, range(20)),
    "random_split": lambda data: feedline.random_split(data, [0.5, 0.5], seed=1)[0],
    "load_into_memory": lambda data: feedline.load_into_memory(data),
    "make_ragged_dataset": lambda data: ragged(data),
    "pad": lambda data: feedline.pad(ragged(data), length=1),
    "pack": lambda data: feedline.pack(ragged(data), capacity=4),
    "pack_together": lambda data: feedline.pack_together([ragged(data)], capacity=4),
    "_ragged_samples": lambda data: feedline.pad(unpadded(data)),
    "_ragged_rows": lambda data: feedline._ragged_rows(
        padded(data), [("y", [1] * len(data), 1, 0)], packs=False, max_samples=0, truncates=False
    ),
    "decode": lambda data: feedline.decode(ragged(data, "byte"), feedline.decode_raw("uint8")),
}
DATASETS = [name for name in COMPOSED if name != "make_ragged_dataset"]


def ragged(data, field="y"):
    values = feedline.select(feedline.subset(data, range(len(data) - 1)), [field])
    return feedline.make_ragged_dataset(values, feedline.select(data, ["offset"]))


def padded(data):
    return feedline.map(data, lambda sample: {"y": np.atleast_1d(sample["y"])}, pad={"y": 1})


def unpadded(data):
    return feedline._ragged_samples(padded(data), [1] * len(data))


def are_collected(alive):
    """Whether all go: a reader that is in a function of an owner keeps it until it returns, and a
    collection does nothing while another thread collects."""
    deadline = time.monotonic() + 20
    while any(each() is not None for each in alive) and time.monotonic() < deadline:
        gc.collect()
    return all(each() is None for each in alive)


def are_back(counts, before):
    """Whether no more is held. What a reader uses during a collection stays until the next one,
    though its weak references are gone; and what was held before may end, too."""
    deadline = time.monotonic() + 20
    while any(now > then for now, then in zip(counts(), before)) and time.monotonic() < deadline:
        gc.collect()
    return all(now <= then for now, then in zip(counts(), before))


class Owner:
    """An object that is its own dataset, and holds all that was made of it."""

    def __init__(self, compose, readers=1):
        self.factor = 1
        self.source = feedline.sequence_dataset(self.read, size=40)
        self.dataset = compose(self.source)
        self.loader = None
        if isinstance(self.dataset, feedline.Dataset):
            self.loader = feedline.Loader(self.dataset, batch_size=4, readers=readers)
            self.epoch = self.loader.epoch(0)
            next(self.epoch)

    def read(self, index):
        value = index * self.factor
        return {"y": value, "offset": np.int64(value), "byte": np.uint8(value)}


@pytest.fixture
def held():
    """Threads and descriptors of this process."""

    def count():
        return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    return count


def test_every_function_that_composes_datasets_is_tried_here():
    takes_and_returns = set()
    for name, function in inspect.getmembers(feedline, callable):
        signature = (getattr(function, "__doc__", None) or "").split("\n")[0]
        parameters, _, result = signature.partition(") -> ")
        if "Dataset" in parameters and "Dataset" in result:
            takes_and_returns.add(name)
    assert takes_and_returns <= COMPOSED.keys()
    assert len(takes_and_returns) > 8


@pytest.mark.parametrize("readers", [0, 2])
@pytest.mark.parametrize("by", DATASETS)
def test_an_object_that_is_its_own_dataset_is_collected(by, readers, held):
    gc.collect()
    before = held()
    alive = [weakref.ref(Owner(COMPOSED[by], readers)) for _ in range(5)]
    assert are_collected(alive)
    assert are_back(held, before), (held(), before)


def test_an_object_that_holds_a_ragged_dataset_of_itself_is_collected():
    alive = weakref.ref(Owner(ragged))
    assert are_collected([alive])


def test_an_array_that_belongs_to_a_cycle_is_collected():
    class Array(np.ndarray):
        pass

    def make():
        array = Array(40, np.int64)  # owns its bytes: so the dataset keeps it alive
        array.loader = feedline.Loader(feedline.make_memory_dataset({"y": array}), batch_size=4)
        next(array.loader.epoch(0))
        return weakref.ref(array)

    alive = make()
    assert are_collected([alive])


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("readers", [0, 2])
def test_an_object_whose_read_failed_is_collected(readers, kept):
    class Failing(Owner):
        def read(self, index):
            if index == 6:
                raise KeyError(index)
            return super().read(index)

    def make():
        owner = Failing(lambda data: data, readers)
        with pytest.raises(feedline.StageError) as failure:
            list(owner.epoch)
        owner.failure = failure.value if kept else None
        return weakref.ref(owner)

    assert are_collected([make()])  # the loader keeps the failure, whose traceback has the object


@pytest.mark.parametrize("by", DATASETS)
def test_what_a_dataset_needs_is_not_collected_before_it(by):
    dataset = COMPOSED[by](Owner(lambda data: data).source)
    changes_fields = by in ("pad", "pack", "pack_together", "decode", "select")
    dropped = None if changes_fields else COMPOSED[by](dataset)
    del dropped
    gc.collect()
    before = {name: values.tolist() for name, values in dataset.read(range(10)).items()}
    assert len(dataset.fields) > 0
    gc.collect()
    assert {name: values.tolist() for name, values in dataset.read(range(10)).items()} == before


def test_what_two_datasets_share_is_kept_for_the_second():
    owner = Owner(lambda data: data)
    alive = weakref.ref(owner)
    shared = feedline.concatenate([owner.source, owner.source])
    del owner
    gc.collect()
    assert alive() is not None
    assert shared[41]["y"] == 1
    del shared
    assert are_collected([alive])


@pytest.mark.parametrize("readers", [0, 2])
def test_an_epoch_alone_keeps_its_loader_and_what_that_reads(readers):
    epoch = Owner(lambda data: data, readers).loader.epoch(1)
    values = []
    for batch in epoch:
        gc.collect()
        values += batch["y"].numpy().tolist()
    assert values == list(range(40))


RUNNING = """
import gc, sys
import feedline

def make(readers):
    def read(index):
        return {"y": index + (loader is None)}

    loader = None
    loader = feedline.Loader(
        feedline.sequence_dataset(read, size=10**6), batch_size=1, readers=readers,
        expert=feedline.ExpertOptions(staging_slots=64),
    )
    next(loader.epoch(0))  # readers call read meanwhile, which has the loader

gc.disable()
sys.setswitchinterval(1e-6)
for turn in range(15):
    make(int(sys.argv[1]))
    gc.collect()
"""


@pytest.mark.parametrize("readers", [1, 3])
def test_a_function_is_not_called_once_it_is_collected(run_python, readers):
    ran = run_python(RUNNING, readers)  # without the interpreter's lock it called a cleared one
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
