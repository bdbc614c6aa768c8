from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cells.recode import released_cover
from shoal.encoding import encode
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.methods.base import Grouping
from shoal.metrics import REGISTRY, Outcome, measure
from tests.support import reference
from tests.support.tables import coded_tables


def outcome(table, labels, k=2):
    grouping = Grouping(np.array(labels, np.int32))
    return Outcome(table, grouping.labels, released_cover(table, grouping), k)


def values(table, labels, k=2):
    return measure(outcome(table, labels, k))


SMALL = encode(
    Frame(pa.table({"age": [10, 20, 40, 50], "job": ["a", "b", "c", "a"], "town": ["x", "y", "y", "z"]})),
    ["age", "job", "town"],
    hierarchies={"job": Hierarchy.from_dict({"*": {"A": ["a", "b"], "C": ["c", "d"]}}), "town": "set"},
    weights={"age": 2, "job": 1, "town": 1},
)


def test_the_small_table_by_hand():
    found = values(SMALL, [0, 0, 1, 1])
    # group 0: age 10/40, job A = 2/4, town {x, y} = 2/3; group 1: age 10/40, job * = 1, town {y, z} = 2/3
    assert found["ncp_by_column"] == pytest.approx({"age": 0.25, "job": 0.75, "town": 2 / 3})
    assert found["ncp_total"] == pytest.approx(4 * (2 * 0.25 + 0.75 + 2 / 3))
    assert found["ncp"] == pytest.approx((2 * 0.25 + 0.75 + 2 / 3) / 4)
    assert found["utility"] == pytest.approx(1 - found["ncp"])
    assert found["dm"] == 8
    assert found["c_avg"] == 1
    assert found["md"] == 12
    # values a cell may stand for: age 2 of 4 twice; job 2 then 4 of 4; town 2 of 3 twice
    assert found["iloss"] == pytest.approx(np.mean([1 / 4, 1 / 4, 1 / 4, 3 / 4, 1 / 3, 1 / 3]))
    assert found["il"] == pytest.approx(np.mean([(0.25 + 0.5 + 2 / 3) / 3, (0.25 + 1 + 2 / 3) / 3]))
    assert found["pg"] == 0.5
    assert found["ipg"] == pytest.approx(0.5 * (1 - found["il"]))
    # ages -20, -10, 10, 20 around 30, variance 250: each group has two records 5 from its mean
    assert found["sse"] == pytest.approx(4 * 25 / 250)
    assert found["il_percent"] == pytest.approx(100 * 100 / 1000)


def test_a_withheld_record_costs_as_much_as_all_its_cells():
    found = values(SMALL, [0, 0, 0, -1], k=3)
    assert found["suppressed"] == 1
    assert found["dm"] == 9 + 4
    lost = [0.75, 1.0, 2 / 3]
    assert found["ncp_by_column"] == pytest.approx(
        dict(zip(("age", "job", "town"), [(3 * one + 1) / 4 for one in lost], strict=True))
    )
    assert found["md"] == 12


def test_example_1_of_xu_counts_widths():
    points = pa.table({"x": [10, 20, 20, 50, 50, 60], "y": [70, 60, 50, 20, 15, 10]})
    table = encode(Frame(points), ["x", "y"])
    widths = {name: np.ptp(points.column(name).to_numpy()) for name in ("x", "y")}

    def uncertainty(labels):
        by_column = values(table, labels)["ncp_by_column"]
        return sum(by_column[name] * widths[name] * 6 for name in widths)

    assert uncertainty([0, 0, 1, 1, 2, 2]) == pytest.approx(190)
    assert uncertainty([0, 0, 0, 1, 1, 1]) == pytest.approx(150)


@pytest.mark.parametrize(("leaves", "penalty"), [("de", 6 / 7), ("ad", 1.0), ("bc", 3 / 7), ("ef", 2 / 7)])
def test_example_3_of_xu_by_hierarchy(leaves, penalty):
    tree = Hierarchy.from_dict({"root": ["a", {"N": [{"P": ["b", "c", "d"]}, {"Q": [{"R": ["e", "f"]}, "g"]}]}]})
    table = encode(Frame(pa.table({"x": list(leaves)})), ["x"], hierarchies={"x": tree})
    assert values(table, [0, 0])["ncp"] == pytest.approx(penalty)


@settings(max_examples=80, deadline=None)
@given(coded_tables(), st.integers(1, 6), st.integers(0, 99))
def test_penalties_follow_the_definition_on_any_table(table, groups, seed):
    labels = np.random.default_rng(seed).integers(0, groups, table.records)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    total = 0.0
    for label in range(labels.max() + 1):
        group = np.flatnonzero(labels == label).tolist()
        total += len(group) * reference.group_cost(table, group)
    assert values(table, labels)["ncp_total"] == pytest.approx(total)


@settings(max_examples=60, deadline=None)
@given(coded_tables(least=4))
def test_every_metric_lies_between_its_best_and_its_worst(table):
    untouched = values(table, np.arange(table.records), k=1)
    middle = values(table, np.minimum(np.arange(table.records), table.records - 2) // 2)
    lumped = values(table, np.zeros(table.records, int))
    for name, metric in REGISTRY.items():
        sign = 1 if metric.better == "lower" else -1
        for found in (untouched[name], middle[name], lumped[name]):
            assert sign * found >= sign * metric.best - 1e-9, name
            if metric.worst is not None:
                assert sign * found <= sign * metric.worst + 1e-9, name
        if name not in {"pg", "ipg"}:  # privacy gain rises with the group
            assert sign * untouched[name] <= sign * lumped[name] + 1e-9, name
