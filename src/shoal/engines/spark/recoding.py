"""Global recodings on Spark: the method sees each combination of values once, with how often it occurs; rows are then recoded by a map."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numba
import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, IntArray
from shoal.cells.recode import released_cover
from shoal.encoding import CodedTable
from shoal.ends import ColumnEnds, EndsChoice, round_ends
from shoal.enforcement.dispatch import group_records
from shoal.enforcement.neighbours import number_without_gaps
from shoal.engines.spark.bundles import BUNDLES, Batches
from shoal.engines.spark.counting import audit_of
from shoal.engines.spark.fragments import count_staged, write_scattered
from shoal.engines.spark.naming import all_quoted, map_in_arrow
from shoal.engines.spark.sessions import collect, hashable_columns, tasks_for
from shoal.engines.spark.tasks import COUNT, PAYLOAD, PLACE, payload_batch, scatter
from shoal.engines.spark.work import Made, Work, learn
from shoal.errors import ParameterError, PrivacyError
from shoal.frames import Frame
from shoal.methods.base import Grouping
from shoal.metrics.loss import Statistics
from shoal.plan.coding import Coding
from shoal.plan.contents import order_by_content
from shoal.plan.pieces import check_cells, measure_groups, release_fragment
from shoal.plan.steps import Job
from shoal.privacy.base import bind_models, refuse_unreachable
from shoal.results.generalization import Generalization, make_generalization

MOST_RECORDS = 50_000_000
"""Records whose codes one task is asked to hold, at most: some gigabytes."""


def check_countable(work: Work) -> None:
    """Refuse a table whose combinations are too many for one task."""
    if work.records > MOST_RECORDS:
        raise ParameterError(
            f"The method {work.request.method.info.name!r} needs the codes of all records in one place, and {work.records:,} are too many "
            f"for that (at most {MOST_RECORDS:,}).",
            hint="take the method 'optimize', which works fragment by fragment.",
        )


def stage_recoded(work: Work) -> Made:
    """Release the table by a global recoding, and stage it."""
    from pyspark.sql import functions  # noqa: PLC0415

    request, data = work.request, work.data
    work.progress(0.0, "learning the columns")
    coding = learn(work)
    names = [*request.quasi_identifiers, *coding.attributes]
    work.progress(0.2, "finding how to recode")
    tuples = data.groupBy(*all_quoted(names)).agg(functions.count("*").alias(COUNT)).repartition(1)
    (found,) = collect(
        tuples, find_recoding, coding=coding, job=work.job, where=request.ends, keep=(*request.sensitive, *request.keep)
    )
    work.progress(0.6, "recoding")
    # a row's place among all is drawn by its content and a secret, so that a repeated task gives the same rows
    secret = functions.lit(secrets.randbits(62))
    placed = data.withColumn(PLACE, functions.xxhash64(secret, *hashable_columns(data)))
    tasks = tasks_for(data, work.records // 1000 + 1)
    columns = tuple(work.released)
    task = partial(recode_table, coding=coding, recoding=found, columns=columns, like=work.frame, parts=tasks)
    write_scattered(work, map_in_arrow(placed, task, BUNDLES), tasks)
    work.progress(0.8, "counting")
    counted = count_staged(work, coding, found.statistics)
    metrics = found.statistics.metrics(request.quasi_identifiers, coding.weights, request.k)
    return Made(metrics, audit_of(counted, request.quasi_identifiers), {"fragments": 1}, mapping=found.mapping)


# --- on an executor ----------------------------------------------------------------------------------------------


class Recoding(NamedTuple):
    """How a global method recodes the table."""

    cuts: tuple[IntArray, ...]
    withheld: frozenset[bytes]
    """Combinations of recoded values that are left out."""
    ends: dict[int, ColumnEnds]
    statistics: Statistics
    mapping: Generalization


def find_recoding(
    batches: Batches, coding: Coding, job: Job, where: EndsChoice, keep: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Find how to recode a table of which each combination of values comes once, with how often it occurs."""
    numba.set_num_threads(1)
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    tuples = pa.Table.from_batches(held)
    table = _one_row_a_record(coding.code(tuples), np.asarray(tuples.column(COUNT)))
    bound = bind_models(job.models, table, job.sensitive)
    refuse_unreachable(job.models, bound, job.task.max_suppression)
    task = replace(job.task, requirements=bound)
    grouping = group_records(job.method, table, task)
    if grouping.cuts is None:
        raise PrivacyError(
            "The method found no recoding.", hint="this is an internal error of the method; please report it."
        )
    cover = released_cover(table, grouping)
    ends = round_ends(table, grouping.labels, cover, where, task.requirements)
    left_out = np.unique(recoded_combinations(table, grouping.cuts)[grouping.labels < 0])
    yield payload_batch(
        Recoding(
            grouping.cuts,
            frozenset(left_out.tolist()),
            ends,
            measure_groups(table, grouping.labels, cover, job.task.k, ends),
            make_generalization(table, grouping.cuts, job.task.k, keep, ends),
        )
    )


def _one_row_a_record(tuples: CodedTable, count: AnyArray) -> CodedTable:
    """Return as many records as were counted, in the order of their content."""
    order = order_by_content(tuples)
    return tuples.take(np.repeat(order, count[order]))


def recoded_combinations(table: CodedTable, cuts: Sequence[IntArray]) -> AnyArray:
    """Return one word of bytes for each record, equal where records are recoded alike."""
    pairs = [cut[end][codes] for cut, codes in zip(cuts, table.codes, strict=True) for end in (0, 1)]
    ends = np.stack(pairs, axis=1).astype(np.int32)
    return np.ascontiguousarray(ends).view(f"V{4 * ends.shape[1]}").reshape(-1)


def recode_table(
    batches: Batches, coding: Coding, recoding: Recoding, columns: Sequence[str], like: Frame, parts: int
) -> Iterator[pa.RecordBatch]:
    """Recode the rows of a partition, leave those out that are withheld, and scatter the others; ``like`` says how their cells are read."""
    recoded = (_recode(pa.Table.from_batches([batch]), coding, recoding, columns, like) for batch in batches)
    yield from scatter(recoded, parts)


def _recode(table: pa.Table, coding: Coding, recoding: Recoding, columns: Sequence[str], like: Frame) -> pa.Table:
    part = coding.code(table)
    words, label = np.unique(recoded_combinations(part, recoding.cuts), return_inverse=True)
    out = np.array([word in recoding.withheld for word in words.tolist()], np.bool_)
    labels = np.where(out[label.reshape(-1)], -1, label.reshape(-1)).astype(np.int32)
    piece = release_fragment(part, Grouping(number_without_gaps(labels), cuts=recoding.cuts), 1, recoding.ends)
    kept = table.take(pa.array(piece.kept))
    check_cells(coding, replace(like, table=kept), piece)
    released = {name: piece.columns.get(name, kept.column(name)) for name in [*columns, PLACE]}
    return pa.table(released | {PAYLOAD: pa.nulls(kept.num_rows, pa.binary())})
