"""Numbers computed from numbers and dates: the search over formulas of one and two operands and sums of several operands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.derived.columns import Column
from shoal.derived.criteria import FEWEST, holds
from shoal.derived.forms import Form, Operand, forms_of, operands_of
from shoal.derived.lines import Line, factor_text, fine_width, fit_line

_SCREENED = 1_200
"""Records by which formulas are ranked; the best are fitted to the whole sample."""
_FINALISTS = 10
_LEAST_CORRELATION = 0.3
_LEAST_SHARE = 0.6
"""Formulas that fit fewer of the screened records are not fitted to the whole sample."""
_FEWEST_KNOWN = 0.5
"""A formula must be defined for this share of the records that have a value."""
_LOOSEST = 0.05
"""A window that is widened because operands are rounded stays below this share of the middle nine tenths of the column."""
_SIMPLER = 0.005
"""A simpler formula is taken unless another gives this share of the records more."""
_MOST_BANDS = 64
_NEIGHBOURS = 2
_NO_POWER = 1e-2
_STARTS = 60


@dataclass(frozen=True)
class Computed:
    """A formula that gives a column of numbers."""

    words: str
    sources: tuple[str, ...]
    share: float
    predicted: FloatArray
    """For each record of the sample what the formula says; NaN if an operand is missing."""
    within: float
    """How far the column may be from that."""


@dataclass(frozen=True)
class Banded:
    """A formula along which a category changes in few places."""

    words: str
    sources: tuple[str, ...]
    share: float
    predicted: IntArray
    """For each record of the sample the value that its neighbours along the formula have; -1 if it is not defined."""


_Found = TypeVar("_Found", Computed, Banded)


class Formulas:
    """All formulas of some columns, evaluated on a sample."""

    def __init__(self, columns: Sequence[Column], records: int) -> None:
        self.records = records
        self.screen = slice(0, min(records, _SCREENED))
        self.operands = operands_of(columns)
        self.forms = forms_of(self.operands)

    @cached_property
    def values(self) -> FloatArray:
        """The value of each formula (rows) for each screened record."""
        found = [form.at(self.screen) for form in self.forms]
        return np.stack(found) if found else np.zeros((0, self.screen.stop))

    @cached_property
    def ranks(self) -> FloatArray:
        """The ranks of the screened records by each formula, centred and scaled to length one."""
        return np.stack([_ranks(one) for one in self.values]) if len(self.values) else self.values

    @cached_property
    def order(self) -> IntArray:
        """The screened records in the order of each formula; records without a value come last."""
        return np.argsort(self.values, axis=1, kind="stable").astype(np.int32)

    @cached_property
    def defined(self) -> IntArray:
        """For how many screened records each formula has a value."""
        return np.asarray(np.isfinite(self.values).sum(axis=1), np.int32)

    @property
    def log_tried(self) -> float:
        """The natural logarithm of the number of lines that were tried: a formula, and two records that a line passes through."""
        return math.log(max(len(self.forms), 1)) + 2 * math.log(max(self.records, 2))

    # --- numbers --------------------------------------------------------------------------------------------------

    def compute(self, column: Column) -> Computed | None:
        """Return the formula that gives a column of numbers, or None."""
        numbers = column.numbers
        if numbers is None or len(column.values) < 2 or not len(self.forms):
            return None
        found = [one for form in self._finalists(numbers) if (one := self._fit(form, column, numbers))]
        found = found or [
            one for form in self._several(numbers, column.step) if (one := self._fit(form, column, numbers))
        ]
        return _simplest(found)

    def _finalists(self, numbers: FloatArray) -> Iterator[Form]:
        """Return the formulas along which a column rises or falls, simple ones first."""
        wanted = _ranks(numbers[self.screen])
        correlation = np.abs(self.ranks @ wanted)
        best = np.argsort(-correlation, kind="stable")[:_FINALISTS]
        for place in sorted(best.tolist()):
            if correlation[place] >= _LEAST_CORRELATION:
                yield self.forms[place]

    def _fit(self, form: Form, column: Column, numbers: FloatArray) -> Computed | None:
        """Return a formula with its factor and shift if it gives the column."""
        screened = self._line(form, column, numbers, self.screen)
        if screened is None or screened.hits < _LEAST_SHARE * screened.tried:
            return None
        line = self._line(form, column, numbers, slice(0, self.records))
        if line is None or line.tried < _FEWEST_KNOWN * column.known:
            return None
        known = numbers[np.isfinite(numbers)]
        if line.factor == 0.0 or not holds(line.hits, line.tried, _fullest(known, line.width), self.log_tried):
            return None
        values = form.at(slice(0, self.records))
        words = _line_words(form, line, column, values, numbers)
        sources = tuple(dict.fromkeys(one.column for one in form.operands))
        return Computed(words, sources, line.hits / line.tried, line.predict(values), line.width / 2)

    def _line(self, form: Form, column: Column, numbers: FloatArray, rows: slice) -> Line | None:
        """Fit a formula to some records; with a wider window if its operands are rounded and it still says much."""
        values, wanted = form.at(rows), numbers[rows]
        known = np.isfinite(values) & np.isfinite(wanted)
        if known.sum() < FEWEST:
            return None
        width = fine_width(wanted[known], column.step)
        line = fit_line(values[known], wanted[known], width)
        if line.hits >= 0.9 * line.tried:
            return line
        wider = width + 2 * abs(line.factor) * form.slack(rows)
        low, high = np.quantile(wanted[known], [0.05, 0.95])
        if width < wider <= _LOOSEST * (high - low):
            return fit_line(values[known], wanted[known], wider)
        return line

    def _several(self, numbers: FloatArray, step: float) -> Iterator[Form]:
        """Return a weighted sum, and a product of powers, of several operands, if one seems to give the column."""
        own = [one for one in self.operands if one.unit != "year"]
        if len(own) < 2 or np.isfinite(numbers[self.screen]).sum() < FEWEST:
            return
        plain = np.stack([one.values for one in own])
        found = _weighted_sum(plain[:, self.screen], numbers[self.screen], step)
        if found is not None and np.count_nonzero(found) > 1:
            yield _sum_form(own, found)
        positive = [row for row, one in enumerate(own) if one.unit == "number" and np.nanmin(one.values, initial=1) > 0]
        if len(positive) > 1 and np.nanmin(numbers, initial=1) > 0:
            powers = _weighted_sum(np.log(plain[positive][:, self.screen]), np.log(numbers[self.screen]), 0.0)
            if powers is not None and (np.abs(powers) > _NO_POWER).sum() > 1:
                yield _power_form([own[row] for row in positive], powers)

    # --- categories -----------------------------------------------------------------------------------------------

    def band(self, column: Column) -> Banded | None:
        """Return the formula along which a category changes in few places, or None."""
        if not len(self.forms) or not 2 <= len(column.values) <= _MOST_BANDS:
            return None
        codes = column.codes[self.screen]
        sorted_codes = codes[self.order]
        inside = np.arange(1, len(codes))[None, :] < self.defined[:, None]
        both = inside & (sorted_codes[:, 1:] >= 0) & (sorted_codes[:, :-1] >= 0)
        same = (both & (sorted_codes[:, 1:] == sorted_codes[:, :-1])).sum(axis=1) / np.maximum(both.sum(axis=1), 1)
        likely = [
            place for place in np.argsort(-same, kind="stable")[:_FINALISTS].tolist() if same[place] >= _LEAST_SHARE
        ]
        found = [one for place in sorted(likely) if (one := self._banded(self.forms[place], column))]
        return _simplest(found)

    def _banded(self, form: Form, column: Column) -> Banded | None:
        values = form.at(slice(0, self.records))
        known = np.flatnonzero(np.isfinite(values) & (column.codes >= 0))
        if len(known) < max(FEWEST, _FEWEST_KNOWN * column.known):
            return None
        predicted = along(values[known], column.codes[known])
        hits = int((predicted == column.codes[known]).sum())
        guess = np.bincount(column.codes[known]).max() / len(known)
        places = len(column.values) * math.log(max(self.records, 2))  # where a band may end
        if not holds(hits, len(known), float(guess), math.log(len(self.forms)) + places):
            return None
        whole = np.full(self.records, -1, np.int32)
        whole[known] = predicted
        sources = tuple(dict.fromkeys(one.column for one in form.operands))
        return Banded(f"bands of {form.words}", sources, hits / len(known), whole)


def along(values: FloatArray, codes: IntArray) -> IntArray:
    """Return for each record the code that most of its neighbours along ``values`` have, without its own."""
    order = np.argsort(values, kind="stable")
    line = codes[order]
    near = np.stack([np.roll(line, shift) for shift in range(-_NEIGHBOURS, _NEIGHBOURS + 1) if shift])
    votes = (near[:, None, :] == near[None, :, :]).sum(axis=0)
    chosen = near[votes.argmax(axis=0), np.arange(len(line))]
    found = np.empty_like(codes)
    found[order] = chosen
    return found


def _simplest(found: Sequence[_Found]) -> _Found | None:
    """Return the first of some rules, unless a later one gives more records."""
    best: _Found | None = None
    for one in found:
        if best is None or one.share > best.share + _SIMPLER:
            best = one
    return best


def _ranks(values: FloatArray) -> FloatArray:
    """Return mean ranks, centred and of length one; a missing value is in the middle."""
    known = np.isfinite(values)
    ranks = np.zeros(len(values))
    if known.any():
        _, place, count = np.unique(values[known], return_inverse=True, return_counts=True)
        middle = np.cumsum(count) - (count - 1) / 2
        ranks[known] = middle[place] - middle[place].mean()
    length = float(np.sqrt(ranks @ ranks))
    return ranks / length if length else ranks


def _fullest(values: FloatArray, width: float) -> float:
    """Return the share of values that one window of a width holds at most: how often a constant guess is right."""
    ordered = np.sort(values)
    inside = np.searchsorted(ordered, ordered + width, side="right") - np.arange(len(ordered))
    return float(inside.max()) / len(ordered)


# --- words -------------------------------------------------------------------------------------------------------


def _line_words(form: Form, line: Line, column: Column, values: FloatArray, numbers: FloatArray) -> str:
    """Return a formula with its factor and shift: ``weight / height² · 10⁴``."""
    exact = line.factor * values
    rest = numbers - exact
    shift = float(np.nanmedian(rest))
    rounded = ""
    if column.step and not np.nanmedian(np.abs(rest - shift)) <= _SIMPLER * column.step:
        lowest = line.low if abs(line.low) > _SIMPLER * column.step else 0.0
        down = abs(lowest + column.step) <= 0.1 * column.step
        rounded = ", rounded down" if down else ", rounded"
        shift = 0.0 if abs(line.middle) <= column.step else line.middle
    negligible = abs(shift) <= max(line.width, 1e-9)
    text = form.negative if line.factor < 0 and form.negative else form.words
    if factor_text(line.factor):
        text = (f"({text})" if _is_sum(text) else text) + factor_text(line.factor)
    if line.factor < 0 and not form.negative:
        text = f"−({text})" if _is_sum(text) else f"−{text}"
    if not negligible and not column.is_date:
        text += f" {'+' if shift > 0 else '−'} {abs(shift):.6g}"
    return text + rounded


def _is_sum(text: str) -> bool:
    return " + " in text or " − " in text


# --- sums and products of several --------------------------------------------------------------------------------


def _weighted_sum(plain: FloatArray, wanted: FloatArray, step: float) -> FloatArray | None:
    """Return the weights of operands whose sum equals the column in most records. If several sums are exact, return the one that is nearest to most records."""
    known = np.isfinite(wanted) & np.isfinite(plain).all(axis=0)
    if known.sum() < max(FEWEST, 3 * (len(plain) + 1)):
        return None
    middle, spread = plain[:, known].mean(axis=1), plain[:, known].std(axis=1)
    used = spread > 0
    x = np.vstack([(plain[used][:, known] - middle[used, None]) / spread[used, None], np.ones(int(known.sum()))])
    y = wanted[known]
    best = _least_median(x, y)
    if np.median(np.abs(y - best @ x)) > max(2 * step, _LOOSEST * float(np.ptp(y))):
        return None
    for _ in range(3):
        off = np.abs(y - best @ x)
        near = off <= np.quantile(off, 0.8)
        best = _least_squares(x[:, near], y[near])
    off = np.abs(y - best @ x)
    spread_y = float(np.ptp(y))
    if spread_y == 0 or np.quantile(off, 0.9) > max(2 * step, 0.02 * spread_y):
        return None
    weights = np.zeros(len(plain))
    weights[used] = np.where(np.abs(best[:-1]) < max(step / 10, 1e-6 * spread_y), 0.0, best[:-1]) / spread[used]
    return np.array([_nice(one) for one in weights])


def _least_median(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the weights with the least median distance among those of all records and of random few."""
    random = np.random.default_rng(0)
    tried = [_least_squares(x, y)]
    for _ in range(_STARTS):
        chosen = random.choice(x.shape[1], x.shape[0], replace=False)
        some = x[:, chosen].T
        if abs(np.linalg.det(some)) > 1e-9:
            tried.append(np.linalg.solve(some, y[chosen]))
    off = [float(np.median(np.abs(y - one @ x))) for one in tried]
    return tried[int(np.argmin(off))]


def _least_squares(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the weights of least squares; the few operands make the normal equations small."""
    return np.asarray(np.linalg.lstsq(x @ x.T, x @ y, rcond=None)[0], np.float64)


def _nice(weight: float) -> float:
    """Return a weight as a round number if it is very near to one."""
    for digits in range(5):
        if weight and round(weight, digits) and abs(round(weight, digits) - weight) <= 1e-3 * abs(weight):
            return round(weight, digits)
    return weight


def _sum_form(operands: Sequence[Operand], weights: FloatArray) -> Form:
    used = [(one, float(weight)) for one, weight in zip(operands, weights, strict=True) if weight]
    words = ""
    for one, weight in used:
        sign = "−" if weight < 0 else "+"
        times = one.words if abs(weight) == 1 else f"{abs(weight):.4g} · {one.words}"
        words += f" {sign} {times}" if words else (f"−{times}" if weight < 0 else times)
    factors = [weight for _, weight in used]
    return Form(words, tuple(one for one, _ in used), lambda *x: sum(a * b for a, b in zip(factors, x, strict=True)))


def _power_form(operands: Sequence[Operand], powers: FloatArray) -> Form:
    used = [
        (one, round(float(power), 3)) for one, power in zip(operands, powers, strict=True) if abs(power) > _NO_POWER
    ]
    words = " · ".join(one.words if power == 1 else f"{one.words}^{power:g}" for one, power in used)
    factors = [power for _, power in used]
    return Form(
        words,
        tuple(one for one, _ in used),
        lambda *x: np.prod([b**a for a, b in zip(factors, x, strict=True)], axis=0),
    )
