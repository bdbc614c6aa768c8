"""The two tables of the benchmark of large tables, made again from a seed.

``A`` is shaped like UCI Adult, eight columns by hierarchy. ``M`` is mixed: four columns of continuous numbers, two by hierarchy, one flat,
one released as a set, with missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

from shoal.datasets import adult_like
from shoal.hierarchy import Hierarchy

_TOWNS, _REGION = 400, 20
_TRADES, _SECTOR = 120, 10
_MISSING = 0.02


@dataclass(frozen=True)
class Sample:
    """Rows of a table, and how they are to be released."""

    table: pa.Table
    quasi_identifiers: list[str]
    sensitive: list[str]
    hierarchies: dict[str, Any]


def make(name: str, records: int, seed: int = 0) -> Sample:
    """Return so many rows of table ``A`` or ``M``."""
    return _adult(records, seed) if name == "A" else _mixed(records, seed)


PART = 1_000_000
"""Rows of a part on disk."""


def write_parts(name: str, records: int, folder: Path) -> Sample:
    """Write so many rows as a folder of Parquet files, each made from a seed of its own; return the last part."""
    for number, begin in enumerate(range(0, records, PART)):
        made = make(name, min(PART, records - begin), seed=number)
        papq.write_table(made.table, folder / f"part-{number:05}.parquet")
    return made


def _adult(records: int, seed: int) -> Sample:
    made = adult_like(records, seed)
    names = [name for name in made.table.column_names if name != "salary-class"]
    return Sample(made.table, names, ["salary-class"], dict(made.hierarchies))


def _mixed(records: int, seed: int) -> Sample:
    draw = np.random.default_rng([seed, records])
    kind = draw.integers(
        0, 8, records
    )  # people of one kind are alike in all columns, so that there is something to find
    age = np.round(np.clip(draw.normal(20 + 8 * kind, 6), 0, 100), 2)
    income = np.rint(np.exp(draw.normal(9.6 + 0.1 * kind + 0.01 * age, 0.2)))
    height = np.round(draw.normal(165 + 2 * (kind % 4), 5), 1)
    visits = np.round(draw.gamma(2.0 + 0.05 * age, 0.5), 2)
    town = (draw.geometric(0.6, records) + 50 * kind) % _TOWNS
    trade = (draw.geometric(0.5, records) + 15 * kind) % _TRADES
    blood = draw.choice(4, records, p=[0.7, 0.2, 0.07, 0.03])
    tongue = np.where(draw.random(records) < 0.9, kind, draw.integers(0, 12, records))
    illness = (draw.geometric(0.2, records) + kind) % 20

    def numbers(values: Any, number: int) -> pa.Array:
        lost = np.random.default_rng([seed, records, number]).random(records) < _MISSING
        return pa.array(values, mask=lost)

    def texts(values: Any, prefix: str, most: int, *, missing: int = 0) -> pa.Array:
        names = pa.array([f"{prefix}{number:03}" for number in range(most)])
        lost = np.random.default_rng([seed, records, missing]).random(records) < (_MISSING if missing else 0)
        return pa.DictionaryArray.from_arrays(pa.array(values.astype(np.int32), mask=lost), names).cast(pa.string())

    table = pa.table(
        {
            "age": numbers(age, 1),
            "income": numbers(income, 2),
            "height": numbers(height, 3),
            "visits": numbers(visits, 4),
            "town": texts(town, "t", _TOWNS),
            "trade": texts(trade, "j", _TRADES, missing=5),
            "blood": texts(blood, "b", 4),
            "tongue": texts(tongue, "l", 12, missing=6),
            "illness": texts(illness, "i", 20),
        }
    )
    hierarchies = {"town": _tree("t", _TOWNS, _REGION), "trade": _tree("j", _TRADES, _SECTOR), "blood": "flat"}
    return Sample(table, table.column_names[:-1], ["illness"], hierarchies)


def _tree(prefix: str, leaves: int, width: int) -> Hierarchy:
    """Return a hierarchy of two levels below the root, each node with about ``width`` leaves."""
    return Hierarchy.from_dict(
        {
            f"{prefix}-{begin}": [f"{prefix}{leaf:03}" for leaf in range(begin, begin + width)]
            for begin in range(0, leaves, width)
        }
    )
