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
from typing import Any as _Any

from . import _arguments, _feedline, _shown
from ._build import BUILD as _BUILD
from ._errors import CudaError as CudaError
from ._errors import DatasetError as DatasetError
from ._errors import DeadlineError as DeadlineError
from ._errors import DeviceError as DeviceError
from ._errors import Error as Error
from ._errors import Hdf5Error as Hdf5Error
from ._errors import OutOfMemory as OutOfMemory
from ._errors import StageError as StageError
from ._errors import ThreadError as ThreadError
from ._errors import UsageError as UsageError
from ._feedline import *  # noqa: F403
from ._from_torch import from_dataloader as from_dataloader
from ._from_torch import from_torch as from_torch
from ._loader import Loader as Loader
from ._map import map as map
from ._of_torch import ConvertedEpoch as ConvertedEpoch
from ._of_torch import LoaderSampler as LoaderSampler
from ._orders import from_sampler as from_sampler
from ._ragged import RaggedSamples as RaggedSamples
from ._ragged import ragged_sequence_dataset as ragged_sequence_dataset
from ._stream import of_streams as _of_streams  # noqa: F401: when a dataset is unpickled
from ._stream import stream_dataset as stream_dataset


__version__: str = _feedline.__version__  # type: ignore[attr-defined]


def build_info() -> "dict[str, _Any]":
    """How this feedline was built: version, compiler, and which of CUDA, HDF5, JPEG and PNG it has.
    Say it when you report a problem."""
    return dict(_BUILD)


_Mapping.register(_feedline.Batch)
_arguments.dress(_feedline, globals())
_shown.dress(_feedline)
