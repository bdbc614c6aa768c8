"""The making of a release: widen, round ends, render, check that cells cover their values, count again, measure.

Nothing is released uncounted: each rendered cell is read and must cover its value, the cells are counted again, independently of the groups that a method found,
and every model is checked on that count. If anything falls short, an error is raised and there is no release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray
from shoal.audit import (
    Audit,
    audit_owned,
    check_codes,
    check_companions,
    check_cover,
    check_release,
    check_typical,
    count_determined,
    find_people,
    measure_attribute,
    measure_people,
    recount,
    refuse_broken_promise,
    refuse_determined,
)
from shoal.cells.disjoint import in_parts
from shoal.cells.recode import released_cover, render
from shoal.cells.representatives import representatives
from shoal.derived import Derived, Exposure
from shoal.encoding import CodedTable, survey_weights
from shoal.ends import ColumnEnds, released_boxes, round_ends, values_shown
from shoal.enforcement.reaching import reach_everyone
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.frames.compact import compact
from shoal.kernels.space.space import Cover
from shoal.methods.base import Grouping, MethodInfo, most_withheld
from shoal.metrics import Outcome, measure
from shoal.privacy.base import PrivacyModel, Requirement, failing_groups
from shoal.privacy.k_anonymity import at_least_units
from shoal.recipe import Recipe, averaged_weight, together_units
from shoal.recount.cover import original_values
from shoal.recount.rows import refuse_failing_model
from shoal.release.counts import released_counts
from shoal.release.widen import widen_where_models_hold
from shoal.summary import Release
from shoal.treatments import Treated, dropped_columns


def make_release(
    frame: Frame,
    coded: CodedTable,
    grouping: Grouping,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
    method: MethodInfo | None = None,
    treated: Mapping[str, Treated] | None = None,
    derived: Sequence[Derived] = (),
) -> Release:
    """Render what a method found, count it again, and measure it; raise if it does not hold what was asked for."""
    cover = in_parts(coded, released_cover(coded, grouping), recipe.cells)
    if grouping.cuts is None:
        cover = reach_everyone(coded, cover, requirements)
    if recipe.widen:
        needed = (*at_least_units(coded, recipe.k), *requirements)
        cover = widen_where_models_hold(coded, grouping.labels, cover, recipe.widen, recipe.seed, needed)
    ends = (
        {}
        if recipe.release == "representatives"
        else round_ends(coded, grouping.labels, cover, recipe.ends, requirements)
    )
    released = _assemble(frame, coded, grouping, cover, recipe, ends)
    _check_cover(frame, coded, grouping.labels, released, recipe)
    owners = _owners(frame, grouping.labels, recipe)
    counted = verify_rows(released, owners, grouping.labels, coded, recipe, models, requirements)
    told, exposed = determined_rows(released, owners, recipe, derived)
    counts = released_counts(coded, counted.label, released, owners, recipe)
    boxes = released_boxes(coded, cover, ends) if ends else None
    shown = values_shown(cover, ends)
    metrics = measure(Outcome(coded, grouping.labels, shown, recipe.k, boxes and (boxes.space, boxes.cover)))
    return Release(
        released=released,
        groups=grouping.labels,
        metrics=metrics | certificate(metrics["ncp"], grouping.details),
        audit=replace(
            audit_rows(released, owners, coded, counted, recipe, requirements, _weight(frame, grouping.labels, recipe)),
            **told,
            counts=recipe.counts,
        ),
        recipe=recipe,
        coded=coded,
        cover=shown,
        source=frame,
        details=dict(grouping.details)
        | {"cuts": None if recipe.widen else grouping.cuts, "ends": ends_used(coded, cover, ends)},
        method=method,
        models=tuple(models),
        treated=treated or {},
        ends=ends,
        boxes=boxes,
        derived=tuple(derived),
        exposed=exposed,
        counts=counts,
    )


def determined_rows(
    released: pa.Table, owners: Mapping[str, pa.ChunkedArray], recipe: Recipe, derived: Sequence[Derived]
) -> tuple[dict[str, Any], tuple[Exposure, ...]]:
    """Count the released rows by all that follows from the quasi-identifiers too; return what the audit says of it, and what falls below k."""
    names = tuple(one.column for one in derived if one.certain and one.column in released.column_names)
    if not names or not released.num_rows:
        return {}, ()
    smallest, below, exposed = count_determined(released, recipe.quasi_identifiers, derived, recipe.k, owners)
    if recipe.derived == "refuse":
        refuse_determined(exposed, below, released.num_rows, recipe.k)
    return {"determined": names, "k_determined": smallest}, exposed


def ends_used(coded: CodedTable, cover: Cover, ends: Mapping[int, ColumnEnds]) -> dict[str, str]:
    """Name, for each column with ranges of numbers or dates, the steps its ends were moved by."""
    used = {column.name: "" for column in coded.columns if column.measured}
    return used | {coded.names[row]: one.steps_used(cover.low[row], cover.high[row]) for row, one in ends.items()}


def certificate(loss: float, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the least loss any grouping can have, if the method knows one, the share of the loss above it, and what it follows from."""
    bound = details.get("lower_bound")
    if bound is None:
        return {}
    known = {"lower_bound": bound, "gap": 1 - bound / loss if loss > 0 else 0.0}
    return known | ({"bound_from": details["bound_from"]} if details.get("bound_from") else {})


def _assemble(
    frame: Frame,
    coded: CodedTable,
    grouping: Grouping,
    cover: Cover,
    recipe: Recipe,
    ends: Mapping[int, ColumnEnds],
) -> pa.Table:
    """Put the released table together: recoded, sensitive and kept columns in the order of the input."""
    kept = np.flatnonzero(grouping.labels >= 0)
    recoded = (
        representatives(coded, grouping.labels, grouping.typical)
        if recipe.release == "representatives"
        else render(coded, grouping.labels, cover, ends, grouping.cuts)
    )
    passed, changed = passed_columns(recipe), {*recipe.treat, *recipe.pseudonymize}
    averaged = averaged_weight(recipe)
    if averaged is not None:
        means = mean_of_groups(survey_weights(frame, averaged), grouping.labels)
        recoded[averaged] = pa.array(means[grouping.labels[kept]])
    columns: dict[str, Any] = {}
    for name in frame.names:
        if name in recoded:
            columns[name] = recoded[name]
        elif name in passed:
            columns[name] = (
                compact(frame.table.column(name).take(pa.array(kept))) if name in changed else frame.passed(name, kept)
            )
    return pa.table(columns)


def passed_columns(recipe: Recipe) -> set[str]:
    """Return the columns that are released without being recoded: sensitive, kept, or as pseudonyms."""
    return {*recipe.sensitive, *recipe.keep, *recipe.pseudonymize} - dropped_columns(recipe.treat)


def followed_columns(recipe: Recipe) -> list[str]:
    """Return the released columns that somebody may compute who knows the quasi-identifiers: all but tokens."""
    return [name for name in (*recipe.sensitive, *recipe.keep) if name in passed_columns(recipe)]


def released_columns(recipe: Recipe) -> set[str]:
    """Return the columns of a release."""
    weight = averaged_weight(recipe)
    return {*recipe.quasi_identifiers, *passed_columns(recipe), *([] if weight is None else [weight])}


def mean_of_groups(weight: FloatArray, labels: IntArray) -> FloatArray:
    """Return the mean survey weight of each group: no record can be found by its own, and sums over groups stay."""
    kept = labels >= 0
    size = np.bincount(labels[kept])
    return np.asarray(np.bincount(labels[kept], weight[kept]) / np.maximum(size, 1), np.float64)


def _check_cover(frame: Frame, coded: CodedTable, labels: IntArray, released: pa.Table, recipe: Recipe) -> None:
    """Read every distinct cell again and ask whether it covers the values it stands for."""
    kept = None if (labels >= 0).all() else pa.array(np.flatnonzero(labels >= 0))
    groups = recount(released, recipe.quasi_identifiers) if recipe.release == "representatives" else None
    for column in coded.columns:
        original = original_values(frame, column)
        original = original if kept is None else original.take(kept)
        if groups is None:
            check_cover(column, original, released.column(column.name))
        else:
            check_typical(column, original, released.column(column.name), groups)


def _weight(frame: Frame, labels: IntArray, recipe: Recipe) -> FloatArray | None:
    """Return how many people of the population each released row represents, if survey weights are named."""
    return None if recipe.survey_weight is None else survey_weights(frame, recipe.survey_weight)[labels >= 0]


def _owners(frame: Frame, labels: IntArray, recipe: Recipe) -> dict[str, pa.ChunkedArray]:
    """Return the columns of the original that identify the person and household of each released row."""
    named = {"person": recipe.person, "household": recipe.household}
    kept = pa.array(np.flatnonzero(labels >= 0))
    return {unit: frame.table.column(name).take(kept) for unit, name in named.items() if name is not None}


class Counted(NamedTuple):
    """What the recount of the released rows found."""

    label: IntArray
    """The combination of each record of the table, -1 for one that is withheld."""
    people: dict[str, float]
    """How many people of a list fit the worst of them, by their cells."""


def verify_rows(
    released: pa.Table,
    owners: dict[str, pa.ChunkedArray],
    labels: IntArray,
    coded: CodedTable,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
) -> Counted:
    """Count the rendered rows again, independently of the groups, and check every model on that count."""
    counted = np.full(len(labels), -1, np.int32)
    counted[labels >= 0] = check_release(released, recipe.quasi_identifiers, recipe.k, owners)
    for unit in together_units(recipe):
        check_companions(counted[labels >= 0], owners[unit], recipe.k, unit)
    refuse_withheld(int((labels < 0).sum()), recipe.max_suppression, len(labels))
    for name in recipe.sensitive if models else ():
        if name in released.column_names:
            check_codes(name, coded.attributes[name].codes[labels >= 0], released.column(name))
    groups, people = int(counted.max(initial=-1)) + 1, dict[str, float]()
    for model, requirement in zip(models, requirements, strict=True):
        for promise in [promise for part in requirement.parts for promise in part.promises]:
            found = find_people(promise, coded.columns, released, counted[labels >= 0])
            refuse_broken_promise(type(model).__name__, found)
            people = _worst(people, found.figures())
        others = [part for part in requirement.parts if not part.promises]
        refuse_failing_model(type(model).__name__, int(failing_groups(others, counted, groups).sum()))
    return Counted(counted, people)


def _worst(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return the worse of two figures of the same name."""
    worse = {"presence_most": max, "left_out": max}
    both = {name: worse.get(name, min)(one[name], other[name]) for name in one.keys() & other.keys()}
    return {**one, **other, **both}


def refuse_withheld(withheld: int, max_suppression: float, records: int) -> None:
    """Raise if more records of a table are withheld than may be."""
    if withheld > most_withheld(max_suppression, records):
        raise PrivacyError(
            f"{withheld} records would have to be withheld, more than 'max_suppression' allows "
            f"({max_suppression:g} of {records}). Nothing was released.",
            hint="allow more suppression, lower k, or take another method.",
        )


def audit_rows(
    released: pa.Table,
    owners: dict[str, pa.ChunkedArray],
    coded: CodedTable,
    counted: Counted,
    recipe: Recipe,
    requirements: Sequence[Requirement],
    weight: FloatArray | None,
) -> Audit:
    """Return what protection the released rows have; sensitive columns are measured as the models measure them."""
    label, groups = counted.label, int(counted.label.max(initial=-1)) + 1
    sensitive = {
        name: measure_attribute(coded.attributes[name], label, groups, requirements) for name in recipe.sensitive
    }
    people = _worst(counted.people, measure_people(label, groups, requirements))
    counts = audit_owned(released, recipe.quasi_identifiers, owners, weight)
    return replace(counts, sensitive=sensitive, people=people)
