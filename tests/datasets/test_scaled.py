from __future__ import annotations

import pyarrow as pa
import pytest

from shoal.datasets import scaled_tuples
from shoal.errors import ColumnError, ParameterError

SMALL = pa.table({"a": ["x", "y", None], "b": ["u", "v", "u"], "c": ["1", "2", "3"]})
LEAVES = {"a": ["x", "y", "z"], "b": ["u", "v", "w", "t"]}


def test_each_record_is_followed_by_its_variations():
    found = scaled_tuples(SMALL, LEAVES, scale=50, novelty=1, varied=["b"])
    assert found.num_rows == 150
    assert found.slice(0, 1).to_pylist() + found.slice(50, 1).to_pylist() + found.slice(100, 1).to_pylist() == (
        SMALL.to_pylist()
    )
    assert found.column("c").to_pylist() == ["1"] * 50 + ["2"] * 50 + ["3"] * 50
    assert found.column("a").to_pylist() == ["x"] * 50 + ["y"] * 50 + [None] * 50
    assert set(found.column("b").to_pylist()) == set(LEAVES["b"])


def test_the_columns_that_vary_are_chosen_by_the_seed():
    chosen = set()
    for seed in range(12):
        found = scaled_tuples(SMALL, LEAVES, scale=40, novelty=1, seed=seed)
        chosen.add(tuple(name for name in LEAVES if len(set(found.column(name).to_pylist()[1:40])) > 1))
        assert found.equals(scaled_tuples(SMALL, LEAVES, scale=40, novelty=1, seed=seed))
    assert chosen == {("a",), ("b",)}


def test_without_scale_the_table_stays_as_it_is():
    assert scaled_tuples(SMALL, LEAVES, scale=1, novelty=2).to_pylist() == SMALL.to_pylist()


def test_wrong_columns_are_refused():
    with pytest.raises(ColumnError, match="'q'"):
        scaled_tuples(SMALL, {"q": ["x"]})
    with pytest.raises(ParameterError, match="must name 'novelty' columns, 1"):
        scaled_tuples(SMALL, LEAVES, novelty=1, varied=["a", "b"])
