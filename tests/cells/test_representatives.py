from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.cells.representatives import representatives
from shoal.encoding import encode
from shoal.errors import ParameterError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.methods.base import Typical
from shoal.methods.microaggregation.forest import Forest
from shoal.methods.microaggregation.heuristics import MDAV
from tests.methods.microaggregation.test_heuristics import COMPANIES

TOWNS = Hierarchy.from_dict(
    {"*": {"north": {"coast": ["Kiel", "Husum"], "inland": ["Celle"]}, "south": ["Ulm", "Hof"]}}
)


def test_representatives_are_mean_median_and_mode():
    columns = {
        "surface": pa.array([790, 710, 730, 760]),
        "share": pa.array([0.5, 1.0, None, 0.0]),
        "born": pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(2020, 1, 2), dt.date(2020, 1, 2)]),
        "grade": pa.array(["low", "top", "low", "mid"]),
        "town": pa.array(["Ulm", "Bonn", "Ulm", "Bonn"]),
    }
    table = encode(Frame(pa.table(columns)), list(columns), kinds={"grade": ["low", "mid", "top"]})
    released = representatives(table, np.array([0, 0, 0, 0], np.int32), Typical())
    assert {name: column.to_pylist()[0] for name, column in released.items()} == {
        "surface": 748,
        "share": 0.5,
        "born": dt.date(2020, 1, 2),
        "grade": "low",
        "town": "Bonn",
    }
    assert released["born"].type == pa.date32()


def test_a_group_without_any_value_has_a_missing_representative():
    columns = {"n": pa.array([None, None, 3, 5]), "t": pa.array([None, None, "a", None])}
    table = encode(Frame(pa.table(columns)), ["n", "t"])
    released = representatives(table, np.array([0, 0, 1, 1], np.int32), Typical())
    assert released["n"].to_pylist() == [None, None, 4, 4]
    assert released["t"].to_pylist() == [None, None, "a", "a"]


def slow_centroid(tree, values):
    """Return the leaf, of all there are, with the least summed cost of closest common ancestors; the first of equals."""

    def distance(a, b):
        above = [a]
        while above[-1] != tree.root:
            above.append(int(tree.parent[above[-1]]))
        common = next(node for node in above if tree.low[node] <= b <= tree.high[node])
        return 0 if a == b else int(tree.high[common] - tree.low[common] + 1)

    codes = [tree.leaves.index(value) for value in values]
    cost = [sum(distance(leaf, code) for code in codes) for leaf in range(tree.n_leaves)]
    best = [leaf for leaf in range(tree.n_leaves) if cost[leaf] == min(cost)]
    return tree.leaves[next(leaf for leaf in best if leaf in codes)]


@given(st.lists(st.tuples(st.sampled_from(TOWNS.leaves), st.integers(0, 3)), min_size=1, max_size=14))
def test_the_centroid_of_a_hierarchy_is_nearest_to_its_group(records):
    towns = [town for town, _ in records]
    _, labels = np.unique([group for _, group in records], return_inverse=True)
    table = encode(Frame(pa.table({"town": towns})), ["town"], hierarchies={"town": TOWNS})
    released = representatives(table, labels.astype(np.int32), Typical(nominal="centroid"))["town"].to_pylist()
    for group in range(labels.max() + 1):
        inside = [town for town, label in zip(towns, labels, strict=True) if label == group]
        shown = {town for town, label in zip(released, labels, strict=True) if label == group}
        assert shown == {slow_centroid(TOWNS, inside)}


def released_towns(method, towns):
    result = shoal.anonymize(
        pa.table({"town": towns}), k=len(towns), quasi_identifiers=["town"], hierarchies={"town": TOWNS}, method=method
    )
    assert result.audit.k >= len(towns)
    return result.data.column("town").to_pylist()


def test_a_central_category_wins_over_a_frequent_outlier_where_the_centroid_is_asked_for():
    towns = ["Ulm", "Ulm", "Kiel", "Husum", "Celle", None]
    assert released_towns(MDAV(), towns) == ["Ulm"] * 6
    assert released_towns(MDAV(nominal="centroid"), towns) == ["Kiel"] * 6


def test_without_a_hierarchy_the_centroid_is_the_mode():
    table = encode(Frame(pa.table({"t": ["b", "a", "b", "c", "a", "b"]})), ["t"])
    released = representatives(table, np.zeros(6, np.int32), Typical(nominal="centroid"))
    assert released["t"].to_pylist() == ["b"] * 6


@pytest.mark.parametrize(("rounded", "shown"), [(True, 46), (False, 45.75)])
def test_means_of_integers_are_rounded_by_choice(rounded, shown):
    names = ["surface", "employees"]
    result = shoal.anonymize(pa.table(COMPANIES), k=3, quasi_identifiers=names, method=Forest(round_integers=rounded))
    employees = result.data.column("employees")
    assert [employees[record].as_py() for record in (0, 1, 2, 9)] == [shown] * 4
    assert pa.types.is_integer(employees.type) == rounded
    assert result.audit.k >= 3


def test_dates_stay_dates_where_integers_are_not_rounded():
    days = pa.array([dt.date(2020, 1, 1), dt.date(2020, 1, 2)])
    table = encode(Frame(pa.table({"born": days})), ["born"])
    released = representatives(table, np.zeros(2, np.int32), Typical(round_integers=False))
    assert released["born"].to_pylist() == [dt.date(2020, 1, 2)] * 2


def test_an_unknown_typical_category_is_refused():
    with pytest.raises(ParameterError, match="centroid"):
        MDAV(nominal="median")
