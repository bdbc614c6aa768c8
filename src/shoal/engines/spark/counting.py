"""Counting on Spark: every released combination is in one partition as a whole, and is read again there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.audit import AT_MOST, Audit, audit_of_sizes, represented_people
from shoal.encoding import Unit, encode_unit, survey_weights
from shoal.engines.spark.bundles import BUNDLES, TO, Batches, brought_together, pack, unpack
from shoal.engines.spark.naming import all_quoted, map_in_arrow, quoted
from shoal.engines.spark.people import OWNERS, Whose
from shoal.engines.spark.sessions import collect, usual_tasks
from shoal.engines.spark.tasks import PEOPLE, payload_batch
from shoal.frames import to_frame
from shoal.plan.coding import Coding
from shoal.plan.judged import judge_column
from shoal.privacy.base import PrivacyModel
from shoal.recount.rows import check_companions, count_owners, recount, refuse_failing_model, refuse_small_group


class Counted(NamedTuple):
    """What one partition, or several, hold: whole groups only."""

    records: int
    groups: Counter[tuple[int, float]]
    """How many groups there are of each size, and with each number of people of the population who share its values; 0 if that is not known."""
    sensitive: dict[str, dict[str, float]]
    """The worst group's measures of each sensitive column."""
    failing: dict[str, int]
    """Groups in which a model does not hold, by its name."""

    @property
    def smallest(self) -> int | None:
        """The size of the smallest group; None if there is none."""
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
    """Count the groups of a partition and measure the models on them, against the totals of the whole table."""
    for _, table in unpack(batches):
        counted = _count(table, names, sensitive, coding, models, whose)
        if counted is not None:
            yield payload_batch(counted)


def _count(
    rows: pa.Table,
    names: Sequence[str],
    sensitive: Sequence[str],
    coding: Coding,
    models: Sequence[PrivacyModel],
    whose: Whose,
) -> Counted | None:
    """Count rows that are whole groups. Those of a population, if there are any, come with the others and are marked."""
    table, label, people = _parted(rows, recount(rows, names))
    if not table.num_rows:
        return None
    groups = int(label.max()) + 1
    frame = to_frame(table.select([*whose.columns, *sensitive]))
    owners = {unit: table.column(name) for unit, name in whose.owners.items()}
    persons = encode_unit(frame, "person", whose.person) if whose.person is not None else None
    judged = {}
    for name in sensitive:
        codes = coding.books[name].look_up(name, table.column(name))
        attribute = replace(coding.attributes[name], codes=codes, person=persons)
        judged[name] = judge_column(models, coding, attribute, label, groups)
    counts = [count_owners(label, column) for column in owners.values()]
    size = np.minimum.reduce(counts) if counts else np.bincount(label)
    if whose.survey_weight is not None:
        people = represented_people(label, survey_weights(frame, whose.survey_weight), owners)
    pairs = Counter(zip(size.tolist(), people.tolist(), strict=True))
    failing = sum((one.failing for one in judged.values()), Counter[str]())
    return Counted(table.num_rows, pairs, {name: one.measures for name, one in judged.items()}, dict(failing))


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
    rows = data.select(*all_quoted(dict.fromkeys([*names, *sensitive, *whose.columns, *marked])))
    found = collect(
        _by_combination(rows, names),
        count_groups,
        names=tuple(names),
        sensitive=tuple(sensitive),
        coding=coding,
        models=tuple(models),
        whose=whose,
    )
    nothing = Counted(0, Counter(), {}, {})
    return reduce(Counted.with_, found) if found else nothing


def _by_combination(rows: Any, names: Sequence[str]) -> Any:
    """Return bundles of rows, all rows with the same values in the same one's place."""
    from pyspark.sql import functions  # noqa: PLC0415

    tasks = usual_tasks(rows)
    number = functions.pmod(functions.xxhash64(*_as_read(rows, names)), functions.lit(tasks)).cast("int")
    return brought_together(map_in_arrow(rows.withColumn(TO, number), send_rows, BUNDLES), tasks)


def _as_read(rows: Any, names: Sequence[str]) -> list[Any]:
    """Return columns in which what reads the same is the same: no number is a missing value."""
    from pyspark.sql import functions  # noqa: PLC0415

    def one(name: str) -> Any:
        column = functions.col(quoted(name))
        floats = rows.schema[name].dataType.typeName() in {"float", "double"}
        return functions.when(~functions.isnan(column), column) if floats else column

    return [one(name) for name in names]


def send_rows(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Send rows where the column of numbers says."""
    yield from pack((np.asarray(batch.column(TO)), batch.drop_columns([TO])) for batch in batches)


def audit_of(counted: Counted, names: Sequence[str], people: Mapping[str, int] | None = None) -> Audit:
    """Return counts as an audit; ``people`` are the numbers of persons and households of the table."""
    found = audit_of_sizes(names, counted.sizes[0], sensitive=counted.sensitive)
    numbers = people or {}
    return replace(found, records=counted.records, persons=numbers.get("person"), households=numbers.get("household"))


def check_kept_together(released: Any, names: Sequence[str], unit: Unit, k: int) -> None:
    """Raise if the released rows of a person or household all together fit fewer than ``k`` persons or households.

    One task sees each pair of an owner and a released combination once, both as numbers.
    """
    owner = OWNERS[unit]
    pairs = _numbered_by_combination(released, names).select(TO, owner).distinct().repartition(1)
    collect(pairs, look_for_companions, unit=unit, k=k)


def _numbered_by_combination(rows: Any, names: Sequence[str]) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415

    return rows.withColumn(TO, functions.xxhash64(*_as_read(rows, names)))


def look_for_companions(batches: Batches, unit: Unit, k: int) -> Iterator[pa.RecordBatch]:
    """Raise if somebody keeps fewer than ``k`` companions, in pairs of combination and owner that come to this task as a whole."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        pairs = pa.Table.from_batches(held)
        label = np.unique(np.asarray(pairs.column(TO)), return_inverse=True)[1].reshape(-1).astype(np.int32)
        check_companions(label, pairs.column(OWNERS[unit]), k, unit)
    yield from ()


def check_counted(counted: Counted, k: int) -> None:
    """Raise unless every combination occurs at least ``k`` times and every model holds."""
    if counted.smallest is not None:
        refuse_small_group(counted.smallest, k)
    for name, groups in counted.failing.items():
        refuse_failing_model(name, groups)
