"""Queries drawn at random, to ask a release and its original alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.encoding import CodedColumn, CodedTable
from shoal.metrics.queries import Condition, Query
from shoal.validation import check_columns


def random_queries(
    table: CodedTable, number: int, columns: Sequence[str] | None = None, total: str | None = None, seed: int = 0
) -> list[Query]:
    """Draw queries with a condition on each of ``columns``.

    An interval column gets a range between two of its values. A category gets, with equal chance, one of its values or a random
    inner node of its hierarchy; if there is none but the root, that is not a condition at all.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> result = shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"])
    >>> len(shoal.metrics.random_queries(result.coded, 5))
    5
    """
    if columns is None:
        columns = [name for name in table.names if name != total]
    names = check_columns("a column of random queries", columns, table.names)
    chosen = [table.columns[table.names.index(name)] for name in names]
    random = np.random.default_rng(seed)
    return [
        Query(tuple(one for column in chosen if (one := _random_condition(column, random))), total)
        for _ in range(number)
    ]


def _random_condition(column: CodedColumn, random: np.random.Generator) -> Condition | None:
    texts = column.texts
    if not texts:
        return None
    if column.kind.ordered:
        low, high = sorted(random.integers(0, len(texts), 2).tolist())
        return Condition(column.name, texts[low], texts[high])
    if random.random() < 0.5:
        return Condition(column.name, values=(texts[random.integers(len(texts))],))
    inner = [] if column.hierarchy is None else column.hierarchy.labels[column.hierarchy.n_leaves :]
    if len(inner) < 2:
        return None
    return Condition(column.name, values=(inner[int(random.integers(len(inner)))],))
