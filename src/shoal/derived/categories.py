"""Copies, maps and parts of text: columns that follow from another one by looking a value up, or by reading a part of it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray
from shoal.derived.columns import Column, date_parts
from shoal.derived.criteria import FEWEST, NINE_IN_TEN, holds

_FEWEST_SHARED = 0.1
"""A map can be seen only if values repeat: in at least this share of the records."""
_PAIRS = 400
"""Pairs of texts that are looked at to see which part of the one the other is."""
_FIRST = 60
_OFTEN = 0.7
_TRIED_PARTS = 1_000
"""Ways to cut a part out of a text that are told apart, about."""


@dataclass(frozen=True)
class LookedUp:
    """A column that follows from one value of another."""

    kind: str
    """``copy``, ``map`` or ``part``."""
    words: str
    source: str
    share: float
    predicted: IntArray
    """For each record of the sample the value that follows; -1 if none does."""


class Sources:
    """The known columns by which a value can be looked up: as they are, and the parts of dates."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.plain = list(columns)
        self.columns = [(one, one.name) for one in columns]
        for column in columns:
            if column.is_date:
                self.columns += [(part, column.name) for part in date_parts(column).values()]

    def find(self, column: Column) -> Iterator[LookedUp]:
        """Return what gives a column: copies first, then parts, then maps."""
        for find in (self._copies, self._parts, self._maps):
            yield from find(column)

    def _copies(self, column: Column) -> Iterator[LookedUp]:
        for one in self.plain:
            if not _may_be_same(one, column):
                continue
            translation = _same_values(one, column)
            found = _judged("copy", one.name, one, translation, column, 1)
            if found:
                yield found

    def _parts(self, column: Column) -> Iterator[LookedUp]:
        for one in self.plain:
            for words, cut in _cuts(one, column):
                place = {text: code for code, text in enumerate(column.texts)}
                translation = np.array([place.get(cut(text), -1) for text in one.texts], np.int32)
                found = _judged("part", words, one, translation, column, _TRIED_PARTS)
                if found:
                    yield found
                    break

    def _maps(self, column: Column) -> Iterator[LookedUp]:
        for one, source in self.columns:
            seen = look_up(one.codes, column.codes)
            both = (one.codes >= 0) & (column.codes >= 0)
            tried, guess = int(seen.shared.sum()), _commonest(column.codes[seen.shared])
            if tried < _FEWEST_SHARED * both.sum() or len(column.values) < 2:
                continue
            if holds(seen.hits, tried, guess, math.log(len(self.columns)) + _map_freedom(one, column, tried)):
                yield LookedUp("map", f"a map of {one.name}", source, seen.hits / tried, seen.predicted)


def _map_freedom(one: Column, column: Column, tried: int) -> float:
    """Return the logarithm of the ways to map values that have enough records to be distinguished from chance; left-out records check the rest."""
    return math.log(max(min(len(one.values), tried), 1)) + math.log(max(len(column.values), 1))


class Seen(NamedTuple):
    """What looking a value up says about each record when the record itself is left out."""

    hits: float
    shared: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """Records whose value another record has too, and for which both values are known."""
    predicted: IntArray
    """The commonest value among the records with the same value; -1 without one."""


def look_up(known: IntArray, wanted: IntArray) -> Seen:
    """Guess each record's value as the commonest among all other records that share what is known."""
    both = np.flatnonzero((known >= 0) & (wanted >= 0))
    shared, predicted = np.zeros(len(known), np.bool_), np.full(len(known), -1, np.int32)
    if not len(both):
        return Seen(0.0, shared, predicted)
    values = int(wanted.max()) + 1
    pairs, size = np.unique(known[both].astype(np.int64) * values + wanted[both], return_counts=True)
    group, value = pairs // values, (pairs % values).astype(np.int32)
    order = np.lexsort((-size, group))
    group, value, size = group[order], value[order], size[order]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    total = np.add.reduceat(size, first)
    second = np.where(np.append(first[1:], len(group)) - first > 1, size[np.minimum(first + 1, len(size) - 1)], 0)
    lead = size[first] - 1 - second
    right = size[first] * np.where(lead > 0, 1.0, np.where(lead == 0, 0.5, 0.0))
    common = total > 1
    commonest = np.full(int(known.max()) + 2, -1, np.int32)
    commonest[group[first]] = value[first]
    often = np.zeros(int(known.max()) + 2, np.bool_)
    often[group[first]] = common
    shared[both] = often[known[both]]
    predicted[known >= 0] = commonest[known[known >= 0]]
    return Seen(float(right[common].sum()), shared, predicted)


def _judged(kind: str, words: str, one: Column, translation: IntArray, column: Column, tried: int) -> LookedUp | None:
    """Return a rule that gives a value for each value of ``one``, if it gives the column."""
    predicted = np.append(translation, -1)[one.codes].astype(np.int32)
    known = (column.codes >= 0) & (one.codes >= 0)
    count, hits = int(known.sum()), int((predicted[known] == column.codes[known]).sum())
    if count < NINE_IN_TEN * column.known or hits < NINE_IN_TEN * count:
        return None
    if not holds(hits, count, _commonest(column.codes[known]), math.log(tried)):
        return None
    return LookedUp(kind, words, one.name, hits / count, predicted)


def _commonest(codes: IntArray) -> float:
    return float(np.bincount(codes).max()) / len(codes) if len(codes) else 1.0


def _may_be_same(one: Column, column: Column) -> bool:
    """Return whether most of the first records have the same value in two columns."""
    both = np.flatnonzero((one.codes >= 0) & (column.codes >= 0))[:_FIRST]
    mine, other = one.codes[both], column.codes[both]
    if one.distinct_numbers is not None and column.distinct_numbers is not None:
        same = one.distinct_numbers[mine] == column.distinct_numbers[other]
    else:
        same = np.array([one.texts[a] == column.texts[b] for a, b in zip(mine, other, strict=True)], np.bool_)
    return bool(same.sum() >= _OFTEN * len(both))


def _same_values(one: Column, column: Column) -> IntArray:
    """Return for each value of one column the number of the same value of another, -1 if it has none."""
    if one.distinct_numbers is not None and column.distinct_numbers is not None:
        return _places(one.distinct_numbers, column.distinct_numbers)
    place = {text: code for code, text in enumerate(column.texts)}
    return np.array([place.get(text, -1) for text in one.texts], np.int32)


def _places(values: FloatArray, among: FloatArray) -> IntArray:
    place = {float(value): code for code, value in enumerate(among)}
    return np.array([place.get(float(value), -1) for value in values], np.int32)


# --- parts of text -----------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[^\W_]+")


def _cuts(one: Column, column: Column) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Return ways to cut a column out of the text of another, if it is a part of most of its texts."""
    if not (one.is_text or one.is_date) or pa.types.is_floating(column.values.type):
        return
    pairs = _pairs(one, column)
    if len(pairs) < FEWEST // 2:
        return
    inside = [(text, part, text.find(part)) for text, part in pairs if part and text != part]
    found = [each for each in inside if each[2] >= 0]
    if len(found) < _OFTEN * len(pairs):
        return
    name = one.name
    (start, length), often = Counter((place, len(part)) for _, part, place in found).most_common(1)[0]
    ends = [len(part) for text, part, place in found if place and text.endswith(part)]
    tail, tails = Counter(ends).most_common(1)[0] if ends else (0, 0)
    if tails >= max(often, _OFTEN * len(pairs)):
        yield f"the last {tail} characters of {name}", lambda text: text[-tail:]
    elif often >= _OFTEN * len(pairs):
        first = f"the first {length} characters" if start == 0 else f"characters {start + 1} to {start + length}"
        yield f"{first} of {name}", lambda text: text[start : start + length]
    tokens = Counter(_token(text, part) for text, part, _ in found)
    number, often = tokens.most_common(1)[0]
    if number is not None and often >= _OFTEN * len(pairs):
        yield f"part {number + 1} of {name}", lambda text: _part(text, number)


def _token(text: str, part: str) -> int | None:
    parts = _TOKEN.findall(text)
    return parts.index(part) if len(parts) > 1 and part in parts else None


def _part(text: str, number: int) -> str:
    parts = _TOKEN.findall(text)
    return parts[number] if number < len(parts) else ""


def _pairs(one: Column, column: Column) -> list[tuple[str, str]]:
    """Return distinct pairs of texts of two columns."""
    both = np.flatnonzero((one.codes >= 0) & (column.codes >= 0))
    key = one.codes[both].astype(np.int64) * len(column.values) + column.codes[both]
    first = np.sort(np.unique(key, return_index=True)[1])[:_PAIRS]
    return [(one.texts[one.codes[row]], column.texts[column.codes[row]]) for row in both[first]]
