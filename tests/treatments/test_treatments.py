"""Treatments of kept columns: what each changes, what it keeps, and what it refuses."""

from __future__ import annotations

import datetime as dt
from dataclasses import fields
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shoal.errors import ColumnError, DataError, ParameterError
from shoal.frames import to_frame
from shoal.treatments import (
    TREATMENTS,
    BottomCode,
    Drop,
    Microaggregate,
    Noise,
    Pram,
    RankSwap,
    Round,
    ShiftDates,
    TopCode,
    Treatment,
    check_treated_roles,
    check_treatments,
    make_treatment,
    treat_columns,
    treatment_settings,
)
from shoal.treatments.randomness import SystemRandomness, draw_integers, draw_normal


class Known:
    """Random numbers that a test can repeat."""

    def __init__(self, seed: int = 1) -> None:
        self.random = np.random.default_rng(seed)

    def uniform(self, number: int) -> Any:
        return self.random.random(number)


EVERY = [
    Round(100),
    TopCode(share=0.9),
    BottomCode(value=10),
    Microaggregate(3),
    RankSwap(0.1),
    Pram(0.5),
    Noise(share=0.1),
    ShiftDates(30),
    Drop(),
]


def _treated(values: Any, one: Treatment, seed: int = 1) -> pa.ChunkedArray:
    frame, _ = treat_columns(to_frame(pa.table({"x": values})), {"x": one}, Known(seed))
    return frame.table.column("x")


def test_rounding_goes_to_the_nearest_multiple_and_keeps_type_and_missing_values() -> None:
    assert _treated(pa.array([149, 151, None, -260]), Round(100)).to_pylist() == [100, 200, None, -300]
    assert _treated(pa.array([0.34, 0.26]), Round(0.1)).to_pylist() == [0.3, 0.3]
    money = pa.array([Decimal("12.34"), Decimal("17.51")], pa.decimal128(8, 2))
    assert _treated(money, Round(5)).to_pylist() == [Decimal("10.00"), Decimal("20.00")]
    days = pa.array([dt.date(2024, 5, 17), None])
    assert _treated(days, Round("quarter")).to_pylist() == [dt.date(2024, 4, 1), None]


def test_random_rounding_keeps_sums_on_average() -> None:
    values = np.full(4_000, 130)
    rounded = _treated(values, Round(100, random=True)).to_numpy()
    assert set(rounded) == {100, 200}
    assert abs(rounded.mean() - 130) < 5


def test_top_and_bottom_coding_release_the_limit_or_the_mean_beyond_it() -> None:
    values = np.arange(1, 101)
    top = _treated(values, TopCode(share=0.9)).to_numpy()
    assert (top.max(), (top == top.max()).sum()) == (90, 11)
    assert (top[:89] == values[:89]).all()
    mean = _treated(values.astype(float), TopCode(value=91, replace="mean")).to_numpy()
    assert mean.sum() == pytest.approx(values.sum())
    bottom = _treated(values, BottomCode(value=10)).to_numpy()
    assert (bottom.min(), (bottom == 10).sum()) == (10, 10)
    assert _treated(pa.array([1, None]), TopCode(value=5)).to_pylist() == [1, None]


def test_microaggregation_shares_each_mean_among_k_and_keeps_the_sum() -> None:
    values = np.random.default_rng(3).lognormal(3, 1, 200)
    means = _treated(values, Microaggregate(7)).to_numpy()
    assert np.unique(means, return_counts=True)[1].min() >= 7
    assert means.sum() == pytest.approx(values.sum())
    with pytest.raises(DataError, match="at least 7 values"):
        _treated(values[:6], Microaggregate(7))


def test_rank_swapping_permutes_values_within_reach() -> None:
    values = np.random.default_rng(3).permutation(1_000)
    swapped = _treated(values, RankSwap(0.05)).to_numpy()
    assert sorted(swapped) == list(range(1_000))
    assert np.abs(swapped - values).max() <= 50
    assert (swapped != values).mean() > 0.9


def test_pram_keeps_how_often_values_occur_on_average() -> None:
    values = np.array(["a"] * 3_000 + ["b"] * 1_000)
    drawn = np.array(_treated(values, Pram(0.6)).to_pylist())
    assert abs((drawn == "a").mean() - 0.75) < 0.03
    assert abs((drawn == values).mean() - (0.6 + 0.4 * 0.625)) < 0.03
    assert (np.array(_treated(values, Pram(1.0)).to_pylist()) == values).all()


def test_noise_has_the_stated_spread() -> None:
    values = np.random.default_rng(3).normal(50, 20, 4_000)
    for one, wanted in ((Noise(sd=3), 3.0), (Noise(share=0.1), 2.0)):
        noise = _treated(values, one).to_numpy() - values
        assert noise.std() == pytest.approx(wanted, rel=0.1)
        assert abs(noise.mean()) < 0.3
    assert _treated(pa.array([5, None, 250], pa.uint8()), Noise(sd=40)).type == pa.uint8()


def test_dates_of_a_person_move_together_and_keep_their_intervals() -> None:
    persons = [1, 1, 2, 2, None]
    first = [dt.date(2024, 1, day) for day in (1, 11, 5, 6, 7)]
    last = [day + dt.timedelta(days=3) for day in first]
    table = pa.table({"who": persons, "come": first, "go": pa.array(last).cast(pa.timestamp("ms"))})
    one = ShiftDates(days=200, person="who")
    frame, _ = treat_columns(to_frame(table), {"come": one, "go": one}, Known())
    come, go = (frame.table.column(name).cast(pa.date32()).to_pylist() for name in ("come", "go"))
    assert come != first
    assert [(b - a).days for a, b in zip(come, go, strict=True)] == [3] * 5
    assert (come[1] - come[0]).days == 10
    assert (come[3] - come[2]).days == 1
    assert all(abs((new - old).days) <= 200 for old, new in zip(first, come, strict=True))
    shifts = {(new - old).days for old, new in zip(first, come, strict=True)}
    assert len(shifts) == 3


def test_every_treatment_names_its_technique_and_what_remains_and_restores_from_its_settings() -> None:
    assert {type(one) for one in EVERY} == set(TREATMENTS.values())
    for one in EVERY:
        assert one.technique.split(":")[0] in {"generalization", "randomization", "suppression"}
        assert one.describe()
        assert one.remains.endswith((".", "beside."))
        plain = treatment_settings({"x": one})["x"]
        assert check_treatments("Anonymizer", {"x": plain}) == {"x": one}
        assert set(plain) <= {"treatment", *(field.name for field in fields(one))}


def test_what_was_done_counts_changes_and_who_is_still_alone() -> None:
    table = pa.table({"cost": [101, 102, 103, 900], "note": list("abcd")})
    _, done = treat_columns(to_frame(table), {"cost": Round(100), "note": Drop()}, Known())
    cost = done["cost"]
    assert (cost.changed, cost.unique_before, cost.unique_after) == (0.75, 4, 1)
    assert cost.moved == pytest.approx(np.mean([1, 2, 3, 0]) / np.std([101, 102, 103, 900]))
    assert (done["note"].unique_after, done["note"].moved) == (0, None)


def test_secret_numbers_come_from_the_system_and_never_repeat() -> None:
    source = SystemRandomness()
    one, other = source.uniform(1_000), source.uniform(1_000)
    assert not (one == other).any()
    assert (one >= 0).all()
    assert (one < 1).all()
    assert set(draw_integers(source, 3, 500).tolist()) == {0, 1, 2}
    assert np.isfinite(draw_normal(source, 500)).all()
    values = np.arange(500)
    frame = to_frame(pa.table({"x": values}))
    twice = [treat_columns(frame, {"x": Noise(sd=1e6)})[0].table.column("x").to_pylist() for _ in range(2)]
    assert twice[0] != twice[1]


@pytest.mark.parametrize(
    ("one", "values"),
    [
        (Round(10), ["a"]),
        (Round("month"), [1]),
        (TopCode(value=1), ["a"]),
        (Microaggregate(2), [dt.date(2024, 1, 1)]),
        (RankSwap(0.5), ["a"]),
        (Noise(sd=1), [True]),
        (ShiftDates(3), ["soon"]),
        (Pram(), [[1]]),
    ],
)
def test_a_treatment_of_the_wrong_kind_of_column_is_refused(one: Treatment, values: list[Any]) -> None:
    with pytest.raises(DataError, match="needs"):
        _treated(pa.array(values), one)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("round", {"to": 0}),
        ("round", {"to": "decade"}),
        ("round", {}),
        ("top-code", {}),
        ("top-code", {"value": 1, "share": 0.5}),
        ("bottom-code", {"share": 1.5}),
        ("microaggregate", {"k": 1}),
        ("rank-swap", {"share": 0}),
        ("pram", {"keep": 2}),
        ("noise", {"sd": -1}),
        ("noise", {}),
        ("shift-dates", {"days": 0}),
        ("shift-dates", {"days": 3, "person": 5}),
        ("drop", {"all": True}),
        ("blur", {}),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        make_treatment(name, **parameters)


def test_only_kept_and_sensitive_columns_can_be_treated() -> None:
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "identifiers": ["name"], "keep": ["cost"]}
    check_treated_roles({"ill": Pram(), "cost": Round(5)}, roles)
    for name in ("age", "name"):
        with pytest.raises(ColumnError, match="cannot be treated"):
            check_treated_roles({name: Drop()}, roles)
    with pytest.raises(ColumnError, match="did you mean 'cost'"):
        check_treated_roles({"costs": Round(5)}, roles)
    with pytest.raises(ColumnError, match="person of a treatment"):
        treat_columns(to_frame(pa.table({"x": [dt.date(2024, 1, 1)]})), {"x": ShiftDates(3, person="who")})


def test_the_reference_says_of_every_treatment_what_it_is_and_what_is_still_found(request):
    page = (request.config.rootpath / "docs" / "reference" / "treatments.md").read_text("utf-8")
    lines = {name: next(line for line in page.splitlines() if f"| `{name}` |" in line) for name in TREATMENTS}
    for name, kind in TREATMENTS.items():
        assert f"`{kind.__name__}(" in lines[name]
        assert f"| {kind.technique} | {kind.remains} |" in lines[name]
