"""Greedy k-member clustering (Byun, Kamra, Bertino, Li 2007), a baseline the literature compares with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.kernels.k_member import run
from shoal.kernels.optimize.state.groups import make_groups
from shoal.methods.base import Grouping, Method, MethodInfo, Task

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_VISITS = 20_000_000
"""Visits of records between two progress reports."""


@dataclass(frozen=True)
class KMember(Method):
    """Grow each group from the record farthest from the last seed, adding the record that costs least until it has k.

    Fewer than k records stay at the end; each joins the group whose total cost rises least. The cost is the weighted
    penalty of the group (the paper's information loss, which is the same sum over columns). The first seed
    is the record farthest from a random one; ties go to the record that comes first.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.KMember()).groups.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="k-member",
        title="Greedy k-member clustering",
        family="local",
        paper="Byun, Kamra, Bertino, Li 2007",
        complexity="O(m n²)",
    )

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        records, k = table.records, min(task.k, table.records)
        groups = make_groups(table.space, np.ascontiguousarray(table.codes.T), records // k + 1, 2 * k)
        pool = np.arange(records, dtype=np.int32)
        first = int(np.random.default_rng(task.seed).integers(records))
        state = np.array([records, 0, first], np.int64)
        rounds = max(1, _VISITS // (records * k))
        # ends: each call takes at least k records out of the pool, or says that fewer than k are left
        while not run(table.space, groups, pool, state, k, rounds):
            task.progress(1.0 - state[0] / records, "growing groups")
        return Grouping(groups.label)
