"""Long openings and samplers: Ctrl-C ends them, other threads run, exits do not hang."""

import subprocess
import sys
import time

import numpy as np
import pytest

import feedline

INTERRUPTED = """
import os, signal, sys, threading, time
import feedline

signal.signal(signal.SIGINT, signal.default_int_handler)
os.mkfifo("numbers.idx")

def interrupt():  # while the main thread waits for the file's content
    global at
    while True:
        try:
            os.open("numbers.idx", os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # nothing reads it yet
            time.sleep(0.001)
    at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

other = threading.Thread(target=interrupt)
other.start()
try:
    feedline.open_idx_file("numbers.idx", "x")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - at)
other.join()
"""


def test_ctrl_c_ends_an_opening_and_the_program_ends(tmp_path, in_time):
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    words = ran.stdout.split()
    assert (words[:1], ran.returncode) == (["interrupted"], 0), ran.stderr
    assert in_time(float(words[1]), 0.2)


def test_errors_of_openings_are_those_of_the_library(tmp_path):
    with pytest.raises(feedline.DatasetError, match="nothing.npy"):
        feedline.open_npy(tmp_path / "nothing.npy", "x")
    with pytest.raises(feedline.UsageError, match="weight"):
        feedline.weighted([1.0, -1.0])


def test_openings_work_in_any_thread(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    np.save(tmp_path / "x.npy", np.arange(10))
    with ThreadPoolExecutor(4) as pool:
        opened = pool.map(lambda _: feedline.open_npy(tmp_path / "x.npy", "x"), range(20))
        assert [int(each[3]["x"]) for each in opened] == [3] * 20


LENGTHS = """
import os, signal, sys, threading, time
import numpy as np
import feedline

signal.signal(signal.SIGINT, signal.default_int_handler)
how = sys.argv[1]
begun = threading.Event()

def begin():
    global at
    at = time.monotonic()
    begun.set()

def never(index):
    if index >= begins:
        begin()
        threading.Event().wait()
    return {"offset": index}

if how in ("make_ragged_dataset", "load_into_memory"):
    begins = 1 if how == "make_ragged_dataset" else 70_000  # several threads have parts of it
    offsets = feedline.sequence_dataset(never, size=300_000, concurrency="parallel")
    values = feedline.make_memory_dataset({"x": np.zeros(8, np.uint8)})
else:
    def ragged_of(count):
        values = feedline.make_memory_dataset({"x": np.zeros(count, np.uint8)})
        offsets = feedline.make_memory_dataset({"offset": np.arange(count + 1, dtype=np.uint64)})
        return feedline.make_ragged_dataset(values, offsets)

    ragged = ragged_of(3_000_000)
call = {
    "make_ragged_dataset": lambda: feedline.make_ragged_dataset(values, offsets),
    "load_into_memory": lambda: feedline.load_into_memory(offsets, threads=3),
    "pad": lambda: feedline.pad(ragged),
    "pack": lambda: feedline.pack(ragged, capacity=64),
    "bucket_by_length": lambda: feedline.bucket_by_length(ragged),
}[how]

def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)

if how in ("pad", "pack", "bucket_by_length"):
    # The process's own time, and a signal by that: a busy machine changes neither.
    clock = time.process_time
    at = clock()
    call()
    limit = 10 * (clock() - at)  # half of what follows, which takes 20 times as long
    ragged = ragged_of(60_000_000)
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, limit / 5)
    at = clock()
else:
    clock = time.monotonic
    limit = 0.2
    threading.Thread(target=interrupt).start()
try:
    call()
except KeyboardInterrupt:
    print("interrupted", clock() - at, limit, time.monotonic())
"""


@pytest.mark.parametrize(
    "how", ["make_ragged_dataset", "load_into_memory", "pad", "pack", "bucket_by_length"]
)
def test_ctrl_c_ends_the_reading_of_lengths_and_the_program_ends(run_python, how, in_time):
    ran = run_python(LENGTHS, how)
    ended = time.monotonic()
    words = ran.stdout.split()
    assert (words[:1], ran.returncode) == (["interrupted"], 0), ran.stderr
    took, limit, interrupted = map(float, words[1:])
    if how in ("make_ragged_dataset", "load_into_memory"):
        assert in_time(took, limit)
    else:
        assert took < limit
    assert in_time(ended - interrupted, 2.5)  # 1.5 s of it wait for what still reads
