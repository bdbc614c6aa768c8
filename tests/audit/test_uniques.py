from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.audit import uniques
from shoal.audit.uniques import unique_sets
from shoal.errors import ColumnError, ParameterError


def plain_unique_sets(rows, names, largest):
    """The same from the definition: who is alone by a set and by no part of it."""
    alone = {(): set()}
    found = {}
    for size in range(1, largest + 1):
        for chosen in combinations(range(len(names)), size):
            count = Counter(tuple(row[place] for place in chosen) for row in rows)
            alone[chosen] = {
                number for number, row in enumerate(rows) if count[tuple(row[place] for place in chosen)] == 1
            }
            smaller = set().union(*(alone[part] for part in combinations(chosen, size - 1)))
            if alone[chosen] - smaller:
                key = tuple(names[place] for place in chosen)
                found[key] = (len(alone[chosen] - smaller), len(alone[chosen]))
    return found


@pytest.mark.parametrize("most_cells", [1, 1 << 24])
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=30))
def test_unique_sets_follow_from_the_definition(most_cells, rows):
    names = ["a", "b", "c", "d"]
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    before, uniques._MOST_CELLS = uniques._MOST_CELLS, most_cells
    try:
        found = {one.columns: (one.minimal, one.unique) for one in unique_sets(table, largest=3)}
    finally:
        uniques._MOST_CELLS = before
    assert found == plain_unique_sets(rows, names, 3)


def test_the_sets_that_single_out_most_come_first_and_appear_in_an_audit():
    table = shoal.datasets.hospital(n=500, seed=0).patients
    found = shoal.audit(table, quasi_identifiers=["birth_date", "sex", "zip"], unique_columns=3).unique_sets
    assert [one.minimal for one in found] == sorted((one.minimal for one in found), reverse=True)
    assert found[0].columns == ("birth_date",)


def test_wrong_parameters_are_refused():
    table = pa.table({"a": [1]})
    with pytest.raises(ColumnError):
        unique_sets(table, ["b"])
    with pytest.raises(ParameterError):
        unique_sets(table, largest=0)


def test_a_table_without_records_has_no_unique_sets():
    assert unique_sets(pa.table({"a": pa.array([], pa.int64())})) == []
    assert shoal.audit(pa.table({"a": np.zeros(0)}), quasi_identifiers=["a"]).risk is None
