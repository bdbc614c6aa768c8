"""Measures of the sensitive values in all groups of a table at once: l, entropy, c, t, α, β, δ.

``MEASURES`` has a row for each measure. The kernels measure one group at a time while groups are mended; ``Histograms`` measures all
groups of a table together from the counts of (group, value) pairs. Both sum integers and divide once, so they agree to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.kernels.models import rules as kernels
from shoal.kernels.models.rules import SLACK
from shoal.privacy.rows import SensitiveRow

_CELLS = 4_000_000
"""Cells of the largest array made for groups × nodes of a hierarchy."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """The sensitive values of each of several groups, none of them empty."""

    row: SensitiveRow
    labels: IntArray
    groups: int

    @cached_property
    def _counting(self) -> BoolArray:
        """The records that count: those in a group, and of a person's with the same value in the same group only the first."""
        kept = self.labels >= 0
        if self.row.person is None:
            return kept
        counting = np.zeros(len(kept), np.bool_)
        counting[np.flatnonzero(kept)[_firsts(self.labels[kept], self.row.pairs.codes[kept])]] = True
        return counting

    @cached_property
    def size(self) -> LongArray:
        """Records in each group that count; with persons, their (person, value) pairs."""
        return np.bincount(self.labels[self._counting], minlength=self.groups).astype(np.int64)

    @cached_property
    def bearers(self) -> LongArray:
        """Records in each group, or its persons."""
        if self.row.person is None:
            return self.size
        kept = self.labels >= 0
        labels = self.labels[kept]
        return np.bincount(labels[_firsts(labels, self.row.person[kept])], minlength=self.groups).astype(np.int64)

    @cached_property
    def _pairs(self) -> tuple[LongArray, LongArray, LongArray]:
        """Group, code and count of each pair that occurs, in rising order."""
        kept = self._counting
        key = self.labels[kept].astype(np.int64) * self.row.cardinality + self.row.codes[kept]
        pair, count = np.unique(key, return_counts=True)
        return pair // self.row.cardinality, pair % self.row.cardinality, count.astype(np.int64)

    @property
    def mass(self) -> int:
        """The records of the whole table that count."""
        return self.row.records

    def _largest(self, values: FloatArray) -> FloatArray:
        """Return the largest of the pairs' values in each group."""
        largest = np.full(self.groups, -np.inf)
        np.maximum.at(largest, self._pairs[0], values)
        return largest

    def distinct(self) -> FloatArray:
        """Return the number of different values."""
        return np.bincount(self._pairs[0], minlength=self.groups).astype(np.float64)

    def entropy(self) -> FloatArray:
        """Return e to the entropy: the number of equally frequent values that would be as uncertain."""
        group, _, count = self._pairs
        weighted = np.bincount(group, count * np.log(count), self.groups)
        return np.asarray(np.exp(np.log(self.size) - weighted / self.size), np.float64)

    def recursive(self, rank: int) -> FloatArray:
        """Return the count of the most frequent value ÷ the counts from the ``rank``-th most frequent on."""
        group, _, count = self._pairs
        order = np.lexsort((-count, group))
        begin = np.searchsorted(group[order], np.arange(self.groups))
        place = np.arange(len(order)) - begin[group[order]]
        tail = np.bincount(group[order], np.where(place >= rank - 1, count[order], 0), self.groups)
        with np.errstate(divide="ignore"):
            return np.asarray(self._largest(count.astype(np.float64)) / tail, np.float64)

    def _excess(self, mass: int, size: LongArray) -> LongArray:
        """Return what each pair has more than the table would make expected, times size times mass."""
        group, code, count = self._pairs
        return np.asarray(count * mass - self.row.total[code] * size[group], np.int64)

    def equal(self) -> FloatArray:
        """Return the distance to the whole table if any two values are 1 apart."""
        surplus = np.zeros(self.groups, np.int64)
        np.add.at(surplus, self._pairs[0], np.maximum(self._excess(self.mass, self.size), 0))
        return np.asarray(surplus / (self.size * self.mass), np.float64)

    def ordered(self) -> FloatArray:
        """Return the distance if neighbouring values are 1/(values - 1) apart.

        Between two values that a group has, what it has so far stays the same while the table's share rises; the
        sum of their differences follows from where the one passes the other.
        """
        if self.row.cardinality < 2:
            return np.zeros(self.groups)
        group, code, count = self._pairs
        so_far = np.cumsum(self.row.total)
        summed = np.concatenate(([0], np.cumsum(so_far)))
        end = np.append(code[1:], 0)
        end[np.append(group[1:] != group[:-1], True)] = self.row.cardinality
        before = np.cumsum(count) - count
        held = (np.cumsum(count) - before[np.searchsorted(group, group)]) * self.mass
        size = self.size[group]
        crossing = np.clip(np.searchsorted(so_far, held // size, side="right"), code, end)
        below = held * (crossing - code) - size * (summed[crossing] - summed[code])
        above = size * (summed[end] - summed[crossing]) - held * (end - crossing)
        moved = np.bincount(group, (below + above).astype(np.float64), self.groups)
        first = code[np.searchsorted(group, np.arange(self.groups))]  # values before a group's first: only the table's
        moved += self.size * summed[first]
        return np.asarray(moved / (self.size.astype(np.float64) * self.mass * (self.row.cardinality - 1)), np.float64)

    def hierarchical(self) -> FloatArray:
        """Return the distance if values are as far apart as the height of their common ancestor."""
        assert self.row.parent is not None  # noqa: S101
        nodes, height = len(self.row.parent), self.row.height
        moved = np.zeros(self.groups)
        step = max(1, _CELLS // nodes)
        for begin in range(0, self.groups, step):
            moved[begin : begin + step] = self._moved_in_tree(begin, min(begin + step, self.groups))
        if not height[-1]:
            return moved
        return np.asarray(moved / (self.size.astype(np.float64) * self.mass * height[-1]), np.float64)

    def _moved_in_tree(self, begin: int, end: int) -> FloatArray:
        assert self.row.parent is not None  # noqa: S101
        group, code, count = self._pairs
        nodes, leaves = len(self.row.parent), self.row.cardinality
        here = slice(np.searchsorted(group, begin), np.searchsorted(group, end))
        surplus = np.zeros((nodes, end - begin), np.int64)
        lack = np.zeros_like(surplus)
        gap = -self.row.total[:, None] * self.size[None, begin:end]
        gap[code[here], group[here] - begin] += count[here] * self.mass
        surplus[:leaves], lack[:leaves] = np.maximum(gap, 0), np.maximum(-gap, 0)
        moved = np.zeros(end - begin)
        for node, parent in enumerate(self.row.parent.tolist()):
            moved += float(self.row.height[node]) * np.minimum(surplus[node], lack[node])
            if parent != node:
                left = surplus[node] - lack[node]
                surplus[parent] += np.maximum(left, 0)
                lack[parent] += np.maximum(-left, 0)
        return moved

    def alpha(self) -> FloatArray:
        """Return the share of the most frequent value."""
        return np.asarray(self._largest(self._pairs[2].astype(np.float64)) / self.bearers, np.float64)

    def beta(self) -> FloatArray:
        """Return the largest relative gain of a value's share over its share of the table."""
        return np.maximum(self._largest(self._gain()), 0.0)

    def enhanced(self) -> FloatArray:
        """Return the same, infinite if a gain exceeds -ln(share of the table), which no β allows."""
        _, code, _ = self._pairs
        gain, most = self._gain(), -np.log(self.row.total[code] / self.row.population)
        return np.maximum(self._largest(np.where(gain > most + SLACK, np.inf, gain)), 0.0)

    def _gain(self) -> FloatArray:
        group, code, _ = self._pairs
        excess = self._excess(self.row.population, self.bearers)
        return np.asarray(excess / (self.row.total[code] * self.bearers[group]), np.float64)

    def delta(self) -> FloatArray:
        """Return the largest abs(ln(share in the group ÷ share of the table)) of the values present."""
        group, code, count = self._pairs
        expected = self.row.total[code] * self.bearers[group]
        return self._largest(np.abs(np.log(count * self.row.population / expected)))

    def weight(self) -> FloatArray:
        """Return how many people each group represents."""
        group, code, count = self._pairs
        value = np.ones(self.row.cardinality) if self.row.value is None else self.row.value
        return np.asarray(np.bincount(group, count * value[code], self.groups), np.float64)


def _firsts(labels: IntArray, codes: IntArray) -> LongArray:
    """Return the first place of each pair of label and code."""
    key = labels.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes
    first: LongArray = np.unique(key, return_index=True)[1].astype(np.int64)
    return first


def _least_close(bound: float, _rank: int, row: SensitiveRow) -> int:
    """Return the smallest size at which some histogram of whole records is near enough to that of the table.

    Each value gets its share rounded down, and those with the largest remainders one more: no other histogram is nearer.
    """
    records = row.records
    for size in range(1, records):
        whole, rest = np.divmod(row.total * size, records)
        missing = size - int(whole.sum())
        excess = int((records - np.sort(rest)[::-1][:missing]).sum())
        if excess <= (bound + SLACK) * size * records:
            return size
    return records


@dataclass(frozen=True)
class Measure:
    """A number that a group's sensitive values have, and what a bound on it means."""

    number: int
    """The kernels' number of the measure."""
    audited: str
    """What an audit calls it."""
    sense: int = kernels.AT_MOST
    """Whether a group must have at least the bound, at most the bound, or less."""
    compares: bool = False
    """Whether it compares a group with the whole table."""
    closed: bool = True
    """Whether the union of two groups that meet a bound always meets it too."""
    least_records: Callable[[float, int, SensitiveRow], int] = lambda _bound, _rank, _row: 1
    """The records that a group needs at least to meet a bound (with a rank), whatever its values are."""


def _whole(bound: float, _rank: int, _row: SensitiveRow) -> int:
    return math.ceil(bound - SLACK * bound)


Name = Literal[
    "size",
    "distinct",
    "entropy",
    "recursive",
    "equal",
    "ordered",
    "hierarchical",
    "alpha",
    "beta",
    "enhanced",
    "delta",
    "weight",
]
MEASURES: dict[Name, Measure] = {
    "size": Measure(kernels.SIZE, "k", kernels.AT_LEAST, least_records=_whole),
    "distinct": Measure(kernels.DISTINCT, "l", kernels.AT_LEAST, least_records=_whole),
    "entropy": Measure(kernels.ENTROPY, "entropy_l", kernels.AT_LEAST, least_records=_whole),
    "recursive": Measure(kernels.RECURSIVE, "c", kernels.BELOW, least_records=lambda _bound, rank, _row: rank),
    "equal": Measure(kernels.EQUAL, "t", compares=True, least_records=_least_close),
    "ordered": Measure(kernels.ORDERED, "t", compares=True),
    "hierarchical": Measure(kernels.HIERARCHICAL, "t", compares=True),
    "alpha": Measure(kernels.ALPHA, "alpha", least_records=lambda bound, _rank, _row: math.ceil(1.0 / (bound + SLACK))),
    "beta": Measure(kernels.BETA, "beta", compares=True),
    "enhanced": Measure(kernels.BETA_ENHANCED, "beta", compares=True),
    "weight": Measure(
        kernels.WEIGHT,
        "k_map",
        kernels.AT_LEAST,
        least_records=lambda bound, _rank, row: math.ceil(bound / (1.0 if row.value is None else row.value.max())),
    ),
    "delta": Measure(kernels.DELTA, "delta", kernels.BELOW, compares=True, closed=False),
}
"""Each measure by the name of its method of ``Histograms``; the kernels measure it in ``rules.measure``."""


def lacking(measure: Name, bound: float, values: FloatArray) -> FloatArray:
    """Return how far measures are from their bound: 0 if it is met, at most 1."""
    sense = MEASURES[measure].sense
    if sense == kernels.AT_LEAST:
        return np.where(values < bound - SLACK * bound, (bound - values) / bound, 0.0)
    met: BoolArray = values < bound - SLACK if sense == kernels.BELOW else values <= bound + SLACK
    with np.errstate(invalid="ignore"):
        share = np.where(np.isinf(values), 1.0, (values - bound) / (values + 1.0))
    return np.where(met, 0.0, np.maximum(share, SLACK))
