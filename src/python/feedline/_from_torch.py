"""`from_torch` and `from_dataloader`: PyTorch's datasets and DataLoaders as feedline's."""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any, Optional

from ._errors import UsageError
from ._feedline import Dataset, Sampler, Shard, make_memory_dataset, sequential, shuffle
from ._loader import Loader
from ._stream import of_streams, stream_dataset


def _torch_data() -> Any:
    """torch.utils.data if the program uses it: else no object can be of its classes."""
    return sys.modules.get("torch.utils.data")


class _InWorkers:
    """A dataset whose workers are like a DataLoader's: they have its `get_worker_info()`, and begin
    with its worker_init_fn."""

    def __init__(self, dataset: Any, workers: int, begin: Any) -> None:
        self.dataset, self.workers, self.begin = dataset, workers, begin
        if hasattr(dataset, "__getitems__"):
            self.__getitems__ = dataset.__getitems__

    def begin_worker(self) -> None:
        """Called by `feedline._worker`, in the new process."""
        import torch
        from torch.utils.data._utils import worker

        number = int(multiprocessing.current_process().name.rpartition(" ")[2])
        worker._worker_info = worker.WorkerInfo(
            id=number, num_workers=self.workers, seed=torch.initial_seed(), dataset=self.dataset
        )
        if self.begin is not None:
            self.begin(number)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[index]


def from_torch(
    dataset: Any, *, names: Optional[list[str]] = None, workers: int = 0, **options: Any
) -> Dataset:
    """A dataset of what a map-style dataset of PyTorch returns: anything with `__getitem__` and
    `__len__`, also a Subset or a ConcatDataset. An IterableDataset is given to `stream_dataset`,
    with its options (`length`, `shuffle_buffer`, `streams` and others).

    Samples become fields as in `sequence_dataset`, and `options` are that function's:
    `start_method`, `timeout`, `seeded`, `pad`, `concurrency`, `size`. `workers` processes make the
    samples; 0: the loader's threads do. The fields of a tuple are named '0', '1', …, or by `names`.
    A TensorDataset's tensors are used in place, with no Python code for each sample, so the other
    options have no effect; they must be on the CPU and must not change. Raises TypeError for what
    is no such dataset. Blocks while it makes sample 0 and starts workers."""
    import feedline

    data = _torch_data()
    if data is not None and isinstance(dataset, data.DataLoader):
        raise TypeError("from_torch: this is a DataLoader: say feedline.from_dataloader(loader)")
    if data is not None and isinstance(dataset, data.IterableDataset):
        return stream_dataset(dataset, names=names, workers=workers, **options)
    if not hasattr(dataset, "__getitem__"):
        raise TypeError(
            f"from_torch: dataset is a {type(dataset).__name__}, which has no __getitem__: it must "
            "be a map-style dataset"
        )
    if data is None or type(dataset) is not data.TensorDataset:
        return feedline.sequence_dataset(dataset, names=names, workers=workers, **options)
    tensors = dataset.tensors
    names = [str(i) for i in range(len(tensors))] if names is None else names
    if len(names) != len(tensors):
        raise UsageError(f"a sample has {len(tensors)} values for {len(names)} names")
    return make_memory_dataset(dict(zip(names, tensors)))


def from_dataloader(
    dataloader: Any,
    device: Any = None,
    *,
    workers: Optional[int] = None,
    start_method: Optional[str] = None,
    names: Optional[list[str]] = None,
    pad: Optional[dict[str, int]] = None,
    seeded: Optional[bool] = None,
    seed: Optional[int] = None,
    length: Optional[int] = None,
    **options: Any,
) -> Loader:
    """A `Loader` that does what a DataLoader of PyTorch says, for the same loop.

    Batches are tuples of PyTorch's tensors if samples are tuples and `names` is not given, else
    dicts of them by the fields' names. Taken from the DataLoader: dataset, batch_size, drop_last,
    num_workers (as `workers`), worker_init_fn, timeout (for a sample), multiprocessing_context (as
    `start_method`; none: 'spawn'), a generator (its initial seed is `seed`; none: 0), and the
    order: none, shuffle, a sampler or batch_sampler as for `from_sampler`; a DistributedSampler
    gives the shard.
    pin_memory, prefetch_factor, persistent_workers and in_order have no effect: memory that a GPU
    copies from is pinned, samples are read ahead, workers stay, batches come in order.

    workers, start_method: instead of the DataLoader's. names, pad, seeded: as for `from_torch`.
    seed, device, options: as for `Loader`, and before what the DataLoader says.
    length: samples of an epoch, if the dataset is an IterableDataset: it is read as by
        `stream_dataset`, with a stream for each worker, whose batches come in turn; None: its
        `len()`. A DataLoader without workers has one stream.

    Workers have PyTorch's `get_worker_info()`. This process makes sample 0, to tell the fields.

    Raises TypeError, which names the argument of the DataLoader, for what it cannot do: a
    collate_fn, batch_size=None, an IterableDataset that is not seeded."""
    data = _torch_data()
    if data is None or not isinstance(dataloader, data.DataLoader):
        kind = type(dataloader).__name__
        raise TypeError(f"from_dataloader: {kind!r} is not a torch.utils.data.DataLoader")
    _refuse(dataloader, data)
    workers = dataloader.num_workers if workers is None else workers
    making: dict[str, Any] = {"pad": pad, "seeded": seeded}
    if workers != 0:
        context = dataloader.multiprocessing_context
        said_method = context.get_start_method() if context else "spawn"
        making["start_method"] = start_method or said_method
        making["timeout"] = dataloader.timeout or None
    order, batch_size, drop_last = _batches(dataloader, options, data)
    made_of = dataloader.dataset
    is_stream = isinstance(made_of, data.IterableDataset)
    if is_stream:
        if seeded is False:
            raise TypeError(
                f"from_dataloader: {type(made_of).__name__} is an IterableDataset, which is seeded "
                "for each sample, so that it can be resumed: leave out seeded"
            )
        del making["seeded"]
        dataset = of_streams(
            made_of, length, batch_size, dataloader.worker_init_fn if workers else None,
            names=names, workers=workers,
            streams=max(workers, dataloader.num_workers) if workers else 1, **making,
        )  # fmt: skip
    else:
        if length is not None:
            raise TypeError("from_dataloader: length is for an IterableDataset")
        if workers != 0 and type(made_of) is not data.TensorDataset:
            made_of = _InWorkers(made_of, workers, dataloader.worker_init_fn)
        dataset = from_torch(made_of, names=names, workers=workers, **making)
    if seed is None:
        generator = dataloader.generator or getattr(order, "generator", None)
        seed = 0 if generator is None else generator.initial_seed() % 2**64
    said: dict[str, Any] = {"batch_size": batch_size, "as_torch": True}
    if "sampler" not in options and not is_stream:
        said |= _ordered(order, seed, data)
    if drop_last:
        said["partial_batch"] = "drop"
    numbered = [field.name for field in dataset.fields]
    if numbered == [str(i) for i in range(len(numbered))]:
        said["as_tuple"] = numbered
    return Loader(dataset, device=device, seed=seed, **said | options)


def _refuse(dataloader: Any, data: Any) -> None:
    """What a DataLoader says and a Loader cannot do."""
    if dataloader.collate_fn not in (data.default_collate, data.default_convert):
        raise TypeError(
            "from_dataloader: the DataLoader has a collate_fn of its own, but batches are made of "
            "fields in place: let __getitem__ return what the function makes of one sample, with "
            "pad={'name': length} for lengths that differ, and do the rest with the batch"
        )
    if dataloader.batch_sampler is None:
        raise TypeError(
            "from_dataloader: the DataLoader has batch_size=None: a loader makes the batches, so "
            "give the DataLoader batch_size=N, and a dataset of single samples"
        )


def _batches(dataloader: Any, options: dict[str, Any], data: Any) -> tuple[Any, Any, bool]:
    """Sampler, batch_size and drop_last of a DataLoader, which may have a sampler of batches."""
    if dataloader.batch_size is not None:
        return dataloader.sampler, dataloader.batch_size, dataloader.drop_last
    batches = dataloader.batch_sampler
    if type(batches) is data.BatchSampler:
        return batches.sampler, batches.batch_size, batches.drop_last
    size = options.get("batch_size", getattr(batches, "batch_size", None))
    if size is None:
        raise TypeError(
            f"from_dataloader: the batch_sampler, a {type(batches).__name__}, has no batch_size: "
            "say batch_size=N, the size of its batches"
        )
    return batches, size, False


def _ordered(order: Any, seed: int, data: Any) -> dict[str, Any]:
    """Options of a Loader for a sampler of PyTorch's. If feedline has a sampler for its order, that
    one is used, because it is resumed at once."""

    def drawn(shuffled: bool, number: int) -> Sampler:
        return shuffle(seed=number) if shuffled else sequential()

    kind = type(order)
    if kind is data.SequentialSampler:
        return {"sampler": sequential()}
    if kind is data.RandomSampler and not order.replacement:
        if order.num_samples == len(order.data_source):
            return {"sampler": shuffle(seed=seed)}
    if kind is data.distributed.DistributedSampler:
        if order.drop_last:
            raise TypeError(
                "from_dataloader: DistributedSampler(drop_last=True) leaves out samples so that "
                "ranks have equally many: say drop_last=True to the DataLoader alone"
            )
        return {
            "sampler": drawn(order.shuffle, order.seed),
            "shard": Shard(rank=order.rank, world=order.num_replicas),
        }
    return {"sampler": order}
