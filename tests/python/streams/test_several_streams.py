"""Several streams that give samples in turn, by any number of workers."""

import os
import pickle
import random
import signal
import sys
import time

import numpy as np
import pytest
from test_streams import numbers_of

import feedline


def pieces(count=12):
    """Shards as WebDataset's, some with more samples than others."""
    return [[100 * shard + place for place in range(10 + shard % 3)] for shard in range(count)]


class Shards:
    """Samples of some shards, in another order in each epoch, with random numbers."""

    def __init__(self, shards, dies_at=None, raises_at=None, once=None):
        self.shards, self.epoch = shards, 0
        self.dies_at, self.raises_at, self.once = dies_at, raises_at, once

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        shards = list(self.shards)
        random.shuffle(shards)
        for shard in shards:
            for y in shard:
                if y == self.raises_at:
                    raise KeyError(y)
                if y == self.dies_at and not os.path.exists(self.once):
                    open(self.once, "w").close()
                    os.kill(os.getpid(), signal.SIGKILL)
                drawn = np.array([random.random(), np.random.rand()])
                yield {"y": y, "epoch": self.epoch, "drawn": drawn}


def of_stream(stream, streams):
    return Shards(pieces()[stream::streams])


def lengths(streams):
    return [sum(map(len, pieces()[stream::streams])) for stream in range(streams)]


def content(batches):
    return [
        tuple(np.concatenate([[y, epoch], drawn]).tolist())
        for batch in batches
        for y, epoch, drawn in zip(*(batch[name].numpy() for name in ("y", "epoch", "drawn")))
    ]


def loader_of(streams, samples=of_stream, seed=5, batch_size=7, shuffle_buffer=0, **options):
    options = {"start_method": "fork"} | options if options.get("workers") else options
    dataset = feedline.stream_dataset(
        samples, lengths(streams), streams=streams, shuffle_buffer=shuffle_buffer, **options
    )
    return feedline.Loader(dataset, batch_size=batch_size, seed=seed)


@pytest.mark.parametrize("shuffle_buffer", [0, 10])
@pytest.mark.parametrize("streams", [2, 4])
def test_the_order_depends_on_the_streams_and_not_on_the_workers(streams, shuffle_buffer):
    def run(**options):
        loader = loader_of(streams, shuffle_buffer=shuffle_buffer, **options)
        return [content(loader) for _ in range(3)]

    expected = run()
    for epoch, samples in enumerate(expected):
        assert sorted(y for y, *_ in samples) == sorted(sum(pieces(), []))
        assert {each for _, each, *_ in samples} == {epoch}
        assert len({drawn for _, _, drawn, _ in samples}) == len(samples)
    assert expected[0] != expected[1] and run(seed=6) != expected
    for workers in (1, 2, streams):
        assert run(workers=workers) == expected
    assert run(workers=2, batch_size=50) == expected


def test_streams_give_eight_samples_in_turn_and_those_that_ended_none():
    def numbers(stream, streams):
        return [{"y": 1000 * stream + number} for number in range(50)]

    stream = feedline.stream_dataset(numbers, [20, 3, 10], streams=3)
    assert stream.read(range(33))["y"].tolist() == (
        [*range(8), *range(1000, 1003), *range(2000, 2008)]
        + [*range(8, 16), 2008, 2009, *range(16, 20)]
    )
    even = feedline.stream_dataset(numbers, 21, streams=2)
    assert even.read(range(21))["y"].tolist() == (
        [*range(8), *range(1000, 1008)] + [*range(8, 11), 1008, 1009]
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_that_resumes_gets_the_same_samples_for_any_number_of_workers(workers):
    first = loader_of(4, workers=workers)
    first.set_epoch(1)
    loop = iter(first)
    for _ in range(6):
        next(loop)
    state = first.state_dict()
    rest, after = content(loop), content(first)
    for again in (0, 1, 2, 4):
        second = loader_of(4, workers=again)
        second.load_state_dict(state)
        assert content(second) == rest
        assert content(second) == after
    for other in (2, 3):
        with pytest.raises(feedline.UsageError, match="fingerprints of the order"):
            loader_of(other).load_state_dict(state)


def test_ranks_share_streams():
    ranks = [
        feedline.Loader(
            feedline.stream_dataset(
                of_stream, lengths(3), workers=3, start_method="fork"
            ),
            batch_size=4, shard=feedline.Shard(rank=rank, world=2), seed=5, partial_batch="drop",
        )
        for rank in range(2)
    ]  # fmt: skip
    batches = [content([batch]) for pair in zip(*ranks, strict=True) for batch in pair]
    assert sum(batches, []) == content(loader_of(3))[: sum(map(len, batches))]


def test_workers_iterate_ahead(tmp_path):
    def read(stream, streams):
        for number in range(200):
            (tmp_path / f"{stream}-{number}").touch()
            yield {"y": number}

    class Noted:
        def __init__(self, stream, streams):
            self.of = stream, streams

        def __iter__(self):
            return read(*self.of)

    stream = feedline.stream_dataset(Noted, 400, workers=2, start_method="fork")
    stream.read([0])  # of stream 0
    deadline = time.monotonic() + 60
    while not (tmp_path / "0-32").exists():
        assert time.monotonic() < deadline
    assert not (tmp_path / "0-33").exists() and not (tmp_path / "1-0").exists()


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_stream_that_ends_before_others_is_named(workers):
    dataset = feedline.stream_dataset(
        of_stream, 132, streams=3, workers=workers, start_method="fork"
    )
    ended = "stream 0 of 3 ended after 40 samples of epoch 0, and its part of length is 44.*say len"
    with pytest.raises(feedline.StageError, match=ended):
        list(feedline.Loader(dataset, batch_size=4))


@pytest.mark.parametrize("workers", [1, 3])
def test_what_a_stream_raises_comes_after_the_samples_before_it(workers):
    def raising(stream, streams):
        return Shards(pieces()[stream::streams], raises_at=104)

    good = content(loader_of(3, batch_size=1))
    loader, taken = loader_of(3, samples=raising, batch_size=1, workers=workers), []
    with pytest.raises(feedline.StageError, match="KeyError: 104"):
        for batch in loader:
            taken += content([batch])
    assert taken == good[: len(taken)] and good[len(taken)][0] == 104


@pytest.mark.parametrize("workers", [1, 3])
def test_a_worker_that_is_killed_is_replaced_and_its_streams_go_on(tmp_path, workers):
    def dying(stream, streams):
        return Shards(pieces()[stream::streams], dies_at=104, once=str(tmp_path / "died"))

    expected = content(loader_of(3, batch_size=1))
    policy = feedline.ErrorPolicy(retries=1)
    dataset = feedline.stream_dataset(
        dying, lengths(3), streams=3, workers=workers, start_method="fork"
    )
    loader = feedline.Loader(dataset, batch_size=1, seed=5, errors=policy)
    assert content(loader) == expected
    assert (tmp_path / "died").exists()


class Unaware:
    def __iter__(self):
        return iter([{"y": y} for y in range(50)])


def test_streams_that_would_all_give_the_same_are_refused():
    if "torch" not in sys.modules:
        with pytest.raises(feedline.UsageError, match="all give the same samples: give a function"):
            feedline.stream_dataset(Unaware(), 50, workers=2)
    torch = pytest.importorskip("torch")
    assert torch
    with pytest.raises(feedline.UsageError, match="which is for workers: say workers=1"):
        feedline.stream_dataset(Unaware(), 50, streams=2)
    dataset = feedline.stream_dataset(Unaware(), 50, workers=2, start_method="fork")
    with pytest.raises(feedline.StageError, match="does not ask.*each of 2 streams would give all"):
        list(feedline.Loader(dataset, batch_size=5))


@pytest.mark.parametrize(
    ("length", "words"),
    [
        ([5], "1 numbers for 2 streams"),
        (None, "no len.*say length"),
        (-4, "length is -4: it is a number of samples, at least 1"),
        ([-1, 9], r"length is \[-1, 9\]: it is"),
        ([2**63, 2**63], "it is a number of samples"),
        (0, "length is 0"),
    ],
)
def test_lengths_that_say_nothing_are_refused(length, words):
    with pytest.raises(feedline.UsageError, match=words):
        feedline.stream_dataset(of_stream, length, streams=2)


def test_several_streams_can_be_pickled():
    dataset = feedline.stream_dataset(of_stream, lengths(3), streams=3)
    again = pickle.loads(pickle.dumps(dataset))
    loader = feedline.Loader(again, batch_size=7, seed=5)
    assert content(loader) == content(loader_of(3))


def test_a_stream_cannot_ask_for_the_sample_that_is_made():
    class Asking(Unaware):
        def __iter__(self):
            yield {"y": feedline.sample_info().seed}

    with pytest.raises(feedline.UsageError, match="no sample is being made.*a stream draws from"):
        feedline.stream_dataset(Asking(), 1)


def test_streams_of_a_large_number_of_samples_are_found():
    turns = feedline._feedline._StreamTurns([10**12, 3, 10**11], 8)
    assert len(turns) == 10**12 + 3 + 10**11
    assert turns.at(10**11 * 2 + 2) == (2, 10**11 - 1)
    assert turns.at(len(turns) - 1) == (0, 10**12 - 1)
    assert numbers_of(
        feedline.Loader(feedline.stream_dataset(lambda *_: [{"y": 7}], 1), batch_size=1)
    ) == [7]
