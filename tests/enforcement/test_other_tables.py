"""Tables of other shapes: numbers, hierarchies and sets side by side, sensitive values that are skewed, ordered or in a tree."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.enforcement.dispatch import group_records
from shoal.frames import Frame
from shoal.methods import make_method
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.privacy.base import failing_groups
from tests.enforcement.test_mending import total_cost

AREAS = shoal.Hierarchy.from_dict({"*": {place: [f"{place}{number}" for number in range(4)] for place in "NESW"}})
CAUSES = shoal.Hierarchy.from_dict(
    {"*": {"c0-5": [f"c{one}" for one in range(6)], "c6-11": [f"c{one}" for one in range(6, 12)]}}
)
SHAPES = {
    "skewed": (["age", "pay", "area", "kind"], [shoal.LDiversity(3, "entropy", column="cause")]),
    "tree": (["age", "area"], [shoal.TCloseness(0.25, "hierarchical", column="cause")]),
    "ordered": (["pay", "kind"], [shoal.TCloseness(0.15, "ordered", column="grade")]),
    "two columns": (
        ["age", "pay", "area"],
        [shoal.LDiversity(2, column="cause"), shoal.TCloseness(0.3, column="grade")],
    ),
}


def mixed_table(names, n, seed):
    """Return n records of which some quasi-identifiers are known; rare causes are rare, and grades follow the pay."""
    rng = np.random.default_rng(seed)
    pay = np.round(rng.lognormal(10, 0.6, n), -2)
    frequency = 1.0 / np.arange(1, 13) ** 1.3
    table = pa.table(
        {
            "age": np.clip(rng.normal(45, 18, n), 0, 99).astype(int),
            "pay": pay,
            "area": rng.choice([f"{place}{number}" for place in "NESW" for number in range(4)], n),
            "kind": rng.choice(list("uvwxyz"), n, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05]),
            "cause": [f"c{one}" for one in rng.choice(12, n, p=frequency / frequency.sum())],
            "grade": np.digitize(np.log(pay) + rng.normal(0, 0.5, n), [9.2, 9.7, 10.1, 10.6]),
        }
    )
    trees = {"cause": CAUSES} | ({"area": AREAS} if "area" in names else {})
    return encode(Frame(table), names, hierarchies=trees, attributes=["cause", "grade"])


@pytest.mark.compiled
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [90, 300])
def test_more_effort_loses_no_more_and_every_effort_less_than_mended_cuts(shape, n):
    names, models = SHAPES[shape]
    table = mixed_table(names, n, seed=n)
    requirements = tuple(model.bind(table) for model in models)
    losses = []
    for method, effort in (
        (make_method("mondrian"), "fast"),
        *((Optimize(), one) for one in ("fast", "balanced", "best")),
    ):
        labels = group_records(method, table, Task(k=4, requirements=requirements, effort=effort)).labels
        assert np.bincount(labels).min() >= 4
        assert not failing_groups(requirements, labels, int(labels.max()) + 1).any()
        losses.append(total_cost(table, labels))
    assert losses[0] > losses[1] + 1e-9
    assert losses[1:] == sorted(losses[1:], reverse=True)
