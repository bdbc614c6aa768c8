"""Small mixed tables for the engines, with every kind of column and missing values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal.hierarchy import Hierarchy

QUASI_IDENTIFIERS = ["age", "height", "town", "blood", "tongue"]
HIERARCHIES = {
    "town": Hierarchy.from_dict({"north": ["a", "b", "c"], "south": {"coast": ["d", "e"], "hills": ["f"]}}),
    "blood": "flat",
}


def people(records: int, seed: int = 0) -> pa.Table:
    """Return a table of people: two columns of numbers, a hierarchy, a flat one, a set, a sensitive and a kept column."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 4, records)
    age = np.clip(draw.normal(20 + 15 * kind, 6), 0, 99).astype(np.int64)
    height = np.round(draw.normal(160 + 4 * kind, 8), 1)
    town = np.array(list("abcdef"))[(draw.integers(0, 3, records) + kind) % 6]
    blood = np.array(["A", "B", "0"])[draw.integers(0, 3, records)]
    tongue = np.array(["x", "y", "z", "w"])[np.where(draw.random(records) < 0.8, kind, draw.integers(0, 4, records))]
    illness = np.array(["flu", "gout", "none", "other"])[draw.integers(0, 4, records)]
    return pa.table(
        {
            "age": pa.array(age, mask=draw.random(records) < 0.02),
            "height": pa.array(height),
            "town": pa.array(town),
            "blood": pa.array(blood),
            "tongue": pa.array(tongue, mask=draw.random(records) < 0.02),
            "illness": pa.array(illness),
            "note": pa.array(np.arange(records).astype(str)),
        }
    )


def one_huge_tuple(records: int) -> pa.Table:
    """Return a table of which two thirds of the records are equal in all quasi-identifiers."""
    some = people(records)
    return some.take(pa.array(np.where(np.arange(records) % 3, 7, np.arange(records))))


def few_tuples(records: int) -> pa.Table:
    """Return a table of two dozen different records."""
    return people(24).take(pa.array(np.arange(records) % 24))
