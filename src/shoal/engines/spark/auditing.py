"""An audit of any DataFrame of Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.audit import Audit, audit_of_sizes, unique_sets
from shoal.audit.parameters import check_asked
from shoal.encoding import HierarchyChoice, KindChoice
from shoal.engines.spark.bundles import Batches
from shoal.engines.spark.counting import count_release
from shoal.engines.spark.naming import all_quoted, quoted
from shoal.engines.spark.people import Whose, counted_by_person, numbers_of
from shoal.engines.spark.sessions import check_dataframe, collect
from shoal.engines.spark.tasks import PEOPLE, learn_rows, payload_batch
from shoal.engines.spark.whole import check_fits
from shoal.plan.coding import Coding, learn_batch, make_coding, merge_learned
from shoal.validation import check_columns


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
    """Count any DataFrame of Spark, to see what protection it has; only counts are collected.

    Parameters
    ----------
    data
        A DataFrame of Spark.
    quasi_identifiers, sensitive, person, household, survey_weight, hierarchies, kinds, sampling_fraction
        As in ``shoal.audit``.
    population
        A DataFrame of the population with the same columns; adds the journalist's risk.
    unique_columns
        Look for the sets of up to this many quasi-identifiers by which records are alone; one task then gets these columns of all
        records, up to 2 million.

    Returns
    -------
    Audit
        As ``shoal.audit`` returns it.
    """
    data = check_dataframe(data, "shoal.spark.audit")
    asked = check_asked(
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        person=person,
        household=household,
        survey_weight=survey_weight,
        hierarchies=hierarchies,
        kinds=kinds,
        sampling_fraction=sampling_fraction,
        population=population,
        unique_columns=unique_columns,
    )
    asked.check_columns(data.columns)
    if survey_weight is not None:
        check_columns("the survey weight", [survey_weight], data.columns)
    names, protected = asked.quasi_identifiers, asked.sensitive
    whose = Whose(person, household, survey_weight)
    numbers = numbers_of(data, asked.owners)
    coding = _coding(data, protected, asked.hierarchies, asked.kinds)
    if person is not None and protected:
        coding = counted_by_person(data, coding, person, numbers["person"])
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


def _coding(data: Any, protected: Sequence[str], hierarchies: Mapping[str, Any], kinds: Mapping[str, Any]) -> Coding:
    """Learn the sensitive columns."""
    none = learn_batch(pa.table({name: pa.array([], pa.string()) for name in protected}), protected)
    parts = collect(data.select(*all_quoted(protected)), learn_rows, names=protected) if protected else []
    return make_coding(merge_learned(parts or [none]), (), protected, hierarchies=hierarchies, kinds=kinds)


def _with_population(data: Any, population: Any, names: Sequence[str]) -> Any:
    """Return a table together with the population, whose rows are marked; both by the text of their values."""
    from pyspark.sql import functions  # noqa: PLC0415

    people = check_dataframe(population, "The 'population' parameter of shoal.spark.audit")
    check_columns("a quasi-identifier of the population", names, people.columns)

    def as_text(rows: Any, *, outside: bool) -> Any:
        for name in names:
            rows = rows.withColumn(name, functions.col(quoted(name)).cast("string"))
        return rows.withColumn(PEOPLE, functions.lit(outside))

    return as_text(data, outside=False).unionByName(
        as_text(people.select(*all_quoted(names)), outside=True), allowMissingColumns=True
    )


def _unique_sets(data: Any, names: Sequence[str], records: int, largest: int) -> Sequence[Any]:
    check_fits(records, "'unique_columns'")
    found = collect(
        data.select(*all_quoted(names)).repartition(1), look_for_unique_sets, names=tuple(names), largest=largest
    )
    return found[0] if found else []


def look_for_unique_sets(batches: Batches, names: Sequence[str], largest: int) -> Iterator[pa.RecordBatch]:
    """Find the sets of columns by which records are alone, in a table that comes to this task as a whole."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        yield payload_batch(unique_sets(pa.Table.from_batches(held), names, largest=largest))
