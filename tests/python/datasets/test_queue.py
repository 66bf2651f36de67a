"""Queues of samples that threads put while a loader reads them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import feedline


def make(**options: float) -> feedline.SampleQueue:
    fields = [feedline.Field("id", "int64"), feedline.Field("row", "float32", [3])]
    return feedline.make_queue_dataset(fields, **options)  # type: ignore[arg-type]


def sample(number: int) -> "dict[str, object]":
    return {"id": number, "row": np.full(3, number, np.float32)}


def test_batches_have_their_true_size() -> None:
    queue = make(max_delay=3600)
    for number in range(10):
        assert queue.put(sample(number))
    queue.close()
    loader = feedline.Loader(queue.dataset, batch_size=4)
    sizes = []
    seen: "list[int]" = []
    for batch in loader.epoch(0):
        ids = batch["id"].numpy()
        assert batch["row"].numpy().tolist() == [[i, i, i] for i in ids]
        sizes.append(len(ids))
        seen += ids.tolist()
    assert sizes == [4, 4, 2]
    assert seen == list(range(10))


def test_producers_in_threads_end_the_loop() -> None:
    queue = make(capacity=16, max_delay=0.0001)

    def produce(producer: feedline.QueueProducer, first: int) -> None:
        with producer:
            for number in range(first, first + 100):
                if number == 130:
                    return  # this one ends early
                assert producer.put(sample(number))

    threads = [
        threading.Thread(target=produce, args=(queue.producer(), 100 * k)) for k in range(3)
    ]
    for thread in threads:
        thread.start()
    loader = feedline.Loader(queue.dataset, batch_size=8)
    seen = [int(x) for batch in loader.epoch(0) for x in batch["id"].numpy()]
    for thread in threads:
        thread.join()
    assert sorted(seen) == [*range(130), *range(200, 300)]
    with pytest.raises(feedline.UsageError, match="the queue is closed"):
        queue.put(sample(1))


def test_put_waits_for_room_no_longer_than_its_timeout() -> None:
    queue = make(capacity=2)
    assert queue.put(sample(0), timeout=0)
    assert queue.put(sample(1))
    assert not queue.put(sample(2), timeout=0.01)
    assert queue.waiting == 2
    assert queue.in_flight == 0


def test_what_does_not_suit_the_fields_is_refused() -> None:
    queue = make()
    with pytest.raises(feedline.UsageError, match="no value of field 'row'"):
        queue.put({"id": 1})
    with pytest.raises(feedline.UsageError, match="has the shape"):
        queue.put({"id": 1, "row": np.zeros(4, np.float32)})
    with pytest.raises(feedline.UsageError, match="2 fields"):
        queue.put({**sample(1), "more": 1})
    with pytest.raises(feedline.UsageError, match="the sampler is not sequential"):
        feedline.Loader(queue.dataset, feedline.shuffle(seed=1), batch_size=4)
    with pytest.raises(feedline.UsageError, match="max_delay"):
        make(max_delay=-1)
