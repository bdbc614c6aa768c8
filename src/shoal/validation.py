"""Checks of parameters, with one way to say what is wrong."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from shoal.errors import ColumnError, ParameterError


def _wrong(owner: str, name: str, expected: str, got: Any, hint: str | None = None) -> ParameterError:
    return ParameterError(f"The {name!r} parameter of {owner} must be {expected}. Got {got!r} instead.", hint=hint)


def check_int(
    owner: str, name: str, value: Any, *, least: int, most: int | None = None, hint: str | None = None
) -> int:
    """Return ``value`` as an int in ``least..most``, or raise."""
    expected = f"an int of at least {least}" if most is None else f"an int from {least} to {most}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise _wrong(owner, name, expected, value, hint)
    number = int(value)
    if number < least or (most is not None and number > most):
        raise _wrong(owner, name, expected, value, hint)
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
        raise _wrong(owner, name, expected, value, hint)
    number = float(value)
    if not math.isfinite(number) or number < least or number > most or (above and number == least):
        raise _wrong(owner, name, expected, value, hint)
    return number


def check_choice(owner: str, name: str, value: Any, choices: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``choices``, or raise with the nearest one as a hint."""
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise _wrong(owner, name, f"one of {listed}", value, nearest_hint(str(value), choices))


def nearest_hint(name: str, known: Iterable[str]) -> str | None:
    """Return "did you mean …?" for the known name closest to ``name``, if one is close."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {matches[0]!r}?" if matches else None


def check_columns(role: str, names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return ``names`` as a tuple if the table has them all, or raise with the nearest name."""
    if isinstance(names, str):
        names = (names,)
    checked = tuple(names)
    for name in checked:
        if name not in known:
            listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
            raise ColumnError(
                f"The column {name!r} given as {role} is not in the table. Its columns are: {listed}.",
                hint=nearest_hint(str(name), known),
            )
    doubled = {name for name in checked if checked.count(name) > 1}
    if doubled:
        raise ColumnError(f"The column {min(doubled)!r} is named twice as {role}. Name it once.")
    return checked
