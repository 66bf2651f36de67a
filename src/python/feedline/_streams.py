"""What makes the samples of a `stream_dataset`: its streams, in this process or in workers."""

from __future__ import annotations

import base64
import copy
import logging
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable, Optional, Union

from . import _feedline
from ._iterations import Iteration, Part, PartOfTorch
from ._stream_states import Pass, States

_log = logging.getLogger("feedline")


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
