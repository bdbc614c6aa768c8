"""A kind of column that nobody planned: numbers released as bands, each of them half of a larger one.

The class below is all there is of it. No module of shoal knows it, and everything from the search to the recount works.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.encoding.kinds import Layout, Ranges
from shoal.frames import Frame
from shoal.kernels.space.space import NODE, find_node
from shoal.methods.base import Task
from tests.enforcement.cases import MODELS

RECORDS, WIDEST = 160, 64


class Bands(Ranges):
    """Cells are all values, a half of them, a quarter, …; a band costs its share of the values."""

    name = "band"
    code = NODE

    def layout(self, column):
        parent, high, cost = tree(len(column.values))
        return Layout(float(len(column.values)), nodes=(parent, high, cost))

    def released(self, column, low, high):
        parent, last, _ = tree(len(column.values))
        node = low.astype(np.int64)
        while (last[node] < high).any():
            node = np.where(last[node] < high, parent[node], node)
        width = np.bincount(np.concatenate([paths(parent, leaf) for leaf in range(len(column.values))]))
        return (last[node] + 1 - width[node]).astype(np.int32), last[node].astype(np.int32)


def tree(values):
    """Return parent, largest leaf and cost of each band of so many values; the values are the first bands."""
    level, parent, high = list(range(values)), list(range(values)), list(range(values))
    while len(level) > 1:
        above = range(len(parent), len(parent) + (len(level) + 1) // 2)
        for place, node in enumerate(level):
            parent[node] = above[place // 2]
        parent += above
        high += [high[level[min(2 * place + 1, len(level) - 1)]] for place in range(len(above))]
        level = list(above)
    width = np.bincount(np.concatenate([paths(parent, leaf) for leaf in range(values)]))
    return np.array(parent, np.int32), np.array(high, np.int32), np.where(width > 1, width / values, 0.0)


def paths(parent, node):
    """Return a band and all that hold it."""
    path = [node]
    while parent[path[-1]] != path[-1]:
        path.append(parent[path[-1]])
    return path


@pytest.fixture(autouse=True)
def _bands(monkeypatch):
    monkeypatch.setattr(import_module("shoal.encoding.encode"), "RANGES", Bands())


def register():
    random = np.random.default_rng(5)
    columns = {
        "age": random.integers(0, WIDEST, RECORDS),
        "town": random.choice(["a", "b", "c"], RECORDS),
        "ill": random.choice(["flu", "gout", "none"], RECORDS),
    }
    columns["age"][:WIDEST] = np.arange(WIDEST)  # each value occurs, so that a band is a stretch of values
    return pa.table(columns)


def is_band(cell):
    if not cell.startswith("["):
        return cell.isdigit()
    low, high = map(int, cell.strip("[]").split("-"))
    width = high - low + 1
    return width & (width - 1) == 0 and low % width == 0


@pytest.mark.parametrize("models", [(), tuple(MODELS["distinct"])])
@pytest.mark.parametrize("method", ["mondrian", "optimize", "bottom-up", "top-down", "k-member", "merge-split", "sbca"])
def test_a_kind_that_nobody_planned_is_released_recounted_and_explained(method, models):
    result = shoal.anonymize(
        register(), k=4, quasi_identifiers=["age", "town"], sensitive=["ill"], models=models, method=method, effort="fast",
        ends="exact",
    )  # fmt: skip
    cells = result.data["age"].to_pylist()
    assert all(map(is_band, cells))
    assert any(cell.startswith("[") for cell in cells)
    assert result.audit.k >= 4
    extent = [0.0 if not cell.startswith("[") else (1 - eval(cell[1:-1])) / WIDEST for cell in cells]  # noqa: S307
    assert result.metrics["ncp_by_column"]["age"] == pytest.approx(np.mean(extent))
    assert result.explain(0, "age")
    assert result.report()


def test_the_kernels_cost_it_as_the_kind_says():
    table = encode(Frame(register()), ["age", "town"])
    assert int(find_node(table.space, 0, 0, WIDEST - 1)) == 2 * WIDEST - 2
    groups = shoal.Mondrian().run(table, Task(k=4)).labels
    assert np.bincount(groups).min() >= 4
