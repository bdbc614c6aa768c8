"""The count of a staged release, before anything gets its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.audit import Audit, audit_of_sizes
from shoal.encoding import CodedTable
from shoal.engines.stream.order import Order
from shoal.engines.stream.recounting import Recount
from shoal.engines.stream.spool import read_rows
from shoal.engines.stream.tasks import OWNER, WEIGHT
from shoal.errors import DataError
from shoal.metrics.loss import Statistics
from shoal.plan.coding import Coding
from shoal.plan.judged import judge_column
from shoal.privacy.base import bind_models
from shoal.recount.rows import refuse_failing_model, refuse_small_group
from shoal.release.make import audit_rows, refuse_withheld, verify_rows
from shoal.summary.found_people import GroupSizes, people_in


def recount_pieces(
    order: Order, coding: Coding, pieces: Sequence[Path], statistics: Statistics
) -> tuple[Audit, GroupSizes]:
    """Count all staged rows again and check every model on that count; return what holds, and the sizes of the groups."""
    refuse_withheld(statistics.suppressed, order.recipe.max_suppression, coding.records)
    count = _audit_whole if order.whole else _audit_groups
    audit, sizes = count(order, coding, pieces)
    if audit.records != statistics.records - statistics.suppressed or statistics.records != coding.records:
        raise DataError(
            "Rows were lost on the way. Nothing was released.", hint="this is an internal error; please report it."
        )
    return audit, sizes


# --- a table grouped by fragments: counts of batches are added up ------------------------------------------------


def _audit_groups(order: Order, coding: Coding, pieces: Sequence[Path]) -> tuple[Audit, GroupSizes]:
    sensitive = order.job.sensitive
    count = Recount(order.quasi_identifiers, sensitive)
    for piece in pieces:
        rows = read_rows(piece)
        count.add(rows, {name: coding.books[name].look_up(name, rows.column(name)) for name in sensitive})
    sizes, held = count.groups()
    refuse_small_group(int(sizes.min(initial=order.job.k)), order.job.k)
    measures = _check_models(order, coding, held, len(sizes))
    return replace(audit_of_sizes(order.quasi_identifiers, sizes), sensitive=measures), GroupSizes.of(sizes)


def _check_models(
    order: Order, coding: Coding, held: dict[str, tuple[IntArray, IntArray, LongArray]], groups: int
) -> dict[str, dict[str, float]]:
    """Check every model on the counted groups; return what they promise of each sensitive column."""
    measures = {}
    for name, (label, code, rows) in held.items():
        attribute = replace(coding.attributes[name], codes=np.repeat(code, rows))
        judged = judge_column(order.job.models, coding, attribute, np.repeat(label, rows), groups)
        for model, failing in judged.failing.items():
            refuse_failing_model(model, failing)
        measures[name] = judged.measures
    return measures


def expanded(total: LongArray | None) -> IntArray:
    """Return as many codes as were counted, in their order."""
    counts = np.zeros(0, np.int64) if total is None else total
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


# --- a table grouped as a whole: its staged rows are read where they lie -----------------------------------------


def _audit_whole(order: Order, coding: Coding, pieces: Sequence[Path]) -> tuple[Audit, GroupSizes]:
    """Count and measure as in memory, if persons, households and survey weights are known too."""
    staged = pa.concat_tables([read_rows(piece) for piece in pieces])
    owners: dict[str, pa.ChunkedArray] = {unit: staged.column(OWNER.format(unit)) for unit in order.units}
    weight = np.asarray(staged.column(WEIGHT), np.float64) if WEIGHT in staged.column_names else None
    units = {unit: np.asarray(owners[unit]).astype(np.int32) for unit in order.units}
    side = {
        name: replace(
            coding.attributes[name],
            codes=coding.books[name].look_up(name, staged.column(name)),
            person=units.get("person"),
        )
        for name in order.job.sensitive
    }
    rows = CodedTable(np.zeros((0, staged.num_rows), np.int32), (), np.zeros(0), side, units)
    requirements = bind_models(order.job.models, rows, order.job.sensitive)
    everybody = np.zeros(staged.num_rows, np.int32)
    counted = verify_rows(staged, owners, everybody, rows, order.recipe, order.job.models, requirements)
    audit = audit_rows(staged, owners, rows, counted, order.recipe, requirements, weight)
    return audit, people_in(counted.label, units.get("person"))
