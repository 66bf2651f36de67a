"""Rows a second of JSON lines and CSV: feedline's loader, and loops of Python.

    python tests/bench/tables.py [ROWS] [READERS]

Writes a table of numbers, a list and a text into a temporary folder, reads it once to fill the page
cache, and prints the best of three passes of each way. Hugging Face's `datasets` is measured if it
is installed.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import feedline

BATCH = 256


def write_tables(folder: Path, rows: int) -> None:
    random = np.random.default_rng(1)
    with (folder / "a.jsonl").open("w") as lines, (folder / "a.csv").open("w") as table:
        writer = csv.writer(table)
        writer.writerow(["id", *(f"x{k}" for k in range(16)), "text"])
        for i in range(rows):
            values = random.random(16).round(6).tolist()
            text = "word " * int(random.integers(5, 40))
            lines.write(json.dumps({"id": i, "x": values, "text": text}) + "\n")
            writer.writerow([i, *values, text])


def with_feedline(open_table: Callable[[], feedline.Dataset], readers: int) -> int:
    order = feedline.shuffle(seed=1)
    loader = feedline.Loader(open_table(), order, batch_size=BATCH, readers=readers)
    return sum(len(batch["id"].numpy()) for batch in loader.epoch(0))


def json_loop(path: Path) -> int:
    count = 0
    batch = []
    for line in path.open():
        row = json.loads(line)
        batch.append(np.asarray(row["x"]))
        count += 1
        if len(batch) == BATCH:
            np.stack(batch)
            batch.clear()
    return count


def csv_loop(path: Path) -> int:
    count = 0
    batch = []
    with path.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            batch.append(np.asarray([float(x) for x in row[1:17]]))
            count += 1
            if len(batch) == BATCH:
                np.stack(batch)
                batch.clear()
    return count


def hub_loop(kind: str, path: Path, cache: Path) -> Callable[[], int] | None:
    try:
        import datasets
    except ModuleNotFoundError:
        return None
    data = datasets.load_dataset(kind, data_files=str(path), cache_dir=str(cache), split="train")
    return lambda: sum(1 for _ in data.shuffle(seed=1))


def measure(name: str, read: Callable[[], int] | None) -> None:
    if read is None:
        print(f"{name:40} not installed")
        return
    best = 0.0
    for _ in range(3):
        begin = time.perf_counter()
        rows = read()
        best = max(best, rows / (time.perf_counter() - begin))
    print(f"{name:40} {best:12,.0f} rows/s")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    readers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, rows)
        lines, table = folder / "a.jsonl", folder / "a.csv"
        size = sum(file.stat().st_size for file in (lines, table)) / 2**20
        print(f"{rows:,} rows, {size:,.0f} MiB of both, {readers} readers, opening included")
        pad = {"text": feedline.PadOptions(length=256)}
        measure("JSON lines: feedline", lambda: with_feedline(
            lambda: feedline.open_json_lines(lines, pad=pad), readers))
        measure("JSON lines: json.loads", lambda: json_loop(lines))
        measure("JSON lines: datasets", hub_loop("json", lines, folder / "cache"))
        merge = {"x": ["x*"]}
        measure("CSV: feedline", lambda: with_feedline(
            lambda: feedline.open_csv(table, merge=merge, pad=pad), readers))
        measure("CSV: csv.reader", lambda: csv_loop(table))
        measure("CSV: datasets", hub_loop("csv", table, folder / "cache"))


if __name__ == "__main__":
    main()
