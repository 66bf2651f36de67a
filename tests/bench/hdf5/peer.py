#!/usr/bin/env python3
"""h5py under PyTorch's DataLoader: shuffled rows of an HDF5 file on the GPU, empty consumer.

    tests/bench/hdf5/peer.py FILE... --batch-size 256 [--workers 8,16] [--seconds 3]

Files with datasets "image" and "label": feedline_bench_hdf5 --keep --folder F leaves some. Method:
each worker opens the file itself (a handle shared by forked workers reads wrong data); a batch is
one fancy index, sorted as h5py wants it, or one row at a time, whichever is faster (both are
printed); pinned by the DataLoader's thread, copied on the current stream without blocking. Prints
rows/s.
"""
import argparse
import itertools
import time

import h5py
import numpy
import torch


class Rows(torch.utils.data.Dataset):
    """Batches by lists of indices."""

    def __init__(self, path, fancy):
        self.path, self.fancy, self.file = path, fancy, None
        with h5py.File(path, "r") as file:
            self.length = file["label"].shape[0]

    def __len__(self):
        return self.length

    def __getitem__(self, indices):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        images, labels = self.file["image"], self.file["label"]
        order = numpy.sort(numpy.asarray(indices))
        if self.fancy:
            return torch.from_numpy(images[order]), torch.from_numpy(labels[order])
        return (torch.from_numpy(numpy.stack([images[i] for i in order])),
                torch.from_numpy(numpy.stack([labels[i] for i in order])))


def rows_per_second(path, batch_size, workers, fancy, seconds):
    data = Rows(path, fancy)
    batches = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data), batch_size,
                                            drop_last=True)
    loader = torch.utils.data.DataLoader(data, sampler=batches, batch_size=None,
                                         num_workers=workers, pin_memory=True, prefetch_factor=4,
                                         persistent_workers=True)
    delivered = itertools.chain.from_iterable(itertools.repeat(loader))  # epoch after epoch
    for batch in itertools.islice(delivered, 2 * workers):  # workers are up, files open
        pass
    rows, start = 0, time.perf_counter()
    for images, labels in delivered:
        images, labels = images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
        rows += len(labels)
        if time.perf_counter() - start > seconds:
            break
    torch.cuda.synchronize()
    return rows / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--workers", default="8,16",
                        type=lambda text: [int(each) for each in text.split(",")])
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    print(f"h5py {h5py.__version__} (HDF5 {h5py.version.hdf5_version}), torch {torch.__version__}")
    for path in arguments.files:
        for workers in arguments.workers:
            for fancy in (True, False):
                rate = rows_per_second(path, arguments.batch_size, workers, fancy,
                                       arguments.seconds)
                how = "one fancy index a batch" if fancy else "a row at a time"
                print(f"{path}  batch {arguments.batch_size}  {workers} workers  {how}: "
                      f"{rate:,.0f} rows/s", flush=True)


if __name__ == "__main__":
    main()
