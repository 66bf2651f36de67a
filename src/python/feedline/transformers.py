"""Hugging Face's Trainer with feedline's loaders.

    trainer = feedline.transformers.Trainer(model, args, train_dataset=train, eval_dataset=val)
    trainer.train(resume_from_checkpoint=True)

`train_dataset` and `eval_dataset` are feedline's; other datasets go to DataLoader as usual. The
fields of a batch are the arguments of the model's `forward`: `feedline.select` chooses and renames.
Training is shuffled by `data_seed` (else `seed`) of the arguments. A run that is resumed goes on
with the next batch at once: no batch is read to be skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

import transformers.trainer
from transformers import Trainer as _Trainer

from ._feedline import Dataset, Sampler, shuffle
from .accelerate import Loader, shard_of


class _FromBatch:
    """A loader whose next epoch begins later: what Accelerate's skip_first_batches returns."""

    def __init__(self, loader: Loader, batches: int) -> None:
        self._loader = loader
        self._batches = batches

    def set_epoch(self, epoch: int) -> None:
        self._loader.set_epoch(epoch, self._batches)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


_skip_of_accelerate = transformers.trainer.skip_first_batches


def _skip_first_batches(dataloader: Any, num_batches: int = 0) -> Any:
    if isinstance(dataloader, Loader):
        return _FromBatch(dataloader, num_batches)
    return _skip_of_accelerate(dataloader, num_batches)


# The Trainer has no hook for this, and looks the function up in its module.
transformers.trainer.skip_first_batches = _skip_first_batches


class Trainer(_Trainer):  # type: ignore[misc]
    """A Trainer that reads feedline's datasets.

    sampler: the order for training; None: shuffled.
    loader_options: options of `feedline.Loader`, such as transforms.
    """

    def __init__(
        self,
        *args: Any,
        sampler: Optional[Sampler] = None,
        loader_options: Optional[dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        self._sampler = sampler
        self._loader_options = loader_options or {}
        super().__init__(*args, **kwargs)

    def _loader(self, dataset: Dataset, sampler: Optional[Sampler], batch_size: int) -> Loader:
        options = {"shard": shard_of(self.accelerator), **self._loader_options}
        return Loader(self.accelerator, dataset, sampler, batch_size=batch_size, **options)

    def get_train_dataloader(self) -> Any:
        if not isinstance(self.train_dataset, Dataset):
            return super().get_train_dataloader()
        seed = self.args.seed if self.args.data_seed is None else self.args.data_seed
        order = self._sampler if self._sampler is not None else shuffle(seed=seed)
        loader = self._loader(self.train_dataset, order, self._train_batch_size)
        return loader

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        if isinstance(eval_dataset, str):
            eval_dataset = self.eval_dataset[eval_dataset]
        dataset = eval_dataset if eval_dataset is not None else self.eval_dataset
        if not isinstance(dataset, Dataset):
            return super().get_eval_dataloader(eval_dataset)
        return self._loader(dataset, None, self.args.eval_batch_size)

    def get_test_dataloader(self, test_dataset: Any) -> Any:
        if not isinstance(test_dataset, Dataset):
            return super().get_test_dataloader(test_dataset)
        return self._loader(test_dataset, None, self.args.eval_batch_size)
