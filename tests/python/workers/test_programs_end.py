"""How programs with workers end, and what is left."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hanging import ended, run
from test_workers import METHODS

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
def test_a_program_ends_within_two_seconds_though_workers_hang(tmp_path, in_time, method, hangs):
    program, pids = waiting(tmp_path, method, "pass", hangs)
    text, errors = rest_of(program)
    assert in_time(time.monotonic() - float(text), 2)
    assert program.returncode == 0, errors
    assert all(ended(pid) for pid in pids)


WAITS = [
    "loader.close()",
    "next(epoch); next(epoch)",
    "dataset.read([3])",
    "feedline.load_into_memory(dataset)",
]


@pytest.mark.parametrize("waits", WAITS)
def test_ctrl_c_ends_a_wait_though_workers_hang_and_so_does_the_program(tmp_path, in_time, waits):
    program, pids = waiting(tmp_path, "fork", waits)
    until_it_sleeps(program.pid)  # which it does before the wait, too, and that changes nothing
    sent = time.monotonic()
    os.kill(program.pid, signal.SIGINT)
    text, errors = rest_of(program)
    interrupted, last = map(float, text.split())
    assert in_time(interrupted - sent, 0.3)
    assert in_time(time.monotonic() - last, 2)
    assert program.returncode == 0, errors
    assert all(ended(pid) for pid in pids)
