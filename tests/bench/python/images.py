#!/usr/bin/env python3
"""torchvision's ImageFolder and transforms in processes: feedline beside PyTorch's DataLoader.

    build/python/bin/python tests/bench/python/images.py --workers 14 [--quick]

Needs torchvision and Pillow. All make the same batches for training with the same number of
processes: JPEGs of 500x375 from a folder, a random window resized to 224x224, flipped at random,
normalized floats, channels first, on the GPU, or in host memory where there is none.

    DataLoader         all transforms in its workers; pinned and copied without blocking on a GPU
    from_dataloader    the same dataset in feedline's workers, its samples written in place
    from_torch         the window in feedline's workers; flip, normalization, layout on the device
    transforms alone   as many processes call the first two's dataset, and drop what it returns
    window alone       the same with the dataset of from_torch

A row `alone` is no more than this program's own code and Pillow's and torchvision's, so it is the
limit of loaders that call its dataset. One that reads the next epoch ahead may be above it, because
these processes wait for each other at an epoch's end.

Epochs after the first are measured, to the end of the last copy; the median of --runs is printed
with the least and the largest, and the CPU time of this process and its workers for an image, which
depends less on what else the machine does. A row is printed when it is measured. Images are as
bright as their label says, and each batch of the first epoch is checked. Processes are forks of a
server that has imported PyTorch and torchvision. The folder is written to --folder, and used again
if it is there. --quick: 2560 images, which takes less than a minute on 16 cores.
"""

import argparse
import multiprocessing
import os
import platform
import statistics
import sys
import time
from pathlib import Path

try:
    import numpy as np
    import PIL.Image
    import torch
    import torchvision
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2
except ImportError as missing:
    sys.exit(f"images.py: {missing}; it compares with torchvision's ImageFolder and transforms")

import feedline

MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CLASSES = 10


def brightness(label):
    return 40 + 16 * label


def write_image(folder, number):
    """An image of smooth noise, which compresses as photographs do: to some 100 kB."""
    random = np.random.default_rng(number)
    label = number % CLASSES
    path = folder / f"class{label}" / f"{number}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = random.integers(-40, 40, (24, 32, 3)).astype(np.float32)
    smooth = [PIL.Image.fromarray(each).resize((500, 375)) for each in coarse.transpose(2, 0, 1)]
    pixels = np.stack(smooth, 2) + random.normal(0, 14, (375, 500, 3)) + brightness(label)
    image = PIL.Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    image.save(path.with_suffix(".new"), "JPEG", quality=90)
    path.with_suffix(".new").rename(path)


def write_folder(folder, images):
    there = {int(path.stem) for path in folder.glob("*/*.jpg")}
    missing = [(folder, number) for number in range(images) if number not in there]
    with multiprocessing.get_context("fork").Pool() as pool:
        pool.starmap(write_image, missing, chunksize=16)


def check(image, label):
    """Whether a batch's images are those of its labels."""
    assert image.shape[1:] == (3, 224, 224) and image.dtype == torch.float32
    found = image.cpu().mean(dim=(2, 3)) * torch.tensor(DEVIATION) + torch.tensor(MEAN)
    wrong = (found.mean(dim=1) * 255 - brightness(label.cpu())).abs()
    assert wrong.max() < 40 and wrong.mean() < 8, wrong


def transformed(folder):
    return ImageFolder(
        folder,
        v2.Compose(
            [
                v2.RandomResizedCrop(224),
                v2.RandomHorizontalFlip(),
                v2.PILToTensor(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize(MEAN, DEVIATION),
            ]
        ),
    )


def windows(folder):
    return ImageFolder(folder, v2.RandomResizedCrop(224))


def usual(options):
    return DataLoader(
        transformed(options.folder),
        batch_size=options.batch,
        shuffle=True,
        num_workers=options.workers,
        pin_memory=options.device == "cuda",
        persistent_workers=True,
        prefetch_factor=4,
        multiprocessing_context=options.start_method,
    )


def same(options):
    return feedline.from_dataloader(
        usual(options), options.device, seed=1, seeded=options.seeded, epochs=100
    )


def on_device(options):
    dataset = feedline.from_torch(
        windows(options.folder),
        names=["image", "label"],
        workers=options.workers,
        start_method=options.start_method,
        seeded=options.seeded,
    )
    image = feedline.FieldTransform(
        "image", scale=1 / 255, mean=MEAN, stddev=DEVIATION, flip=0.5, layout="hwc", to_layout="chw"
    )
    return feedline.Loader(
        dataset, device=options.device, batch_size=options.batch, shuffle=True, seed=1,
        transforms=[image], epochs=100, as_torch=True, as_tuple=["image", "label"],
    )  # fmt: skip


class Alone:
    """Processes that make an epoch's samples, and drop them."""

    def __init__(self, make, options):
        self.options = options
        self.context = multiprocessing.get_context(options.start_method)
        self.tasks, self.done = self.context.SimpleQueue(), self.context.SimpleQueue()
        arguments = (make, options.folder, self.tasks, self.done)
        self.processes = [
            self.context.Process(target=make_alone, args=arguments, daemon=True)
            for _ in range(options.workers)
        ]
        for each in self.processes:
            each.start()

    def epoch(self):
        order = np.random.permutation(self.options.images)
        pieces = np.array_split(order, 16 * len(self.processes))
        for piece in pieces:
            self.tasks.put(piece.tolist())
        for _ in pieces:
            self.done.get()

    def __del__(self):
        for each in self.processes:
            each.kill()


def make_alone(make, folder, tasks, done):
    torch.set_num_threads(1)
    dataset = make(folder)
    while True:
        for index in tasks.get():
            dataset[index]
        done.put(None)


def epoch(loader, options, checks=False):
    if isinstance(loader, Alone):
        return loader.epoch()
    seen = []
    for image, label in loader:
        image = image.to(options.device, non_blocking=True)
        label = label.to(options.device, non_blocking=True)
        if checks:
            check(image, label)
            seen += label.tolist()
        del image, label
    if options.device == "cuda":
        torch.cuda.synchronize()
    if checks:
        assert np.bincount(seen).tolist() == [options.images // CLASSES] * CLASSES
    return None


def cpu_seconds():
    """CPU time of this process and of all below it that still run."""
    of = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        of[int(path.parent.name)] = int(words[1]), int(words[11]) + int(words[12])

    def is_below(process):
        while process in of and process != os.getpid():
            process = of[process][0]
        return process == os.getpid()

    ticks = sum(used for process, (_, used) in of.items() if is_below(process))
    return ticks / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--images", type=int, default=8000)
    parser.add_argument("--quick", action="store_true", help="2560 images, of which 2 epochs count")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("build/bench-images"))
    parser.add_argument("--start-method", default="forkserver")
    parser.add_argument("--seeded", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--host", action="store_true", help="host memory, though there is a GPU")
    options = parser.parse_args()
    if options.quick:
        options.images, options.runs = 2560, 2
    options.images -= options.images % CLASSES
    options.folder /= str(options.images)
    options.device = "cuda" if torch.cuda.is_available() and not options.host else "cpu"
    write_folder(options.folder, options.images)
    torch.set_num_threads(1)
    multiprocessing.set_forkserver_preload(["torch", "torchvision", "feedline", "__main__"])

    where = platform.processor() or platform.machine()
    if options.device == "cuda":
        where += ", " + torch.cuda.get_device_name(0)
    print(
        f"{where}, {os.cpu_count()} CPUs, Python {platform.python_version()}, "
        f"feedline {feedline.__version__}, torch {torch.__version__}, "
        f"torchvision {torchvision.__version__}, Pillow {PIL.__version__}; to {options.device}; "
        f"{options.workers} workers ({options.start_method}), batches of {options.batch}, "
        f"{options.images} images an epoch, {options.runs} runs, "
        f"{'seeded' if options.seeded else 'not seeded'}",
        flush=True,
    )
    titles = ["images/s", "least", "largest", "relative", "CPU ms", "relative"]
    print(f"{'loader':18} " + " ".join(f"{title:>9}" for title in titles))
    usual_rate = usual_time = None
    kinds = {
        "DataLoader": usual,
        "from_dataloader": same,
        "from_torch": on_device,
        "transforms alone": lambda options: Alone(transformed, options),
        "window alone": lambda options: Alone(windows, options),
    }
    for name, make in kinds.items():
        loader = make(options)
        epoch(loader, options, checks=True)
        rates, used = [], cpu_seconds()
        for _ in range(options.runs):
            began = time.perf_counter()
            epoch(loader, options)
            rates.append(options.images / (time.perf_counter() - began))
        spent = (cpu_seconds() - used) / (options.runs * options.images) * 1000
        del loader
        rate = statistics.median(rates)
        usual_rate, usual_time = usual_rate or rate, usual_time or spent
        print(
            f"{name:18} {rate:9.0f} {min(rates):9.0f} {max(rates):9.0f} {rate / usual_rate:9.2f} "
            f"{spent:9.2f} {spent / usual_time:9.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
