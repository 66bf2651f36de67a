"""The program's end and Loader.close(), whatever reads wait for."""

import time

import pytest

DAEMON = """
import sys, threading
import feedline

readers, own = int(sys.argv[1]), sys.argv[2] == "of Python"
taken = threading.Event()

def consume(loader):
    for epoch in range(10**9):
        for batch in loader.epoch(epoch):
            taken.set()

data = feedline.make_memory_dataset({"y": range(1000)})
if own:
    data = feedline.sequence_dataset(data)
loader = feedline.Loader(data, batch_size=10, readers=readers)
threading.Thread(target=consume, args=[loader], daemon=True).start()
taken.wait()
"""


@pytest.mark.parametrize("readers", [0, 1, 3])
@pytest.mark.parametrize("rows", ["in memory", "of Python"])
def test_a_daemon_thread_that_takes_batches_ends_with_the_program(run_python, readers, rows):
    for _ in range(5):  # of ten such programs, four to seven were aborted
        ran = run_python(DAEMON, readers, rows)
        assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


WAITING = """
import sys, threading, time
import feedline

how, readers, thread = sys.argv[1], int(sys.argv[2]), sys.argv[3]
inside = threading.Event()

def read(index):
    if index > 0:
        inside.set()
        if how == "waits":
            threading.Event().wait()
        while True:  # computes
            pass
    return {"y": index}

data = feedline.sequence_dataset(read, size=9)
loader = feedline.Loader(data, batch_size=1, readers=readers)
epoch = loader.epoch(0)
def consume():
    for batch in epoch:
        pass
if thread == "another thread":
    threading.Thread(target=consume, daemon=True).start()
inside.wait()
print(time.monotonic())
"""


@pytest.mark.parametrize("thread", ["no thread", "another thread"])
@pytest.mark.parametrize("how", ["waits", "computes"])
@pytest.mark.parametrize("readers", [0, 1])
def test_a_read_that_never_ends_does_not_stop_the_program_from_ending(
    run_python, in_time, readers, how, thread
):
    if readers == 0 and thread == "no thread":
        pytest.skip("nothing reads then")
    ran = run_python(WAITING, how, readers, thread)
    ended = time.monotonic()
    assert ran.returncode == 0, ran.stderr
    assert in_time(ended - float(ran.stdout), 4)  # at most 1.5 s of it wait for reads
    if readers == 1:
        assert "gave up after waiting 1.5 s for the loader's threads: reader 1" in ran.stderr
    else:
        assert ran.stderr == ""


INTERRUPTED = """
import os, signal, sys, threading
import feedline

signal.signal(signal.SIGINT, signal.default_int_handler)
ends, readers = sys.argv[1], int(sys.argv[2])
inside, go_on = threading.Event(), threading.Event()

def read(index):
    if index > 0:
        inside.set()
        go_on.wait()
    return {"y": index}

data = feedline.sequence_dataset(read, size=9)
loader = feedline.Loader(data, batch_size=1, readers=readers)
epoch = loader.epoch(0)

def take():
    try:
        list(epoch)
    except feedline.UsageError:
        pass  # the loader is closed

taking = threading.Thread(target=take, daemon=True)
if readers == 0:
    taking.start()
inside.wait()

def interrupt():
    while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "close":
        pass  # from there on Ctrl-C ends it
    os.kill(os.getpid(), signal.SIGINT)

for round in range(2):  # again
    threading.Thread(target=interrupt).start()
    try:
        if ends == "close":
            loader.close()
        else:
            with loader:
                pass
    except KeyboardInterrupt:
        print("interrupted")
try:
    loader.state()
except feedline.UsageError as refusal:
    print(refusal)
go_on.set()
loader.close()
if readers == 0:
    taking.join()  # its last words would come while the interpreter ends
print("closed")
"""


@pytest.mark.parametrize("ends", ["close", "with"])
@pytest.mark.parametrize("readers", [0, 1])
def test_ctrl_c_ends_a_close_that_waits_for_a_read(run_python, ends, readers):
    ran = run_python(INTERRUPTED, ends, readers)
    assert ran.stdout.splitlines() == ["interrupted"] * 2 + ["the loader is closed", "closed"]
    assert ran.returncode == 0, ran.stderr


DELETED = """
import threading, time
import feedline

inside = threading.Event()

def read(index):
    if index > 0:
        inside.set()
        threading.Event().wait()
    return {"y": index}

loader = feedline.Loader(feedline.sequence_dataset(read, size=9), batch_size=1, readers=1)
epoch = loader.epoch(0)
inside.wait()
began = time.monotonic()
del loader, epoch
print("deleted", time.monotonic() - began)
"""


def test_the_end_of_a_last_reference_waits_two_seconds_for_a_read(run_python, in_time):
    ran = run_python(DELETED)
    words = ran.stdout.split()
    assert (words[:1], ran.returncode) == (["deleted"], 0), ran.stderr
    assert in_time(float(words[1]), 3.5)
    assert "gave up after waiting 2" in ran.stderr
    assert "reader 1" in ran.stderr


CLOSED = """
import threading
import feedline

inside, go_on = threading.Event(), threading.Event()

def read(index):
    if index == 5:
        inside.set()
        go_on.wait()
    return {"y": index}

loader = feedline.Loader(feedline.sequence_dataset(read, size=9), batch_size=1)

def consume():
    try:
        for batch in loader.epoch(3):
            pass
        print("the epoch ended")
    except feedline.UsageError as refusal:
        print(refusal)
        go_on.set()

consumer = threading.Thread(target=consume)
consumer.start()
inside.wait()
loader.close()
consumer.join()
"""


def test_a_close_by_another_thread_is_no_end_of_the_epoch(run_python):
    ran = run_python(CLOSED)
    assert ran.stdout == (
        "the loader is closed, and epoch 3 had not ended: take all batches that you need before "
        "Loader.close()\n"
    )
    assert (ran.stderr, ran.returncode) == ("", 0)
