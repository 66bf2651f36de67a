"""Samples of loops run on small data."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

LOOPS = Path(__file__).resolve().parents[2] / "samples/loops"


def run(sample, *args):
    pytest.importorskip("torch")
    ran = subprocess.run(
        [sys.executable, str(LOOPS / f"{sample}.py"), *map(str, args)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(head + array.astype(np.uint8).tobytes())


def test_mnist_learns(tmp_path):
    numbers = np.random.default_rng(0)
    labels = numbers.integers(0, 10, 640)
    images = numbers.integers(0, 30, (640, 28, 28))
    for image, label in zip(images, labels):
        image[2 * label + 4 : 2 * label + 6] += 200  # a bar whose height is the label
    for part, count in (("train", 640), ("t10k", 100)):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte", images[:count])
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte", labels[:count])
    printed = run("mnist", tmp_path, "--epochs", 3).splitlines()
    assert int(printed[-1].split()[1]) > 90, printed[-1]


def test_nanogpt_takes_each_window_once(tmp_path):
    path = tmp_path / "train.bin"
    (np.arange(64 * 30 + 1) % 50).astype(np.uint16).tofile(path)
    printed = run("nanogpt", path, "--steps", 5).splitlines()
    assert printed[-1] == "the next batch is 1 of epoch 2"  # an epoch has two whole batches
