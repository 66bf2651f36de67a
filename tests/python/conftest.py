"""Code shared by the tests of the Python package."""

import datetime
import gc
import multiprocessing
import os
import subprocess
import sys
import time
import traceback

import numpy as np
import pytest

import feedline


@pytest.fixture
def numbered():
    """Identity data: sample i's bytes spell i, so that a wrong or torn sample shows."""
    count = 1000
    return feedline.make_memory_dataset(
        {
            "row": np.repeat(np.arange(count, dtype=np.int64), 8).reshape(count, 2, 4),
            "label": np.arange(count, dtype=np.int32),
        }
    )


@pytest.fixture
def check_batch():
    """Checks that a batch has the samples that it says, in all its fields."""

    def check(batch):
        samples = batch.samples().astype(np.int64)
        assert batch["label"].numpy().tolist() == samples.tolist()
        row = batch["row"].numpy()
        assert row.shape == (batch.size, 2, 4)
        assert (row == samples[:, None, None]).all()

    return check


@pytest.fixture
def archives(tmp_path):
    """Skips where feedline was built without libzip, which reads .npz files."""
    np.savez(tmp_path / "tried.npz", x=np.arange(3))
    try:
        feedline.open(tmp_path / "tried.npz")
    except feedline.DatasetError as error:
        if "built without libzip" in str(error):
            pytest.skip(str(error))
        raise


@pytest.fixture
def open_files():
    """How many descriptors this process has."""

    def count():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    return count


@pytest.fixture
def run_python():
    """Runs a program that may hang, with some seconds until it is killed."""

    def run(code, *args, timeout=60):
        began = time.monotonic()
        ran = subprocess.run(
            [sys.executable, "-c", code, *map(str, args)],
            capture_output=True, text=True, timeout=timeout, check=False,
        )
        ran.seconds = time.monotonic() - began
        return ran

    return run


@pytest.fixture
def in_time():
    """Whether something took less than some seconds; on a busy machine, less than that and many
    times what the shortest program takes there now."""

    def check(took, seconds):
        if took < seconds:
            return True
        began = time.monotonic()
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
        return took < seconds + 50 * (time.monotonic() - began)

    return check


@pytest.fixture
def fork():
    """Runs a function in a child of fork. Its exit code: 0 if the function returned."""

    def run(function):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                function()
                code = 0
            except BaseException:  # noqa: BLE001: the child ends here
                traceback.print_exc()
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return run


@pytest.fixture
def await_waiting():
    """Waits until the loop of a loader has taken so many batches and waits for the next one."""

    def wait(loader, taken):
        while loader.statistics().consumer.batches < taken:
            pass
        before = loader.statistics().consumer.starved
        while loader.statistics().consumer.starved - before < datetime.timedelta(milliseconds=20):
            pass

    return wait


@pytest.fixture
def workers():
    """How many workers there are besides those that a failure's traceback keeps."""
    before = set(multiprocessing.active_children())
    return lambda: len(set(multiprocessing.active_children()) - before)
