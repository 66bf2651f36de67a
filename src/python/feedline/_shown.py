"""How objects are shown: reprs of all classes, tables in notebooks."""

from __future__ import annotations

import html
import inspect
import json
import re
import textwrap
from typing import Any

from ._options import OPTIONS


def _members(kind: type) -> list[str]:
    """Names of a class's properties, in the order in which they were added."""
    return [name for name, value in vars(kind).items() if isinstance(value, property)]


def _of_options(self: Any) -> str:
    """The call that makes the same options: what differs from the defaults."""
    given = []
    for name, parameter in inspect.signature(type(self)).parameters.items():
        value = getattr(self, name)
        if parameter.default is inspect.Parameter.empty or value != parameter.default:
            given.append(f"{name}={value!r}")
    return f"feedline.{type(self).__name__}({', '.join(given)})"


def _of_values(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r:.200}" for name in _members(type(self)))
    return f"<feedline.{type(self).__name__} {', '.join(shown)}>"


def _of_call(self: Any) -> str:
    call = getattr(self, "_call", None)
    kind = type(self).__name__
    return f"<feedline.{kind}>" if call is None else f"<feedline.{kind} of {call!r}>"


def _rebuilt(kind: type, options: dict[str, Any]) -> Any:
    return kind(**options)


def _reduced(self: Any) -> Any:
    names = inspect.signature(type(self)).parameters
    return _rebuilt, (type(self), {name: getattr(self, name) for name in names})


def _equal(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    names = inspect.signature(type(self)).parameters
    return all(getattr(self, name) == getattr(other, name) for name in names)


def _hash(self: Any) -> int:
    return hash(repr(self))


def _table(rows: list[list[Any]], head: list[str]) -> str:
    def row(cells: list[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    return f"<table>{row(head, 'th')}{''.join(row(each, 'td') for each in rows)}</table>"


def _plan_table(self: Any) -> str:
    rows = [[name, getattr(self, name)] for name in _members(type(self))]
    return _table(rows, ["choice", "value"])


def _statistics_table(self: Any) -> str:
    """The stages side by side, and the verdict."""
    stages = {n: json.loads(self.to_json())[n] for n in ("reader", "transfer", "consumer")}
    names = [name for name, value in stages["reader"].items() if isinstance(value, (int, float))]
    rows = [[name, *(stage.get(name, "") for stage in stages.values())] for name in names]
    verdict = self.judge()
    words = html.escape(f"{verdict.limit}: {verdict.evidence} {verdict.next}")
    return _table(rows, ["times in ns", *stages]) + f"<p>{words}</p>"


def _explained(kind: type) -> str:
    """The text of a class of options, with a line for each of them."""
    struct = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    known = OPTIONS.get(struct, {})
    lines = [(kind.__doc__ or "").strip(), ""]
    for name, parameter in inspect.signature(kind).parameters.items():
        text = known.get(name) or "see the option before it"
        text = text.rstrip(".") if parameter.default is inspect.Parameter.empty else (
            f"{text.rstrip('.')}. Default: {parameter.default!r}"
        )
        lines += textwrap.wrap(f"{name}: {text}.", 96, subsequent_indent="    ")
    return "\n".join(lines)


def _refusing(advice: str) -> Any:
    def reduce(self: Any) -> Any:
        raise TypeError(f"a feedline.{type(self).__name__} cannot be pickled: {advice}")

    return reduce


def dress(compiled: Any) -> None:
    """Gives the compiled classes what they lack."""
    for kind in vars(compiled).values():
        if not isinstance(kind, type):
            continue
        own = vars(kind)
        makes = getattr(kind, "__signature__", None)
        is_options = makes is not None and makes.parameters and set(makes.parameters) <= set(own)
        if is_options:
            kind.__doc__ = _explained(kind)
            kind.__reduce__ = _reduced  # type: ignore[method-assign, assignment]
            if "__eq__" not in own:
                kind.__eq__ = _equal  # type: ignore[method-assign, assignment]
            kind.__hash__ = _hash  # type: ignore[method-assign, assignment]
        if "__repr__" not in own:
            show = _of_options if is_options else _of_values if _members(kind) else _of_call
            kind.__repr__ = show  # type: ignore[method-assign, assignment]
    for kind in (compiled.Sampler, compiled.Decoder, compiled.RaggedDataset):
        kind.__repr__ = _of_call
    compiled.Plan._repr_html_ = _plan_table
    compiled.Statistics._repr_html_ = _statistics_table
    copied = "copy what you keep: numpy.array(batch['name'])"
    for kind, advice in (
        (compiled.Batch, copied),
        (compiled.Tensor, copied),
        (compiled.Epoch, "pickle its loader's state_dict()"),
        (compiled.Device, "make it in the other process"),
    ):
        kind.__reduce__ = _refusing(advice)
