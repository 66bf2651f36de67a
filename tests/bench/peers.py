#!/usr/bin/env python3
"""Python's alternatives, on the shapes of delivery.cpp: batches/s with an empty consumer.

    python3 tests/bench/peers.py [--seconds 0.5] [--runs 5] [--json FILE]

DataLoader      torch.utils.data.DataLoader over tensors, shuffled, pinned, workers that live on,
                fetching whole batches by index (the fast way to use it), copies on a side stream
index_select    torch.index_select into a ring of two pinned buffers, copies on a side stream
cupy ring       numpy.take into a ring of two pinned buffers, asynchronous copies by CuPy (left out
                without CuPy)
all on the GPU  the whole dataset in the GPU's memory, a batch by torch's indexing

Each peer is a generator that yields when a batch's copy has been issued. The first second of each
is not measured.
"""

import argparse
import json
import math
import multiprocessing
import os
import sys
import time

import torch

try:
    import cupy
    import numpy
except ImportError:
    cupy = None

from rows import Rows

SHAPES = [
    ("mnist64", (28, 28), 64, 60_000),
    ("mnist1024", (28, 28), 1024, 60_000),
    ("cifar256", (3, 32, 32), 256, 50_000),
    ("imagenet256", (224, 224, 3), 256, 4_096),
]


def batches_of(samples, batch, device="cpu"):
    """The samples of each batch, epoch after epoch, shuffled for each epoch."""
    while True:
        order = torch.randperm(samples, device=device)
        for at in range(0, samples - batch + 1, batch):
            yield order[at : at + batch]


def data_loader(images, labels, batch, workers):
    sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(labels), batch,
                                            drop_last=True)
    loader = torch.utils.data.DataLoader(
        Rows(images, labels),
        sampler=sampler,
        batch_size=None,
        num_workers=workers,
        pin_memory=True,
        persistent_workers=True,
        prefetch_factor=4,
    )
    stream = torch.cuda.Stream()
    while True:
        for image, label in loader:
            with torch.cuda.stream(stream):
                image.to("cuda", non_blocking=True)
                label.to("cuda", non_blocking=True)
            yield


def index_select(images, labels, batch):
    ring = [
        (
            torch.empty((batch, *images.shape[1:]), dtype=torch.uint8).pin_memory(),
            torch.empty(batch, dtype=torch.uint8).pin_memory(),
            torch.cuda.Event(),
        )
        for _ in range(2)
    ]
    stream = torch.cuda.Stream()
    for count, samples in enumerate(batches_of(len(labels), batch)):
        image, label, copied = ring[count % 2]
        copied.synchronize()
        torch.index_select(images, 0, samples, out=image)
        torch.index_select(labels, 0, samples, out=label)
        with torch.cuda.stream(stream):
            image.to("cuda", non_blocking=True)
            label.to("cuda", non_blocking=True)
            copied.record(stream)
        yield


def cupy_ring(images, labels, batch):
    images, labels = images.numpy(), labels.numpy()

    def pinned(shape):
        size = math.prod(shape)
        memory = cupy.cuda.alloc_pinned_memory(size)
        return numpy.frombuffer(memory, numpy.uint8, size).reshape(shape)

    shape = (batch, *images.shape[1:])
    ring = [
        (pinned(shape), pinned((batch,)), cupy.empty(shape, cupy.uint8),
         cupy.empty(batch, cupy.uint8), cupy.cuda.Event(disable_timing=True))
        for _ in range(2)
    ]
    stream = cupy.cuda.Stream(non_blocking=True)
    for count, samples in enumerate(batches_of(len(labels), batch)):
        image, label, image_on_gpu, label_on_gpu, copied = ring[count % 2]
        copied.synchronize()
        # Checking the indices would make take write to a buffer first.
        numpy.take(images, samples.numpy(), axis=0, out=image, mode="clip")
        numpy.take(labels, samples.numpy(), axis=0, out=label, mode="clip")
        image_on_gpu.set(image, stream=stream)
        label_on_gpu.set(label, stream=stream)
        copied.record(stream)
        yield


def all_on_gpu(images, labels, batch):
    images, labels = images.cuda(), labels.cuda()
    for samples in batches_of(len(labels), batch, "cuda"):
        images[samples], labels[samples]
        yield


def cpu_seconds():
    """CPU time of this process and of the workers that it has now."""
    ticks = 0
    for pid in [os.getpid(), *(child.pid for child in multiprocessing.active_children())]:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])  # utime and stime
    return ticks / os.sysconf("SC_CLK_TCK")


def run(feed, seconds):
    """Batches a second, and CPU seconds a batch."""
    used, start, count = cpu_seconds(), time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        next(feed)
        count += 1
    torch.cuda.synchronize()
    return count / (time.perf_counter() - start), (cpu_seconds() - used) / count


def measure(feed, seconds, runs):
    """The runs, slowest first."""
    run(feed, 1)
    return sorted(run(feed, seconds) for _ in range(runs))


def peers(images, labels, batch, workers):
    for count in workers:
        yield "PyTorch DataLoader", count, data_loader(images, labels, batch, count)
    yield "index_select", 0, index_select(images, labels, batch)
    if cupy is not None:
        yield "cupy ring", 0, cupy_ring(images, labels, batch)
    yield "all on the GPU", 0, all_on_gpu(images, labels, batch)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one run")
    parser.add_argument("--runs", type=int, default=5, help="of which the median counts")
    parser.add_argument("--workers", type=lambda text: [int(each) for each in text.split(",")],
                        default=[4, 8, 14],
                        help="numbers of the DataLoader's workers to try, as 4,8,14")
    parser.add_argument("--json", help="file that the results go to, for report.py")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU: nothing to measure")
        return
    versions = {"python": sys.version.split()[0], "torch": torch.__version__,
                "cupy": cupy.__version__ if cupy else "absent"}
    print(", ".join(f"{name} {version}" for name, version in versions.items()), end="")
    print(f"; {torch.cuda.get_device_name(0)}, {torch.get_num_threads()} threads")
    print(f"method:    median of {options.runs} runs of {options.seconds} s\n")
    print(f"{'shape':12} {'peer':18} {'workers':>7} {'batches/s':>12} {'GB/s':>8} {'CPU s/GB':>9}")
    rows = []
    for name, row, batch, samples in SHAPES:
        images = torch.randint(0, 256, (samples, *row), dtype=torch.uint8)
        labels = torch.randint(0, 10, (samples,), dtype=torch.uint8)
        batch_bytes = batch * (math.prod(row) + 1)
        for peer, workers, feed in peers(images, labels, batch, options.workers):
            measured = measure(feed, options.seconds, options.runs)
            feed.close()
            rate, cpu = measured[len(measured) // 2]
            print(f"{name:12} {peer:18} {workers:7} {rate:12.0f} {rate * batch_bytes / 1e9:8.2f} "
                  f"{cpu / batch_bytes * 1e9:9.4f}", flush=True)
            rows.append({"shape": name, "peer": peer, "workers": workers, "runs": options.runs,
                         "batches_per_second": rate, "bytes_per_second": rate * batch_bytes,
                         "least_bytes_per_second": measured[0][0] * batch_bytes,
                         "max_bytes_per_second": measured[-1][0] * batch_bytes,
                         "cpu_seconds_per_gb": cpu / batch_bytes * 1e9})
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"program": "peers_python", "machine": versions, "rows": rows}, file,
                      indent=1)


if __name__ == "__main__":
    main()
