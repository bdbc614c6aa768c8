"""Measures of information lost that need no class column.

Certainty penalty and discernability follow Xu et al. (2006), ILoss and MD Sarrafi Aghdam & Sonehara (2016),
IL, PG and IPG Zhong (2012), SSE Domingo-Ferrer (2006).
A withheld record counts as a record of which every cell is suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from shoal.arrays import FloatArray
from shoal.encoding import CodedColumn, exponent_beyond_reach
from shoal.kernels.common.sums import row_sums_of_products, sum_of_products
from shoal.metrics.base import Metric, Outcome


@dataclass(frozen=True)
class Statistics:
    """Sums over the groups of a release, or of a fragment of it: all that the metrics of loss need. Those of fragments add up."""

    records: int
    groups: int
    suppressed: int
    penalty: FloatArray
    """The certainty penalty of each column, summed over records; a withheld one counts in full."""
    square_sizes: float
    iloss: float
    """The mean share of other values a cell may stand for, times records."""
    changed_cells: float
    il: float
    pg: float
    ipg: float
    """The measures of groups of the same names, summed over groups."""

    @classmethod
    def of(cls, outcome: Outcome) -> Statistics:
        """Return the sums of a grouped table."""
        extent, gain = np.asarray(outcome.cost.mean(axis=0), np.float64), 1.0 - 1.0 / outcome.size
        changed = row_sums_of_products(outcome.cost > 0, outcome.size).sum()
        return cls(
            records=outcome.table.records,
            groups=outcome.groups,
            suppressed=outcome.suppressed,
            penalty=np.asarray(row_sums_of_products(outcome.cost, outcome.size) + outcome.suppressed, np.float64),
            square_sizes=float((outcome.size**2).sum()),
            iloss=_values_shown(outcome),
            changed_cells=float(changed + outcome.suppressed * len(outcome.table.columns)),
            il=float(extent.sum()),
            pg=float(gain.sum()),
            ipg=float(((1.0 - extent) * gain).sum()),
        )

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(**{name: value + vars(other)[name] for name, value in vars(self).items()})

    def without_withheld(self, columns: Sequence[CodedColumn]) -> Statistics:
        """Return the sums over the released records only."""
        gone, domains = self.suppressed, np.array([max(len(column.values), 1) for column in columns])
        return replace(
            self,
            records=self.records - gone,
            suppressed=0,
            penalty=self.penalty - gone,
            iloss=self.iloss - gone * float(((domains - 1) / domains).mean()),
            changed_cells=self.changed_cells - gone * len(self.penalty),
        )

    def metrics(self, names: Sequence[str], weights: FloatArray, k: int) -> dict[str, Any]:
        """Return the metrics that follow from sums: all except sums of squares and the class metric."""
        by_column = self.penalty / max(self.records, 1)
        ncp, groups = sum_of_products(by_column, weights) / float(weights.sum()), max(self.groups, 1)
        return {
            "ncp": ncp,
            "ncp_total": sum_of_products(by_column, weights) * self.records,
            "utility": 1.0 - ncp,
            "dm": self.square_sizes + float(self.records) * self.suppressed,
            "c_avg": (self.records - self.suppressed) / (groups * k),
            "iloss": self.iloss / max(self.records, 1),
            "md": self.changed_cells,
            "il": self.il / groups,
            "pg": self.pg / groups,
            "ipg": self.ipg / groups,
            "ncp_by_column": dict(zip(names, by_column.tolist(), strict=True)),
            "groups": self.groups,
            "suppressed": self.suppressed,
        }


def combine(parts: Sequence[Statistics]) -> Statistics:
    """Return the sums of several fragments, added in the order given: floats then add up to the same digits."""
    return reduce(Statistics.__add__, parts)


def _values_shown(outcome: Outcome) -> float:
    """Return the sum over records of the mean over cells of (values a cell stands for - 1) / (values of the domain)."""
    loss, columns = np.empty(outcome.cost.shape), outcome.table.columns
    domains = np.array([max(len(column.values), 1) for column in columns], np.float64)
    for row, column in enumerate(columns):
        low, high = outcome.cover.low[row], outcome.cover.high[row]
        loss[row] = (column.kind.count_shown(column, low, high, outcome.cost[row]) - 1) / domains[row]
    withheld = outcome.suppressed * ((domains - 1) / domains).sum()
    return float(row_sums_of_products(loss, outcome.size).sum() + withheld) / max(len(domains), 1)


def ncp(outcome: Outcome) -> float:
    """Return the weighted certainty penalty as a share of the worst possible."""
    table = outcome.table
    return float(Statistics.of(outcome).metrics(table.names, table.weights, outcome.k)["ncp"])


def standardized_columns(outcome: Outcome) -> FloatArray:
    """Return the numeric columns with mean 0 and population standard deviation 1, (columns, n).

    A missing value counts as the column's mean; a constant column is all 0.
    """
    rows = []
    for codes, column in zip(outcome.table.codes, outcome.table.columns, strict=True):
        if column.position is None:
            continue
        exponent = exponent_beyond_reach(column.position)  # squares of huge numbers would be infinite
        values = np.append(np.ldexp(column.position, -exponent), np.nan)[codes]
        values = np.where(np.isnan(values), np.nanmean(values) if len(column.position) else 0.0, values)
        spread = values.std()
        rows.append((values - values.mean()) / (spread if spread > 0 else 1.0))
    return np.array(rows, np.float64).reshape(len(rows), outcome.table.records)


def sse(outcome: Outcome) -> float:
    """Return the squared distance of standardized numbers to their group's mean, summed over all records."""
    total = 0.0
    kept = outcome.labels >= 0
    labels = outcome.labels[kept]
    for values in standardized_columns(outcome):
        sums = np.bincount(labels, values[kept], outcome.groups)
        within = values[kept] - (sums / np.maximum(outcome.size, 1))[labels]
        total += float((within**2).sum() + (values[~kept] ** 2).sum())
    return total


def il_percent(outcome: Outcome) -> float:
    """Return SSE as a percentage of the total sum of squares."""
    total = float((standardized_columns(outcome) ** 2).sum())
    return 100.0 * sse(outcome) / total if total > 0 else 0.0


def loss_metrics(outcome: Outcome) -> dict[str, Any]:
    """Return every metric of ``LOSS_METRICS``, and the penalty by column."""
    table = outcome.table
    found = Statistics.of(outcome).metrics(table.names, table.weights, outcome.k)
    return found | {"sse": sse(outcome), "il_percent": il_percent(outcome)}


LOSS_METRICS = (
    Metric("ncp", "Information loss (NCP)", "lower", 0.0, 1.0, "share of the detail of all cells that is lost"),
    Metric("ncp_total", "Total NCP", "lower", 0.0, None, "weighted certainty penalty summed over records"),
    Metric("utility", "Utility", "higher", 1.0, 0.0, "1 - NCP"),
    Metric("dm", "Discernability", "lower", 0.0, None, "sum over records of the size of their group"),
    Metric("c_avg", "Mean group size ÷ k", "lower", 1.0, None, "1 when every group has exactly k records"),
    Metric("iloss", "ILoss", "lower", 0.0, 1.0, "mean share of other values a cell may stand for"),
    Metric("md", "Minimal distortion", "lower", 0.0, None, "number of cells that were changed"),
    Metric("il", "IL", "lower", 0.0, 1.0, "mean extent of a group"),
    Metric("pg", "PG", "higher", 1.0, 0.0, "mean of 1 - 1/size over groups"),
    Metric("ipg", "IPG", "higher", 1.0, 0.0, "mean of (1 - IL)·PG over groups"),
    Metric("sse", "SSE", "lower", 0.0, None, "squared distance of standardized numbers to the group mean"),
    Metric("il_percent", "IL %", "lower", 0.0, 100.0, "SSE as a percentage of the total sum of squares"),
)
