"""What codes stand for, and which of them mean that there is no value: as SPSS, Stata and SAS files say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class ValueLabels:
    """The labels of one column."""

    labels: Mapping[Any, str] = field(default_factory=dict)
    missing: tuple[tuple[Any, Any], ...] = ()
    """Ranges of codes, ends included, that stand for a missing value."""
    title: str = ""
    """What the column is about, in words."""

    def apply(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column without codes for missing values; as text where every other code has a label."""
        column = self._without_missing(column)
        distinct = pc.unique(column).drop_null().to_pylist()
        if not self.labels or any(value not in self.labels for value in distinct):
            return column
        texts = pa.array([self.labels[value] for value in distinct], pa.string())
        places = pc.index_in(column, pa.array(distinct, column.type))
        return pa.chunked_array([texts.take(chunk) for chunk in places.chunks], pa.string())

    def _without_missing(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        for low, high in self.missing:
            inside = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
            column = pc.if_else(inside, pa.scalar(None, column.type), column)
        return column
