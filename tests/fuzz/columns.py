"""Columns of every kind, with the values that have broken things before."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

import shoal


@dataclass
class Column:
    """A column as shoal gets it, and what the checker knows of it."""

    array: Any
    plain: list[Any]
    """Its values once more: None, text, or an exact number (days and moments as nanoseconds)."""
    family: str
    """What a released text is read as: number, float, decimal, moment, clock, month, duration, order or text."""
    kind: Any = None
    hierarchy: Any = None
    leaves: dict[str, frozenset[str]] = field(default_factory=dict)
    """The texts of the leaves below each node of the hierarchy."""
    written: dict[Any, str] = field(default_factory=dict)
    """How a value is written in a column of text, and released where it is taken for a category."""
    tree: Any = None
    """The hierarchy as plain dicts and lists, where distances in it are to be measured."""


def _draw(rng: np.random.Generator, values: list[Any], n: int, missing: float = 0.1) -> list[Any]:
    chosen = [values[place] for place in rng.integers(0, len(values), n)]
    holes = rng.random(n) < (missing if rng.random() < 0.4 else 0.0)
    return [None if hole else value for hole, value in zip(holes, chosen, strict=True)]


def _numbers(values: list[Any]) -> list[Any]:
    return [None if value is None or value != value else Fraction(value) for value in values]  # noqa: PLR0124  (NaN)


_BIG = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, 2**63 - 2, -(2**63), 5, 6, 123456789012345678]


def small_integers(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, list(range(-3, int(rng.integers(1, 60)))), n)
    return Column(pa.array(values, pa.int64()), _numbers(values), "number")


def big_integers(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, _BIG, n)
    return Column(pa.array(values, pa.int64()), _numbers(values), "number")


def unsigned_integers(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, [0, 1, 2**64 - 1, 2**64 - 2, 2**63, 7], n)
    return Column(pa.array(values, pa.uint64()), _numbers(values), "number")


def long_numbers_as_text(rng: np.random.Generator, n: int) -> Column:
    values = [10**17 + int(one) for one in rng.integers(0, 8, n)]
    return Column(pa.array([str(one) for one in values]), _numbers(values), "number")


def numbers_with_a_decimal_comma(rng: np.random.Generator, n: int) -> Column:
    values = [Fraction(int(one), 2) for one in rng.integers(1, 9_000, n)]
    texts = [f"{float(one):,.1f}".translate(str.maketrans(",.", ".,")) for one in values]
    return Column(pa.array(texts), [*values], "float", written=dict(zip(values, texts, strict=True)))


def ordinary_floats(rng: np.random.Generator, n: int) -> Column:
    values = [float(one) for one in np.round(rng.normal(0, 10, n), int(rng.integers(0, 3)))]
    return Column(pa.array(values, pa.float64()), _numbers(values), "float")


def strange_floats(rng: np.random.Generator, n: int) -> Column:
    payload = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
    pools = [
        [0.0, -0.0],
        [1.7e308, -1.7e308, 1.6e308, 5.0],
        [5e-324, 1e-323, 0.0, 1e-310],
        [1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)],
        [0.1, 0.2, 0.30000000000000004, 0.3, -0.0, 0.0],
        [float("nan"), payload, 1.0, 2.0],
    ]
    values = _draw(rng, pools[int(rng.integers(len(pools)))], n)
    return Column(pa.array(values, pa.float64(), from_pandas=False), _numbers(values), "float")


def near_floats(rng: np.random.Generator, n: int) -> Column:
    """Columns of a matrix whose duplicates once made a descent swap them for ever."""
    pools = [[1e-05, -222.38852052262166], [-995.5757306598821, -134.02906799087975]]
    values = _draw(rng, pools[int(rng.integers(2))], n)
    return Column(pa.array(values, pa.float64()), _numbers(values), "float")


def decimals(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, [Decimal("0.10"), Decimal("0.1000000001"), Decimal(-3), Decimal("123456789012345.678")], n)
    return Column(pa.array(values, pa.decimal128(38, 10)), _numbers(values), "decimal")


def _nanoseconds(value: date | datetime | None) -> int | None:
    if value is None:
        return None
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since // timedelta(microseconds=1)) * 1000


def dates(rng: np.random.Generator, n: int) -> Column:
    values = _draw(
        rng, [date(1900, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2024, 3, 1), date(9999, 12, 31)], n
    )
    return Column(pa.array(values, pa.date32()), [_nanoseconds(one) for one in values], "moment")


def dates_as_text(rng: np.random.Generator, n: int) -> Column:
    values = [date(1992, 4, 30) + timedelta(days=int(one)) for one in rng.integers(0, 99, n)]
    texts = [one.strftime("%d.%m.%Y") for one in values]
    plain = [_nanoseconds(one) for one in values]
    return Column(pa.array(texts), plain, "moment", written=dict(zip(plain, texts, strict=True)))


def far_instants(rng: np.random.Generator, n: int) -> Column:
    """Moments from the first to the last year that a calendar of four digits has, and one beyond."""
    first, last = -62_135_596_800, 253_402_300_799
    values = _draw(rng, [first, first + 1, 0, last - 1, last, *([last + 1] if rng.random() < 0.2 else [])], n)
    unit = ("s", "us")[int(rng.integers(2))]
    part = {"s": 1, "us": 10**6}[unit]
    zone = (None, "UTC")[int(rng.integers(2))]
    array = pa.array([None if one is None else one * part for one in values], pa.timestamp(unit, zone))
    return Column(array, [None if one is None else one * 10**9 for one in values], "moment")


def times_of_day(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, [0, 1, 999, 43_200 * 10**9, 86_399 * 10**9, 86_400 * 10**9 - 1], n)
    return Column(pa.array(values, pa.time64("ns")), list(values), "clock")


def months(rng: np.random.Generator, n: int) -> Column:
    """Periods of pandas: the plain value is the number of the month."""
    import pandas as pd

    values = _draw(rng, [600, 601, 602, 614, 0, -1], n)
    texts = [None if one is None else str(pd.Period(ordinal=one, freq="M")) for one in values]
    series = pd.Series(pd.PeriodIndex([pd.NaT if one is None else one for one in texts], freq="M"))
    return Column(pa.Array.from_pandas(series), list(values), "month")


def instants(rng: np.random.Generator, n: int) -> Column:
    unit, zone = ("s", "us", "ns")[int(rng.integers(3))], (None, "UTC", "Europe/Berlin")[int(rng.integers(3))]
    part = {"s": 10**9, "us": 1000, "ns": 1}[unit]
    base = 1_700_000_000 * 10**9 // part
    midnight = 1_700_006_400 * 10**9 // part
    values = _draw(rng, [base, base + 1, base + 2, midnight, -1, 0], n)
    plain = [None if one is None else one * part for one in values]
    return Column(pa.array(values, pa.timestamp(unit, zone)), plain, "moment")


def durations(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, [0, 1, -1, 86_400 * 10**9, 90_061 * 10**9 + 5, -(3 * 10**12)], n)
    return Column(pa.array(values, pa.duration("ns")), list(values), "duration")


_WORDS = ["Zoë", "李", "a, b", "{x}", "[1-2]", "*", '"', "née\u200d", "", " x ", "=1+1", "@a", "-", "NA", "null", "1.0", "01", "[a to b]", "a to b", "\t", "\\", "x" * 200, "a\nb"]  # fmt: skip


def strange_text(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, [_WORDS[place] for place in rng.permutation(len(_WORDS))[: int(rng.integers(1, 9))]], n)
    choice = [None, "flat", "set"][int(rng.integers(3))]
    return Column(pa.array(values, pa.string()), list(values), "text", hierarchy=choice)


def doubled_dictionary(rng: np.random.Generator, n: int) -> Column:
    entries = ["hiv", "flu", "hiv", "gout"]
    indices = [None if one == len(entries) else int(one) for one in rng.integers(0, len(entries) + 1, n)]
    array = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(entries))
    return Column(array, [None if one is None else entries[one] for one in indices], "text")


def cut_dictionary(rng: np.random.Generator, n: int) -> Column:
    """A part of a longer column, whose dictionary still names values that no row has."""
    values = _draw(rng, ["a", "b", "c"], n)
    whole = pa.array([*(f"gone {one}" for one in range(20)), *values], pa.string()).dictionary_encode()
    return Column(whole.slice(20), list(values), "text", hierarchy=[None, "flat"][int(rng.integers(2))])


def truths(rng: np.random.Generator, n: int) -> Column:
    values = _draw(rng, [True, False], n)
    return Column(pa.array(values, pa.bool_()), [None if one is None else str(one).lower() for one in values], "text")


def ordered_words(rng: np.random.Generator, n: int) -> Column:
    order = ["low to mid", "mid", "high", "top"]
    values = _draw(rng, order, n)
    return Column(pa.array(values, pa.string()), list(values), "order", kind=order)


def _below(tree: Any, label: str) -> frozenset[str]:
    if tree is None:
        return frozenset([label])
    if isinstance(tree, list):
        return frozenset(tree)
    return frozenset().union(*(_below(one, child) for child, one in tree.items()))


def _all_nodes(tree: Any, label: str) -> dict[str, frozenset[str]]:
    found = {label: _below(tree, label)}
    for child, one in tree.items() if isinstance(tree, dict) else ():
        found |= _all_nodes(one, child)
    for leaf in tree if isinstance(tree, list) else ():
        found[leaf] = frozenset([leaf])
    return found


def hierarchical_words(rng: np.random.Generator, n: int) -> Column:
    tree = {"*": {"care": {"ward": ["nurse", "[carer]"], "desk": ["clerk"]}, "{craft}": ["baker", "smith"]}}
    values = _draw(rng, ["nurse", "[carer]", "clerk", "baker", "smith"], n)
    made = shoal.Hierarchy.from_dict(tree)
    return Column(pa.array(values), list(values), "text", hierarchy=made, leaves=_all_nodes(tree["*"], "*"), tree=tree)


def numbers_in_intervals(rng: np.random.Generator, n: int) -> Column:
    floats = rng.random() < 0.5
    values = [float(one) if floats else int(one) for one in rng.integers(0, 100, n)]
    made = shoal.Hierarchy.from_intervals(values, [5, 10, 50])
    leaves = {label: frozenset(made.leaves_below(label)) for label in made.labels}
    return Column(pa.array(values), [str(int(one)) for one in values], "text", hierarchy=made, leaves=leaves)


def prefixed_codes(rng: np.random.Generator, n: int) -> Column:
    values = [f"{one:05}" for one in rng.integers(0, 300, n)]
    made = shoal.Hierarchy.from_prefixes(values, [4, 3, 0])
    leaves = {label: frozenset(one for one in values if _has_prefix(one, label)) for label in made.labels}
    return Column(pa.array(values), list(values), "text", hierarchy=made, leaves=leaves)


def _has_prefix(value: str, label: str) -> bool:
    return value.startswith(label.rstrip("*"))


MAKERS: tuple[Callable[[np.random.Generator, int], Column], ...] = (
    small_integers,
    big_integers,
    unsigned_integers,
    long_numbers_as_text,
    numbers_with_a_decimal_comma,
    ordinary_floats,
    strange_floats,
    decimals,
    near_floats,
    dates,
    dates_as_text,
    instants,
    far_instants,
    times_of_day,
    months,
    durations,
    strange_text,
    doubled_dictionary,
    cut_dictionary,
    truths,
    ordered_words,
    hierarchical_words,
    numbers_in_intervals,
    prefixed_codes,
)
