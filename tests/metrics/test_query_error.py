from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.cells.parse import parse_cell
from shoal.metrics import Condition, Query, parse_query, query_error, random_queries, read_queries

JOBS = shoal.Hierarchy.from_dict({"*": {"care": ["nurse", "doctor"], "craft": ["baker", "smith", "tailor"]}})
NAMES = ["age", "weight", "job", "town", "sex"]


def people(records=80, seed=3):
    random = np.random.default_rng(seed)
    age = random.integers(20, 60, records).astype(object)
    age[::9] = None
    return pa.table(
        {
            "age": pa.array(age.tolist(), pa.int64()),
            "weight": np.round(random.normal(75, 12, records), 1),
            "job": random.choice(["nurse", "doctor", "baker", "smith", "tailor"], records),
            "town": pa.array(random.choice(["Ulm", "Bonn", "Kiel", None], records).tolist(), pa.string()),
            "sex": random.choice(["f", "m"], records),
            "cost": np.round(random.gamma(2.0, 100.0, records), 2),
        }
    )


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def result(table):
    return shoal.anonymize(
        table,
        k=4,
        quasi_identifiers=NAMES,
        keep=["cost"],
        hierarchies={"job": JOBS, "sex": "flat"},
        method="mondrian",
    )


# --- the same, from the released text ----------------------------------------------------------------------------


def leaves(label):
    """Return the jobs a released label stands for."""
    care, craft = {"nurse", "doctor"}, {"baker", "smith", "tailor"}
    return {"care": care, "craft": craft, "*": care | craft}.get(label, {label})


ALL = {
    "job": leaves("care") | leaves("craft"),
    "town": {"Ulm", "Bonn", "Kiel"},
    "sex": {"f", "m"},
}


def plain_share(name, text, condition, table):
    """Return the share of a released cell that a condition asks for."""
    cell = parse_cell(text)
    if cell.form == "missing":
        return 0.0
    if name in ALL:
        held = ALL[name] if cell.form == "any" else set().union(*(leaves(value) for value in cell.values))
        return len(held & set().union(*(leaves(value) for value in condition.values))) / len(held)
    values = [value for value in table[name].to_pylist() if value is not None]
    ends = (min(values), max(values)) if cell.form == "any" else tuple(float(value) for value in cell.values)
    low, high = ends[0], ends[-1]
    asked = (float(condition.low or "-inf"), float(condition.high or "inf"))
    if name == "age":
        whole = range(int(low), int(high) + 1)
        return sum(asked[0] <= number <= asked[1] for number in whole) / len(whole)
    bottom, top = max(low, asked[0]), min(high, asked[1])
    if top < bottom:
        return 0.0
    return 1.0 if low == high else (top - bottom) / (high - low)


def plain_estimate(table, result, query):
    """Return the estimate by going through the released rows one by one."""
    total = 0.0
    for row in result.released.to_pylist():
        share = 1.0
        for condition in query.conditions:
            share *= plain_share(condition.column, row[condition.column], condition, table)
        total += share * (1.0 if query.total is None else row[query.total])
    return total


def plain_truth(table, query):
    total = 0.0
    for row in table.to_pylist():
        inside = all(holds(row[one.column], one) for one in query.conditions)
        total += inside * (1.0 if query.total is None else row[query.total])
    return total


def holds(value, condition):
    if value is None:
        return False
    if condition.values:
        return value in set().union(*(leaves(one) for one in condition.values))
    return float(condition.low or "-inf") <= value <= float(condition.high or "inf")


@pytest.mark.parametrize("total", [None, "cost"])
def test_answers_equal_those_read_row_by_row_from_table_and_release(table, result, total):
    queries = [
        *random_queries(result.coded, 40, total=total, seed=1),
        *random_queries(result.coded, 40, ["age", "weight"], total=total, seed=2),
        *random_queries(result.coded, 40, ["town", "job", "sex"], total=total, seed=3),
        Query(parse_query("town in {Ulm, Kiel}, age 30..").conditions, total),
    ]
    found = query_error(table, result, queries)
    assert found.truth == pytest.approx([plain_truth(table, query) for query in queries])
    assert found.estimate == pytest.approx([plain_estimate(table, result, query) for query in queries])
    assert (found.truth > 0).sum() > 40


def test_the_error_is_taken_over_queries_whose_truth_is_not_zero(table, result):
    found = query_error(table, result, ["age 20..60", "age 1000..", "sex = f"])
    assert found.truth.tolist() == [71.0, 0.0, float(table["sex"].to_pylist().count("f"))]
    assert found.errors.size == 2
    assert found.mean == pytest.approx(np.mean(np.abs(found.estimate - found.truth)[[0, 2]] / found.truth[[0, 2]]))
    assert float(found) == found.mean


def test_a_release_that_changes_nothing_answers_every_query_exactly():
    table = pa.table({"x": [1, 1, 1, 2, 2, 2, 7, 7, 7], "s": ["a"] * 3 + ["b"] * 6})
    result = shoal.anonymize(table, k=3, quasi_identifiers=["x", "s"], method="mondrian")
    found = query_error(table, result, 200, seed=5)
    assert found.errors.max() == 0.0


def test_a_sum_of_a_released_range_counts_its_middle():
    table = pa.table({"x": [0, 10, 20, 30], "y": [1, 1, 2, 2]})
    result = shoal.anonymize(table, k=2, quasi_identifiers=["x", "y"], method="mondrian")
    found = query_error(table, result, ["sum(x): y = 1", "sum(x): y = 2", "sum(x): x 20..24"])
    assert found.truth.tolist() == [10.0, 50.0, 20.0]
    assert found.estimate[:2].tolist() == [10.0, 50.0]
    assert found.estimate[2] == pytest.approx(2 * (5 / 11) * 22)


def test_random_sums_leave_the_summed_column_out(table, result):
    found = query_error(table, result, 50, "sum", seed=4)
    assert {query.total for query in found.queries} == {"age"}
    assert all(one.column != "age" for query in found.queries for one in query.conditions)


def test_equal_seeds_draw_equal_queries(result):
    assert random_queries(result.coded, 30, seed=8) == random_queries(result.coded, 30, seed=8)
    assert random_queries(result.coded, 30, seed=8) != random_queries(result.coded, 30, seed=9)


def test_dates_and_ordered_categories_can_be_asked_for():
    table = pa.table(
        {
            "born": [dt.date(2000, 1, day) for day in (1, 2, 3, 4)],
            "school": ["primary", "primary", "secondary", "tertiary"],
        }
    )
    result = shoal.anonymize(
        table,
        k=2,
        quasi_identifiers=["born", "school"],
        kinds={"school": ["primary", "secondary", "tertiary"]},
        method="mondrian",
    )
    found = query_error(table, result, ["born 2000-01-02..2000-01-03", "school secondary..tertiary"])
    assert found.truth.tolist() == [2.0, 2.0]


# --- the readable form -------------------------------------------------------------------------------------------


def test_a_query_is_read_from_one_line():
    query = parse_query('sum(cost): age 30..50, sex = Male, zip in {53711, "a, b"}, "last name" = "O\\"Hara", w ..-2.5')
    assert query == Query(
        (
            Condition("age", "30", "50"),
            Condition("sex", values=("Male",)),
            Condition("zip", values=("53711", "a, b")),
            Condition("last name", values=('O"Hara',)),
            Condition("w", "", "-2.5"),
        ),
        "cost",
    )


words = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6).filter(lambda t: t == t.strip())
conditions = st.one_of(
    st.builds(Condition, words, low=words, high=words),
    st.builds(Condition, words, values=st.lists(words, min_size=1, max_size=3).map(tuple)),
)


@given(st.lists(conditions, min_size=1, max_size=3, unique_by=lambda one: one.column), st.none() | words)
def test_every_query_can_be_read_back_from_its_text(parts, total):
    query = Query(tuple(parts), total)
    assert parse_query(str(query)) == query


@pytest.mark.parametrize(
    "text", ["", "age", "age 30-50", "age ..", "sex = ", "zip in {}", "age 1..2,", "sum(): a = b", "a = b, c", 'a = "b']
)
def test_text_that_is_no_query_is_refused_with_an_example(text):
    with pytest.raises(shoal.ShoalError, match=r"cannot be read from .*\nHint: a query looks like"):
        parse_query(text)


def test_a_column_asked_about_twice_is_refused():
    with pytest.raises(shoal.ShoalError, match="asks twice of the column 'age'"):
        parse_query("age 1..2, age 3..4")


def test_queries_come_from_a_file_with_one_a_line(tmp_path, table, result):
    path = tmp_path / "queries.txt"
    path.write_text("# for the yearly table\nage 30..50, sex = f\n\ncount: job = care\n", "utf-8")
    assert read_queries(path) == [parse_query("age 30..50, sex = f"), parse_query("job = care")]
    assert len(query_error(table, result, path).queries) == 2


def test_a_fault_in_a_file_is_named_by_its_line(tmp_path):
    path = tmp_path / "queries.txt"
    path.write_text("sex = f\nage thirty\n", "utf-8")
    with pytest.raises(shoal.ShoalError, match=r"Line 2 of .*queries\.txt.*cannot be read from 'age thirty' on"):
        read_queries(path)
    path.write_text("# nothing\n", "utf-8")
    with pytest.raises(shoal.ShoalError, match="holds no query"):
        read_queries(path)
    with pytest.raises(shoal.errors.FileError, match="cannot be read"):
        read_queries(tmp_path / "gone.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agee 1..2", r"'agee', which is not a quasi-identifier.*\nHint: did you mean 'age'\?"),
        ("age = x", "'x' in the column 'age'"),
        ("age 9..2", "low end is above its high end"),
        ("age in {1, 2}", "several values of 'age'"),
        ("job a..b", "range of 'job', which has no order"),
        ("job = nurze", r"'nurze', which is not a value of the column 'job'.*\nHint: did you mean 'nurse'\?"),
        ("sum(sex): age 1..2", "'sex' has no numbers"),
        ("sum(gone): age 1..2", "'gone'"),
    ],
)
def test_a_query_that_does_not_fit_the_table_is_refused(table, result, text, message):
    with pytest.raises(shoal.ShoalError, match=message):
        query_error(table, result, [text])


def test_wrong_parameters_are_refused(table, result):
    with pytest.raises(shoal.ShoalError, match="'queries' parameter of query_error must be an int of at least 1"):
        query_error(table, result, 0)
    with pytest.raises(shoal.ShoalError, match="'aggregate' parameter"):
        query_error(table, result, 5, "mean")
    with pytest.raises(shoal.ShoalError, match="belongs to sums"):
        query_error(table, result, 5, total="cost")
    with pytest.raises(shoal.ShoalError, match="must have the 80 records"):
        query_error(table.slice(0, 10), result, 5)
