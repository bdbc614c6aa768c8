"""Counting on Spark: every released combination lies in one partition as a whole, and is read anew there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.audit import AT_MOST, Audit, measure_attribute
from shoal.audit.recount import recount, refuse_failing_model, refuse_small_group
from shoal.audit.risk import measure_risk
from shoal.encoding import CodedTable
from shoal.engines.learning import Coding, learn_batch, make_coding, merge_learned
from shoal.privacy.base import PrivacyModel, bind_models
from shoal.spark.sessions import check_dataframe, collect
from shoal.spark.tasks import Batches, learn_rows, payload_batch
from shoal.validation import check_columns, check_names


class Counted(NamedTuple):
    """What one partition, or several, hold: whole groups only."""

    records: int
    sizes: Counter[int]
    """How many groups there are of each size."""
    sensitive: dict[str, dict[str, float]]
    """The worst group's measures of each sensitive column."""
    failing: dict[str, int]
    """Groups in which a model does not hold, by its name."""

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
        return Counted(self.records + other.records, self.sizes + other.sizes, worst, dict(failing))


def count_groups(
    batches: Batches, names: Sequence[str], sensitive: Sequence[str], coding: Coding, models: Sequence[PrivacyModel]
) -> Iterator[pa.RecordBatch]:
    """Count the groups of a partition and measure the models on them, against the totals of the whole table."""
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held)
    label = recount(table, names)
    groups = int(label.max()) + 1
    side = {
        name: replace(one, codes=coding.books[name].look_up(name, table.column(name)))
        for name, one in coding.attributes.items()
    }
    part = CodedTable(np.zeros((0, table.num_rows), np.int32), (), np.zeros(0), side)
    requirements = bind_models(models, part, sensitive)
    failing = {
        type(model).__name__: int(one.failing(label, groups).sum())
        for model, one in zip(models, requirements, strict=True)
    }
    measured = {name: measure_attribute(part.attributes[name], label, groups, requirements) for name in sensitive}
    yield payload_batch(Counted(table.num_rows, Counter(np.bincount(label).tolist()), measured, failing))


def count_release(
    data: Any, names: Sequence[str], sensitive: Sequence[str], coding: Coding, models: Sequence[PrivacyModel] = ()
) -> Counted:
    """Count a table by its combinations of values; one shuffle, nothing is collected but the counts."""
    rows = data.select(*dict.fromkeys([*names, *sensitive])).repartition(*names)
    found = collect(
        rows, count_groups, names=tuple(names), sensitive=tuple(sensitive), coding=coding, models=tuple(models)
    )
    nothing = Counted(0, Counter(), {}, {})
    return reduce(Counted.with_, found) if found else nothing


def audit_of(counted: Counted, names: Sequence[str]) -> Audit:
    """Return counts as an audit."""
    sizes = counted.sizes
    groups = sum(sizes.values())
    each = np.repeat(np.array(sorted(sizes), np.int64), [sizes[size] for size in sorted(sizes)])
    return Audit(
        records=counted.records,
        quasi_identifiers=tuple(names),
        k=min(sizes, default=0),
        groups=groups,
        mean_size=counted.records / groups if groups else math.nan,
        largest=max(sizes, default=0),
        unique=sizes.get(1, 0),
        sensitive=counted.sensitive,
        sizes=dict(sorted(sizes.items())),
        risk=measure_risk(each) if groups else None,
    )


def check_counted(counted: Counted, k: int) -> None:
    """Raise unless every combination occurs at least ``k`` times and every model holds."""
    refuse_small_group(min(counted.sizes, default=k), k)
    for name, groups in counted.failing.items():
        refuse_failing_model(name, groups)


def audit(data: Any, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()) -> Audit:
    """Count a DataFrame of Spark, whoever made it, to see what protection it has.

    Parameters
    ----------
    data
        A DataFrame of Spark.
    quasi_identifiers
        Columns an outsider may know.
    sensitive
        Columns whose values are measured in every group, against the whole table.

    Returns
    -------
    Audit
        As ``shoal.audit`` returns it; what needs all rows in one place (unique sets, estimates of a population) is left out.
    """
    data = check_dataframe(data, "shoal.spark.audit")
    names = check_names("audit", "quasi_identifiers", quasi_identifiers)
    protected = check_names("audit", "sensitive", sensitive)
    check_columns("a quasi-identifier", names, data.columns)
    check_columns("sensitive", protected, data.columns)
    learned = merge_learned(
        collect(data.select(*protected), learn_rows, names=protected)
        or [learn_batch(pa.table({name: pa.array([], pa.string()) for name in protected}), protected)]
    )
    coding = make_coding(learned, (), protected)
    return audit_of(count_release(data, names, protected, coding), names)
