"""Threads that compute side by side: with free-threaded Python without the interpreter's lock, and
with every other one as far as it lets them."""

import gc
import sys
import sysconfig
import threading

import numpy as np
import pytest

import feedline


def in_threads(count, work):
    """Calls work(number) in threads that begin together; raises what one of them raised."""
    faults = []
    begin = threading.Barrier(count)

    def run(number):
        begin.wait(60)
        try:
            work(number)
        except BaseException as fault:  # the main thread raises it
            faults.append(fault)

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if faults:
        raise faults[0]


def test_free_threaded_python_stays_free_of_its_lock():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this Python has a lock")
    if sys.flags.gil:
        pytest.skip("PYTHON_GIL=1 asks for the lock")
    assert not sys._is_gil_enabled()  # an extension that needs the lock turns it on


@pytest.mark.parametrize("readers", [3, 4])
def test_samples_are_made_on_threads_side_by_side(readers):
    together = threading.Barrier(readers)

    def read(index):
        if 1 <= index <= readers:  # sample 0 is made alone, and tells the fields
            together.wait(60)  # passes only if all are made at the same time
        return {"x": np.full(8, index)}

    made = feedline.sequence_dataset(read, size=200, concurrency="parallel")
    loader = feedline.Loader(made, feedline.from_sampler([*range(1, 200), 0]), batch_size=1,
                             readers=readers, expert=feedline.ExpertOptions(staging_slots=8))
    rows = [batch["x"].numpy()[0].tolist() for batch in loader]
    assert rows == [[index] * 8 for index in [*range(1, 200), 0]]


def test_threads_that_ask_one_epoch_get_each_batch_once(numbered, check_batch):
    loader = feedline.Loader(numbered, feedline.shuffle(seed=3), batch_size=2, readers=2,
                             expert=feedline.ExpertOptions(staging_slots=8))
    for number in range(4):
        epoch, seen = loader.epoch(number), []

        def consume(_, epoch=epoch, seen=seen):
            for batch in epoch:
                check_batch(batch)
                seen.append((batch.index, batch.samples().tolist()))
                str(batch), dict(batch), len(loader), loader.statistics(), loader.plan()

        in_threads(6, consume)
        order = feedline.shuffle(seed=3).indices(1000, number).tolist()
        assert [samples for _, samples in sorted(seen)] == np.reshape(order, (500, 2)).tolist()


def test_threads_make_and_close_loaders_of_shared_datasets():
    class Own:
        """Python's objects within C++: those that a failure keeps, too."""

        def __len__(self):
            return 40

        def __getitem__(self, index):
            if index == 33:
                raise feedline.DatasetError("sample 33 is lost")
            return {"x": np.full(4, index), "y": {"a": index, "b": [index, str(index)]}}

    own = feedline.sequence_dataset(Own(), concurrency="parallel", pad={"y.b.1": 4})
    joined = feedline.concatenate([own, own])
    skipping = feedline.ErrorPolicy(action="skip")

    def work(number):
        for turn in range(6):
            loader = feedline.Loader(
                joined, feedline.shuffle(seed=number), batch_size=4, readers=turn % 3,
                errors=skipping,
            )
            seen = sorted(int(x) for batch in loader for x in batch["x"].numpy()[:, 0])
            assert seen == sorted(2 * [x for x in range(40) if x != 33])
            if turn % 2:
                loader.close()
            if number == 0:
                gc.collect()

    in_threads(5, work)


def test_a_loader_is_closed_by_several_threads_at_once(numbered):
    for _ in range(20):
        loader = feedline.Loader(numbered, batch_size=1, readers=1)
        epoch = loader.epoch(0)

        def work(number, loader=loader, epoch=epoch):
            if number < 3:
                loader.close()
                return
            try:
                for batch in epoch:
                    assert batch.size == 1
            except feedline.UsageError as error:
                assert "closed" in str(error)

        in_threads(6, work)
        with pytest.raises(feedline.UsageError, match="closed"):
            len(loader)
