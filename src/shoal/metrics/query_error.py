"""How wrong COUNT and SUM queries come out on a release (Xu et al. 2006, section 5.2; LeFevre et al. 2006).

A group's records are taken to be spread evenly over its box, so a group adds its size times the share of the box
that the query asks for; with survey weights, the sum of its weights instead of its size. The error of a query is ``abs(estimate - truth) / abs(truth)``, over the queries whose truth is not 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray
from shoal.encoding import CodedColumn, CodedTable, survey_weights
from shoal.errors import ColumnError, DataError, ParameterError
from shoal.frames import to_frame
from shoal.kernels.measuring.query_answers import Asked, estimated_answer, released_codes, sum_by_group, true_answer
from shoal.metrics.conditions import codes_asked, interval_asked
from shoal.metrics.queries import Condition, Query, as_queries, read_queries
from shoal.metrics.random_queries import random_queries
from shoal.validation import check_choice, check_columns, check_int, nearest_hint

if TYPE_CHECKING:
    from shoal.kernels.measuring.query_answers import Asked

_OWNER = "query_error"


@dataclass(frozen=True, repr=False)
class QueryErrors:
    """The queries, their answers, and how far these are apart."""

    queries: tuple[Query, ...]
    truth: FloatArray
    """The answer on the original table."""
    estimate: FloatArray
    """The answer on the release."""

    @cached_property
    def errors(self) -> FloatArray:
        """``abs(estimate - truth) / abs(truth)`` of the queries whose truth is not 0."""
        asked = self.truth != 0
        return np.asarray(np.abs(self.estimate[asked] - self.truth[asked]) / np.abs(self.truth[asked]), np.float64)

    @property
    def mean(self) -> float:
        """The mean error; NaN when no query has an answer but 0."""
        return float(self.errors.mean()) if self.errors.size else float("nan")

    @property
    def median(self) -> float:
        """The median error; NaN when no query has an answer but 0."""
        return float(np.median(self.errors)) if self.errors.size else float("nan")

    def __float__(self) -> float:
        return self.mean

    def __repr__(self) -> str:
        return f"<QueryErrors: mean {self.mean:.4f}, median {self.median:.4f} over {self.errors.size:,} of {len(self.queries):,} queries>"


def query_error(
    original: Any,
    result: Any,
    queries: int | str | Path | Iterable[str | Query] = 1000,
    aggregate: Literal["count", "sum"] = "count",
    columns: Sequence[str] | None = None,
    *,
    total: str | None = None,
    seed: int = 0,
) -> QueryErrors:
    """Compare the answers to queries on a release with those on the original table.

    Parameters
    ----------
    original
        The table that was anonymized, rows in the same order.
    result
        The ``Result``; its ``coded``, ``groups`` and ``boxes`` are used.
    queries
        How many random queries to draw, your own queries (see :mod:`shoal.metrics.queries`), or a file with one a line.
    aggregate
        What random queries compute: ``"count"``, or the ``"sum"`` of the column ``total``.
    columns
        Quasi-identifiers that random queries ask about; by default all, without ``total``.
    total
        The column that random sums add up; by default the first numeric quasi-identifier.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> result = shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"])
    >>> shoal.metrics.query_error(people, result, ["age 21..30, sex = f"]).mean
    0.0
    """
    check_choice(_OWNER, "aggregate", aggregate, ("count", "sum"))
    table: CodedTable = result.coded
    frame = to_frame(original)
    if frame.records != table.records:
        raise DataError(
            f"The original table must have the {table.records} records of the release. Got {frame.records}.",
            hint="pass the very table that was anonymized.",
        )
    if isinstance(queries, (str, Path)):
        asked = read_queries(queries)
    elif isinstance(queries, Iterable):
        asked = as_queries(queries)
    else:
        number = check_int(_OWNER, "queries", queries, least=1)
        asked = random_queries(table, number, columns, _total_column(table, aggregate, total), seed)
    answers = _Answers(result, frame)
    truth, estimate = zip(*(answers.of(query) for query in asked), strict=True)
    return QueryErrors(tuple(asked), np.array(truth), np.array(estimate))


def _total_column(table: CodedTable, aggregate: str, total: str | None) -> str | None:
    if aggregate == "count":
        if total is not None:
            raise ParameterError("The 'total' parameter of query_error belongs to sums.", hint='aggregate="sum"')
        return None
    numeric = [column.name for column in table.columns if column.measured]
    if total is None and not numeric:
        raise ParameterError(
            "The 'total' parameter of query_error must name the column to add up. Got none.",
            hint="no quasi-identifier is numeric; name a numeric column of the table.",
        )
    return total or numeric[0]


# --- answers -----------------------------------------------------------------------------------------------------


class _Answers:
    """Answers queries on the records and on the boxes of one result."""

    def __init__(self, result: Any, frame: Any) -> None:

        self.table: CodedTable = result.coded
        self.groups, self.frame = result.groups.copy(), frame  # kernels want writable arrays
        boxes = getattr(result, "boxes", None)
        self.shown = self.table.space if boxes is None else boxes.shown
        self.cover = result.cover if boxes is None else boxes.cover
        self.first, self.last = released_codes(self.shown, self.cover)
        self.whole = np.array([_is_whole(column) for column in self.table.columns])
        self.starts = np.cumsum([0, *(column.cardinality + 1 for column in self.table.columns)]).astype(np.int64)
        recipe = getattr(result, "recipe", None)
        named = None if recipe is None else recipe.survey_weight
        self.weight = None if named is None else survey_weights(self.frame, named)
        """How many people of the population each record represents; None: for one."""
        self.amounts: dict[str | None, tuple[FloatArray, FloatArray, int]] = {}

    def of(self, query: Query) -> tuple[float, float]:
        """Return the true and the estimated answer."""
        if query.total not in self.amounts:
            self.amounts[query.total] = self._amounts(query.total)
        records, groups, summed = self.amounts[query.total]
        asked, space = self._bind(query), self.table.space
        truth = true_answer(space, self.table.codes, asked, records)
        boxes = (self.shown, self.cover, self.first, self.last)
        return truth, estimated_answer(*boxes, asked, self.whole, groups, summed)

    def _amounts(self, total: str | None) -> tuple[FloatArray, FloatArray, int]:
        """Return what each record and each group counts for, and which column's ranges are added up (-1: none)."""
        groups = self.cover.size.size
        size = (
            self.cover.size.astype(np.float64)
            if self.weight is None
            else sum_by_group(self.groups, self.weight, groups)
        )
        weight = np.ones(self.table.records) if self.weight is None else self.weight
        if total is None:
            return weight, size, -1
        if total in self.table.names:
            summed = self.table.names.index(total)
            column = self.table.columns[summed]
            if column.position is None:
                raise DataError(f"The column {total!r} has no numbers that could be added up.")
            return weight * np.append(column.numbers, 0.0)[self.table.codes[summed]], size, summed
        values = weight * _numbers(self.frame, total)
        return values, sum_by_group(self.groups, values, size.size), -1

    def _bind(self, query: Query) -> Asked:

        columns, space = len(self.table.columns), self.table.space
        used = np.zeros(columns, np.bool_)
        low, high = np.full(columns, -np.inf), np.full(columns, np.inf)
        before = np.zeros(self.starts[-1], np.int32)
        words = np.zeros(space.word_start[-1], np.uint64)
        for condition in query.conditions:
            row = self._row_of(condition)
            column = self.table.columns[row]
            used[row] = True
            if column.kind.ordered:
                low[row], high[row] = interval_asked(column, condition)
                continue
            codes = codes_asked(column, condition)
            held = np.zeros(column.cardinality, np.int32)
            held[codes] = 1
            before[self.starts[row] + 1 : self.starts[row + 1]] = np.cumsum(held)
            if column.kind.by_members:
                for code in codes:
                    words[space.word_start[row] + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
        return Asked(used, low, high, self.starts[:-1], before, words)

    def _row_of(self, condition: Condition) -> int:
        if condition.column not in self.table.names:
            raise ColumnError(
                f"A query asks about the column {condition.column!r}, which is not a quasi-identifier.",
                hint=nearest_hint(condition.column, self.table.names)
                or f"the quasi-identifiers are: {', '.join(self.table.names)}.",
            )
        return self.table.names.index(condition.column)


def _is_whole(column: CodedColumn) -> bool:
    """Return whether a range of the column stands for the whole numbers in it."""
    return column.position is not None and bool((column.position == np.floor(column.position)).all())


def _numbers(frame: Any, name: str) -> FloatArray:
    check_columns("the column to add up", [name], frame.names)
    try:
        values = frame.typed(name).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"The column {name!r} has no numbers that could be added up.") from None
    return np.nan_to_num(np.asarray(values.fill_null(0.0), np.float64))
