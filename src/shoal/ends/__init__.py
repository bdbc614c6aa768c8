"""Where released ranges end: at round values, not at two people's own.

A range that follows its group tightly ends at the smallest and the largest value in it: each end is somebody's value. Here ends move outwards to
round ones, by the coarsest step that is not wider than a share of the range; the share is the largest that costs the column at most ``MOST_LOSS``
more. Called by the request, the engines, the plan and the release. It knows coded columns, and neither methods nor files.
"""

from __future__ import annotations

from shoal.ends.boxes import ReleasedBoxes, released_boxes, values_shown
from shoal.ends.choice import (
    MOST_LOSS,
    EndsChoice,
    Ranges,
    check_ends,
    choose_ends,
    merge_ranges,
    ranges_of,
    round_ends,
)
from shoal.ends.columns import ColumnEnds

__all__ = [
    "MOST_LOSS",
    "ColumnEnds",
    "EndsChoice",
    "Ranges",
    "ReleasedBoxes",
    "check_ends",
    "choose_ends",
    "merge_ranges",
    "ranges_of",
    "released_boxes",
    "round_ends",
    "values_shown",
]
