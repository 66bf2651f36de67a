"""What the loops of all frameworks share: the data, the record of what was trained on, the kill.

All arithmetic is exact: values are small whole numbers, batches and rates powers of two. So the
parameters are the same bits for every number of ranks, if the batches have the same samples.
"""

import argparse
import os
import signal
from pathlib import Path

import numpy as np
import torch

import feedline

SAMPLES = 96
GLOBAL_BATCH = 8
EPOCHS = 3


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kill-at", type=int, default=0, help="the step after which ranks die")
    return parser.parse_args()


def dataset():
    numbers = np.arange(SAMPLES, dtype=np.float32)
    columns = np.stack([numbers, numbers % 7, numbers % 5, numbers % 3], axis=1)
    return feedline.make_memory_dataset({"x": columns, "y": np.arange(SAMPLES)})


def sampler():
    return feedline.shuffle(seed=11)


def loss_of(model, x):
    """Its gradient is the mean of x, whatever the parameters are."""
    return model(x).mean()


def make_model():
    model = torch.nn.Linear(4, 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    return model


class Record:
    """Writes down which samples a rank trained on at each step, and kills it."""

    def __init__(self, args, rank, world):
        self._kill_at = args.kill_at
        self._file = (args.folder / f"rank{rank}.txt").open("a", buffering=1)
        self._rank, self._world = rank, world

    def step(self, step, labels):
        """Before step `step` ends; steps count from 1."""
        print(step, self._world, *labels.tolist(), file=self._file)

    def after(self, step):
        if self._kill_at and step == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def save_parameters(args, model):
    torch.save({k: v.cpu() for k, v in model.state_dict().items()}, args.folder / "parameters.pt")
