"""Habits of scikit-learn: parameters, clones, pipelines, pickles; and what is logged."""

from __future__ import annotations

import io
import logging

import joblib
import pandas as pd
import pytest
import sklearn.utils
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

import shoal

FRAME = pd.DataFrame({"age": [30, 31, 40, 41, 50, 51] * 4, "job": ["secretword", "cook"] * 12})


@pytest.fixture
def anonymizer():
    tree = shoal.Hierarchy.from_intervals(FRAME["age"], [10, 20])
    trees = {"age": tree, "job": "flat"}
    return shoal.Anonymizer(k=4, quasi_identifiers=["age", "job"], hierarchies=trees, method="datafly")


def test_a_clone_has_the_same_parameters_and_no_release(anonymizer):
    anonymizer.fit(FRAME)
    other = clone(anonymizer)
    assert other is not anonymizer
    assert other.get_params() == anonymizer.get_params()
    assert not hasattr(other, "result_")


def test_a_pipeline_releases_then_learns_and_recodes_new_records(anonymizer):
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    pipeline = Pipeline([("anonymize", anonymizer), ("encode", encoder)])
    made = pipeline.fit_transform(FRAME, [0, 1] * 12)
    assert made.shape[0] == 24
    with pytest.warns(shoal.errors.PrivacyWarning):  # two records cannot hide among each other
        assert pipeline.transform(FRAME.head(2)).shape == (2, made.shape[1])


def test_parameters_of_a_step_are_set_by_their_names(anonymizer):
    pipeline = Pipeline([("anonymize", anonymizer), ("encode", OneHotEncoder())])
    pipeline.set_params(anonymize__k=6)
    assert anonymizer.k == 6
    assert pipeline.get_params()["anonymize__k"] == 6


def test_no_target_is_needed(anonymizer):
    if not hasattr(sklearn.utils, "get_tags"):
        pytest.skip("does not apply: scikit-learn has tags since 1.6")
    assert not sklearn.utils.get_tags(anonymizer).target_tags.required


def test_a_method_that_recodes_locally_says_that_it_cannot_take_new_records():
    local = shoal.Anonymizer(k=4, quasi_identifiers=["age"], keep=["job"], method="mondrian")
    with pytest.raises(shoal.errors.ParameterError, match="There is no release yet"):
        local.transform(FRAME)
    released = local.fit_transform(FRAME)
    assert isinstance(released, pd.DataFrame)
    with pytest.raises(shoal.errors.ParameterError, match="does not recode a value alike everywhere"):
        local.transform(FRAME)


def test_joblib_carries_a_recipe_and_its_bar(anonymizer):
    anonymizer.set_params(progress=True)
    stream = io.BytesIO()
    joblib.dump(anonymizer, stream)
    stream.seek(0)
    again = joblib.load(stream)
    assert again.fit(FRAME).result_.data.equals(anonymizer.fit(FRAME).result_.data)


def test_the_log_tells_counts_and_no_cell(anonymizer, caplog, tmp_path):
    with caplog.at_level(logging.DEBUG, logger="shoal"):
        anonymizer.fit(FRAME).result_.save(tmp_path / "release.csv")
    assert "releasing 24 records by datafly with k = 4" in caplog.text
    assert "saved release.csv" in caplog.text
    assert "secretword" not in caplog.text


def test_nothing_is_logged_unless_asked_for(anonymizer, capsys):
    anonymizer.fit(FRAME)
    assert capsys.readouterr() == ("", "")
