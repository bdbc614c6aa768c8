"""What has to see all records at once does, however large the table is, and the count of Spark asks whether it held."""

from __future__ import annotations

import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import shoal
import shoal.spark
from shoal.engines.spark import engine
from shoal.engines.spark.cancelling import ends_when_cancelled
from shoal.errors import CancelledError, PrivacyError
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.spark.test_spark import SCHEMA, on_spark
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

pytestmark = [*SPARKS_OWN_WARNINGS, pytest.mark.usefixtures("small_fragments")]
K = 4
HOUSES = {
    "k": K,
    "quasi_identifiers": QUASI_IDENTIFIERS,
    "hierarchies": HIERARCHIES,
    "effort": "fast",
    "keep": ["note"],
}


def with_houses(records=900, each=2):
    return people(records).append_column("house", pa.array((np.arange(records) // each).astype(str)))


def spark_table(spark, table):
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return spark.createDataFrame(rows, f"{SCHEMA}, house string").repartition(3)


def fewest_companions(table, released):
    """Return in how many households' groups all groups of a household occur, of the household worst off."""
    house = dict(zip(table.column("note").to_pylist(), table.column("house").to_pylist(), strict=True))
    groups = {}
    for row in released:
        groups.setdefault(house[row["note"]], set()).add(tuple(row[name] for name in QUASI_IDENTIFIERS))
    return min(sum(own <= other for other in groups.values()) for own in groups.values())


def test_households_keep_their_companions_in_a_table_that_could_be_cut(spark):
    table = with_houses()
    with shoal.spark.anonymize(spark_table(spark, table).drop("illness"), **HOUSES, household="house") as result:
        assert fewest_companions(table, [row.asDict() for row in result.data.collect()]) >= K
        assert result.audit.households == 450


def test_the_count_of_spark_notices_households_that_were_parted(spark, monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "_why_whole", lambda _: None)
    data = spark_table(spark, with_houses()).drop("illness")
    with pytest.raises(PrivacyError, match="released rows all together fit fewer than 4 households"):
        shoal.spark.anonymize(data, **HOUSES, household="house", staging=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["datafly", "optimize"])
def test_a_model_on_a_population_is_kept_by_a_method_that_sees_the_whole_table(spark, method):
    names = ["town", "blood", "tongue"]
    given = {"k": K, "quasi_identifiers": names, "sensitive": ["illness"], "method": method, "max_suppression": 0.2}
    given |= {"hierarchies": HIERARCHIES | {"tongue": "flat"}, "models": [shoal.KMap(12, people(2000, 1))]}
    data = on_spark(spark, people(900)).drop("age", "height", "note")
    with shoal.spark.anonymize(data, **given) as result:
        assert result.details["fragments"] == 1
        assert result.audit.k >= K


def test_a_release_that_is_cancelled_already_is_not_begun(spark, tmp_path):
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        shoal.spark.anonymize(
            on_spark(spark, people(60)), **HOUSES, sensitive=["illness"], cancel=cancel, staging=str(tmp_path)
        )
    assert list(tmp_path.iterdir()) == []


def test_jobs_of_spark_end_when_somebody_cancels(spark):
    cancel = threading.Event()
    begun = spark.sparkContext.statusTracker()

    def cancel_once_begun():
        while not begun.getActiveJobsIds():
            time.sleep(0.05)
        cancel.set()

    other = threading.Thread(target=cancel_once_begun, daemon=True)
    other.start()
    with pytest.raises(CancelledError), ends_when_cancelled(spark, cancel):
        spark.range(2).mapInArrow(never_ends, "id long").collect()
    assert spark.range(3).count() == 3  # the session goes on


def never_ends(batches):
    for batch in batches:
        while True:
            time.sleep(0.05)
        yield batch
