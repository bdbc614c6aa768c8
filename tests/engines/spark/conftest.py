"""A Spark of two cores on this machine, started once."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.engines.conftest import small_fragments

__all__ = ["QUICK_JAVA", "SPARKS_OWN_WARNINGS", "small_fragments", "spark"]

SPARKS_OWN_WARNINGS = [
    pytest.mark.filterwarnings(f"ignore:{said}")
    for said in (
        "PySpark does not yet fully support pandas:FutureWarning",  # 4.x whenever Arrow is used; shoal hands it no pandas
        "distutils Version classes are deprecated:DeprecationWarning",  # 3.5
        "unclosed <socket:ResourceWarning",  # 3.5 leaves the socket of each collected answer to the garbage collector
        "Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning",
    )
]

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java that starts quickly and does not polish code that runs for seconds; nor does Spark compile plans of small tables."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Return a session of Spark; it is stopped at the end."""
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java is installed; Spark needs it")
    folder = tmp_path_factory.mktemp("spark")
    settings = pytest.MonkeyPatch()
    settings.setenv("PYSPARK_PYTHON", sys.executable)  # executors run the Python of this environment
    settings.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={folder} {QUICK_JAVA}")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .getOrCreate()
    )
    yield session
    session.stop()
    settings.undo()
