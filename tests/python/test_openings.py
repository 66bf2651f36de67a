"""Long openings and samplers: Ctrl-C ends them, other threads run, exits do not hang."""

import subprocess
import sys

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
