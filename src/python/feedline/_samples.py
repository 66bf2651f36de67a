"""What sequence_dataset calls: how a sample is divided into fields, and seeds."""

import random
import sys
from collections.abc import Mapping
from numbers import Number

from ._errors import UsageError


def is_structure(value):
    """Whether a value within a sample has fields of its own. A sequence of numbers is an array."""
    if isinstance(value, Mapping) or hasattr(value, "_fields"):
        return True
    if not isinstance(value, (tuple, list)) or not value:
        return False
    return any(
        isinstance(part, (str, bytes)) or hasattr(part, "shape") or is_structure(part)
        for part in value
        if not isinstance(part, Number)
    )


def describe(sample, names, pad):
    """The structure of a sample, and its values: (name, value, length that it is padded to).

    In the structure a value's index stands for it. Names within a value follow a dot: "image.left".
    """
    leaves = []
    pad = dict(pad or {})

    def visit(value, name):
        if not is_structure(value):
            if isinstance(value, tuple):
                value = list(value)
            leaves.append((name, value, pad.pop(name, None)))
            return len(leaves) - 1
        if isinstance(value, Mapping):
            return {key: visit(value[key], f"{name}.{key}") for key in value}
        labels = getattr(value, "_fields", range(len(value)))
        return tuple(visit(part, f"{name}.{label}") for part, label in zip(value, labels))

    if isinstance(sample, Mapping):
        keys = list(sample) if names is None else names
        missing = [key for key in keys if key not in sample]
        if missing:
            raise UsageError(f"sample 0 has no {missing[0]!r}; it has {list(sample)}")
        structure = {key: visit(sample[key], str(key)) for key in keys}
    else:
        if names is None and isinstance(sample, (tuple, list)):
            names = getattr(sample, "_fields", [str(place) for place in range(len(sample))])
        if names is None:
            raise UsageError(
                f"sample 0 is a {type(sample).__name__}, which has no names for its fields: give "
                "names=['x'], or let it be a dict or a tuple"
            )
        if isinstance(sample, (tuple, list)):
            if len(sample) != len(names):
                raise UsageError(f"a sample has {len(sample)} values for {len(names)} names")
            structure = tuple(visit(value, name) for value, name in zip(sample, names))
        elif len(names) == 1:
            structure = visit(sample, names[0])
        else:
            raise UsageError(
                f"a sample is one value for {len(names)} names: it must be a dict, a tuple or a "
                "list"
            )
    if pad:
        known = ", ".join(repr(name) for name, _, _ in leaves)
        raise UsageError(f"pad names {next(iter(pad))!r}, but the values are {known}")
    every = [name for name, _, _ in leaves]
    every += [f"{name}_length" for name, _, length in leaves if length is not None]
    for name in every:
        if every.count(name) > 1:
            raise UsageError(f"two values of a sample are named {name!r}: rename one")
    return structure, leaves


def seed(number):
    """Seeds the generators of the process: random, NumPy's and PyTorch's (on the CPU), if used."""
    random.seed(number)
    if numpy := sys.modules.get("numpy.random"):
        numpy.seed(number >> 32)
    if (torch := sys.modules.get("torch")) and hasattr(torch, "default_generator"):
        torch.default_generator.manual_seed(number >> 1)
