"""A data loader for torchtitan, and for other loops that save by torch.distributed.checkpoint.

    loader = feedline.torchtitan.DataLoader(tokens, dp_rank=rank, dp_world_size=world,
                                            local_batch_size=8, sampler=feedline.shuffle(seed=1))
    for inputs, labels in loader: ...

torchtitan builds its loader from a config: `build` of a subclass of `BaseDataLoader.Config` returns
this one. Unlike torchtitan's own it goes on with another degree of data parallelism, as long as
the global batch has the same size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from torch.distributed.checkpoint.stateful import Stateful

from ._feedline import Dataset, Sampler, Shard
from ._loader import Loader

try:
    from torchtitan.components.dataloader import BaseDataLoader as _Base
except ImportError:  # torch's protocol is all that a loop of one's own needs
    _Base = Stateful


class DataLoader(_Base):  # type: ignore[misc]
    """Batches without end: one epoch after the other, as (dict of inputs, labels).

    dp_rank, dp_world_size: the rank and the degree of data parallelism. Ranks that differ only in
        tensor, context or pipeline parallelism get the same batches.
    local_batch_size: samples in a batch of one data-parallel rank.
    inputs: fields of the dataset for the dict of inputs; labels: the field of the labels. They fit
        `open_tokens`.
    options: those of `feedline.Loader`, such as device.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        dp_rank: int,
        dp_world_size: int,
        local_batch_size: int,
        sampler: Optional[Sampler] = None,
        inputs: Sequence[str] = ("input",),
        labels: str = "target",
        **options: Any,
    ) -> None:
        self._inputs = tuple(inputs)
        #: The loader, for its plan and statistics.
        self.loader = Loader(
            dataset,
            sampler,
            batch_size=local_batch_size,
            shard=Shard(rank=dp_rank, world=dp_world_size),
            as_torch=True,
            as_tuple=(*self._inputs, labels),
            **options,
        )

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Any]]:
        while True:
            for batch in self.loader:
                *values, labels = batch
                yield dict(zip(self._inputs, values)), labels

    def state_dict(self) -> dict[str, Any]:
        """The position, equal on all ranks: one text, so that checkpoints keep it as one value."""
        return {"feedline": json.dumps(self.loader.state_dict())}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on there; an empty dict is valid and changes nothing, as in torchtitan."""
        if state_dict:
            self.loader.load_state_dict(json.loads(state_dict["feedline"]))
