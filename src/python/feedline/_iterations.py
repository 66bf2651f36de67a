"""Iterates one stream of a `stream_dataset`, in this process or in a worker."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Optional

from ._errors import UsageError
from ._samples import seed
from ._stream_states import BETWEEN_STATES, Pass

if TYPE_CHECKING:
    from ._streams import Streams

#: Samples that are kept for reads that come late or again.
KEPT = 256
#: Times that a stream may be read again from its beginning to a sample within it, before as many
#: samples as this were read in order.
MOST_JUMPS, IN_ORDER = 8, 1000


class Iteration:
    """One stream, which is read in order: the iteration goes on, and begins again only for another
    epoch, or for a sample that is not kept any more."""

    def __init__(self, samples: Iterable[Any], streams: Streams, part: Part) -> None:
        self.samples, self.streams, self.part = samples, streams, part
        self.length = streams.lengths[part.number]
        self.initial = pickle.dumps((False, samples.state_dict())) if is_stateful(samples) else None
        self.end()

    def end(self) -> None:
        self.of: Optional[Pass] = None
        self.iterator: Iterator[Any] = iter(())
        self.next = self.asked = self.jumps = self.in_order = 0
        self.kept: dict[int, Any] = {}
        self.raised: Optional[BaseException] = None  # instead of the next sample
        if self.initial is not None:
            self.restore(self.initial)

    def get(self, epoch: int, number: int, loader_seed: int) -> Any:
        if self.streams.endless:
            epoch, number = 0, epoch * self.length + number
        of = (epoch, loader_seed)
        if of != self.of or (number < self.next and number not in self.kept):
            self.begin(of, number)
        self.in_order += number == self.asked
        self.asked = number + 1
        while self.next <= number:
            self.advance(of)
        return self.kept[number]

    def begin(self, of: Pass, number: int) -> None:
        if number > 0 and self.of is not None:
            self.jumps = self.jumps + 1 if self.in_order < IN_ORDER else 1
            self.in_order = 0
            if self.jumps > MOST_JUMPS:
                raise UsageError(
                    f"the stream is read in another order than its own: sample {number} of epoch "
                    f"{of[0]} was passed, and it would begin again; read it by one loader at a "
                    "time, without a sampler; shuffle_buffer=N shuffles"
                )
        self.of, self.raised, self.kept = None, None, {}
        self.part.enter()
        seed(self.number_of(of, -1))
        states = self.streams.states
        found = None if states is None else states.find(self.part.number, of, number)
        if found is None and self.initial is not None:
            self.restore(self.initial)
        if not self.streams.endless and hasattr(self.samples, "set_epoch"):
            self.samples.set_epoch(of[0])
        if found is not None:
            self.restore(found[1])
        self.iterator = iter(self.samples)
        if found is not None:
            self.restore(found[1], self.iterator)
        if self.streams.shuffle_buffer > 1:
            draws = random.Random(self.number_of(of, -2))
            self.iterator = shuffled(self.iterator, self.streams.shuffle_buffer, draws)
        self.of, self.next = of, 0 if found is None else found[0]

    def restore(self, saved: bytes, iterator: Any = None) -> None:
        """Loads a state, if it is of the iterator, or, without one, of the samples."""
        of_iterator, state = pickle.loads(saved)
        if of_iterator == (iterator is not None):
            (iterator if of_iterator else self.samples).load_state_dict(state)

    def advance(self, of: Pass) -> None:
        raised, self.raised = self.raised, None
        if raised is not None:
            self.of = None  # a generator that raised has ended
            raise raised
        self.part.enter()
        seed(self.number_of(of, self.next))
        try:
            made = next(self.iterator)
            self.part.check()
        except StopIteration:
            self.part.check()
            raise UsageError(self.ended(of)) from None
        except BaseException:
            self.of = None
            raise
        self.kept[self.next] = made
        self.kept.pop(self.next - KEPT, None)
        self.next += 1
        states, source = self.streams.states, self.stateful()
        if states is not None and source is not None and self.next % BETWEEN_STATES == 0:
            saved = pickle.dumps((source is self.iterator, source.state_dict()))
            states.keep(self.part.number, of, self.next, saved)

    def stateful(self) -> Any:
        """What has the position in its state_dict: iterator or samples; None: neither."""
        if self.streams.shuffle_buffer > 1:  # the buffer's samples are not in it
            return None
        return next((each for each in (self.iterator, self.samples) if is_stateful(each)), None)

    def ended(self, of: Pass) -> str:
        if self.part.count == 1:
            return (
                f"the stream ended after {self.next} samples of epoch {of[0]}, and length says "
                f"{self.length}: all epochs must have as many; say a smaller length"
            )
        return (
            f"stream {self.part.number} of {self.part.count} ended after {self.next} samples of "
            f"epoch {of[0]}, and its part of length is {self.length}: all epochs must have as "
            "many; say length=[…] with the samples of each stream, or a smaller length"
        )

    def work_ahead(self) -> bool:
        """Makes a sample that will be asked for, unless enough are made."""
        of, most = self.of, min(4 * self.streams.chunk, KEPT // 2)
        if of is None or self.raised is not None or self.next >= self.asked + most:
            return False
        if self.next % self.length == 0:  # perhaps the last epoch's end
            return False
        try:
            self.advance(of)
        except BaseException as raised:  # noqa: BLE001: raised when the sample is asked for
            self.of, self.raised = of, raised
        return True

    def number_of(self, of: Pass, place: int) -> int:
        """64 bits that depend on an epoch, a seed, a place and the stream's number alone."""
        return number_of(*of, place, *([self.part.number] if self.part.number else []))


class Part:
    """Which stream of how many an iteration is."""

    def __init__(self, number: int = 0, count: int = 1) -> None:
        self.number, self.count = number, count

    def enter(self) -> None:
        """Called before the user's code runs."""

    def check(self) -> None:
        """Called after it made a sample."""


class PartOfTorch(Part):
    """A stream that learns from PyTorch's get_worker_info() which one it is."""

    def __init__(self, number: int, count: int, samples: Any) -> None:
        import torch
        from torch.utils.data._utils import worker

        super().__init__(number, count)
        self.asked = asked = count == 1
        part = self

        class Info(worker.WorkerInfo):  # type: ignore[misc, valid-type]
            def __getattribute__(self, name: str) -> Any:
                if name in ("id", "num_workers"):
                    part.asked = True
                return super().__getattribute__(name)

        self.worker = worker
        self.info = Info(
            id=number, num_workers=count, seed=torch.initial_seed(), dataset=samples
        )
        self.asked = asked

    def enter(self) -> None:
        self.worker._worker_info = self.info

    def check(self) -> None:
        if not self.asked:
            raise UsageError(
                f"the samples' __iter__ does not ask torch.utils.data.get_worker_info() which "
                f"part is its own, so each of {self.count} streams would give all samples: let it "
                "ask, or give stream_dataset a function (stream, streams) that returns what to "
                "iterate, or streams=1"
            )


def is_stateful(source: Any) -> bool:
    """Whether it has the protocol of torchdata's StatefulDataLoader."""
    return hasattr(source, "state_dict") and hasattr(source, "load_state_dict")


def number_of(*of: Any) -> int:
    """64 bits that depend on these values alone."""
    digest = hashlib.blake2b(" ".join(map(str, of)).encode(), digest_size=8).digest()
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
