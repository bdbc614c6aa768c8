"""A server of Spark Connect on this machine: the client has no Java in it, and still gives the rows that memory gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as papq
import pytest

import shoal
from tests.engines.spark.connect import COARSE, RECIPE
from tests.engines.tables import people

SOURCES = Path(shoal.__file__).parent / "engines" / "spark"


def rows(folder):
    table = papq.read_table(folder)
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def rows_in_memory(result):
    return Counter(zip(*(column.to_pylist() for column in result.released.columns), strict=True))


@pytest.mark.usefixtures("small_fragments")
def test_a_release_through_a_server_has_the_rows_of_one_in_memory_and_can_be_a_table(tmp_path):
    pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed")
    if int(pyspark.__version__.partition(".")[0]) < 4:
        pytest.skip("does not apply: Spark 3.5 brings no server of its own")
    for package in ("grpc", "grpc_status", "google.protobuf"):
        pytest.importorskip(package, reason="the packages of pyspark[connect] are not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java is installed; Spark needs it")
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-m", "tests.engines.spark.connect", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert found["session"] == "pyspark.sql.connect.session"
    assert found["fragments"] > 3
    assert found["staging"] == []
    assert found["tables"] == ["people_release"]
    expected = shoal.anonymize(people(900), **RECIPE)
    assert rows(tmp_path / "release") == rows_in_memory(expected)
    assert found["audit"]["k"] == expected.audit.k
    assert found["audit"]["records"] == 900 - expected.suppressed
    coarse = shoal.anonymize(people(900), **COARSE)
    assert rows(tmp_path / "coarse") == rows_in_memory(coarse)
    assert papq.read_table(tmp_path / "transformed").column_names == ["town", "blood"]


def test_nothing_reaches_past_the_dataframes_of_spark():
    """Spark Connect has no SparkContext, no RDDs and no Java objects; two modules ask first whether they talk to a server of it."""
    words = ("sparkContext", "SparkContext", ".rdd", "_jvm", "_jdf", "_jsparkSession", "pyspark.rdd")
    for source in SOURCES.glob("*.py"):
        text = source.read_text("utf-8")
        asked = {"cancelling.py": "far else session.sparkContext", "probing.py": "if not is_here(session)"}
        if source.name in asked:
            assert asked[source.name] in text
            text = text.replace("session.sparkContext", "", 1)
        assert not [word for word in words if word in text], source.name
