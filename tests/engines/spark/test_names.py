"""Columns on Spark whose names hold dots or backticks, or are words that Spark uses."""

from __future__ import annotations

import pytest

import shoal
import shoal.spark
from shoal.engines.spark.naming import quoted
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.spark.test_spark import on_spark, rows, rows_in_memory, rows_of
from tests.engines.tables import HIERARCHIES, people

pytestmark = [*SPARKS_OWN_WARNINGS, pytest.mark.usefixtures("small_fragments")]
NAMES = ["age.years", "height", "to`w.n", "count", "ton`gue", "ill.ness", "whose.nr"]
BY_HIERARCHY = {"to`w.n": HIERARCHIES["town"], "count": "flat", "ton`gue": "flat"}
RECIPE = {
    "k": 5,
    "effort": "fast",
    "quasi_identifiers": NAMES[:5],
    "sensitive": ["ill.ness"],
    "hierarchies": BY_HIERARCHY,
}


def both(spark, records):
    """Return a table, and the same as a DataFrame."""
    table = people(records)
    return table.rename_columns(NAMES), on_spark(spark, table).toDF(*NAMES)


def test_a_name_in_quotes_is_itself():
    assert [quoted(name) for name in ("age", "a.b", "a`b")] == ["`age`", "`a.b`", "`a``b`"]


@pytest.mark.parametrize(
    ("records", "roles"),
    [(200, {"keep": ["whose.nr"]}), (900, {"person": "whose.nr"})],
    ids=["one task", "fragments with persons"],
)
def test_any_name_is_released_saved_and_audited(spark, tmp_path, records, roles):
    table, data = both(spark, records)
    expected = shoal.anonymize(table, **RECIPE, **roles)
    with shoal.spark.anonymize(data, **RECIPE, **roles) as result:
        assert rows(result.data) == rows_in_memory(expected)
        result.save(str(tmp_path / "release"))
        asked = {"quasi_identifiers": NAMES[:5], "sensitive": ["ill.ness"]}
        found = shoal.spark.audit(spark.read.parquet(str(tmp_path / "release")), **asked)
        assert found.as_dict() == shoal.audit(expected.released, **asked).as_dict()


def test_persons_and_a_population_of_any_name_are_counted(spark):
    table, data = both(spark, 120)
    asked = {"quasi_identifiers": ["to`w.n", "count"], "sensitive": ["ill.ness"], "person": "whose.nr"}
    asked |= {"unique_columns": 2}
    found = shoal.spark.audit(data, population=data, **asked)
    assert found.as_dict() == shoal.audit(table, population=table, **asked).as_dict()


def test_any_name_is_recoded_by_a_map(spark):
    table, data = both(spark, 900)
    given = RECIPE | {"method": "datafly", "quasi_identifiers": NAMES[2:5], "max_suppression": 0.2}
    kept = NAMES[2:6]
    expected = shoal.anonymize(table.select(kept), **given)
    with shoal.spark.anonymize(data.select(*map(quoted, kept)), **given) as result:
        assert rows(result.data) == rows_in_memory(expected)
        with pytest.warns(shoal.errors.PrivacyWarning):
            recoded = expected.transform(table.select(kept)[:40], unseen="suppress")
        few = spark.createDataFrame(
            list(zip(*(column.to_pylist() for column in table.select(kept)[:40].columns), strict=True)),
            data.select(*map(quoted, kept)).schema,
        )
        assert rows(result.transform(few, unseen="suppress")) == rows_of(recoded)
