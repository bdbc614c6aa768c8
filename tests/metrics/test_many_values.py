"""Nothing makes a table of groups × values: with as many values as records it would not fit in memory."""

from __future__ import annotations

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

import shoal
from shoal import attacks
from shoal.plan.fragments import count_leaves

RECORDS = 6_000


@contextmanager
def at_most(megabytes):
    """Fail if more memory than this is allocated at a time."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < megabytes * 1e6


def table():
    random = np.random.default_rng(1)
    return pa.table({"age": random.integers(0, 2_000, RECORDS), "pay": random.permutation(RECORDS)})


def release(original):
    return shoal.anonymize(original, k=2, quasi_identifiers=["age"], sensitive=["pay"], method="mondrian")


def test_a_release_and_its_class_metric_need_no_table_of_groups_and_values():
    release(table())  # compiles kernels, which takes memory
    with at_most(60):
        made = release(table())
    assert made.metrics["groups"] > RECORDS / 4
    assert made.metrics["cm_by_column"]["pay"] == 1 - made.metrics["groups"] / RECORDS


def test_an_intruder_who_guesses_values_needs_none_either():
    original = table()
    made = release(original)
    with at_most(60):
        found = attacks.homogeneity(original, made, ["age"], "pay", targets=RECORDS)
    assert 0.2 < found.success.share < 0.6
    assert found.figures["certain_and_right"] == 0


def test_leaves_count_only_the_values_that_occur():
    leaf, codes = np.arange(RECORDS, dtype=np.int32) % 1_000, np.arange(RECORDS, dtype=np.int32)
    with at_most(5):
        counts = count_leaves(leaf, 1_000, {"pay": (codes, RECORDS)})
        counts = counts + count_leaves(leaf, 1_000, {"pay": (codes, RECORDS)})
        held = counts.sensitive["pay"].of_leaves([3, 5])
    expected = np.zeros(RECORDS, np.int64)
    expected[(leaf == 3) | (leaf == 5)] = 2
    assert held.tolist() == expected.tolist()
    assert counts.records.tolist() == [12] * 1_000
