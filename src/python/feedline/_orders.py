"""`from_sampler`: orders of epochs from samplers that are written in Python."""

from __future__ import annotations

import collections
import hashlib
import operator
import threading
from array import array
from collections.abc import Iterable
from typing import Any

from ._errors import UsageError
from ._feedline import Sampler, _own_order


def from_sampler(order: Iterable[Any]) -> Sampler:
    """The order that an object of Python's gives: a sequence of indices, the same in each epoch; or
    a sampler such as PyTorch's, whose `__iter__` gives the indices of an epoch, or its batches, as
    lists of equal size. `Loader` calls this for a `sampler` that is no `Sampler`.

    The indices of an epoch are taken once, when the loader begins to read it; those of epoch 0 now.
    The sampler's `set_epoch` is called before, if it has one; else epoch e is its e-th iteration,
    so a run that resumes iterates through those before. All epochs must have the same number of
    samples. A state has the digest of its epoch's order, and a loader with another order refuses
    it. The order is that of all ranks together, and must be the same on each.

    Raises UsageError for an iterator, which can be used once; for what is no index; for batches of
    different sizes. Takes 8 bytes a sample for each of the last four epochs."""
    import feedline

    indices = fixed(order)
    if indices is not None:
        made: Sampler = feedline.explicit_order(indices)
        return made
    return _own_order(Drawer(order))


def fixed(order):
    """The indices if they are a sequence of whole numbers, the same in each epoch; else None."""
    if not hasattr(order, "__getitem__") or hasattr(order, "set_epoch") or len(order) == 0:
        return None
    return None if is_batch(order[0]) else indices(order)


def is_batch(item):
    """Whether a sampler's item is a list of indices."""
    return isinstance(item, (list, tuple)) or getattr(item, "ndim", 0) == 1


def index_of(item):
    """An index as an int."""
    try:
        found = operator.index(item)
    except TypeError:
        found = -1
    if not 0 <= found < 2**64:
        raise UsageError(f"the sampler gives {item!r:.60}, which is not the index of a sample")
    return found


def indices(items):
    """Indices as numbers of 64 bits."""
    try:
        return array("Q", items)
    except (TypeError, OverflowError):
        return array("Q", map(index_of, items))  # names the wrong one


class Drawer:
    """Draws the orders of a sampler's epochs. Any thread: one draws, and others wait for it."""

    #: Orders that other threads may be about to ask for.
    KEPT = 4

    def __init__(self, order):
        if not hasattr(order, "__iter__"):
            raise TypeError(
                f"sampler is a {type(order).__name__}: it must be one of feedline's, a sequence of "
                "indices, or have __iter__, which gives an epoch's indices"
            )
        if hasattr(order, "__next__"):
            raise UsageError(
                f"sampler is a {type(order).__name__}, which can be iterated once, and each epoch "
                "needs an order: give a list, or an object whose __iter__ begins again"
            )
        self.order = order
        self.lock = threading.RLock()
        self.is_drawing = False
        self.iterations = 0
        self.size = self.batch_size = None
        self.recent = {}  # by epoch
        self.digests = {}
        self.size = len(self(0)[0])

    def __call__(self, epoch):
        """The indices of an epoch, and their digest."""
        with self.lock:
            if epoch not in self.recent:
                if self.is_drawing:
                    raise UsageError(
                        "the sampler's __iter__ asks its loader for samples, whose order it is "
                        "about to give"
                    )
                self.is_drawing = True
                try:
                    self.recent[epoch] = self.checked(epoch, self.drawn(epoch))
                finally:
                    self.is_drawing = False
                while len(self.recent) > self.KEPT:
                    del self.recent[next(iter(self.recent))]
            return self.recent[epoch], self.digests[epoch]

    def drawn(self, epoch):
        if hasattr(self.order, "set_epoch"):
            self.order.set_epoch(epoch)
        else:  # epoch e is the e-th iteration
            for _ in range(self.iterations, epoch):
                collections.deque(self.order, maxlen=0)
            self.iterations = max(self.iterations, epoch) + 1
        items = list(self.order)
        if not items or not is_batch(items[0]):
            return indices(items)
        sizes = {len(batch) for batch in items[:-1]} or {len(items[0])}
        if self.batch_size is None:
            self.batch_size = len(items[0])
        if sizes != {self.batch_size} or not 0 < len(items[-1]) <= self.batch_size:
            sizes = sorted(sizes | {len(items[-1])})
            raise UsageError(
                f"the sampler gives batches of {sizes} samples in epoch {epoch}: all must have "
                f"{self.batch_size}, and the last one no more, because a batch's memory has one "
                "size; feedline.bucket_by_length makes such batches of samples of similar length"
            )
        return indices([each for batch in items for each in batch])

    def checked(self, epoch, found):
        if not found:
            raise UsageError(f"the sampler gives no sample in epoch {epoch}")
        if self.size is not None and len(found) != self.size:
            raise UsageError(
                f"the sampler gives {len(found)} samples in epoch {epoch}, and {self.size} in "
                "epoch 0: all epochs of a loader have the same number"
            )
        digest = int.from_bytes(hashlib.blake2b(found, digest_size=8).digest(), "little")
        if self.digests.setdefault(epoch, digest) != digest:
            raise UsageError(
                f"the sampler gives another order of epoch {epoch} than before: let it have "
                "set_epoch, and an order that depends on the epoch alone"
            )
        return found
