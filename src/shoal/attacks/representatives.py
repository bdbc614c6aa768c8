"""Distance linkage as a finding: a released representative is named as the original record nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks.base import Finding, as_frame, rate, typed_table
from shoal.attacks.distance import distance_linked
from shoal.errors import DataError
from shoal.typing import FloatArray
from shoal.validation import check_columns


def distance_linkage(original: Any, release: Any, on: Sequence[str]) -> Finding:
    """Name each released row as the original record nearest to it, for releases with representatives.

    The rows must stand in the same order, because the steward checks the guesses; ``on`` are columns of numbers in
    both. The control picks an original record blindly.
    """
    own, published = as_frame(original), as_frame(release)
    names = check_columns("known to the intruder", on, [name for name in own.names if name in published.names])
    if own.records != published.records:
        raise DataError(
            "Distance linkage is checked row by row, and the release has another number of rows than the original.",
            hint="give the release in the order of the input, with no record withheld.",
        )
    before, after = _numbers(typed_table(own, names)), _numbers(typed_table(published, names))
    share = distance_linked(before, after)
    return Finding(
        attack="distance linkage",
        question="Which person lies nearest to this row?",
        success=rate(share * own.records, own.records),
        control=rate(1.0, own.records),
        verdict=f"The nearest original record is the right one for {share:.1%} of {own.records:,} rows.",
        figures={"columns": len(names)},
    )


def _numbers(table: pa.Table) -> FloatArray:
    for name in table.column_names:
        kind = table.column(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or table.column(name).null_count:
            raise DataError(f"Distance linkage needs numbers without gaps, and the column {name!r} has others.")
    return np.column_stack([np.asarray(table.column(name), np.float64) for name in table.column_names])
