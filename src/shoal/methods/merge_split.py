"""Merge & Split of Zhong (2012): groups that balance privacy gained against information lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.kernels import merge_split as kernels
from shoal.kernels.search.record_tree import build_tree
from shoal.methods.base import Grouping, Method, MethodInfo, Task
from shoal.validation import check_int

if TYPE_CHECKING:
    from shoal.encoding import CodedTable

_CHUNK = 2000
"""Records grouped, about, between two progress reports."""


@dataclass(frozen=True)
class MergeSplit(Method):
    """Grow a group by the record that keeps its IPG highest, then split off the records without which it is higher.

    Parameters
    ----------
    grow
        True: a group of k goes on merging while its IPG rises, up to 2k - 1 records (2k could be two groups), and then gives records
        back. False: it ends at k, which loses less information and has the lower IPG.
    utility, privacy
        How often 1 - IL and PG enter the quality of a group: (1 - IL)^utility · PG^privacy. With 1 and 1 it is the slides' IPG, which
        on uniform data is highest near 16 records whatever k is. A larger ``utility`` keeps groups narrower, a larger ``privacy`` lets them grow.

    Notes
    -----
    IPG = (1 - IL)·PG, where IL is the group's weighted mean extent over the columns (0..1) and PG = 1 - 1/size.
    A sweep from the corner of small numbers and rare categories selects the free record that begins a group. It merges
    until it has k records and, with ``grow``, goes on while IPG rises; then it gives back, one at a time, the record without which IPG is highest, as long as IPG rises and k stay. The fewer than k
    records left at the end join the groups whose IPG falls least, so a few groups may be larger than 2k - 1, up to 3k - 2.

    What the slides leave open: a group merges until it is complete, because single merges in turns let IPG
    pair small groups with large ones far away (mean IL 0.40 instead of 0.10 on their uniform table at
    k = 10). Their pseudocode never mentions k. Ending at k exactly gives the sizes "close to k" they report on uniform data and leaves
    nothing to split; going on while IPG rises gives the flexible sizes they report on other data. The record a group began with is not split off again: the sweep has passed it. Nor is one that was
    split off k times. Every round keeps k records, so there are at most n / k rounds.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"], method=shoal.MergeSplit(grow=False)).groups.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    grow: bool = True
    utility: int = 1
    privacy: int = 1

    info: ClassVar[MethodInfo] = MethodInfo(
        name="merge-split",
        title="Merge & Split",
        family="local",
        paper="Zhong, Utility-enhanced k-Anonymity Algorithm for Non-Uniform Datasets (ISSI 2012)",
        complexity="O(m n²) at worst; on Adult about linear in n",
    )

    def __post_init__(self) -> None:
        check_int("MergeSplit", "utility", self.utility, least=1)
        check_int("MergeSplit", "privacy", self.privacy, least=1)

    def run(self, table: CodedTable, task: Task) -> Grouping:
        """Group the records of ``table``."""
        space, codes, k = table.space, table.codes, task.k
        most = 2 * k - 1 if self.grow else k
        merge = kernels.start(space, codes, k, self.utility, self.privacy)
        tree = build_tree(space, codes, np.arange(table.records, dtype=np.int32))
        # ends: each call makes at least one group of k records, or says that fewer than k are left
        while not kernels.run(space, codes, merge, tree, k, most, max(1, _CHUNK // k)):
            task.progress(1.0 - merge.counts[0] / table.records, "merging and splitting")
            if 2 * merge.counts[0] < len(tree.record):  # boxes around few free records prune badly
                tree = build_tree(space, codes, np.flatnonzero(merge.free).astype(np.int32))
        kernels.place_rest(space, codes, merge)
        return Grouping(merge.label, details={"splits": int(merge.splits.sum())})
