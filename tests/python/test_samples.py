"""Samples of loops run on small data: with feedline, and as they were before."""

import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
LOOPS = ROOT / "samples/loops"
DATA = ["usual", "feedline"]


def run(sample, data, *args, needs=("torch",)):
    for package in needs:
        pytest.importorskip(package)
    # A trainer would take all GPUs that it sees, and divide batches among them.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    ran = subprocess.run(
        [sys.executable, str(LOOPS / f"{sample}.py"), *map(str, args), f"--data={data}"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": visible},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def losses(lines):
    return [float(re.search(r"loss (\S+)", line)[1]) for line in lines if "loss" in line]


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(head + array.astype(np.uint8).tobytes())


def digits(folder, parts):
    """Images whose label is the height of a bar."""
    numbers = np.random.default_rng(0)
    labels = numbers.integers(0, 10, 640)
    images = numbers.integers(0, 30, (640, 28, 28))
    for image, label in zip(images, labels):
        image[2 * label + 4 : 2 * label + 6] += 200
    for part, count in parts.items():
        write_idx(folder / f"{part}-images-idx3-ubyte", images[:count])
        write_idx(folder / f"{part}-labels-idx1-ubyte", labels[:count])


def jpeg(label, size=(48, 40)):
    """An image whose label is its brightest channel."""
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(label).integers(0, 80, (size[1], size[0], 3), dtype=np.uint8)
    pixels[:, :, label] += 150
    written = io.BytesIO()
    image.fromarray(pixels).save(written, "JPEG")
    return written.getvalue()


def image_folder(folder, count):
    for label in range(3):
        (folder / f"class{label}").mkdir(parents=True)
        for number in range(count):
            (folder / f"class{label}" / f"{number}.jpg").write_bytes(jpeg(label))


@pytest.mark.parametrize("data", DATA)
def test_mnist_learns(tmp_path, data):
    raw = tmp_path / "MNIST/raw" if data == "usual" else tmp_path
    raw.mkdir(parents=True, exist_ok=True)
    digits(raw, {"train": 640, "t10k": 100})
    needs = ("torch", "torchvision") if data == "usual" else ("torch",)
    printed = run("mnist", data, tmp_path, "--epochs", 3, needs=needs)
    assert int(printed[-1].split()[1]) > 90, printed[-1]


@pytest.mark.parametrize("data", DATA)
def test_nanogpt_takes_windows_and_with_feedline_each_once(tmp_path, data):
    path = tmp_path / "train.bin"
    (np.arange(64 * 30 + 1) % 50).astype(np.uint16).tofile(path)
    printed = run("nanogpt", data, path, "--steps", 5)
    assert len(losses(printed)) == 5
    if data == "feedline":
        assert printed[-1] == "the next batch is 1 of epoch 2"  # an epoch has two whole batches


@pytest.mark.parametrize("data", DATA)
def test_imagenet_trains_and_validates(tmp_path, data):
    image_folder(tmp_path / "train", 8)
    image_folder(tmp_path / "val", 4)
    sizes = ("--batch-size", 8, "--size", 32, "--workers", 1)
    printed = run("imagenet", data, tmp_path, *sizes, needs=("torch", "torchvision"))
    assert [line for line in printed if "(8, 3, 32, 32)" in line] == printed[:3]
    assert len(losses(printed)) == 3
    seen = [re.search(r"labels (\[.*\]), mean (\S+),", line).groups() for line in printed[3:]]
    assert [labels for labels, _ in seen] == [str([0] * 4 + [1] * 4), str([2] * 4)]
    assert [round(float(mean), 1) for _, mean in seen] == [-0.4, -0.4]  # normalized alike


@pytest.mark.parametrize("data", DATA)
def test_timm_s_augmentation_trains(tmp_path, data):
    image_folder(tmp_path, 8)
    sizes = ("--batch-size", 8, "--size", 32, "--workers", 1)
    printed = run("timm_resnet", data, tmp_path, *sizes, needs=("torch", "torchvision", "timm"))
    assert all(line.startswith("(8, 3, 32, 32), torch.float32, torch.int64") for line in printed)
    assert len(losses(printed)) == 3


@pytest.mark.parametrize("data", DATA)
def test_flax_learns(tmp_path, data):
    digits(tmp_path, {"train": 640})
    printed = run("flax_mnist", data, tmp_path, "--epochs", 6, needs=("jax", "flax", "optax"))
    assert all("(128, 28, 28), float32, int32" in line for line in printed)
    assert len(printed) == 30 and losses(printed)[-1] < losses(printed)[0] / 3


@pytest.mark.parametrize("data", DATA)
def test_shards_of_webdataset_train(tmp_path, data):
    for shard in range(3):
        with tarfile.open(tmp_path / f"shard-{shard:03}.tar", "w") as tar:
            for number in range(8):
                label = number % 3
                members = {"jpg": jpeg(label, (32, 32)), "cls": str(label).encode()}
                for extension, content in members.items():
                    member = tarfile.TarInfo(f"{shard:03}{number:03}.{extension}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
    needs = ("torch", "webdataset") if data == "usual" else ("torch",)
    sizes = ("--batch-size", 8, "--size", 32, "--workers", 1)
    printed = run("webdataset_shards", data, tmp_path / "shard-{000..002}.tar", *sizes, needs=needs)
    assert all(line.startswith("(8, 32, 32, 3), torch.uint8") for line in printed)
    assert len(losses(printed)) == 3


@pytest.mark.parametrize("data", DATA)
def test_rows_of_hdf5_train(tmp_path, data):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["x"] = np.random.default_rng(0).random((70, 12), np.float32)
        file["y"] = np.arange(70) % 10
    printed = run("h5py_rows", data, tmp_path / "rows.h5", "--workers", 1)
    kinds = "torch.float32, torch.int64"
    sizes = [line.split("loss")[0] for line in printed]
    assert sizes == [f"({size}, 12), {kinds}, " for size in (32, 32, 6)]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(
    ("sample", "package"),
    [
        ("lightning_rows", "lightning"),
        ("accelerate_rows", "accelerate"),
        ("trainer_rows", "transformers"),
    ],
)
@pytest.mark.usefixtures("archives")
def test_frameworks_train_on_rows(tmp_path, sample, package, data):
    arrays = {"x": np.random.default_rng(0).random((60, 12), np.float32), "y": np.arange(60) % 10}
    np.savez(tmp_path / "rows.npz", **arrays)
    printed = run(sample, data, tmp_path / "rows.npz", needs=("torch", package))
    steps = [line for line in printed if line.startswith("(20, 12), torch.int64, loss")]
    assert len(losses(steps)) == 6


def lines_of(sample):
    """Lines of the two functions that make the data."""
    parts = re.findall(r"# data\n(.*?)# end\n", (LOOPS / f"{sample}.py").read_text(), re.DOTALL)
    return [sum(1 for line in part.splitlines() if line.strip()) for part in parts]


def test_the_guide_counts_the_lines_of_the_samples():
    guide = (ROOT / "docs/guide/frameworks.md").read_text()
    rows = re.findall(r"^\| \[(\w+)\.py\]\(\S+\) \|[^|]*\| (\d+) \| (\d+) \|", guide, re.MULTILINE)
    assert {name: [int(before), int(after)] for name, before, after in rows} == {
        path.stem: lines_of(path.stem) for path in LOOPS.glob("*.py")
    }
