"""The making of a release: widen, round ends, render, check that cells cover their values, count again, measure.

Nothing is released uncounted: each rendered cell is read and must cover its value, the cells are counted anew, independently of the groups that a method found,
and every model is checked on that count. What falls short raises, and no release exists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
    measure_attribute,
    measure_people,
    recount,
)
from shoal.audit.covering import original_values
from shoal.audit.recount import refuse_failing_model
from shoal.encoding import CodedTable, survey_weights
from shoal.ends import ColumnEnds, released_boxes, round_ends, values_shown
from shoal.errors import PrivacyError
from shoal.frames import Frame
from shoal.kernels.space.space import Cover
from shoal.methods.base import Grouping, MethodInfo, most_withheld
from shoal.metrics import Outcome, measure
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.privacy.k_anonymity import at_least_units
from shoal.privacy.population import DeltaPresence
from shoal.recipe import Recipe, averaged_weight, together_units
from shoal.recoding import released_cover, render
from shoal.representatives import representatives
from shoal.summary import Release
from shoal.treatments import Treated, dropped_columns
from shoal.widening import widen_where_models_hold


def make_release(
    frame: Frame,
    coded: CodedTable,
    grouping: Grouping,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
    method: MethodInfo | None = None,
    treated: Mapping[str, Treated] | None = None,
) -> Release:
    """Render what a method found, count it again, and measure it; raise where it does not hold what was asked for."""
    cover = released_cover(coded, grouping)
    if recipe.widen:
        needed = (*at_least_units(coded, recipe.k), *requirements)
        cover = widen_where_models_hold(coded, grouping.labels, cover, recipe.widen, recipe.seed, needed)
    ends = _ends(coded, grouping.labels, cover, recipe, models, requirements)
    released = _assemble(frame, coded, grouping, cover, recipe, ends)
    _check_cover(frame, coded, grouping.labels, released, recipe)
    owners = _owners(frame, grouping.labels, recipe)
    counted = verify_rows(released, owners, grouping.labels, coded, recipe, models, requirements)
    boxes = released_boxes(coded, cover, ends) if ends else None
    shown = values_shown(cover, ends)
    metrics = measure(Outcome(coded, grouping.labels, shown, recipe.k, boxes and (boxes.space, boxes.cover)))
    return Release(
        released=released,
        groups=grouping.labels,
        metrics=metrics | _certificate(metrics["ncp"], grouping.details),
        audit=audit_rows(
            released, owners, coded, counted, recipe, requirements, _weight(frame, grouping.labels, recipe)
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
    )


def _ends(
    coded: CodedTable,
    labels: IntArray,
    cover: Cover,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
) -> dict[int, ColumnEnds]:
    """Return how ends of ranges move; not where wider cells could break a model that counts who fits them."""
    if recipe.release == "representatives" or any(isinstance(one, DeltaPresence) and one.low for one in models):
        return {}
    return round_ends(coded, labels, cover, recipe.ends, requirements)


def ends_used(coded: CodedTable, cover: Cover, ends: Mapping[int, ColumnEnds]) -> dict[str, str]:
    """Name, for each column with ranges of numbers or dates, the steps its ends were moved by."""
    used = {column.name: "" for column in coded.columns if column.measured}
    return used | {coded.names[row]: one.steps_used(cover.low[row], cover.high[row]) for row, one in ends.items()}


def _certificate(loss: float, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the least loss any grouping can have, where the method knows one, the share of the loss above it, and what it follows from."""
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
        else render(coded, grouping.labels, cover, ends)
    )
    passed = passed_columns(recipe)
    averaged = averaged_weight(recipe)
    if averaged is not None:
        means = mean_of_groups(survey_weights(frame, averaged), grouping.labels)
        recoded[averaged] = pa.array(means[grouping.labels[kept]])
    columns: dict[str, Any] = {}
    for name in frame.names:
        if name in recoded:
            columns[name] = recoded[name]
        elif name in passed:
            column = frame.table.column(name)
            columns[name] = column if len(kept) == frame.records else column.take(pa.array(kept))
    return pa.table(columns)


def passed_columns(recipe: Recipe) -> set[str]:
    """Return the columns that are released without being recoded: sensitive, kept, or as pseudonyms."""
    return {*recipe.sensitive, *recipe.keep, *recipe.pseudonymize} - dropped_columns(recipe.treat)


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
    """Read every distinct cell anew and ask whether it covers the values it stands for."""
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
    """Return for how many people of the population each released row stands, where survey weights are named."""
    return None if recipe.survey_weight is None else survey_weights(frame, recipe.survey_weight)[labels >= 0]


def _owners(frame: Frame, labels: IntArray, recipe: Recipe) -> dict[str, pa.ChunkedArray]:
    """Return the columns of the original that say whose each released row is."""
    named = {"person": recipe.person, "household": recipe.household}
    kept = pa.array(np.flatnonzero(labels >= 0))
    return {unit: frame.table.column(name).take(kept) for unit, name in named.items() if name is not None}


def verify_rows(
    released: pa.Table,
    owners: dict[str, pa.ChunkedArray],
    labels: IntArray,
    coded: CodedTable,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
) -> IntArray:
    """Count the rendered rows again, independently of the groups, and check every model on that count; return the counted groups."""
    counted = np.full(len(labels), -1, np.int32)
    counted[labels >= 0] = check_release(released, recipe.quasi_identifiers, recipe.k, owners)
    for unit in together_units(recipe):
        check_companions(counted[labels >= 0], owners[unit], recipe.k, unit)
    refuse_withheld(int((labels < 0).sum()), recipe.max_suppression, len(labels))
    for name in recipe.sensitive if models else ():
        if name in released.column_names:
            check_codes(name, coded.attributes[name].codes[labels >= 0], released.column(name))
    for model, requirement in zip(models, requirements, strict=True):
        groups = int(counted.max(initial=-1)) + 1
        refuse_failing_model(type(model).__name__, int(requirement.failing(counted, groups).sum()))
    return counted


def refuse_withheld(withheld: int, max_suppression: float, records: int) -> None:
    """Raise where more records of a table are withheld than may be."""
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
    counted: IntArray,
    recipe: Recipe,
    requirements: Sequence[Requirement],
    weight: FloatArray | None,
) -> Audit:
    """Return what protection the released rows have; sensitive columns are measured as the models measure them."""
    groups = int(counted.max(initial=-1)) + 1
    sensitive = {
        name: measure_attribute(coded.attributes[name], counted, groups, requirements) for name in recipe.sensitive
    }
    people = measure_people(counted, groups, requirements)
    counts = audit_owned(released, recipe.quasi_identifiers, owners, weight)
    return replace(counts, sensitive=sensitive, people=people)
