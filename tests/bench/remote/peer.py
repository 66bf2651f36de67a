#!/usr/bin/env python3
"""Shuffled rows of an npy file on a web server, by PyTorch's DataLoader and clients of HTTP, and by
KvikIO.

    tests/bench/remote/peer.py ADDRESS [--batch-size 256] [--workers 4,16] [--seconds 3]
                               [--ways urllib3,threads,fsspec,kvikio,kvikio-multi] [--gpu]

feedline_bench_remote runs it beside feedline: --peer "python3 tests/bench/remote/peer.py --gpu".

Method: each worker has clients of its own; a batch is made of one range a row. "urllib3" asks for
one row after the other on one connection, "threads" for 16 at once by urllib3, "fsspec" for all
rows of a batch at once (`cat_ranges`, by aiohttp). Rows land in one array a batch, which the
DataLoader pins and which is copied on the current stream without blocking. "kvikio" and
"kvikio-multi" have no workers: KvikIO's threads (as many as workers otherwise), or its event loops
with that many requests in flight, read the rows of four batches at a time, into memory of the GPU
with --gpu. An empty consumer; the first batches are not timed. Ways whose packages are not there
are left out, and named. Prints GB/s, and the CPU time of all its processes.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import io
import itertools
import resource
import time

import numpy
import torch

CONNECTIONS = 16


def read_head(address):
    """Rows, bytes of a row and offset of the first one."""
    import urllib.request
    request = urllib.request.Request(address, headers={"Range": "bytes=0-4095"})
    with urllib.request.urlopen(request) as answer:
        head = io.BytesIO(answer.read())
    version = numpy.lib.format.read_magic(head)
    assert version == (1, 0), version
    shape, _, dtype = numpy.lib.format.read_array_header_1_0(head)
    return shape[0], shape[1] * dtype.itemsize, head.tell()


class Rows(torch.utils.data.Dataset):
    """Batches by lists of indices."""

    def __init__(self, address, way):
        self.address, self.way, self.client = address, way, None
        self.length, self.row_bytes, self.offset = read_head(address)

    def __len__(self):
        return self.length

    def open_client(self):
        if self.way == "fsspec":
            import fsspec
            return fsspec.filesystem("http", skip_instance_cache=True)
        import urllib3
        self.threads = concurrent.futures.ThreadPoolExecutor(CONNECTIONS)
        return urllib3.PoolManager(num_pools=1, maxsize=CONNECTIONS)

    def range_of(self, index):
        begin = self.offset + index * self.row_bytes
        return begin, begin + self.row_bytes

    def fetch(self, index, out):
        begin, end = self.range_of(index)
        answer = self.client.request("GET", self.address, preload_content=False,
                                     headers={"Range": f"bytes={begin}-{end - 1}"})
        assert answer.status == 206, answer.status
        out[:] = numpy.frombuffer(answer.read(), dtype=numpy.uint8)
        answer.release_conn()

    def __getitem__(self, indices):
        if self.client is None:
            self.client = self.open_client()
        rows = numpy.empty((len(indices), self.row_bytes), dtype=numpy.uint8)
        if self.way == "fsspec":
            begins, ends = zip(*(self.range_of(i) for i in indices))
            for row, content in zip(rows, self.client.cat_ranges(
                    [self.address] * len(indices), list(begins), list(ends))):
                row[:] = numpy.frombuffer(content, dtype=numpy.uint8)
        elif self.way == "threads":
            list(self.threads.map(self.fetch, indices, rows))
        else:
            for index, row in zip(indices, rows):
                self.fetch(index, row)
        return torch.from_numpy(rows)


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(address, way, workers, options):
    data = Rows(address, way)
    batches = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data),
                                            options.batch_size, drop_last=True)
    loader = torch.utils.data.DataLoader(data, sampler=batches, batch_size=None,
                                         num_workers=workers, pin_memory=options.gpu,
                                         prefetch_factor=2, persistent_workers=True,
                                         multiprocessing_context="spawn")
    delivered = itertools.chain.from_iterable(itertools.repeat(loader))  # epoch after epoch
    for _ in itertools.islice(delivered, 2 * workers):  # workers are up, connections open
        pass
    rows, start = 0, time.perf_counter()
    for batch in delivered:
        if options.gpu:
            batch = batch.to("cuda", non_blocking=True)
        rows += len(batch)
        if time.perf_counter() - start > options.seconds:
            break
    if options.gpu:
        torch.cuda.synchronize()
    return rows * data.row_bytes / (time.perf_counter() - start)


def measure_kvikio(address, way, workers, options):
    import kvikio.defaults
    data = Rows(address, way)
    if way == "kvikio-multi":
        kvikio.defaults.set("remote_io_max_concurrent_requests", workers)
        backend = type(kvikio.defaults.get("remote_io_backend")).MULTI_POLL
        kvikio.defaults.set({"remote_io_backend": backend})
    else:
        kvikio.defaults.set({"num_threads": workers})
    file = kvikio.RemoteFile.open_http(address)

    def new_batch():
        shape = options.batch_size, data.row_bytes
        if not options.gpu:
            return numpy.empty(shape, numpy.uint8)
        return torch.empty(shape, dtype=torch.uint8, device="cuda")

    def begin(indices, into):
        return into, [file.pread(into[i], data.row_bytes, data.range_of(index)[0])
                      for i, index in enumerate(indices)]

    sampler = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(data),
                                            options.batch_size, drop_last=True)
    orders = itertools.chain.from_iterable(itertools.repeat(sampler))
    begun = collections.deque(begin(next(orders), new_batch()) for _ in range(4))
    rows, start, stop = 0, None, None
    while begun:
        into, reads = begun.popleft()
        assert sum(each.get() for each in reads) == options.batch_size * data.row_bytes
        now = time.perf_counter()
        if start is None:  # connections are open
            start, stop = now, now + options.seconds
        else:
            rows += options.batch_size
        if now < stop:
            begun.append(begin(next(orders), into))
    return rows * data.row_bytes / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", default="4,16")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--ways", default="urllib3,threads,fsspec,kvikio,kvikio-multi")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    needs = {"urllib3": ["urllib3"], "threads": ["urllib3"], "fsspec": ["fsspec", "aiohttp"],
             "kvikio": ["kvikio"], "kvikio-multi": ["kvikio"]}
    for way in options.ways.split(","):
        missing = [name for name in needs[way] if importlib.util.find_spec(name) is None]
        if missing:
            print(f"peer, {way}: left out, there is no {' and no '.join(missing)}", flush=True)
            continue
        # Requests in flight of KvikIO's event loops are set once in a process.
        workers_of_way = [256] if way == "kvikio-multi" else map(int, options.workers.split(","))
        for workers in workers_of_way:
            before = time.perf_counter(), cpu_seconds()
            by = measure_kvikio if way.startswith("kvikio") else measure
            try:
                rate = by(options.address, way, workers, options)
            except RuntimeError as why:  # such as a client without a driver of the GPU
                print(f"peer, {way}: failed: {why}", flush=True)
                break
            print(f"peer, {way:12} {workers:4} workers {rate / 1e9:8.2f} GB/s "
                  f"(with its start {time.perf_counter() - before[0]:.1f} s, "
                  f"CPU {cpu_seconds() - before[1]:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
