from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import shoal
from shoal.errors import ParameterError, PrivacyError
from shoal.kernels.sbca import clustering as kernels
from shoal.kernels.sbca.contingency import build_contingency, count_row, count_values, forget
from shoal.methods.base import Task
from shoal.methods.sbca import SBCA
from tests.kernels.spaces import Interval, Values, build_space
from tests.methods.coded import coded_table, coded_tables, run_in_chunks
from tests.support import reference_similarity

SEX, NATIONALITY = ["Female", "Male"], ["Iran", "Japan", "USA"]
FIGURE_3 = {("Male", "Japan"): 4, ("Male", "USA"): 4, ("Male", "Iran"): 1}
FIGURE_3 |= {("Female", "Japan"): 4, ("Female", "USA"): 1, ("Female", "Iran"): 6}


def figure_3():
    rows = [pair for pair, count in FIGURE_3.items() for _ in range(count)]
    codes = [[SEX.index(sex) for sex, _ in rows], [NATIONALITY.index(nation) for _, nation in rows]]
    return [Values(2), Values(3)], np.array(codes, np.int32)


@pytest.mark.parametrize(("k", "order"), [(3, ["Japan", "USA", "Iran"]), (10, ["Japan", "Iran", "USA"])])
def test_the_papers_similarity_orders_come_out(k, order):
    columns, codes = figure_3()
    space = build_space(columns)
    table = build_contingency(space, codes, k)
    counts = np.empty(3, np.int64)
    count_row(table, 1, 0, k, counts)
    found = kernels.similarity_order(counts, np.arange(3), NATIONALITY.index("Japan"))
    assert [NATIONALITY[code] for code in found] == order


@pytest.mark.parametrize(("k", "distances"), [(3, [1.0, 0.0, 0.5]), (10, [0.5, 0.0, 1.0])])
def test_the_papers_distances_come_out(k, distances):
    columns, codes = figure_3()
    space = build_space(columns)
    table = build_contingency(space, codes, k)
    present = np.concatenate(count_values(codes, space.cardinality))
    offset = np.array([0, 2, 5], np.int64)
    found = kernels.measure(space, table, np.ascontiguousarray(codes.T), present, offset, k, 0)
    assert found.tolist() == [1.0, 0.0, *distances]


def test_the_plain_reference_gives_the_papers_orders_too():
    rows = [((sex,), nation) for (sex, nation), count in FIGURE_3.items() for _ in range(count)]
    order_3 = reference_similarity.similarity_order(NATIONALITY, "Japan", rows, ("Male",), 3)
    order_10 = reference_similarity.similarity_order(NATIONALITY, "Japan", rows, ("Male",), 10)
    assert (order_3, order_10) == (["Japan", "USA", "Iran"], ["Japan", "Iran", "USA"])


@settings(deadline=None, max_examples=300)
@given(coded_tables())
def test_the_kernel_groups_as_the_plain_reference_does(drawn):
    columns, weights, codes, k = drawn
    found = SBCA(rest="suppress").run(coded_table(columns, weights, codes), Task(k=k, max_suppression=1.0))
    assert found.labels.tolist() == reference_similarity.cluster(columns, weights, codes, k)


@settings(deadline=None, max_examples=300)
@given(coded_tables())
def test_the_rest_joins_the_nearest_groups_as_in_the_plain_reference(drawn):
    columns, weights, codes, k = drawn
    found = SBCA(rest="nearest").run(coded_table(columns, weights, codes), Task(k=k)).labels
    grouped = reference_similarity.cluster(columns, weights, codes, k)
    assert found.tolist() == reference_similarity.join_nearest(columns, weights, codes, k, grouped)


def test_a_record_that_is_left_joins_the_group_of_the_record_nearest_to_it():
    columns, codes = [Interval((0.0, 1.0, 5.0, 50.0, 51.0)), Values(2)], [[0, 1, 3, 4, 2], [0, 0, 1, 1, 1]]
    table = coded_table(columns, [1.0, 0.1], codes)
    assert SBCA(rest="join").run(table, Task(k=2)).labels.tolist() == [0, 0, 1, 1, 1]
    assert SBCA(rest="nearest").run(table, Task(k=2)).labels.tolist() == [0, 0, 1, 1, 0]


@settings(deadline=None)
@given(coded_tables())
def test_every_group_has_k_records_and_the_rest_joins_the_last(drawn):
    columns, weights, codes, k = drawn
    labels = SBCA().run(coded_table(columns, weights, codes), Task(k=k)).labels
    sizes = np.bincount(labels)
    assert sizes[:-1].tolist() == [k] * (len(sizes) - 1)
    assert k <= sizes[-1] < 2 * k


@settings(deadline=None)
@given(coded_tables())
def test_the_tables_lose_exactly_the_grouped_records(drawn):
    columns, weights, codes, k = drawn
    table = coded_table(columns, weights, codes)
    contingency = build_contingency(table.space, table.codes, k)
    gone = np.arange(table.records) % 3 == 0
    for record in np.flatnonzero(gone):
        forget(contingency, np.ascontiguousarray(table.codes.T), record)
    for position, column in enumerate(contingency.column):
        for record in range(table.records):
            counts = np.empty(table.space.cardinality[column], np.int64)
            count_row(contingency, position, record, k, counts)
            agreeing = ~gone
            for before in contingency.column[:position]:
                narrower = agreeing & (table.codes[before] == table.codes[before, record])
                if narrower.sum() < k:
                    break
                agreeing = narrower
            if (table.records - gone.sum()) >= k:
                expected = np.bincount(table.codes[column, agreeing], minlength=len(counts))
                assert counts.tolist() == expected.tolist()


def test_a_weight_of_zero_makes_a_column_count_for_nothing():
    columns = [Interval((0.0, 1.0, 2.0, 3.0)), Interval((0.0, 1.0, 2.0, 3.0, 4.0))]
    codes = [[0, 1, 2, 3, 0, 1], [0, 4, 1, 3, 4, 2]]
    by_first = SBCA().run(coded_table(columns, [1.0, 0.0], codes), Task(k=2)).labels
    by_second = SBCA().run(coded_table(columns, [0.0, 1.0], codes), Task(k=2)).labels
    assert by_first.tolist() == [0, 1, 2, 2, 0, 1]
    assert by_second.tolist() == [0, 1, 0, 2, 1, 2]


def test_suppressing_the_rest_needs_leave_to_do_so():
    table = coded_table([Interval(tuple(map(float, range(10))))], [1.0], [list(range(10))])
    with pytest.raises(PrivacyError, match="withhold 1 of 10 records") as caught:
        SBCA(rest="suppress").run(table, Task(k=3))
    assert caught.value.hint == "use rest='join', or allow max_suppression=0.1."
    labels = SBCA(rest="suppress").run(table, Task(k=3, max_suppression=0.1)).labels
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, -1]


def test_the_share_the_hint_asks_for_is_enough():
    table = coded_table([Interval(tuple(map(float, range(60))))], [1.0], [list(range(60))])
    with pytest.raises(PrivacyError) as caught:
        SBCA(rest="suppress").run(table, Task(k=13))
    share = float(caught.value.hint.rstrip(".").split("=")[-1])
    labels = SBCA(rest="suppress").run(table, Task(k=13, max_suppression=share)).labels
    assert (labels < 0).sum() == 60 % 13


def test_sbca_passes_every_common_check():
    shoal.testing.check_method(SBCA())
    shoal.testing.check_method(SBCA(rest="nearest"))


def test_sbca_that_suppresses_passes_every_check_but_the_one_that_withheld_records_fail():
    withholding = "check_duplicate_records"  # asks for no loss, and a withheld record is a loss
    shoal.testing.check_method(SBCA(rest="suppress"), skip=[withholding], max_suppression=1.0)


def test_an_unknown_treatment_of_the_rest_is_refused():
    with pytest.raises(ParameterError, match="'rest' parameter of SBCA must be one of 'join', 'nearest', 'suppress'"):
        SBCA(rest="joined")


def test_progress_rises_below_one_and_chunks_do_not_change_the_groups(monkeypatch):
    at_once, heard, in_chunks = run_in_chunks(SBCA(), monkeypatch)
    assert in_chunks.tolist() == at_once.tolist()
    assert len(heard) > 10
    assert heard == sorted(heard)
    assert 0 < heard[0] < heard[-1] < 1
