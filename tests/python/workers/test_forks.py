"""Worker processes and forks: locks, finalizers and descriptors that a child inherits."""

import gc
import os
import signal
import subprocess
from pathlib import Path

import pytest
from test_ends import START, kill_itself
from test_workers import METHODS, Rows

import feedline


def test_a_child_of_fork_is_refused_and_takes_no_worker_away(fork):
    dataset = feedline.sequence_dataset(Rows(), workers=1, start_method="fork")
    loader = feedline.Loader(dataset, batch_size=10)
    epoch = loader.epoch(0)
    batch = next(epoch)

    def in_child():
        nonlocal dataset, loader, epoch, batch
        with pytest.raises(feedline.UsageError, match="child of fork"):
            dataset.read([1])
        del dataset, loader, epoch, batch

    assert fork(in_child) == 0
    assert batch["y"].numpy().tolist() == list(range(10))
    assert [y for batch in epoch for y in batch["y"].numpy()] == list(range(10, 60))
    assert dataset[9]["y"] == 9


FORKED = """
feedline._worker.SECONDS_TO_BE_READY = 1
lock = threading.Lock()
lock.acquire()
os.register_at_fork(after_in_child=lock.acquire)  # as a library's code in the worker may
"""


def test_a_forked_worker_that_waits_for_a_lock_of_another_thread_is_replaced(run_python):
    code = """
dataset = made()
lock.release()
print(dataset.read(range(9))["y"].tolist())
"""
    ran = run_python(START + FORKED + code, timeout=30)
    assert (ran.stdout, ran.returncode) == (f"{list(range(9))}\n", 0), ran.stderr
    assert "it was not ready in time after its fork: a lock" in ran.stderr
    assert "another one is started" in ran.stderr


def test_forked_workers_that_never_become_ready_are_refused_with_advice(run_python):
    code = """
dataset = made()
for _ in range(2):
    try:
        dataset.read(range(9))
    except feedline.UsageError as refusal:
        print("start_method='forkserver' or 'spawn'" in str(refusal))
print(len(multiprocessing.active_children()))
"""
    ran = run_python(START + FORKED + code, timeout=30)
    assert (ran.stdout, ran.returncode) == ("True\nTrue\n0\n", 0), ran.stderr


class Finalized:
    """Tells which processes run its finalizer. In a cycle, so that the collector does."""

    def __init__(self, folder):
        self.folder, self.self = folder, self

    def __del__(self):
        open(os.path.join(self.folder, str(os.getpid())), "w").close()


def test_a_forked_worker_s_collector_leaves_the_parent_s_objects_alone(tmp_path):
    parent = os.getpid()

    def read(index):
        if os.getpid() != parent:
            gc.collect()
        return {"y": index}

    gc.disable()
    try:
        Finalized(tmp_path)
        dataset = feedline.sequence_dataset(read, size=9, workers=2, start_method="fork")
        assert not gc.isenabled()
    finally:
        gc.enable()
    again = feedline.sequence_dataset(read, size=9, workers=2, start_method="fork")
    assert gc.isenabled()
    for each in [dataset, again]:
        each.read(range(9))
    gc.collect()
    assert {each.name for each in tmp_path.iterdir()} == {str(parent)}


class Leaking(Rows):
    """Starts a program that inherits all that a careless one may, and is killed."""

    def __init__(self, folder, even_sockets):
        super().__init__()
        self.folder, self.even_sockets = folder, even_sockets

    def __getitem__(self, index):
        own = os.path.join(self.folder, "pid")
        if index != 3 or os.path.exists(own):
            return {"y": index}
        if self.even_sockets:
            for each in os.listdir("/proc/self/fd"):
                try:
                    if os.readlink(f"/proc/self/fd/{each}").startswith("socket:"):
                        os.set_inheritable(int(each), True)
                except FileNotFoundError:  # that of the listing
                    pass
        child = subprocess.Popen(["sleep", "1000"], close_fds=False)
        Path(own).write_text(str(child.pid))
        return kill_itself()


@pytest.mark.parametrize("even_sockets", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_killed_worker_is_seen_though_its_child_lives(tmp_path, method, even_sockets):
    dataset = feedline.sequence_dataset(
        Leaking(str(tmp_path), even_sockets), workers=1, start_method=method
    )
    try:
        with pytest.raises(feedline.DatasetError, match="signal 9"):
            dataset.read([3])
        assert dataset.read([3])["y"] == [3]
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
