"""A data module for Lightning.

    data = feedline.lightning.DataModule(train=train, val=val, sampler=feedline.shuffle(seed=1),
                                         global_batch=256, epochs=90)
    trainer.fit(model, data, ckpt_path=...)

Batches are dicts of PyTorch's tensors on the strategy's device. Checkpoints have the loader's
position: `fit` with `ckpt_path` goes on with the next batch, also in the middle of an epoch, and
with another number of ranks.
"""

from __future__ import annotations

from typing import Any, Optional

try:
    from lightning.pytorch import LightningDataModule
except ImportError:  # the package's other name
    from pytorch_lightning import LightningDataModule  # type: ignore[assignment, no-redef]

from ._errors import UsageError
from ._feedline import Dataset, Sampler, Shard
from ._loader import Loader


def shard_of(trainer: Any) -> Shard:
    """The shard of data parallelism, which a strategy knows."""
    given = getattr(trainer.strategy, "distributed_sampler_kwargs", None)
    if not given:
        if trainer.world_size > 1:
            raise UsageError(
                f"feedline.lightning: the strategy {type(trainer.strategy).__name__} does not say "
                f"which ranks share an epoch: say shard=feedline.Shard(rank=…, world=…)"
            )
        return Shard()
    return Shard(rank=given["rank"], world=given["num_replicas"])


class DataModule(LightningDataModule):  # type: ignore[misc]
    """Loaders of a run's datasets, for the ranks and the device of its trainer.

    train, val, test, predict: datasets; None: there is none.
    sampler: the order for training; None: the dataset's. The others are read in their order.
    global_batch: samples in the batches of all ranks together, which must divide it.
    options: those of `feedline.Loader`, for all loaders; as_torch is True. epochs is for training.
    """

    def __init__(
        self,
        *,
        train: Optional[Dataset] = None,
        val: Optional[Dataset] = None,
        test: Optional[Dataset] = None,
        predict: Optional[Dataset] = None,
        sampler: Optional[Sampler] = None,
        global_batch: int = 1,
        **options: Any,
    ) -> None:
        super().__init__()
        self._sampler = sampler
        self._global_batch = global_batch
        self._options = options
        self._datasets = {"train": train, "val": val, "test": test, "predict": predict}
        for stage, dataset in self._datasets.items():
            if dataset is None:  # Lightning asks for loaders whose functions are overridden
                setattr(self, f"{stage}_dataloader", getattr(super(), f"{stage}_dataloader"))

    def loader(self, dataset: Any, sampler: Optional[Sampler], **options: Any) -> Loader:
        """A loader of a dataset, for the trainer's ranks and device."""
        options = {"as_torch": True, **self._options, **options}
        if options.get("shard") is None:
            options["shard"] = shard_of(self.trainer)
        options["batch_size"] = options["shard"].batch_share(self._global_batch)
        options.setdefault("device", self.trainer.strategy.root_device)
        return Loader(dataset, sampler, **options)

    def _evaluated(self, stage: str) -> Loader:
        whole = {"epochs": 0, "drop_last": False, "partial_batch": "keep", "shuffle": None}
        return self.loader(self._datasets[stage], None, **whole)

    def train_dataloader(self) -> Any:
        return self.loader(self._datasets["train"], self._sampler)

    def val_dataloader(self) -> Any:
        return self._evaluated("val")

    def test_dataloader(self) -> Any:
        return self._evaluated("test")

    def predict_dataloader(self) -> Any:
        return self._evaluated("predict")
