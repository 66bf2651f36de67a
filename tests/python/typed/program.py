"""A program that type checkers must accept in their strict modes; it also runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import feedline


def columns(batch: Mapping[str, feedline.Tensor]) -> dict[str, npt.NDArray[Any]]:
    return {name: tensor.numpy() for name, tensor in batch.items()}


def make() -> feedline.Loader:
    arrays: dict[str, Any] = {"x": np.zeros((10, 3), np.float32), "y": np.arange(10)}
    dataset: feedline.Dataset = feedline.make_memory_dataset(arrays)
    train, _ = feedline.random_split(dataset, [0.5, 0.5], seed=1)
    return feedline.Loader(
        train,
        feedline.shuffle(seed=3),
        batch_size=2,
        partial_batch="drop",
        shard=feedline.Shard(rank=0, world=1),
        transforms=[
            feedline.FieldTransform("x", to="float16", crop=None, mean=[0.5], layout=None)
        ],
        errors=feedline.ErrorPolicy(action="skip", max_share=0.5),
        expert=feedline.ExpertOptions(staging_slots=8),
    )


def main() -> int:
    samples = 0
    with make() as loader:
        state: dict[str, Any] = loader.state_dict()
        loader.load_state_dict(state)
        for batch in loader:
            found = columns(batch)
            same = np.from_dlpack(batch["y"])
            samples += batch.size + len(found["y"]) - len(same)
            print(batch.samples().tolist(), batch["y"].shape[0], batch.epoch)
        epoch = loader.epoch(1)
        print(len(epoch), epoch.number, loader.statistics().judge().limit, loader.plan().placement)
        first = epoch.next(timeout=1.5)
        if first is not None:
            print(first["x"].dtype, {**first}.keys(), first.to("cpu") if samples < 0 else "")
    return samples


if __name__ == "__main__":
    print(main())
