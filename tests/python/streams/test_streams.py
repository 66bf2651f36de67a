"""Samples of iterators: in order, shuffled in a buffer, shared among ranks, resumed."""

import pickle
import random

import numpy as np
import pytest

import feedline

WORKERS = [{}, {"workers": 1, "start_method": "fork"}]


class Numbers:
    """Each epoch begins at another number; each sample has a random one."""

    def __init__(self, count=100, raises_at=None):
        self.count, self.epoch, self.raises_at = count, 0, raises_at

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        offset = random.randrange(1000)  # as a stream that shuffles its files first
        for number in range(self.count):
            if number == self.raises_at:
                raise KeyError(number)
            place = 1000 * self.epoch + number
            yield {"y": place, "drawn": np.array([offset, random.random(), np.random.rand()])}


class Endless:
    def __iter__(self):
        number = 0
        while True:
            yield {"y": number, "square": np.full(3, number * number)}
            number += 1


def taken(batches):
    return [
        (int(y), *drawn.tolist())
        for batch in batches
        for y, drawn in zip(batch["y"].numpy(), batch["drawn"].numpy())
    ]


def numbers_of(batches):
    return [y for batch in batches for y in batch["y"].numpy().tolist()]


@pytest.mark.parametrize("options", WORKERS)
@pytest.mark.parametrize("readers", [0, 1, feedline.automatic_readers])
def test_an_epoch_is_an_iteration_in_order(options, readers):
    stream = feedline.stream_dataset(Numbers(), 90, **options)
    loader = feedline.Loader(stream, batch_size=8, readers=readers, epochs=3)
    for epoch in range(3):
        assert numbers_of(loader) == [1000 * epoch + number for number in range(90)]


def test_threads_and_a_process_draw_the_same_numbers_in_each_run():
    def run(seed, readers=1, **options):
        stream = feedline.stream_dataset(Numbers(), 100, **options)
        loader = feedline.Loader(stream, batch_size=8, readers=readers, seed=seed)
        return [taken(loader) for _ in range(2)]

    first = run(5)
    assert run(5, readers=0) == run(5, **WORKERS[1]) == first
    assert run(6) != first and first[0] != first[1]


@pytest.mark.parametrize("options", WORKERS)
@pytest.mark.parametrize("shuffle_buffer", [0, 16])
@pytest.mark.parametrize("epochs", [0, 3])
def test_a_run_that_resumes_in_an_epoch_gets_the_same_samples(options, shuffle_buffer, epochs):
    def make():
        stream = feedline.stream_dataset(
            Numbers(), 100, shuffle_buffer=shuffle_buffer, **options
        )
        return feedline.Loader(stream, batch_size=8, seed=3, epochs=epochs)

    first = make()
    first.set_epoch(1)
    loop = iter(first)
    for _ in range(5):
        next(loop)
    state = first.state_dict()
    rest, following = taken(loop), taken(first)
    del loop, first  # two loaders at once would share the process's generators
    second = make()
    second.load_state_dict(state)
    assert (taken(second), taken(second)) == (rest, following)


def test_a_state_of_another_buffer_is_refused():
    first = feedline.Loader(feedline.stream_dataset(Numbers(), 100, shuffle_buffer=9), batch_size=8)
    next(iter(first))
    state = first.state_dict()
    second = feedline.Loader(feedline.stream_dataset(Numbers(), 100), batch_size=8)
    with pytest.raises(feedline.UsageError, match="fingerprints of the order"):
        second.load_state_dict(state)


@pytest.mark.parametrize("options", WORKERS)
def test_one_reader_takes_a_stream_with_large_batches_of_small_samples(options):
    stream = feedline.stream_dataset(range(30_000), names=["y"], **options)
    loader = feedline.Loader(stream, batch_size=10_000)
    assert loader.plan().readers == 1
    assert numbers_of(loader) == list(range(30_000))


def test_a_buffer_shuffles_each_epoch_in_its_own_way_and_loses_nothing():
    stream = feedline.stream_dataset(Numbers(), 100, shuffle_buffer=20)
    loader = feedline.Loader(stream, batch_size=8)
    epochs = [[y % 1000 for y in numbers_of(loader)] for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(100))
    assert epochs[0] != epochs[1] and epochs[0] != sorted(epochs[0])
    assert all(y < place + 21 for place, y in enumerate(epochs[0]))  # none comes before it was read


def test_an_endless_stream_goes_on_in_the_next_epoch():
    def make():
        return feedline.Loader(feedline.stream_dataset(Endless(), 30, endless=True), batch_size=10)

    loader = make()
    assert [numbers_of(loader) for _ in range(3)] == [
        list(range(30 * epoch, 30 * epoch + 30)) for epoch in range(3)
    ]
    later = make()
    later.set_epoch(2, 1)
    assert numbers_of(later) == list(range(70, 90))
    again = feedline.Loader(feedline.stream_dataset(Endless(), 30), batch_size=10)
    assert [numbers_of(again) for _ in range(2)] == [list(range(30))] * 2


def test_ranks_share_a_stream():
    ranks = [
        feedline.Loader(
            feedline.stream_dataset(Numbers(), 96),
            batch_size=4,
            shard=feedline.Shard(rank=rank, world=2),
        )
        for rank in range(2)
    ]
    batches = [numbers_of([batch]) for pair in zip(*ranks, strict=True) for batch in pair]
    assert sum(batches, []) == list(range(96))


@pytest.mark.parametrize("options", WORKERS)
def test_a_stream_that_ends_early_and_what_it_raises_are_told(options):
    short = feedline.Loader(feedline.stream_dataset(Numbers(50), 60, **options), batch_size=10)
    with pytest.raises(feedline.StageError, match="ended after 50 samples of epoch 0.*says 60"):
        list(short)
    raising = feedline.stream_dataset(Numbers(raises_at=25), 60, **options)
    batches = []
    with pytest.raises(feedline.StageError) as failure:
        for batch in feedline.Loader(raising, batch_size=10, readers=1):
            batches.append(batch["y"].numpy().tolist())
    assert sum(batches, []) == list(range(20))
    causes = [failure.value]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    assert any(isinstance(cause, KeyError) for cause in causes)


def test_a_sample_that_fails_can_be_left_out_and_the_others_come_once():
    class Odd(Numbers):
        def __iter__(self):
            for number in range(self.count):
                yield {"y": number if number != 33 else "text"}

    policy = feedline.ErrorPolicy(action="skip", max_share=0.1)
    stream = feedline.stream_dataset(Odd(), 100, pad=None)
    loader = feedline.Loader(stream, batch_size=10, errors=policy)
    assert sorted(numbers_of(loader)) == [number for number in range(100) if number != 33]


def test_another_order_is_refused():
    stream = feedline.stream_dataset(Numbers(), 100)
    for options in ({"shuffle": True}, {"sampler": feedline.sequential()}, {"readers": 2}):
        with pytest.raises(feedline.UsageError, match="is a stream.*shuffle_buffer=N"):
            feedline.Loader(stream, **options)
    long = feedline.stream_dataset(Numbers(10_000), 10_000)
    hidden = feedline.Loader(feedline.select(long, ["y"]), batch_size=10, shuffle=True)
    with pytest.raises(feedline.StageError, match="read in another order than its own"):
        list(hidden)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((iter([1]), 1), TypeError, "not be an iterator"),
        ((5, 1), TypeError, "samples is a int"),
        ((Numbers(),), feedline.UsageError, "no len.*say length="),
    ],
)
def test_what_is_no_stream_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        feedline.stream_dataset(*arguments)


def test_options_without_a_meaning_are_refused():
    with pytest.raises(feedline.UsageError, match="streams is 2 and workers 4.*as many streams"):
        feedline.stream_dataset(Numbers(), 10, workers=4, streams=2)
    with pytest.raises(TypeError, match="no option 'seeded'"):
        feedline.stream_dataset(Numbers(), 10, seeded=False)


def test_a_list_has_a_length_and_a_stream_can_be_pickled():
    stream = feedline.stream_dataset([{"y": number} for number in range(20)])
    again = pickle.loads(pickle.dumps(stream))
    assert numbers_of(feedline.Loader(again, batch_size=7)) == list(range(20))
    with pytest.raises(feedline.UsageError, match="is a stream"):
        feedline.Loader(again, shuffle=True)


def test_an_iterable_dataset_of_pytorch_is_a_stream():
    data = pytest.importorskip("torch.utils.data")

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(40))

    loader = feedline.Loader(feedline.stream_dataset(Stream(), 40, names=["y"]), batch_size=8)
    assert numbers_of(loader) == list(range(40))
