"""Estimates of the analyses, each with a standard error, on tables that the reader has read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import FloatArray
from shoal.errors import DataError
from shoal.evaluation.questions import Question

if TYPE_CHECKING:
    import pandas as pd

    from shoal_reader import Release

_STEPS = 50
_CLOSE = 1e-8
_TIMES = (0.25, 0.5, 0.75)
"""Survival is estimated at these quantiles of the times in the original table."""


def linear(design: pd.DataFrame, outcome: pd.Series[Any]) -> pd.DataFrame:
    """Return ordinary least squares."""
    x, y = design.to_numpy(np.float64), outcome.to_numpy(np.float64)
    free = len(y) - x.shape[1]
    if free <= 0:
        raise DataError("A regression needs more records than coefficients.", hint="ask with fewer terms.")
    inverse = np.linalg.pinv(x.T @ x)
    found = inverse @ (x.T @ y)
    spread = float(((y - x @ found) ** 2).sum()) / free
    return _table(design.columns, found, np.sqrt(np.clip(np.diag(inverse) * spread, 0, None)))


def logistic(design: pd.DataFrame, outcome: pd.Series[Any]) -> pd.DataFrame:
    """Return the maximum likelihood estimates of a logistic regression, by Newton's method on standardized columns."""
    x, y = design.to_numpy(np.float64), outcome.to_numpy(np.float64)
    if not np.isin(y, (0.0, 1.0)).all():
        raise DataError("The outcome of a logistic regression has the values 0 and 1, or two texts.", hint="recode it.")
    scale = np.where(np.abs(x).max(axis=0, initial=0) > 0, np.sqrt((x**2).mean(axis=0)), 1.0)
    z, found = x / scale, np.zeros(x.shape[1])
    curve = np.eye(x.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(z @ found, -30, 30)))
        curve = (z * (chance * (1 - chance))[:, None]).T @ z + 1e-9 * np.eye(z.shape[1])
        step = np.linalg.solve(curve, z.T @ (y - chance))
        found = found + step
        if np.abs(step).max() < _CLOSE:
            break
    errors = np.sqrt(np.clip(np.diag(np.linalg.inv(curve)), 0, None))
    return _table(design.columns, found / scale, errors / scale)


def model(question: Question, release: Release) -> pd.DataFrame:
    """Return the coefficients of a regression, its regressors averaged over cells."""
    outcome, design = release.expected(question.formula)
    return (logistic if question.kind == "logistic" else linear)(design, outcome)


def cross_table(question: Question, release: Release) -> pd.DataFrame:
    """Return the share of each combination of two columns."""
    counts = release.crosstab(*question.names)
    total = float(counts.to_numpy().sum()) or 1.0
    shares = (counts / total).stack()
    labels = [f"{row}, {column}" for row, column in shares.index]
    values = shares.to_numpy(np.float64)
    return _table(labels, values, np.sqrt(values * (1 - values) / total))


def survival(question: Question, release: Release, times: FloatArray) -> pd.DataFrame:
    """Return Kaplan-Meier estimates by group at some times, with Greenwood's standard errors."""
    time, event = (_numbers(release, name) for name in question.names[:2])
    known = np.isfinite(time) & np.isfinite(event)
    labels, found, errors = [], [], []
    for group, weights in _weights(question, release):
        for one in times:
            share, error = _kaplan_meier(time[known], event[known] > 0, weights[known], one)
            labels.append(f"{group} at {one:g}" if group else f"at {one:g}")
            found.append(share)
            errors.append(error)
    return _table(labels, np.array(found), np.array(errors))


def times_of(question: Question, original: Release) -> FloatArray:
    """Return the times at which survival is estimated."""
    time = _numbers(original, question.names[0])
    return np.unique(np.nanquantile(time, _TIMES, method="nearest"))


def estimator(question: Question, original: Release) -> Callable[[Release], pd.DataFrame]:
    """Return the function that answers a question on a table."""
    if question.kind == "crosstab":
        return lambda release: cross_table(question, release)
    if question.kind == "km":
        times = times_of(question, original)
        return lambda release: survival(question, release, times)
    return lambda release: model(question, release)


def _kaplan_meier(time: FloatArray, event: Any, weights: FloatArray, at: float) -> tuple[float, float]:
    order = np.argsort(time, kind="stable")
    time, event, weights = time[order], event[order], weights[order]
    distinct, first = np.unique(time, return_index=True)
    risk = weights.sum() - np.r_[0.0, np.cumsum(weights)][first]
    deaths = np.add.reduceat(weights * event, first) if len(first) else np.zeros(0)
    inside = (distinct <= at) & (risk > 0)
    share = float(np.prod(1 - deaths[inside] / risk[inside]))
    left = risk[inside] - deaths[inside]
    terms = np.divide(deaths[inside], risk[inside] * left, out=np.zeros(int(inside.sum())), where=left > 0)
    return share, share * float(np.sqrt(terms.sum()))


def _weights(question: Question, release: Release) -> list[tuple[str, FloatArray]]:
    """Return each group with the share of each record in it."""
    if len(question.names) < 3:
        return [("", np.ones(release.records))]
    shares = release.shares(question.names[2])
    return [(str(value), shares[value].to_numpy(np.float64)) for value in shares]


def _numbers(release: Release, name: str) -> FloatArray:
    column = release.column(name)
    if column.measured:
        return np.where(column.missing, np.nan, column.midpoints)[column.which]
    if len(column.values) == 2:  # the second of two values is the event
        return np.where(column.missing, np.nan, column.shares[:, 1])[column.which]
    raise DataError(f"The column {name!r} is neither a number nor one of two values.", hint="recode it before.")


def _table(names: Any, estimates: FloatArray, errors: FloatArray) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415  (an extra)

    return pd.DataFrame({"estimate": estimates, "error": errors}, index=pd.Index([str(name) for name in names]))
