#!/usr/bin/env python3
"""Cost of feeding for a training loop in Python: the loop of libtorch/training.cpp, its networks,
optimizer and images, on one batch that lies on the GPU, under torch.utils.data.DataLoader, and
under feedline, SPDL and DALI where their packages are installed.

    python3 tests/bench/training.py [--networks resnet18,resnet50] [--workers 8] [--steps 20]
        [--runs 5] [--seconds 60] [--json FILE]
    python3 tests/bench/training.py --folder FOLDER [--workers 0] …

DataLoader  fetches whole batches by index (the fast way to use it), shuffled, pinned, by workers
            that live on; the next batch is copied and normalized on a side stream
SPDL        the same by its pipeline: as many threads fetch and pin, one copies and normalizes
DALI        its reader of .npy files, one an image, which lie in the page cache; it copies them and
            normalizes to f16 (it has no bf16); as many threads
feedline    its package (pip install .): placement stream, normalized by its own kernel

With --folder the images are JPEGs, in a folder of folders (`feedline_bench_images --make FOLDER`),
and get torchvision's whole recipe (recipe.py): the GPU decodes and changes feedline's, workers
those of the DataLoader, if there are any. Labels are shares of classes then, on the fixed batch,
too.

Method: as training.cpp. Each round is a line when it is done; the results are rewritten when a
network is done.
"""

import argparse
import collections
import concurrent.futures
import functools
import importlib.util
import itertools
import json
import os
import statistics
import sys
import tempfile
import time

import numpy
import torch
from torch import nn

import recipe
from rows import Rows

BATCH, SAMPLES, SIZE, CLASSES = 256, 4_096, 224, 1000
PREFETCHED = 2  # batches a worker of the DataLoader has under way
FEEDLINE_AHEAD = 8  # batches of this size that its slots hold, at most
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def convolution(inputs, outputs, kernel, stride=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(outputs)]


class Block(nn.Module):
    """Residual, of two 3x3 convolutions, or a bottleneck with its stride in the 3x3 one."""

    def __init__(self, inputs, width, stride, bottleneck):
        super().__init__()
        outputs = 4 * width if bottleneck else width
        first = (convolution(inputs, width, 1) + [nn.ReLU(inplace=True)]
                 + convolution(width, width, 3, stride) if bottleneck
                 else convolution(inputs, width, 3, stride))
        self.path = nn.Sequential(*first, nn.ReLU(inplace=True),
                                  *convolution(width, outputs, 1 if bottleneck else 3))
        self.shortcut = (None if stride == 1 and inputs == outputs
                         else nn.Sequential(*convolution(inputs, outputs, 1, stride)))

    def forward(self, images):
        output = self.path(images)
        return output.add_(self.shortcut(images) if self.shortcut else images).relu_()


def resnet(bottlenecks, classes=CLASSES):
    """ResNet-18 or ResNet-50, as torchvision has them."""
    parts = [*convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = width = 64
    for blocks in (3, 4, 6, 3) if bottlenecks else (2, 2, 2, 2):
        for i in range(blocks):
            parts.append(Block(channels, width, 2 if i == 0 and width != 64 else 1, bottlenecks))
            channels = 4 * width if bottlenecks else width
        width *= 2
    network = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                            nn.Linear(channels, classes))
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return network


class Trainer:
    def __init__(self, bottlenecks):
        torch.manual_seed(1)
        self.network = resnet(bottlenecks).to("cuda", memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01, momentum=0.9,
                                         weight_decay=1e-4, fused=True)

    def step(self, images, labels):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(self.network(images), labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()


@functools.cache
def factor_and_shift():
    mean, deviation = torch.tensor(MEAN), torch.tensor(DEVIATION)
    return (1 / (255 * deviation)).cuda(), (mean / deviation).cuda()


def normalized(images):
    """Normalizes bytes, batch x height x width x channels: bf16 in channels-last layout."""
    factor, shift = factor_and_shift()
    return (images * factor).sub_(shift).to(torch.bfloat16).permute(0, 3, 1, 2)


def fixed_batch(shares=False):
    torch.manual_seed(2)
    images = torch.randint(0, 256, (BATCH, SIZE, SIZE, 3), dtype=torch.uint8, device="cuda")
    labels = torch.randint(0, 10, (BATCH,), device="cuda")
    if shares:
        labels = nn.functional.one_hot(labels, CLASSES).float()
    batch = normalized(images), labels
    while True:
        yield batch


def shuffled_indices(rows):
    return torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(rows), BATCH,
                                         drop_last=True)


def on_gpu(images, labels):
    """The network's input from a pinned batch, on the current stream."""
    return (normalized(images.to("cuda", non_blocking=True)),
            labels.to("cuda", non_blocking=True).long())


def for_current_stream(batch):
    for tensor in batch:
        tensor.record_stream(torch.cuda.current_stream())
    return batch


def data_loader(rows, workers):
    """Batches, epoch after epoch; the next one's copy has been issued when one is given."""
    sampler = shuffled_indices(rows)
    loader = torch.utils.data.DataLoader(rows, sampler=sampler, batch_size=None,
                                         num_workers=workers, pin_memory=True,
                                         persistent_workers=True, prefetch_factor=PREFETCHED)
    side = torch.cuda.Stream()
    ready = None
    while True:
        for images, labels in loader:
            with torch.cuda.stream(side):
                following = on_gpu(images, labels)
            if ready is not None:
                yield ready
            torch.cuda.current_stream().wait_stream(side)
            ready = for_current_stream(following)


def spdl_pipeline(rows, threads):
    """Batches, epoch after epoch; copied when they are given."""
    from spdl.pipeline import PipelineBuilder

    side = torch.cuda.Stream()

    def fetch(indices):
        return [tensor.pin_memory() for tensor in rows[indices]]

    def copy(batch):
        with torch.cuda.stream(side):
            copied = on_gpu(*batch)
        side.synchronize()
        return copied

    sampler = shuffled_indices(rows)
    pipeline = (PipelineBuilder()
                .add_source(itertools.chain.from_iterable(itertools.repeat(sampler)))
                .pipe(fetch, concurrency=threads)
                .pipe(copy, executor=concurrent.futures.ThreadPoolExecutor(1))
                .add_sink(PREFETCHED)
                .build(num_threads=threads))
    with pipeline.auto_stop():
        for batch in pipeline:
            yield for_current_stream(batch)


def dali_pipeline(rows, threads):
    """Batches, epoch after epoch; copied when they are given."""
    from nvidia.dali import fn, pipeline_def, types
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    with tempfile.TemporaryDirectory() as folder:
        files = {name: [os.path.join(folder, f"{name}{i:06}.npy") for i in range(len(rows))]
                 for name in ("image", "label")}
        for i in range(len(rows)):
            numpy.save(files["image"][i], rows.images[i].numpy())
            numpy.save(files["label"][i], rows.labels[i : i + 1].numpy())

        @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=0,
                      prefetch_queue_depth=PREFETCHED)
        def described():
            read = functools.partial(fn.readers.numpy, random_shuffle=True, seed=1,
                                     initial_fill=BATCH)  # the same order for both
            images = read(files=files["image"], name="images")
            images = fn.crop_mirror_normalize(
                images.gpu(), dtype=types.FLOAT16, output_layout="HWC",
                mean=[255 * mean for mean in MEAN], std=[255 * each for each in DEVIATION])
            labels = fn.cast(read(files=files["label"]).gpu(), dtype=types.INT64)
            return images, labels

        batches = DALIGenericIterator([described()], ["image", "label"], reader_name="images",
                                      last_batch_policy=LastBatchPolicy.DROP, auto_reset=True)
        while True:
            for (batch,) in batches:
                yield batch["image"].permute(0, 3, 1, 2), batch["label"].squeeze(1)


def feedline_loader(rows):
    """Batches, epoch after epoch; each is the loader's memory."""
    import feedline

    loader = feedline.Loader(
        feedline.make_memory_dataset({"image": rows.images, "label": rows.labels}),
        feedline.shuffle(seed=1), feedline.make_cuda_device(0), batch_size=BATCH, epochs=1_000_000,
        partial_batch="drop", placement="stream",
        transforms=[feedline.FieldTransform("image", to="bfloat16", scale=1 / 255, mean=MEAN,
                                            stddev=DEVIATION, layout="hwc"),
                    feedline.FieldTransform("label", to="int64")])
    for epoch in itertools.count():
        for batch in loader.epoch(epoch):
            yield batch["image"].torch().permute(0, 3, 1, 2), batch["label"].torch()


# Its name, its batches, and how many of them may lie ready before a turn.
Feed = collections.namedtuple("Feed", "name batches ahead")


def seconds_of(steps, feed, trainer):
    """A step, on average."""
    start = time.perf_counter()
    for _ in range(steps):
        trainer.step(*next(feed.batches))
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / steps


def print_row(network, feed, turn, step, ratio, rest=""):
    print(f"{network:10} {feed:30} {turn:>7} {1e3 * step:10.2f} {BATCH / step:10.0f} {ratio:8.3f} "
          f"{rest}".rstrip(), flush=True)


def run_rounds(network, feeds, trainers, options):
    """For each round the seconds a step of each feed, the fixed batch first."""
    start = time.perf_counter()
    for feed, trainer in zip(feeds, trainers):
        step = seconds_of(options.warm_up, feed, trainer)
        print(f"{network:10} {feed.name:30} {'warm-up':>7} {1e3 * step:10.2f}", flush=True)
    # A feed makes batches ready during others' turns: they are used up before it is measured, and
    # others are done with theirs.
    not_measured = options.warm_up + max(feed.ahead for feed in feeds)
    rounds = []
    while len(rounds) < options.runs:
        began = time.perf_counter()
        seconds = []
        for feed, trainer in zip(feeds, trainers):
            seconds_of(not_measured, feed, trainer)
            seconds.append(seconds_of(options.steps, feed, trainer))
            print_row(network, feed.name, len(rounds) + 1, seconds[-1], seconds[-1] / seconds[0])
        rounds.append(seconds)
        now = time.perf_counter()
        if now + (now - began) > start + options.seconds:
            break
    return rounds


def run_network(network, feeds, options):
    trainers = [Trainer(network == "resnet50") for _ in feeds]
    rounds = run_rounds(network, feeds, trainers, options)
    for feed, trainer, runs in zip(feeds, trainers, zip(*rounds)):
        ratios = [seconds / each[0] for seconds, each in zip(runs, rounds)]
        step, ratio = statistics.median_high(runs), statistics.median_high(ratios)
        loss = trainer.loss.item()
        print_row(network, feed.name, "median", step, ratio,
                  f"[{min(ratios):5.3f}, {max(ratios):5.3f}] {loss:9.3f}")
        yield {"network": network, "feed": feed.name, "runs": len(runs), "step_ms": 1e3 * step,
               "images_per_second": BATCH / step, "ratio": ratio, "least_ratio": min(ratios),
               "most_ratio": max(ratios), "loss": loss}


def feeds_of_folder(options):
    made = recipe.Recipe(options.folder, CLASSES, BATCH, SIZE)
    feeds = [Feed("a fixed batch", fixed_batch(shares=True), 0),
             Feed("feedline, JPEGs, recipe", recipe.feedline_forever(made), FEEDLINE_AHEAD)]
    if options.workers:
        feeds.append(Feed(f"DataLoader, recipe, {options.workers} workers",
                          recipe.torchvision_forever(made, options.workers),
                          PREFETCHED * options.workers + 1))
    return feeds


def feeds_of_rows(options):
    words = torch.randint(-2**63, 2**63 - 1, (SAMPLES, SIZE * SIZE * 3 // 8))
    rows = Rows(words.view(torch.uint8).view(SAMPLES, SIZE, SIZE, 3),
                torch.randint(0, 10, (SAMPLES,), dtype=torch.uint8))
    feeds = [Feed("a fixed batch", fixed_batch(), 0),
             Feed(f"PyTorch DataLoader, {options.workers} workers",
                  data_loader(rows, options.workers), PREFETCHED * options.workers + 1)]
    if importlib.util.find_spec("spdl"):
        feeds.append(Feed(f"SPDL, {options.workers} threads", spdl_pipeline(rows, options.workers),
                          options.workers + PREFETCHED + 1))
    if importlib.util.find_spec("nvidia") and importlib.util.find_spec("nvidia.dali"):
        feeds.append(Feed(f"DALI, {options.workers} threads", dali_pipeline(rows, options.workers),
                          PREFETCHED + 1))
    if importlib.util.find_spec("feedline"):
        feeds.append(Feed("feedline", feedline_loader(rows), FEEDLINE_AHEAD))
    return feeds


def main():
    networks = ["resnet18", "resnet50"]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=lambda text: text.split(","), default=networks,
                        help="of resnet18,resnet50")
    parser.add_argument("--workers", type=int, default=8,
                        help="of the DataLoader; 0, with --folder: none")
    parser.add_argument("--folder", help="JPEGs in folders, instead of bytes in memory")
    parser.add_argument("--steps", type=int, default=20, help="of a turn")
    parser.add_argument("--warm-up", type=int, default=3,
                        help="steps before each turn that are not measured, beside those on "
                             "batches that lie ready")
    parser.add_argument("--runs", type=int, default=5, help="rounds, of which the median counts")
    parser.add_argument("--seconds", type=float, default=60,
                        help="for a network: a round that would end later is left out, but for "
                             "the first")
    parser.add_argument("--high-priority", action="store_true",
                        help="steps on a stream of high priority: work of feeds makes way for them")
    parser.add_argument("--json", help="file that the results go to, for report.py")
    options = parser.parse_args()
    if unknown := set(options.networks) - set(networks):
        parser.error(f"--networks: {', '.join(unknown)}: there are {', '.join(networks)}")
    least = 0 if options.folder else 1
    if min(options.workers + 1 - least, options.steps, options.warm_up, options.runs) < 1:
        parser.error("--workers, --steps, --warm-up and --runs are at least 1")
    if not torch.cuda.is_available():
        print("no GPU: nothing to measure")
        return
    torch.backends.cudnn.benchmark = True
    versions = {"python": sys.version.split()[0], "torch": torch.__version__}
    print(", ".join(f"{name} {version}" for name, version in versions.items()), end="")
    print(f"; {torch.cuda.get_device_name(0)}, {torch.get_num_threads()} threads")
    print(f"method:    bf16 by autocast, channels last; {options.steps} steps a turn after "
          f"{options.warm_up} and those on\n           batches that lie ready, which are not "
          "measured; ratio: to the fixed batch, [least, most]"
          f"{'; a stream of high priority' if options.high_priority else ''}\n")
    print(f"{'network':10} {'feed':30} {'round':>7} {'ms a step':>10} {'images/s':>10} "
          f"{'ratio':>8} {'':14} {'last loss':>9}", flush=True)
    feeds = feeds_of_folder(options) if options.folder else feeds_of_rows(options)
    found = []
    if options.high_priority:
        torch.cuda.set_stream(torch.cuda.Stream(priority=-1))
    for network in options.networks:
        found += run_network(network, feeds, options)
        if options.json:
            with open(options.json, "w") as file:
                json.dump({"program": "training_python", "machine": versions, "rows": found}, file,
                          indent=1)


if __name__ == "__main__":
    main()
