"""Counting a table again, whoever made it, to see what protection it really has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.errors import ParameterError, PrivacyError
from shoal.frames import encode_dictionary, to_frame
from shoal.kernels.tuples import Tuples, distinct_tuples
from shoal.typing import IntArray
from shoal.validation import check_columns


@dataclass(frozen=True)
class Audit:
    """What protection a table has."""

    records: int
    quasi_identifiers: tuple[str, ...]
    k: int
    """The size of the smallest group."""
    groups: int
    mean_size: float
    largest: int
    unique: int
    """Records that are alone in their group."""
    sensitive: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each sensitive column what the groups promise: ``l`` (fewest distinct values in a group)."""

    @property
    def l(self) -> int | None:  # noqa: E743  (the name everybody uses)
        """The fewest distinct sensitive values in a group, over all sensitive columns."""
        return min((int(one["l"]) for one in self.sensitive.values()), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return asdict(self)


def column_codes(table: pa.Table, names: Sequence[str]) -> IntArray:
    """Return the columns of a table as integers, equal values equal, a missing value a value of its own."""
    codes = np.empty((len(names), table.num_rows), np.int32)
    for row, name in enumerate(names):
        encoded = encode_dictionary(table.column(name))
        missing = len(encoded.dictionary)
        codes[row] = np.asarray(encoded.indices.fill_null(missing)) if encoded.indices.null_count else encoded.indices
    return codes


def count_tuples(table: pa.Table, names: Sequence[str]) -> Tuples:
    """Return the distinct combinations of values in the columns ``names``, with their counts."""
    return distinct_tuples(column_codes(table, names))


def audit(data: Any, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()) -> Audit:
    """Count the groups of a table and measure what they promise."""
    frame = to_frame(data)
    names = check_columns("a quasi-identifier", quasi_identifiers, frame.names)
    if not names:
        raise ParameterError("An audit needs at least one quasi-identifier. Got none.")
    others = check_columns("sensitive", sensitive, frame.names)
    tuples = count_tuples(frame.table, names)
    measured = {}
    for name in others:
        pairs = distinct_tuples(np.vstack([tuples.label, column_codes(frame.table, [name])[0]]))
        distinct = np.bincount(tuples.label[pairs.first], minlength=len(tuples.size))
        measured[name] = {"l": float(distinct.min(initial=frame.records))}
    return Audit(
        records=frame.records,
        quasi_identifiers=names,
        k=int(tuples.size.min()) if len(tuples.size) else 0,
        groups=len(tuples.size),
        mean_size=float(tuples.size.mean()) if len(tuples.size) else 0.0,
        largest=int(tuples.size.max(initial=0)),
        unique=int((tuples.size == 1).sum()),
        sensitive=measured,
    )


def check_release(table: pa.Table, quasi_identifiers: Sequence[str], k: int) -> None:
    """Raise unless every combination of released values occurs at least ``k`` times."""
    counts = count_tuples(table, quasi_identifiers).size
    if len(counts) and counts.min() < k:
        raise PrivacyError(
            f"The release is not {k}-anonymous: the fresh count found a group of {counts.min()}. Nothing was released.",
            hint="this is a fault in the method; please report it.",
        )
