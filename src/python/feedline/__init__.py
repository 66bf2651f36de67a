"""Keeps a GPU fed: loads minibatches from datasets to the device while it computes.

    import feedline

    train = feedline.open("train.h5")
    loader = feedline.Loader(train, feedline.shuffle(seed=42), batch_size=256, epochs=10)
    for epoch in range(10):
        for batch in loader.epoch(epoch):
            step(batch["image"].torch(), batch["label"].torch())

Names, options and defaults are those of the C++ library; docs/guide/python.md explains them.
"""

from collections.abc import Mapping as _Mapping

from ._errors import (
    CudaError,
    DatasetError,
    DeadlineError,
    DeviceError,
    Error,
    Hdf5Error,
    OutOfMemory,
    StageError,
    ThreadError,
    UsageError,
)
from ._feedline import *  # noqa: F403
from ._feedline import Batch as _Batch
from ._feedline import __version__

_Mapping.register(_Batch)
