#!/usr/bin/env python3
"""What people use in Python instead, on the shapes of delivery.cpp: batches/s with an empty consumer.

    python3 tests/bench/peers.py [--seconds 2]

DataLoader:     torch.utils.data.DataLoader over tensors, shuffled, pinned, 8 workers that live on, fetching whole batches
                by index (the fast way to use it), copies on a side stream
index_select:   torch.index_select into a ring of two pinned buffers, copies on a side stream
"""

import argparse
import time

import torch

SHAPES = [
    ("mnist64", (28, 28), 64, 60_000),
    ("mnist1024", (28, 28), 1024, 60_000),
    ("cifar256", (3, 32, 32), 256, 50_000),
    ("imagenet256", (224, 224, 3), 256, 4_096),
]


class Rows(torch.utils.data.Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, indices):
        return self.images[indices], self.labels[indices]


def data_loader(images, labels, batch, seconds):
    sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(labels), batch, drop_last=True)
    loader = torch.utils.data.DataLoader(Rows(images, labels), sampler=sampler, batch_size=None, num_workers=8,
                                         pin_memory=True, persistent_workers=True, prefetch_factor=4)
    stream = torch.cuda.Stream()

    def epoch(end):
        count = 0
        for image, label in loader:
            with torch.cuda.stream(stream):
                image.to("cuda", non_blocking=True)
                label.to("cuda", non_blocking=True)
            count += 1
            if time.perf_counter() > end:
                break
        return count

    epoch(time.perf_counter() + 1)  # the workers start
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        count += epoch(start + seconds)
    torch.cuda.synchronize()
    return count / (time.perf_counter() - start)


def index_select(images, labels, batch, seconds):
    ring = [(torch.empty((batch, *images.shape[1:]), dtype=torch.uint8).pin_memory(),
             torch.empty(batch, dtype=torch.uint8).pin_memory(), torch.cuda.Event()) for _ in range(2)]
    stream = torch.cuda.Stream()
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        order = torch.randperm(len(labels))
        for at in range(0, len(labels) - batch + 1, batch):
            image, label, copied = ring[count % 2]
            copied.synchronize()
            torch.index_select(images, 0, order[at:at + batch], out=image)
            torch.index_select(labels, 0, order[at:at + batch], out=label)
            with torch.cuda.stream(stream):
                image.to("cuda", non_blocking=True)
                label.to("cuda", non_blocking=True)
                copied.record(stream)
            count += 1
            if time.perf_counter() - start > seconds:
                break
    torch.cuda.synchronize()
    return count / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of one run; three are made, the median printed")
    seconds = parser.parse_args().seconds
    if not torch.cuda.is_available():
        print("no GPU: nothing to measure")
        return
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}, {torch.get_num_threads()} threads\n")
    print(f"{'shape':12} {'peer':14} {'batches/s':>12} {'GB/s':>8}")
    for name, row, batch, samples in SHAPES:
        images = torch.randint(0, 256, (samples, *row), dtype=torch.uint8)
        labels = torch.randint(0, 10, (samples,), dtype=torch.uint8)
        for peer, run in (("DataLoader", data_loader), ("index_select", index_select)):
            rate = sorted(run(images, labels, batch, seconds) for _ in range(3))[1]
            print(f"{name:12} {peer:14} {rate:12.0f} {rate * batch * (images[0].numel() + 1) / 1e9:8.2f}", flush=True)


if __name__ == "__main__":
    main()
