"""What other packages release is read and measured rightly; the packages themselves are not needed."""

from __future__ import annotations

import pyarrow as pa
import pytest
from benchmarks.peers.released import loss_of_release

from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.hierarchy import Hierarchy

TREE = {"*": {"care": ["nurse", "doctor"], "school": ["teacher", "pupil"]}}


def coded():
    table = pa.table(
        {
            "age": [20, 30, 40, 60],
            "sex": ["m", "f", "f", "m"],
            "job": ["nurse", "doctor", "teacher", "pupil"],
        }
    )
    return encode(to_frame(table), ["age", "sex", "job"], hierarchies={"job": Hierarchy.from_dict(TREE)})


@pytest.mark.compiled
def test_ranges_sets_and_nodes_cost_what_they_cost_in_shoal():
    released = pa.table(
        {
            "age": ["20-30", "40-60"],
            "sex": ["f,m", "m,f"],
            "job": ["care", "*"],
            "count": [2, 2],
        }
    )
    found = loss_of_release(coded(), released)
    first, second = 10 / 40 + 1 + 2 / 4, 20 / 40 + 1 + 1
    assert found["loss"] == pytest.approx((2 * first + 2 * second) / (4 * 3))
    assert found["smallest"] == 2
    assert found["suppressed"] == 0


@pytest.mark.compiled
def test_a_set_of_values_of_a_column_with_a_hierarchy_costs_the_closest_node_that_covers_it():
    released = pa.table(
        {"age": ["20-30", "40-60"], "sex": ["f,m", "m,f"], "job": ["nurse,doctor", "teacher"], "count": [2, 2]}
    )
    found = loss_of_release(coded(), released)
    first, second = 10 / 40 + 1 + 2 / 4, 20 / 40 + 1 + 0
    assert found["loss"] == pytest.approx((2 * first + 2 * second) / (4 * 3))


@pytest.mark.compiled
def test_a_withheld_record_is_wholly_lost_and_equal_rows_are_one_group():
    released = pa.table(
        {"age": ["20", "20"], "sex": ["m", "m"], "job": ["nurse", "nurse"], "count": [1, 2]},
    )
    found = loss_of_release(coded(), released)
    assert found == {"loss": pytest.approx(1 / 4), "groups": 1, "smallest": 3, "suppressed": 1}
