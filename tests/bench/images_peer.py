#!/usr/bin/env python3
"""What Python has for a folder of JPEGs: images/s of torch's DataLoader, beside images.cpp.

    feedline_bench_images --make /tmp/images
    feedline_bench_images --folder /tmp/images
    python3 tests/bench/images_peer.py /tmp/images [--workers 1,2,4,8,14] [--seconds 3]
        [--runs 3] [--json FILE]

Peers, of which those are left out, visibly, whose packages are not there:

torchvision     ImageFolder as it comes: PIL decodes and resizes to 224 x 224, a tensor of bytes
torchvision io  torchvision.io decodes (libjpeg-turbo), torchvision's resize of tensors of bytes,
                antialiased
PIL             the same as the first by PIL alone, where torchvision is not there
PIL draft       PIL with JPEG's reduced decoding (Image.draft)

One thread a worker (torch.set_num_threads(1)). The first epoch of each is not measured; workers
live on. A core's rate is images by CPU seconds of the main process and its workers.
"""

import argparse
import json
import os
import pathlib
import sys
import time

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


def peers_of(root):
    peers = []
    if torchvision is not None:
        steps = transforms.Compose([transforms.Resize(SIZE), transforms.PILToTensor()])
        peers.append(("torchvision", torchvision.datasets.ImageFolder(root, steps)))
        peers.append(("torchvision io", Files(root, decode_by_torchvision_io)))
    else:
        print("torchvision: SKIPPED: not installed")
    if PIL is not None:
        if torchvision is None:
            peers.append(("PIL", Files(root, decode_by_pil)))
        peers.append(("PIL draft", Files(root, decode_by_pil_draft)))
    else:
        print("PIL: SKIPPED: not installed")
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


def measure(data, workers, batch, seconds, runs):
    loader = torch.utils.data.DataLoader(
        data,
        batch_size=batch,
        shuffle=True,
        num_workers=workers,
        persistent_workers=workers > 0,
        worker_init_fn=lambda _: torch.set_num_threads(1),
    )
    for _ in loader:  # files come into memory, workers start
        pass
    found = []
    for _ in range(runs):
        images, cpu_before, cpu = 0, None, 0.0
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            iterator = iter(loader)
            processes = [os.getpid(), *workers_of(iterator)]
            cpu_before = cpu_seconds_of(processes)
            for _, labels in iterator:
                images += len(labels)
            cpu += cpu_seconds_of(processes) - cpu_before
        found.append((images / (time.perf_counter() - start), images / max(cpu, 1e-9)))
    found.sort()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--workers", default="1,2,4,8,14")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    versions = [f"torch {torch.__version__}"]
    versions += [f"torchvision {torchvision.__version__}"] if torchvision is not None else []
    versions += [f"PIL {PIL.__version__}"] if PIL is not None else []
    print(", ".join(versions))
    print(f"{'peer':<16} {'workers':>7} {'images/s':>12} {'':>18} {'a CPU second':>14} "
          f"{'scaling':>9}")
    rows = []
    for name, data in peers_of(arguments.folder):
        alone = None
        for workers in map(int, arguments.workers.split(",")):
            found = measure(data, workers, arguments.batch_size, arguments.seconds, arguments.runs)
            rate, a_core = found[len(found) // 2]
            alone = rate if workers == 1 else alone
            scaling = rate / (workers * alone) if alone and workers else 1.0
            spread = f"[{found[0][0]:7.0f}, {found[-1][0]:7.0f}]"
            print(f"{name:<16} {workers:>7} {rate:>12.0f} {spread:>18} {a_core:>14.0f} "
                  f"{scaling:>9.2f}", flush=True)
            rows.append({"peer": name, "workers": workers, "images_per_second": rate,
                         "images_per_cpu_second": a_core, "scaling": scaling})
    if arguments.json:
        results = {"program": "images_peer", "rows": rows}
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
