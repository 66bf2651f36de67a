"""Threads share a loader: its calls take turns, and one that waits can be ended."""

import threading
import warnings

import pytest

import feedline


@pytest.mark.parametrize("rows", ["in memory", "of Python"])  # most of Python's are waited for
def test_threads_share_a_loader(numbered, check_batch, rows):
    if rows == "of Python":
        numbered = feedline.sequence_dataset(numbered)
    # Each thread holds a batch while it waits for the next one: more slots than threads.
    loader = feedline.Loader(
        numbered, feedline.shuffle(seed=1), batch_size=1, readers=2,
        expert=feedline.ExpertOptions(staging_slots=8),
    )
    epoch = loader.epoch(0)
    seen, faults = [], []

    def consume():
        try:
            for batch in epoch:
                check_batch(batch)
                seen.append(batch.index)
        except BaseException as fault:  # the main thread asserts
            faults.append(fault)

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert sorted(seen) == list(range(1000))


def test_threads_that_hold_all_slots_are_warned(numbered):
    loader = feedline.Loader(
        numbered, batch_size=1, readers=1,
        expert=feedline.ExpertOptions(staging_slots=2, batches_per_slot=1, on_held="error"),
    )
    epoch = loader.epoch(0)
    other = threading.Thread(target=lambda: next(epoch))  # it ends a batch: so it could again
    other.start()
    other.join()
    held = [next(epoch), next(epoch)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="waiting on: batch 3 of epoch 0 .* held"):
            next(epoch)
    held.clear()
    assert next(epoch).index == 3


def test_a_loader_is_closed_while_another_thread_waits():
    asked, gate = threading.Event(), threading.Event()

    def read(index):
        if index > 0:
            asked.set()
            assert gate.wait(60)
        return {"y": index}

    loader = feedline.Loader(feedline.sequence_dataset(read, size=9), batch_size=1)
    ends = []
    waiting = threading.Thread(target=lambda: ends.extend(loader.epoch(0)))
    waiting.start()
    assert asked.wait(60)
    loader.stop()
    waiting.join(60)
    assert not waiting.is_alive()
    gate.set()
    loader.close()
