"""An audit of a DataFrame of Spark: who made it does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.audit import Audit, audit_of_sizes, unique_sets
from shoal.encoding import HierarchyChoice, KindChoice, check_hierarchies
from shoal.engines.learning import Coding, learn_batch, make_coding, merge_learned
from shoal.errors import ColumnError, DataError, ParameterError
from shoal.spark.counting import Whose, count_release
from shoal.spark.sessions import check_dataframe, collect
from shoal.spark.tasks import CODE, COLUMN, OWNER, PEOPLE, Batches, learn_rows, melt_rows, payload_batch
from shoal.spark.whole import check_fits
from shoal.validation import check_columns, check_float, check_int, check_mapping, check_names


def audit(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    survey_weight: str | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    sampling_fraction: float | None = None,
    population: Any = None,
    unique_columns: int = 0,
) -> Audit:
    """Count a DataFrame of Spark, whoever made it, to see what protection it has; nothing but counts is collected.

    Parameters
    ----------
    data
        A DataFrame of Spark.
    quasi_identifiers
        Columns an outsider may know.
    sensitive
        Columns whose values are measured in every group, against the whole table.
    person, household
        The columns that say whose a record is: k, l, t and the risks then count people.
    survey_weight
        The column that says for how many people of the population a record stands.
    hierarchies, kinds
        For sensitive columns, as in ``shoal.audit``.
    sampling_fraction
        The share of the population that is in the table.
    population
        A DataFrame of the population with the same columns; gives the journalist's risk.
    unique_columns
        Look for the sets of up to this many quasi-identifiers by which records are alone; one task then gets these columns of all
        records, up to 2 million.

    Returns
    -------
    Audit
        As ``shoal.audit`` returns it.
    """
    data = check_dataframe(data, "shoal.spark.audit")
    names = check_names("audit", "quasi_identifiers", quasi_identifiers)
    protected = check_names("audit", "sensitive", sensitive)
    if not names:
        raise ParameterError("An audit needs at least one quasi-identifier. Got none.")
    check_columns("a quasi-identifier", names, data.columns)
    check_columns("sensitive", protected, data.columns)
    check_int("audit", "unique_columns", unique_columns, least=0)
    whose = _whose(data, names, person, household, survey_weight)
    if sampling_fraction is not None:
        check_float("audit", "sampling_fraction", sampling_fraction, least=0.0, above=True, most=1.0)
    if survey_weight is not None and (sampling_fraction is not None or population is not None):
        raise ParameterError(
            "The 'survey_weight' parameter of audit tells about the population, and so does another one. Give one of them."
        )
    numbers = _numbers_of(data, whose.owners)
    coding = _coding(data, protected, check_hierarchies("audit", hierarchies), check_mapping("audit", "kinds", kinds))
    if person is not None and protected:
        coding = _counted_by_person(data, coding, person)
    rows = data if population is None else _with_population(data, population, names)
    counted = count_release(rows, names, protected, coding, whose=whose)
    size, people = counted.sizes
    found = audit_of_sizes(
        names,
        size,
        sensitive=counted.sensitive,
        people=None if population is None else people.astype(np.int64),
        represented=None if survey_weight is None else people,
        sampling_fraction=sampling_fraction,
    )
    alone = _unique_sets(data, names, counted.records, unique_columns) if unique_columns else ()
    return replace(
        found,
        records=counted.records,
        persons=numbers.get("person"),
        households=numbers.get("household"),
        unique_sets=tuple(alone),
    )


def _whose(
    data: Any, names: Sequence[str], person: str | None, household: str | None, survey_weight: str | None
) -> Whose:
    whose = Whose(person, household, survey_weight)
    for unit, name in whose.owners.items():
        check_columns(f"the {unit} column", [name], data.columns)
        if name in names:
            raise ColumnError(f"The column {name!r} is both the {unit} and a quasi-identifier. Give it one role.")
    if survey_weight is not None:
        check_columns("the survey weight", [survey_weight], data.columns)
    return whose


def _coding(data: Any, protected: Sequence[str], hierarchies: Mapping[str, Any], kinds: Mapping[str, Any]) -> Coding:
    """Learn the sensitive columns."""
    none = learn_batch(pa.table({name: pa.array([], pa.string()) for name in protected}), protected)
    parts = collect(data.select(*protected), learn_rows, names=protected) if protected else []
    return make_coding(merge_learned(parts or [none]), (), protected, hierarchies=hierarchies, kinds=kinds)


def _counted_by_person(data: Any, coding: Coding, person: str) -> Coding:
    """Return totals that count each value once for each person who bears it; one job for all columns."""
    chosen = data.select(*coding.attributes, person)
    melted = chosen.mapInArrow(
        partial(melt_rows, coding=coding, person=person), f"{COLUMN} int, {CODE} int, {OWNER} string"
    )
    found = melted.distinct().groupBy(COLUMN, CODE).count().collect()
    totals = {name: np.zeros(one.cardinality, np.int64) for name, one in coding.attributes.items()}
    for row in found:
        totals[list(totals)[row[COLUMN]]][row[CODE]] = row["count"]
    side = {name: replace(one, total=totals[name]) for name, one in coding.attributes.items()}
    return replace(coding, attributes=side)


def _with_population(data: Any, population: Any, names: Sequence[str]) -> Any:
    """Return a table with the population beside it, marked; both by the text of their values."""
    from pyspark.sql import functions  # noqa: PLC0415

    people = check_dataframe(population, "The 'population' parameter of shoal.spark.audit")
    check_columns("a quasi-identifier of the population", names, people.columns)

    def as_text(rows: Any, *, outside: bool) -> Any:
        for name in names:
            rows = rows.withColumn(name, functions.col(name).cast("string"))
        return rows.withColumn(PEOPLE, functions.lit(outside))

    return as_text(data, outside=False).unionByName(
        as_text(people.select(*names), outside=True), allowMissingColumns=True
    )


def _numbers_of(data: Any, owners: Mapping[str, str]) -> dict[str, int]:
    """Return how many persons and households there are, in one job; refuse columns with holes."""
    from pyspark.sql import functions  # noqa: PLC0415

    if not owners:
        return {}
    wanted = [functions.count_distinct(functions.col(name)).alias(unit) for unit, name in owners.items()]
    wanted += [functions.count_if(functions.col(name).isNull()).alias(f"no {unit}") for unit, name in owners.items()]
    row = data.agg(*wanted).collect()[0]
    for unit, name in owners.items():
        if row[f"no {unit}"]:
            raise DataError(f"The {unit} column {name!r} is empty in {row[f'no {unit}']} records.")
    return {unit: int(row[unit]) for unit in owners}


def _unique_sets(data: Any, names: Sequence[str], records: int, largest: int) -> Sequence[Any]:
    check_fits(records, "'unique_columns'")
    found = collect(data.select(*names).repartition(1), look_for_unique_sets, names=tuple(names), largest=largest)
    return found[0] if found else []


def look_for_unique_sets(batches: Batches, names: Sequence[str], largest: int) -> Iterator[pa.RecordBatch]:
    """Find the sets of columns by which records are alone, in a table that comes to this task as a whole."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        yield payload_batch(unique_sets(pa.Table.from_batches(held), names, largest=largest))
