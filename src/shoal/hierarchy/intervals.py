"""Intervals of numbers, reckoned in whole multiples of the values' last decimal so that no bound is blurred."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Context, Decimal, InvalidOperation
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeAlias

from shoal.errors import HierarchyError, ParameterError
from shoal.hierarchy.links import ROOT, Chain
from shoal.hierarchy.texts import refuse_unreadable, value_text
from shoal.validation import shown

OWNER = "Hierarchy.from_intervals"
EXACT = Context(prec=10_000)
MOST_DIGITS = 400
"""More than any float has before or after its point; a text such as 1e999999 would fill the memory."""

Grid: TypeAlias = Callable[[int], tuple[int, int]]
"""From a number to the first and last number of its interval, all in units."""


def interval_chains(values: Sequence[Any], width: Any, cuts: Any, origin: float) -> Iterator[Chain]:
    """Yield, in order of the numbers, each value's text and the intervals that contain it."""
    if (width is None) == (cuts is None):
        raise ParameterError(f"{OWNER} needs either 'width' or 'cuts'. Got {'neither' if width is None else 'both'}.")
    levels = _as_levels(width if cuts is None else cuts, nested=cuts is not None)
    bounds = [[_number(bound) for bound in level] for level in levels]
    texts = {value_text(value) for value in values}
    refuse_unreadable(sorted(text for text in texts if not _is_number(text)), len(texts), "no finite numbers", OWNER)
    numbers = {text: _number(text) for text in texts}
    start = _number(origin)
    decimals = max(map(_decimals, [start, *numbers.values(), *(bound for level in bounds for bound in level)]))
    units = [[_units(bound, decimals) for bound in level] for level in bounds]
    grids = _width_grids(units, _units(start, decimals)) if cuts is None else _cut_grids(units, decimals)
    label = cache(partial(_label, decimals=decimals))
    for number, text in sorted((_units(number, decimals), text) for text, number in numbers.items()):
        yield Chain((text, *(label(grid(number)) for grid in grids), ROOT))


def _as_levels(given: Any, *, nested: bool) -> list[list[Any]]:
    """Return the bounds of each level; one width or one list of cuts is one level."""
    items = list(given) if isinstance(given, Iterable) else [given]
    if not items:
        raise ParameterError(f"The '{'cuts' if nested else 'width'}' parameter of {OWNER} must not be empty.")
    if not nested:
        return [[item] for item in items]
    return [list(level) for level in items] if isinstance(items[0], Iterable) else [items]


def _width_grids(units: list[list[int]], start: int) -> list[Grid]:
    widths = [width for (width,) in units]
    for smaller, larger in pairwise([0, *widths]):
        if larger <= smaller or (smaller and larger % smaller):
            raise ParameterError(
                f"The 'width' parameter of {OWNER} must hold positive numbers, each a multiple of the one before and larger.",
                hint="such as width=[5, 10, 20]",
            )
    return [partial(_width_interval, width=width, start=start) for width in widths]


def _width_interval(number: int, width: int, start: int) -> tuple[int, int]:
    first = start + (number - start) // width * width
    return first, first + width - 1


def _cut_grids(units: list[list[int]], decimals: int) -> list[Grid]:
    for finer, coarser in pairwise([units[0], *units]):
        if len(coarser) < 2 or coarser != sorted(set(coarser)):
            raise ParameterError(f"Each list of 'cuts' of {OWNER} must hold two or more rising numbers.")
        if not set(coarser) <= set(finer) or (coarser[0], coarser[-1]) != (finer[0], finer[-1]):
            raise ParameterError(
                f"Each list of 'cuts' of {OWNER} must be part of the list before, with the same ends.",
                hint="such as cuts=[[0, 18, 40, 65, 120], [0, 65, 120]]",
            )
    return [partial(_cut_interval, cuts=cuts, decimals=decimals) for cuts in units]


def _cut_interval(number: int, cuts: list[int], decimals: int) -> tuple[int, int]:
    if not cuts[0] <= number <= cuts[-1]:
        raise HierarchyError(
            f"A value is outside the cuts {_text(cuts[0], decimals)} to {_text(cuts[-1], decimals)}.",
            hint="widen the cuts, or leave the value out",
            values=[_text(number, decimals)],
        )
    place = min(bisect_right(cuts, number), len(cuts) - 1)
    is_last = place == len(cuts) - 1
    return cuts[place - 1], cuts[place] if is_last else cuts[place] - 1


def _number(value: Any) -> Decimal:
    """Return a bound, or a value that is known to be a number, as an exact number."""
    text = value_text(value)
    if not _is_number(text):
        raise ParameterError(f"The bounds of {OWNER} must be finite numbers. Got {shown(value)} instead.")
    return Decimal(text)


def _is_number(text: str) -> bool:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return False
    return number.is_finite() and abs(number.adjusted()) <= MOST_DIGITS


def _decimals(number: Decimal) -> int:
    if number == number.to_integral_value():
        return 0
    return -int(number.normalize(EXACT).as_tuple().exponent)


def _units(number: Decimal, decimals: int) -> int:
    return int(number.scaleb(decimals, EXACT))


def _text(number: int, decimals: int) -> str:
    return value_text(Decimal(number).scaleb(-decimals, EXACT))


def _label(interval: tuple[int, int], decimals: int) -> str:
    first, last = interval
    return _text(first, decimals) if first == last else f"[{_text(first, decimals)}-{_text(last, decimals)}]"
