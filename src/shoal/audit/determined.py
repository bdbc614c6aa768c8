"""The count of a release with respect to everything that its quasi-identifiers determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.derived import Derived, Exposure, expose, refusal
from shoal.errors import PrivacyError
from shoal.recount.rows import count_owners, recount


def count_determined(
    released: pa.Table,
    quasi_identifiers: Sequence[str],
    derived: Sequence[Derived],
    k: int,
    owners: Mapping[str, pa.ChunkedArray] | None = None,
) -> tuple[int, int, tuple[Exposure, ...]]:
    """Count released rows by the quasi-identifiers and all columns that follow from them.

    Returns
    -------
    tuple
        The fewest people behind a combination, the records of combinations below ``k``, and the columns by which groups fall below ``k``.
    """
    certain = [one for one in derived if one.certain and one.column in released.column_names]

    def count(label: IntArray) -> LongArray:
        return people_behind(label, owners or {})

    label = recount(released, [*quasi_identifiers, *(one.column for one in certain)])
    sizes = count(label)
    below = int((sizes[label] < k).sum())
    if not below:
        return int(sizes.min()), 0, ()
    groups = recount(released, quasi_identifiers)
    exposed = [expose(one, released.column(one.column), groups, k, count) for one in certain]
    telling = [one for one in exposed if one.below] or exposed
    return int(sizes.min()), below, tuple(telling)


def people_behind(label: IntArray, owners: Mapping[str, pa.ChunkedArray]) -> LongArray:
    """Return how many records each label has, or how many persons or households, whichever are fewest."""
    counts = [np.bincount(label).astype(np.int64), *(count_owners(label, column) for column in owners.values())]
    fewest: LongArray = np.minimum.reduce(counts)
    return fewest


def refuse_determined(exposed: Sequence[Exposure], below: int, records: int, k: int) -> None:
    """Raise if columns that follow from the quasi-identifiers leave groups of fewer than ``k`` people."""
    if below:
        message, hint = refusal(exposed, below, records, k)
        raise PrivacyError(message, hint=hint)
