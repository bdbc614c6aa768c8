"""Similarity-based clustering of Sarrafi Aghdam & Sonehara (2016): categories without a taxonomy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from shoal.errors import PrivacyError
from shoal.kernels.sbca import clustering as kernels
from shoal.kernels.sbca.contingency import build_contingency, count_values
from shoal.methods.base import Grouping, Method, MethodInfo, Task, most_withheld
from shoal.validation import check_choice

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_CHUNK = 20_000_000
"""Distances computed between two progress reports."""


@dataclass(frozen=True)
class SBCA(Method):
    """Take the first record and the k - 1 nearest to it, release them together, and go on with the rest.

    Numbers are as far apart as their difference is of the column's range. A value of a category column is the
    farther from the first record's, the more its share among comparable records differs; comparable are those
    that agree with the first record in the columns of lower cardinality, as long as k of them are left
    (sections 5 and 6 of the paper). No hierarchy is asked; one that is given serves the release only.

    Parameters
    ----------
    rest
        What becomes of the fewer than k records left at the end: ``"join"`` the last group, ``"nearest"``: each joins the group
        of the grouped record nearest to it, or ``"suppress"``.

    Notes
    -----
    If the paper leaves a choice: values equally similar keep their order, the first record's own value always
    leads; of records equally near the ones earlier in the sorted table are taken; cardinalities are those of the
    whole table throughout; a column's distance counts with its weight.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47, 48], "sex": ["f", "f", "f", "m", "m", "m", "m"]}
    >>> result = shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.SBCA(rest="nearest"))
    >>> result.groups.tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """

    rest: Literal["join", "nearest", "suppress"] = "join"

    info: ClassVar[MethodInfo] = MethodInfo(
        name="sbca",
        title="Similarity-based clustering",
        family="local",
        paper="Sarrafi Aghdam & Sonehara, Achieving High Data Utility K-Anonymization Using Similarity-Based Clustering Model (2016)",
        complexity="O(m n²/k)",
    )

    def __post_init__(self) -> None:
        check_choice("SBCA", "rest", self.rest, ("join", "nearest", "suppress"))

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        if self.rest == "suppress":
            _check_suppression(table.records, task)
        space, codes = table.space, np.ascontiguousarray(table.codes.T)
        contingency = build_contingency(space, table.codes, task.k)
        clusters = kernels.start(space, table.codes)
        present = np.concatenate(count_values(table.codes, space.cardinality))
        offset = np.concatenate([[0], np.cumsum(space.cardinality)]).astype(np.int64)
        groups = max(1, _CHUNK // max(table.codes.size, 1))
        # ends: each call makes at least one group of k records, or returns that fewer than k are left
        while not kernels.run(space, contingency, clusters, codes, present, offset, task.k, groups):
            task.progress(1.0 - clusters.counts[0] / table.records, "clustering")
        labels = clusters.label
        if self.rest == "join":
            labels[labels < 0] = clusters.counts[1] - 1
        elif self.rest == "nearest":
            contingency = build_contingency(space, table.codes, task.k)
            kernels.join_nearest(space, contingency, codes, present, offset, task.k, labels)
        return Grouping(labels)


def _check_suppression(records: int, task: Task) -> None:
    """Refuse to withhold more records than the task allows, before any work is done."""
    rest = records % task.k
    if rest > most_withheld(task.max_suppression, records):
        raise PrivacyError(
            f"SBCA with rest='suppress' would withhold {rest} of {records} records, "
            f"more than the allowed share of {task.max_suppression:g}.",
            hint=f"use rest='join', or allow max_suppression={math.ceil(1000 * rest / records) / 1000:g}.",
        )
