"""Computing what follows from the quasi-identifiers, and narrowing the rows that fit by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, BoolArray, FloatArray, IntArray, LongArray
from shoal.attacks.base import Finding, as_frame, rate
from shoal.attacks.composition import fitting_rows
from shoal.attacks.row_owners import numbered, one_record_each, released_owner
from shoal.cells.parse import Cell, parse_column, read_number
from shoal.derived import Derived, find_derived
from shoal.derived.columns import numbers_per_day, read_column
from shoal.errors import ColumnError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.validation import check_columns, check_int

_LEARNED = 12_000
"""Records from which the intruder is supposed to know the formulas; they are public knowledge, or follow from other tables."""
_FAR = 1e6
"""Distance, in spreads of a column, of a cell that cannot be what was computed."""


def derived(
    original: Any,
    release: Any,
    on: Sequence[str],
    *,
    person: str | None = None,
    owner: pa.ChunkedArray | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    targets: int = 2_000,
    seed: int = 0,
) -> Finding:
    """Compute released columns from the quasi-identifiers, and pick the nearest among the rows that fit.

    The intruder knows the quasi-identifiers of a person and the formulas (a body mass index, a length of stay, the sector of a job). Of the released
    rows that fit the person those remain whose other columns are nearest to what was computed. The control guesses among all rows that fit.

    Parameters
    ----------
    original
        The steward's own rows.
    release
        What is to be published: a table or a ``Result``.
    on
        Quasi-identifiers the intruder knows.
    person
        The column that identifies people, if they have several records: people are then counted.
    owner
        Whose each released row is; by default the column ``person`` of the release, or of the original if the release is in its order.
    hierarchies
        For columns released as nodes.
    targets
        At most this many people are looked for, drawn at random.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> import shoal
    >>> people = {"weight": [50 + i % 61 for i in range(200)], "height": [150 + i % 47 for i in range(200)]}
    >>> people["bmi"] = [round(w / (h / 100) ** 2, 2) for w, h in zip(people["weight"], people["height"])]
    >>> known = ["weight", "height"]
    >>> result = shoal.anonymize(people, k=5, quasi_identifiers=known, keep=["bmi"], derived="warn", method="mondrian")
    >>> found = shoal.attacks.derived(people, result, known)
    >>> found.success.share > 0.9 and found.works
    True
    """
    check_int("derived", "targets", targets, least=1)
    own, published = as_frame(original), as_frame(release)
    known = check_columns("known to the intruder", [name for name in on if name in published.names], own.names)
    if not known:
        raise ColumnError("The release shares no column with what the intruder is said to know.")
    rows = _rows(own, person, targets, seed)
    others = [name for name in published.names if name in own.names and name not in on and name != person]
    found = [one for one in find_derived(own, known, others, rows=rows, predictions=True, trees=False) if one.certain]
    chosen = rows[:targets]
    fits = fitting_rows(own, published, known, chosen, hierarchies)
    clues = [_clue(own, published, one, rows, (hierarchies or {}).get(one.column)) for one in found]
    holder = None
    if person is not None:
        holder = numbered(released_owner(own, published, known, person, hierarchies) if owner is None else owner)
    return _judge(found, clues, fits, chosen, holder)


def _rows(own: Frame, person: str | None, targets: int, seed: int) -> LongArray:
    """Return records in random order, of each person one: the first are looked for, all are learned from."""
    random = np.random.default_rng(seed)
    if person is None:
        return np.asarray(random.permutation(own.records)[: max(_LEARNED, targets)], np.int64)
    check_columns("the person column", [person], own.names)
    one = one_record_each(numbered(own.table.column(person)), max(_LEARNED, targets), seed)
    return np.asarray(one[random.permutation(len(one))], np.int64)


@dataclass(frozen=True)
class _Clue:
    """A released column that can be computed: its cells, and what was computed for each target."""

    form: IntArray
    """The number of each released row's cell."""
    low: FloatArray
    """The least value of each cell; of texts the cells are compared as a whole."""
    high: FloatArray
    texts: dict[str, BoolArray]
    """For each text that may be computed, which cells can be it; empty for numbers."""
    computed: AnyArray
    true: AnyArray
    spread: float

    def distance(self, value: Any, rows: LongArray) -> FloatArray:
        """Return how far the cells of some rows are from a value, in spreads of the column; 0 if nothing is computed."""
        form = self.form[rows]
        if value is None or value != value:  # noqa: PLR0124  (NaN)
            return np.zeros(len(rows))
        if self.texts:
            may = self.texts.get(str(value))
            return np.where(may[form], 0.0, _FAR) if may is not None else np.zeros(len(rows))
        off = np.maximum(np.maximum(self.low[form] - value, value - self.high[form]), 0.0)
        return np.where(np.isfinite(off), off / self.spread, _FAR)


def _clue(own: Frame, published: Frame, one: Derived, rows: LongArray, tree: Hierarchy | None) -> _Clue:
    form, cells = parse_column(published.table.column(one.column))
    column = read_column(own, one.column, rows)
    assert column is not None  # noqa: S101  (the formula was found in it)
    numeric = one.predicted.dtype != object
    low, high = _bounds(cells, own.typed(one.column).type) if numeric else (np.zeros(len(cells)), np.zeros(len(cells)))
    true: AnyArray = np.array([*column.texts, None], object)[column.codes]
    if numeric and column.numbers is not None:
        true = column.numbers
    possible = {str(text) for text in [*one.predicted, *true] if text is not None} if not numeric else set()
    texts = {text: np.array([_can_be(cell, text, tree) for cell in cells], np.bool_) for text in possible}
    finite = true[np.isfinite(true)] if numeric else np.zeros(0)
    spread = float(np.ptp(finite)) if len(finite) else 1.0
    return _Clue(form, low, high, texts, one.predicted, true, spread or 1.0)


def _bounds(cells: Sequence[Cell], kind: pa.DataType) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest number of each cell; dates in days."""
    unit = numbers_per_day(kind)
    ends = []
    for cell in cells:
        try:
            numbers = [float(read_number(text, kind)) / unit for text in cell.values]
        except ValueError:  # a label, which may be anything
            numbers = []
        if cell.form == "missing":
            ends.append((np.nan, np.nan))
        else:
            ends.append((min(numbers), max(numbers)) if numbers else (-np.inf, np.inf))
    low, high = np.array(ends, np.float64).T if ends else (np.zeros(0), np.zeros(0))
    return low, high


def _can_be(cell: Cell, text: str, tree: Hierarchy | None) -> bool:
    if cell.form == "any":
        return True
    if tree is not None and cell.form == "value" and cell.values[0] in tree.labels:
        return text in tree.leaves_below(cell.values[0])
    return text in cell.values


def _judge(
    found: Sequence[Derived],
    clues: Sequence[_Clue],
    fits: Sequence[LongArray],
    chosen: LongArray,
    holder: IntArray | None,
) -> Finding:
    """Return how often the nearest rows hold the right one."""
    right, guessed, alone = np.zeros(len(chosen)), np.zeros(len(chosen)), np.zeros(len(chosen), np.bool_)
    for target, rows in enumerate(fits):
        if not len(rows):
            continue
        computed, true = np.zeros(len(rows)), np.zeros(len(rows))
        for one in clues:
            computed += one.distance(one.computed[target], rows)
            true += one.distance(one.true[target], rows)
        nearest, own = computed == computed.min(), true == true.min()
        who = rows if holder is None else holder[rows]
        candidates = len(np.unique(who[nearest]))
        right[target] = (
            (nearest & own).sum() / own.sum() / candidates if holder is None else (nearest & own).any() / candidates
        )
        guessed[target] = 1.0 / len(np.unique(who))
        alone[target] = candidates == 1 and bool((nearest & own).any())
    what = "row" if holder is None else "person"
    formulas = "; ".join(one.words for one in found)
    return Finding(
        attack="derived",
        question=f"Which released {what} is this person, once computed columns are compared?",
        success=rate(float(right.sum()), len(chosen)),
        control=rate(float(guessed.sum()), len(chosen)),
        verdict=(
            f"Computed from what is known: {formulas}. The nearest {what} is the right one and no other is as near for {int(alone.sum()):,} of {len(chosen):,} people."
            if found
            else "No released column follows from what is known."
        ),
        figures={"computed_columns": len(found), "one_left": int(alone.sum()), "expected_correct": float(right.sum())},
        examples=[int(row) for row in chosen[alone][:5]],
    )
