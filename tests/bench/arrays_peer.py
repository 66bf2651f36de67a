#!/usr/bin/env python3
"""Python's tools for the Zarr stores of feedline_bench_arrays: samples/s and GB/s on the GPU.

    feedline_bench_arrays --folder /tmp/arrays --keep
    python3 tests/bench/arrays_peer.py /tmp/arrays [--workers 8,16] [--seconds 2]
        [--stores rows_zstd,weather_1,weather_20,patches,cells] [--json FILE]

zarr-python reads in the workers of torch's DataLoader; batches are pinned, and copied to the GPU.

rows     a worker decodes 32 chunks, mixes their rows, and makes batches of 256 of them
weather  a sample is read from 70 arrays, in one slice of each; batches of 2
patches  a patch is one slice of the array; batches of 32, normalized to f16 by the GPU
cells    as annbatch does: a worker reads 32 blocks of 64 consecutive cells, mixes their rows, and
         makes batches of 1,024. "dense": the worker makes them dense. "sparse": sparse batches go
         to the GPU, which makes them dense (torch.sparse_csr_tensor, to_dense).

Stores that are not in the folder are left out. One thread a worker (torch.set_num_threads(1), and
zarr's threading.max_workers 1). Batches within the first quarter of the time are not counted.
"""

import argparse
import json
import pathlib
import sys
import time

try:
    import numpy as np
    import torch
    import zarr
except ImportError as missing:
    sys.exit(f"arrays_peer.py: SKIPPED: {missing}")

ROW_CHUNKS = 32
CELL_BLOCKS = 32
CELL_BLOCK = 64
GENES = 30_000


def set_up_worker(*_):
    torch.set_num_threads(1)
    zarr.config.set({"threading.max_workers": 1, "async.concurrency": 4})


class Stream(torch.utils.data.IterableDataset):
    """Batches without end, each made by one worker; a subclass opens and makes them."""

    def __init__(self, store):
        self.store = store

    def __iter__(self):
        set_up_worker()
        random = np.random.default_rng(torch.utils.data.get_worker_info().seed % 2**32)
        return self.batches(random)


class Rows(Stream):
    batch = 256

    def batches(self, random):
        array = zarr.open_array(self.store, mode="r")
        size = array.chunks[0]
        while True:
            chosen = random.choice(array.shape[0] // size, ROW_CHUNKS, replace=False)
            rows = np.concatenate([array[c * size : (c + 1) * size] for c in chosen])
            order = random.permutation(len(rows))
            for first in range(0, len(rows), self.batch):
                yield torch.from_numpy(rows[order[first : first + self.batch]])


class Weather(Stream):
    batch = 2

    def batches(self, random):
        group = zarr.open_group(self.store, mode="r")
        arrays = [group[name] for name in sorted(group.array_keys())]
        while True:
            samples = []
            for time_of in random.integers(0, arrays[0].shape[0] - 2, self.batch):
                samples.append(np.stack([array[time_of : time_of + 3] for array in arrays], axis=1))
            yield torch.from_numpy(np.stack(samples))


class Patches(Stream):
    batch = 32

    def batches(self, random):
        array = zarr.open_array(self.store, mode="r")
        edge = array.chunks[1]
        while True:
            made = np.empty((self.batch, edge, edge, edge), np.uint16)
            for out in made:
                volume = random.integers(array.shape[0])
                z, y, x = random.integers(0, array.shape[1] - edge + 1, 3)
                out[:] = array[volume, z : z + edge, y : y + edge, x : x + edge]
            yield torch.from_numpy(made)


class Cells(Stream):
    batch = 1024

    def __init__(self, store, dense):
        super().__init__(store)
        self.dense = dense

    def batches(self, random):
        group = zarr.open_group(self.store, mode="r")["X"]
        data, indices, indptr = group["data"], group["indices"], group["indptr"][:]
        blocks = (len(indptr) - 1) // CELL_BLOCK
        while True:
            rows = []
            for block in np.sort(random.choice(blocks, CELL_BLOCKS, replace=False)):
                begins = indptr[block * CELL_BLOCK : (block + 1) * CELL_BLOCK + 1]
                values = data[begins[0] : begins[-1]]
                columns = indices[begins[0] : begins[-1]]
                for begin, end in zip(begins[:-1] - begins[0], begins[1:] - begins[0]):
                    rows.append((columns[begin:end], values[begin:end]))
            order = random.permutation(len(rows))
            for first in range(0, len(rows), self.batch):
                yield self.batch_of([rows[i] for i in order[first : first + self.batch]])

    def batch_of(self, rows):
        counts = np.array([len(columns) for columns, _ in rows])
        columns = np.concatenate([columns for columns, _ in rows])
        values = np.concatenate([values for _, values in rows])
        if not self.dense:
            begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
            return tuple(torch.from_numpy(each) for each in (begins, columns, values))
        made = np.zeros((len(rows), GENES), np.float32)
        made[np.repeat(np.arange(len(rows)), counts), columns] = values
        return torch.from_numpy(made)


def to_half(patches):
    return ((patches.to(torch.float32) / 4095 - 0.37) / 0.2).to(torch.float16)


def to_dense(parts):
    begins, columns, values = parts
    shape = (len(begins) - 1, GENES)
    return torch.sparse_csr_tensor(begins, columns, values, shape).to_dense()


def to_gpu(batch):
    if isinstance(batch, (list, tuple)):
        return tuple(each.cuda(non_blocking=True) for each in batch)
    return batch.cuda(non_blocking=True)


def cases_of(folder, wanted):
    """(name, dataset, what the GPU does) of each store that is there."""
    for store in sorted(folder.glob("*.zarr")):
        if wanted and store.stem not in wanted:
            continue
        case = store.stem.split("_")[0]
        if case == "rows":
            yield store.stem, Rows(store), None
        if case == "weather":
            yield store.stem, Weather(store), None
        if case == "patches":
            yield store.stem, Patches(store), to_half
        if case == "cells":
            yield "cells dense", Cells(store, dense=True), None
            yield "cells sparse", Cells(store, dense=False), to_dense


def measure(dataset, on_gpu, workers, seconds):
    """Samples and bytes a second."""
    loader = torch.utils.data.DataLoader(
        dataset,
        batch_size=None,
        num_workers=workers,
        pin_memory=True,
        prefetch_factor=2,
        worker_init_fn=set_up_worker,
    )
    batches = iter(loader)
    next(batches)  # workers have begun
    begin = time.perf_counter()
    counted_from, samples, size = None, 0, 0
    while True:
        batch = to_gpu(next(batches))
        if on_gpu is not None:
            batch = on_gpu(batch)
        now = time.perf_counter()
        if counted_from is None:
            if now - begin > seconds / 4:
                torch.cuda.synchronize()
                counted_from = time.perf_counter()
            continue
        samples += batch.shape[0]
        size += batch.numel() * batch.element_size()
        if now - counted_from > seconds:
            break
    torch.cuda.synchronize()
    elapsed = time.perf_counter() - counted_from
    del batches
    return samples / elapsed, size / elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--workers", default="8,16")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--stores", help="names without .zarr; none: all")
    parser.add_argument("--json")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("arrays_peer.py: SKIPPED: no GPU")
    print(f"zarr {zarr.__version__}, torch {torch.__version__}, numpy {np.__version__}")
    print(f"{'data':<28} {'workers':>7} {'samples/s':>11} {'GB/s':>8}")
    found = []
    wanted = given.stores.split(",") if given.stores else []
    for name, dataset, on_gpu in cases_of(given.folder, wanted):
        for workers in map(int, given.workers.split(",")):
            samples, size = measure(dataset, on_gpu, workers, given.seconds)
            print(f"{name:<28} {workers:7} {samples:11.1f} {size / 1e9:8.2f}", flush=True)
            found.append({"data": name, "workers": workers, "samples_per_second": samples})
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps({"program": "arrays_peer", "rows": found}))


if __name__ == "__main__":
    main()
