"""Where released ranges end: at round values, not at two people's own.

A range that follows its group tightly ends at the smallest and the largest value in it, with all digits: each end is
somebody's value. Here ends move outwards to round ones. Each range moves by the coarsest step that is not wider than a
share of it, and the share is the largest that costs the column at most ``MOST_LOSS`` more: wide ranges get
coarse ends, narrow ones fine ends, and every range hides its ends about equally well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray
from shoal.encoding import CodedColumn, CodedTable
from shoal.ends.grids import Grid, Step, TimeGrid, make_grid, number_step, step_names
from shoal.enforcement.neighbours import number_boxes
from shoal.errors import ColumnError, ParameterError
from shoal.kernels.space.space import Cover, Space
from shoal.privacy.base import Requirement, failing_groups
from shoal.validation import check_choice, check_float, check_mapping, nearest_hint, wrong

__all__ = [
    "ColumnEnds",
    "EndsChoice",
    "Ranges",
    "ReleasedBoxes",
    "check_ends",
    "choose_ends",
    "merge_ranges",
    "ranges_of",
    "released_boxes",
    "round_ends",
    "values_shown",
]

EndsChoice = str | Mapping[str, float | str]
"""``"round"``, ``"exact"``, or for single columns a step, ``"round"`` or ``"exact"``."""

MOST_LOSS = 0.05
"""How much more of a column's loss round ends may cost."""
_HALVINGS = 14
"""How often the share of a range's width is narrowed down."""
_WORDS = ("round", "exact")
_PERIODS = ("second", "minute", "hour", "day", "month", "quarter", "year")


class _Rule(NamedTuple):
    """How the ends of one column move: by at most a share of each range's width, or by one step."""

    share: float
    step: Step | None = None


@dataclass(frozen=True)
class ColumnEnds:
    """How the ends of one column move, the same for equal ranges."""

    column: CodedColumn
    grid: Grid
    rule: _Rule

    @cached_property
    def _steps(self) -> list[Step]:
        if self.rule.step is not None:
            return [self.rule.step]
        width = float(self.column.numbers[-1] - self.column.numbers[0])
        gaps = np.diff(self.column.numbers)
        finest = float(gaps[gaps > 0].min(initial=width)) * self.rule.share
        return self.grid.steps(finest, width * self.rule.share) if self.rule.share > 0 else []

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
        """Tell which pairs of codes are released as a range."""
        return np.asarray((low < high) & (high < len(self.column.values)), np.bool_)

    def move(self, low: IntArray, high: IntArray) -> tuple[AnyArray, AnyArray]:
        """Return both ends of ranges of codes, moved outwards; those of what is no range mean nothing."""
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
        """Name the steps by which some end really moved; empty where all stay where they are."""
        if not len(low):
            return ""
        begin, end = self.move(low, high)
        last = len(self.column.values) - 1
        moved = (begin != self.grid.exact[np.minimum(low, last)]) | (end != self.grid.exact[np.minimum(high, last)])
        which = self._which(low, high)[np.asarray(moved, np.bool_)]
        return step_names(self._steps[number] for number in np.unique(which[which >= 0]).tolist())


class ReleasedBoxes(NamedTuple):
    """The boxes of a release as their cells show them: codes of a column with round ends are numbers of its ends."""

    space: Space
    """Where the ends lie, those beyond the table's values at the first or last of them: nothing more is lost there."""
    cover: Cover
    shown: Space
    """Where the ends lie as a reader sees them."""


# --- parameters --------------------------------------------------------------------------------------------------


def check_ends(owner: str, ends: Any) -> EndsChoice:
    """Return where ranges may end: a word, or a word or a step for each of some columns; or raise."""
    if isinstance(ends, str):
        return check_choice(owner, "ends", ends, _WORDS)
    if not isinstance(ends, Mapping):
        raise wrong(owner, "ends", "'round', 'exact', or a dict with a step for each of some columns", ends)
    checked: dict[str, float | str] = {}
    for name, choice in check_mapping(owner, "ends", ends).items():
        parameter = f"ends[{name!r}]"
        if isinstance(choice, str):
            checked[name] = check_choice(owner, parameter, choice, (*_WORDS, *_PERIODS))
        else:
            checked[name] = check_float(owner, parameter, choice, least=0.0, above=True, hint="such as 5, or 'month'.")
    return checked


def _rules(names: Sequence[str], ends: EndsChoice) -> dict[str, float | str]:
    if isinstance(ends, str):
        return dict.fromkeys(names, ends)
    for name in ends:
        if name not in names:
            raise ColumnError(
                f"The 'ends' parameter names {name!r}, which is no quasi-identifier.",
                hint=nearest_hint(name, names) or "ends are those of released ranges.",
            )
    return dict.fromkeys(names, "round") | dict(ends)


def _refuse_step(column: CodedColumn, choice: float | str) -> None:
    """Refuse a step for a column without ranges; one with a single value has none to move."""
    if choice != "round" and (column.kind != "interval" or len(column.values) > 1):
        raise ParameterError(
            f"The 'ends' parameter gives a step for {column.name!r}, which is not released as ranges of numbers or dates.",
            hint="leave it out.",
        )


def _fixed_step(column: CodedColumn, grid: Grid, choice: float | str) -> Step:
    """Return the step a user named for a column."""
    if isinstance(grid, TimeGrid) == isinstance(choice, str):
        step = grid.named(choice) if isinstance(grid, TimeGrid) and isinstance(choice, str) else number_step(choice)
        if step is not None:
            return step
    wanted = "a word such as 'day', 'month' or 'year'" if isinstance(grid, TimeGrid) else "a number"
    raise ParameterError(f"The step that 'ends' gives for {column.name!r} must be {wanted}. Got {choice!r} instead.")


# --- choosing ----------------------------------------------------------------------------------------------------


def round_ends(
    table: CodedTable,
    labels: IntArray,
    cover: Cover,
    ends: EndsChoice,
    requirements: Sequence[Requirement] = (),
) -> dict[int, ColumnEnds]:
    """Return how the ends of each column move, by its row; columns whose ends stay are left out.

    Groups whose cells become equal are one released combination. Should a model fail there, all ends move less, at last not
    at all; a step that the user named is not given up, and the re-count will refuse the release.
    """
    chosen = {} if ends == "exact" else choose_ends(table.columns, ranges_of(table.columns, cover), ends)
    while chosen and requirements:  # ends: shares are halved until none is left
        alike = number_boxes(released_boxes(table, cover, chosen).cover)
        numbered = np.append(alike, np.int32(-1))[labels].astype(np.int32)
        if not failing_groups(requirements, numbered, int(alike.max(initial=-1)) + 1).any():
            break
        chosen = {row: finer for row, one in chosen.items() if (finer := _finer(one)) is not None}
        if all(one.rule.step is not None for one in chosen.values()):
            break
    return chosen


class Ranges(NamedTuple):
    """The distinct ranges that one column is released as, in the order of their codes; those of several fragments are merged."""

    low: IntArray
    high: IntArray
    records: FloatArray
    """How many records have each."""


def ranges_of(columns: Sequence[CodedColumn], cover: Cover) -> dict[int, Ranges]:
    """Return the ranges among the boxes of groups, by row, of the columns whose ends can move."""
    return {
        row: _distinct(*(values[real] for values in (low, high, cover.size)))
        for row, column in enumerate(columns)
        if column.kind == "interval" and not column.ordinal
        for low, high in [(cover.low[row], cover.high[row])]
        for real in [(low < high) & (high < len(column.values))]
    }


def merge_ranges(parts: Sequence[Mapping[int, Ranges]]) -> dict[int, Ranges]:
    """Return the ranges of several fragments together."""
    return {row: _distinct(*map(np.concatenate, zip(*(part[row] for part in parts), strict=True))) for row in parts[0]}


def _distinct(low: AnyArray, high: AnyArray, records: AnyArray) -> Ranges:
    pairs, which = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    counts: FloatArray = np.bincount(which.reshape(-1), records, pairs.shape[1]).astype(np.float64)
    return Ranges(pairs[0].astype(np.int32), pairs[1].astype(np.int32), counts)


def choose_ends(
    columns: Sequence[CodedColumn], ranges: Mapping[int, Ranges], ends: EndsChoice
) -> dict[int, ColumnEnds]:
    """Return how the ends of each column move if no model minds, by its row; ``ranges`` are those of the whole release."""
    found = {}
    for row, (column, choice) in enumerate(
        zip(columns, _rules([one.name for one in columns], ends).values(), strict=True)
    ):
        if choice == "exact":
            continue
        grid = make_grid(column)
        if grid is None:
            _refuse_step(column, choice)
            continue
        if choice != "round":
            rule = _Rule(0.0, _fixed_step(column, grid, choice))
        else:
            rule = _Rule(_largest_share(column, grid, ranges[row]))
        if rule.share or rule.step:
            found[row] = ColumnEnds(column, grid, rule)
    return found


def _finer(one: ColumnEnds) -> ColumnEnds | None:
    """Return ends that move half as far; None where that is no longer worth a step."""
    if one.rule.step is not None:
        return one
    share = one.rule.share / 2
    return ColumnEnds(one.column, one.grid, _Rule(share)) if share > MOST_LOSS / 2**_HALVINGS else None


def _largest_share(column: CodedColumn, grid: Grid, ranges: Ranges) -> float:
    """Return the largest share of their width by which ranges may move their ends at a cost within bounds; 0 for none."""
    place, (begin, end, records) = column.position, ranges
    if (
        place is None or not len(begin) or not math.isfinite(float(place[-1]) - float(place[0]))
    ):  # plain floats: no warning
        return 0.0
    most = (1 + MOST_LOSS) * float(records @ (place[end] - place[begin]))

    def affordable(share: float) -> bool:
        one = ColumnEnds(column, grid, _Rule(share))
        first, last = (np.clip(one.positions(ends), place[0], place[-1]) for ends in one.move(begin, end))
        return float(records @ (last - first)) <= most

    if affordable(1.0):
        return 1.0
    least, above = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = above / 4 if not least and above > MOST_LOSS / 4 else (least + above) / 2
        if affordable(middle):
            least = middle
        else:
            above = middle
    return least


# --- what cells show ---------------------------------------------------------------------------------------------


def released_boxes(table: CodedTable, cover: Cover, ends: Mapping[int, ColumnEnds]) -> ReleasedBoxes:
    """Return what the cells show, as boxes over the released ends: for their cost, and to tell which are equal."""
    space = table.space
    if not ends:
        return ReleasedBoxes(space, cover, space)
    low, high = cover.low.copy(), cover.high.copy()
    positions, starts = [], space.start.copy()
    cardinality, missing = space.cardinality.copy(), space.missing.copy()
    filled = 0
    for row, column in enumerate(table.columns):
        if column.kind != "interval":
            continue
        place = space.position[space.start[row] : space.start[row] + len(column.values)]
        if row in ends:
            place, low[row], high[row] = _numbered_ends(ends[row], cover.low[row], cover.high[row])
            cardinality[row] = len(place) + column.has_missing
            missing[row] = len(place) if column.has_missing else -1
        starts[row] = filled
        filled += len(place)
        positions.append(place)
    shown = space._replace(start=starts, position=np.concatenate(positions), cardinality=cardinality, missing=missing)
    within = [np.clip(place, place[0], place[-1]) for place in positions]  # the first and last are values of the table
    return ReleasedBoxes(shown._replace(position=np.concatenate(within)), cover._replace(low=low, high=high), shown)


def _numbered_ends(ends: ColumnEnds, low: IntArray, high: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the positions of all ends in order, and the number of each group's two ends; a missing value comes last.

    Before and behind the ends stand the first and last value of the table: a cell that shows nothing stands for all between them.
    """
    begin, end = ends.move(low, high)
    known, number = np.unique(np.concatenate([begin, end]), return_inverse=True)
    place, values = ends.column.position, len(ends.column.values)
    assert place is not None  # noqa: S101
    positions = np.concatenate([place[:1], ends.positions(known), place[-1:]])
    first, last = number[: len(low)] + 1, number[len(low) :] + 1
    lowest = np.where(low >= values, len(positions), first).astype(np.int32)
    highest = np.where(high >= values, len(positions), last).astype(np.int32)
    return positions, lowest, highest


def values_shown(cover: Cover, ends: Mapping[int, ColumnEnds]) -> Cover:
    """Return the boxes of the table's values that the cells stand for, those between old and new ends included."""
    low, high = cover.low.copy(), cover.high.copy()
    for row, one in ends.items():
        ranges = one.is_range(low[row], high[row])
        begin, end = one.move(low[row], high[row])
        exact = one.grid.exact
        low[row] = np.where(ranges, np.searchsorted(exact, begin), low[row])
        high[row] = np.where(ranges, np.searchsorted(exact, end, side="right") - 1, high[row])
    return cover._replace(low=low, high=high)
