"""A release with computed columns is refused with the ways out, which work; whoever releases it all the same is told."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import shoal
from shoal.errors import ParameterError, PrivacyError, PublicationWarning
from tests.derived.tables import LIVER_KEPT, LIVER_KNOWN, STAYS_KEPT, STAYS_KNOWN, liver, stays

K = 10
FAST = {"k": K, "method": "mondrian"}
SHAPES = {
    "liver": (liver(2000), LIVER_KNOWN, LIVER_KEPT, ["bmi"]),
    "stays": (stays(), STAYS_KNOWN, STAYS_KEPT, ["length_of_stay", "age"]),
}


def release(shape, **more):
    table, known, kept, _ = SHAPES[shape]
    return shoal.anonymize(table, **FAST | {"quasi_identifiers": known, "keep": kept} | more)


@pytest.mark.parametrize("shape", SHAPES)
def test_computed_columns_are_refused_with_the_formula_and_the_ways_out(shape):
    with pytest.raises(PrivacyError) as fault:
        release(shape)
    for name in SHAPES[shape][3]:
        assert f"{name} = " in fault.value.message
        assert f"--qi {name}" in fault.value.hint
        assert f"--identifier {name}" in fault.value.hint
    assert re.search(r"[\d,]+ of [\d,]+ records are then in groups of fewer than k = 10 people", fault.value.message)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_attack_works_on_a_release_with_computed_columns_and_not_after_the_way_out(shape):
    table, known, kept, computed = SHAPES[shape]
    with pytest.warns(PublicationWarning, match="follows from the quasi-identifiers"):
        before = release(shape, derived="warn")
    found = shoal.attacks.derived(table, before, known)
    assert found.works
    assert found.success.share > 0.4 > 4 * found.control.share
    assert (before.audit.k_determined, before.audit.determined) == (1, tuple(computed))
    rest = [name for name in kept if name not in computed]
    after = release(shape, quasi_identifiers=[*known, *computed], keep=rest)
    found = shoal.attacks.derived(table, after, known)
    assert found.success.share <= 1 / K
    assert after.audit.determined == ()
    dropped = release(shape, keep=rest, identifiers=computed)
    assert shoal.attacks.derived(table, dropped, known).success.share <= 1 / K


def test_the_attack_finds_566_of_600_stays_or_more():
    table, known, *_ = SHAPES["stays"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PublicationWarning)
        found = shoal.attacks.derived(table, release("stays", derived="warn"), known)
    assert found.figures["one_left"] >= 566


def test_a_computed_column_passes_once_rounding_makes_its_groups_large_enough():
    random = np.random.default_rng(1)
    size = random.integers(0, 100, 1000)
    table = pa.table({"size": size, "cost": size * 30 + 7, "ward": random.choice(["a", "b"], 1000)})
    asked = FAST | {"quasi_identifiers": ["size"], "keep": ["cost", "ward"], "ends": "exact"}
    with pytest.raises(PrivacyError) as fault:
        shoal.anonymize(table, **asked)
    step = float(re.search(r"--treat cost=round:([\d.]+)", fault.value.hint)[1])
    result = shoal.anonymize(table, **asked, treat={"cost": shoal.Round(step)})
    assert result.audit.determined == ("cost",)
    assert result.audit.k_determined >= K


def test_a_map_that_tells_nobody_apart_passes():
    job = np.repeat([f"job {place}" for place in range(8)], 50)
    sector = np.repeat([f"sector {place // 4}" for place in range(8)], 50)
    age = np.tile(np.arange(20, 70), 8)
    result = shoal.anonymize(
        {"job": job, "sector": sector, "age": age},
        **FAST,
        quasi_identifiers=["job", "age"],
        keep=["sector"],
        weights={"job": 50},
    )
    assert result.audit.determined == ("sector",)
    assert result.audit.k_determined >= K


def test_people_are_counted_where_a_person_has_several_records():
    random = np.random.default_rng(2)
    age = random.integers(20, 60, 300)
    table = pa.table({"id": np.repeat(np.arange(300), 4), "age": np.repeat(age, 4), "cost": np.repeat(age * 30 + 7, 4)})
    asked = {
        "quasi_identifiers": ["age"],
        "keep": ["cost"],
        "person": "id",
        "ends": "exact",
        "k": 8,
        "method": "mondrian",
    }
    with pytest.raises(PrivacyError, match="cost = age · 30"):
        shoal.anonymize(table, **asked)


@pytest.mark.parametrize("small", [True, False])
def test_a_streamed_release_is_refused_too_and_leaves_no_file(tmp_path, monkeypatch, small):
    if small:
        monkeypatch.setattr("shoal.plan.steps.SMALL", 200, raising=False)
    papq.write_table(stays(), tmp_path / "stays.parquet")
    recipe = shoal.Anonymizer(**FAST, quasi_identifiers=STAYS_KNOWN, keep=STAYS_KEPT)
    with pytest.raises(PrivacyError, match="length_of_stay = discharge − admission"):
        recipe.stream(tmp_path / "stays.parquet", tmp_path / "release.parquet", workers=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stays.parquet"]
    passing = shoal.Anonymizer(**FAST, quasi_identifiers=STAYS_KNOWN, keep=STAYS_KEPT, derived="warn")
    with pytest.warns(PublicationWarning, match="“age” follows from the quasi-identifiers"):
        made = passing.stream(tmp_path / "stays.parquet", tmp_path / "release.parquet", workers=1)
    assert made.audit.k_determined == 1


def test_a_column_that_is_only_predicted_is_told_and_released():
    random = np.random.default_rng(5)
    age, size = random.integers(20, 90, 1000), random.integers(0, 100, 1000)
    group = np.where((age > 50) & (size > 50), "both", np.where(age > 50, "old", "other"))
    with pytest.warns(
        PublicationWarning, match=r"“group” can be predicted from age, size: a decision tree is right for 9"
    ):
        shoal.anonymize(
            {"age": age, "size": size, "group": group}, **FAST, quasi_identifiers=["age", "size"], keep=["group"]
        )


def test_derived_must_be_one_of_two_words():
    with pytest.raises(ParameterError, match="'derived'"):
        shoal.Anonymizer(k=2, quasi_identifiers=["age"], derived="ignore")
