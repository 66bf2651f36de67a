#!/usr/bin/env python3
"""Samples that NumPy makes in processes: feedline's workers beside PyTorch's DataLoader.

    build/python/bin/python tests/bench/python/workers.py --workers 14

Both make the same samples with the same number of processes, shuffled, and deliver batches to the
GPU, or to host memory where there is none: 224x224x3 bytes that NumPy computes (`full`: it fills an
array; `add`: it reads one and adds to it) and an index. Epochs after the first are measured, to the
end of the last copy; the median of --runs is printed with the least and the largest. On a GPU the
DataLoader pins its batches, and copies them without blocking. `seeded` is feedline's default with
workers: it seeds the generators before each sample. The content of some batches is checked in the
first epoch. `by hand`: as many processes only make the samples, and NumPy stores them in shared
memory of three batches.
"""

import argparse
import mmap
import multiprocessing
import os
import platform
import statistics
import time

import numpy as np

import feedline

SHAPE = (224, 224, 3)
BYTES = 224 * 224 * 3


class Images:
    """A map-style dataset. Each image differs in its first byte by its index."""

    def __init__(self, kind, size):
        self.kind = kind
        self.size = size
        self.base = np.random.default_rng(0).integers(0, 200, SHAPE, dtype=np.uint8)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if self.kind == "full":
            image = np.full(SHAPE, index % 251, np.uint8)
        else:
            image = self.base + np.uint8(index % 55)
        return {"image": image, "index": index}


def first_bytes(images, indices):
    if images.kind == "full":
        return (indices % 251).astype(np.uint8)
    return images.base[0, 0, 0] + (indices % 55).astype(np.uint8)


def check(images, image, index):
    """Whether a batch's first and last bytes are its samples' own."""
    image, index = image.reshape(len(index), -1), np.asarray(index)
    assert (image[:, 0] == first_bytes(images, index)).all()
    if images.kind == "full":
        assert (image[:, -1] == image[:, 0]).all()


class Feedline:
    def __init__(self, images, options, seeded):
        self.images = images
        self.gpu = options.gpu
        dataset = feedline.sequence_dataset(
            images, workers=options.workers, start_method=options.start_method, seeded=seeded
        )
        device = feedline.make_cuda_device(0) if self.gpu else feedline.make_host_device()
        self.loader = feedline.Loader(
            dataset, feedline.shuffle(seed=1), device, batch_size=options.batch, epochs=100
        )
        self.number = 0

    def epoch(self):
        seen = 0
        for batch in self.loader.epoch(self.number):
            seen += batch.size
            if self.number == 0 and batch.index % 16 == 0:
                image, index = batch["image"], batch["index"]
                if self.gpu:
                    check(self.images, image.torch().cpu().numpy(), index.torch().cpu())
                else:
                    check(self.images, image.numpy(), index.numpy())
        self.number += 1
        return seen


class DataLoader:
    def __init__(self, images, options):
        import torch

        self.images = images
        self.gpu = options.gpu
        self.number = 0
        self.loader = torch.utils.data.DataLoader(
            images,
            batch_size=options.batch,
            shuffle=True,
            num_workers=options.workers,
            pin_memory=self.gpu,
            persistent_workers=True,
            prefetch_factor=4,
            multiprocessing_context=options.start_method,
        )

    def epoch(self):
        seen = 0
        for number, batch in enumerate(self.loader):
            image, index = batch["image"], batch["index"]
            if self.gpu:
                image = image.to("cuda", non_blocking=True)
                index = index.to("cuda", non_blocking=True)
            seen += len(index)
            if self.number == 0 and number % 16 == 0:
                check(self.images, image.cpu().numpy(), index.cpu())
        self.number += 1
        return seen


def make_by_hand(images, rows, number, workers, begin, end):
    """The life of one of these processes."""
    while True:
        begin.wait()
        for index in range(number, len(images), workers):
            rows[index % len(rows)] = images[index]["image"]
        end.wait()


class ByHand:
    def __init__(self, images, options):
        self.images = images
        shared = mmap.mmap(-1, 3 * options.batch * BYTES)
        rows = np.frombuffer(shared, np.uint8).reshape(-1, *SHAPE)
        rows[:] = 0
        context = multiprocessing.get_context("fork")
        self.begin = context.Barrier(options.workers + 1)
        self.end = context.Barrier(options.workers + 1)
        self.processes = [
            context.Process(
                target=make_by_hand,
                args=(images, rows, number, options.workers, self.begin, self.end),
                daemon=True,
            )
            for number in range(options.workers)
        ]
        for each in self.processes:
            each.start()

    def epoch(self):
        self.begin.wait()
        self.end.wait()
        return len(self.images)

    def __del__(self):
        for each in self.processes:
            each.kill()


def measure(source, options):
    """GB/s of each run."""
    source.epoch()
    rates = []
    for _ in range(options.runs):
        synchronize(options)
        began = time.perf_counter()
        samples = source.epoch()
        synchronize(options)
        rates.append(samples * BYTES / (time.perf_counter() - began) / 1e9)
    return rates


def synchronize(options):
    if options.gpu:
        import torch

        torch.cuda.synchronize()


def has_gpu():
    try:
        import torch

        if not torch.cuda.is_available():
            return False
        feedline.make_cuda_device(0)
    except (ImportError, AttributeError, feedline.Error):
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--samples", type=int, default=40_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--start-method", default="forkserver")
    parser.add_argument("--kinds", nargs="+", default=["full", "add"])
    parser.add_argument("--host", action="store_true", help="host memory, though there is a GPU")
    options = parser.parse_args()
    options.gpu = not options.host and has_gpu()

    where = platform.processor() or platform.machine()
    try:
        import torch

        peer = f"torch {torch.__version__}"
        if options.gpu:
            where += ", " + torch.cuda.get_device_name(0)
    except ImportError:
        peer = "no torch"
    print(
        f"{where}, {os.cpu_count()} CPUs, Python {platform.python_version()}, "
        f"feedline {feedline.__version__}, {peer}; to {'the GPU' if options.gpu else 'the host'}; "
        f"{options.workers} workers ({options.start_method}), batches of {options.batch}, "
        f"{options.samples} samples an epoch, {options.runs} runs"
    )
    print(f"{'samples':8} {'loader':20} {'GB/s':>8} {'least':>8} {'largest':>8} {'relative':>9}")
    for kind in options.kinds:
        images = Images(kind, options.samples)
        sources = {
            "by hand": lambda images=images: ByHand(images, options),
            "feedline": lambda images=images: Feedline(images, options, False),
            "feedline, seeded": lambda images=images: Feedline(images, options, True),
        }
        if peer != "no torch":
            sources["DataLoader"] = lambda images=images: DataLoader(images, options)
        medians = {}
        for name, make in sources.items():
            source = make()
            rates = measure(source, options)
            del source
            medians[name] = statistics.median(rates)
            print(
                f"{kind:8} {name:20} {medians[name]:8.2f} {min(rates):8.2f} {max(rates):8.2f}",
                flush=True,
            )
        for other in ["by hand", "DataLoader"]:
            for name in ["feedline", "feedline, seeded"]:
                if other in medians:
                    relative = medians[name] / medians[other]
                    print(f"{kind:8} {name + ' / ' + other:38} {relative:25.2f}")


if __name__ == "__main__":
    main()
