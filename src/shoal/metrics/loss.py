"""Measures of information lost that need no class column.

Certainty penalty and discernability follow Xu et al. (2006), ILoss and MD Sarrafi Aghdam & Sonehara (2016),
IL, PG and IPG Zhong (2012), SSE Domingo-Ferrer (2006).
A withheld record counts as a record of which every cell is suppressed.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray
from shoal.encoding import exponent_beyond_reach
from shoal.kernels.common.sums import row_sums_of_products, sum_of_products
from shoal.metrics.base import Metric, Outcome


def ncp_columns(outcome: Outcome) -> FloatArray:
    """Return each column's penalty, unweighted, as a share of the worst possible (0..1)."""
    total = row_sums_of_products(outcome.cost, outcome.size) + outcome.suppressed
    return np.asarray(total / max(outcome.table.records, 1), np.float64)


def ncp_by_column(outcome: Outcome) -> dict[str, float]:
    """Return each column's normalised certainty penalty, by name."""
    return dict(zip(outcome.table.names, (float(value) for value in ncp_columns(outcome)), strict=True))


def ncp_total(outcome: Outcome) -> float:
    """Return the weighted certainty penalty summed over all records."""
    return sum_of_products(ncp_columns(outcome), outcome.table.weights) * outcome.table.records


def ncp(outcome: Outcome) -> float:
    """Return the weighted certainty penalty as a share of the worst possible."""
    return sum_of_products(ncp_columns(outcome), outcome.table.weights) / float(outcome.table.weights.sum())


def utility(outcome: Outcome) -> float:
    """Return one minus the normalised certainty penalty."""
    return 1.0 - ncp(outcome)


def dm(outcome: Outcome) -> float:
    """Return the discernability penalty: each record pays its group's size, a withheld one the table's."""
    return float((outcome.size**2).sum() + outcome.table.records * outcome.suppressed)


def c_avg(outcome: Outcome) -> float:
    """Return the mean group size as a multiple of k."""
    return float(outcome.size.sum() / (max(outcome.groups, 1) * outcome.k))


def _values_covered(outcome: Outcome) -> FloatArray:
    """Return how many values of the column's domain each group's cell stands for, (m, g)."""
    covered = np.empty(outcome.cost.shape)
    for row, column in enumerate(outcome.table.columns):
        low, high = outcome.cover.low[row], outcome.cover.high[row]
        covered[row] = column.kind.count_shown(column, low, high, outcome.cost[row])
    return covered


def iloss(outcome: Outcome) -> float:
    """Return the mean over cells of (values covered - 1) / (values of the domain)."""
    domains = np.array([max(len(column.values), 1) for column in outcome.table.columns], np.float64)
    loss = (_values_covered(outcome) - 1) / domains[:, None]
    withheld = outcome.suppressed * ((domains - 1) / domains).sum()
    return float(row_sums_of_products(loss, outcome.size).sum() + withheld) / max(
        outcome.table.records * len(domains), 1
    )


def md(outcome: Outcome) -> float:
    """Return the number of cells that no longer show their value."""
    cells = row_sums_of_products(outcome.cost > 0, outcome.size).sum()
    return float(cells + outcome.suppressed * len(outcome.table.columns))


def il_of_groups(outcome: Outcome) -> FloatArray:
    """Return the mean extent of each group, every column scaled to 0..1."""
    return np.asarray(outcome.cost.mean(axis=0), np.float64)


def pg_of_groups(outcome: Outcome) -> FloatArray:
    """Return each group's privacy gain, 1 - 1/size."""
    return 1.0 - 1.0 / outcome.size


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if values.size else 0.0


def il(outcome: Outcome) -> float:
    """Return the mean information loss of the groups."""
    return _mean(il_of_groups(outcome))


def pg(outcome: Outcome) -> float:
    """Return the mean privacy gain of the groups."""
    return _mean(pg_of_groups(outcome))


def ipg(outcome: Outcome) -> float:
    """Return the mean of (1 - information loss) · privacy gain over the groups."""
    return _mean((1.0 - il_of_groups(outcome)) * pg_of_groups(outcome))


def standardised_columns(outcome: Outcome) -> FloatArray:
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
    """Return the squared distance of standardised numbers to their group's mean, summed over all records."""
    total = 0.0
    kept = outcome.labels >= 0
    labels = outcome.labels[kept]
    for values in standardised_columns(outcome):
        sums = np.bincount(labels, values[kept], outcome.groups)
        within = values[kept] - (sums / np.maximum(outcome.size, 1))[labels]
        total += float((within**2).sum() + (values[~kept] ** 2).sum())
    return total


def il_percent(outcome: Outcome) -> float:
    """Return SSE as a percentage of the total sum of squares."""
    total = float((standardised_columns(outcome) ** 2).sum())
    return 100.0 * sse(outcome) / total if total > 0 else 0.0


LOSS_METRICS = (
    Metric("ncp", "Information loss (NCP)", "lower", 0.0, 1.0, "share of the detail of all cells that is lost", ncp),
    Metric("ncp_total", "Total NCP", "lower", 0.0, None, "weighted certainty penalty summed over records", ncp_total),
    Metric("utility", "Utility", "higher", 1.0, 0.0, "1 - NCP", utility),
    Metric("dm", "Discernability", "lower", 0.0, None, "sum over records of the size of their group", dm),
    Metric("c_avg", "Mean group size ÷ k", "lower", 1.0, None, "1 when every group has exactly k records", c_avg),
    Metric("iloss", "ILoss", "lower", 0.0, 1.0, "mean share of other values a cell may stand for", iloss),
    Metric("md", "Minimal distortion", "lower", 0.0, None, "number of cells that were changed", md),
    Metric("il", "IL", "lower", 0.0, 1.0, "mean extent of a group", il),
    Metric("pg", "PG", "higher", 1.0, 0.0, "mean of 1 - 1/size over groups", pg),
    Metric("ipg", "IPG", "higher", 1.0, 0.0, "mean of (1 - IL)·PG over groups", ipg),
    Metric("sse", "SSE", "lower", 0.0, None, "squared distance of standardised numbers to the group mean", sse),
    Metric("il_percent", "IL %", "lower", 0.0, 100.0, "SSE as a percentage of the total sum of squares", il_percent),
)
