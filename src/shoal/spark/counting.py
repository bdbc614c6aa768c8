"""Counting on Spark: every released combination lies in one partition as a whole, and is read anew there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.audit import AT_MOST, Audit, audit_of_sizes, measure_attribute, represented_people
from shoal.audit.recount import count_owners, recount, refuse_failing_model, refuse_small_group
from shoal.encoding import CodedTable, encode_unit, survey_weights
from shoal.engines.learning import Coding
from shoal.frames import to_frame
from shoal.privacy.base import PrivacyModel, bind_models
from shoal.spark.sessions import collect
from shoal.spark.tasks import PEOPLE, Batches, payload_batch


class Whose(NamedTuple):
    """The columns that say whose a record is, and for how many people it stands."""

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


class Counted(NamedTuple):
    """What one partition, or several, hold: whole groups only."""

    records: int
    groups: Counter[tuple[int, float]]
    """How many groups there are of each size, and with each number of people of the population who share its values; 0 where that is not known."""
    sensitive: dict[str, dict[str, float]]
    """The worst group's measures of each sensitive column."""
    failing: dict[str, int]
    """Groups in which a model does not hold, by its name."""

    @property
    def smallest(self) -> int | None:
        """The size of the smallest group; None where there is none."""
        return min((size for size, _ in self.groups), default=None)

    @property
    def sizes(self) -> tuple[LongArray, FloatArray]:
        """The size of each group, and the people who share its values."""
        pairs = sorted(self.groups)
        each = np.repeat(np.arange(len(pairs)), [self.groups[one] for one in pairs])
        size, people = (np.array([one[place] for one in pairs], np.float64)[each] for place in (0, 1))
        return size.astype(np.int64), people

    def with_(self, other: Counted) -> Counted:
        """Return both together."""
        worst = {
            name: {
                measure: (max if measure in AT_MOST else min)(value, other.sensitive[name][measure])
                for measure, value in measures.items()
            }
            for name, measures in self.sensitive.items()
        }
        failing = Counter(self.failing) + Counter(other.failing)
        return Counted(self.records + other.records, self.groups + other.groups, worst, dict(failing))


def count_groups(
    batches: Batches,
    names: Sequence[str],
    sensitive: Sequence[str],
    coding: Coding,
    models: Sequence[PrivacyModel],
    whose: Whose,
) -> Iterator[pa.RecordBatch]:
    """Count the groups of a partition and measure the models on them, against the totals of the whole table.

    Rows of a population, if there are any, come with the others and are marked.
    """
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    both = pa.Table.from_batches(held)
    table, label, people = _parted(both, recount(both, names))
    if not table.num_rows:
        return
    groups = int(label.max()) + 1
    frame = to_frame(table.select([*whose.columns, *sensitive]))
    owners = {unit: table.column(name) for unit, name in whose.owners.items()}
    persons = encode_unit(frame, "person", whose.person) if whose.person is not None else None
    side = {
        name: replace(one, codes=coding.books[name].look_up(name, table.column(name)), person=persons)
        for name, one in coding.attributes.items()
    }
    part = CodedTable(np.zeros((0, table.num_rows), np.int32), (), np.zeros(0), side)
    requirements = bind_models(models, part, sensitive)
    failing = {
        type(model).__name__: int(one.failing(label, groups).sum())
        for model, one in zip(models, requirements, strict=True)
    }
    measured = {name: measure_attribute(part.attributes[name], label, groups, requirements) for name in sensitive}
    counts = [count_owners(label, column) for column in owners.values()]
    size = np.minimum.reduce(counts) if counts else np.bincount(label)
    if whose.survey_weight is not None:
        people = represented_people(label, survey_weights(frame, whose.survey_weight), owners)
    pairs = Counter(zip(size.tolist(), people.tolist(), strict=True))
    yield payload_batch(Counted(table.num_rows, pairs, measured, failing))


def _parted(both: pa.Table, label: IntArray) -> tuple[pa.Table, IntArray, FloatArray]:
    """Return the rows of the table, their groups numbered without gaps, and how many rows of the population each group has."""
    if PEOPLE not in both.column_names:
        return both, label, np.zeros(int(label.max()) + 1)
    outside = np.asarray(both.column(PEOPLE), np.bool_)
    here, numbered = np.unique(label[~outside], return_inverse=True)
    people = np.bincount(label[outside], minlength=int(label.max()) + 1)[here]
    return both.filter(pa.array(~outside)), numbered.reshape(-1).astype(np.int32), people.astype(np.float64)


def count_release(
    data: Any,
    names: Sequence[str],
    sensitive: Sequence[str],
    coding: Coding,
    models: Sequence[PrivacyModel] = (),
    whose: Whose = Whose(),  # noqa: B008  (never changes)
) -> Counted:
    """Count a table by its combinations of values; one shuffle, nothing is collected but the counts."""
    marked = [PEOPLE] if PEOPLE in data.columns else []
    rows = data.select(*dict.fromkeys([*names, *sensitive, *whose.columns, *marked])).repartition(*names)
    found = collect(
        rows,
        count_groups,
        names=tuple(names),
        sensitive=tuple(sensitive),
        coding=coding,
        models=tuple(models),
        whose=whose,
    )
    nothing = Counted(0, Counter(), {}, {})
    return reduce(Counted.with_, found) if found else nothing


def audit_of(counted: Counted, names: Sequence[str]) -> Audit:
    """Return counts as an audit."""
    return replace(audit_of_sizes(names, counted.sizes[0], sensitive=counted.sensitive), records=counted.records)


def check_counted(counted: Counted, k: int) -> None:
    """Raise unless every combination occurs at least ``k`` times and every model holds."""
    if counted.smallest is not None:
        refuse_small_group(counted.smallest, k)
    for name, groups in counted.failing.items():
        refuse_failing_model(name, groups)
