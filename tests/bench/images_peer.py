#!/usr/bin/env python3
"""Python's tools for a folder of JPEGs: images/s of torch's DataLoader, beside images.cpp.

    feedline_bench_images --make /tmp/images
    feedline_bench_images --folder /tmp/images
    python3 tests/bench/images_peer.py /tmp/images [--workers 1,2,4,8,14] [--seconds 3]
        [--runs 3] [--json FILE]

    feedline_bench_jpeg --folder /tmp/images
    python3 tests/bench/images_peer.py /tmp/images --augment --batch-size 256 --workers 1,4,8

Peers, of which those are left out, visibly, whose packages are not there:

torchvision     ImageFolder as it comes: PIL decodes and resizes to 224 x 224, a tensor of bytes
torchvision io  torchvision.io decodes (libjpeg-turbo), torchvision's resize of tensors of bytes,
                antialiased
PIL             the same as the first by PIL alone, where torchvision is not installed
PIL draft       PIL with JPEG's reduced decoding (Image.draft)

With --augment, as jpeg.cpp: windows of a random size and position become 224 x 224, half are
flipped, and all end as normalized f16 on the GPU. Peers:

torchvision io   workers decode, cut, resize and flip; a pinned batch of bytes goes to the GPU,
                 which normalizes it
torchvision GPU  workers read files; torchvision.io.decode_jpeg decodes a batch of them on the GPU
                 (nvJPEG), which cuts, resizes and flips image by image, and normalizes them all
torchvision GPU, decoding alone
                 the same, and what was decoded is thrown away

One thread a worker (torch.set_num_threads(1)). The first epoch of each is not measured; workers
live on. A core's rate is images by CPU seconds of the main process and its workers; busy cores are
theirs too.
"""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import sys
import time
import typing

try:
    import torch
except ImportError:
    sys.exit("images_peer.py: SKIPPED: no torch")
try:
    import torchvision
    from torchvision import transforms
    from torchvision.transforms import v2
except ImportError:
    torchvision = None
try:
    import numpy
    import PIL
    from PIL import Image
except ImportError:
    PIL = None

SIZE = (224, 224)
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def files_of(root):
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    return [
        (str(path), label)
        for label, name in enumerate(classes)
        for path in sorted((pathlib.Path(root) / name).rglob("*"))
        if path.suffix.lower() in (".jpg", ".jpeg", ".png")
    ]


class Files(torch.utils.data.Dataset):
    """A folder's images, decoded by a function of a path."""

    def __init__(self, root, decode):
        self.files, self.decode = files_of(root), decode

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        return self.decode(path), label


def decode_by_pil(path):
    with Image.open(path) as image:
        resized = image.convert("RGB").resize((SIZE[1], SIZE[0]), Image.BILINEAR)
    return torch.from_numpy(numpy.array(resized))


def decode_by_pil_draft(path):
    with Image.open(path) as image:
        image.draft("RGB", (SIZE[1], SIZE[0]))
        resized = image.convert("RGB").resize((SIZE[1], SIZE[0]), Image.BILINEAR)
    return torch.from_numpy(numpy.array(resized))


def decode_by_torchvision_io(path):
    image = torchvision.io.decode_image(torchvision.io.read_file(path),
                                        torchvision.io.ImageReadMode.RGB)
    return v2.functional.resize(image, SIZE, antialias=True)


@dataclasses.dataclass
class Peer:
    name: str
    data: torch.utils.data.Dataset
    collate: typing.Optional[typing.Callable] = None  # transforms of a worker's samples
    finish: typing.Callable = lambda images: images  # transforms of a batch, in the main process
    pinned: bool = False


def peers_of(root):
    peers = []
    if torchvision is not None:
        steps = transforms.Compose([transforms.Resize(SIZE), transforms.PILToTensor()])
        peers.append(Peer("torchvision", torchvision.datasets.ImageFolder(root, steps)))
        peers.append(Peer("torchvision io", Files(root, decode_by_torchvision_io)))
    else:
        print("torchvision: SKIPPED: not installed")
    if PIL is not None:
        if torchvision is None:
            peers.append(Peer("PIL", Files(root, decode_by_pil)))
        peers.append(Peer("PIL draft", Files(root, decode_by_pil_draft)))
    else:
        print("PIL: SKIPPED: not installed")
    return peers


@functools.cache
def augment():
    """A window, resized, perhaps flipped, of one image of bytes."""
    return v2.Compose([v2.RandomResizedCrop(SIZE, antialias=True), v2.RandomHorizontalFlip(0.5)])


def augmented_by_torchvision_io(path):
    return augment()(torchvision.io.decode_image(torchvision.io.read_file(path),
                                                 torchvision.io.ImageReadMode.RGB))


@functools.cache
def factor_and_shift(device):
    mean, deviation = (torch.tensor(values, device=device).view(1, 3, 1, 1)
                       for values in (MEAN, DEVIATION))
    return 1 / (255 * deviation), mean / deviation


def normalized(images):
    """A batch of bytes as f16, channels last."""
    factor, shift = factor_and_shift(images.device)
    return (images * factor).sub_(shift).to(torch.float16, memory_format=torch.channels_last)


def joined_files(samples):
    """One tensor of all files: several tensors would each be a file of shared memory."""
    files, labels = zip(*samples)
    return (torch.cat(files), [len(file) for file in files]), torch.tensor(labels)


def decoded_on(device, images):
    files, sizes = images
    return torchvision.io.decode_jpeg(list(files.split(sizes)), torchvision.io.ImageReadMode.RGB,
                                      device=device)


def augmented_on(device, images):
    return normalized(torch.stack([augment()(each) for each in decoded_on(device, images)]))


def augmenting_peers_of(root, device):
    if torchvision is None:
        sys.exit("images_peer.py: SKIPPED: no torchvision")
    on_gpu = device.startswith("cuda")
    peers = [Peer("torchvision io", Files(root, augmented_by_torchvision_io), pinned=on_gpu,
                  finish=lambda images: normalized(images.to(device, non_blocking=True)))]
    if not on_gpu:
        print("torchvision GPU: SKIPPED: no GPU")
    for name, finish in (("torchvision GPU", augmented_on),
                         ("torchvision GPU, decoding alone", decoded_on)):
        if on_gpu:
            peers.append(Peer(name, Files(root, torchvision.io.read_file), collate=joined_files,
                              finish=functools.partial(finish, device)))
    return peers


def cpu_seconds_of(processes):
    """User's and system's, of processes that run, from /proc."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for process in processes:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def workers_of(iterator):
    return [worker.pid for worker in getattr(iterator, "_workers", [])]


@dataclasses.dataclass
class Run:
    rate: float  # images a second
    a_core: float  # images a second of CPU time
    cores: float  # number of busy cores


def measure(peer, workers, batch, seconds, runs):
    loader = torch.utils.data.DataLoader(
        peer.data,
        batch_size=batch,
        shuffle=True,
        num_workers=workers,
        collate_fn=peer.collate,
        pin_memory=peer.pinned,
        persistent_workers=workers > 0,
        worker_init_fn=lambda _: torch.set_num_threads(1),
    )
    for images, _ in loader:  # files come into memory, workers start
        peer.finish(images)
    found = []
    for _ in range(runs):
        count, cpu = 0, 0.0
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            iterator = iter(loader)
            processes = [os.getpid(), *workers_of(iterator)]
            cpu_before = cpu_seconds_of(processes)
            for images, labels in iterator:
                peer.finish(images)
                count += len(labels)
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            cpu += cpu_seconds_of(processes) - cpu_before
        took = time.perf_counter() - start
        found.append(Run(count / took, count / max(cpu, 1e-9), cpu / took))
    return sorted(found, key=lambda run: run.rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--workers", default="1,2,4,8,14")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--augment", action="store_true", help="random windows, to the GPU")
    parser.add_argument("--device", help="default: cuda where there is one, else cpu")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    versions = [f"torch {torch.__version__}"]
    versions += [f"torchvision {torchvision.__version__}"] if torchvision is not None else []
    versions += [f"PIL {PIL.__version__}"] if PIL is not None else []
    print(", ".join(versions))
    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    peers = (augmenting_peers_of(arguments.folder, device) if arguments.augment
             else peers_of(arguments.folder))
    print(f"{'peer':<32} {'workers':>7} {'images/s':>12} {'':>18} {'a CPU second':>14} "
          f"{'busy cores':>10} {'scaling':>9}")
    rows = []
    for peer in peers:
        alone = None
        for workers in map(int, arguments.workers.split(",")):
            found = measure(peer, workers, arguments.batch_size, arguments.seconds, arguments.runs)
            median = found[len(found) // 2]
            alone = median.rate if workers == 1 else alone
            scaling = median.rate / (workers * alone) if alone and workers else 1.0
            spread = f"[{found[0].rate:7.0f}, {found[-1].rate:7.0f}]"
            print(f"{peer.name:<32} {workers:>7} {median.rate:>12.0f} {spread:>18} "
                  f"{median.a_core:>14.0f} {median.cores:>10.2f} {scaling:>9.2f}", flush=True)
            rows.append({"peer": peer.name, "workers": workers, "images_per_second": median.rate,
                         "images_per_cpu_second": median.a_core, "busy_cores": median.cores,
                         "scaling": scaling})
    if arguments.json:
        results = {"program": "images_peer", "rows": rows}
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
