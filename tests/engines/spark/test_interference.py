"""What a release hides leaves no trace in what is public of a release on Spark; the long form is ``make fuzz``."""

from __future__ import annotations

import pytest

from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.fuzz.interference_engines import spark_differences

pytestmark = SPARKS_OWN_WARNINGS


@pytest.mark.parametrize("seed", [2, 121])
def test_pairs_that_differ_in_what_is_hidden_have_equal_rows_types_and_files(spark, seed):
    """One in a single task, one by the steps of large tables."""
    told, found = spark_differences([9, seed], spark)
    assert (told, found) == (told, [])
