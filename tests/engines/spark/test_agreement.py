"""Generated calls give the same rows on Spark as in memory, except where the table of exceptions says otherwise; and there they differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.engines.agreement import (
    EXCEPTIONS,
    Call,
    exception_of,
    frames_of,
    in_memory,
    on_spark,
    run,
    small,
    streamed,
    tried,
    try_call,
)
from tests.engines.spark.conftest import SPARKS_OWN_WARNINGS
from tests.engines.sweep import BASE, table_of

pytestmark = SPARKS_OWN_WARNINGS
PLAIN = BASE | {"k": 3, "quasi_identifiers": ["age", "blood"], "hierarchies": {"blood": "flat"}}


def test_memory_and_spark_agree_on_generated_calls(spark):
    said = []
    tally = run(13, range(14), spark, said.append)
    assert said == []
    assert tally["spark: same"] >= 7


@pytest.mark.parametrize(
    ("given", "records", "row"),
    [
        ({"method": "optimize", "person": "who"}, 700, 0),
        ({"method": "mondrian"}, 700, 1),
        ({"method": "k-member"}, 240, 2),
    ],
    ids=["persons", "mondrian", "ties"],
)
def test_an_exception_is_one(spark, tmp_path, given, records, row):
    """Not a promise: where this fails, the table of the documentation may be shorter."""
    call = Call(0, records, given["method"], PLAIN | given, shuffled=False)
    assert exception_of(call, "spark") is EXCEPTIONS[row]
    found = {engine: what for engine, what, _ in try_call(call, tmp_path, frames_of(spark))}
    assert found == {"stream": "same", "spark": "excepted"}
    assert exception_of(replace(call, method="optimize", given=PLAIN), "spark") is None


def test_where_persons_are_grouped_otherwise_on_spark_the_same_people_are_counted(spark, tmp_path):
    """The audit counts persons of each group in the released rows, by code that each engine has of its own."""
    call = Call(0, 700, "optimize", PLAIN | {"person": "who"}, shuffled=False)
    table = table_of(call.records)
    frame = frames_of(spark)[call.records]
    ways = (lambda: in_memory(call, table), lambda: streamed(call, table, tmp_path), lambda: on_spark(call, frame))
    with small():
        found = [tried(way) for way in ways]
    assert [(one.audit["records"], one.audit["persons"]) for one in found] == [(700, 50)] * 3
    assert min(one.audit["k"] for one in found) >= call.given["k"]
