"""Formulas: each regressor is its mean over all values that the cells allow."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import shoal_reader
from shoal_reader import ReleaseError
from tests.reader.test_statistics import ends, members, read

ROWS = [("[2-5]", "{a, b}", "f", 1), ("[3-3]", "*", "m", 4), ("[1-9]", "c", "f", 2), ("[4-6]", "a", "m", 9)]


def averaged(row, regressor):
    values = [regressor(age, job) for age in range(ends(row)[0], ends(row)[1] + 1) for job in members(row)]
    return sum(values) / len(values)


@pytest.mark.parametrize(
    ("term", "name", "regressor"),
    [
        ("age", "age", lambda age, _: age),
        ("I(age**2)", "I(age ** 2)", lambda age, _: age**2),
        ("age:I(age ** 2)", "age:I(age ** 2)", lambda age, _: age**3),
        ("log(age)", "log(age)", lambda age, _: np.log(age)),
        ("I((age - 3) / 2)", "I((age - 3) / 2)", lambda age, _: (age - 3) / 2),
        ("job", "job[T.b]", lambda _, job: job == "b"),
        ("C(job)", "C(job)[T.c]", lambda _, job: job == "c"),
        ("age * job", "age:job[T.b]", lambda age, job: age * (job == "b")),
    ],
)
def test_a_regressor_is_the_mean_over_the_cell(term, name, regressor):
    design = read(ROWS).expected(f"cost ~ {term}")
    assert design.regressors[name].tolist() == pytest.approx([averaged(row, regressor) for row in ROWS])
    assert design.outcome.tolist() == [1, 4, 2, 9]


def test_a_product_of_columns_is_averaged_over_both():
    design = read(ROWS).expected("cost ~ age:job")
    for row, (_, found) in zip(ROWS, design.regressors.iterrows(), strict=True):
        pairs = list(itertools.product(range(ends(row)[0], ends(row)[1] + 1), members(row)))
        assert found["age:job[T.c]"] == pytest.approx(sum(age * (job == "c") for age, job in pairs) / len(pairs))


def test_a_design_has_the_columns_that_statsmodels_makes_of_exact_data():
    formula_api = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(0)
    exact = pd.DataFrame(
        {"age": rng.integers(20, 60, 50), "job": rng.choice(list("abc"), 50), "hours": rng.normal(40, 5, 50)}
    )
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(exact)
    formula = "hours ~ age * C(job) + I(age**2)"
    theirs = formula_api.ols(formula, exact)
    ours = release.expected(formula)
    assert set(ours.regressors) == set(theirs.exog_names)
    assert np.allclose(ours.regressors[theirs.exog_names], theirs.exog)
    assert np.allclose(ours.outcome, theirs.endog)


def test_an_intercept_can_be_left_out():
    assert "Intercept" not in read(ROWS).expected("cost ~ age - 1").regressors
    assert list(read(ROWS).expected("cost ~ 0 + job").regressors) == ["job[a]", "job[b]", "job[c]"]
    assert list(read(ROWS).expected("cost ~ 1").regressors) == ["Intercept"]


def test_an_outcome_of_two_values_is_0_or_1_and_names_may_have_any_signs():
    cells = pd.DataFrame({"hours-per-week": ["[1-3]", "[5-7]"], "class": ["<=50K", ">50K"]})
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(cells)
    design = release.expected("Q('class') ~ `hours-per-week`")
    assert design.outcome.tolist() == [0, 1]
    assert design.regressors["hours-per-week"].tolist() == [2, 6]


def test_records_with_a_missing_value_are_left_out():
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(pd.DataFrame({"age": ["[1-3]", None, "5"], "y": [1.0, 2.0, np.nan]}))
    assert release.expected("y ~ age").regressors.index.tolist() == [0]


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("age + sex", "one '~'"),
        ("cost ~ age + nothing", "no column 'nothing'"),
        ("cost ~ age +", "cannot be read"),
        ("cost ~ open(age)", "uses one column"),
        ("cost ~ sin(1)", "no column 'sin'"),
        ("cost ~ I(age.real)", "cannot be read"),
        ("cost ~ log(age + cost)", "uses one column"),
        ("cost ~ log(age - 9)", "not a number for every value"),
        ("job ~ age", "outcome"),
        ("cost ~ age - sex", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused(formula, message):
    with pytest.raises(ReleaseError, match=message):
        read(ROWS).expected(formula)
