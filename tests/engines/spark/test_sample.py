"""Tables with very many equal records, or of very few different ones, are cut on Spark as in memory."""

from __future__ import annotations

import pytest

import shoal
import shoal.spark
from tests.engines.conftest import small_sample
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.spark.test_spark import RECIPE, on_spark, rows, rows_in_memory
from tests.engines.tables import few_tuples, one_huge_tuple

__all__ = ["small_sample"]
pytestmark = [*SPARKS_OWN_WARNINGS, pytest.mark.usefixtures("small_fragments", "small_sample")]


@pytest.mark.parametrize("make", [one_huge_tuple, few_tuples])
def test_extreme_tables_are_cut_on_spark_as_in_memory(spark, make):
    table = make(900)
    expected = shoal.anonymize(table, **RECIPE)
    with shoal.spark.anonymize(on_spark(spark, table), **RECIPE) as result:
        assert result.details["fragments"] == expected.details["fragments"] > 1
        assert rows(result.data) == rows_in_memory(expected)
