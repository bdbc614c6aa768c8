"""Rubin's rules: one result from the results on several completed tables.

Rubin (1987), *Multiple Imputation for Nonresponse in Surveys*, chapter 3: the variance of the mean estimate is the mean variance within
tables plus the variance between them. The fraction of missing information is the one of his equation 3.1.10.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from shoal_reader.errors import ReleaseError, TooLittleKnownWarning

_ESTIMATES = ("params", "params_")
_ERRORS = ("bse", "standard_errors_")
Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def pool(fits: Iterable[Any], *, most_missing: float = 0.2) -> pd.DataFrame:
    """Combine the results of one analysis on each completed table.

    Parameters
    ----------
    fits
        One result for each table: a fit of statsmodels or lifelines, a pair of estimate and standard error (numbers, arrays or Series),
        or a table with the columns ``estimate`` and ``error``.
    most_missing
        Estimates with a larger fraction of missing information are withheld, with a warning. Below 0.2, estimates from completions were
        on average 0.3 (k = 5) to 0.6 (k = 30) standard errors from those of the original table; above, up to ten. 1 shows all.

    Returns
    -------
    pandas.DataFrame
        By coefficient: estimate, its standard error, the 95 % interval, and the fraction of missing information.

    Examples
    --------
    >>> pooled = pool([(2.0, 0.1), (2.01, 0.1), (1.99, 0.1)])
    >>> pooled.round(3).to_dict("records")
    [{'estimate': 2.0, 'error': 0.101, 'low': 1.803, 'high': 2.197, 'missing_information': 0.013}]
    """
    results = [_result(fit) for fit in fits]
    if len(results) < 2:
        raise ReleaseError(
            "Pooling needs the results of at least two completed tables. Complete the release with m=20."
        )
    names = list(dict.fromkeys(name for estimates, _ in results for name in estimates.index))
    estimates = np.array([one.reindex(names).to_numpy(np.float64) for one, _ in results])
    errors = np.array([one.reindex(names).to_numpy(np.float64) for _, one in results])
    table = pd.DataFrame(_rubin(estimates, errors**2), index=pd.Index(names))
    return _withheld(table, most_missing)


def _rubin(
    estimates: npt.NDArray[np.float64], variances: npt.NDArray[np.float64]
) -> dict[str, npt.NDArray[np.float64]]:
    m = len(estimates)
    estimate, within, between = estimates.mean(axis=0), variances.mean(axis=0), estimates.var(axis=0, ddof=1)
    extra = (1 + 1 / m) * between
    total = within + extra
    with np.errstate(all="ignore"):
        ratio = np.where(within > 0, extra / within, np.where(extra > 0, np.inf, 0.0))
        freedom = np.where(ratio > 0, (m - 1) * (1 + 1 / ratio) ** 2, np.inf)
        missing = np.where(np.isinf(ratio), 1.0, (ratio + 2 / (freedom + 3)) / (ratio + 1))
    error = np.sqrt(total)
    reach = _t_quantile(freedom) * error
    return {
        "estimate": estimate,
        "error": error,
        "low": estimate - reach,
        "high": estimate + reach,
        "missing_information": np.where(ratio > 0, missing, 0.0),
    }


def _t_quantile(freedom: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the 97.5 % quantile of Student's t, by scipy or else by its expansion around the normal one."""
    try:
        from scipy.special import stdtrit  # noqa: PLC0415  (an extra)
    except ImportError:
        v = np.maximum(freedom, 2.0)
        z = Z
        terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return np.asarray(z + terms[0] / v + terms[1] / v**2 + terms[2] / v**3, np.float64)
    return np.where(np.isinf(freedom), Z, stdtrit(np.where(np.isinf(freedom), 1e6, freedom), 0.975))


def _withheld(table: pd.DataFrame, most_missing: float) -> pd.DataFrame:
    over = table["missing_information"] > most_missing
    if not over.any():
        return table
    listed = ", ".join(f"{name} ({share:.0%})" for name, share in table["missing_information"][over].items())
    told = f"Too much of the information about these estimates is missing from the release: {listed}."
    if over.all():
        raise ReleaseError(f"{told} Use bounds, or most_missing=1 to see what the model of the completions says.")
    warnings.warn(f"{told} They are withheld; most_missing=1 shows them.", TooLittleKnownWarning, stacklevel=3)
    table.loc[over, ["estimate", "error", "low", "high"]] = np.nan
    return table


def _result(fit: Any) -> tuple[pd.Series[Any], pd.Series[Any]]:
    if isinstance(fit, pd.DataFrame) and {"estimate", "error"} <= set(fit.columns):
        return fit["estimate"], fit["error"]
    if isinstance(fit, tuple) and len(fit) == 2:
        estimates, errors = map(_as_series, fit)
        return estimates, errors
    for estimate, error in zip(_ESTIMATES, _ERRORS, strict=True):
        if hasattr(fit, estimate) and hasattr(fit, error):
            return _as_series(getattr(fit, estimate)), _as_series(getattr(fit, error))
    raise ReleaseError(
        "A result to pool is a fit of statsmodels or lifelines, a pair (estimate, standard error), or a table with the columns "
        f"'estimate' and 'error'. Got {type(fit).__name__}."
    )


def _as_series(values: Any) -> pd.Series[Any]:
    if isinstance(values, pd.Series):
        return values
    if isinstance(values, Mapping):
        return pd.Series(dict(values))
    return pd.Series(np.atleast_1d(np.asarray(values, np.float64)))
