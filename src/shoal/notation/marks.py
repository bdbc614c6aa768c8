"""Marks for a missing value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

WORDS = frozenset(
    ["", ".", "..", "-", "--", "?", "*", "na", "n/a", "#n/a", "n.a.", "nan", "null", "none", "nil", "missing", "k.a.", "k. a.", "s/d", "s.o.", "nd", "n.d.", "#null!", "#value!", "#div/0!"]
)  # fmt: skip
"""Words that are not a number and no date: among numbers or dates they can only mean that there is none."""
CODES = frozenset([-99, -999, -9999, -99999])
"""Numbers that many questionnaires write if there is no answer."""


def marked(texts: pa.Array) -> pa.Array:
    """Return which texts are words for a missing value."""
    return pc.is_in(pc.utf8_lower(texts), pa.array(sorted(WORDS)))


def missing_code(values: pa.Array) -> int | None:
    """Return the code for a missing value among distinct numbers: the only negative one, and one of ``CODES``."""
    if len(values) < 2:
        return None
    numbers = np.asarray(values.drop_null().cast(pa.float64(), safe=False))
    below = numbers[numbers < 0]
    return int(below[0]) if len(below) == 1 and below[0] in CODES else None
