#!/usr/bin/env python3
"""Cost of a batch for a Python loop, on the host device: beside C++'s loop, and PyTorch's loader.

    build/python/bin/python tests/bench/python/overhead.py \
        --cpp build/release/tests/feedline_bench_python_overhead

Rows in memory, small: 8 bytes a sample, batches of 1 to 256 samples. Each figure is the median of
five epochs, in microseconds a batch: how long it took, and how long the loop's own thread computed,
which is the loop's cost, whether readers keep up or not. `--cpp PROGRAM` runs the C++ loop of
overhead.cpp, built with FEEDLINE_TESTS, beside it.
"""

import argparse
import statistics
import subprocess
import time

import numpy as np

import feedline


def measure(loop, batches, epochs=5):
    """Median microseconds a batch of `loop(epoch)`, in words; the first epoch is not counted."""
    loop(0)
    took, computed = [], []
    for epoch in range(1, epochs + 1):
        began, computed_before = time.perf_counter(), time.thread_time()
        loop(epoch)
        took.append((time.perf_counter() - began) / batches * 1e6)
        computed.append((time.thread_time() - computed_before) / batches * 1e6)
    return in_words(statistics.median(took), statistics.median(computed))


def in_words(took, computed):
    return f"took {took:8.2f} us a batch, of which the loop's thread computed {computed:6.2f}"


def loops(loader):
    def only_take(epoch):
        for _ in loader.epoch(epoch):
            pass

    def take_a_tensor(epoch):
        for batch in loader.epoch(epoch):
            batch["x"]

    def take_an_array(epoch):
        for batch in loader.epoch(epoch):
            batch["x"].numpy()

    return {"batch": only_take, "batch, tensor": take_a_tensor, "batch, array": take_an_array}


def many_fields(readers):
    """A batch of 500 fields: taken, with one field used, and with all."""
    batches = 2_000
    values = np.zeros(batches, np.int32)
    dataset = feedline.make_memory_dataset({f"field{i}": values for i in range(500)})
    with feedline.Loader(dataset, batch_size=1, readers=readers, epochs=10_000) as loader:

        def only_take(epoch):
            for _ in loader.epoch(epoch):
                pass

        def take_one(epoch):
            for batch in loader.epoch(epoch):
                batch["field499"]

        def take_all(epoch):
            for batch in loader.epoch(epoch):
                dict(batch)

        for name, loop in {"batch": only_take, "one": take_one, "all": take_all}.items():
            print(f"500 fields: {name}: {measure(loop, batches, 3)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=50_000)
    parser.add_argument("--readers", type=int, default=1)
    parser.add_argument("--cpp", help="the program feedline_bench_python_overhead")
    options = parser.parse_args()
    for batch_size in (1, 64, 256):
        samples = batch_size * options.batches
        dataset = feedline.make_memory_dataset({"x": np.arange(samples)})
        if options.cpp:
            arguments = [options.cpp, str(batch_size), str(options.batches), str(options.readers)]
            said = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
            print(f"batch size {batch_size:4}: C++: {in_words(*map(float, said.split()))}")
        loader = feedline.Loader(
            dataset, batch_size=batch_size, readers=options.readers, epochs=10_000
        )
        for name, loop in loops(loader).items():
            print(f"batch size {batch_size:4}: {name}: {measure(loop, options.batches)}")
        loader.close()
    many_fields(options.readers)
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: its DataLoader is left out")
        return
    batches = 500
    rows = torch.utils.data.TensorDataset(torch.arange(64 * batches))
    for workers in (0, 2):
        peer = torch.utils.data.DataLoader(
            rows, batch_size=64, num_workers=workers, persistent_workers=workers > 0
        )

        def loop(_, peer=peer):
            for _ in peer:
                pass

        print(f"batch size   64: DataLoader, {workers} workers: {measure(loop, batches, 3)}")
    loader = feedline.Loader(
        feedline.make_memory_dataset({"x": np.arange(64 * batches)}), batch_size=64, epochs=10_000
    )

    def loop(epoch):
        for batch in loader.epoch(epoch):
            batch["x"].torch()

    print(f"batch size   64: a tensor of PyTorch's: {measure(loop, batches)}")


if __name__ == "__main__":
    main()
