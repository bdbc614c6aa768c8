"""Tables on Spark: a DataFrame in, a DataFrame out. The code is in ``shoal.engines.spark``."""

from __future__ import annotations

from typing import Any

from shoal.api import Anonymizer
from shoal.engines.spark import SparkResult, audit
from shoal.engines.spark.engine import release

__all__ = ["SparkResult", "anonymize", "audit"]


def anonymize(data: Any, *, staging: str | None = None, report: bool = False, **parameters: Any) -> SparkResult:
    """Release a DataFrame of Spark in which every record hides among at least k.

    Parameters
    ----------
    data
        A DataFrame of Spark. It is read several times: put it on disk first if it is expensive to compute, or changes.
    staging
        A folder that every executor can write. The release is stored there, in its own subfolder, until it is counted, and as long as the
        result is used. Not needed if Spark runs on this machine alone.
    report
        Gather what ``SparkResult.report`` needs.
    **parameters
        Those of ``shoal.anonymize``. What cannot be done with a table of this size is refused in one sentence.

    Returns
    -------
    SparkResult
        The released DataFrame with its metrics and audit; ``save`` writes it.

    Raises
    ------
    ShoalError
        The table cannot be released as promised, or a parameter is wrong. Nothing is left in ``staging`` then.
    """
    return release(data, Anonymizer(**parameters).request, staging=staging, report=report)
