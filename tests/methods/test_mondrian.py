from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.errors import ParameterError
from shoal.frames import Frame
from shoal.methods.base import Task
from tests.support import reference
from tests.support.tables import coded_table, coded_tables


@settings(max_examples=150, deadline=None)
@given(coded_tables(), st.integers(2, 5), st.booleans(), st.booleans(), st.booleans())
def test_mondrian_equals_its_slow_twin_label_for_label(table, k, strict, by_tree, median):
    if k > table.records:
        return
    method = shoal.Mondrian(
        strict=strict,
        categories="tree" if by_tree else "order",
        cut="median" if median else "nearest",
        order="given",
    )
    found = method.run(table, Task(k=k)).labels
    assert found.tolist() == reference.mondrian(table, k, strict=strict, by_tree=by_tree, median=median)


@settings(max_examples=150, deadline=None)
@given(coded_tables(), st.integers(2, 5), st.booleans())
def test_values_without_an_order_are_cut_by_falling_size_as_the_slow_twin_cuts_renumbered_ones(table, k, median):
    if k > table.records:
        return
    found = shoal.Mondrian(cut="median" if median else "nearest").run(table, Task(k=k)).labels
    renumbered = []
    for column, codes, missing in zip(table.columns, table.codes.tolist(), table.space.missing.tolist(), strict=True):
        free = column.kind.by_members or (column.hierarchy is not None and column.hierarchy.height == 1)
        values = sorted({*codes} - {missing}, key=lambda value: (-codes.count(value), value))
        place = {value: number for number, value in enumerate(values)} | {missing: missing}
        renumbered.append([place[code] if free else code for code in codes])
    table = table.with_codes(np.array(renumbered, np.int32))
    assert found.tolist() == reference.mondrian(table, k, median=median)


def test_which_sex_comes_first_does_not_decide_what_a_cut_at_the_median_can_do():
    tables = [pa.table({"sex": ["M" if one % 3 else other for one in range(18)]}) for other in ("F", "Z")]
    chosen, alphabet = [], []
    for table in tables:
        coded = encode(Frame(table), ["sex"])
        chosen.append(shoal.Mondrian(cut="median").run(coded, Task(k=3)).labels.max())
        alphabet.append(shoal.Mondrian(cut="median", order="given").run(coded, Task(k=3)).labels.max())
    assert chosen == [1, 1]
    assert alphabet == [0, 1]


def test_a_column_whose_median_leaves_too_few_on_a_side_is_cut_nearby_or_not_at_all():
    table = encode(Frame(pa.table({"x": [1, 1, 1, 1, 2, 3, 3, 3, 3, 3]})), ["x"])  # after the median, 2, comes half
    assert shoal.Mondrian(cut="median").run(table, Task(k=5)).labels.tolist() == [0] * 5 + [1] * 5
    lopsided = encode(Frame(pa.table({"x": [1, 1, 2, 2, 2, 2, 2, 2]})), ["x"])
    assert shoal.Mondrian(cut="median").run(lopsided, Task(k=2)).labels.tolist() == [0] * 8
    assert shoal.Mondrian(cut="nearest").run(lopsided, Task(k=2)).labels.tolist() == [0] * 2 + [1] * 6


def test_parts_smaller_than_the_domain_are_cut_the_same_way():
    random = np.random.default_rng(3)
    table = encode(Frame(pa.table({"x": random.integers(0, 10**9, 120)})), ["x"])
    assert shoal.Mondrian().run(table, Task(k=2)).labels.tolist() == reference.mondrian(table, 2)
    sparse = table.take(np.arange(0, 120, 12, dtype=np.int32))  # 10 records among 120 codes
    assert shoal.Mondrian().run(sparse, Task(k=2)).labels.tolist() == reference.mondrian(sparse, 2)


@pytest.mark.parametrize(
    "method",
    [
        shoal.Mondrian(),
        shoal.Mondrian(strict=False),
        shoal.Mondrian(categories="tree"),
        shoal.Mondrian(cut="median"),
    ],
    ids=repr,
)
def test_mondrian_passes_every_common_check(method):
    shoal.testing.check_method(method)


def test_relaxed_groups_stay_below_twice_k():
    table = coded_table(500, "ins", 4)
    for k in (2, 7):
        sizes = np.bincount(shoal.Mondrian(strict=False).run(table, Task(k=k)).labels)
        assert sizes.min() >= k
        assert sizes.max() < 2 * k


def test_strict_groups_never_part_equal_records():
    table = coded_table(300, "nf", 5)
    labels = shoal.Mondrian().run(table, Task(k=3)).labels
    seen = {}
    for record in range(table.records):
        assert seen.setdefault(tuple(table.codes[:, record]), labels[record]) == labels[record]


@pytest.mark.compiled
def test_progress_rises_and_never_passes_one():
    heard = []
    random = np.random.default_rng(6)
    table = encode(Frame(pa.table({"x": random.random(300_000), "y": random.random(300_000)})), ["x", "y"])
    shoal.Mondrian().run(table, Task(k=5, progress=lambda fraction, _: heard.append(fraction)))
    assert heard == sorted(heard)
    assert heard
    assert heard[-1] <= 1


def test_an_unknown_way_to_cut_categories_is_refused():
    with pytest.raises(ParameterError, match="'categories'"):
        shoal.Mondrian(categories="leaves")


def test_an_unknown_place_to_cut_is_refused():
    with pytest.raises(ParameterError, match="'cut' parameter of Mondrian must be one of 'nearest', 'median'"):
        shoal.Mondrian(cut="mean")
