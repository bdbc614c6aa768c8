"""Formulas of one and two operands: x, log x, x + y, x · y, x / y² and the like, evaluated for all records at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.arrays import FloatArray
from shoal.derived.columns import LARGEST, Column

_MOST_OPERANDS = 24
"""With more numbers than this, only the plain forms of two operands are tried."""

_MOST_OFF = 0.95


@dataclass(frozen=True)
class Operand:
    """A number that is known of each record: a column, or the year of a date."""

    words: str
    column: str
    values: FloatArray
    step: float
    unit: str
    """``number``, ``days`` of a date or its ``year``: days and years are not multiplied."""


@dataclass(frozen=True)
class Form:
    """A formula of one or two operands, without factor and shift."""

    words: str
    operands: tuple[Operand, ...]
    apply: Callable[..., FloatArray]
    negative: str = ""
    """The words of the negative formula, if they are plain: ``y − x`` for ``x − y``."""

    def of(self, values: Sequence[FloatArray]) -> FloatArray:
        """Return its values; NaN if an operand is missing or it is not defined, or too large."""
        with np.errstate(all="ignore"):
            found = np.asarray(self.apply(*values), np.float64)
        found[~(np.abs(found) < LARGEST)] = np.nan
        return found

    def at(self, rows: slice) -> FloatArray:
        """Return its values in some rows of the sample."""
        return self.of([one.values[rows] for one in self.operands])

    def slack(self, rows: slice) -> float:
        """Return how far its value can be off because its operands are rounded, for most records."""
        values = [one.values[rows] for one in self.operands]
        off = np.zeros(len(values[0]))
        for place, one in enumerate(self.operands):
            moved = [value + (one.step / 2 if place == number else 0.0) for number, value in enumerate(values)]
            off += np.abs(self.of(moved) - self.of(values))
        known = off[np.isfinite(off)]
        return float(np.quantile(known, _MOST_OFF)) if len(known) else 0.0


_ALONE: tuple[tuple[str, Callable[..., FloatArray]], ...] = (
    ("{0}", lambda x: x.copy()),
    ("log {0}", np.log),
    ("√{0}", np.sqrt),
    ("{0}²", np.square),
    ("1 / {0}", lambda x: 1.0 / x),
)
_PLAIN: tuple[tuple[str, Callable[..., FloatArray]], ...] = (
    ("{0} + {1}", np.add),
    ("{0} − {1}", np.subtract),
)
_PRODUCTS: tuple[tuple[str, Callable[..., FloatArray]], ...] = (
    ("{0} · {1}", np.multiply),
    ("{0} / {1}", np.divide),
    ("{1} / {0}", lambda x, y: y / x),
)
_SQUARES: tuple[tuple[str, Callable[..., FloatArray]], ...] = (
    ("{0} / {1}²", lambda x, y: x / np.square(y)),
    ("{1} / {0}²", lambda x, y: y / np.square(x)),
    ("√({0} · {1})", lambda x, y: np.sqrt(x * y)),
)


def operands_of(columns: Sequence[Column]) -> list[Operand]:
    """Return the numbers that are known: numbers, dates in days, and the years of dates."""
    found = []
    for column in columns:
        if column.numbers is None:
            continue
        unit = "days" if column.is_date else "number"
        found.append(Operand(column.name, column.name, column.numbers, column.step, unit))
        if column.is_date:
            years = column.values.cast("date32") if not str(column.values.type).startswith("date") else column.values
            of_value = np.array([value.year for value in years.to_pylist()], np.float64)
            found.append(Operand(f"year({column.name})", column.name, column.spread(of_value), 1.0, "year"))
    return found


def forms_of(operands: Sequence[Operand]) -> list[Form]:
    """Return the formulas to try, simple ones first."""
    forms = []
    for one in operands:
        alone = _ALONE if one.unit == "number" else _ALONE[:1]
        forms += [Form(words.format(one.words), (one,), apply) for words, apply in alone]
    few = len(operands) <= _MOST_OPERANDS
    for one, other in combinations(operands, 2):
        if one.column == other.column:
            continue
        forms += [_pair(words, one, other, apply) for words, apply in _pairs(one, other, squares=few)]
    return forms


def _pairs(one: Operand, other: Operand, *, squares: bool) -> tuple[tuple[str, Callable[..., FloatArray]], ...]:
    """Return the forms that make sense of two operands: numbers all, dates and years sums and differences."""
    units = {one.unit, other.unit}
    if units == {"number"}:
        return (*_PLAIN, *_PRODUCTS, *(_SQUARES if squares else ()))
    if units == {"days", "year"}:
        return ()
    return _PLAIN if len(units) > 1 else _PLAIN[1:]


def _pair(words: str, one: Operand, other: Operand, apply: Callable[..., FloatArray]) -> Form:
    first, second = one.words, other.words
    negative = f"{second} − {first}" if apply is np.subtract else ""
    return Form(words.format(first, second), (one, other), apply, negative)
