"""A table grouped as a whole: its codes are in memory, its rows stay on disk.

For what cannot be done fragment by fragment: Mondrian, global recodings and microaggregation (released as ranges), persons and households, survey
weights, δ-disclosure, wider cells. The groups are those of the engine in memory, which finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.cells.recode import released_cover
from shoal.encoding import CodedAttribute, CodedTable, survey_weights, with_units
from shoal.ends import ColumnEnds, round_ends
from shoal.engines.stream.order import Order
from shoal.engines.stream.spool import read_codes, read_rows, write_codes, write_rows
from shoal.engines.stream.tasks import OWNER, WEIGHT, RowSlices, WorkerContext, as_part
from shoal.errors import ParameterError
from shoal.kernels.space.space import Cover
from shoal.kernels.space.tuples import distinct_tuples
from shoal.metrics.loss import Statistics
from shoal.plan.pieces import measure_groups
from shoal.plan.table import group_table
from shoal.privacy.base import bind_models, refuse_unreachable
from shoal.privacy.k_anonymity import at_least_units
from shoal.privacy.rows import plain_row
from shoal.recipe import averaged_weight, together_units
from shoal.release.make import mean_of_groups
from shoal.release.widen import widen_where_models_hold
from shoal.summary.found_people import GroupSizes, people_in

_BYTES_OF_CELL = 40
"""Memory for each coded cell while all of a table is grouped."""


@dataclass(frozen=True)
class WholeGrouping:
    """What all of a table is released as."""

    cover: Cover
    cuts: tuple[IntArray, ...] | None
    """Those of a global recoding, if cells show them."""
    ends: dict[int, ColumnEnds]
    statistics: Statistics
    details: Mapping[str, Any]
    """What else the method reports: its steps, other solutions, a lower bound, fragments."""
    attributes: dict[str, CodedAttribute]
    """Sensitive columns with the totals of the whole table: of records, or of persons if they are known."""
    mean_weight: tuple[str, FloatArray] | None
    sizes: GroupSizes
    """Records, or persons if they are known, that are equal in all quasi-identifiers."""
    kept_sizes: GroupSizes
    """The same of the records that are not withheld."""


def check_memory(order: Order, records: int, largest: int | None = None) -> None:
    """Refuse a table whose codes do not fit into the memory that is allowed: before any work if its files contain how many records it has, else before any groups are sought.

    ``largest`` is the approximate number of records of a fragment, for a table that is cut. Then only the codes of one fragment have to fit.
    """
    at_once = records if largest is None else min(records, largest)
    cells = at_once * (len(order.quasi_identifiers) + len(order.attributes) + len(order.units))
    if _BYTES_OF_CELL * cells <= order.memory:
        return
    needs, allowed = (f"{size / 2**20:,.2f} MB" for size in (_BYTES_OF_CELL * cells, order.memory))
    if at_once < records or not order.whole:
        raise ParameterError(
            f"A streamed release needs the codes of one fragment at once, about {needs} of memory. The 'memory' parameter allows {allowed}.",
            hint="allow more.",
        )
    raise ParameterError(
        f"The method {order.job.method.info.name!r} with these parameters needs the codes of all records at once, about "
        f"{needs} of memory. The 'memory' parameter allows {allowed}.",
        hint="allow more, or take method='optimize' without persons, survey weights and 'widen', which works fragment by fragment.",
    )


def group_whole(order: Order, setting: WorkerContext, calls: Sequence[tuple[RowSlices, Path]]) -> WholeGrouping:
    """Group all records, put the groups of each batch by, and return what they are released as."""
    recipe, job, batches = order.recipe, order.job, [stretch[0][0] for stretch, _ in calls]
    weight = _weight(order, batches)
    table = _coded(order, setting, batches, weight)
    requirements = bind_models(job.models, table, job.sensitive)
    refuse_unreachable(job.models, requirements, recipe.max_suppression)
    task = replace(
        job.task,
        requirements=(*at_least_units(table, recipe.k), *requirements),
        together=together_units(recipe),
        progress=lambda fraction, text: order.request.progress(0.25 + 0.5 * fraction, text),
        cancel=order.request.cancel,
    )
    grouping = group_table(job.method, table, task, job.models, job.sensitive)
    labels, cover = grouping.labels, released_cover(table, grouping)
    if recipe.widen:
        cover = widen_where_models_hold(table, labels, cover, recipe.widen, recipe.seed, task.requirements)
    ends = round_ends(table, labels, cover, recipe.ends, requirements)
    beside: dict[str, AnyArray] = {OWNER.format(unit): one for unit, one in table.units.items()}
    beside |= {} if weight is None else {WEIGHT: weight}
    begin = 0
    for stretch, target in calls:
        end = begin + stretch[0][2]
        write_codes(labels[begin:end], target.with_suffix(".labels"))
        if beside:
            own = pa.table({name: pa.array(values[begin:end]) for name, values in beside.items()})
            write_rows(own, target.with_suffix(".beside"))
        begin = end
    averaged, kept = averaged_weight(recipe), np.flatnonzero(labels >= 0)
    return WholeGrouping(
        cover,
        grouping.cuts,
        ends,
        measure_groups(table, labels, cover, recipe.k, ends),
        grouping.details,
        {name: replace(one, total=plain_row(one).total) for name, one in table.attributes.items()},
        None if averaged is None or weight is None else (averaged, mean_of_groups(weight, labels)),
        *(people_in(distinct_tuples(one.codes).label, one.units.get("person")) for one in (table, table.take(kept))),
    )


def _coded(order: Order, setting: WorkerContext, batches: Sequence[Path], weight: FloatArray | None) -> CodedTable:
    """Return the codes of all records, in the order in which they came."""
    codes = np.concatenate([read_codes(batch.with_suffix(".sorted")) for batch in batches], axis=1)
    part = as_part(setting, codes)
    table = replace(part, survey_weight=weight)
    if order.units:
        uncounted = {name: replace(one, total=None) for name, one in part.attributes.items()}  # of people, not records
        owners = order.frame(_columns(batches, list(order.units.values())))
        table = with_units(replace(table, attributes=uncounted), owners, dict(order.units))
    table.__dict__["space"] = part.space
    return table


def _weight(order: Order, batches: Sequence[Path]) -> FloatArray | None:
    name = order.recipe.survey_weight
    return None if name is None else survey_weights(order.frame(_columns(batches, [name])), name)


def _columns(batches: Sequence[Path], names: list[str]) -> pa.Table:
    return pa.concat_tables([read_rows(batch.with_suffix(".rows")).select(names) for batch in batches])
