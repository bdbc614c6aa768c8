"""The calls of Spark: only the DataFrame API, which also works through Spark Connect."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from shoal import errors
from shoal.engines.spark.naming import map_in_arrow, quoted
from shoal.engines.spark.people import OWNERS
from shoal.engines.spark.tasks import PAYLOAD, PLACE, payload_batch
from shoal.errors import DataError, ShoalError
from shoal.frames import require

_PAYLOAD_SCHEMA = f"{PAYLOAD} binary"
_MOST_FRAGMENTS_A_TASK = 16
"""Fragments that one task groups one after the other, about: a killed task repeats no more."""

_USUAL_TASKS = 200
"""What Spark takes if nothing is set."""


def check_dataframe(data: Any, caller: str) -> Any:
    """Return a DataFrame of Spark, or say that it must be one."""
    require("pyspark", "spark", "Spark")
    if not all(hasattr(data, name) for name in ("mapInArrow", "sparkSession", "repartition")):
        raise DataError(
            f"{caller} takes a DataFrame of Spark. Got {type(data).__name__}.",
            hint="shoal.anonymize takes other tables; spark.createDataFrame or spark.read make a DataFrame.",
        )
    return data


def collect(data: Any, task: Callable[..., Iterator[pa.RecordBatch]], **settings: Any) -> list[Any]:
    """Run a task on every partition and return the objects they give; never rows."""
    return payloads(map_in_arrow(data, partial(guarded, task, settings), _PAYLOAD_SCHEMA))


def payloads(data: Any) -> list[Any]:
    """Return the objects in the column of payloads; raise the first that is a complaint of shoal's own."""
    found = [pickle.loads(row[0]) for row in data.select(PAYLOAD).collect()]  # noqa: S301  (made by our own tasks)
    for one in found:
        if isinstance(one, ShoalError):
            raise one
    return found


def guarded(
    task: Callable[..., Iterator[pa.RecordBatch]], settings: dict[str, Any], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Send a complaint of shoal's own to the driver as it is: Spark would bury it in a trace, after trying again three times."""
    try:
        yield from task(batches, **settings)
    except ShoalError as fault:
        yield payload_batch(fault)


def as_said(fault: BaseException) -> BaseException:
    """Return the complaint of shoal's own that Spark has buried in the trace of a task, or the fault as it is."""
    found = re.search(r"shoal\.errors\.(\w+): (.+)", str(fault))
    kind = getattr(errors, found[1], None) if found else None
    return kind(found[2].strip()) if found and kind is not None else fault


def hashable_columns(data: Any) -> list[str]:
    """Return the columns, by quoted names, of which Spark can make a hash: all but maps."""
    return [quoted(field.name) for field in data.schema.fields if "map<" not in field.dataType.simpleString()]


def tasks_for(data: Any, fragments: int) -> int:
    """Return the number of partitions in which fragments are grouped."""
    return max(1, min(fragments, max(usual_tasks(data), fragments // _MOST_FRAGMENTS_A_TASK)))


def usual_tasks(data: Any) -> int:
    """Return the number of partitions that Spark's settings ask for after a shuffle; on Databricks that may be the word "auto"."""
    asked = str(data.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    return int(asked) if asked.isdigit() else _USUAL_TASKS


def with_columns(data: Any, columns: Sequence[str], recoded: Container[str], more: Sequence[str]) -> Any:
    """Return the schema of some columns in the order of the table, recoded ones as text, and of columns of shoal's own behind them."""
    from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType  # noqa: PLC0415

    own = {PLACE: LongType(), PAYLOAD: BinaryType()} | dict.fromkeys(OWNERS.values(), LongType())
    fields = [
        StructField(field.name, StringType() if field.name in recoded else field.dataType)
        for field in data.schema.fields
        if field.name in columns
    ]
    return StructType([*fields, *(StructField(name, own[name]) for name in more)])
