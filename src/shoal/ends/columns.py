"""The ends of one column's ranges, and how they move."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray
from shoal.encoding import CodedColumn
from shoal.ends.grids import Grid, Step, step_names


class Rule(NamedTuple):
    """How the ends of one column move: by at most a share of each range's width, or by one step."""

    share: float
    step: Step | None = None


@dataclass(frozen=True)
class ColumnEnds:
    """How the ends of one column move, the same for equal ranges."""

    column: CodedColumn
    grid: Grid
    rule: Rule

    @cached_property
    def _steps(self) -> list[Step]:
        if self.rule.step is not None:
            return [self.rule.step]
        with np.errstate(over="ignore"):
            width = min(float(self.column.numbers[-1] - self.column.numbers[0]), sys.float_info.max)
            gaps = np.diff(self.column.numbers)
        narrowest = float(gaps[gaps > 0].min(initial=width))
        return self.grid.steps(narrowest * self.rule.share, width * self.rule.share) if self.rule.share > 0 else []

    def _which(self, low: IntArray, high: IntArray) -> IntArray:
        """Return the step each range moves by, -1 for none: one value, or one mixed with missing values, has no ends."""
        ranges = self.is_range(low, high)
        if self.rule.step is not None:
            return np.where(ranges, 0, -1).astype(np.int32)
        last = len(self.column.values) - 1
        width = self.column.numbers[np.minimum(high, last)] - self.column.numbers[np.minimum(low, last)]
        sizes = np.array([step.size for step in self._steps])
        found = np.searchsorted(sizes, width * self.rule.share, side="right") - 1
        return np.where(ranges, found, -1).astype(np.int32)

    def is_range(self, low: IntArray, high: IntArray) -> BoolArray:
        """Return which pairs of codes are released as a range."""
        return np.asarray((low < high) & (high < len(self.column.values)), np.bool_)

    def move(self, low: IntArray, high: IntArray) -> tuple[AnyArray, AnyArray]:
        """Return both ends of ranges of codes, moved outwards; those of what is not a range mean nothing."""
        last = len(self.column.values) - 1
        exact = self.grid.exact
        before = exact[np.minimum(low, last)], exact[np.minimum(high, last)]
        return self.grid.move(*before, self._steps, self._which(low, high))

    def texts(self, low: IntArray, high: IntArray) -> tuple[list[str], list[str]]:
        """Return both ends as they are written."""
        begin, end = self.move(low, high)
        return self.grid.texts(begin), self.grid.texts(end)

    def positions(self, ends: AnyArray) -> FloatArray:
        """Return ends on the column's scale."""
        return self.grid.positions(ends, self.column.origin)

    def steps_used(self, low: IntArray, high: IntArray) -> str:
        """Name the steps by which some end really moved, and in how many of the ranges if not in all; empty if all stay where they are."""
        if not len(low):
            return ""
        begin, end = self.move(low, high)
        last = len(self.column.values) - 1
        moved = (begin != self.grid.exact[np.minimum(low, last)]) | (end != self.grid.exact[np.minimum(high, last)])
        stepped = self._which(low, high)
        if not (np.asarray(moved, np.bool_) & (stepped >= 0)).any():
            return ""
        named = step_names(self._steps[number] for number in np.unique(stepped[stepped >= 0]).tolist())
        ranges, round_ones = int(self.is_range(low, high).sum()), int((stepped >= 0).sum())
        return named if round_ones == ranges else f"{named} in {round_ones:,} of {ranges:,} groups with a range"
