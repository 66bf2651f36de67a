#!/usr/bin/env python3
"""A training run by torchvision's recipe: the accuracy of a network that feedline feeds, beside
that of the same network fed by torchvision's transforms in a DataLoader.

    python3 tests/bench/accuracy.py --digits FOLDER [--images 10000] [--epochs 10] [--seeds 3]
        [--feeds feedline:batch,feedline:sample,torchvision] [--seconds 80]

FOLDER has MNIST's files (data/README.md); those of its names that are there are used. Each digit is
rendered into a photograph of its own, from its number alone: a background of smooth noise in two
dark colours, the digit in a bright one, enlarged, turned, somewhere in it; a JPEG of 100 to 180
pixels a side. The photographs go to --folder, in a folder for each class, and are used again if
they are there. `train` has the first --images digits, `val` the last --validation ones.

A ResNet-18 for 64 x 64 pixels is trained by AdamW with one cycle of the learning rate, in bf16
where there is a GPU, on the whole recipe (recipe.py). Both feeds begin with the same weights for a
seed; their random choices differ, as those of two seeds do. A network is evaluated on
the middles of the validation's photographs, as its own feed makes them, and as the other one does.
The last feed trains in this process and the others in processes of their own, all at the same time,
so seconds say nothing of their speed. Only the last one can be torchvision, whose workers need it.
After "feedline:" is what draws of mixup are for: a batch, a pair, or a sample. The last lines have
each feed's difference from the last one, seed by seed, and its standard error.
"""

import argparse
import gzip
import math
import multiprocessing
import os
import pathlib
import queue
import statistics
import sys
import tempfile
import time

import numpy as np
import torch

import recipe
from training import resnet

try:
    import PIL.Image
    import torchvision
except ImportError as missing:
    sys.exit(f"accuracy.py: SKIPPED: {missing}")
try:
    import feedline
except ImportError as missing:
    sys.exit(f"accuracy.py: SKIPPED: {missing}")

SIZE, CLASSES, BATCH = 64, 10, 128


def idx_file(path):
    """Bytes of an IDX file, perhaps compressed, by their shape."""
    data = (gzip.open(path.with_name(path.name + ".gz")) if not path.exists() else
            path.open("rb")).read()
    dimensions = data[3]
    shape = np.frombuffer(data, ">u4", dimensions, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def digits_of(folder):
    """All digits in a folder, and their labels."""
    found = []
    for name in ("train", "t10k"):
        images, labels = (folder / f"{name}-{rest}" for rest in ("images-idx3-ubyte",
                                                                  "labels-idx1-ubyte"))
        if images.exists() or images.with_name(images.name + ".gz").exists():
            found.append((idx_file(images), idx_file(labels)))
    if not found:
        sys.exit(f"accuracy.py: {folder} has none of MNIST's files; data/README.md says how to get "
                 "them")
    return tuple(np.concatenate(each) for each in zip(*found))


def photograph(digit, number):
    """A JPEG's pixels, from a digit and its number."""
    random = np.random.default_rng(number)
    height, width = (int(each) for each in random.integers(100, 181, 2))
    coarse = random.integers(0, 256, (2, 6, 8), dtype=np.uint8)
    smooth = [PIL.Image.fromarray(each).resize((width, height), PIL.Image.Resampling.BICUBIC)
              for each in coarse]
    colours = random.uniform(0, 120, (3, 3))
    colours[2] = random.uniform(170, 255, 3)
    share = np.asarray(smooth[0], np.float32)[..., None] / 255
    pixels = colours[0] * share + colours[1] * (1 - share)
    pixels += (np.asarray(smooth[1], np.float32)[..., None] - 128) / 8
    pixels += random.normal(0, 6, pixels.shape)

    side = round(min(height, width) * random.uniform(0.75, 1.0))
    turned = (PIL.Image.fromarray(digit).resize((side, side), PIL.Image.Resampling.BICUBIC)
              .rotate(random.uniform(-15, 15), PIL.Image.Resampling.BILINEAR))
    top, left = (int(random.integers(0, room - side + 1)) for room in (height, width))
    ink = np.asarray(turned, np.float32)[..., None] / 255
    place = pixels[top : top + side, left : left + side]
    place[:] = place * (1 - ink) + colours[2] * ink
    return PIL.Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def write_photograph(folder, digit, label, number):
    path = folder / f"{label}" / f"{number}.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    photograph(digit, number).save(path.with_suffix(".new"), "JPEG", quality=90)
    path.with_suffix(".new").rename(path)


def write_photographs(options):
    """The two folders."""
    images, labels = digits_of(options.digits)
    if options.images + options.validation > len(labels):
        sys.exit(f"accuracy.py: {options.digits} has {len(labels)} digits")
    parts = {"train": range(options.images),
             "val": range(len(labels) - options.validation, len(labels))}
    folders = {part: options.folder / f"{part}{len(numbers)}" for part, numbers in parts.items()}
    missing = []
    for part, numbers in parts.items():
        there = {int(path.stem) for path in folders[part].glob("*/*.jpg")}
        missing += [(folders[part], images[number], labels[number], number)
                    for number in numbers if number not in there]
    with multiprocessing.get_context("fork").Pool() as pool:
        pool.starmap(write_photograph, missing, chunksize=16)
    return folders["train"], folders["val"]


def small_resnet(seed):
    """A ResNet-18 for small images: it begins with a window of 3 x 3, and pools nothing there."""
    torch.manual_seed(seed)
    network = resnet(False, CLASSES)
    network[0] = torch.nn.Conv2d(3, 64, 3, 2, 1, bias=False)
    network[3] = torch.nn.Identity()
    return network.to(recipe.device(), memory_format=torch.channels_last)


def forward(network, images):
    with torch.autocast(recipe.device(), torch.bfloat16, enabled=recipe.device() == "cuda"):
        return network(images)


def train(network, batches, steps):
    """The mean loss of the last tenth of the steps."""
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.05)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, steps, pct_start=0.2)
    losses = []
    for images, labels in batches:
        if recipe.device() == "cpu":
            images = images.float()
        loss = torch.nn.functional.cross_entropy(forward(network, images), labels)
        loss.backward()
        optimizer.step()
        rates.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.detach())
    assert len(losses) == steps, f"{len(losses)} steps instead of {steps}"
    return torch.stack(losses[-max(1, steps // 10):]).mean().item()


def share_right(network, batches):
    network.eval()
    with torch.no_grad():
        right = [(forward(network, images).argmax(1) == labels.argmax(1)).float()
                 for images, labels in batches]
    return 100 * torch.cat(right).mean().item()


def write_evaluations(folder, to, workers):
    """The validation's batches as both make them, in files."""
    plain = recipe.Recipe(folder, CLASSES, BATCH, SIZE)
    ours = recipe.by_feedline(recipe.feedline_loader(plain, 1, train=False), range(1))
    theirs = recipe.by_torchvision(recipe.torchvision_loader(plain, workers, train=False), plain,
                                   range(1), train=False)
    for name, batches in (("feedline", ours), ("torchvision", theirs)):
        torch.save([(images.cpu().clone(), labels.cpu().clone()) for images, labels in batches],
                   to / name)


def run(feed, seed, folder, options):
    """A trained network, its last loss, and the seconds it took, without those of the start."""
    kind, _, draws = feed.partition(":")
    made = recipe.Recipe(folder, CLASSES, BATCH, SIZE, scale=(0.5, 1.0), seed=seed,
                         draws=draws or "batch")
    epochs = range(options.epochs)
    network = small_resnet(seed)
    if kind == "feedline":
        batches = recipe.by_feedline(recipe.feedline_loader(made, options.epochs), epochs)
    else:
        loader = recipe.torchvision_loader(made, options.workers)
        batches = recipe.by_torchvision(loader, made, epochs)
    began = time.perf_counter()
    loss = train(network, batches, options.images // BATCH * options.epochs)
    return network, loss, time.perf_counter() - began


def runs(feed, folder, middles_at, until, options):
    """Trains and evaluates seed after seed. Yields the seed, seconds, the last loss, and shares."""
    middles = {name: [tuple(each.to(recipe.device()) for each in batch)
                      for batch in torch.load(middles_at / name)]
               for name in ("feedline", "torchvision")}
    longest = 0.0
    for seed in range(1, options.seeds + 1):
        began = time.time()
        if began + longest > until:
            return
        network, loss, seconds = run(feed, seed, folder, options)
        shares = {by: share_right(network, batches) for by, batches in middles.items()}
        yield seed, seconds, loss, shares
        longest = max(longest, time.time() - began)


def tell_runs(feed, told, *arguments):
    """A process: puts a feed's results, and None at their end."""
    for result in runs(feed, *arguments):
        told.put((feed, result))
    told.put((feed, None))


class Results:
    """Shares of right answers, by feed and seed. Each is printed when it is known."""

    def __init__(self, feeds):
        self.right = {feed: {} for feed in feeds}

    def add(self, feed, seed, seconds, loss, shares):
        self.right[feed][seed] = shares[feed.partition(":")[0]]
        print(f"{feed:18} {seed:4} {seconds:8.1f} {loss:10.4f} "
              f"{shares['feedline']:21.2f} % {shares['torchvision']:17.2f} %", flush=True)

    def take(self, processes, told, waits):
        """Adds what processes tell; with `waits`, until all have ended."""
        running = {feed for feed, process in processes.items() if process is not None}
        while running:
            try:
                feed, result = told.get(waits, 1)
            except queue.Empty:
                failed = [feed for feed in running if processes[feed].exitcode not in (None, 0)]
                if failed:
                    sys.exit(f"accuracy.py: the process of {failed[0]} failed")
                if waits:
                    continue
                return
            if result is None:
                running.remove(feed)
                processes[feed] = None
            else:
                self.add(feed, *result)


def print_differences(right):
    """Each feed beside the last one, on the seeds that both have, pair by pair."""
    *others, base = right
    shares = list(right[base].values())
    spread = statistics.stdev(shares) if len(shares) > 1 else math.nan
    print(f"\n{base}: mean {statistics.mean(shares):.2f} %, deviation over seeds {spread:.2f}")
    for feed in others:
        seeds = sorted(right[feed].keys() & right[base].keys())
        if len(seeds) < 2:
            print(f"{feed}: too few seeds in the time")
            continue
        shares = [right[feed][seed] for seed in seeds]
        differences = [right[feed][seed] - right[base][seed] for seed in seeds]
        error = statistics.stdev(differences) / len(seeds) ** 0.5
        print(f"{feed}: mean {statistics.mean(shares):.2f} %, deviation "
              f"{statistics.stdev(shares):.2f}; {statistics.mean(differences):+.2f} points from "
              f"{base} with the same beginnings, standard error {error:.2f}, {len(seeds)} seeds")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digits", type=pathlib.Path, required=True, help="MNIST's files")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench-digits"))
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--validation", type=int, default=4_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="no training begins that would end later, after the start")
    parser.add_argument("--feeds", default="feedline,torchvision")
    parser.add_argument("--workers", type=int, default=recipe.workers_here())
    options = parser.parse_args()
    feeds = options.feeds.split(",")
    if any(feed.partition(":")[0] != "feedline" for feed in feeds[:-1]):
        parser.error(f"--feeds is {options.feeds}: all but the last are feedline")
    began, until = time.perf_counter(), time.time() + options.seconds
    training_folder, validation_folder = write_photographs(options)
    where = torch.cuda.get_device_name(0) if recipe.device() == "cuda" else "no GPU"
    print(f"{where}, {os.cpu_count()} CPUs, feedline {feedline.__version__}, "
          f"torch {torch.__version__}, torchvision {torchvision.__version__}; "
          f"{options.images} photographs of digits for training, {options.validation} for "
          f"validation, ready after {time.perf_counter() - began:.0f} s; {options.epochs} epochs, "
          f"batches of {BATCH}, {options.workers} workers\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="accuracy-") as middles_at:
        write_evaluations(validation_folder, pathlib.Path(middles_at), options.workers)
        print(f"{'fed by':18} {'seed':>4} {'seconds':>8} {'last loss':>10} "
              f"{'right, feedline images':>23} {'torchvision images':>19}", flush=True)
        context = multiprocessing.get_context("spawn")
        told = context.Queue()
        arguments = training_folder, pathlib.Path(middles_at), until, options
        processes = {feed: context.Process(target=tell_runs, args=(feed, told, *arguments),
                                           daemon=True) for feed in feeds[:-1]}
        for process in processes.values():
            process.start()
        results = Results(feeds)
        for result in runs(feeds[-1], *arguments):
            results.add(feeds[-1], *result)
            results.take(processes, told, waits=False)
        results.take(processes, told, waits=True)
    print_differences(results.right)


if __name__ == "__main__":
    main()
