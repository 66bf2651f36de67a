"""What loops written for PyTorch's DataLoader say and expect, in terms of feedline."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional

from ._errors import UsageError
from ._feedline import Batch, Device, Epoch, Sampler, Shard, make_cuda_device
from ._feedline import make_host_device
from ._orders import from_sampler

if TYPE_CHECKING:
    from ._loader import Loader

#: Keywords of DataLoader that mean something else here, with what to use instead.
OF_DATALOADER = {
    "num_workers": "readers are threads: say readers=N, or leave it out; Python code runs in "
    "processes by sequence_dataset(…, workers=N); from_dataloader takes a DataLoader as it is",
    "pin_memory": "leave it out: memory that a GPU copies from is always pinned",
    "pin_memory_device": "leave it out, and say device='cuda:0' for batches on that GPU",
    "collate_fn": "batches are made of fields; say transforms=[…], as_torch=True or "
    "as_tuple=('image', 'label')",
    "batch_sampler": "say it as sampler=, which may give lists of equal size, and that size as "
    "batch_size=",
    "prefetch_factor": "say expert=feedline.ExpertOptions(staging_slots=N)",
    "persistent_workers": "leave it out: readers live as long as the loader",
    "worker_init_fn": "leave it out: what is random is drawn from seed=",
    "generator": "say seed= for transforms, and sampler=feedline.shuffle(seed=N) for the order",
    "multiprocessing_context": "leave it out: readers are threads",
    "timeout": "say loader.epoch(e).next(timeout=seconds)",
    "in_order": "leave it out: batches always come in order",
}


def device_of(spelled: Any) -> Optional[Device]:
    """A device, or PyTorch's name of one: 'cpu', 'cuda', 'cuda:1', torch.device(…)."""
    if spelled is None or isinstance(spelled, Device):
        return spelled
    found = re.fullmatch(r"(cpu|cuda)(?::(\d+))?", str(spelled))
    if not found:
        raise TypeError(
            f"Loader: device is {spelled!r}: say 'cpu', 'cuda', 'cuda:1', a torch.device, or "
            f"feedline.make_cuda_device(0)"
        )
    if found[1] == "cpu":
        return make_host_device()
    if found[2] is not None:
        return make_cuda_device(int(found[2]))
    torch = sys.modules.get("torch")
    return make_cuda_device(torch.cuda.current_device() if torch is not None else 0)


def ordered(sampler: Any) -> Optional[Sampler]:
    """A sampler as feedline's; None stays None."""
    return sampler if sampler is None or isinstance(sampler, Sampler) else from_sampler(sampler)


def refuse_shared_twice(sampler: Any, shard: Shard) -> None:
    """Refuses to share a rank's share of an order again, such as DistributedSampler's."""
    if shard.world == 1 or getattr(sampler, "num_replicas", 1) == 1:
        return
    raise UsageError(
        f"Loader: sampler is a {type(sampler).__name__} of {sampler.num_replicas} replicas, one "
        f"rank's share already, and would be shared among {shard.world} ranks again: give "
        "sampler=feedline.shuffle(seed=N), or the sampler of all samples; or say "
        "shard=feedline.Shard(), and ranks have different states"
    )


class LoaderSampler:
    """The order of a loader's samples, with the interface of PyTorch's DistributedSampler."""

    def __init__(self, loader: Loader, order: Sampler) -> None:
        self._loader = loader
        #: The sampler as the dataset bound it.
        self.order = order

    def set_epoch(self, epoch: int) -> None:
        """As `Loader.set_epoch`."""
        self._loader.set_epoch(epoch)

    def __len__(self) -> int:
        return self.order.size(len(self._loader.dataset))

    def __iter__(self) -> Iterator[int]:
        """Samples of all ranks, in the order of the next epoch."""
        samples = self.order.indices(len(self._loader.dataset), self._loader.next_epoch)
        return iter(samples.tolist())

    def __repr__(self) -> str:
        return f"<feedline.LoaderSampler {self.order!r}>"


class ConvertedEpoch:
    """An `Epoch` whose batches are dicts of PyTorch's tensors, or tuples."""

    def __init__(self, epoch: Epoch, as_torch: bool, as_tuple: Optional[tuple[str, ...]]) -> None:
        self._epoch = epoch
        self._as_torch = as_torch
        self._as_tuple = as_tuple

    def _converted(self, batch: Batch) -> Any:
        if self._as_tuple is None:
            return batch.torch()
        if self._as_torch:
            return tuple(batch[name].torch() for name in self._as_tuple)
        return tuple(batch[name] for name in self._as_tuple)

    def __iter__(self) -> ConvertedEpoch:
        return self

    def __next__(self) -> Any:
        return self._converted(next(self._epoch))

    def next(self, timeout: Optional[float] = None) -> Any:
        """As `Epoch.next`."""
        batch = self._epoch.next(timeout)
        return None if batch is None else self._converted(batch)

    @property
    def number(self) -> int:
        """Number of the epoch."""
        return self._epoch.number

    def __len__(self) -> int:
        return len(self._epoch)

    def __repr__(self) -> str:
        return f"<feedline.ConvertedEpoch {self.number}: {len(self)} batches>"
