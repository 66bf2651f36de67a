"""`map`: a Python function of another dataset's samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._errors import UsageError
from ._feedline import Dataset


class _Mapped:
    """A sequence of what a function makes of a dataset's samples."""

    def __init__(self, dataset: Dataset, function: Callable[[dict[str, Any]], Any]) -> None:
        self.dataset, self.function = dataset, function

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        return self.function(self.dataset[index])


def map(dataset: Dataset, function: Callable[[dict[str, Any]], Any], **options: Any) -> Dataset:
    """A dataset of what a Python function makes of another dataset's samples.

    `function` gets a sample, a dict of NumPy arrays and scalars by the fields' names, and returns
    one as for `sequence_dataset`. `options` are that function's: `names`, `workers`, `seeded`,
    `pad` and others. With workers the dataset is sent to them, so it must be one that can be
    pickled, or `start_method` be 'fork'. Samples that the dataset draws again in each epoch are
    refused: the function would get those of no epoch."""
    import feedline

    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"map: dataset is {type(dataset).__name__!r}, and must be a feedline.Dataset: "
            "sequence_dataset takes other sequences"
        )
    if dataset.varies_by_epoch:
        raise UsageError(
            "map: the dataset's samples differ from epoch to epoch, and the function would get "
            "those of no epoch: let one function do both, and give it to sequence_dataset"
        )
    return feedline.sequence_dataset(_Mapped(dataset, function), **options)
