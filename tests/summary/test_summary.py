from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cells.parse import parse_column
from shoal.errors import NotationNotice
from shoal.summary import Summary, json_schema
from shoal.summary.association import correlation_ratio, cramers_v, pearson
from shoal.summary.cells import Cells
from shoal.summary.distributions import OTHER, _in_bins, _merge, nice_step
from shoal.summary.found_people import GroupSizes, count_findable, size_bins
from tests.support.schemas import same_meaning

pytestmark = pytest.mark.compiled

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "reference" / "summary.schema.json"
JOBS = shoal.Hierarchy.from_dict({"*": {"care": ["nurse", "doctor"], "craft": ["baker", "joiner", "mason"]}})


def small_table(records=240, seed=0):
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, records)
    return pa.table(
        {
            "name": [f"person-{number}" for number in range(records)],
            "age": pa.array(age, mask=random.random(records) < 0.1),
            "born": pa.array(random.integers(0, 20_000, records).astype(np.int32)).cast(pa.date32()),
            "sex": random.choice(["f", "m"], records),
            "job": random.choice(JOBS.leaves, records),
            "illness": random.choice(["asthma", "gout", "flu"], records),
            "cost": np.round(age * 10 + random.normal(0, 50, records), 2),
        }
    )


def summarized(table, *, examples=False, **changes):
    recipe = {
        "k": 5,
        "quasi_identifiers": ["age", "born", "sex", "job"],
        "sensitive": ["illness"],
        "identifiers": ["name"],
        "keep": ["cost"],
        "hierarchies": {"job": JOBS},
    }
    result = shoal.anonymize(table, **recipe | changes)
    return result, result.report(examples=examples).summary


def column(summary, name):
    return next(one for one in summary.columns if one.name == name)


def test_a_summary_says_how_text_was_understood():
    table = pa.table({"born": [f"{1 + day % 28:02}.04.19{50 + day}" for day in range(40)], "town": ["a", "b"] * 20})
    with pytest.warns(NotationNotice):
        result = shoal.anonymize(table, k=4, quasi_identifiers=["born", "town"], method="mondrian")
    report = result.report()
    assert {one.name: one.read_as for one in report.summary.columns} == {"born": "dates written %d.%m.%Y", "town": None}
    assert "read as dates written %d.%m.%Y" in report.text(Path("report.md"))


# --- the schema --------------------------------------------------------------------------------------------------


def test_the_published_schema_is_that_of_the_code():
    assert same_meaning(json.loads(SCHEMA_FILE.read_text("utf-8"))) == same_meaning(json_schema())


def test_a_summary_obeys_the_published_schema():
    _, summary = summarized(small_table())
    content = json.loads(summary.model_dump_json())
    jsonschema.validate(content, json.loads(SCHEMA_FILE.read_text("utf-8")))
    assert Summary.model_validate(content) == summary


def test_the_schema_refuses_what_it_does_not_know():
    _, summary = summarized(small_table())
    content = json.loads(summary.model_dump_json()) | {"rows": []}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, json_schema())


# --- distributions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["ranges", "representatives"])
def test_every_record_is_counted_once_before_and_after(release):
    result, summary = summarized(small_table(), release=release)
    for one in summary.columns:
        spread = one.distribution
        if spread is None:
            assert one.name == "name"
            continue
        assert sum(bin_.before for bin_ in spread.bins) + spread.missing_before == summary.records
        after = sum(bin_.after for bin_ in spread.bins) + spread.missing_after + spread.hidden_after
        assert after == pytest.approx(result.released.num_rows, abs=0.1)


@settings(max_examples=25)
@given(
    ages=st.lists(st.integers(0, 120), min_size=12, max_size=60),
    k=st.integers(2, 6),
    letters=st.integers(1, 9),
)
def test_no_bin_of_the_original_stands_for_fewer_than_k_people(ages, k, letters):
    texts = ["abcdefghi"[age % letters] for age in ages]
    table = pa.table({"age": ages, "letter": texts})
    result = shoal.anonymize(table, k=k, quasi_identifiers=["age"], sensitive=["letter"])
    for one in result.report().summary.columns:
        if one.distribution is not None:
            assert all(bin_.before == 0 or bin_.before >= k for bin_ in one.distribution.bins)


def test_a_count_of_missing_values_below_k_is_not_told():
    table = small_table()
    age = [None, None, *table["sex"].to_pylist()[2:]]
    _, summary = summarized(table.set_column(3, "sex", pa.array(age)))
    assert column(summary, "sex").distribution.missing_before is None
    assert column(summary, "sex").distribution.missing_after is None


def spread_of_text(cell, weight, leaves, texts):
    """Return the slow twin of the expected counts: each released text spread over what it stands for."""
    if cell.form == "any" or (cell.form == "value" and len(leaves(cell.values[0])) == len(texts)):
        return {"*": weight}
    if cell.form == "missing":
        return {"missing": weight}
    values = cell.values if cell.form == "set" else leaves(cell.values[0])
    return {value: weight / len(values) for value in values}


@pytest.mark.parametrize("name", ["sex", "job", "illness"])
def test_expected_counts_are_those_read_from_the_released_text(name):
    result, summary = summarized(small_table(seed=3), k=20)
    forms, cells = parse_column(result.released.column(name))
    texts = sorted(set(result.source.table.column(name).to_pylist()))
    leaves = JOBS.leaves_below if name == "job" else lambda value: (value,)
    expected = Counter()
    for form, count in Counter(forms.tolist()).items():
        expected.update(spread_of_text(cells[form], count, leaves, texts))
    spread = column(summary, name).distribution
    assert spread.hidden_after == expected.pop("*", 0)
    assert {one.label: one.after for one in spread.bins} == {
        label: pytest.approx(expected[label], abs=0.01) for label in texts
    }


def test_a_range_is_spread_evenly_over_its_width_and_a_single_value_is_not():
    cells = Cells(
        group=np.array([0] * 8 + [1] * 3, np.int32),
        low=np.array([0, 1]),
        high=np.array([2, 1]),
        hidden=np.zeros(2, bool),
        missing=np.zeros(2, bool),
    )
    edges = np.array([0.0, 10, 20, 30, 40])
    assert _in_bins(np.array([0.0, 12, 39]), cells, edges, whole=True).tolist() == [2, pytest.approx(5), 2, 2]
    assert _in_bins(np.array([0.0, 12, 40]), cells, edges, whole=False).tolist() == [2, 5, 2, 2]


def test_wide_hierarchies_are_drawn_by_their_nodes():
    zips = [f"{number:05d}" for number in range(10_000, 12_000, 10)]
    tree = shoal.Hierarchy.from_prefixes(zips, [3, 2])
    table = pa.table({"zip": zips * 3, "age": list(range(600))})
    result = shoal.anonymize(table, k=3, quasi_identifiers=["zip", "age"], hierarchies={"zip": tree})
    labels = [one.label for one in column(result.report().summary, "zip").distribution.bins]
    assert 1 < len(labels) <= 12
    assert set(labels) <= set(tree.labels)


def test_rare_values_are_pooled_and_the_pool_holds_at_least_k():
    table = pa.table({"age": list(range(40)), "word": ["a"] * 20 + ["b"] * 16 + ["c", "d", "d", "e"]})
    _, summary = summarized(
        table, k=5, quasi_identifiers=["age"], sensitive=["word"], identifiers=[], keep=[], hierarchies={}
    )
    spread = column(summary, "word").distribution
    assert [(one.label, one.before) for one in spread.bins] == [("a", 20), (OTHER, 20)]
    assert spread.pooled == 4


def test_runs_of_bins_hold_k_or_nothing():
    assert _merge(np.array([1.0, 1, 3, 0, 7, 1]), 5) == [0, 3, 4]
    assert _merge(np.array([9.0, 0, 1]), 5) == [0]
    assert _merge(np.array([1.0, 1]), 5) is None


@pytest.mark.parametrize(("span", "bins", "step"), [(100, 24, 5), (24, 24, 1), (0.3, 3, 0.1), (72_000, 24, 5000)])
def test_steps_are_round_numbers(span, bins, step):
    assert nice_step(span, bins) == pytest.approx(step)


# --- who can be found --------------------------------------------------------------------------------------------


def test_those_alone_are_counted_before_and_after():
    table = pa.table({"age": [1, 1, 2, 3, 4, 5], "sex": ["f", "f", "f", "m", "m", "m"]})
    result = shoal.anonymize(table, k=3, quasi_identifiers=["age", "sex"])
    found = result.report().summary.found
    assert (found.before.unique, found.before.below_k) == (4, 6)
    assert found.before.mean_risk == pytest.approx(5 / 6)
    assert (found.after.unique, found.after.below_k) == (0, 0)
    assert found.after.largest_risk <= 1 / 3
    assert [(one.columns, one.unique) for one in found.by_columns] == [(["age"], 4), (["age", "sex"], 4)]


def test_withheld_records_are_not_found():
    found = count_findable(GroupSizes.of(np.array([4, 6])), records=20, k=4)
    assert (found.unique, found.mean_risk, found.largest_risk) == (0, 0.1, 0.25)


@pytest.mark.parametrize("k", [2, 7, 10, 50, 333])
def test_one_bin_of_sizes_begins_at_k_and_all_records_are_in_some_bin(k):
    random = np.random.default_rng(k)
    before, after = random.integers(1, k + 2, 50), random.integers(k, 3 * k, 20)
    bins = size_bins(GroupSizes.of(before), GroupSizes.of(after), k)
    assert k in {one.low for one in bins}
    assert sum(one.before for one in bins) == before.sum()
    assert sum(one.after for one in bins) == after.sum()
    assert all(one.after == 0 for one in bins if one.high is not None and one.high < k)


# --- associations ------------------------------------------------------------------------------------------------


def test_associations_are_known_where_they_are_known():
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, 4000)
    other = random.integers(0, 300, 4000)
    numbers = random.normal(size=4000)
    assert cramers_v(codes, codes) == pytest.approx(1, abs=0.01)
    assert cramers_v(codes, other) < 0.1  # chance alone; uncorrected it would be about 0.27
    assert correlation_ratio(codes, codes.astype(float)) == pytest.approx(1)
    assert correlation_ratio(other, numbers) < 0.13  # chance alone; uncorrected it would be about 0.27
    assert pearson(numbers, -2 * numbers) == pytest.approx(-1)
    assert pearson(numbers, np.ones(4000)) == 0


def test_columns_passed_through_keep_their_association_and_others_do_not_gain():
    _, summary = summarized(small_table(2000))
    pairs = {(one.first, one.second): one for one in summary.associations}
    age_cost = pairs["age", "cost"]
    assert age_cost.measure == "correlation"
    assert age_cost.before > 0.9
    assert 0.3 < age_cost.after < age_cost.before


# --- examples and warnings ---------------------------------------------------------------------------------------


def test_no_row_of_the_original_is_in_a_summary_unless_asked_for():
    result, summary = summarized(small_table())
    released = set(zip(*(map(str, result.released.column(name).to_pylist()) for name in ("age", "born")), strict=True))
    assert not summary.examples.holds_original
    for row in summary.examples.rows:
        assert row.original is None
        assert tuple(map(str, row.released[:2])) in released
    assert "person-" not in summary.model_dump_json()


def test_original_rows_stand_beside_the_released_ones_when_asked_for():
    table = small_table()
    _, summary = summarized(table, examples=True)
    rows = {(str(row["sex"]), str(row["job"]), str(row["cost"])) for row in table.to_pylist()}
    assert summary.examples.holds_original
    for row in summary.examples.rows:
        assert (row.original[2], row.original[3], row.original[5].removesuffix(".0")) in {
            (sex, job, cost.removesuffix(".0")) for sex, job, cost in rows
        }
        assert row.changed == [one != other for one, other in zip(row.original, row.released, strict=True)]
    assert "person-" not in summary.model_dump_json()


def test_marks_on_released_rows_tell_only_what_the_release_shows():
    _, ranges = summarized(small_table())
    for row in ranges.examples.rows:
        for cell, changed in zip(row.released[:2], row.changed[:2], strict=True):
            assert changed == (cell is not None and (cell == "*" or cell.startswith("[")))
    _, means = summarized(small_table(), release="representatives")
    assert all(row.changed == [True] * 4 + [False] * 2 for row in means.examples.rows)


def test_what_calls_for_a_second_look_is_said():
    table = small_table()
    _, summary = summarized(table)
    assert any("“cost” is released unchanged" in one for one in summary.warnings)
    same = table.set_column(5, "illness", pa.array(["flu"] * table.num_rows))
    _, summary = summarized(same, keep=[], identifiers=["name", "cost"])
    assert [one for one in summary.warnings if "same value of “illness”" in one]


def test_what_is_alike_is_one_sentence():
    table = pa.table({"age": [30, 31] * 40, **{f"part {number}": list(range(80)) for number in range(9)}})
    _, summary = summarized(
        table, quasi_identifiers=["age"], sensitive=[], identifiers=[], hierarchies={}, keep=table.column_names[1:]
    )
    told = [one for one in summary.warnings if "occur only once" in one]
    assert len(told) == 1
    assert told[0].startswith("9 columns are released unchanged and have values that occur only once: “part 0” (80), ")
    assert "and 1 more" in told[0]
    same = pa.table({"age": [30, 31] * 40, "flu": ["yes"] * 80, "cough": ["no"] * 80})
    _, summary = summarized(
        same, quasi_identifiers=["age"], sensitive=["flu", "cough"], identifiers=[], hierarchies={}, keep=[]
    )
    told = [one for one in summary.warnings if "the same value" in one]
    assert len(told) == 1
    assert "“flu”, “cough”" in told[0]


def test_columns_without_a_role_are_named_as_left_out():
    with pytest.warns(shoal.errors.ColumnLeftOutWarning):
        _, summary = summarized(small_table(), keep=[])
    assert column(summary, "cost").role == "left out"
    assert column(summary, "cost").released_as == "removed"


def test_what_is_unbounded_is_told_as_such():
    result, _ = summarized(small_table())
    sensitive = {"illness": {"l": 1.0, "delta": float("inf")}}
    report = replace(result, audit=replace(result.audit, sensitive=sensitive)).report()
    assert json.loads(report.json)["reached"]["sensitive"] == {"illness": {"l": 1.0, "delta": None}}
    assert "no bound" in report.markdown


def test_questions_asked_of_an_unchanged_table_are_answered_rightly_and_of_a_coarse_one_are_not():
    table = pa.table({"age": [20, 30, 40, 50] * 25, "sex": ["f", "f", "m", "m"] * 25})
    _, exact = summarized(
        table, quasi_identifiers=["age", "sex"], sensitive=[], identifiers=[], keep=[], hierarchies={}, k=25
    )
    assert exact.loss.ncp == 0
    assert exact.query_error.mean == 0
    assert exact.query_error.within_tenth == 1
    _, coarse = summarized(small_table(), k=60)
    assert coarse.query_error.median > 0.05
    _, means = summarized(small_table(), release="representatives")
    assert means.query_error is None


def test_attacks_are_tried_on_the_released_rows():
    result, summary = summarized(small_table())
    linked, learnt, guessed = summary.attacks
    assert (linked.attack, linked.tried) == ("linkage", 240)
    assert linked.share <= 1 / result.audit.k
    assert learnt.question == "What is this person's illness?"
    assert learnt.low <= learnt.share <= learnt.high
    assert (guessed.attack, guessed.question) == ("downcoding", "Which exact value hides behind this range?")
    assert guessed.tried > 0
    assert "Attacks on the release" in result.report().markdown


def test_cells_that_cannot_be_matched_by_their_text_are_not_attacked():
    table = small_table().set_column(3, "sex", pa.array(["low", "mid", "high"] * 80))
    assert summarized(table, kinds={"sex": ["low", "mid", "high"]})[1].attacks == []
    assert summarized(small_table(), release="representatives")[1].attacks == []
