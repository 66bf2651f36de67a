"""How worker processes end, are replaced, and end with their parent; fork."""

import datetime
import multiprocessing
import os
import signal
import subprocess
import sys
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


def run(code, folder):
    """Runs a program with workers, which is a file, as spawned workers import it."""
    program = Path(folder) / "program.py"
    program.write_text(textwrap.dedent(code))
    return subprocess.Popen(
        [sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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


def test_a_child_of_fork_is_refused_and_takes_no_worker_away():
    dataset = feedline.sequence_dataset(Rows(), workers=1, start_method="fork")
    loader = feedline.Loader(dataset, batch_size=10)
    epoch = loader.epoch(0)
    batch = next(epoch)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                dataset.read([1])
            except feedline.UsageError as refusal:
                code = 0 if "child of fork" in str(refusal) else 2
            del dataset, loader, epoch, batch
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert batch["y"].numpy().tolist() == list(range(10))
    assert [y for batch in epoch for y in batch["y"].numpy()] == list(range(10, 60))
    assert dataset[9]["y"] == 9
