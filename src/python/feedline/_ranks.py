"""The shard of this process, where the program does not say it."""

import logging
import os
import sys
import warnings
from typing import Optional

from ._feedline import Shard

_log = logging.getLogger("feedline")


def _of_torch() -> Optional[Shard]:
    """The rank in torch.distributed's default group, if the program has made it."""
    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return None
    return Shard(rank=dist.get_rank(), world=dist.get_world_size())


def current() -> "tuple[Shard, str]":
    """The shard of this process and where it comes from: torch.distributed, else RANK and
    WORLD_SIZE, which torchrun, Accelerate and others set. Rank 0 of 1 without them."""
    shard = _of_torch()
    if shard is not None:
        return shard, "torch.distributed"
    if os.environ.get("RANK") and os.environ.get("WORLD_SIZE"):
        return Shard.from_environment(), "RANK and WORLD_SIZE"
    return Shard(), ""


def tell(shard: Shard, source: str, batch_size: int, stacklevel: int) -> None:
    """Says once a loader that it takes a share, or that it does not: neither may go unnoticed."""
    if shard.world > 1:
        words = (
            f"feedline.Loader: rank {shard.rank} of {shard.world} ({source}) takes {batch_size} "
            f"samples of each global batch of {batch_size * shard.world}. Say shard="
            f"feedline.Shard(rank=…, world=…) if ranks need other shares (tensor or pipeline "
            f"parallelism), shard=feedline.Shard() if each takes all samples; any shard= that is "
            f"said turns this warning off"
        )
        if shard.rank == 0:
            warnings.warn(words, UserWarning, stacklevel=stacklevel + 1)
        else:
            _log.info(words)
        return
    for name, world in (("Open MPI", "OMPI_COMM_WORLD_SIZE"), ("Slurm", "SLURM_NTASKS")):
        if os.environ.get(world, "1") not in ("", "1"):
            warnings.warn(
                f"feedline.Loader: {name} started {os.environ[world]} processes, and this loader "
                f"takes all samples in each of them: say shard=feedline.Shard.from_environment() "
                f"for a share, or shard=feedline.Shard() for all samples",
                UserWarning,
                stacklevel=stacklevel + 1,
            )
            return
