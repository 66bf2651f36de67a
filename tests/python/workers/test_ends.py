"""How worker processes end, are replaced, and end with their parent; fork."""

import datetime
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from test_workers import METHODS, Rows

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


def run(code, folder, **options):
    """Runs a program with workers, which is a file, as spawned workers import it."""
    program = Path(folder) / "program.py"
    program.write_text(textwrap.dedent(code))
    return subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        **options,
    )


HANGING = """
    import os, signal, sys, time
    import feedline

    def read(index):
        if index > 0:
            print(os.getpid(), flush=True)
            time.sleep(1000)
        return {{"y": index}}

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        dataset = feedline.sequence_dataset(read, size=9, workers=1, start_method={method!r})
        loader = feedline.Loader(dataset, batch_size=1, readers={readers})
        for batch in loader.epoch(0):
            pass
"""


def ended(pid, within=20):
    """Whether a process that is no child of this one ends in time."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("method", METHODS)
def test_no_worker_outlives_its_parent_even_in_a_sample_that_never_ends(tmp_path, method):
    program = run(HANGING.format(method=method, readers=1), tmp_path)
    worker = int(program.stdout.readline())
    program.kill()
    program.wait()
    assert ended(worker)


@pytest.mark.parametrize("readers", [0, 1])
def test_ctrl_c_ends_a_wait_for_a_worker_and_the_program(tmp_path, readers):
    program = run(HANGING.format(method="fork", readers=readers), tmp_path)
    worker = int(program.stdout.readline())
    os.kill(program.pid, signal.SIGINT)
    assert "KeyboardInterrupt" in program.communicate(timeout=60)[1]
    assert ended(worker)


def test_a_main_module_without_a_guard_is_told_what_to_do(tmp_path):
    code = """
        import feedline

        def read(index):
            return {"y": index}

        dataset = feedline.sequence_dataset(read, size=9, workers=1)
        dataset.read([1, 2])
    """
    program = run(code, tmp_path)
    errors = program.communicate(timeout=120)[1]
    assert program.returncode == 1
    assert "before it was ready" in errors
    assert "if __name__ ==" in errors


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


def test_workers_that_do_not_end_are_all_killed_after_a_second():
    before = set(multiprocessing.active_children())
    dataset = feedline.sequence_dataset(Rows(), workers=5, start_method="fork")
    pids = [each.pid for each in set(multiprocessing.active_children()) - before]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    del dataset
    assert time.monotonic() - began < 3
    assert all(ended(pid) for pid in pids)


WAITING = """
    import os, signal, sys, threading, time
    import feedline

    def read(index):
        if index > 0:
            os.write(1, f"{{os.getpid()}}\\n".encode())  # not in two parts
            {hangs}
        return {{"y": index}}

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        dataset = feedline.sequence_dataset(
            read, size=9, workers=2, start_method={method!r}, seeded=False
        )
        loader = feedline.Loader(dataset, batch_size=1)
        epoch = loader.epoch(0)
        sys.stdin.readline()  # until workers hang
        print("waits", flush=True)
        try:
            {waits}
        except KeyboardInterrupt:
            print(time.monotonic(), flush=True)
        print(time.monotonic(), flush=True)
"""
SLEEPS, STOPS = "time.sleep(1000)", "os.kill(os.getpid(), signal.SIGSTOP)"


def waiting(tmp_path, method, waits, hangs=SLEEPS):
    """Runs such a program until two workers hang and the loop waits."""
    code = WAITING.format(method=method, waits=waits, hangs=hangs)
    program = run(code, tmp_path, stdin=subprocess.PIPE)
    pids = [int(program.stdout.readline()) for _ in range(2)]
    program.stdin.write("go on\n")
    program.stdin.flush()
    assert program.stdout.readline() == "waits\n"
    return program, pids


def until_it_sleeps(pid):
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        pass


def rest_of(program):
    """What a program still writes until it ends. `communicate` loses what a file has read ahead."""
    try:
        program.wait(timeout=60)
    finally:
        program.kill()
    return program.stdout.read(), program.stderr.read()


@pytest.mark.parametrize("hangs", [SLEEPS, STOPS])
@pytest.mark.parametrize("method", METHODS)
def test_a_program_ends_within_two_seconds_though_workers_hang(tmp_path, method, hangs):
    program, pids = waiting(tmp_path, method, "pass", hangs)
    text, errors = rest_of(program)
    assert time.monotonic() - float(text) < 2
    assert program.returncode == 0, errors
    assert all(ended(pid) for pid in pids)


WAITS = [
    "loader.close()",
    "next(epoch); next(epoch)",
    "dataset.read([3])",
    "feedline.load_into_memory(dataset)",
]


@pytest.mark.parametrize("waits", WAITS)
def test_ctrl_c_ends_a_wait_though_workers_hang_and_so_does_the_program(tmp_path, waits):
    program, pids = waiting(tmp_path, "fork", waits)
    until_it_sleeps(program.pid)  # which it does before the wait, too, and that changes nothing
    sent = time.monotonic()
    os.kill(program.pid, signal.SIGINT)
    text, errors = rest_of(program)
    interrupted, last = map(float, text.split())
    assert interrupted - sent < 0.3
    assert time.monotonic() - last < 2
    assert program.returncode == 0, errors
    assert all(ended(pid) for pid in pids)
