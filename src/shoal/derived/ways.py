"""The people that a computed column singles out within the groups of a release, and the cost of each remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.derived.columns import Column
from shoal.derived.search import Derived
from shoal.frames.canonical import encode_dictionary

_PERIODS = {"week": 7.0, "month": 30.4, "quarter": 91.3, "year": 365.25}
_STEPS = (1.0, 2.0, 5.0)
_NAMED = 3
"""Number of columns whose remedies are listed; of further columns only the names are."""

Counter = Callable[[IntArray], LongArray]
"""Returns the people behind each label."""


@dataclass(frozen=True)
class Way:
    """One remedy: a change of the recipe that removes the problem."""

    words: str
    command: str
    lost: float
    """The share of the column's detail that it costs, at most."""


@dataclass(frozen=True)
class Exposure:
    """What a released column that follows from the quasi-identifiers reveals."""

    derived: Derived
    below: int
    """Records whose group, once the column is known, has fewer than k people."""
    ways: tuple[Way, ...]


def expose(derived: Derived, column: pa.ChunkedArray, groups: IntArray, k: int, count: Counter) -> Exposure:
    """Return whom a column picks out within groups, and the ways out."""
    encoded = encode_dictionary(column)
    known = Column(derived.column, np.asarray(encoded.indices.fill_null(-1)).astype(np.int32), encoded.dictionary)
    return Exposure(derived, below(groups, known.codes, k, count), tuple(_ways(known, groups, k, count)))


def below(groups: IntArray, codes: IntArray, k: int, count: Counter) -> int:
    """Return how many records are in groups of fewer than ``k`` people if a column with these codes is known too."""
    label = _together(groups, codes)
    return int((count(label)[label] < k).sum())


def _together(groups: IntArray, codes: IntArray) -> IntArray:
    key = groups.astype(np.int64) * (int(codes.max(initial=0)) + 2) + codes + 1
    return np.asarray(np.unique(key, return_inverse=True)[1], np.int32)


def _ways(column: Column, groups: IntArray, k: int, count: Counter) -> list[Way]:
    name = column.name
    found = [
        Way("make it a quasi-identifier", f"--qi {name}", _as_ranges(column, groups)),
        Way("leave it out", f"--identifier {name}", 1.0),
    ]
    rounded = _rounding(column, groups, k, count)
    return [*found, rounded] if rounded else found


def _as_ranges(column: Column, groups: IntArray) -> float:
    """Return how much of a column the ranges or sets of the groups that were found would hide, on average over records."""
    known = column.codes >= 0
    if not known.any():
        return 0.0
    if column.numbers is not None:
        values, label = column.numbers[known], groups[known]
        low, high = np.full(int(groups.max()) + 1, np.inf), np.full(int(groups.max()) + 1, -np.inf)
        np.minimum.at(low, label, values)
        np.maximum.at(high, label, values)
        whole = float(np.ptp(values))
        return float((high - low)[label].mean()) / whole if whole else 0.0
    pairs = np.unique(groups[known].astype(np.int64) * len(column.values) + column.codes[known])
    members = np.bincount(pairs // len(column.values), minlength=int(groups.max()) + 1)
    return float((members[groups[known]] - 1).mean()) / max(len(column.values) - 1, 1)


def _rounding(column: Column, groups: IntArray, k: int, count: Counter) -> Way | None:
    """Return the finest rounding with which all groups hold, if there is one."""
    if column.distinct_numbers is None or not len(column.distinct_numbers):
        return None
    whole = float(np.ptp(column.distinct_numbers))
    for step, words, codes in _roundings(column, whole):
        if below(groups, np.append(codes, -1)[column.codes], k, count) == 0:
            return Way("round it", f"--treat {column.name}=round:{words}", min(step / whole, 1.0) if whole else 1.0)
    return None


def _roundings(column: Column, whole: float) -> list[tuple[float, str, IntArray]]:
    """Return steps from fine to coarse, as an option names them, with the code of each value rounded so."""
    if column.is_date:
        return [(days, word, _codes(pc.floor_temporal(column.values, unit=word))) for word, days in _PERIODS.items()]
    values = column.distinct_numbers
    if values is None or pa.types.is_duration(column.values.type):
        return []
    finest = column.step or whole * 1e-3
    first = int(np.floor(np.log10(finest))) if finest > 0 else 0
    last = int(np.ceil(np.log10(whole))) if whole > 0 else first
    steps = [base * 10.0**exponent for exponent in range(first, last + 1) for base in _STEPS]
    return [(step, f"{step:.12g}", _rint(values, step)) for step in steps if finest < step <= whole]


def _rint(values: FloatArray, step: float) -> IntArray:
    return np.asarray(np.unique(np.rint(values / step), return_inverse=True)[1], np.int32)


def _codes(values: pa.Array) -> IntArray:
    return np.asarray(values.dictionary_encode().indices, np.int32)


# --- words -------------------------------------------------------------------------------------------------------


def refusal(exposed: Sequence[Exposure], below_k: int, records: int, k: int) -> tuple[str, str]:
    """Return the sentence that refuses a release with computed columns, and the hint with the ways out."""
    formulas = "; ".join(one.derived.words for one in exposed[:_NAMED])
    more = f"; and {len(exposed) - _NAMED} more" if len(exposed) > _NAMED else ""
    noun = "column follows" if len(exposed) == 1 else "columns follow"
    message = (
        f"{len(exposed)} released {noun} from the quasi-identifiers: {formulas}{more}. Anyone who knows the quasi-identifiers can compute it, "
        f"and {below_k:,} of {records:,} records are then in groups of fewer than k = {k} people. Nothing was released."
    )
    ways = ". ".join(_ways_of(one) for one in exposed[:_NAMED])
    return message, f"{ways}. To release them all the same: --derived warn, derived='warn'."


def _ways_of(one: Exposure) -> str:
    if not one.ways:
        return f"make {one.derived.column!r} a quasi-identifier (--qi {one.derived.column}), round it (--treat) or leave it out"
    told = [f"{way.words} ({way.command}: {_price(way)})" for way in one.ways]
    return f"for {one.derived.column!r}: {'; '.join(told[:-1])}; or {told[-1]}"


def _price(way: Way) -> str:
    return "all of it is lost" if way.lost >= 1 else f"at most {max(100 * way.lost, 0.1):.3g} % of its detail is lost"


def warning(exposed: Exposure, records: int, k: int) -> str:
    """Return what is said of a computed column that is released all the same."""
    return (
        f"“{exposed.derived.column}” follows from the quasi-identifiers ({exposed.derived.words}). Anyone who knows them can compute it, and "
        f"{exposed.below:,} of {records:,} records are then in groups of fewer than k = {k} people. Make it a quasi-identifier, round it or leave it out."
    )


def likely(derived: Derived) -> str:
    """Return what is said of a column that is only predicted."""
    return (
        f"“{derived.column}” can be predicted from {derived.formula}: a decision tree is right for {100 * derived.share:.1f} % of records it has "
        "not seen. Anyone who knows them can narrow a group down by it. Make it a quasi-identifier or leave it out if that matters."
    )
