"""The loop of Hugging Face's datasets over the files of feedline_bench_text_tables.

    python3 tests/bench/text_tables_peer.py FOLDER [--seconds 3] [--workers 0,2]

Needs: datasets, and torch for DataLoader's workers. Records are those of records.jsonl and
records.csv in FOLDER, shuffled, in batches of 256; a consumer does nothing with them. "rows" is the
loop that takes one row after the other; "batches" takes 256 rows at once as NumPy arrays; "stream"
reads the text itself (streaming=True), all others read Arrow tables that datasets made of it first,
which is not counted. One pass at most, or the time asked.
"""

import argparse
import itertools
import os
import tempfile
import time

import datasets

BATCH = 256


def measure(name, form, items, records_of, seconds):
    start, cpu = time.perf_counter(), time.process_time()
    records = 0
    for item in items:
        records += records_of(item)
        if time.perf_counter() - start > seconds:
            break
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"{form:5} {name:24} {records / wall:12.0f} records/s "
          f"{records / max(cpu, 1e-9):12.0f} a CPU second", flush=True)


def loader_of(table, workers):
    import torch

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return len(table)

        def __getitems__(self, indices):
            batch = table[indices]
            return [{key: batch[key][i] for key in batch} for i in range(len(indices))]

    return torch.utils.data.DataLoader(Rows(), batch_size=BATCH, shuffle=True, num_workers=workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", default="", help="numbers of DataLoader's workers")
    options = parser.parse_args()
    datasets.disable_progress_bars()
    print(f"datasets {datasets.__version__}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as cache:
        for form, name in (("json", "records.jsonl"), ("csv", "records.csv")):
            path = os.path.join(options.folder, name)
            stream = datasets.load_dataset(form, data_files=path, split="train", streaming=True)
            measure("stream", form, stream, lambda row: 1, options.seconds)
            table = datasets.load_dataset(form, data_files=path, split="train", cache_dir=cache)
            shuffled = table.shuffle(seed=1)
            measure("rows", form, shuffled, lambda row: 1, options.seconds)
            arrays = shuffled.with_format("numpy").iter(BATCH)
            measure("batches", form, arrays, lambda batch: len(batch["id"]), options.seconds)
            for workers in filter(None, options.workers.split(",")):
                loader = loader_of(table.with_format("torch"), int(workers))
                measure(f"DataLoader, {workers} workers", form, itertools.islice(loader, None),
                        lambda batch: len(batch["id"]), options.seconds)


if __name__ == "__main__":
    main()
