"""Checks of parameters, with one form of error messages."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import Any, Literal, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from shoal.errors import ColumnError, FileError, ParameterError

_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")
_MOST_SHOWN = 60
_LONGEST_PATH = 8192
"""Characters of a path, twice as many as any system takes."""
_MOST = 2**63 - 1
"""The largest integer that means something as a count or a seed."""


def wrong(owner: str, name: str, expected: str, got: Any, hint: str | None = None) -> ParameterError:
    """Return the complaint about a parameter."""
    return ParameterError(f"The {name!r} parameter of {owner} must be {expected}. Got {shown(got)} instead.", hint=hint)


def shown(value: Any) -> str:
    """Return a parameter as a message may show it: short plain values; of all else, which may be a table, the type."""
    if isinstance(value, (list, tuple, set, dict)) and not value:
        return f"an empty {type(value).__name__}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if value is not None and not isinstance(value, (bool, int, float, str, bytes, PurePath)):
        return f"a value of type {type(value).__name__}"
    if isinstance(value, int) and abs(value) > 10**_MOST_SHOWN:
        return f"an int of more than {_MOST_SHOWN} digits"
    text = ascii(value) if isinstance(value, str) and not is_encodable(value) else repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def is_encodable(text: str) -> bool:
    """Return whether a text is valid Unicode, which half of a surrogate pair is not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_int(
    owner: str, name: str, value: Any, *, least: int, most: int | None = None, hint: str | None = None
) -> int:
    """Return ``value`` as an int in ``least..most``, or raise."""
    expected = f"an int of at least {least}" if most is None else f"an int from {least} to {most}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise wrong(owner, name, expected, value, hint)
    number = int(value)
    if number < least or number > (_MOST if most is None else most):
        raise wrong(owner, name, expected, value, hint)
    return number


def check_float(
    owner: str,
    name: str,
    value: Any,
    *,
    least: float,
    most: float = math.inf,
    above: bool = False,
    hint: str | None = None,
) -> float:
    """Return ``value`` as a finite float in ``least..most`` (``above``: greater than ``least``), or raise."""
    bound = f"above {least:g}" if above else f"of at least {least:g}"
    expected = f"a finite number {bound}" + ("" if math.isinf(most) else f" and at most {most:g}")
    if isinstance(value, bool) or not isinstance(value, Real):
        raise wrong(owner, name, expected, value, hint)
    try:
        number = float(value)
    except OverflowError:  # an int beyond all floats
        number = math.inf
    if not math.isfinite(number) or number < least or number > most or (above and number == least):
        raise wrong(owner, name, expected, value, hint)
    return number


def check_path(owner: str, name: str, value: Any) -> Path:
    """Return ``value`` as a path, or raise."""
    text = str(value) if isinstance(value, (str, os.PathLike)) else ""
    if 0 < len(text) <= _LONGEST_PATH and "\0" not in text:
        return Path(value)
    raise wrong(owner, name, "the path of a file", value)


def check_choice(owner: str, name: str, value: Any, choices: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``choices``, or raise with the nearest one as a hint."""
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    hint = nearest_hint(value, choices) if isinstance(value, str) else None
    raise wrong(owner, name, f"one of {listed}", value, hint)


def check_effort(owner: str, name: str, value: Any) -> Any:
    """Return ``value`` if it is a word for an effort or a number of seconds, or raise."""
    if isinstance(value, str):
        return check_choice(owner, name, value, ("fast", "balanced", "best"))
    return check_float(owner, name, value, least=0.0, above=True, hint="seconds, or a word.")


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return ``value`` if it is True or False, or raise."""
    if isinstance(value, bool):
        return value
    raise wrong(owner, name, "True or False", value)


def check_names(owner: str, name: str, value: Any) -> tuple[str, ...]:
    """Return column names, given as one text or several, or raise."""
    return check_texts(owner, name, value, "the name of a column, or a list of names")


def check_texts(owner: str, name: str, value: Any, expected: str) -> tuple[str, ...]:
    """Return texts, given as one or several, or raise."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)) or hasattr(value, "columns"):
        raise wrong(owner, name, expected, value)
    texts = tuple(value)
    for one in texts:
        if not isinstance(one, str):
            raise wrong(owner, name, expected, one)
    return tuple(map(str, texts))


def check_mapping(owner: str, name: str, value: Any) -> dict[str, Any]:
    """Return a mapping of column names, empty for None, or raise."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong(owner, name, "a dict with names of columns as keys", value)
    for key in value:
        if not isinstance(key, str):
            raise wrong(owner, name, "a dict with names of columns as keys", key)
    return dict(value)


def check_callable(owner: str, name: str, value: Any) -> Any:
    """Return ``value`` if it is None or can be called, or raise."""
    if value is None or (callable(value) and not isinstance(value, type)):
        return value
    raise wrong(owner, name, "a function or None", value)


def check_options(owner: str, holder: Any) -> None:
    """Check the fields of a dataclass that are flags or choices of a few words against their types."""
    kinds = get_type_hints(type(holder))
    for one in fields(holder):
        kind, value = kinds.get(one.name), getattr(holder, one.name)
        if kind is bool:
            check_flag(owner, one.name, value)
        elif get_origin(kind) is Literal:
            check_choice(owner, one.name, value, get_args(kind))


def check_keywords(owner: str, given: Iterable[str], call: Callable[..., Any]) -> None:
    """Refuse keywords that ``call`` does not take, with the nearest one it does."""
    known = [name for name in inspect.signature(call).parameters if name not in {"self", "data"}]
    for name in given:
        if name not in known:
            raise ParameterError(
                f"{owner} has no parameter {name!r}.", hint=nearest_hint(name, known) or f"it takes {', '.join(known)}."
            )


def checks_keywords(call: Callable[_Parameters, _Returned]) -> Callable[_Parameters, _Returned]:
    """Let a public function answer a misspelt or missing keyword in shoal's words, with the nearest name."""
    required = [
        name
        for name, one in inspect.signature(call).parameters.items()
        if one.kind is one.KEYWORD_ONLY and one.default is one.empty
    ]

    @functools.wraps(call)
    def checked(*positional: _Parameters.args, **given: _Parameters.kwargs) -> _Returned:
        check_keywords(call.__name__, set(given) - {"data"}, call)
        for name in required:
            if name not in given:
                raise ParameterError(f"The {name!r} parameter of {call.__name__} is not given.", hint=f"add {name}=….")
        return call(*positional, **given)

    return checked


def nearest_hint(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean …?" for the known name closest to ``name``, if one is close."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {matches[0]!r}?" if matches else None


def check_columns(role: str, names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return ``names`` as a tuple if the table has them all, or raise with the nearest name."""
    checked = check_names("the table", role, names)
    for name in checked:
        if name not in known:
            listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
            raise ColumnError(
                f"The column {shown(name)} given as {role} is not in the table. Its columns are: {listed}.",
                hint=nearest_hint(name, known),
            )
    doubled = {name for name in checked if checked.count(name) > 1}
    if doubled:
        raise ColumnError(f"The column {min(doubled)!r} is named twice as {role}. Name it once.")
    return checked


def check_keys(parameter: str, given: Iterable[str], known: Sequence[str], role: str = "quasi-identifier") -> None:
    """Refuse settings of columns that nothing would come of: a misspelt name would be a setting that nobody uses."""
    for name in given:
        if name not in known:
            raise ColumnError(
                f"The {parameter!r} parameter names {shown(name)}, which is not a {role}.",
                hint=nearest_hint(str(name), known) or f"add {shown(name)} to the {role}s or leave it out.",
            )


def refuse_pipe(path: Path) -> None:
    """Raise if a path names a pipe or a device: opening it could wait for ever, and it can be read only once."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):  # the code that opens it reports what is wrong
        return
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise FileError(
            f"{path.name!r} is a pipe or a device, not a file.", hint="write what it gives to a file first."
        )
