"""Batches that are kept: they get memory of their own, which is given back when they are let go.

Over 250 lines: many short tests of one behaviour.
"""

import gc
import json
import os
import threading
import warnings

import numpy as np
import pytest

import feedline


def two_slots(**options):
    return feedline.ExpertOptions(staging_slots=2, batches_per_slot=1, **options)


def loader_of(dataset, batch_size=10, **options):
    return feedline.Loader(dataset, batch_size=batch_size, expert=two_slots(**options))


pytestmark = pytest.mark.filterwarnings("ignore:batches are kept")


@pytest.mark.parametrize("readers", [0, 2])
@pytest.mark.parametrize("batch_size", [1, 7, 250, 1000])
def test_a_list_of_all_batches_just_works(numbered, check_batch, readers, batch_size):
    loader = feedline.Loader(
        numbered, feedline.shuffle(seed=3), batch_size=batch_size, readers=readers
    )
    for number in range(2):
        batches = list(loader.epoch(number))
        assert [batch.index for batch in batches] == list(range(-(-1000 // batch_size)))
        for batch in batches:
            check_batch(batch)
        assert sorted(np.concatenate([b["label"].numpy() for b in batches])) == list(range(1000))


class Other:
    """Another library's tensors: they keep the memory by DLPack alone, as JAX's do."""

    def __init__(self, tensor):
        self.array = np.from_dlpack(tensor)


def torch_of(tensor):
    return pytest.importorskip("torch").from_dlpack(tensor)


def array_of(kept):
    kept = getattr(kept, "array", kept)
    return kept if isinstance(kept, np.ndarray) else kept.numpy()


@pytest.mark.parametrize("keep", [lambda t: t, lambda t: t.numpy(), Other, torch_of])
def test_what_is_kept_of_every_batch_keeps_its_bytes(numbered, keep):
    loader = loader_of(numbered)
    kept = [keep(batch["label"]) for batch in loader.epoch(0)]
    for _ in loader.epoch(1):
        pass
    assert np.concatenate([array_of(each) for each in kept]).tolist() == list(range(1000))
    del loader, _
    gc.collect()
    assert array_of(kept[50]).tolist() == list(range(500, 510))


def test_predictions_that_are_kept_in_a_loop_with_two_slots(numbered):
    predictions = []
    for batch in loader_of(numbered):
        predictions.append(batch["label"].numpy() * 2)
        predictions.append(batch["label"].numpy())
    assert np.concatenate(predictions[1::2]).tolist() == list(range(1000))


def memory():
    """Resident bytes, and the number of mappings."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    with open("/proc/self/maps", encoding="ascii") as file:
        return pages * os.sysconf("SC_PAGESIZE"), len(file.readlines())


@pytest.mark.parametrize("readers", [0, 2])
def test_memory_is_given_back_when_batches_are_let_go(readers):
    mebibytes = 1 << 20
    rows = feedline.make_memory_dataset({"x": np.ones((128, 2 * mebibytes), np.uint8)})
    loader = feedline.Loader(rows, batch_size=1, readers=readers, expert=two_slots())
    for _ in loader.epoch(0):
        pass
    del _
    before, mappings = memory()
    kept = list(loader.epoch(1))
    held = loader.statistics().held
    assert held.slots == 126
    assert held.bytes == 126 * 2 * mebibytes == held.max_bytes
    assert memory()[0] - before > 240 * mebibytes
    del kept
    held = loader.statistics().held
    assert (held.slots, held.bytes, held.added) == (0, 0, 126)
    after, mappings_after = memory()
    assert after - before < 20 * mebibytes
    assert mappings_after <= mappings + 4
    assert json.loads(loader.statistics().to_json())["held"]["max_bytes"] == 126 * 2 * mebibytes
    report = str(loader.statistics())
    assert "held     0 further slots, 0.0 MiB now, 252.0 MiB at the most" in report


def test_the_first_batch_that_is_kept_too_long_warns_and_no_other(numbered):
    loader = loader_of(numbered, max_held_bytes=1 << 20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            assert len(list(loader)) == 100
    (warning,) = caught
    assert warning.category is RuntimeWarning
    assert warning.filename == __file__
    words = str(warning.message)
    assert "2 batches are held (1 in slot 0, 1 in slot 1), of 2 staging slots" in words
    assert "1024 bytes now, and at most 1048576, by expert.max_held_bytes" in words
    assert "copy it if it is small" in words


@pytest.mark.parametrize("readers", [0, 2])
def test_no_batch_is_lost_where_the_warning_is_an_error(numbered, readers):
    loader = feedline.Loader(numbered, batch_size=10, readers=readers, expert=two_slots())
    epoch, kept, raised = loader.epoch(0), [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while True:
            try:
                kept.append(next(epoch))
            except RuntimeWarning:
                raised += 1
            except StopIteration:
                break
    assert raised == 1
    assert [batch.index for batch in kept] == list(range(100))


@pytest.mark.parametrize("readers", [0, 2])
def test_past_the_limit_there_is_an_error_with_the_number_and_nothing_is_lost(numbered, readers):
    loader = feedline.Loader(
        numbered, batch_size=10, readers=readers, expert=two_slots(max_held_bytes=8 * 1024)
    )
    epoch = loader.epoch(0)
    kept = [next(epoch) for _ in range(10)]
    with pytest.raises(feedline.DeadlineError, match="10 batches are held"):
        epoch.next(timeout=0.01)
    with pytest.raises(feedline.UsageError) as refused:
        next(epoch)
    assert (
        "10 batches are held (1 in slot 0, 1 in slot 1, 8 in further slots), of 2 staging slots"
        in str(refused.value)
    )
    assert (
        "further slots have 8192 bytes of staging memory, the next one may take 1024, and "
        "expert.max_held_bytes allows 8192" in str(refused.value)
    )
    del refused
    seen = []
    while kept:
        seen.append(kept.pop(0).index)
        batch = epoch.next()
        if batch is not None:
            kept.append(batch)
        del batch
    assert seen == list(range(100))


def test_the_default_limit_is_a_part_of_what_is_free(numbered):
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) << 10 for line in file if "MemAvailable" in line)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(loader_of(numbered))
    words = str(caught[0].message)
    limit = int(words.split("at most ")[1].split(",")[0])
    assert 0 < limit <= available // 4 + (1 << 30)
    assert "expert.max_held_bytes (by default a quarter of what is free)" in words


def test_on_held_error_keeps_the_loaders_memory_as_it_is(numbered):
    epoch = loader_of(numbered, on_held="error").epoch(0)
    kept = [next(epoch), next(epoch)]
    with pytest.raises(feedline.UsageError, match="ask for more expert.staging_slots"):
        next(epoch)
    addresses = {batch["label"].numpy().ctypes.data for batch in kept}
    del kept
    for batch in epoch:
        assert batch["label"].numpy().ctypes.data in addresses


def test_options_that_contradict_each_other_or_do_not_exist_are_refused(numbered):
    with pytest.raises(feedline.UsageError, match="max_held_bytes is 5, but on_held is error"):
        loader_of(numbered, on_held="error", max_held_bytes=5)
    with pytest.raises(feedline.UsageError, match="no on_held is called 'never'.*'allocate'"):
        two_slots(on_held="never")


def test_a_loop_that_keeps_nothing_gets_no_more_memory(numbered):
    loader = loader_of(numbered)
    for _ in range(3):
        for batch in loader:
            del batch
    assert loader.statistics().held.added == 0


def test_threads_keep_and_let_go_of_batches_at_once(numbered, check_batch):
    loader = loader_of(numbered, batch_size=4)
    epoch, lock, seen, faults = loader.epoch(0), threading.Lock(), [], []

    def work(count):
        try:
            kept = []
            while True:
                with lock:
                    batch = next(epoch, None)
                if batch is None:
                    return
                kept.append(batch)
                if len(kept) == count:
                    for each in kept:
                        check_batch(each)
                        seen.extend(each["label"].numpy().tolist())
                    kept.clear()
        except BaseException as fault:  # noqa: BLE001
            faults.append(fault)
            raise
        finally:
            for each in kept:
                seen.extend(each["label"].numpy().tolist())

    threads = [threading.Thread(target=work, args=(count,)) for count in (1, 3, 7, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert sorted(seen) == list(range(1000))


def test_small_batches_of_slow_readers_keep_little_more_than_their_bytes():
    """Slots of slow readers hold one batch: what is kept does not take the room of many."""
    def read(index):
        return {"y": np.full(100, index, np.int32)}

    gate = threading.Event()

    def slow(index):
        gate.wait(0.002)
        return read(index)

    loader = feedline.Loader(feedline.sequence_dataset(slow, size=64), batch_size=2, readers=1)
    kept = list(loader.epoch(0))
    assert [batch["y"].numpy()[0, 0] for batch in kept] == list(range(0, 64, 2))
    held = loader.statistics().held
    assert 0 < held.bytes <= 4 * 32 * loader.plan().batch_bytes


def test_batches_outlive_a_closed_loader(numbered, check_batch):
    loader = loader_of(numbered)
    kept = list(loader.epoch(0))
    loader.close()
    del loader
    gc.collect()
    for batch in kept:
        check_batch(batch)
    while kept:
        kept.pop()
