"""What is known of the population behind a table: counted, estimated, or by survey weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.audit.risk import estimate_uniqueness, individual_risk
from shoal.frames import Frame
from shoal.kernels.space.tuples import distinct_tuples
from shoal.privacy.people import open_people
from shoal.privacy.weights import represented
from shoal.recount.rows import read_anew
from shoal.recount.tuples import column_codes
from shoal.validation import check_columns

if TYPE_CHECKING:
    from shoal.audit.found import Audit


def represented_people(label: IntArray, weight: FloatArray, owners: Mapping[str, pa.ChunkedArray]) -> FloatArray:
    """Return how many people of the population each group represents; a person's records represent as many as their mean."""
    person = read_anew(owners["person"]) if "person" in owners else None
    return represented(label, int(label.max(initial=-1)) + 1, weight, person)


def at_least_present(people: FloatArray, size: LongArray) -> LongArray:
    """Return estimated numbers of people as whole numbers, at least those who are there."""
    return np.maximum(np.rint(people), size).astype(np.int64)


def with_survey_weights(found: Audit, size: LongArray, people: FloatArray) -> Audit:
    """Return an audit with the risks in the population, which follow from survey weights."""
    if found.risk is None:
        return found
    risk, count, represented = individual_risk(size, people), int(size.sum()), float(people.sum())
    return replace(
        found,
        represented=represented,
        risk=replace(
            found.risk, individual_highest=float(risk.max()), individual_mean=float((risk * size).sum() / count)
        ),
        population=tuple(estimate_uniqueness(size, min(count / max(represented, count), 1.0))),
    )


def estimated_people(size: LongArray, fraction: float | None) -> LongArray | None:
    """Return how many people of the population share each group's values, if only its share in the table is known."""
    return None if fraction is None else np.maximum(np.rint(size / fraction), size).astype(np.int64)


def people_sharing(
    frame: Frame, names: Sequence[str], population: Any, size: LongArray, fraction: float | None
) -> LongArray | None:
    """Return how many people of the population share each group's values, counted or estimated."""
    if population is None:
        return estimated_people(size, fraction)
    people = open_people(population)
    check_columns("a quasi-identifier of the population", names, people.names)
    n = frame.records
    both = pa.concat_tables(
        [pa.table({name: one.table.column(name).cast(pa.string()) for name in names}) for one in (frame, people)]
    )
    tuples = distinct_tuples(column_codes(both, names))
    there = np.bincount(tuples.label[n:], minlength=len(tuples.size))
    order = np.unique(distinct_tuples(column_codes(frame.table, names)).label, return_index=True)[1]
    return np.maximum(there[tuples.label[:n][order]], size).astype(np.int64)
