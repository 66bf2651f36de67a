"""Orders that Python objects give: sequences, PyTorch's samplers, batches, states, errors.

Over 250 lines: each way in which an order can be given, or be wrong, has its test.
"""

import gc
import pickle
import random
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import feedline


class Shuffled:
    """Another order in each epoch, which depends on the epoch alone."""

    def __init__(self, count=1000, seed=0):
        self.count, self.seed, self.epoch = count, seed, 0
        self.asked = []

    def set_epoch(self, epoch):
        self.epoch = epoch
        self.asked.append(epoch)

    def __iter__(self):
        order = list(range(self.count))
        random.Random(f"{self.seed} {self.epoch}").shuffle(order)
        return iter(order)

    def order(self, epoch):
        return list(Shuffled.at(self, epoch))

    def at(self, epoch):
        other = Shuffled(self.count, self.seed)
        other.set_epoch(epoch)
        return other


class Drawn:
    """Each iteration goes on with one generator, as PyTorch's samplers with a generator."""

    def __init__(self, count=1000, seed=None):
        self.count, self.generator = count, random.Random(seed)

    def __iter__(self):
        return iter(self.generator.sample(range(self.count), self.count))

    def __len__(self):
        return self.count


def samples_of(batches):
    return [sample for batch in batches for sample in batch.samples().tolist()]


@pytest.mark.parametrize("readers", [0, 3])
@pytest.mark.parametrize("epochs", [0, 3])
def test_an_own_sampler_orders_each_epoch(numbered, check_batch, readers, epochs):
    order = Shuffled()
    loader = feedline.Loader(numbered, order, batch_size=64, readers=readers, epochs=epochs)
    for epoch in range(3):
        batches = list(loader.epoch(epoch))
        assert samples_of(batches) == order.order(epoch)
        for batch in batches:
            check_batch(batch)
    assert order.asked == [0, 1, 2]  # each order was taken once


@pytest.mark.parametrize(
    "order",
    [[5, 3, 3, 999], range(900, 1000), np.array([7, 0], np.int32), (4, 2)],
    ids=["list", "range", "array", "tuple"],
)
def test_a_sequence_of_indices_is_the_order_of_every_epoch(numbered, order):
    loader = feedline.Loader(numbered, order, batch_size=3)
    assert len(loader) == -(-len(order) // 3)
    for epoch in range(2):
        assert samples_of(loader.epoch(epoch)) == [int(index) for index in order]


@pytest.mark.parametrize("taken", [1, 16])
def test_a_state_continues_the_order_of_its_epoch(numbered, taken):
    first = feedline.Loader(numbered, Shuffled(), batch_size=64)
    first.set_epoch(3)
    loop = iter(first)
    for _ in range(taken):
        next(loop)
    state = first.state_dict()
    order = Shuffled()
    second = feedline.Loader(numbered, order, batch_size=64, readers=1)
    second.load_state_dict(state)
    rest = samples_of(loop) if taken < 16 else samples_of(first)
    assert samples_of(second) == rest
    assert order.asked == [0, 3 if taken < 16 else 4]
    third = feedline.Loader(numbered, Shuffled(), batch_size=64)
    third.set_epoch(3, 5)
    assert samples_of(third) == Shuffled().order(3)[5 * 64 :]


def test_a_state_of_another_order_is_refused(numbered):
    first = feedline.Loader(numbered, Shuffled(), batch_size=64)
    first.set_epoch(2)
    next(iter(first))
    state = first.state_dict()
    for other in (Shuffled(seed=1), feedline.shuffle(seed=1), Drawn(seed=4)):
        loader = feedline.Loader(numbered, other, batch_size=64)
        with pytest.raises(feedline.UsageError, match="fingerprints of the order"):
            loader.load_state_dict(state)


def test_without_set_epoch_an_epoch_is_an_iteration_and_a_state_continues_it(numbered):
    first = feedline.Loader(numbered, Drawn(seed=5), batch_size=64, epochs=4)
    epochs = [samples_of(first) for _ in range(2)]
    loop = iter(first)
    next(loop)
    state = first.state_dict()
    rest = samples_of(loop)
    again = Drawn(seed=5)
    assert epochs == [list(again), list(again)]
    second = feedline.Loader(numbered, Drawn(seed=5), batch_size=64, epochs=4)
    second.load_state_dict(state)
    assert samples_of(second) == rest == list(again)[64:]
    assert samples_of(second) == samples_of(first) == list(again)


def test_an_order_that_cannot_be_drawn_again_is_refused_and_named(numbered):
    loader = feedline.Loader(numbered, Drawn(), batch_size=1000)
    digest = loader.order_digest()
    first = [samples_of(loader.epoch(epoch)) for epoch in range(6)]
    assert samples_of(loader.epoch(4)) == first[4]  # the last ones are kept
    assert loader.order_digest() == digest and len(loader.sampler) == 1000  # no order is drawn
    with pytest.raises(feedline.StageError) as failure:
        next(loader.epoch(0))
    cause = failure.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert isinstance(cause, feedline.UsageError)
    assert "another order of epoch 0 than before: let it have set_epoch" in str(cause)


def test_lists_of_indices_are_batches(numbered):
    batches = [[4, 2, 9], [1, 1, 0], [7]]
    loader = feedline.Loader(numbered, batches, batch_size=3)
    assert [batch.samples().tolist() for batch in loader] == batches
    with pytest.raises(feedline.UsageError, match="batches of 3 samples.*makes batches of 4"):
        feedline.Loader(numbered, batches, batch_size=4)
    ranks = [
        feedline.Loader(
            numbered, [[1, 2], [3, 4]], batch_size=1, shard=feedline.Shard(rank=rank, world=2)
        )
        for rank in range(2)
    ]
    assert [samples_of(rank) for rank in ranks] == [[1, 3], [2, 4]]
    assert ranks[0].order_digest() == ranks[1].order_digest()


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([[1, 2], [3], [4, 5]], r"batches of \[1, 2\] samples in epoch 0.*bucket_by_length"),
        ([[1], [3, 4]], r"batches of \[1, 2\]"),
        ([[1, 2], []], r"batches of \[0, 2\]"),
        ([1, -2], "gives -2, which is not the index"),
        ([1.5], "gives 1.5, which is not the index"),
        ([1, "a"], "gives 'a', which is not"),
        (Drawn(0), "no sample in epoch 0"),
        (iter([1, 2]), "can be iterated once"),
        ([1000], "index 1000|sample 1000"),
        (Drawn(1001, seed=1), "gives sample 1000 at position .* has samples 0 to 999"),
    ],
)
def test_what_is_no_order_is_refused_before_anything_is_read(numbered, order, words):
    with pytest.raises(feedline.UsageError, match=words):
        feedline.Loader(numbered, order, batch_size=2)


def test_what_cannot_be_iterated_is_refused(numbered):
    with pytest.raises(TypeError, match="sampler is a int: it must be"):
        feedline.Loader(numbered, 5, batch_size=2)


@pytest.mark.parametrize("readers", [0, 2])
def test_an_epoch_of_another_length_and_what_a_sampler_raises_are_told(numbered, readers):
    class Shrinking(Shuffled):
        def __iter__(self):
            if self.epoch == 2:
                raise KeyError("lost")
            return iter(range(100 - self.epoch))

    words = {feedline.UsageError: "99 samples in epoch 1, and 100 in epoch 0", KeyError: "lost"}
    for epoch, kind in [(1, feedline.UsageError), (2, KeyError)]:
        loader = feedline.Loader(numbered, Shrinking(), batch_size=10, readers=readers)
        assert len(samples_of(loader.epoch(0))) == 100
        with pytest.raises(feedline.StageError, match=words[kind]) as failure:
            next(loader.epoch(epoch))
        cause = failure.value
        while cause.__cause__ is not None:
            cause = cause.__cause__
        assert isinstance(cause, kind)


@pytest.mark.parametrize("readers", [0, 2])
def test_a_sampler_that_asks_its_loader_gets_an_answer_or_an_error(numbered, readers):
    class Asking(Shuffled):
        loader = None

        def __iter__(self):
            if self.loader is not None:
                assert len(self.loader) == 16
                with pytest.raises(feedline.UsageError, match="asks its loader"):
                    self.inner.indices(1000, self.epoch + 9)
            return super().__iter__()

    order = Asking()
    order.inner = feedline.from_sampler(order)
    order.loader = feedline.Loader(numbered, order.inner, batch_size=64, readers=readers)
    assert samples_of(order.loader.epoch(1)) == Shuffled().order(1)


def test_threads_that_ask_for_one_epoch_at_once_get_one_order():
    begun, go = threading.Event(), threading.Event()

    class Slow(Drawn):
        def __iter__(self):
            if threading.current_thread() is not threading.main_thread():
                begun.set()
                go.wait()
            return super().__iter__()

    order = feedline.from_sampler(Slow(100))
    found = [None] * 3

    def ask(place):
        found[place] = order.indices(100, 1).tolist()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()
    assert order.indices(100, 0).shape == (100,)  # a known epoch does not wait
    go.set()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2] == order.indices(100, 1).tolist()


@pytest.mark.parametrize("readers", [0, 2])
@pytest.mark.parametrize("composed", [False, True])
def test_a_sampler_that_holds_its_loader_is_collected(numbered, readers, composed):
    def make():
        order = Shuffled()
        given = feedline.take(feedline.from_sampler(order), 10) if composed else order
        order.loader = feedline.Loader(numbered, given, batch_size=4, readers=readers)
        next(order.loader.epoch(0))
        return weakref.ref(order)

    alive = make()
    gc.collect()
    assert alive() is None


def test_a_sequence_s_order_can_be_pickled_and_a_sampler_that_was_iterated_cannot():
    order = pickle.loads(pickle.dumps(feedline.from_sampler([4, 2])))
    assert order.indices(50, 0).tolist() == [4, 2]
    with pytest.raises(TypeError, match="cannot be pickled: pickle what it was made of"):
        pickle.dumps(feedline.from_sampler(Drawn(50)))


def test_a_rank_s_share_is_not_shared_again(numbered, monkeypatch):
    order = Shuffled()
    order.num_replicas, order.rank = 2, 1
    shard = feedline.Shard(rank=1, world=2)
    with pytest.raises(feedline.UsageError, match="Shuffled of 2 replicas.*shard=feedline.Shard()"):
        feedline.Loader(numbered, order, batch_size=4, shard=shard)
    loader = feedline.Loader(numbered, order, batch_size=4, shard=feedline.Shard())
    assert next(iter(loader)).samples().tolist() == order.order(0)[:4]

    joined = feedline.Loader(numbered, order, batch_size=4)
    found = types.SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True,
        get_rank=lambda: 1, get_world_size=lambda: 2,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=found))
    monkeypatch.setitem(sys.modules, "torch.distributed", found)
    with pytest.raises(feedline.UsageError, match="2 replicas"):
        next(iter(joined))


def test_a_loader_s_sampler_tells_the_order(numbered):
    loader = feedline.Loader(numbered, Shuffled(), batch_size=4)
    loader.set_epoch(2)
    assert list(loader.sampler) == Shuffled().order(2)
