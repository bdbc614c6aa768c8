"""Rubin's rules, on his own formulas and on the fits of other packages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal_reader
from shoal_reader import ReleaseError, TooLittleKnownWarning, pool, pooling


def test_the_rules_give_what_they_give_by_hand():
    fits = [({"a": estimate}, {"a": 2.0}) for estimate in (10.0, 11.0, 12.0)]
    found = pool(fits, most_missing=1).loc["a"]
    total = 4.0 + (1 + 1 / 3) * 1.0
    ratio = (4 / 3) / 4
    freedom = 2 * (1 + 1 / ratio) ** 2
    assert found["estimate"] == 11
    assert found["error"] == pytest.approx(total**0.5)
    assert found["missing_information"] == pytest.approx((ratio + 2 / (freedom + 3)) / (ratio + 1))
    assert found["high"] - 11 == pytest.approx(2.0369 * total**0.5, rel=1e-4)  # t with 32 degrees of freedom
    assert freedom == pytest.approx(32)


def test_equal_results_have_no_missing_information_and_the_normal_interval():
    found = pool([(1.0, 0.5)] * 4).iloc[0]
    assert found["missing_information"] == 0
    assert found["high"] == pytest.approx(1 + 1.959964 * 0.5)


def test_estimates_that_hang_on_the_model_are_withheld_and_named():
    fits = [({"safe": 1.0, "lost": one}, {"safe": 0.1, "lost": 0.1}) for one in (0.0, 1.0, 2.0)]
    with pytest.warns(TooLittleKnownWarning, match=r"release: lost \(100%\)\."):
        found = pool(fits)
    assert found.loc["lost"].isna().tolist() == [True, True, True, True, False]
    assert found.loc["safe", "estimate"] == 1
    assert pool(fits, most_missing=1).loc["lost", "estimate"] == 1
    with pytest.raises(ReleaseError, match="Too much of the information"):
        pool([(one, 0.1) for one in (0.0, 1.0, 2.0)])


def test_student_s_t_is_the_same_with_and_without_scipy(monkeypatch):
    freedom = np.array([3.0, 5.0, 12.5, 100.0, np.inf])
    exact = pooling._t_quantile(freedom)
    monkeypatch.setitem(__import__("sys").modules, "scipy.special", None)
    assert pooling._t_quantile(freedom) == pytest.approx(exact, rel=0.02)
    assert pooling._t_quantile(freedom)[2:] == pytest.approx(exact[2:], rel=1e-3)


def test_fits_of_statsmodels_and_lifelines_are_pooled():
    api = pytest.importorskip("statsmodels.api")
    lifelines = pytest.importorskip("lifelines")
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"x": rng.normal(size=80), "time": rng.exponential(size=80), "event": 1}) for _ in range(3)]
    linear = pool([api.OLS(one["time"], api.add_constant(one["x"])).fit() for one in tables], most_missing=1)
    assert linear.index.tolist() == ["const", "x"]
    cox = pool([lifelines.CoxPHFitter().fit(one, "time", "event") for one in tables], most_missing=1)
    assert cox.index.tolist() == ["x"]
    assert (cox["low"] < cox["high"]).all()


@pytest.mark.parametrize(("fits", "message"), [([(1.0, 1.0)], "at least two"), ([object(), object()], "Got object")])
def test_other_results_are_refused(fits, message):
    with pytest.raises(ReleaseError, match=message):
        pool(fits)


def test_a_release_pools_too():
    with pytest.warns(shoal_reader.DictionaryWarning):
        release = shoal_reader.read(pd.DataFrame({"age": ["[1-2]"]}))
    assert release.pool([pd.DataFrame({"estimate": [1.0], "error": [1.0]}, ["x"])] * 2).loc["x", "estimate"] == 1
