"""Signals, forks and the interpreter's end, while a loader is at work."""

import gc
import os
import signal
import subprocess
import sys
import threading

import pytest

import feedline

INTERRUPTED = """
import os, signal, sys, threading
import feedline

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests' parent may ignore it

inside = threading.Event()
def read(index):
    if index > 0:
        inside.set()
        gate.wait(60)
    return {"y": index}
gate = threading.Event()
loader = feedline.Loader(feedline.sequence_dataset(read, size=9), batch_size=1, readers=1)
def interrupt():  # while the main thread waits for the second batch
    inside.wait(60)
    while loader.statistics().consumer.batches < 1:
        pass
    before = loader.statistics().consumer.starved
    while (loader.statistics().consumer.starved - before).total_seconds() < 0.02:
        pass
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
epoch = loader.epoch(0)
try:
    for batch in epoch:
        pass
except KeyboardInterrupt:
    gate.set()
    print("interrupted,", sum(1 for _ in epoch), "batches are left")
"""


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


def test_ctrl_c_ends_a_wait_and_loses_nothing():
    ran = python(INTERRUPTED)
    assert (ran.stdout, ran.returncode) == ("interrupted, 8 batches are left\n", 0), ran.stderr


def test_a_program_ends_with_a_loader_whose_reader_is_in_python():
    ran = python(
        "import builtins, feedline, numpy\n"
        "def read(i):\n"
        "    for _ in range(2_000_000 if i else 0): pass\n"
        "    return {'y': i}\n"
        "loader = feedline.Loader(feedline.sequence_dataset(read, size=1000), batch_size=1)\n"
        "builtins.loader = loader  # is not taken apart with the module\n"
        "builtins.view = next(loader.epoch(0))['y'].numpy()\n"
        "print(builtins.view.sum())\n"
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("0\n", "", 0)


def test_a_child_of_fork_ends_and_destroys_nothing(numbered, fork):
    loader = feedline.Loader(numbered, batch_size=10)
    epoch = loader.epoch(0)
    batch = next(epoch)

    def in_child():
        nonlocal batch, epoch, loader
        with pytest.raises(feedline.UsageError):
            next(epoch)
        del batch, epoch, loader
        gc.collect()

    assert fork(in_child) == 0
    assert next(epoch).index == 1


FORKED_IN_A_STEP = """
import gc, os, sys, threading
import feedline

inside = threading.Event()

def read(index):
    if index > 0:
        inside.set()
        threading.Event().wait()
    return {"y": index}

data = feedline.sequence_dataset(read, size=9)
loader = feedline.Loader(data, batch_size=1, readers=int(sys.argv[1]))
epoch = loader.epoch(0)
threading.Thread(target=lambda: list(epoch), daemon=True).start()
inside.wait()
child = os.fork()
if child == 0:
    for call in (loader.state, epoch.next, lambda: loader.epoch(1)):
        try:
            call()
        except feedline.UsageError as refusal:
            print(str(refusal).split(",")[0] == f"this loader belongs to process {os.getppid()}")
    loader.close()
    del loader, epoch, call
    gc.collect()
    print("ends")
    sys.exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("readers", [0, 1])
def test_a_child_of_fork_waits_for_no_turn_of_its_parents_threads(run_python, readers):
    ran = run_python(FORKED_IN_A_STEP, readers)
    assert ran.stdout.split() == ["True"] * 3 + ["ends", "0"], ran.stderr
    assert ran.returncode == 0


def test_handlers_of_signals_run_while_a_batch_is_waited_for(await_waiting):
    asked, gate = threading.Event(), threading.Event()

    def read(index):
        if index == 1:
            asked.set()
            assert gate.wait(60)  # the handler opens it
        return {"y": index}

    def interrupt():
        asked.wait(60)
        await_waiting(loader, 1)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, lambda *_: gate.set())
    try:
        loader = feedline.Loader(feedline.sequence_dataset(read, size=2), batch_size=1)
        epoch = loader.epoch(0)
        next(epoch)
        other = threading.Thread(target=interrupt)
        other.start()
        assert next(epoch)["y"].numpy() == 1
        other.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
