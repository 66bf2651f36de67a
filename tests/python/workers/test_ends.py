"""How worker processes end, and are replaced."""

import datetime
import multiprocessing
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hanging import ended
from test_workers import Rows

import feedline


class OnceAt(Rows):
    """Does something when a sample is made for the first time by any process."""

    def __init__(self, folder, index, action, size=60):
        super().__init__(size)
        self.folder, self.index, self.action = folder, index, action

    def __getitem__(self, index):
        if index == self.index:
            try:
                open(os.path.join(self.folder, "done"), "x").close()
            except FileExistsError:
                pass
            else:
                self.action()
        return super().__getitem__(index)


def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(7)


def never_end():
    time.sleep(1000)


class KilledAt(Rows):
    """Each sample of a set kills its worker once."""

    def __init__(self, folder, samples, size):
        super().__init__(size)
        self.folder, self.samples = folder, samples

    def __getitem__(self, index):
        if index in self.samples:
            try:
                open(os.path.join(self.folder, str(index)), "x").close()
            except FileExistsError:
                pass
            else:
                kill_itself()
        return {"y": index, "row": np.full(16, index, np.int64)}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (kill_itself, "was killed by signal 9 \\(SIGKILL"),
        (leave, "ended with exit code 7"),
        (never_end, "the sample took longer than timeout"),
    ],
)
def test_a_worker_that_ends_or_hangs_is_named_and_replaced(tmp_path, workers, action, words):
    dataset = feedline.sequence_dataset(
        OnceAt(str(tmp_path), 17, action), workers=2, start_method="fork", timeout=0.5
    )
    with pytest.raises(feedline.StageError, match=f"worker . \\(pid .*{words}") as failure:
        for _ in feedline.Loader(dataset, batch_size=4).epoch(0):
            pass
    assert failure.value.sample == 17
    again = feedline.Loader(dataset, batch_size=4)
    assert [y for batch in again.epoch(0) for y in batch["y"].numpy()] == list(range(60))
    assert workers() == 2


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_no_sample_is_lost_or_wrong_if_workers_are_killed_again_and_again(tmp_path, method):
    killers = set(range(3, 800, 4 if method == "fork" else 80))
    dataset = feedline.sequence_dataset(
        KilledAt(str(tmp_path), killers, 800), workers=3, start_method=method
    )
    soon = datetime.timedelta(milliseconds=1)
    policy = feedline.ErrorPolicy(retries=3, first_pause=soon)
    loader = feedline.Loader(dataset, feedline.shuffle(seed=1), batch_size=32, errors=policy)
    seen = []
    for batch in loader.epoch(0):
        assert (batch["row"].numpy() == batch["y"].numpy()[:, None]).all()
        assert (batch["y"].numpy() == batch.samples()).all()
        seen += batch["y"].numpy().tolist()
    assert sorted(seen) == list(range(800))
    assert len(os.listdir(tmp_path)) == len(killers)


def test_nothing_is_left_once_datasets_with_workers_are_gone(open_files, workers):
    def use():
        dataset = feedline.sequence_dataset(Rows(), workers=2, start_method="fork")
        for _ in feedline.Loader(dataset, batch_size=8).epoch(0):
            pass

    def mappings():
        return Path("/proc/self/maps").read_text().count("memfd:feedline")

    use()
    files, mapped = open_files(), mappings()
    for _ in range(10):
        use()
    assert open_files() == files
    assert mappings() == mapped
    assert workers() == 0


def ends_together(folder, action):
    """Samples that are made by `__getitems__`, which does something when it is called first."""

    class Together(Rows):
        def __getitems__(self, indices):
            try:
                open(os.path.join(folder, "done"), "x").close()
            except FileExistsError:
                return [{"y": index} for index in indices]
            return action()

    return feedline.sequence_dataset(
        Together(), workers=1, start_method="fork", seeded=False, timeout=0.2
    )


@pytest.mark.parametrize(
    ("action", "words"), [(kill_itself, "signal 9"), (never_end, "longer than timeout")]
)
def test_a_worker_that_ends_or_hangs_in_getitems_is_named_and_replaced(tmp_path, action, words):
    dataset = ends_together(str(tmp_path), action)
    with pytest.raises(feedline.DatasetError, match=words) as failure:
        dataset.read(range(3, 8))
    assert failure.value.sample == 3
    assert dataset.read(range(3, 8))["y"].tolist() == list(range(3, 8))


START = """
import gc, multiprocessing.process, os, signal, subprocess, sys, threading
import feedline, feedline._worker
from feedline._worker import Worker

def read(index):
    return {"y": index}

def made(read=read, method="fork"):
    return feedline.sequence_dataset(read, size=9, workers=1, start_method=method)
"""


def test_a_finalizer_may_end_workers_while_others_are_ended(run_python):
    code = """
one, two = made(), made()
join = multiprocessing.process.BaseProcess.join

def collecting(process, timeout=None):  # as the garbage collector may at any time
    global two
    two = None
    return join(process, timeout)

multiprocessing.process.BaseProcess.join = collecting
del one
print(len(multiprocessing.active_children()))
"""
    ran = run_python(START + code, timeout=30)
    assert (ran.stdout, ran.returncode) == ("0\n", 0), ran.stderr


def test_datasets_may_go_while_the_program_s_end_ends_their_workers(run_python):
    code = """
one, two = made(), made()
end = Worker.end

def ending(worker, patience):
    global one, two
    one = two = None
    print(gc.collect() >= 0)
    return end(worker, patience)

Worker.end = ending
"""
    ran = run_python(START + code, timeout=30)
    assert (set(ran.stdout.split()), ran.returncode) == ({"True"}, 0), ran.stderr


def test_a_worker_whose_replacement_ctrl_c_interrupted_is_replaced_by_the_next_read(run_python):
    code = """
once = iter([True])

def read(index):
    if index == 3 and not os.path.exists(sys.argv[1]):
        open(sys.argv[1], "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"y": index}

dataset = made(read)
end = Worker.end

def interrupted(worker, patience):
    Worker.end = end
    raise KeyboardInterrupt

Worker.end = interrupted
try:
    dataset.read([3])
except KeyboardInterrupt:
    print("interrupted")
print(dataset.read([3])["y"])
"""
    with tempfile.TemporaryDirectory() as folder:
        ran = run_python(START + code, os.path.join(folder, "done"), timeout=30)
    assert (ran.stdout, ran.returncode) == ("interrupted\n[3]\n", 0), ran.stderr


def test_workers_that_do_not_end_are_all_killed_after_a_second(in_time):
    before = set(multiprocessing.active_children())
    dataset = feedline.sequence_dataset(Rows(), workers=5, start_method="fork")
    pids = [each.pid for each in set(multiprocessing.active_children()) - before]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    del dataset
    assert in_time(time.monotonic() - began, 3)
    assert all(ended(pid) for pid in pids)
