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
    print("interrupted", time.monotonic() - at < 0.2)
other.join()
"""


def test_ctrl_c_ends_an_opening_and_the_program_ends(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("interrupted True\n", 0), ran.stderr


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
    count = 60_000_000  # more than can be read in 0.2 s
    values = feedline.make_memory_dataset({"x": np.zeros(count, np.uint8)})
    offsets = feedline.make_memory_dataset({"offset": np.arange(count + 1, dtype=np.uint64)})
    ragged = feedline.make_ragged_dataset(values, offsets)
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

other = threading.Thread(target=interrupt)
other.start()
try:
    if how in ("pad", "pack", "bucket_by_length"):
        begin()
    call()
except KeyboardInterrupt:
    now = time.monotonic()
    print("interrupted", now - at < 0.2, now)
"""


@pytest.mark.parametrize(
    "how", ["make_ragged_dataset", "load_into_memory", "pad", "pack", "bucket_by_length"]
)
def test_ctrl_c_ends_the_reading_of_lengths_and_the_program_ends(run_python, how):
    ran = run_python(LENGTHS, how)
    ended = time.monotonic()
    words = ran.stdout.split()
    assert (words[:2], ran.returncode) == (["interrupted", "True"], 0), ran.stderr
    assert ended - float(words[2]) < 2.5  # 1.5 s of it wait for what still reads
