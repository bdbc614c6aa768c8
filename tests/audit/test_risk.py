from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.audit.risk import estimate_uniqueness, measure_risk
from shoal.errors import ParameterError
from shoal.recount.tuples import count_tuples


def test_the_three_intruders_of_a_small_table():
    table = pa.table({"q": ["a", "a", "b", "b", "b", "b", "b", "c"]})
    risk = shoal.audit(table, quasi_identifiers=["q"]).risk
    assert risk.prosecutor_highest == 1.0
    assert risk.prosecutor_mean == risk.marketer == 3 / 8
    assert risk.at_risk == 3 / 8  # the groups of 1 and 2; one of five is no more than 0.2
    assert risk.journalist_highest is None


def test_a_population_lowers_the_journalists_chance():
    table = pa.table({"q": ["a", "a", "b"]})
    population = pa.table({"q": ["a"] * 4 + ["b"] * 5 + ["c"]})
    risk = shoal.audit(table, quasi_identifiers=["q"], population=population).risk
    assert risk.journalist_highest == 1 / 4
    assert risk.journalist_mean == pytest.approx((2 / 4 + 1 / 5) / 3)
    assert risk.marketer == risk.journalist_mean
    guessed = shoal.audit(table, quasi_identifiers=["q"], sampling_fraction=0.1).risk
    assert guessed.journalist_highest == 1 / 10


def test_the_sizes_of_groups_are_counted():
    found = shoal.audit(pa.table({"q": ["a", "a", "b", "c"]}), quasi_identifiers=["q"])
    assert found.sizes == {1: 2, 2: 1}


@pytest.mark.parametrize(("fraction", "model"), [(0.05, "pitman"), (0.1, "pitman"), (0.3, "zayatz"), (0.5, "zayatz")])
def test_the_estimate_said_to_be_better_is_within_a_third_of_the_truth_on_a_census(fraction, model):
    census = shoal.datasets.adult_like(60_000, seed=1).table
    columns = ["age", "sex", "education-num", "occupation", "race"]
    truth = int((count_tuples(census, columns).size == 1).sum())
    rng = np.random.default_rng(0)
    sample = census.take(pa.array(rng.permutation(60_000)[: int(60_000 * fraction)]))
    found = {
        one.model: one for one in shoal.audit(sample, quasi_identifiers=columns, sampling_fraction=fraction).population
    }
    assert found[model].people == pytest.approx(truth, rel=1 / 3)


def test_an_estimate_says_when_it_cannot_be_trusted():
    nobody = estimate_uniqueness(np.array([2, 3]), 0.1)
    assert all("Nobody is alone" in one.trust for one in nobody)
    assert nobody[1].people == 0
    everybody = estimate_uniqueness(np.ones(50, np.int64), 0.1)
    assert all(one.trust.startswith("Not to be trusted") for one in everybody)
    with pytest.raises(ParameterError):
        shoal.audit(pa.table({"q": [1]}), quasi_identifiers=["q"], sampling_fraction=0.0)


def test_risk_of_everyone_together_is_small():
    assert measure_risk(np.array([1000])).at_risk == 0.0
