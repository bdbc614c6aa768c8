"""Figures of a table before and after its release."""

from __future__ import annotations

import json
import stat

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.errors import DataError, ParameterError
from shoal.evaluation.analyses import Estimate
from shoal.evaluation.questions import Question, read_question


def people(n=600):
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["cook", "medic", "smith", "nurse"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "smoker": rng.random(n) < 0.3,
            "arm": rng.choice(["new", "old"], n),
        }
    )
    table["hours"] = (30 + 0.2 * table["age"] + 4 * (table["sex"] == "m") + rng.normal(0, 4, n)).round(1)
    table["rich"] = np.where(rng.random(n) < 1 / (1 + np.exp(-(table["age"] - 45) / 10)), "yes", "no")
    table["time"] = rng.exponential(200 / table["age"]).round(2) + 0.01
    table["event"] = rng.integers(0, 2, n)
    return table


QUESTIONS = ["hours ~ age + sex + smoker", "rich ~ age : logistic", "crosstab(job, arm)", "km(time, event, by=sex)"]
KNOWN = ["age", "sex", "job", "smoker"]


@pytest.fixture(scope="module")
def result():
    table = people()
    keep = [name for name in table if name not in KNOWN]
    return shoal.anonymize(table, k=5, quasi_identifiers=KNOWN, keep=keep, method="mondrian")


@pytest.fixture(scope="module")
def found(result):
    return shoal.analyses(result, QUESTIONS, m=4)


def estimates(found, analysis, way):
    return {one.name: one for one in found.estimates if (one.analysis, one.way) == (analysis, way)}


def test_the_figures_before_are_those_of_statsmodels(found):
    api = pytest.importorskip("statsmodels.formula.api")
    table = people()
    linear = api.ols("hours ~ age + sex + smoker", table.assign(smoker=table["smoker"].astype(str).str.lower())).fit()
    ours = estimates(found, QUESTIONS[0], "expected")
    assert set(ours) == set(linear.params.index)
    for name, one in ours.items():
        assert one.original == pytest.approx(linear.params[name])
        assert one.high - one.original == pytest.approx(1.96 * linear.bse[name])
    fit = api.logit("y ~ age", table.assign(y=(table["rich"] == "yes") * 1)).fit(disp=0)
    ours = estimates(found, QUESTIONS[1], "completed")
    assert ours["age"].original == pytest.approx(fit.params["age"], rel=1e-5)
    assert ours["age"].high - ours["age"].original == pytest.approx(1.96 * fit.bse["age"], rel=1e-4)


def test_survival_before_is_that_of_lifelines(found):
    fitters = pytest.importorskip("lifelines")
    table = people()
    for name, one in estimates(found, QUESTIONS[3], "midpoints").items():
        sex, _, at = name.partition(" at ")
        part = table[table["sex"] == sex]
        curve = fitters.KaplanMeierFitter().fit(part["time"], part["event"])
        assert one.original == pytest.approx(curve.predict(float(at)))


def test_shares_before_are_those_of_the_table(found):
    table = people()
    for name, one in estimates(found, "crosstab(job, arm)", "midpoints").items():
        job, arm = name.split(", ")
        assert one.original == pytest.approx(((table["job"] == job) & (table["arm"] == arm)).mean())


def test_each_way_is_there_and_most_figures_of_a_fine_release_are_kept(found):
    rows = found.overview()
    assert [(row["analysis"], row["way"]) for row in rows] == [
        (question, way) for question in QUESTIONS for way in ("midpoints", "expected", "completed")
    ]
    by = {(row["analysis"], row["way"]): row for row in rows}
    assert by[QUESTIONS[0], "expected"]["overlap"] > 0.6
    assert by["crosstab(job, arm)", "completed"]["overlap"] > by["crosstab(job, arm)", "midpoints"]["overlap"]


def test_an_exact_release_keeps_everything():
    table = people(60)
    twice = pd.concat([table[["age", "sex", "hours"]]] * 5, ignore_index=True)
    result = shoal.anonymize(
        twice, k=5, quasi_identifiers=["age", "sex"], keep=["hours"], method="mondrian", derived="warn"
    )
    found = shoal.analyses(result, ["hours ~ age + sex"], m=2)
    assert {one.verdict for one in found.estimates} == {"kept"}
    assert all(one.overlap == pytest.approx(1, abs=0.01) for one in found.estimates)


@pytest.mark.parametrize(
    ("before", "after", "withheld", "verdict"),
    [
        ((1, 3), (1.2, 3.1), False, "kept"),
        ((1, 3), (-3, -1), False, "other sign"),
        ((1, 3), (-1, 3), False, "no longer significant"),
        ((-1, 3), (1, 3), False, "significant only here"),
        ((1, 3), (2.9, 5), False, "moved"),
        ((1, 3), (1, 3), True, "withheld"),
        ((1, 3), (np.nan, np.nan), False, "not there"),
    ],
)
def test_a_verdict_says_what_became_of_a_figure(before, after, withheld, verdict):
    from shoal.evaluation.analyses import _overlap

    middle = [sum(one) / 2 for one in (before, after)]
    one = Estimate("a", "b", middle[0], *before, "completed", middle[1], *after, _overlap(*before, *after), withheld)
    assert one.verdict == verdict


def test_what_is_found_is_saved_for_the_holder_alone(found, tmp_path):
    for ending in (".html", ".md", ".json", ".svg"):
        path = found.save(tmp_path / f"analyses{ending}")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads((tmp_path / "analyses.json").read_text("utf-8"))["audience"] == "holder"
    for ending in (".html", ".md"):
        assert "for its holder, not for publication" in (tmp_path / f"analyses{ending}").read_text("utf-8")
    picture = (tmp_path / "analyses.svg").read_text("utf-8")
    assert picture.count("<circle") > 4 * len({one.name for one in found.estimates})
    with pytest.raises(DataError, match="Analyses are saved as"):
        found.save(tmp_path / "analyses.txt")


def test_questions_are_read():
    assert read_question("y ~ a + b") == Question("y ~ a + b", "linear", "y ~ a + b")
    assert read_question("y ~ a:b : logistic") == Question("y ~ a:b : logistic", "logistic", "y ~ a:b")
    assert read_question("crosstab(`a b`, c)").names == ("a b", "c")
    assert read_question("km(t, e)").names == ("t", "e")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_question("mean of age")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("hours ~ nothing", "no column 'nothing'"),
        ("job ~ age", "outcome"),
        ("hours ~ age : logistic", "values 0 and 1"),
        ("km(job, event)", "neither a number"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(result, question, message):
    with pytest.raises(DataError, match=message):
        shoal.analyses(result, [question], m=2)
