"""`stream_dataset`: samples of an iterator, in its order."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from . import _feedline
from ._arguments import _Call
from ._errors import UsageError
from ._feedline import Dataset
from ._samples import seed

#: Samples that are kept for reads that come late or again.
KEPT = 256
#: Times that a stream may be read again from its beginning to a sample within it, before as many
#: samples as this were read in order.
MOST_JUMPS, IN_ORDER = 8, 1000


def stream_dataset(
    samples: Iterable[Any],
    length: Optional[int] = None,
    *,
    shuffle_buffer: int = 0,
    endless: bool = False,
    workers: int = 0,
    **options: Any,
) -> Dataset:
    """A dataset of what an iterable gives, such as PyTorch's IterableDataset: an epoch is one
    iteration. A loader reads it in order, without a sampler.

    samples: has `__iter__`. Its `set_epoch(epoch)` is called before, if it has one. It must give
        all samples on each rank: the loader shares them among ranks, and each rank passes over
        those of the others.
    length: samples of an epoch; None: its `len()`. If an iteration gives fewer, the read raises
        UsageError; if it gives more, the rest is not used.
    shuffle_buffer: samples that are held to draw the next one from; 0: the iteration's order.
    endless: epoch e begins where epoch e − 1 ended, in one iteration; `set_epoch` is not called.
    workers: 1: a process iterates; 0: a thread does. There is one order, so there are no more.
    options: of `sequence_dataset`: `names`, `pad`, `start_method`, `timeout`.

    Before each sample `random`, `numpy.random` and PyTorch's generator for the CPU are seeded by
    the loader's seed, the epoch and the sample's number, so that an iteration that draws from them
    is the same again. A loader that resumes iterates from the beginning of the epoch to its
    position, so it must be the same again; a state of another `shuffle_buffer` is refused. The last
    256 samples are kept, so that a read can be repeated. What the iteration raises ends the epoch;
    an ErrorPolicy cannot leave it out."""
    import feedline

    if not hasattr(samples, "__iter__") or hasattr(samples, "__next__"):
        raise TypeError(
            f"stream_dataset: samples is a {type(samples).__name__}: it must have __iter__, which "
            "begins an epoch, and not be an iterator, which ends once"
        )
    if workers not in (0, 1):
        raise UsageError(
            f"stream_dataset: workers is {workers}, and one worker iterates a stream, because it "
            "has one order: say 0 or 1; a dataset with __getitem__ can have more, by "
            "sequence_dataset"
        )
    if length is None:
        if not hasattr(samples, "__len__"):
            raise UsageError("stream_dataset: the samples have no len(): say length=…")
        length = len(samples)
    for name in ("seeded", "concurrency", "size"):
        if name in options:
            raise TypeError(f"stream_dataset: there is no option '{name}'")
    stream = _Stream(samples, length, shuffle_buffer, endless)
    made: Dataset = feedline.sequence_dataset(
        stream, size=length, workers=workers, seeded=True, concurrency="serialized", **options
    )
    stream.end()
    identity = number_of((shuffle_buffer, int(endless)), 0)
    made._stream_order = _feedline._stream_order(identity)  # type: ignore[attr-defined]
    options |= {"shuffle_buffer": shuffle_buffer, "endless": endless, "workers": workers}
    call = _Call("stream_dataset", (samples, length), options, -1)
    made._call = call  # type: ignore[attr-defined]
    return made


class _Stream:
    """A sequence that is read in order: the iteration goes on, and begins again only for another
    epoch, or for a sample that is not kept any more."""

    def __init__(
        self, samples: Iterable[Any], length: int, shuffle_buffer: int, endless: bool
    ) -> None:
        self.samples, self.length = samples, length
        self.shuffle_buffer, self.endless = shuffle_buffer, endless
        self.end()

    def end(self) -> None:
        self.of: Optional[tuple[int, int]] = None  # epoch and seed of the iteration
        self.iterator: Iterator[Any] = iter(())
        self.next = self.jumps = self.in_order = 0
        self.kept: dict[int, Any] = {}

    begin_worker = end  # a worker has an iteration of its own

    def __getstate__(self) -> tuple[Any, ...]:
        return self.samples, self.length, self.shuffle_buffer, self.endless

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        info = _feedline.sample_info()
        epoch, number = info.epoch or 0, index
        if self.endless:
            epoch, number = 0, epoch * self.length + index
        of = (epoch, info.loader_seed)
        if of != self.of or (number < self.next and number not in self.kept):
            self.begin(of, number)
        self.in_order += number == self.next
        while self.next <= number:
            self.advance(of)
        return self.kept[number]

    def begin(self, of: tuple[int, int], number: int) -> None:
        if number > 0 and self.of is not None:
            self.jumps = self.jumps + 1 if self.in_order < IN_ORDER else 1
            self.in_order = 0
            if self.jumps > MOST_JUMPS:
                raise UsageError(
                    f"the stream is read in another order than its own: sample {number} of epoch "
                    f"{of[0]} was passed, and it would begin again; read it by one loader at a "
                    "time, without a sampler; shuffle_buffer=N shuffles"
                )
        self.of, self.next, self.kept = None, 0, {}
        seed(number_of(of, -1))
        if not self.endless and hasattr(self.samples, "set_epoch"):
            self.samples.set_epoch(of[0])
        self.iterator = iter(self.samples)
        if self.shuffle_buffer > 1:
            draws = random.Random(number_of(of, -2))
            self.iterator = shuffled(self.iterator, self.shuffle_buffer, draws)
        self.of = of

    def advance(self, of: tuple[int, int]) -> None:
        seed(number_of(of, self.next))
        try:
            made = next(self.iterator)
        except StopIteration:
            raise UsageError(
                f"the stream ended after {self.next} samples of epoch {of[0]}, and length says "
                f"{self.length}: all epochs must have as many; say a smaller length"
            ) from None
        except BaseException:
            self.of = None  # a generator that raised has ended
            raise
        self.kept[self.next] = made
        self.kept.pop(self.next - KEPT, None)
        self.next += 1


def number_of(of: tuple[int, int], place: int) -> int:
    """64 bits that depend on an epoch, a seed and a place alone."""
    digest = hashlib.blake2b(f"{of[0]} {of[1]} {place}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def shuffled(items: Iterator[Any], size: int, draws: random.Random) -> Iterator[Any]:
    """Holds `size` items, and gives one of them when the next one comes."""
    held = []
    for item in items:
        if len(held) < size:
            held.append(item)
            continue
        place = draws.randrange(size)
        held[place], item = item, held[place]
        yield item
    draws.shuffle(held)
    yield from held
