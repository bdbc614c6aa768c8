"""Measures of what a release lost, in one registry.

``loss`` holds the losses of groups, ``classification`` and ``query_error`` ask what analysts would, ``felt`` what a reader sees. Called by the
engines, the summary and the command line. A metric knows codes and boxes, and not the method that made them.
"""

from __future__ import annotations

from typing import Any

from shoal.metrics.base import Metric, Outcome
from shoal.metrics.classification import (
    ClassificationError,
    class_metric,
    classification_curve,
    classification_error,
    cm_by_column,
)
from shoal.metrics.loss import LOSS_METRICS, loss_metrics
from shoal.metrics.queries import Condition, Query, parse_query, read_queries
from shoal.metrics.query_error import QueryErrors, query_error
from shoal.metrics.random_queries import random_queries

REGISTRY: dict[str, Metric] = {metric.name: metric for metric in LOSS_METRICS}
"""Name → metric."""

__all__ = [
    "REGISTRY",
    "ClassificationError",
    "Condition",
    "Metric",
    "Outcome",
    "Query",
    "QueryErrors",
    "class_metric",
    "classification_curve",
    "classification_error",
    "measure",
    "parse_query",
    "query_error",
    "random_queries",
    "read_queries",
]


def measure(outcome: Outcome) -> dict[str, Any]:
    """Return every registered metric of an outcome, the penalty by column and the class metric by sensitive column."""
    found = loss_metrics(outcome)
    named = {name: found[name] for name in (*REGISTRY, "ncp_by_column")}
    return named | {
        "cm_by_column": cm_by_column(outcome),
        "groups": outcome.groups,
        "suppressed": outcome.suppressed,
    }
