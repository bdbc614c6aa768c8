"""People on Spark: the person of each record, how many persons and households there are, and in which fragments enough of them are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.engines.spark.bundles import Batches
from shoal.engines.spark.naming import all_quoted, map_in_arrow, quoted
from shoal.errors import DataError
from shoal.plan.coding import Coding
from shoal.plan.cuts import Tree
from shoal.plan.fragments import join_leaves

COLUMN, CODE, OWNER = "shoal_column", "shoal_code", "shoal_owner"
"""Columns of a table that holds one row a cell."""
LEAF = "shoal_leaf"
OWNERS = {"person": "shoal_person", "household": "shoal_household"}
"""Columns that say by a number, under a secret of the release, whose a staged row is; nobody who reads a release sees them."""


class Whose(NamedTuple):
    """The columns that identify the person and household of a record, and its survey weight."""

    person: str | None = None
    household: str | None = None
    survey_weight: str | None = None

    @property
    def columns(self) -> list[str]:
        """Those that are named."""
        return [name for name in self if name is not None]

    @property
    def owners(self) -> dict[str, str]:
        """The columns of persons and households."""
        named = {"person": self.person, "household": self.household}
        return {unit: name for unit, name in named.items() if name is not None}


def numbers_of(data: Any, owners: Mapping[str, str]) -> dict[str, int]:
    """Return how many persons and households there are, in one job; refuse columns with holes."""
    from pyspark.sql import functions  # noqa: PLC0415

    if not owners:
        return {}
    wanted = [functions.count_distinct(functions.col(quoted(name))).alias(unit) for unit, name in owners.items()]
    wanted += [
        functions.count_if(functions.col(quoted(name)).isNull()).alias(f"no {unit}") for unit, name in owners.items()
    ]
    row = data.agg(*wanted).collect()[0]
    for unit, name in owners.items():
        if row[f"no {unit}"]:
            raise DataError(f"The {unit} column {name!r} is empty in {row[f'no {unit}']} records.")
    return {unit: int(row[unit]) for unit in owners}


def counted_by_person(data: Any, coding: Coding, person: str, people: int) -> Coding:
    """Return totals that count each value once for each of the ``people`` who has it; one job for all columns."""
    chosen = data.select(*all_quoted([*coding.attributes, person]))
    schema = f"{COLUMN} int, {CODE} int, {OWNER} string"
    melted = map_in_arrow(chosen, partial(melt_rows, coding=coding, person=person), schema)
    found = melted.distinct().groupBy(COLUMN, CODE).count().collect()
    totals = {name: np.zeros(one.cardinality, np.int64) for name, one in coding.attributes.items()}
    for row in found:
        totals[list(totals)[row[COLUMN]]][row[CODE]] = row["count"]
    side = {name: replace(one, total=totals[name], people=people) for name, one in coding.attributes.items()}
    return replace(coding, attributes=side)


def with_owners(data: Any, owners: Mapping[str, str], secret: int) -> Any:
    """Return a table with a number for the person or household of each record, equal if the column of the person or household is equal."""
    from pyspark.sql import functions  # noqa: PLC0415

    for unit, name in owners.items():
        data = data.withColumn(OWNERS[unit], functions.xxhash64(functions.lit(secret), functions.col(quoted(name))))
    return data


def fragments_with_enough(
    owned: Any, coding: Coding, tree: Tree, records: LongArray, units: Sequence[str], least: int
) -> IntArray:
    """Return the fragment of each leaf such that each has ``least`` persons and households, if the table names them.

    Numbers of people in leaves do not add up. But leaves that have enough by themselves have them in any company, and of the others the
    few people are looked at themselves.
    """
    from pyspark.sql import functions  # noqa: PLC0415

    names = [OWNERS[unit] for unit in units]
    schema = ", ".join([f"{LEAF} int", *(f"{name} long" for name in names)])
    pairs = map_in_arrow(owned, partial(find_leaves, coding=coding, tree=tree, owners=names), schema)
    counts = [functions.count_distinct(functions.col(name)).alias(name) for name in names]
    strong = {
        (row[LEAF], name) for row in pairs.groupBy(LEAF).agg(*counts).collect() for name in names if row[name] >= least
    }
    weak = [leaf for leaf in range(tree.leaves) if any((leaf, name) not in strong for name in names)]
    few: dict[tuple[int, str], set[int]] = {}
    for row in pairs.where(functions.col(LEAF).isin(weak)).distinct().collect() if weak else ():
        for name in names:
            few.setdefault((row[LEAF], name), set()).add(row[name])

    def stands(leaves: Sequence[int]) -> bool:
        return all(
            any((leaf, name) in strong for leaf in leaves)
            or len(set().union(*(few.get((leaf, name), set()) for leaf in leaves))) >= least
            for name in names
        )

    return join_leaves(tree, records, stands)


# --- on an executor ----------------------------------------------------------------------------------------------


def melt_rows(batches: Batches, coding: Coding, person: str) -> Iterator[pa.RecordBatch]:
    """Return each sensitive cell as a row: its column, its code, and whose it is."""
    for batch in batches:
        owner = pa.array([None if one is None else str(one) for one in batch.column(person).to_pylist()], pa.string())
        for number, name in enumerate(coding.attributes):
            code = coding.books[name].look_up(name, batch.column(name))
            column = pa.array(np.full(batch.num_rows, number, np.int32))
            yield pa.RecordBatch.from_pydict({COLUMN: column, CODE: pa.array(code), OWNER: owner})


def find_leaves(batches: Batches, coding: Coding, tree: Tree, owners: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Return the leaf of each record, and whose it is."""
    for batch in batches:
        leaf = tree.assign(coding.code(batch).codes).astype(np.int32)
        yield pa.RecordBatch.from_pydict({LEAF: pa.array(leaf), **{name: batch.column(name) for name in owners}})
