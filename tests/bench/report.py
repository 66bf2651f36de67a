#!/usr/bin/env python3
"""The results of the benchmarks as one table, and as a plot.

    report.py results.json                             # prints the table
    report.py results.json --svg results.svg           # and draws the plot (needs matplotlib)
    report.py results.json --merge part.json ...       # makes results.json first, of what single
                                                       # programs wrote
"""

import argparse
import datetime
import json
import sys

SHAPES = {
    "mnist64": "MNIST rows (784 B), batch 64",
    "mnist1024": "MNIST rows (784 B), batch 1024",
    "cifar256": "3×32×32 B, batch 256",
    "imagenet256": "224×224×3 B, batch 256",
    "small-dram": "784 B rows in 3 GB, batch 64",
}
PLACEMENTS = ["stream", "gather", "cached", "resident"]
ON_THE_GPU = "all on the GPU"  # the peer that `resident` is to be compared with, and nothing else


def merge(parts, facts):
    """One document of the programs' results; their machine facts are merged."""
    machine, programs = {}, {}
    for part in parts:
        with open(part) as file:
            document = json.load(file)
        machine.update(document["machine"])
        programs[document["program"]] = document["rows"]
    return {**facts, "machine": machine, "programs": programs}


class Results:
    """Looks up what the table and the plot show."""

    def __init__(self, document):
        self.document = document
        self.programs = document["programs"]

    def rows(self, program, **wanted):
        return [row for row in self.programs.get(program, [])
                if all(row.get(k) == v for k, v in wanted.items())]

    def machine(self):
        facts = self.document["machine"]
        names = ("gpu", "bus", "processor", "hardware_threads", "driver", "cuda_runtime")
        values = [str(facts.get(name, "?")) for name in names]
        return (f"{values[0]}, {values[1]}; {values[2]}, {values[3]} threads; "
                f"driver {values[4]}, CUDA {values[5]}")

    def shapes(self):
        found = {row.get("shape") for rows in self.programs.values() for row in rows}
        return [shape for shape in SHAPES if shape in found]

    def bus(self):
        """Pinned copies as the delivery measured them itself, or the best of the limits'."""
        for program in ("delivery", "limits"):
            rows = self.rows(program, limit="bus", memory="pinned", direction="to GPU")
            rates = [row["bytes_per_second"] for row in rows]
            if rates:
                return max(rates)
        return None

    def gather(self, kind, shape):
        """The best rate of a gather of the shape's rows, whatever the batch size."""
        rows = self.rows("limits", limit=kind)
        same = [row for row in rows if row["shape"] == shape]
        if not same:
            delivered = self.rows("delivery", shape=shape)
            row_bytes = {row["sample_bytes"] - 1 for row in delivered if "sample_bytes" in row}
            same = [row for row in rows
                    if row["row_bytes"] in row_bytes and row["shape"] != "small-dram"]
        return max((row["bytes_per_second"] for row in same), default=None)

    def limit(self, shape, row):
        """Bytes a second that a feed of a placement could reach at best."""
        placement = row.get("placement", "resident" if row.get("peer") == ON_THE_GPU else "stream")
        if placement == "gather":
            return self.gather("host gather", shape)
        if placement == "resident":
            return self.gather("resident gather", shape)
        bus = self.bus()
        if bus is None or placement == "stream":
            return bus
        return bus / (1 - row["cached_share"])  # cached: what is kept does not cross the bus

    def feeds(self, shape):
        """feedline's rows, placement by placement."""
        rows = self.rows("delivery", shape=shape)
        return [row for name in PLACEMENTS for row in rows if row.get("placement") == name]

    def peers(self, shape):
        """The best setting of each peer, the fastest first."""
        best = {}
        for program in ("peers", "peers_libtorch", "peers_python"):
            for row in self.rows(program, shape=shape):
                known = best.setdefault(row["peer"], row)
                if row["batches_per_second"] > known["batches_per_second"]:
                    best[row["peer"]] = row
        return sorted(best.values(), key=lambda row: -row["batches_per_second"])


    def training(self):
        """Networks' steps, network by network: in C++, then in Python."""
        rows = [(language, row) for language, program in (("C++", "training"),
                                                          ("Python", "training_python"))
                for row in self.rows(program)]
        return sorted(rows, key=lambda each: each[1]["network"])


def name_of(row):
    if "peer" not in row:
        placement = row["placement"]
        read = placement in ("stream", "cached")
        return f"feedline {placement}" + (f", {row['readers']} readers" if read else "")
    return row["peer"] + (f", {row['workers']} workers" if row.get("workers") else "")


def print_table(results):
    document = results.document
    print(results.machine())
    print(", ".join(f"{name} {document[name]}"
                    for name in ("date", "commit", "command") if document.get(name)))
    print("limit: stream, plain pinned copies; gather and resident, a plain kernel; cached, the "
          "copies over the share that is")
    print("streamed. × peer: over the fastest peer that has its rows where the placement has "
          "them, in RAM or on the GPU.\n")
    print(f"{'shape':12} {'feed':32} {'batches/s':>12} {'GB/s':>9} {'limit':>9} "
          f"{'of limit':>9} {'× peer':>8}")
    for shape in results.shapes():
        peers = results.peers(shape)
        in_ram = max((row["batches_per_second"] for row in peers if row["peer"] != ON_THE_GPU),
                     default=None)
        on_gpu = max((row["batches_per_second"] for row in peers if row["peer"] == ON_THE_GPU),
                     default=None)
        for row in results.feeds(shape) + peers:
            rate, limit = row["bytes_per_second"], results.limit(shape, row)
            other = None if "peer" in row else on_gpu if row["placement"] == "resident" else in_ram
            batches = row["batches_per_second"]
            of_limit = f"{100 * rate / limit:7.1f} %" if limit else f"{'-':>9}"
            limit = f"{limit / 1e9:9.2f}" if limit else f"{'-':>9}"
            of_peer = f"{batches / other:8.1f}" if other else f"{'-':>8}"
            print(f"{shape:12} {name_of(row):32} {batches:12,.0f} {rate / 1e9:9.2f} {limit} "
                  f"{of_limit} {of_peer}")
        print()


def print_training(results):
    rows = results.training()
    if not rows:
        return
    print(f"{'network':12} {'feed':32} {'language':>12} {'ms a step':>9} {'images/s':>9} "
          f"{'ratio':>9}")
    for language, row in rows:
        print(f"{row['network']:12} {row['feed']:32} {language:>12} {row['step_ms']:9.2f} "
              f"{row['images_per_second']:9,.0f} {row['ratio']:9.3f}")
    print("ratio: to the fixed batch in the same language\n")


def draw(results, path):
    try:
        import matplotlib
    except ImportError:
        sys.exit("report: no matplotlib here: the table is all; run this again with --svg where "
                 "there is one")
    matplotlib.use("svg")
    from plots import figure

    figure(results).savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="the document of all programs' results")
    parser.add_argument("--merge", nargs="+", metavar="PART", help="make it of these first")
    parser.add_argument("--commit", help="with --merge: what was measured")
    parser.add_argument("--command", help="with --merge: how")
    parser.add_argument("--svg", help="file for the plot")
    options = parser.parse_args()
    if options.merge:
        facts = {"date": datetime.date.today().isoformat(), "commit": options.commit,
                 "command": options.command}
        with open(options.results, "w") as file:
            json.dump(merge(options.merge, facts), file, indent=1)
    with open(options.results) as file:
        results = Results(json.load(file))
    print_table(results)
    print_training(results)
    if options.svg:
        draw(results, options.svg)


if __name__ == "__main__":
    main()
