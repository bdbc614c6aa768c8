"""All records in one task: a table that is one fragment, or a release that has to see all of it at once.

The task is the engine for memory itself, so that everything it can do can be done here.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
import pyarrow as pa

from shoal.audit import Audit
from shoal.engines.memory import release_in_memory
from shoal.engines.spark.bundles import Batches
from shoal.engines.spark.naming import map_in_arrow
from shoal.engines.spark.result import check_size
from shoal.engines.spark.sessions import hashable_columns, payloads
from shoal.engines.spark.tasks import ORDER, PAYLOAD, payload_row
from shoal.engines.spark.work import Made, Work
from shoal.errors import ParameterError, ShoalError, ShoalWarning, warn
from shoal.frames import Frame, to_frame
from shoal.io.source import ReadOptions
from shoal.request import Request
from shoal.results.generalization import Generalization
from shoal.results.result import Result
from shoal.summary import Summary

MOST_RECORDS = 2_000_000
"""Records that one task is asked to hold, at most: about a gigabyte."""
Form = Literal["text", "double", "own"]
"""The type of a released column: text, floats, or the one it came with."""


def check_fits(records: int, what: str) -> None:
    """Refuse a table that is too large for one task."""
    if records > MOST_RECORDS:
        raise ParameterError(
            f"{what} needs all records in one place, and {records:,} are too many for that (at most {MOST_RECORDS:,}).",
            hint="leave it out, take the method 'optimize', or release fewer records at a time.",
        )


def stage_whole(work: Work) -> Made:
    """Release the table in one task, and stage it."""
    from pyspark.sql import functions  # noqa: PLC0415

    # the order of rows decides between equals, so it is that of their content
    data = work.data.withColumn(ORDER, functions.xxhash64(*hashable_columns(work.data)))
    forms = {name: _form(work, name) for name in work.released}
    task = partial(release_whole, request=work.request, forms=forms, like=work.frame, report=work.report)
    together = data.repartition(1).sortWithinPartitions(ORDER).drop(ORDER)
    work.progress(0.1, "finding groups in one task")
    # one task groups, shuffles and writes: were it run again half-way, another draw of a treatment could not mix with the first
    map_in_arrow(together, task, _schema(work, forms)).write.parquet(work.rows)
    staged = work.data.sparkSession.read.parquet(work.rows)
    (found,) = payloads(staged.where(f"{PAYLOAD} is not null"))
    for kind, sentence in found.warnings:
        warn(sentence, kind)
    work.progress(0.9, "counting")
    released = staged.where(f"{PAYLOAD} is null").drop(PAYLOAD)
    check_size(released, list(work.request.quasi_identifiers), work.request.k, found.audit.records)
    return Made(found.metrics, found.audit, found.details, found.summary, found.mapping)


def _form(work: Work, name: str) -> Form:
    """Return the type in which a column is released."""
    request = work.request
    if name == request.averaged_weight:
        return "double"
    if name not in request.quasi_identifiers:
        return "own"
    if request.release == "ranges":
        return "text"
    kind = work.data.schema[name].dataType.typeName()
    if kind in {"byte", "short", "integer", "long"}:
        return "own" if getattr(request.method, "round_integers", True) else "double"
    return {"float": "double", "double": "double", "date": "own", "timestamp": "own"}.get(kind, "text")  # type: ignore[return-value]


def _schema(work: Work, forms: dict[str, Form]) -> Any:
    from pyspark.sql.types import BinaryType, DoubleType, StringType, StructField, StructType  # noqa: PLC0415

    kinds = {"text": StringType(), "double": DoubleType()}
    fields = [StructField(name, kinds.get(form, work.data.schema[name].dataType)) for name, form in forms.items()]
    return StructType([*fields, StructField(PAYLOAD, BinaryType())])


# --- on an executor ----------------------------------------------------------------------------------------------


class TaskReport(NamedTuple):
    """What the engine for memory returns besides the rows of a release."""

    metrics: dict[str, Any]
    audit: Audit
    details: dict[str, Any]
    summary: Summary | None
    mapping: Generalization | None
    warnings: list[tuple[type[ShoalWarning], str]]


def release_whole(
    batches: Batches, request: Request, forms: Mapping[str, Form], like: Frame, *, report: bool
) -> Iterator[pa.RecordBatch]:
    """Release a table whose rows all come to this task."""
    numba.set_num_threads(1)
    held = [batch for batch in batches if batch.num_rows]
    if not held:  # of several partitions only one has rows
        return
    table = pa.Table.from_batches(held)
    kinds = {name: _arrow_type(form, table.schema.field(name).type) for name, form in forms.items()}
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            frame = replace(like, table=table) if like.untyped else to_frame(table)
            result = release_in_memory(request, frame, ReadOptions())
            content: Any = _whole_of(result, report=report)
    except ShoalError as fault:  # Spark would try again three times, and bury it in a trace
        yield payload_row(kinds, fault)
        return
    heard = [(one.category, str(one.message)) for one in said if issubclass(one.category, ShoalWarning)]
    order = np.random.default_rng(secrets.randbits(128)).permutation(result.released.num_rows)
    rows = result.released.take(pa.array(order))
    columns = {name: rows.column(name).cast(kind) for name, kind in kinds.items()}
    released = pa.table(columns | {PAYLOAD: pa.nulls(rows.num_rows, pa.binary())})
    yield from released.combine_chunks().to_batches(max_chunksize=1 << 16)
    yield payload_row(kinds, content._replace(warnings=heard))


def _arrow_type(form: Form, own: pa.DataType) -> pa.DataType:
    return {"text": pa.string(), "double": pa.float64()}.get(form, own)


def _whole_of(result: Result, *, report: bool) -> TaskReport:
    cuts = result.details.get("cuts")
    return TaskReport(
        metrics=dict(result.metrics) | {"groups": result.audit.groups, "suppressed": result.suppressed},
        audit=result.audit,
        details={"fragments": 1, "ends": result.details.get("ends", {})},
        summary=result.report().summary if report else None,
        mapping=None if cuts is None else result.generalization,
        warnings=[],
    )
