"""The answer in words: what a group has in common, what one step narrower would break, and what else would do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import LongArray
from shoal.explanation.alternatives import other_way
from shoal.explanation.question import Question, cells_text, codes_narrower
from shoal.privacy.base import bind_models
from shoal.report.words import counted, percent
from shoal.summary import Release
from shoal.validation import check_columns, check_int


@dataclass(frozen=True)
class Explanation:
    """Why one cell is released as it is."""

    row: int
    column: str
    released: str | None
    """The cell as it is released; None if the record or the column is not."""
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
    """Return why the cell of an input row (counted from 0) in a column is as coarse as it is."""
    place = check_int("Result.explain", "row", row, least=0, most=release.source.records - 1)
    check_columns("a column to explain", [column], release.source.names)
    if column not in release.coded.names:
        return Explanation(place, column, _passed_text(release, place, column), (_untouched(release, column),))
    if release.groups[place] < 0:
        return Explanation(place, column, None, (_withheld(release),))
    return _explain_cell(Question(release, place, column))


def _untouched(release: Release, column: str) -> str:
    recipe = release.recipe
    if column in recipe.pseudonymize:
        return f"{column} is released as a token, which only your key can make."
    if column in recipe.identifiers:
        return f"{column} names a person by itself, so it is removed."
    if column in (recipe.person, recipe.household):
        return f"{column} identifies the person a record belongs to, so it is removed."
    if column in release.treated:
        return f"{column} is not a quasi-identifier; it {release.treated[column].words}."
    if column == recipe.survey_weight:
        return f"{column} is a survey weight, released as the mean of each group."
    if column in (*recipe.sensitive, *recipe.keep):
        return f"{column} is released unchanged: it is not a quasi-identifier."
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


def _explain_cell(cell: Question) -> Explanation:
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
    inside = codes_narrower(cell)
    left = cell.members[np.isin(cell.codes[cell.members], inside)]
    narrower = cells_text(cell.coded, cell.place, inside)
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
        more, told = other_way(cell, inside, narrower, left)
        found |= more
        sentences.append(told)
    return Explanation(**base, **found, sentences=(*sentences, whole(release)))


def whole(release: Release) -> str:
    """Return how far the whole release is from what is possible at all."""
    loss, bound = release.metrics["ncp"], release.metrics.get("lower_bound")
    told = f"The whole release loses {percent(loss)} of the detail."
    if bound is None:
        return told
    return f"{told} No release with k = {release.recipe.k} can lose less than {percent(bound)}."


def _verdict(cell: Question, narrower: str, left: LongArray) -> str:
    """Return what one step narrower would break."""
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


def _broken_models(cell: Question, left: LongArray) -> list[str]:
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


def _widened(cell: Question) -> bool:
    """Return whether the cell is wider than the group needs."""
    tight = cells_text(cell.coded, cell.place, cell.present)
    return tight != cell.text


def _why_wider(cell: Question) -> str:
    if cell.release.recipe.widen:
        return "The cell is drawn wider than the group needs, so that narrow cells reveal less"
    if cell.place in cell.release.ends:
        return "The ends of the range are moved outwards to round values, so that they are nobody's own"
    return "The method releases a value alike everywhere, so the cell is as coarse as the whole column needs it"
