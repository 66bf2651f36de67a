"""Many loaders, ended in all ways, leave no thread, descriptor or mapping.

FEEDLINE_SOAK=10000 makes so many; the default takes some seconds.
"""

import gc
import os
import threading
import time

import numpy as np
import pytest

import feedline

LOADERS = int(os.environ.get("FEEDLINE_SOAK", "400"))
PAGE_BYTES = 1 << 16  # a slot is large enough to be mapped by itself


class Owner:
    """Is its own dataset, and holds what is made of it."""

    def __init__(self, readers, fails_at=-1, by=KeyError):
        self.fails_at, self.error = fails_at, by("in a read")
        self.data = feedline.sequence_dataset(self.read, size=12)
        both = feedline.concatenate([self.data, feedline.subset(self.data, range(6))])
        self.loader = feedline.Loader(both, batch_size=2, readers=readers)
        self.epoch = self.loader.epoch(0)

    def read(self, index):
        if index == self.fails_at:
            raise self.error
        return {"y": np.full(PAGE_BYTES, index, np.uint8)}


def left_in_mid_epoch(readers, file):
    loader = feedline.Loader(feedline.open(file), batch_size=2, readers=readers)
    next(loader.epoch(0))


def closed(readers, file):
    with feedline.Loader(feedline.open(file), batch_size=2, readers=readers) as loader:
        epoch = loader.epoch(0)
        next(epoch)
    with pytest.raises(feedline.UsageError, match="closed"):
        next(epoch)


def stopped(readers, file):
    loader = feedline.Loader(feedline.open(file), batch_size=2, readers=readers)
    epoch = loader.epoch(0)
    next(epoch)
    loader.stop()
    assert list(epoch) == []


def outlived_by_a_batch(readers, file):
    batch = next(feedline.Loader(feedline.open(file), batch_size=2, readers=readers).epoch(0))
    assert batch["rows"].numpy()[1, 0] == 1


def part_of_a_cycle(readers, file):
    next(Owner(readers).epoch)


def of_a_read_that_failed(readers, file):
    owner = Owner(readers, fails_at=4)
    try:
        list(owner.epoch)
    except feedline.StageError as error:
        owner.failure = error
    assert isinstance(owner.failure, feedline.StageError)


def of_a_read_that_was_interrupted(readers, file):
    owner = Owner(readers, fails_at=4, by=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        list(owner.epoch)


def ended_by_a_read_of_its_own(readers, file):
    held, all_held = [], threading.Event()

    def read(index):
        if index == 3:
            all_held.wait()
            held.clear()
        return {"y": np.full(PAGE_BYTES, index, np.uint8)}

    data = feedline.sequence_dataset(read, size=12)
    held.append(feedline.Loader(data, batch_size=2, readers=readers))
    held.append(held[0].epoch(0))
    all_held.set()
    if readers == 0:
        epoch = held[1]
        with pytest.raises(StopIteration):
            while True:
                next(epoch)
    while held:
        pass


def closed_by_a_read_of_its_own(readers, file):
    def read(index):
        if index == 3 and loader is not None:
            loader.close()
        return {"y": np.full(PAGE_BYTES, index, np.uint8)}

    loader = None
    loader = feedline.Loader(
        feedline.sequence_dataset(read, size=12), batch_size=2, readers=readers
    )
    with pytest.raises(feedline.UsageError, match="closed"):
        for _ in loader.epoch(0):
            pass


WAYS = [
    left_in_mid_epoch,
    closed,
    stopped,
    outlived_by_a_batch,
    part_of_a_cycle,
    of_a_read_that_failed,
    of_a_read_that_was_interrupted,
    ended_by_a_read_of_its_own,
    closed_by_a_read_of_its_own,
]


def held():
    """Threads, descriptors and mappings."""
    with open("/proc/self/maps") as maps:
        mappings = sum(1 for _ in maps)
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), mappings


def make(count, file):
    for number in range(count):
        way = WAYS[number % len(WAYS)]
        way((number // len(WAYS)) % 3, file)
        if number % 20 == 0:
            gc.collect()
    gc.collect()


def test_many_loaders_leave_nothing(tmp_path):
    file = tmp_path / "rows.npy"
    np.save(file, np.repeat(np.arange(12, dtype=np.uint8), PAGE_BYTES).reshape(12, PAGE_BYTES))
    make(6 * len(WAYS), file)  # warms everything up
    before = held()
    make(LOADERS, file)
    slack = (0, 0, 20)  # malloc's arenas come and go
    deadline = time.monotonic() + 60  # the last threads end by themselves
    while any(now > then + more for now, then, more in zip(held(), before, slack)):
        assert time.monotonic() < deadline, (before, held())
        time.sleep(0.01)
