"""The choice of ends for the ranges of a release: those the user gives for a column, or the roundest that cost little."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.encoding import CodedColumn, CodedTable
from shoal.ends.boxes import released_boxes
from shoal.ends.columns import ColumnEnds, Rule
from shoal.ends.grids import Grid, Step, TimeGrid, make_grid, number_step
from shoal.enforcement.neighbours import join_boxes, number_boxes
from shoal.errors import ColumnError, ParameterError
from shoal.kernels.common.sums import sum_of_products
from shoal.kernels.space.space import Cover
from shoal.privacy.base import Requirement, failing_groups
from shoal.validation import check_choice, check_float, check_mapping, nearest_hint, wrong

EndsChoice = str | Mapping[str, float | str]
"""``"round"``, ``"exact"``, or for single columns a step, ``"round"`` or ``"exact"``."""

MOST_LOSS = 0.05
"""How much more of a column's loss round ends may cost."""
_HALVINGS = 14
"""How often the share of a range's width is narrowed down."""
_WORDS = ("round", "exact")
_PERIODS = ("second", "minute", "hour", "day", "month", "quarter", "year")


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
                f"The 'ends' parameter names {name!r}, which is not a quasi-identifier.",
                hint=nearest_hint(name, names) or "ends are those of released ranges.",
            )
    return dict.fromkeys(names, "round") | dict(ends)


def _refuse_step(column: CodedColumn, choice: float | str) -> None:
    """Refuse a step for a column without ranges; one with a single value has none to move."""
    if choice != "round" and (not column.kind.ordered or len(column.values) > 1):
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

    Groups whose cells become equal are one released combination, and wider cells fit more people. Should a model fail, all ends move less, at
    last not at all; a step that the user named is not given up, and the recount will refuse the release.
    """
    chosen = {} if ends == "exact" else choose_ends(table.columns, ranges_of(table.columns, cover), ends)
    while chosen and requirements:  # ends: shares are halved until none is left
        boxes = released_boxes(table, cover, chosen)
        alike = number_boxes(boxes.cover)
        numbered = np.append(alike, np.int32(-1))[labels].astype(np.int32)
        shown = boxes.cells()._replace(cover=join_boxes(boxes.cover, alike))
        if not failing_groups(requirements, numbered, shown.cover.size.shape[0], shown).any():
            break
        chosen = {row: finer for row, one in chosen.items() if (finer := _finer(one)) is not None}
        if all(one.rule.step is not None for one in chosen.values()):
            break
    return chosen


class Ranges(NamedTuple):
    """The distinct ranges that one column is released as, in the order of their codes; those of several fragments are merged.

    They are all that the choice of ends looks at. Where the withheld records are would otherwise show in the cells of all others.
    """

    low: IntArray
    high: IntArray
    records: FloatArray
    """How many records have each."""
    first: int
    last: int
    """The lowest and the highest code that a cell shows, of cells with one value too."""


def ranges_of(columns: Sequence[CodedColumn], cover: Cover) -> dict[int, Ranges]:
    """Return the ranges among the boxes of groups, by row, of the columns whose ends can move."""
    return {
        row: _ranges(cover.low[row], cover.high[row], cover.size, len(column.values))
        for row, column in enumerate(columns)
        if column.measured
    }


def _ranges(low: IntArray, high: IntArray, size: AnyArray, values: int) -> Ranges:
    shown = high < values  # cells with missing values show nothing else
    first, last = int(low[shown].min(initial=values)), int(high[shown].max(initial=-1))
    real = shown & (low < high)
    return _distinct(low[real], high[real], size[real], first, last)


def merge_ranges(parts: Sequence[Mapping[int, Ranges]]) -> dict[int, Ranges]:
    """Return the ranges of several fragments together."""
    return {row: _merged([part[row] for part in parts]) for row in parts[0]}


def _merged(parts: Sequence[Ranges]) -> Ranges:
    low, high, records = (np.concatenate(each) for each in zip(*(one[:3] for one in parts), strict=True))
    return _distinct(low, high, records, min(one.first for one in parts), max(one.last for one in parts))


def _distinct(low: AnyArray, high: AnyArray, records: AnyArray, first: int, last: int) -> Ranges:
    pairs, which = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
    counts: FloatArray = np.bincount(which.reshape(-1), records, pairs.shape[1]).astype(np.float64)
    return Ranges(pairs[0].astype(np.int32), pairs[1].astype(np.int32), counts, first, last)


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
        grid = make_grid(column, _ends_of(ranges.get(row)))
        if grid is None:
            _refuse_step(column, choice)
            continue
        if choice != "round":
            rule = Rule(0.0, _fixed_step(column, grid, choice))
        else:
            rule = Rule(_largest_share(column, grid, ranges[row]))
        if rule.share or rule.step:
            found[row] = ColumnEnds(column, grid, rule)
    return found


def _ends_of(ranges: Ranges | None) -> IntArray:
    return np.zeros(0, np.int32) if ranges is None else np.concatenate([ranges.low, ranges.high])


def _finer(one: ColumnEnds) -> ColumnEnds | None:
    """Return ends that move half as far; None if that is no longer worth a step."""
    if one.rule.step is not None:
        return one
    share = one.rule.share / 2
    return ColumnEnds(one.column, one.grid, Rule(share)) if share > MOST_LOSS / 2**_HALVINGS else None


def _largest_share(column: CodedColumn, grid: Grid, ranges: Ranges) -> float:
    """Return the largest share of their width by which ranges may move their ends at a cost within bounds; 0 for none."""
    place, (begin, end, records, *shown) = column.position, ranges
    if place is None or not len(begin):
        return 0.0
    lowest, highest = (float(place[code]) for code in shown)  # plain floats: no warning
    if not math.isfinite(highest - lowest):
        return 0.0
    most = (1 + MOST_LOSS) * sum_of_products(records, place[end] - place[begin])

    def affordable(share: float) -> bool:
        one = ColumnEnds(column, grid, Rule(share))
        first, last = (one.positions(ends) for ends in one.move(begin, end))
        if not grid.whole:  # of 0 to 4, [0-5] loses nothing, but shows a value that is none
            first, last = (np.clip(ends, lowest, highest) for ends in (first, last))
        return sum_of_products(records, last - first) <= most

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
