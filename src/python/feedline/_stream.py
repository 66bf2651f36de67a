"""`stream_dataset`: samples of iterators, in their order."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional, Union

from ._arguments import _Call
from ._errors import UsageError
from ._feedline import Dataset
from ._iterations import number_of
from ._streams import Handle, Streams, is_function

#: Samples that several streams give in turn.
CHUNK = 8


def stream_dataset(
    samples: Union[Iterable[Any], Callable[[int, int], Iterable[Any]]],
    length: Union[int, Sequence[int], None] = None,
    *,
    shuffle_buffer: int = 0,
    endless: bool = False,
    workers: int = 0,
    streams: Optional[int] = None,
    **options: Any,
) -> Dataset:
    """A dataset of what iterables give, such as PyTorch's IterableDataset: an epoch is one
    iteration. A loader reads it in order, without a sampler.

    samples: has `__iter__`, or is a function (stream, streams) that returns what has it, such as
        `lambda stream, streams: Shards(paths[stream::streams])`. Several streams of one iterable
        ask PyTorch's get_worker_info(), in workers, which of them they are; streams that do not are
        refused. `set_epoch(epoch)` is called before an iteration, if there is one. It must give all
        samples on each rank: the loader shares them among ranks, and each rank passes over those of
        the others.
    length: samples of an epoch of all streams, which give the same number each, 8 in turn; or a
        list with the samples of each; None: `len(samples)`. If an iteration gives fewer, the read
        raises UsageError; if it gives more, the rest is not used.
    shuffle_buffer: samples of a stream that are held to draw the next one from; 0: the iteration's
        order.
    endless: epoch e begins where epoch e − 1 ended, in one iteration; `set_epoch` is not called.
    workers: processes that iterate, each for streams of its own, and ahead of the loader; 0: a
        thread does.
    streams: at least as many as workers; None: one for each worker. The order depends on their
        number, and not on that of the workers.
    options: of `sequence_dataset`: `names`, `pad`, `start_method`, `timeout`.

    Before each sample `random`, `numpy.random` and PyTorch's generator for the CPU are seeded by
    the loader's seed, the epoch, the stream and the sample's number there, so that an iteration
    that draws from them is the same again; `sample_info()` is refused. The last 256 samples are
    kept, so that a read can be repeated. What the iteration raises ends the epoch; an ErrorPolicy
    cannot leave it out.

    A loader that resumes, or a worker that is started instead of one that ended, iterates from the
    beginning of the epoch to its position, so the iteration must be the same again; a state with
    another number of streams or another `shuffle_buffer` is refused. If the iterable or its
    iterator has `state_dict` and `load_state_dict`, as for torchdata's StatefulDataLoader, and
    there is no shuffle_buffer, they are saved after each 64th sample, in a folder of the system's
    for temporary files and by `Loader.state_dict`, and the iteration goes on from there. An epoch
    begins with the state that the iterable has now."""
    return of_streams(
        samples, length, CHUNK, None, shuffle_buffer=shuffle_buffer, endless=endless,
        workers=workers, streams=streams, **options,
    )  # fmt: skip


def of_streams(
    samples: Any,
    length: Union[int, Sequence[int], None],
    chunk: int,
    begin: Optional[Callable[[int], None]],
    *,
    shuffle_buffer: int = 0,
    endless: bool = False,
    workers: int = 0,
    streams: Optional[int] = None,
    **options: Any,
) -> Dataset:
    """As `stream_dataset`. chunk: samples that streams give in turn. begin: called in a worker with
    the number of each stream, before it is iterated."""
    import feedline

    streams = max(workers, 1) if streams is None else streams
    check(samples, workers, streams)
    for name in ("seeded", "concurrency", "size"):
        if name in options:
            raise TypeError(f"stream_dataset: there is no option '{name}'")
    lengths = lengths_of(samples, length, streams)
    sequence = Streams(samples, lengths, chunk, workers, shuffle_buffer, endless, begin)
    made: Dataset = feedline.sequence_dataset(
        sequence, workers=workers, seeded=True, concurrency="serialized", **options
    )
    sequence.end()
    identity = number_of(shuffle_buffer, int(endless), 0)
    if streams > 1:
        identity = number_of(shuffle_buffer, int(endless), chunk, lengths)
    made._stream = Handle(sequence, identity)  # type: ignore[attr-defined]
    options |= {"shuffle_buffer": shuffle_buffer, "endless": endless, "workers": workers}
    options |= {} if streams == max(workers, 1) else {"streams": streams}
    call = _Call("stream_dataset", (samples, length), options, -1)
    if (chunk, begin) != (CHUNK, None):
        call = _Call("_of_streams", (samples, length, chunk, begin), options, -1)
    made._call = call  # type: ignore[attr-defined]
    return made


def check(samples: Any, workers: int, streams: int) -> None:
    if hasattr(samples, "__next__") or not (hasattr(samples, "__iter__") or callable(samples)):
        raise TypeError(
            f"stream_dataset: samples is a {type(samples).__name__}: it must have __iter__, which "
            "begins an epoch, and not be an iterator, which ends once; or be a function (stream, "
            "streams) that returns such an object"
        )
    if not 1 <= max(workers, 1) <= streams:
        raise UsageError(
            f"stream_dataset: streams is {streams} and workers {workers}: a stream is iterated by "
            "one worker, so say as many streams as workers, or more"
        )
    if streams == 1 or is_function(samples):
        return
    advice = (
        "give a function (stream, streams) that returns what this stream iterates, such as "
        "lambda stream, streams: Shards(paths[stream::streams])"
    )
    kind = type(samples).__name__
    if "torch" not in sys.modules:
        raise UsageError(
            f"stream_dataset: {streams} streams of one {kind} would all give the same samples: "
            + advice
        )
    if workers == 0:
        raise UsageError(
            f"stream_dataset: {streams} streams of one {kind} ask PyTorch's get_worker_info(), "
            "which is for workers: say workers=1 or more, or " + advice
        )


def lengths_of(samples: Any, length: Any, streams: int) -> list[int]:
    """The samples of each stream."""
    if length is None:
        if not hasattr(samples, "__len__"):
            raise UsageError("stream_dataset: the samples have no len(): say length=…")
        length = len(samples)
    if isinstance(length, Sequence):
        if len(length) != streams:
            raise UsageError(
                f"stream_dataset: length has {len(length)} numbers for {streams} streams"
            )
        lengths = [operator.index(each) for each in length]
    else:
        each, rest = divmod(operator.index(length), streams)
        lengths = [each + (stream < rest) for stream in range(streams)]
    if min(lengths) < 0 or not 0 < sum(lengths) < 1 << 62:
        raise UsageError(
            f"stream_dataset: length is {length!r}: it is a number of samples, at least 1"
        )
    return lengths
