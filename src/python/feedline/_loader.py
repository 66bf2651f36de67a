"""`Loader`: the compiled one, with what loops written for PyTorch's DataLoader expect of it.

Over 250 lines: a class that explains 21 options and has a short method for each of the compiled
loader's functions.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, Optional, Union

from . import _ranks
from ._arguments import follow_log_level, unknown_option
from ._errors import UsageError
from ._feedline import Batch, Dataset, DownloadPlan, Epoch, ErrorPolicy, ExpertOptions
from ._feedline import FailureReport
from ._feedline import FieldTransform, MemoryLimits, Mixing, Plan, Sampler, Shard, State
from ._feedline import Statistics, Trace, automatic_readers, sequential
from ._feedline import _Loader as _Compiled
from ._feedline import shuffle as _shuffled
from ._of_torch import OF_DATALOADER, ConvertedEpoch, LoaderSampler, device_of, ordered
from ._of_torch import refuse_shared_twice

class Loader:
    """Feeds a loop: reads batches of a dataset ahead, in a sampler's order, into memory that its
    device can use. The options are those of the C++ library's loader_options.

    dataset: what `open`, `make_memory_dataset` and the other functions of this module return.
    sampler: the order, of all ranks together; what is no `Sampler` is given to `from_sampler`: a
        sequence of indices, or a sampler of PyTorch's. None: the dataset's order, or a random one
        with `shuffle`.
    device: where batches are used: 'cpu', 'cuda', 'cuda:1', a torch.device or a `Device`. 'cuda'
        is PyTorch's current GPU, or GPU 0 without PyTorch. None: the CPU.
    batch_size: samples in a batch, at least 1; with a shard, in the batch of one rank.
    partial_batch: a last batch that is not full is kept, dropped, an error, or filled with the
        epoch's first samples.
    shard: the part of each global batch that this process takes. None: the one that
        torch.distributed says, or RANK and WORLD_SIZE (torchrun, Accelerate); a UserWarning of rank
        0 tells it. It is looked up again when an epoch begins, because frameworks may join
        processes later. Shard(): all samples in each process.
    epochs: epochs 0 to n − 1 will be taken in order, each is read ahead while the one before ends;
        0: unknown.
    readers: threads that read, 0 to 1024. `automatic_readers`: chosen and tuned. 0: the thread that
        asks for a batch does all the work.
    placement: where the device takes rows from.
    decode_on: whether readers ('cpu') or the device decode compressed blocks.
    transforms: what the device does with fields, one FieldTransform a field at most.
    mixing: mixup and cutmix of the samples of a batch; None: none.
    keep_on_host: fields whose rows are not copied to the device: a batch's tensor of one is on the
        host. A dict says for each field "host" or "both"; `Batch.on_host` is an array of either.
    seed: of all random choices for a sample, and of the order with `shuffle`; 0 is one like others.
    errors: how samples that cannot be read are handled; None: the first one ends the epoch.
    memory: limits of what the loader may allocate; None: no limits.
    expert: options that few programs need; None: chosen.
    as_torch: batches are dicts of PyTorch's tensors, made by DLPack with no copy.
    as_tuple: batches are tuples of these fields, for loops that unpack them.
    shuffle: as DataLoader's: True is sampler=feedline.shuffle(seed=seed).
    drop_last: as DataLoader's: True is partial_batch='drop'.

    Raises UsageError, which names the option, for what is impossible, TypeError for an option that
    there is not. Blocks while it allocates memory and starts threads.
    """

    def __init__(
        self,
        dataset: Dataset,
        sampler: Union[Sampler, Iterable[Any], None] = None,
        device: Any = None,
        *,
        batch_size: int = 1,
        partial_batch: Literal["keep", "drop", "error", "fill"] = "keep",
        shard: Optional[Shard] = None,
        epochs: int = 0,
        readers: int = automatic_readers,
        placement: Literal["automatic", "stream", "gather", "resident", "cached"] = "automatic",
        decode_on: Literal["cpu", "device", "automatic"] = "cpu",
        transforms: Sequence[FieldTransform] = (),
        mixing: Optional[Mixing] = None,
        keep_on_host: Union[Sequence[str], Mapping[str, Literal["host", "both"]]] = (),
        seed: int = 0,
        errors: Optional[ErrorPolicy] = None,
        memory: Optional[MemoryLimits] = None,
        expert: Optional[ExpertOptions] = None,
        as_torch: bool = False,
        as_tuple: Optional[Sequence[str]] = None,
        shuffle: Optional[bool] = None,
        drop_last: bool = False,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            if name in OF_DATALOADER:
                raise TypeError(f"Loader: {name} is an option of DataLoader; {OF_DATALOADER[name]}")
            raise TypeError(unknown_option("Loader", name, inspect.signature(Loader).parameters))
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Loader: dataset is a {type(dataset).__name__}: make a feedline.Dataset of it, "
                f"by feedline.make_memory_dataset (arrays), feedline.open (files) or "
                f"feedline.sequence_dataset (anything with __getitem__)"
            )
        self._stream = getattr(dataset, "_stream", None)  # of a stream_dataset
        if self._stream is not None and (shuffle or sampler is not None or readers > 1):
            raise UsageError(
                "Loader: the dataset is a stream, which has one order, and one reader takes it: "
                "leave out sampler, shuffle and readers; stream_dataset(…, shuffle_buffer=N) "
                "shuffles it"
            )
        if shuffle:
            if sampler is not None:
                raise TypeError("Loader: shuffle=True and a sampler exclude each other: omit one")
            sampler = _shuffled(seed=seed)
        if drop_last:
            if partial_batch not in ("keep", "drop"):
                raise TypeError(
                    f"Loader: drop_last=True and partial_batch={partial_batch!r} differ"
                )
            partial_batch = "drop"
        self._dataset = dataset
        self._given_order = sampler
        self._order = ordered(sampler) if self._stream is None else self._stream.order
        self._resumes: Optional[State] = None  # what load_state_dict said, until an epoch begins
        self._next = 0
        self._told = shard is not None  # the shard stays as it is
        found, source = (shard, "") if shard is not None else _ranks.current()
        options: dict[str, Any] = {
            "batch_size": batch_size,
            "partial_batch": partial_batch,
            "epochs": epochs,
            "readers": readers,
            "placement": placement,
            "decode_on": decode_on,
            "transforms": list(transforms),
            "mixing": mixing,
            "keep_on_host": _host_fields(keep_on_host),
            "seed": seed,
            "errors": errors,
            "memory": memory,
            "expert": expert,
        }
        self._options = {name: value for name, value in options.items() if value is not None}
        self._device = device_of(device)
        self._shard = found
        self._compiled = self._made()
        self._as_torch = as_torch
        self._as_tuple = self._checked(as_tuple)
        if shard is None:
            _ranks.tell(found, source, batch_size, stacklevel=2)

    def _made(self) -> _Compiled:
        follow_log_level()
        refuse_shared_twice(self._given_order, self._shard)
        return _Compiled(
            self._dataset, self._order, self._device, shard=self._shard, **self._options
        )

    def _checked(self, names: Optional[Sequence[str]]) -> Optional[tuple[str, ...]]:
        if names is None:
            return None
        names = (names,) if isinstance(names, str) else tuple(names)
        there = [field.name for field in self._compiled.plan().fields]
        for name in names:
            if name not in there:
                raise UsageError(
                    f"Loader: as_tuple has '{name}', and batches have {', '.join(there)}"
                )
        return names

    def _followed(self) -> _Compiled:
        """The compiled loader, made again if processes were joined after it was made."""
        if self._told:
            return self._compiled
        found, source = _ranks.current()
        known = (self._shard.rank, self._shard.world)
        if found.world == 1 or (found.rank, found.world) == known:
            return self._compiled
        self._compiled.close()
        self._shard = found
        self._compiled = self._made()
        if self._resumes is not None:
            self._compiled.seek(self._resumes)
        _ranks.tell(found, source, self.batch_size, stacklevel=3)
        return self._compiled

    def epoch(self, number: int, stream: Any = None) -> Epoch:
        """The batches of an epoch, to be used on `stream`: an int, or a stream of PyTorch's or
        CuPy's. None: PyTorch's current stream, or CUDA's default stream. With `as_torch` and
        `as_tuple` a `ConvertedEpoch`."""
        epoch = self._followed().epoch(number, stream)
        self._next = number + 1
        self._resumes = None
        if not self._as_torch and self._as_tuple is None:
            return epoch
        return ConvertedEpoch(epoch, self._as_torch, self._as_tuple)  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Batch]:
        """The next epoch: the one after the last that was begun, or what `set_epoch`, `seek` and
        `load_state_dict` said. It begins with its first batch, so that `set_epoch` may follow:
        frameworks make iterators early, and some that they never use."""
        return chain.from_iterable(self._epoch_once())

    def _epoch_once(self) -> Iterator[Epoch]:
        yield self.epoch(self._next)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return len(self._followed())

    def set_epoch(self, epoch: int, batch: int = 0) -> None:
        """The epoch of the next loop over the loader, and its first batch there.

        Keeps the position that `load_state_dict` or `seek` said, if it is in that epoch. Raises
        UsageError if it is in another one: then the framework and the loader resume differently.
        """
        if self._resumes is not None and batch == 0:
            if self._resumes.epoch == epoch:
                return
            raise UsageError(
                f"Loader.set_epoch: epoch {epoch} is asked for, and the state that was loaded goes "
                f"on in epoch {self._resumes.epoch}: load the framework's state of the same "
                f"moment, or none"
            )
        if batch > 0:
            if self._options.get("errors") is not None and self._options["errors"].action == "skip":
                raise UsageError(
                    "Loader.set_epoch: with action='skip' a batch's samples depend on those that "
                    "were left out before: resume by state_dict() and load_state_dict()"
                )
            there: dict[str, Any] = {"epoch": epoch, "batch": batch}
            if self._order is not None:
                digest = self._order._digest(len(self._dataset), epoch)
                there |= {} if digest is None else {"order": f"{digest:016x}"}
            self.load_state_dict(self.state_dict() | there)
        self._next = epoch

    @property
    def next_epoch(self) -> int:
        """The epoch of the next loop over the loader."""
        return self._next

    def state(self) -> State:
        """Where the run stands: after the last batch that was taken."""
        return self._followed().state()

    def seek(self, state: State) -> None:
        """Continues where a state was taken; the next epoch asked for must be `state.epoch`."""
        self._followed().seek(state)
        self._resumes = state
        self._next = state.epoch

    def state_dict(self) -> dict[str, Any]:
        """`state()` as a dict of plain values: the protocol of torchdata's StatefulDataLoader. It
        is the same on all ranks; of a `stream_dataset` it may have 'streams', of which each rank's
        serves all. After an epoch's last batch it says the next epoch."""
        state: dict[str, Any] = json.loads(self.state().to_json())
        if state["batch"] >= len(self) > 0:
            state |= {"epoch": state["epoch"] + 1, "batch": 0, "unreadable": 0, "skipped": 0}
        if self._stream is not None:
            saved = self._stream.saved(*self._place(state))
            state |= {"streams": saved} if saved else {}
        return state

    def _place(self, state: dict[str, Any]) -> tuple[int, int, int]:
        """Of a state in a stream: epoch, sample, and the loader's seed."""
        sample = state["batch"] * self.batch_size * self._shard.world
        return state["epoch"], sample, self._options["seed"]

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues where `state_dict` was called: the next loop over the loader begins there. The
        number of ranks may be another one, if the samples in the batches of all ranks together are
        as many. Raises UsageError if the loader's data, order or global batch differ."""
        position = dict(state_dict)
        saved = position.pop("streams", None)
        self.seek(State.from_json(json.dumps(position)))
        if self._stream is None or (saved is not None and self._stream.put(saved)):
            return
        if position["batch"] > 0:
            self._stream.tell(*self._place(position)[:2])

    @property
    def dataset(self) -> Dataset:
        """The dataset that it reads."""
        return self._dataset

    @property
    def batch_size(self) -> int:
        """Samples in a batch of this rank."""
        return int(self._options["batch_size"])

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is not full is dropped."""
        return bool(self._options["partial_batch"] == "drop")

    @property
    def batch_sampler(self) -> None:
        """None: batches are made of the sampler's order. Lightning asks."""

    @property
    def shard(self) -> Shard:
        """The part of each global batch that this process takes."""
        return self._shard

    @property
    def sampler(self) -> LoaderSampler:
        """The order of the samples; frameworks call its `set_epoch`."""
        order = self._order if self._order is not None else sequential()
        global_batch = self.batch_size * self._shard.world
        return LoaderSampler(self, order.bind(self._dataset, global_batch))

    def plan(self) -> Plan:
        """All choices of the loader."""
        return self._followed().plan()

    def plan_downloads(self) -> DownloadPlan:
        """Bytes of other machines that this epoch and later ones download, by the order of the
        samples and the cache as it is now, and with larger caches. Looks at each sample of three
        epochs, without reading any."""
        return self._followed().plan_downloads()

    def order_digest(self) -> int:
        """A digest of everything that must be equal on all ranks of a run."""
        return self._followed().order_digest()

    def failures(self) -> FailureReport:
        """Samples that could not be read."""
        return self._compiled.failures()

    def statistics(self) -> Statistics:
        """How the loader spent its time so far, and what limits the loop."""
        return self._compiled.statistics()

    def trace(self) -> Trace:
        """Activities of threads and streams, if ExpertOptions(trace_events=N) keeps them."""
        return self._compiled.trace()

    def stop(self) -> None:
        """Ends all reading ahead: every epoch ends at its next step."""
        self._compiled.stop()

    def close(self) -> None:
        """Ends the loader's threads. Batches stay valid; every later call raises UsageError."""
        self._told = True
        self._compiled.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a feedline.Loader has threads and memory of its process, and cannot be pickled: "
            "pickle its dataset and state_dict(), and make a loader in the other process"
        )

    def __repr__(self) -> str:
        mine = self._shard
        share = f", rank {mine.rank} of {mine.world}" if mine.world > 1 else ""
        return (
            f"<feedline.Loader of {len(self._dataset)} samples, batch_size={self.batch_size}"
            f"{share}, next epoch {self._next}>"
        )


def _host_fields(kept: Any) -> list[tuple[str, bool]]:
    if isinstance(kept, str):
        raise UsageError(f"Loader: keep_on_host is {kept!r}: give a list of names, or a dict")
    if not isinstance(kept, Mapping):
        return [(name, False) for name in kept]
    for name, where in kept.items():
        if where not in ("host", "both"):
            raise UsageError(
                f"Loader: keep_on_host says {where!r} for {name!r}, and can say 'host' or 'both'"
            )
    return [(name, where == "both") for name, where in kept.items()]


def _without_unknown(signature: inspect.Signature) -> inspect.Signature:
    parameters = [each for each in signature.parameters.values() if each.name != "unknown"]
    return signature.replace(parameters=parameters)


Loader.__signature__ = _without_unknown(inspect.signature(Loader))  # type: ignore[attr-defined]
