"""Signatures of the compiled functions and classes, errors that name the wrong argument, and
pickling: what was called with which arguments makes the same dataset or sampler again.

Over 250 lines: all three need the signatures that are read here."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import logging
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional

from . import _feedline

_log = logging.getLogger("feedline")
_logs_details = False
_REFUSED = "(): incompatible function arguments."
#: Classes whose objects say by which call they were made.
_MADE = ("Dataset", "RaggedDataset", "Sampler", "Decoder")
_PATHS = {"path", "file", "files", "root", "shards", "images", "labels"}


def unknown_option(what: str, name: str, known: Iterable[str]) -> str:
    """The text about an option that there is not."""
    known = [each for each in known if each != "self"]
    close = difflib.get_close_matches(name, known, 1, 0.6)
    meant = f"; did you mean '{close[0]}'" if close else ""
    return f"{what}: there is no option '{name}'{meant}. There are {', '.join(known)}"


@functools.lru_cache(maxsize=None)
def signature_of(text: str) -> tuple[list[tuple[str, Any, Optional[str], Optional[str]]], str]:
    """Parameters of nanobind's text of a signature: (name, kind, annotation, default's text)."""
    parsed = ast.parse(re.sub(r"\\(\d+)", r"_\1", text) + ": ...").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    kind = inspect.Parameter
    found: list[tuple[str, Any, Optional[str], Optional[str]]] = []

    def add(each: ast.arg, how: Any, default: Optional[ast.expr]) -> None:
        note = ast.unparse(each.annotation) if each.annotation else None
        found.append((each.arg, how, note, ast.unparse(default) if default else None))

    places = [*given.posonlyargs, *given.args]
    begins = len(places) - len(given.defaults)
    for i, each in enumerate(places):
        how = kind.POSITIONAL_ONLY if i < len(given.posonlyargs) else kind.POSITIONAL_OR_KEYWORD
        add(each, how, given.defaults[i - begins] if i >= begins else None)
    if given.vararg:
        add(given.vararg, kind.VAR_POSITIONAL, None)
    for each, default in zip(given.kwonlyargs, given.kw_defaults):
        add(each, kind.KEYWORD_ONLY, default)
    if given.kwarg:
        add(given.kwarg, kind.VAR_KEYWORD, None)
    return found, ast.unparse(parsed.returns) if parsed.returns else "None"


def signature(function: Any) -> inspect.Signature:
    """The signature of a function of nanobind's, or of a method without `self`."""
    text, _, defaults = function.__nb_signature__[0]
    parameters, returned = signature_of(text)
    made = []
    for name, how, note, default in parameters:
        value: Any = inspect.Parameter.empty
        if default is not None:
            at = re.fullmatch(r"_(\d+)", default)
            value = defaults[int(at[1])] if at else ast.literal_eval(default)
        said: Any = inspect.Parameter.empty if note is None else note
        if name != "self":
            made.append(inspect.Parameter(name, how, default=value, annotation=said))
    return inspect.Signature(made, return_annotation=returned)


def _takes(note: str, value: Any) -> bool:
    """Whether a value is of the kind that an annotation says. True where this cannot be told."""
    depth, parts = 0, [""]
    for letter in note:
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return any(_takes_one(part.strip(), value) for part in parts)


def _takes_one(note: str, value: Any) -> bool:
    kind, _, inner = note.partition("[")
    kind = kind.rpartition(".")[2]
    if kind in ("int", "float"):
        is_number = hasattr(value, "__index__") or (kind == "float" and hasattr(value, "__float__"))
        return is_number and not isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if kind in ("str", "Literal"):
        return isinstance(value, str)
    if kind == "None":
        return value is None
    if kind == "PathLike":
        return hasattr(value, "__fspath__")
    if kind in ("list", "Sequence", "tuple"):
        is_list = hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, Mapping))
        return is_list and (kind == "tuple" or all(_takes(inner[:-1], each) for each in value))
    if kind in ("dict", "Mapping"):
        return isinstance(value, Mapping)
    if kind == "timedelta":
        return hasattr(value, "total_seconds") or isinstance(value, float)
    if kind[:1].isupper() and kind.isidentifier() and kind not in ("Any", "Callable"):
        return kind in (each.__name__ for each in type(value).__mro__)
    return True


def explained(refusal: TypeError, called: Any, *args: Any, **kwargs: Any) -> TypeError:
    """The error for arguments that nanobind refused: it names the one that is wrong."""
    if _REFUSED not in str(refusal):
        return refusal
    what = called.__name__
    expected = signature(vars(called)["__init__"] if isinstance(called, type) else called)
    for name in kwargs:
        if name not in expected.parameters:
            return TypeError(unknown_option(what, name, expected.parameters))
    try:
        bound = expected.bind(*args, **kwargs)
    except TypeError as wrong:
        return TypeError(f"{what}: {wrong}; its signature is {what}{expected}")
    for name, value in bound.arguments.items():
        note = str(expected.parameters[name].annotation)
        if not _takes(note, value):
            return TypeError(
                f"{what}: {name} is {value!r:.60}, of type {type(value).__name__}; it takes {note}"
            )
    for name, value in bound.arguments.items():
        if isinstance(value, int) and not 0 <= value < 2**31:
            return TypeError(f"{what}: {name} is {value}, which is out of its range")
    return refusal


def follow_log_level() -> None:
    """Lets the library log details if Python's logger wants them now."""
    global _logs_details
    wants = _log.isEnabledFor(logging.DEBUG)
    if wants != _logs_details:
        _logs_details = wants
        _feedline._log_details(wants)


class _Call:
    """A call that made an object: the function's name, its arguments, the place in its result.
    Arguments that were made by calls are these calls, so that no dataset is kept open by others."""

    def __init__(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], place: int
    ) -> None:
        self.name, self.args, self.kwargs, self.place = name, args, kwargs, place

    def __repr__(self) -> str:
        args = [f"{each!r:.60}" for each in self.args]
        args += [f"{name}={each!r:.60}" for name, each in self.kwargs.items()]
        place = f"[{self.place}]" if self.place >= 0 else ""
        return f"feedline.{self.name}({', '.join(args)}){place}"


def _made(value: Any) -> Any:
    if isinstance(value, _Call):
        return _again(value)
    if not isinstance(value, (list, tuple)) or (value and isinstance(value[0], (int, float))):
        return value
    return type(value)(_made(each) for each in value)


def _again(call: _Call) -> Any:
    import feedline

    kwargs = {name: _made(each) for name, each in call.kwargs.items()}
    made = getattr(feedline, call.name)(*map(_made, call.args), **kwargs)
    return made[call.place] if call.place >= 0 else made


def _reduced(self: Any) -> Any:
    call = getattr(self, "_call", None)
    if call is None:
        kind = type(self).__name__
        raise TypeError(
            f"this feedline.{kind} does not say how it was made, and cannot be pickled: pickle "
            f"what it was made of, and make it again in the other process"
        )
    if call.name == "load_into_memory":  # it needs no file, so its copy needs none
        call = _Call("make_memory_dataset", (self.read(range(len(self))),), {}, -1)
    return _again, (call,)


def _kept(name: str, value: Any, is_opened: bool) -> Any:
    """An argument as another process can use it: absolute paths, and arrays as they are now."""
    if is_opened and name in _PATHS:
        if isinstance(value, (str, os.PathLike)):
            path = os.fspath(value)
            return path if "://" in str(path) else os.path.abspath(path)
    if hasattr(type(value), "_is_made"):
        return getattr(value, "_call", value)
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], (int, float)):
            return type(value)(value)  # may be long
        return type(value)(_kept(name, each, is_opened) for each in value)
    if not is_opened and hasattr(value, "__array__") and hasattr(value, "copy"):
        return value.copy()
    return value


def _dressed(function: Any, is_made: Callable[[Any], bool]) -> Any:
    """A compiled function with a signature, errors that name arguments, results that can be
    pickled."""
    name = function.__name__
    expected = signature(function)
    names = list(expected.parameters)

    @functools.wraps(function, assigned=("__name__", "__qualname__", "__doc__"), updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        follow_log_level()
        try:
            made = function(*args, **kwargs)
        except TypeError as refusal:
            better = explained(refusal, function, *args, **kwargs)
            if better is refusal:
                raise
            raise better from None
        several = made if isinstance(made, (list, tuple)) else ()
        if is_made(made) or any(is_made(each) for each in several):
            opened = name.startswith("open")
            if name == "load_into_memory":
                args, kwargs = (), {}
            elif name == "make_memory_dataset":  # it reads these arrays itself, so they stay
                args, kwargs = (dict(*args, **kwargs.get("arrays", {})),), {}
            elif name != "sequence_dataset":
                args = tuple(_kept(names[i], each, opened) for i, each in enumerate(args))
                kwargs = {key: _kept(key, each, opened) for key, each in kwargs.items()}
            for place, each in enumerate(several or (made,)):
                if is_made(each):
                    each._call = _Call(name, args, kwargs, place if several else -1)
        return made

    call.__module__ = "feedline"
    call.__signature__ = expected  # type: ignore[attr-defined]
    return call


def dress(compiled: Any, names: dict[str, Any]) -> None:
    """Replaces the compiled module's functions in a namespace, and gives its classes signatures."""
    functions = type(compiled.sequential)
    made = tuple(getattr(compiled, kind) for kind in _MADE)
    for name, value in vars(compiled).items():
        if isinstance(value, functions):
            names[name] = _dressed(value, lambda each: type(each) in made)
        elif isinstance(value, type) and hasattr(vars(value).get("__init__"), "__nb_signature__"):
            value.__signature__ = signature(vars(value)["__init__"])  # type: ignore[attr-defined]
    for kind in made:
        kind._is_made = True
        kind.__reduce__ = _reduced
        kind.__deepcopy__ = lambda self, memo: self  # it does not change
        kind.__copy__ = lambda self: self
