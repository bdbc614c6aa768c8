"""Names of columns as Spark reads them: without quotes a dot in a name means a field of a struct."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa


def quoted(name: str) -> str:
    """Return the name of a column such that Spark takes it as it is."""
    return "`" + name.replace("`", "``") + "`"


def all_quoted(names: Iterable[str]) -> list[str]:
    """Return the names of columns such that Spark takes them as they are."""
    return [quoted(name) for name in names]


def map_in_arrow(data: Any, task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: Any) -> Any:
    """Run a task on the batches of each partition. Spark's own ``mapInArrow`` fails on names that need quotes, so such columns travel under numbers."""
    names = tuple(data.columns)
    if not any(mark in name for name in names for mark in ".`"):
        return data.mapInArrow(task, schema)
    numbered = data.toDF(*(f"column {number}" for number in range(len(names))))
    return numbered.mapInArrow(partial(_with_names, names, task), schema)


def _with_names(
    names: Sequence[str],
    task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    yield from task(pa.RecordBatch.from_arrays(batch.columns, names=list(names)) for batch in batches)
