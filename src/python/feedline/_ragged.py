"""`ragged_sequence_dataset`: samples of varying length that Python makes."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Optional

from ._errors import UsageError
from ._feedline import RaggedDataset
from ._samples import describe


def ragged_sequence_dataset(
    samples: Any,
    lengths: Optional[Sequence[int]] = None,
    *,
    names: Optional[Sequence[str]] = None,
    size: Optional[int] = None,
    **options: Any,
) -> RaggedDataset:
    """Samples of varying length made by Python, for `pack`, `pad`, `decode` and `bucket_by_length`.

    samples: as for `sequence_dataset`, and so are `size` and the options `workers`, `start_method`,
        `timeout` and `concurrency`. A sample has one value: text, which is its UTF-8 bytes, bytes,
        or an array whose first dimension differs.
    lengths: the number of elements of each sample, which must be known before the samples are made;
        of text, its bytes. None: every sample is made once now, in this process, one after the
        other, to tell.
    names: the name of the field; with samples that are dicts, which of their values is taken.

    Samples must not change, because their lengths may not, so `seeded=True` is refused. A sample
    whose length is not that of `lengths` is a DatasetError. Takes 8 bytes a sample."""
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

    def value(index: int) -> tuple[str, Any]:
        values = describe(get(index), names, None)[1]
        if len(values) != 1:
            known = ", ".join(repr(name) for name, _, _ in values)
            raise UsageError(
                f"a ragged dataset has one field, and a sample has the values {known}: choose one "
                "by names=[…]; feedline.zip adds datasets of the others"
            )
        return values[0][0], values[0][1]

    name = value(0)[0]
    if lengths is None:
        lengths = [_length(value(index)[1], name, index) for index in range(count)]
    try:
        known = array("Q", lengths)
    except (TypeError, OverflowError) as wrong:
        raise UsageError(f"lengths must be whole numbers, 0 or more: {wrong}") from None
    padding = {name: max(max(known), 1)}
    options |= {"names": names, "size": size, "pad": padding, "seeded": False}
    padded = feedline.sequence_dataset(samples, **options)
    return feedline._ragged_samples(padded, known)  # type: ignore[attr-defined, no-any-return]


def _length(value: Any, name: str, sample: int) -> int:
    if isinstance(value, str):
        return len(value.encode())
    try:
        return len(value)
    except TypeError:
        raise UsageError(
            f"{name!r} of sample {sample} is a {type(value).__name__}, which has no length"
        ) from None
