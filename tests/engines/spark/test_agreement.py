"""Generated calls give the same rows on Spark as in memory, except where the table of exceptions says otherwise; and there they differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engines.agreement import EXCEPTIONS, Call, exception_of, frames_of, run, try_call
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.sweep import BASE

pytestmark = SPARKS_OWN_WARNINGS
PLAIN = BASE | {"k": 3, "quasi_identifiers": ["age", "blood"], "hierarchies": {"blood": "flat"}}


def test_memory_and_spark_agree_on_generated_calls(spark):
    said = []
    tally = run(13, range(14), spark, said.append)
    assert said == []
    assert tally["spark: same"] >= 7


@pytest.mark.parametrize(("method", "records", "row"), [("k-member", 240, 2), ("mondrian", 700, 1)])
def test_an_exception_is_one(spark, tmp_path, method, records, row):
    """Not a promise: where this fails, the table of the documentation may be shorter."""
    call = Call(0, records, method, PLAIN | {"method": method}, shuffled=False)
    assert exception_of(call, "spark") is EXCEPTIONS[row]
    found = {engine: what for engine, what, _ in try_call(call, tmp_path, frames_of(spark))}
    assert found == {"stream": "same", "spark": "excepted"}
    assert exception_of(replace(call, method="optimize"), "spark") is None
