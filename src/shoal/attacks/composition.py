"""Two releases of the same people, compared (Ganta, Kasiviswanathan & Smith 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import LongArray
from shoal.attacks.base import Finding, as_frame, choose_targets, rate, typed_table
from shoal.attacks.matching import covering_groups
from shoal.audit import count_tuples
from shoal.errors import ColumnError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import Tuples
from shoal.validation import check_columns, check_int


def two_releases(
    original: Any,
    first: Any,
    second: Any,
    on: Sequence[str],
    *,
    k: int,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    targets: int = 2_000,
    seed: int = 0,
) -> Finding:
    """Count for how many people fewer than ``k`` candidates are left once both releases are known.

    Columns that both releases show unchanged (sensitive and kept ones) tie their rows together: of the rows that fit
    a person in one release only those remain whose unchanged values also occur among the rows that fit in the other.
    The control is the better of the two releases alone. Use it before a second release, with the first as ``first``.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> other = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="top-down")
    >>> found = shoal.attacks.two_releases(patients, result, other, known, k=5)
    >>> found.success.share >= found.control.share
    True
    """
    check_int("two_releases", "k", k, least=2)
    own, one, other = as_frame(original), as_frame(first), as_frame(second)
    shared = [name for name in one.names if name in other.names and name not in on]
    chosen = choose_targets(own.records, targets, seed)
    fits_one, fits_other = (fitting_rows(own, frame, on, chosen, hierarchies) for frame in (one, other))
    tie_one, tie_other = _ties(one, other, shared)
    left = np.array([_remaining(tie_one[a], tie_other[b]) for a, b in zip(fits_one, fits_other, strict=True)], np.int64)
    alone = np.array([min(len(a), len(b)) for a, b in zip(fits_one, fits_other, strict=True)], np.int64)
    below, below_alone = int(((left < k) & (left > 0)).sum()), int(((alone < k) & (alone > 0)).sum())
    named = int((left == 1).sum())
    return Finding(
        attack="two releases",
        question=f"Do both releases together leave fewer than {k} candidates?",
        success=rate(below, len(chosen)),
        control=rate(below_alone, len(chosen)),
        verdict=f"{below:,} of {len(chosen):,} people drop below k = {k}, and {named:,} are left with a single candidate.",
        figures={
            "below_k": below,
            "below_k_in_one_release": below_alone,
            "single_candidate": named,
            "median_candidates": float(np.median(left)) if len(left) else 0.0,
            "median_candidates_in_one_release": float(np.median(alone)) if len(alone) else 0.0,
            "columns_that_tie_rows": len(shared),
        },
        examples=[int(row) for row in chosen[left == 1][:5]],
    )


def fitting_rows(
    own: Frame, published: Frame, on: Sequence[str], chosen: LongArray, hierarchies: Mapping[str, Hierarchy] | None
) -> list[LongArray]:
    """Return for each of some records of the original the released rows that fit."""
    columns = check_columns("known to the intruder", [name for name in on if name in published.names], own.names)
    if not columns:
        raise ColumnError("A release shares no column with what the intruder is said to know.")
    wanted = typed_table(own, columns).take(pa.array(chosen))
    groups = count_tuples(published.table, columns)
    order = np.argsort(groups.label, kind="stable")
    end = np.cumsum(groups.size)
    fitting: list[list[LongArray]] = [[] for _ in chosen]
    for part, covered in covering_groups(published.table, groups, wanted, columns, hierarchies):
        for group, person in zip(*np.nonzero(covered), strict=True):
            fitting[person].append(_rows_of(groups, order, end, part.start + int(group)))
    return [np.concatenate(rows) if rows else np.zeros(0, np.int64) for rows in fitting]


def _rows_of(groups: Tuples, order: LongArray, end: LongArray, group: int) -> LongArray:
    return order[end[group] - groups.size[group] : end[group]]


def _ties(one: Frame, other: Frame, shared: Sequence[str]) -> tuple[LongArray, LongArray]:
    """Return for each row of both releases the number of its unchanged values."""
    if not shared:
        return np.zeros(one.records, np.int64), np.zeros(other.records, np.int64)
    both = pa.concat_tables(
        [pa.table({name: frame.plain(name).cast(pa.string()) for name in shared}) for frame in (one, other)]
    )
    label = count_tuples(both, shared).label.astype(np.int64)
    return label[: one.records], label[one.records :]


def _remaining(one: LongArray, other: LongArray) -> int:
    """Return how many rows of one list can be paired with rows of the other that have the same unchanged values."""
    values, count = np.unique(one, return_counts=True)
    others, other_count = np.unique(other, return_counts=True)
    _, here, there = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(np.minimum(count[here], other_count[there]).sum())
