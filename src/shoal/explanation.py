"""Why is this cell so coarse? What a group has in common, what one step narrower would break, and what else would do.

The answer is for the steward, who has the table: it says how many companions a person has, never who they are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import AnyArray, BoolArray, FloatArray, LongArray
from shoal.encoding import CodedColumn, CodedTable
from shoal.privacy.base import bind_models
from shoal.recoding import range_form, set_text, value_text
from shoal.report.words import counted, percent
from shoal.summary import Release
from shoal.validation import check_columns, check_int


@dataclass(frozen=True)
class Explanation:
    """Why one cell is released as it is."""

    row: int
    column: str
    released: str | None
    """The cell as it is released; None where the record or the column is not."""
    sentences: tuple[str, ...]
    """The answer in words."""
    companions: int = 0
    """How many other people have the same released values."""
    narrower: str | None = None
    """The cell one step narrower, around the person's own value."""
    left: int | None = None
    """How many of the group would share the narrower cell, the person included."""
    forced_by: str | None = None
    """The column in which people near enough to fill the narrower cell differ most."""
    cost_now: float | None = None
    """Share of the detail this person loses over all quasi-identifiers."""
    cost_then: float | None = None
    """The same if the nearest other people filled the narrower cell up to k."""
    loss: float | None = None
    lower_bound: float | None = None

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def explain(release: Release, row: int, column: str) -> Explanation:
    """Say why the cell of an input row (counted from 0) in a column is as coarse as it is."""
    place = check_int("Result.explain", "row", row, least=0, most=release.source.records - 1)
    check_columns("a column to explain", [column], release.source.names)
    if column not in release.coded.names:
        return Explanation(place, column, _passed_text(release, place, column), (_untouched(release, column),))
    if release.groups[place] < 0:
        return Explanation(place, column, None, (_withheld(release),))
    return _explain_cell(_Cell(release, place, column))


def _untouched(release: Release, column: str) -> str:
    recipe = release.recipe
    if column in recipe.pseudonymize:
        return f"{column} is released as a token, which only your key can make."
    if column in recipe.identifiers:
        return f"{column} names a person by itself, so it is removed."
    if column in (recipe.person, recipe.household):
        return f"{column} says whose a record is, so it is removed."
    if column in release.treated:
        return f"{column} is no quasi-identifier; it {release.treated[column].words}."
    if column == recipe.survey_weight:
        return f"{column} is a survey weight, released as the mean of each group."
    if column in (*recipe.sensitive, *recipe.keep):
        return f"{column} is released unchanged: it is no quasi-identifier."
    return f"{column} has no role, so it is left out."


def _passed_text(release: Release, row: int, column: str) -> str | None:
    if column not in release.released.column_names or release.groups[row] < 0:
        return None
    return str(release.source.table.column(column)[row].as_py())


def _withheld(release: Release) -> str:
    return (
        f"This record is withheld: it fits into no group of at least {release.recipe.k} without costing others more than "
        f"it is worth. Up to {percent(release.recipe.max_suppression)} of the records may be."
    )


# --- one cell ----------------------------------------------------------------------------------------------------


class _Cell:
    """A cell, its group, and the step narrower."""

    def __init__(self, release: Release, row: int, column: str) -> None:
        self.release, self.row, self.name = release, row, column
        self.coded = release.coded
        self.place = self.coded.names.index(column)
        self.group = int(release.groups[row])
        self.members: LongArray = np.flatnonzero(release.groups == self.group)
        self.own = int(self.codes[row])
        self.present: LongArray = np.unique(self.codes[self.members]).astype(np.int64)

    @property
    def codes(self) -> AnyArray:
        """The column as integers, all records."""
        column: AnyArray = self.coded.codes[self.place]
        return column

    def people(self, records: LongArray) -> int:
        """Return how many people records belong to."""
        person = self.coded.units.get("person")
        return len(records) if person is None else len(np.unique(person[records]))

    def hiding(self, records: LongArray) -> int:
        """Return how many k counts in records: people, or households where they are fewer."""
        units = [len(np.unique(unit[records])) for unit in self.coded.units.values()]
        return min([self.people(records), *units])

    @property
    def coded_column(self) -> CodedColumn:
        """What the codes stand for."""
        return self.coded.columns[self.place]

    @property
    def text(self) -> str | None:
        """The cell as it is released."""
        shown = int((self.release.groups[: self.row] >= 0).sum())
        value = self.release.released.column(self.name)[shown].as_py()
        return None if value is None else str(value)


def _explain_cell(cell: _Cell) -> Explanation:
    release, size = cell.release, cell.people(cell.members)
    base: dict[str, Any] = {
        "row": cell.row,
        "column": cell.name,
        "released": cell.text,
        "companions": size - 1,
        "loss": float(release.metrics["ncp"]),
        "lower_bound": release.metrics.get("lower_bound"),
    }
    shares = f"This person shares all released values with {counted(size - 1, 'other')}."
    if release.representatives:
        return Explanation(**base, sentences=(shares, "The cell shows one typical value of the group.", whole(release)))
    if len(cell.present) == 1:
        same = (
            f"All {size} have the same {cell.name}, so nothing of it is lost"
            if not _widened(cell)
            else _why_wider(cell)
        )
        return Explanation(**base, sentences=(shares, f"{same}.", whole(release)))
    inside = _narrower(cell)
    left = cell.members[np.isin(cell.codes[cell.members], inside)]
    narrower = _text(cell.coded, cell.place, inside)
    outside = cell.people(np.setdiff1d(cell.members, left))
    sentences = [
        shares,
        f"{outside} of the {size} {'lies' if outside == 1 else 'lie'} outside {narrower}, so {cell.name} shows what all have in common.",
        _verdict(cell, narrower, left),
    ]
    if _widened(cell):
        sentences.append(f"{_why_wider(cell)}.")
    found: dict[str, Any] = {"narrower": narrower, "left": cell.people(left)}
    if cell.hiding(left) < release.recipe.k:
        more, told = _other_way(cell, inside, narrower, left)
        found |= more
        sentences.append(told)
    return Explanation(**base, **found, sentences=(*sentences, whole(release)))


def whole(release: Release) -> str:
    """Say how far the whole release is from what is possible at all."""
    loss, bound = release.metrics["ncp"], release.metrics.get("lower_bound")
    told = f"The whole release loses {percent(loss)} of the detail."
    if bound is None:
        return told
    return f"{told} No release with k = {release.recipe.k} can lose less than {percent(bound)}."


def _verdict(cell: _Cell, narrower: str, left: LongArray) -> str:
    """Say what one step narrower would break."""
    k, rest = cell.release.recipe.k, np.setdiff1d(cell.members, left)
    step = f"One step narrower ({narrower})"
    whom = ("household", "households") if cell.hiding(left) < cell.people(left) else ("person", "people")
    if cell.hiding(left) < k:
        return f"{step} would leave {counted(cell.hiding(left), *whom)}: below k = {k}."
    if cell.hiding(rest) < k:
        return f"{step} would leave the other {cell.hiding(rest)} too few to hide among each other: below k = {k}."
    failing = _broken_models(cell, left)
    if failing:
        return f"{step} would part the group in two, and then a promise would not hold: {failing[0]}"
    return f"{step} would keep the promise; the method did not find it, or kept the group for another column."


def _broken_models(cell: _Cell, left: LongArray) -> list[str]:
    """Return what the models say that would not hold if the group were parted."""
    models = cell.release.models
    labels = np.full(cell.coded.records, -1, np.int32)
    labels[cell.members] = 1
    labels[left] = 0
    requirements = bind_models(models, cell.coded, cell.release.recipe.sensitive)
    return [
        model.describe()
        for model, requirement in zip(models, requirements, strict=True)
        if requirement.failing(labels, 2).any()
    ]


def _widened(cell: _Cell) -> bool:
    """Tell whether the cell is wider than the group needs."""
    tight = _text(cell.coded, cell.place, cell.present)
    return tight != cell.text


def _why_wider(cell: _Cell) -> str:
    if cell.release.recipe.widen:
        return "The cell is drawn wider than the group needs, so that narrow cells tell less"
    if cell.place in cell.release.ends:
        return "The ends of the range are moved outwards to round values, so that they are nobody's own"
    return "The method releases a value alike everywhere, so the cell is as coarse as the whole column needs it"


# --- one step narrower -------------------------------------------------------------------------------------------


def _narrower(cell: _Cell) -> LongArray:
    """Return the codes of the group that one step narrower would keep, the person's own among them."""
    column, present = cell.coded_column, cell.present
    if column.missing in present:
        return _where(present, (present == column.missing) == (cell.own == column.missing))
    if column.kind == "node":
        return _child_codes(column, present, cell.own)
    counts = np.array([(cell.codes[cell.members] == code).sum() for code in present])
    if column.kind == "set":
        others = np.flatnonzero(present != cell.own)
        return np.delete(present, others[counts[others].argmin()])
    ends = [end for end in (0, len(present) - 1) if present[end] != cell.own]
    return np.delete(present, min(ends, key=lambda end: int(counts[end])))


def _child_codes(column: CodedColumn, present: LongArray, own: int) -> LongArray:
    """Return the codes below the child, on the way to ``own``, of the closest node above all that are present."""
    tree = column.hierarchy
    assert tree is not None  # noqa: S101
    node = own
    # ends: each round goes one level up, and the root covers every value
    while not (tree.low[tree.parent[node]] <= present[0] and present[-1] <= tree.high[tree.parent[node]]):
        node = int(tree.parent[node])
    return _where(present, (present >= tree.low[node]) & (present <= tree.high[node]))


def _where(codes: LongArray, chosen: BoolArray) -> LongArray:
    found: LongArray = codes[chosen]
    return found


def _text(coded: CodedTable, place: int, codes: LongArray) -> str:
    """Return codes as they would be released together."""
    column = coded.columns[place]
    if column.kind == "set" and len(codes) > 1 and column.missing not in codes:
        return set_text([column.texts[code] for code in codes])
    if column.kind == "set" and len(codes) == 1 and codes[0] != column.missing:
        return value_text(column.texts[codes[0]])
    return range_form(coded, place, column, int(codes[0]), int(codes[-1])) or "missing"


# --- who else could fill it ----------------------------------------------------------------------------------------


def _other_way(cell: _Cell, inside: LongArray, narrower: str, left: LongArray) -> tuple[dict[str, Any], str]:
    """Fill the narrower cell up to k with the nearest other people, and say what that would cost this person."""
    need = cell.release.recipe.k - cell.hiding(left)
    near = _within(cell, inside)
    near[cell.members] = False
    candidates = np.flatnonzero(near)
    if cell.hiding(np.concatenate([left, candidates])) < cell.release.recipe.k:
        people = counted(cell.people(np.concatenate([left, candidates])), "person", "people")
        told = f"In the whole table only {people} fit {narrower}, so {cell.name} itself forces it."
        return {"forced_by": cell.name}, told
    chosen = np.concatenate([left, _nearest(cell, left, candidates, need)])
    now, then = _costs(cell.coded, cell.members), _costs(cell.coded, chosen)
    weights = cell.coded.weights / cell.coded.weights.sum()
    growth = (then - now) * weights
    growth[cell.place] = -np.inf
    worst = int(growth.argmax())
    cost_now, cost_then = float(now @ weights), float(then @ weights)
    more = {"forced_by": cell.coded.names[worst], "cost_now": cost_now, "cost_then": cost_then}
    if growth[worst] <= 0:
        told = (
            f"People who fit {narrower} are near, but other groups need them: or take k = {max(cell.hiding(left), 2)}."
        )
        return more, told
    wide = _text(cell.coded, worst, np.unique(cell.coded.codes[worst][chosen]).astype(np.int64))
    told = (
        f"To keep {narrower}, {cell.coded.names[worst]} would have to be as wide as {wide}: this person would lose "
        f"{percent(cost_then)} of the detail instead of {percent(cost_now)}."
    )
    return more, told


def _within(cell: _Cell, inside: LongArray) -> BoolArray:
    """Tell whose value lies in the narrower cell: between its ends, below its node, or in its set."""
    codes, column = cell.codes, cell.coded_column
    if column.kind == "set" or column.missing in inside:
        found: BoolArray = np.isin(codes, inside)
        return found
    low, high = int(inside[0]), int(inside[-1])
    if column.kind == "node" and column.hierarchy is not None:
        tree, node = column.hierarchy, low
        while tree.high[node] < high:
            node = int(tree.parent[node])
        low, high = int(tree.low[node]), int(tree.high[node])
    between: BoolArray = (codes >= low) & (codes <= high)
    return between


def _nearest(cell: _Cell, group: LongArray, candidates: LongArray, number: int) -> LongArray:
    """Return the candidates that cost least to join a group, the first of equals, one record for each who is counted."""
    coded = cell.coded
    total = np.zeros(len(candidates))
    for place, weight in enumerate(coded.weights):
        present = np.unique(coded.codes[place][group]).astype(np.int64)
        total += weight * join_costs(coded, place, present)[coded.codes[place][candidates]]
    order: LongArray = candidates[np.argsort(total, kind="stable")]
    for unit in coded.units.values():
        order = order[~np.isin(unit[order], unit[group])]
        order = order[np.sort(np.unique(unit[order], return_index=True)[1])]
    return order[:number]


def _costs(coded: CodedTable, records: LongArray) -> FloatArray:
    """Return what each column costs if these records are one group."""
    costs = np.empty(len(coded.columns))
    for place in range(len(coded.columns)):
        present = np.unique(coded.codes[place][records]).astype(np.int64)
        costs[place] = join_costs(coded, place, present)[present[0]]
    return costs


def join_costs(coded: CodedTable, place: int, present: LongArray) -> FloatArray:
    """Return, for each code of a column, what the codes ``present`` and it cost when they are released together."""
    column, space = coded.columns[place], coded.space
    codes = np.arange(column.cardinality)
    low, high = np.minimum(codes, present[0]), np.maximum(codes, present[-1])
    if column.kind == "interval":
        assert column.position is not None  # noqa: S101
        position = np.append(column.position, 0.0)
        costs = (position[high] - position[low]) / (space.domain[place] or 1.0)
    elif column.kind == "set":
        costs = (len(present) + ~np.isin(codes, present)) / space.domain[place]
    else:
        costs = _node_costs(column, present)
    if column.has_missing:
        costs[high == column.missing] = 1.0
    costs[low == high] = 0.0
    return np.asarray(costs, np.float64)


def _node_costs(column: CodedColumn, present: LongArray) -> FloatArray:
    """Go up from the closest node above ``present``: every ancestor is the price of the codes it adds."""
    tree = column.hierarchy
    assert tree is not None  # noqa: S101
    costs = np.ones(column.cardinality)
    known = present[present < tree.n_leaves]
    if not known.size:  # only missing values: whatever joins them hides all
        return costs
    path = [int(known[0])]
    while path[-1] != tree.root:
        path.append(int(tree.parent[path[-1]]))
    for node in reversed(path):
        if tree.high[node] >= known[-1]:
            leaves = int(tree.high[node] - tree.low[node]) + 1
            costs[tree.low[node] : tree.high[node] + 1] = leaves / tree.n_leaves
    return costs


__all__ = ["Explanation", "explain", "join_costs", "whole"]
