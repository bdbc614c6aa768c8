"""Executors are asked what they have before any work."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

import shoal.spark
from shoal._version import __version__
from shoal.engines.spark import probing
from shoal.errors import ParameterError
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.spark.test_spark import RECIPE, on_spark
from tests.engines.tables import people

pytestmark = SPARKS_OWN_WARNINGS
HAVE = {"shoal": __version__, "numba": "1", "numpy": "2", "pyarrow": "3", "folder": "yes"}


@pytest.mark.parametrize(
    ("lack", "sentence"),
    [
        ({"shoal": None}, "The Python of Spark's executors has no 'shoal'."),
        ({"numba": None}, "The Python of Spark's executors has no 'numba'."),
        ({"shoal": "0.0.1"}, "Executors have shoal 0.0.1, and the driver has"),
        ({"folder": None}, "Executors cannot write the folder for staging."),
    ],
)
def test_what_executors_lack_is_said_in_one_sentence(lack, sentence):
    probing._check(HAVE)
    with pytest.raises(ParameterError, match=sentence.replace(".", r"\.")):
        probing._check(HAVE | lack)


def test_what_spark_says_of_another_python_becomes_one_sentence():
    said = probing._explained("… 110 lines …\nModuleNotFoundError: No module named 'pyarrow'\n…")
    assert str(said).startswith("The Python of Spark's executors has no 'pyarrow'.")
    other = probing._explained(
        "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver"
    )
    assert "another version of Python than the driver" in str(other)
    assert probing._explained("no space left on device") is None


@pytest.mark.parametrize(
    ("master", "environment", "settings", "expected"),
    [
        ("local[2]", {}, {}, sys.executable),
        ("local[2]", {"PYSPARK_PYTHON": "theirs"}, {}, "python3"),
        ("local[2]", {}, {"spark.pyspark.python": "theirs"}, "python3"),
        ("yarn", {}, {}, "python3"),
    ],
)
def test_spark_on_this_machine_runs_the_python_of_this_process_unless_told_otherwise(
    monkeypatch, master, environment, settings, expected
):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    context = SimpleNamespace(pythonExec="python3")
    session = SimpleNamespace(conf={"spark.master": master} | settings, sparkContext=context)
    probing.take_own_python(session)
    assert context.pythonExec == expected


def test_a_python_without_shoal_is_named_before_any_work(spark, tmp_path, monkeypatch):
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    other.chmod(0o700)
    (tmp_path / "numba.py").write_text("raise ImportError('not here')\n")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(other))
    monkeypatch.setattr(probing, "_asked", set())
    monkeypatch.setattr(shoal.engines.spark.engine, "_work", lambda *_, **__: pytest.fail("work was begun"))
    (tmp_path / "staging").mkdir()
    with pytest.raises(ParameterError, match=r"The Python of Spark's executors has no '(shoal|numba)'"):
        shoal.spark.anonymize(on_spark(spark, people(60)), **RECIPE, staging=str(tmp_path / "staging"))
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_folder_for_staging_that_is_not_there_is_refused_before_any_work(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(shoal.engines.spark.engine, "_work", lambda *_, **__: pytest.fail("work was begun"))
    with pytest.raises(shoal.errors.FileError, match="cannot be made in the folder for staging"):
        shoal.spark.anonymize(on_spark(spark, people(60)), **RECIPE, staging=str(tmp_path / "none"))
