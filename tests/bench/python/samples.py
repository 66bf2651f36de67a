#!/usr/bin/env python3
"""Cost of a sample that Python makes on a thread: microseconds a sample, and a field.

    build/python/bin/python tests/bench/python/samples.py

The function returns values that exist, so that what feedline does with them is measured: the call,
and each value's way into the batch. The best of five runs over 100,000 samples.
"""

import platform
import time

import numpy as np

import feedline

SAMPLES = 100_000


def measure(read, **arguments):
    dataset = feedline.sequence_dataset(read, size=SAMPLES, **arguments)
    indices = np.arange(SAMPLES)
    dataset.read(indices[:100])
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        dataset.read(indices)
        best = min(best, time.perf_counter() - began)
    return best / SAMPLES * 1e6, len(dataset.fields)


def main():
    row = np.zeros(16, np.float32)
    one, four = {"x": row}, {"a": row, "b": row, "c": 3, "d": np.int64(2)}
    nested, many = {"a": {"b": row, "c": (row, row)}}, {f"x{i}": row for i in range(20)}
    cases = {
        "a number": (lambda i: i, {"names": ["y"]}),
        "a dict of one array": (lambda i: one, {}),
        "a dict of four": (lambda i: four, {}),
        "a tuple of four": (lambda i: (row, row, 3, row), {"names": list("abcd")}),
        "dicts and tuples, three": (lambda i: nested, {}),
        "a dict of twenty": (lambda i: many, {}),
        "the same, seeded": (lambda i: many, {"seeded": True}),
        "text, padded": (lambda i: {"x": "some words"}, {"pad": {"x": 32}}),
    }
    try:
        import torch

        tensor = torch.zeros(16)
        cases["a tensor"] = (lambda i: {"x": tensor}, {})
    except ImportError:
        pass
    print(f"{platform.processor()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{'sample':26} {'us':>8} {'us a field':>11}")
    for name, (read, arguments) in cases.items():
        took, fields = measure(read, **arguments)
        print(f"{name:26} {took:8.2f} {took / fields:11.2f}")


if __name__ == "__main__":
    main()
