"""The person of each released row, so that attacks count people: a person with many rows that fit is one candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.attacks.base import choose_targets
from shoal.attacks.matching import covering_groups
from shoal.attacks.remains import row_order
from shoal.audit import column_codes, count_tuples
from shoal.errors import ColumnError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import check_columns


def released_owner(
    own: Frame,
    published: Frame,
    on: Sequence[str],
    person: str,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> pa.ChunkedArray:
    """Return the person of each released row: from a column of the release, or of the original if its order is kept."""
    check_columns("the person column", [person], own.names)
    if person in published.names:
        return published.table.column(person)
    kept = own.records == published.records and row_order(own, published, on, hierarchies=hierarchies)
    if not kept or not kept.figures["order_kept"]:
        raise ColumnError(
            f"The release has no column {person!r} and its rows are not in the order of the original, so the person of each "
            "row is unknown and people cannot be counted.",
            hint="attack the release in its own order, as the report does, or one with pseudonyms. Without a person column, rows are counted.",
        )
    return own.table.column(person)


def numbered(column: pa.ChunkedArray) -> IntArray:
    """Return the number of the person each row belongs to."""
    codes: IntArray = column_codes(pa.table({"person": column}), ["person"])[0]
    return codes


def one_record_each(whose: IntArray, targets: int, seed: int) -> LongArray:
    """Return a random record of each person, or of a random sample of ``targets`` persons, in rising order."""
    order = np.random.default_rng(seed).permutation(len(whose))
    records = order[np.unique(whose[order], return_index=True)[1]]
    return np.sort(records[choose_targets(len(records), targets, seed)])


def fitting_holders(
    released: pa.Table,
    wanted: pa.Table,
    on: Sequence[str],
    holder: IntArray,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> list[LongArray]:
    """Return for each wanted record the holders of the released rows that cover it, each once.

    ``holder`` numbers what the rows are counted by: persons, or pairs of person and value.
    """
    groups = count_tuples(released, on)
    pairs = distinct_tuples(np.stack([groups.label, holder]))
    by_group = np.argsort(groups.label[pairs.first], kind="stable")
    held = holder[pairs.first][by_group].astype(np.int64)
    end = np.cumsum(np.bincount(groups.label[pairs.first], minlength=len(groups.size)))
    begin = np.concatenate(([0], end[:-1]))
    found: list[list[LongArray]] = [[] for _ in range(wanted.num_rows)]
    for part, covered in covering_groups(released, groups, wanted, on, hierarchies):
        for group, record in zip(*(place.tolist() for place in np.nonzero(covered)), strict=True):
            found[record].append(held[begin[part.start + group] : end[part.start + group]])
    return [np.unique(np.concatenate(each)) if each else np.zeros(0, np.int64) for each in found]
