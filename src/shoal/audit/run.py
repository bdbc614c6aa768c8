"""The audit: the groups of any table counted, and what they promise measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.audit.found import Audit
from shoal.audit.in_database import count_in_database, is_in_database
from shoal.audit.parameters import check_asked
from shoal.audit.population import (
    at_least_present,
    estimated_people,
    people_sharing,
    represented_people,
    with_survey_weights,
)
from shoal.audit.promises import measure_attribute
from shoal.audit.risk import estimate_uniqueness, measure_risk
from shoal.audit.uniques import unique_sets
from shoal.encoding import (
    HierarchyChoice,
    KindChoice,
    encode_attribute,
    encode_unit,
    survey_weights,
)
from shoal.frames import Frame, refuse_nested, to_frame
from shoal.io.files import open_table
from shoal.io.source import ReadOptions, check_source
from shoal.kernels.space.tuples import Tuples
from shoal.recount.rows import count_owners, read_anew
from shoal.recount.tuples import count_tuples


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
    table: str | None = None,
    query: str | None = None,
) -> Audit:
    """Count the groups of a table and measure what they promise.

    Parameters
    ----------
    data
        A table, released or not, or the file or database it is in; cells are compared as they are. In a database the
        groups are counted by the database itself, and only counts travel.
    quasi_identifiers
        The columns that distinguish records.
    sensitive
        Columns of which l, t, α, β and δ are measured. t, β and δ compare each group with the whole of ``data``: in a
        release from which records were withheld, or any sample, that is not the original table, and its distance
        from there may be larger. ``Result.audit`` compares with the original.
    person
        Column that identifies the person a record belongs to. k, l, t and the risks then count people instead of records.
    household
        Column that identifies the household a record belongs to; the smaller of the two counts decides k.
    survey_weight
        Column with the number of people of the population that a record represents; adds the journalist's risk, individual risks and
        estimates of population uniqueness.
    hierarchies
        For sensitive columns whose distance in t is that of a hierarchy.
    kinds
        For sensitive columns whose type does not say it: ``"nominal"``, ``"numeric"``, ``"date"``, or a list of
        values from low to high.
    sampling_fraction
        The share of the population that is in the table; gives estimates of population uniqueness.
    population
        A table of the population with the same columns, or the path of one; gives the journalist's risk.
    unique_columns
        Look for the sets of up to this many quasi-identifiers by which records are alone; 0: do not.
    table, query
        In a database: the name of the table, or the query that gives the rows.

    Returns
    -------
    Audit
        ``k``, ``l``, ``t`` and the other measures that the table really has, sizes of groups and risks.

    Raises
    ------
    ParameterError
        No quasi-identifier is named, or a parameter is out of its range.
    ColumnError
        A column is not in the table.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [30, 30, 40, 40], "job": ["nurse", "nurse", "cook", "cook"], "ill": ["a", "b", "a", "a"]}
    >>> found = shoal.audit(people, quasi_identifiers=["age", "job"], sensitive=["ill"])
    >>> found.k, found.l, found.unique
    (2, 1, 0)
    """
    check_source("audit", data, table=table, query=query)
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

    def measure(frame: Frame, name: str, label: IntArray, groups: int) -> dict[str, float]:
        attribute = encode_attribute(frame, name, asked.hierarchies.get(name), asked.kinds.get(name))
        if person is not None:
            attribute = replace(attribute, person=encode_unit(frame, "person", person))
        return measure_attribute(attribute, label, groups)

    only_counts = population is None and not unique_columns and not asked.owners and survey_weight is None
    if only_counts and is_in_database(data):
        wanted = (asked.quasi_identifiers, asked.sensitive)
        counted = count_in_database(data, ReadOptions(table=table, query=query), *wanted)
        measures = {name: measure(rows, name, label, len(counted.size)) for name, rows, label in counted.sensitive}
        people = estimated_people(counted.size, sampling_fraction)
        return _assemble(counted.names, counted.size, measures, people, sampling_fraction)
    frame = open_table(data, table=table, query=query) if isinstance(data, (str, Path)) else to_frame(data)
    asked.check_columns(frame.names)
    names, others = asked.quasi_identifiers, asked.sensitive
    refuse_nested(frame, [*names, *others])
    owners = {unit: _owner_column(frame, unit, name) for unit, name in asked.owners.items()}
    tuples = count_tuples(frame.table, names)
    size = _sizes(tuples, owners)
    measures = {name: measure(frame, name, tuples.label, len(tuples.size)) for name in others}
    if survey_weight is not None:
        stands_for = represented_people(tuples.label, survey_weights(frame, survey_weight), owners)
        found = with_survey_weights(
            _assemble(names, size, measures, at_least_present(stands_for, size), None), size, stands_for
        )
    else:
        people = people_sharing(frame, names, population, size, sampling_fraction)
        found = _assemble(names, size, measures, people, sampling_fraction)
    found = replace(
        found, records=frame.records, persons=_number_of(owners, "person"), households=_number_of(owners, "household")
    )
    alone = tuple(unique_sets(frame, names, largest=unique_columns)) if unique_columns else ()
    return replace(found, unique_sets=alone)


def audit_owned(
    table: pa.Table,
    quasi_identifiers: Sequence[str],
    owners: Mapping[str, pa.ChunkedArray],
    weight: FloatArray | None = None,
) -> Audit:
    """Count the groups of a table whose rows belong to persons or households, or have survey weights, given apart from it."""
    names = tuple(quasi_identifiers)
    tuples = count_tuples(table, names)
    size = _sizes(tuples, owners)
    stands_for = None if weight is None else represented_people(tuples.label, weight, owners)
    found = _assemble(names, size, {}, None if stands_for is None else at_least_present(stands_for, size), None)
    if stands_for is not None:
        found = with_survey_weights(found, size, stands_for)
    return replace(
        found,
        records=table.num_rows,
        persons=_number_of(owners, "person"),
        households=_number_of(owners, "household"),
    )


def _owner_column(frame: Frame, unit: str, name: str) -> pa.ChunkedArray:
    """Return the person column, or raise an error that says what is wrong with it."""
    encode_unit(frame, "household" if unit == "household" else "person", name)
    return frame.table.column(name)


def _sizes(tuples: Tuples, owners: Mapping[str, pa.ChunkedArray]) -> LongArray:
    """Return the size of each group: its records, or the fewest of the persons and households they belong to."""
    counts = [count_owners(tuples.label, column) for column in owners.values()]
    sizes: LongArray = np.minimum.reduce(counts) if counts else tuples.size
    return sizes


def _number_of(owners: Mapping[str, pa.ChunkedArray], unit: str) -> int | None:
    """Return how many persons or households there are; None if no column names them."""
    return len(np.unique(read_anew(owners[unit]))) if unit in owners else None


def _assemble(
    names: tuple[str, ...],
    size: LongArray,
    measures: dict[str, dict[str, float]],
    people: LongArray | None,
    sampling_fraction: float | None,
) -> Audit:
    """Return what follows from the sizes of the groups and the measures of their sensitive values."""
    distinct, groups = np.unique(size, return_counts=True)
    return Audit(
        records=int(size.sum()),
        quasi_identifiers=names,
        k=int(size.min()) if len(size) else 0,
        groups=len(size),
        mean_size=float(size.mean()) if len(size) else 0.0,
        largest=int(size.max(initial=0)),
        unique=int((size == 1).sum()),
        sensitive=measures,
        sizes=dict(zip(distinct.tolist(), groups.tolist(), strict=True)),
        risk=measure_risk(size, people) if len(size) else None,
        population=tuple(estimate_uniqueness(size, sampling_fraction)) if sampling_fraction and len(size) else (),
    )


def audit_of_sizes(
    quasi_identifiers: Sequence[str],
    size: LongArray,
    *,
    sensitive: dict[str, dict[str, float]] | None = None,
    people: LongArray | None = None,
    represented: FloatArray | None = None,
    sampling_fraction: float | None = None,
) -> Audit:
    """Return the audit of a table of which only its groups are known: their sizes and what was measured on them.

    How many people of the population share each group's values is counted (``people``), follows from survey weights (``represented``), or is
    estimated by ``sampling_fraction``.
    """
    names, measures = tuple(quasi_identifiers), sensitive or {}
    if represented is not None:
        return with_survey_weights(
            _assemble(names, size, measures, at_least_present(represented, size), None), size, represented
        )
    shared = estimated_people(size, sampling_fraction) if people is None else np.maximum(people, size)
    return _assemble(names, size, measures, shared, sampling_fraction)
