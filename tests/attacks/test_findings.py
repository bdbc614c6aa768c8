from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import attacks
from shoal.attacks.base import choose_targets, rate
from shoal.errors import ColumnError, DataError, ParameterError
from shoal.hierarchy import Hierarchy

ORIGINAL = pa.table(
    {
        "age": [20, 24, 30, 35, 40, 44],
        "sex": ["f", "m", "f", "m", "f", "m"],
        "ill": ["flu", "flu", "flu", "gout", "cold", "gout"],
        "cost": [10.01, 20.02, 30.03, 40.04, 50.05, 60.06],
    }
)
RELEASE = pa.table(
    {
        "age": ["[20-30]"] * 3 + ["[35-44]"] * 3,
        "sex": ["*"] * 6,
        "ill": ORIGINAL.column("ill"),
        "cost": ORIGINAL.column("cost"),
    }
)
QUASI = ["age", "sex"]


def shuffled(table, seed=1):
    return table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))


def test_a_rate_has_the_interval_of_wilson():
    half = rate(50, 100)
    assert (half.share, round(half.low, 4), round(half.high, 4)) == (0.5, 0.4038, 0.5962)
    assert rate(0, 100).low == 0.0
    assert round(rate(0, 100).high, 4) == 0.037
    assert rate(0, 0).high == 1.0


def test_linkage_names_everyone_in_a_table_that_was_not_anonymized_and_nobody_after():
    raw = attacks.linkage(ORIGINAL, ORIGINAL, QUASI)
    assert raw.figures["named_outright"] == 6
    assert raw.success.share == 1.0
    assert raw.control.share == pytest.approx(1 / 6)
    safe = attacks.linkage(ORIGINAL, shuffled(RELEASE), QUASI)
    assert safe.figures["named_outright"] == 0
    assert safe.figures["fewest_candidates"] == 3
    assert safe.figures["expected_correct"] == pytest.approx(2.0)
    assert safe.success.share == pytest.approx(1 / 3)


def test_linkage_with_a_list_of_people_counts_only_those_in_the_table_as_right():
    known = pa.table({"name": ["a", "b", "c"], "age": [20, 35, 99], "sex": ["f", "m", "m"]})
    found = attacks.linkage(ORIGINAL, ORIGINAL, QUASI, known=known)
    assert (found.figures["named_outright"], found.figures["named_rightly"]) == (2, 2)
    stranger = pa.table({"age": [21], "sex": ["f"]})
    found = attacks.linkage(ORIGINAL, RELEASE, QUASI, known=stranger)
    assert found.figures["in_the_table"] == 0
    assert found.success.share == 0.0
    with pytest.raises(ColumnError, match="shares no column"):
        attacks.linkage(ORIGINAL, RELEASE, QUASI, known=pa.table({"name": ["a"]}))


def test_homogeneity_learns_a_value_all_fitting_rows_share():
    found = attacks.homogeneity(ORIGINAL, shuffled(RELEASE), QUASI, "ill")
    assert found.figures["certain_and_right"] == 3
    assert list(found.examples) == [0, 1, 2]
    assert found.figures["guessed_rightly"] == 5
    assert found.control.share == 0.5
    assert found.figures["suspected"] == 6


def test_two_releases_leave_fewer_candidates_than_each_alone():
    other = pa.table(
        {
            "age": ["[20-40]", "[24-44]", "[20-40]", "[24-44]", "[20-40]", "[24-44]"],
            "sex": ["f", "m", "f", "m", "f", "m"],
            "ill": ORIGINAL.column("ill"),
        }
    )
    found = attacks.two_releases(ORIGINAL, RELEASE.drop_columns(["cost"]), shuffled(other), QUASI, k=3)
    assert found.figures["below_k_in_one_release"] == 0
    # flu is left for two women, one man; gout for two men, cold for one woman
    assert found.figures["below_k"] == 6
    assert found.figures["single_candidate"] == 2
    tied = attacks.two_releases(ORIGINAL, RELEASE, other.append_column("cost", ORIGINAL.column("cost")), QUASI, k=3)
    assert tied.figures["columns_that_tie_rows"] == 2
    same = attacks.two_releases(ORIGINAL, RELEASE, shuffled(RELEASE), QUASI, k=3)
    assert same.figures["below_k"] == 0


def test_row_order_tells_a_kept_order_from_a_shuffled_one():
    n = 300
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, n)
    original = pa.table({"age": age})
    low = age // 10 * 10
    release = pa.table({"age": [f"[{a}-{a + 9}]" for a in low]})
    kept = attacks.row_order(original, release, ["age"])
    assert kept.figures["order_kept"] == 1.0
    assert kept.works
    assert kept.control.share < 0.3
    mixed = attacks.row_order(original, shuffled(release), ["age"])
    assert mixed.figures["order_kept"] == 0.0
    assert not mixed.works
    together = release.take(pa.array(np.argsort(low, kind="stable")))
    assert attacks.row_order(original, together, ["age"]).figures["groups_stand_together"] == 1.0


def test_leftovers_names_columns_that_single_records_out():
    n = 100
    rng = np.random.default_rng(0)
    release = pa.table(
        {
            "age": ["*"] * n,
            "cost": rng.integers(0, 10**9, n) / 100,
            "code": [f"P{number}" for number in range(n)],
            "note": [f"came on day {number} with pain number {number * 7}" for number in range(n)],
            "ill": rng.choice(["a", "b"], n),
        }
    )
    found = attacks.leftovers(release, release, ["age"])
    assert found.success.share == 1.0
    assert found.control.share == 0.0
    for expected in ("cost (exact numbers", "code (an identifier)", "note (free text)"):
        assert expected in found.verdict
    assert "ill" not in found.verdict
    assert not attacks.leftovers(release, release.select(["age", "ill"]), ["age"]).works


def test_downcoding_reads_the_ends_of_tight_ranges_and_not_those_of_fixed_ones():
    rng = np.random.default_rng(0)
    age = np.sort(rng.integers(0, 1000, 300))
    original = pa.table({"age": age})
    tight = pa.table(
        {"age": [f"[{low}-{high}]" for low, high in zip(age[::3], age[2::3], strict=True) for _ in range(3)]}
    )
    found = attacks.downcoding(original, tight, ["age"])
    assert found.success.share >= 1 / 3
    tree = Hierarchy.from_intervals(age.tolist(), [100])
    fixed = pa.table({"age": [tree.path(str(value))[1] for value in age]})
    blunt = attacks.downcoding(original, fixed, ["age"], hierarchies={"age": tree})
    assert blunt.success.tried == 0
    assert not blunt.works
    with pytest.raises(DataError, match="number of rows"):
        attacks.downcoding(original, tight.slice(1), ["age"])


def test_a_record_that_stands_apart_under_a_node_is_counted():
    tree = Hierarchy.from_dict({"*": {"x": ["a", "b"], "y": ["c", "d"]}})
    original = pa.table({"job": ["a", "a", "c", "a", "b", "c", "d"]})
    release = pa.table({"job": ["*", "*", "*", "x", "x", "y", "y"]})
    found = attacks.downcoding(original, release, ["job"], hierarchies={"job": tree})
    assert found.figures["job: one stands apart"] == 1.0
    release = pa.table({"job": ["*"] * 7})
    assert attacks.downcoding(original, release, ["job"], hierarchies={"job": tree}).figures == {
        "job: one stands apart": 0.0,
        "job: tight": 1.0,
        "tight": 1.0,
    }


def test_cells_that_could_be_narrower_are_told_from_tight_ones():
    tree = Hierarchy.from_dict({"*": {"x": ["a", "b"], "y": ["c", "d"]}})
    original = pa.table(
        {"age": [1, 2, 3, 4, 5, 6], "job": ["a", "a", "a", "b", "c", "d"], "town": ["u", "v", "u", "u", "w", "w"]}
    )
    release = pa.table(
        {
            "age": ["[1-2]"] * 2 + ["[3-5]"] * 2 + ["[5-6]"] * 2,
            "job": ["x"] * 2 + ["x"] * 2 + ["y"] * 2,
            "town": ["{u, v}"] * 2 + ["{u, v}"] * 2 + ["*"] * 2,
        }
    )
    found = attacks.downcoding(original, release, ["age", "job", "town"], hierarchies={"job": tree})
    tight = {name: value for name, value in found.figures.items() if name.endswith("tight")}
    assert tight == pytest.approx({"age: tight": 2 / 3, "job: tight": 2 / 3, "town: tight": 1 / 3, "tight": 5 / 9})
    assert "55.6 % of the 9 cells that groups share are as narrow" in found.verdict


def test_all_attacks_together_give_plain_values_without_any_cell():
    found = attacks.run_attacks(
        ORIGINAL, RELEASE, QUASI, sensitive=["ill"], known=ORIGINAL, previous=shuffled(RELEASE), k=3
    )
    assert [one.attack for one in found] == [
        "linkage",
        "homogeneity",
        "derived",
        "two releases",
        "row order",
        "leftovers",
        "downcoding",
    ]
    text = json.dumps([one.as_dict() for one in found])
    assert "flu" not in text
    assert "20.02" not in text


def test_targets_are_all_rows_or_a_sample_that_repeats_itself():
    assert choose_targets(5, 10, 0).tolist() == [0, 1, 2, 3, 4]
    sample = choose_targets(100, 10, 0)
    assert len(set(sample.tolist())) == 10
    assert sample.tolist() == choose_targets(100, 10, 0).tolist()
    with pytest.raises(ParameterError):
        choose_targets(5, 0, 0)


def test_distance_linkage_names_rows_that_barely_moved_and_not_those_replaced_by_one_mean():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 2))
    original = pa.table({"a": values[:, 0], "b": values[:, 1]})
    near = pa.table({"a": values[:, 0] + 1e-6, "b": values[:, 1]})
    assert attacks.distance_linkage(original, near, ["a", "b"]).success.share == 1.0
    mean = pa.table({"a": [values[:, 0].mean()] * 40, "b": [values[:, 1].mean()] * 40})
    blurred = attacks.distance_linkage(original, mean, ["a", "b"])
    assert blurred.success.share == pytest.approx(1 / 40)
    assert not blurred.works
    with pytest.raises(DataError, match="numbers without gaps"):
        attacks.distance_linkage(ORIGINAL, ORIGINAL, ["sex"])


def numbers(n=200):
    rng = np.random.default_rng(4)
    return pa.table({"a": rng.normal(size=n).round(2), "b": rng.integers(0, 50, n), "job": rng.choice(["x", "y"], n)})


def test_representatives_are_attacked_by_distance_where_the_order_is_kept():
    original = numbers()
    result = shoal.anonymize(original, k=5, quasi_identifiers=["a", "b", "job"], method="mdav")
    found = {one.attack: one for one in attacks.run_attacks(original, result, ["a", "b", "job"])}
    assert found["row order"].figures["order_kept"] == 1.0
    assert found["distance linkage"].figures["columns"] == 2
    assert 0.005 < found["distance linkage"].success.share < 0.5
    assert found["distance linkage"].control.share == pytest.approx(1 / 200)
    assert "downcoding" not in found
    mixed = {one.attack: one for one in attacks.run_attacks(original, shuffled(result.released), ["a", "b", "job"])}
    assert mixed["row order"].figures["order_kept"] == 0.0
    assert "distance linkage" not in mixed


def test_a_release_with_ranges_or_exact_values_is_not_taken_for_one_with_representatives():
    original = numbers()
    ranges = shoal.anonymize(original, k=5, quasi_identifiers=["a", "b"], keep=["job"], method="mondrian")
    for release in (ranges, original):
        found = [one.attack for one in attacks.run_attacks(original, release, ["a", "b", "job"])]
        assert "distance linkage" not in found
        assert "downcoding" in found


def test_a_list_whose_people_fit_no_row_is_said_so():
    stranger = pa.table({"age": [99], "sex": ["f"]})
    assert (
        attacks.linkage(ORIGINAL, RELEASE, QUASI, known=stranger).verdict == "None of 1 people fits any released row."
    )
