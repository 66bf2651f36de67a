"""Loaders for Hugging Face's Accelerate.

    loader = feedline.accelerate.Loader(accelerator, train, sampler, global_batch=256)
    accelerator.register_for_checkpointing(loader)  # save_state and load_state include it

A loop over it gives dicts of PyTorch's tensors on the accelerator's device. `accelerator.prepare`
leaves it as it is. `accumulate` and `gather_for_metrics` know the end of its epochs, so that the
last gradients are used and repeated samples are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from accelerate import Accelerator
from accelerate.data_loader import DataLoaderStateMixin
from accelerate.state import GradientState

from ._errors import UsageError
from ._feedline import Dataset, Sampler, Shard
from ._loader import Loader as _Loader


def shard_of(accelerator: Accelerator) -> Shard:
    """The shard of a process. Raises UsageError where processes form groups that need the same
    batches (tensor, context or pipeline parallelism): those say shard= themselves."""
    config = getattr(accelerator, "parallelism_config", None)
    if config is not None and getattr(config, "non_data_parallel_size", 1) > 1:
        raise UsageError(
            "feedline.accelerate: not every process needs batches of its own here: say "
            "shard=feedline.Shard(rank=…, world=…) of data parallelism"
        )
    return Shard(rank=accelerator.process_index, world=accelerator.num_processes)


class Loader(_Loader, DataLoaderStateMixin):  # type: ignore[misc]
    """A `feedline.Loader` for an accelerator's processes and device.

    global_batch: samples in the batches of all processes together, which must divide it. A run that
        goes on with another number of processes keeps it. Or say batch_size, of one process.
    options: those of `feedline.Loader`; as_torch is True.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        dataset: Dataset,
        sampler: Optional[Sampler] = None,
        *,
        global_batch: Optional[int] = None,
        **options: Any,
    ) -> None:
        if (global_batch is None) == ("batch_size" not in options):
            raise UsageError("feedline.accelerate.Loader: say global_batch or batch_size, not both")
        if options.get("shard") is None:
            options["shard"] = shard_of(accelerator)
        if global_batch is not None:
            options["batch_size"] = options["shard"].batch_share(global_batch)
        options.setdefault("device", accelerator.device)
        super().__init__(dataset, sampler, **{"as_torch": True, **options})
        self.gradient_state = GradientState()
        self._drop_last = self.drop_last
        #: Samples in the batches of all processes together.
        self.total_batch_size = self.batch_size * self.shard.world
        # What the last batches of all processes have without repeats; 0: they are full.
        self._last_samples = 0
        if not self._drop_last:
            self._last_samples = len(self.sampler) % self.total_batch_size

    def __iter__(self) -> Iterator[Any]:
        """Tells Accelerate's gradient state where an epoch begins, has its last batch, and ends."""
        epoch = self.epoch(self.next_epoch)
        self.begin()
        self.remainder = self._last_samples
        try:
            for taken, batch in enumerate(epoch, 1):
                self.end_of_dataloader = taken == len(epoch)
                yield batch
        finally:
            self.end()
