"""`ragged_sequence_dataset`: samples of varying length that Python makes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union, overload

from ._errors import UsageError
from ._feedline import Dataset, RaggedDataset
from ._samples import describe

#: Lengths of the samples of one field.
Lengths = Optional[Sequence[int]]


class RaggedSamples:
    """Samples with several fields, ragged ones and others, which `ragged_sequence_dataset` makes:
    for `pad`, `pack`, and `samples["name"]`, one ragged field as a `RaggedDataset`. A sample is
    made once for all its fields."""

    def __init__(self, padded: Dataset, lengths: dict[str, array[int]]) -> None:
        self._padded, self._lengths = padded, lengths

    def __len__(self) -> int:
        return len(self._padded)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lengths)

    def __contains__(self, name: object) -> bool:
        return name in self._lengths

    def __repr__(self) -> str:
        return f"<feedline.RaggedSamples of {len(self)} samples; ragged: {', '.join(self)}>"

    def __getitem__(self, name: str) -> RaggedDataset:
        """One ragged field, for `bucket_by_length`, `feedline.pack` and `feedline.pad`: reading it
        makes whole samples."""
        import feedline

        if name not in self._lengths:
            raise KeyError(f"{name!r} is no ragged field; there are {', '.join(self)}")
        alone = feedline.select(self._padded, [name, f"{name}_length"])
        made: RaggedDataset = feedline._ragged_samples(  # type: ignore[attr-defined]
            alone, self._lengths[name]
        )
        return made

    def pad(
        self,
        length: Union[int, Mapping[str, int]] = 0,
        *,
        value: Union[float, Mapping[str, float]] = 0,
        longer: str = "error",
    ) -> Dataset:
        """Every sample with the same number of elements in a field: NAME and NAME_length, as by
        `feedline.pad`. Fixed fields stay as they are.

        length, value: one for all ragged fields, or a dict by name; the others have the default. 0:
            the field's longest sample.
        longer: "error": a longer sample is a DatasetError now; "truncate": it loses its last
            elements."""
        if longer not in ("error", "truncate"):
            raise UsageError(f"pad: longer is {longer!r}, and can be 'error' or 'truncate'")
        lengths = self._each("length", length, 0)
        for name, of in self._lengths.items():
            lengths[name] = lengths[name] or max(max(of), 1)
        values = self._each("value", value, 0)
        return self._rows(lengths, values, packs=False, max_samples=0, truncates=longer != "error")

    def pack(
        self,
        capacity: Union[int, Mapping[str, int]],
        *,
        max_samples: int = 0,
        value: Union[float, Mapping[str, float]] = 0,
    ) -> Dataset:
        """Rows of whole samples that follow each other: a sample goes into the row of the previous
        one if all its ragged fields have room there, else it begins the next row. Fields NAME,
        NAME_count and NAME_offsets of each ragged field, as by `feedline.pack`; a fixed field has
        one value for each of the row's samples, then zeros.

        capacity: elements of a row; one for all ragged fields, or a dict with each. A longer sample
            is a DatasetError now.
        max_samples: of a row; 0: as many as the fullest row has.
        value: of the padding after the last sample, as `pad` takes it."""
        capacities = self._each("capacity", capacity, None)
        values = self._each("value", value, 0)
        return self._rows(
            capacities, values, packs=True, max_samples=max_samples, truncates=False
        )

    def _each(self, what: str, given: Any, default: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            return dict.fromkeys(self._lengths, given)
        for name in given:
            if name not in self._lengths:
                raise UsageError(
                    f"{what} names {name!r}, and the ragged fields are {', '.join(self)}"
                )
        found = {name: given.get(name, default) for name in self._lengths}
        missing = [name for name, each in found.items() if each is None]
        if missing:
            raise UsageError(f"{what} has no {missing[0]!r}: say it for each ragged field")
        return found

    def _rows(self, capacity: dict[str, Any], value: dict[str, Any], **options: Any) -> Dataset:
        import feedline

        columns = [
            (name, lengths, capacity[name], value[name]) for name, lengths in self._lengths.items()
        ]
        made: Dataset = feedline._ragged_rows(  # type: ignore[attr-defined]
            self._padded, columns, **options
        )
        return made


@overload
def ragged_sequence_dataset(
    samples: Any,
    lengths: Lengths = None,
    *,
    names: Optional[Sequence[str]] = None,
    size: Optional[int] = None,
    **options: Any,
) -> RaggedDataset: ...


@overload
def ragged_sequence_dataset(
    samples: Any,
    lengths: Mapping[str, Lengths],
    *,
    names: Optional[Sequence[str]] = None,
    size: Optional[int] = None,
    **options: Any,
) -> RaggedSamples: ...


def ragged_sequence_dataset(
    samples: Any,
    lengths: Union[Lengths, Mapping[str, Lengths]] = None,
    *,
    names: Optional[Sequence[str]] = None,
    size: Optional[int] = None,
    **options: Any,
) -> Union[RaggedDataset, RaggedSamples]:
    """Samples of varying length made by Python, for `pack`, `pad`, `decode` and `bucket_by_length`.

    samples: as for `sequence_dataset`, and so are `size` and the options `workers`, `start_method`,
        `timeout` and `concurrency`. A sample has one value: text, which is its UTF-8 bytes, bytes,
        or an array whose first dimension differs. With a dict of lengths it may have several, of
        varying length and fixed ones.
    lengths: the number of elements of each sample, which must be known before the samples are made;
        of text, its bytes. None: every sample is made once now, in this process, one after the
        other, to tell. A dict has the lengths of each ragged field, or None, by name: then the
        result is a `RaggedSamples`.
    names: the name of the field; with samples that are dicts, which of their values are taken.

    Samples must not change, because their lengths may not, so `seeded=True` is refused. A sample
    whose length is not that of `lengths` is a DatasetError. Takes 8 bytes a sample and ragged
    field."""
    import feedline

    for name in ("seeded", "pad"):
        if options.get(name):
            raise UsageError(
                f"ragged_sequence_dataset: {name} is for sequence_dataset: samples of a ragged "
                "dataset do not vary by epoch, and are padded by feedline.pad or packed"
            )
    is_function = callable(samples) and not hasattr(samples, "__getitem__")
    get = samples if is_function else samples.__getitem__
    if is_function and size is None:
        raise UsageError("a function does not say how many samples it has: say size=…")
    count = len(samples) if size is None else size
    if count == 0:
        raise UsageError("there is no sample, but sample 0 is needed to tell the field")

    def values(index: int) -> dict[str, Any]:
        return {name: value for name, value, _ in describe(get(index), names, None)[1]}

    first = values(0)
    if isinstance(lengths, Mapping):
        given = dict(lengths)
    elif len(first) == 1:
        given = {next(iter(first)): lengths}
    else:
        known = ", ".join(map(repr, first))
        raise UsageError(
            f"a ragged dataset has one field, and a sample has the values {known}: choose one by "
            "names=[…], or say which are ragged by lengths={'name': …}"
        )
    known_lengths = _lengths_of(given, first, values, count)
    padding = {name: max(max(each), 1) for name, each in known_lengths.items()}
    options |= {"names": names, "size": size, "pad": padding, "seeded": False}
    padded = feedline.sequence_dataset(samples, **options)
    if isinstance(lengths, Mapping):
        return RaggedSamples(padded, known_lengths)
    [only] = known_lengths.values()
    return feedline._ragged_samples(padded, only)  # type: ignore[attr-defined, no-any-return]


def _lengths_of(
    given: dict[str, Lengths], first: dict[str, Any], values: Any, count: int
) -> dict[str, array[int]]:
    if not given:
        raise UsageError("lengths is empty: it names the ragged fields")
    for name in given:
        if name not in first:
            known = ", ".join(map(repr, first))
            raise UsageError(f"lengths names {name!r}, but the values are {known}")
    told: dict[str, list[int]] = {name: [] for name, each in given.items() if each is None}
    for index in range(count if told else 0):
        found = values(index)
        for name, lengths in told.items():
            lengths.append(_length(found[name], name, index))
    known_lengths = {}
    for name, lengths in given.items():
        try:
            known_lengths[name] = array("Q", told[name] if lengths is None else lengths)
        except (TypeError, OverflowError) as wrong:
            raise UsageError(f"lengths must be whole numbers, 0 or more: {wrong}") from None
    return known_lengths


def _length(value: Any, name: str, sample: int) -> int:
    if isinstance(value, str):
        return len(value.encode())
    try:
        return len(value)
    except TypeError:
        raise UsageError(
            f"{name!r} of sample {sample} is a {type(value).__name__}, which has no length"
        ) from None
