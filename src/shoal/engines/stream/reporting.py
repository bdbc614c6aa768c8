"""The report of a streamed release, and the points to check before publishing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, IntArray
from shoal.audit import Audit
from shoal.cells.recode import released_cover
from shoal.ends import released_boxes, values_shown
from shoal.engines.stream.excerpts import Excerpt
from shoal.engines.stream.order import Order
from shoal.engines.stream.spool import Spool, read_rows
from shoal.engines.stream.tasks import WorkerContext, as_part
from shoal.kernels.space.space import Cover
from shoal.methods.base import Grouping
from shoal.metrics.loss import Statistics
from shoal.plan.coding import Learned, learn_batch, merge_learned
from shoal.release.make import ends_used
from shoal.summary import Release, Summary, things_to_look_at
from shoal.summary.found_people import GroupSizes, merge_sizes
from shoal.summary.make import ReleaseCounts, summarize
from shoal.summary.release import hides_withheld
from shoal.treatments import Treated, can_be_counted

_MERGED = 64
"""Fragments whose values are counted together at once."""


def summarize_stream(
    order: Order,
    spool: Spool,
    setting: WorkerContext,
    excerpts: Sequence[Excerpt],
    before: tuple[GroupSizes, GroupSizes] | None,
    statistics: Statistics,
    counted: tuple[Audit, GroupSizes],
    treated: dict[str, Treated],
    warnings: list[str],
) -> Summary:
    """Return the summary of a streamed release; too few withheld records are left out of it.

    ``before`` are the sizes of equal records of the original with and without withheld ones, if the table was grouped as a whole.
    """
    coding, k, withheld, (audit, after) = setting.coding, order.job.task.k, statistics.suppressed, counted
    few = hides_withheld(withheld, k)
    if few:
        excerpts = [one.without_withheld() for one in excerpts]
        statistics = statistics.without_withheld(coding.columns)
    sizes = before[few] if before else merge_sizes([one.sizes for one in excerpts])
    known = ReleaseCounts(statistics.records, audit.records, None if few else withheld, sizes, after, warnings)
    metrics = statistics.metrics(order.quasi_identifiers, coding.weights, k)
    parts = sample_release(order, spool, setting, excerpts)
    return summarize(Release(**parts, metrics=metrics, audit=audit, treated=treated), whole=known)


def sample_release(order: Order, spool: Spool, setting: WorkerContext, excerpts: Sequence[Excerpt]) -> dict[str, Any]:
    """Return the chosen groups of all fragments as parts of a ``Release``."""
    part, ends, cover = (
        as_part(setting, np.concatenate([one.codes for one in excerpts], axis=1)),
        setting.ends,
        setting.cover,
    )
    group = _numbered([one.labels for one in excerpts], apart=cover is None)
    kept, labels = np.unique(group[group >= 0], return_inverse=True)
    number = np.full(len(group), -1, np.int32)
    number[group >= 0] = labels.reshape(-1)
    if cover is None:
        boxes = released_cover(part, Grouping(number))
    else:
        boxes = Cover(cover.low[:, kept], cover.high[:, kept], cover.words[kept], cover.size[kept])
    rows = pa.concat_tables([one.rows for one in excerpts]).unify_dictionaries()
    return {
        "released": pa.concat_tables([one.released for one in excerpts]),
        "groups": number,
        "recipe": order.recipe,
        "coded": part,
        "cover": values_shown(boxes, ends),
        "source": order.frame(_all_columns(spool, rows)),
        "details": {"ends": ends_used(part, boxes, ends)},
        "method": order.job.method.info,
        "models": order.job.models,
        "ends": ends,
        "boxes": released_boxes(part, boxes, ends) if ends else None,
    }


def _numbered(labels: Sequence[IntArray], *, apart: bool) -> AnyArray:
    """Return the labels of all parts; if these are fragments, with other numbers in each."""
    if not apart:
        return np.concatenate(labels)
    most = max(int(one.max(initial=0)) for one in labels) + 1
    return np.concatenate(
        [np.where(one < 0, -1, one.astype(np.int64) + place * most) for place, one in enumerate(labels)]
    )


def _all_columns(spool: Spool, rows: pa.Table) -> pa.Table:
    """Return rows with all columns of the source; those that were not stored are empty."""
    return pa.table(
        {
            name: rows.column(name) if name in rows.column_names else pa.nulls(rows.num_rows, pa.string())
            for name in spool.names
        }
    )


def look_twice(
    order: Order, spool: Spool, audit: Audit, pieces: Sequence[Path], treated: dict[str, Treated]
) -> list[str]:
    """Return what to look at before a streamed release is published.

    Whether people have several records is judged by the first rows of the table.
    """
    released = read_rows(pieces[0]).column_names

    def alone(name: str) -> int:
        if not can_be_counted(read_rows(pieces[0]).schema.field(name).type):
            return 0
        learned: list[Learned] = []
        for piece in pieces:
            learned.append(learn_batch(read_rows(piece), [name]))
            learned = [merge_learned(learned)] if len(learned) == _MERGED else learned
        return int((merge_learned(learned).columns[name].counts == 1).sum())

    apart, records = order.frame(spool.apart), spool.learned.records
    return list(things_to_look_at(order.recipe, audit, released, treated, apart, records, alone))
