"""Exceptions of feedline. Each class is the C++ class of that name, with its members."""

from typing import Optional


class Error(Exception):
    """Root of everything feedline raises; its text says what failed, where, and what to do."""


class UsageError(Error, ValueError):
    """The caller asked for something impossible."""


class ThreadError(Error):
    """A thread cannot be started."""


class DatasetError(Error):
    """A dataset cannot be opened, or a sample cannot be read.

    A callable that feeds a `sequence_dataset` may raise it, if the sample is at fault:
    then `ErrorPolicy` applies to it.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        field: str = "",
        sample: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        #: Without the place, which the exception's text has too.
        self.message = message
        #: File; empty for memory, or where it is unknown.
        self.path = path
        #: Name of the field; empty where it is unknown.
        self.field = field
        #: Index in the dataset.
        self.sample = sample
        #: Byte in the file.
        self.offset = offset


class Hdf5Error(DatasetError):
    """The HDF5 library refused."""


class DeviceError(Error):
    """A device refused a call."""


class CudaError(DeviceError):
    """The CUDA runtime refused a call."""

    #: The `cudaError_t`.
    code: int = 0


class OutOfMemory(DeviceError, MemoryError):
    """An allocation did not fit. Nothing was allocated."""

    #: Asked for.
    bytes: int = 0
    #: "staging" or "device".
    kind: str = ""


class StageError(Error):
    """An epoch cannot continue. `__cause__` is the stage's exception.

    All batches before `batch` were delivered. Every later step of the loader raises it again.
    """

    #: "reader", "staging", "transfer" or "batch".
    stage: str = ""
    epoch: int = 0
    #: The first batch that cannot be delivered.
    batch: int = 0
    #: Number of the slot within the epoch.
    ticket: int = 0
    #: Index in the dataset, where the cause knows it.
    sample: Optional[int] = None
    #: File, where the cause knows it.
    path: str = ""


class DeadlineError(Error, TimeoutError):
    """A batch was not there in time. Nothing is lost: `Epoch.next` can be called again."""

    epoch: int = 0
    batch: int = 0
    #: Seconds.
    waited: float = 0.0
    #: One that is being read, the longest; None: no read is under way.
    sample: Optional[int] = None
