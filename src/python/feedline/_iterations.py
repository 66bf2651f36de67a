"""What makes the samples of a `stream_dataset`: the iterations of its streams, in this process or
in workers, and the states from which they continue.

Over 250 lines: an iteration is begun, read, made ahead, saved and restored as one."""

from __future__ import annotations

import base64
import copy
import hashlib
import logging
import multiprocessing
import os
import pickle
import random
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Callable, Optional, Union

from . import _feedline
from ._errors import UsageError
from ._samples import seed

#: Samples that are kept for reads that come late or again.
KEPT = 256
#: Times that a stream may be read again from its beginning to a sample within it, before as many
#: samples as this were read in order.
MOST_JUMPS, IN_ORDER = 8, 1000
#: Samples from one state that a stream saves to the next one, and how many are kept.
BETWEEN_STATES, MOST_STATES = 64, 64

_log = logging.getLogger("feedline")

#: An epoch, and a loader's seed.
Pass = tuple[int, int]


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


class Streams:
    """The sequence that a `stream_dataset` is made of. Sample i is of the stream that has its turn
    then (`_StreamTurns`)."""

    def __init__(
        self,
        samples: Union[Iterable[Any], Callable[[int, int], Iterable[Any]]],
        lengths: list[int],
        chunk: int,
        workers: int,
        shuffle_buffer: int,
        endless: bool,
        begin: Optional[Callable[[int], None]],
        states: Optional[States] = None,
    ) -> None:
        self.samples, self.lengths, self.chunk, self.workers = samples, lengths, chunk, workers
        self.shuffle_buffer, self.endless, self.begin = shuffle_buffer, endless, begin
        self.states = states
        self.is_worker = False
        self._turns = _feedline._StreamTurns(lengths, chunk)
        self.parts: dict[int, Iteration] = {}

    def __getstate__(self) -> tuple[Any, ...]:
        return (
            self.samples, self.lengths, self.chunk, self.workers, self.shuffle_buffer,
            self.endless, self.begin, self.states,
        )  # fmt: skip

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._turns)

    def __getitem__(self, index: int) -> Any:
        info = _feedline.sample_info()
        epoch, loader_seed = info.epoch or 0, info.loader_seed
        _feedline._forget_sample()
        stream, number = self._turns.at(index)
        if stream not in self.parts:
            self.parts[stream] = self.made(stream, self.samples)
        part = self.parts[stream]
        sample = part.get(epoch, number, loader_seed)
        if self.states is None and not self.is_worker and part.stateful() is not None:
            self.states = States()  # before workers are started
        return sample

    def made(self, stream: int, samples: Any) -> Iteration:
        if is_function(samples):
            part = Part(stream, len(self.lengths))
            return Iteration(samples(stream, part.count), self, part)
        # Sample 0, which tells the fields, is made in the program's process, and of all of them.
        is_alone = len(self.lengths) == 1 and "torch.utils.data" not in sys.modules
        if not self.is_worker or is_alone:
            return Iteration(samples, self, Part(stream))
        part = PartOfTorch(stream, len(self.lengths), samples)
        part.enter()
        if self.begin is not None:
            self.begin(stream)
        return Iteration(samples, self, part)

    def end(self) -> None:
        for each in self.parts.values():
            each.end()
        self.parts = {}

    def begin_worker(self) -> None:
        """Called by `feedline._worker`, in the new process."""
        self.is_worker, self.parts = True, {}
        number = int(multiprocessing.current_process().name.rpartition(" ")[2])
        shares = len(self.lengths) > self.workers and not is_function(self.samples)
        for stream in range(number, len(self.lengths), self.workers):
            # Each stream has a position of its own.
            samples = copy.deepcopy(self.samples) if shares else self.samples
            self.parts[stream] = self.made(stream, samples)

    def work_ahead(self) -> bool:
        """Called by `feedline._worker` while no sample is asked for. False: nothing is to do."""
        parts = sorted(self.parts.values(), key=lambda each: each.next - each.asked)
        return any(each.work_ahead() for each in parts)

    def counts_before(self, index: int) -> list[int]:
        """How many samples of each stream come before a sample."""
        if index >= len(self):
            return self.lengths
        stream, number = self._turns.at(index)
        rounds = number // self.chunk
        counts = [
            min(length, (rounds + (each < stream)) * self.chunk)
            for each, length in enumerate(self.lengths)
        ]
        counts[stream] = number
        return counts


class States:
    """States of streams, by which they go on in an epoch: files in a folder that a program and its
    workers share, removed by the program."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="feedline-streams-"))
        folder, process = self.folder, os.getpid()

        def remove() -> None:
            if os.getpid() == process:  # not a child of fork
                shutil.rmtree(folder, ignore_errors=True)

        weakref.finalize(self, remove)

    def __getstate__(self) -> Path:
        return self.folder

    def __setstate__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, stream: int, of: Pass, number: int) -> Path:
        return self.folder / f"{stream}.{of[0]}.{of[1]}.{number}"

    def keep(self, stream: int, of: Pass, number: int, saved: bytes) -> None:
        unfinished = self.folder / f"{os.getpid()}-{stream}.new"
        unfinished.write_bytes(saved)
        unfinished.replace(self.file(stream, of, number))
        self.file(stream, of, number - MOST_STATES * BETWEEN_STATES).unlink(missing_ok=True)
        if number == BETWEEN_STATES:  # the consumer may still be in the epoch before
            for other in self.folder.glob(f"{stream}.*"):
                if int(other.name.split(".")[1]) < of[0] - 1:
                    other.unlink(missing_ok=True)

    def find(self, stream: int, of: Pass, number: int) -> Optional[tuple[int, bytes]]:
        """The last state up to a sample of a stream, and that sample's number."""
        saved = self.folder.glob(f"{stream}.{of[0]}.{of[1]}.*")
        for at in sorted((int(each.name.split(".")[3]) for each in saved), reverse=True):
            if at <= number:
                try:
                    return at, self.file(stream, of, at).read_bytes()
                except FileNotFoundError:  # the stream has gone on
                    continue
        return None


class Handle:
    """What a loader needs of the streams that it reads."""

    def __init__(self, streams: Streams, identity: int) -> None:
        self.streams = streams
        self.order = _feedline._stream_order(identity)
        self.was_told = False  # that a run passes over samples

    def saved(self, epoch: int, index: int, loader_seed: int) -> dict[str, list[Any]]:
        """States for a run that goes on at a sample, as plain values."""
        if self.streams.states is None:
            return {}
        found = {}
        for stream, (of, number) in enumerate(self.places(epoch, index, loader_seed)):
            state = self.streams.states.find(stream, of, number)
            if state is not None:
                found[str(stream)] = [*of, state[0], base64.b64encode(state[1]).decode()]
        return found

    def places(self, epoch: int, index: int, loader_seed: int) -> Iterator[tuple[Pass, int]]:
        streams = self.streams
        for count, length in zip(streams.counts_before(index), streams.lengths):
            if streams.endless:
                yield (0, loader_seed), epoch * length + count
            else:
                yield (epoch, loader_seed), count

    def put(self, saved: Mapping[str, list[Any]]) -> bool:
        """Takes states. False: the streams have no use for them, as they have no such protocol."""
        if self.streams.states is None:
            return False
        for stream, (epoch, loader_seed, number, text) in saved.items():
            state = base64.b64decode(text)
            self.streams.states.keep(int(stream), (epoch, loader_seed), number, state)
        return True

    def tell(self, epoch: int, index: int) -> None:
        """Logs once that samples are made again to reach a position."""
        if not self.was_told:
            _log.info(
                "the streams are iterated from the beginning of epoch %d to sample %d, which takes "
                "as long as these samples take; an iterable with state_dict and load_state_dict, "
                "without shuffle_buffer, goes on from a position",
                epoch, index,
            )  # fmt: skip
        self.was_told = True


def is_function(samples: Any) -> bool:
    """Whether they are a function, or a class, that returns what a stream iterates."""
    return callable(samples) and (isinstance(samples, type) or not hasattr(samples, "__iter__"))


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
