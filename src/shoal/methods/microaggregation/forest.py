"""The forest approximation (Domingo-Ferrer, Sebé and Solanas 2005), as Domingo-Ferrer 2006 sketches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.kernels.microaggregation import mdav
from shoal.kernels.microaggregation.forest import cut_forest, grow_forest
from shoal.kernels.search import kdtree, nearest
from shoal.methods.base import MethodInfo, Task
from shoal.methods.microaggregation.blocking import Microaggregation
from shoal.methods.microaggregation.scaling import Points
from shoal.validation import check_choice, check_int

_LEAF = 16
_ROUNDS = 2_000
"""Records whose neighbours are found between two progress reports."""


@dataclass(frozen=True)
class Forest(Microaggregation):
    """Let each record point to a near neighbour until every tree has k records; cut the large trees.

    Parameters
    ----------
    neighbour
        Which of its k - 1 nearest neighbours a record points to, among those that are not yet in its tree: the ``"nearest"``, or
        ``"any"``, drawn at random. The slides ask for no more than one of them.
    large
        What becomes of a group of 2k records or more: ``"split"`` into two by MDAV, which never raises the sum of squares,
        or ``"keep"`` as the trees were cut.
    tries
        How many forests are grown. The first takes the records in the order of the table, each further one in a random order; the
        groups with the least sum of squares are kept.
    scale, within, round_integers, nominal
        As in ``MDAV``.

    Notes
    -----
    The slides ask for trees of at most 2k - 1 records (condition 4). From k = 5 on, cutting edges alone cannot always give that: a record with
    three branches of k - 2 makes a tree of 3k - 5, and no cut leaves two parts of k. Such groups are therefore split without regard to
    the edges. With ``large="keep"`` they stay whole: up to max(2k - 1, 3k - 5) records.

    The sum of squares is at most (2k - 1)·max(2k - 1, 3k - 5)² times the least possible (Domingo-Ferrer 2006, slide 14), whichever
    neighbour is taken and whether large groups are split or not.

    Examples
    --------
    >>> import shoal
    >>> bodies = {"height": [160, 161, 162, 180, 181, 182], "weight": [55, 57, 56, 80, 82, 81]}
    >>> result = shoal.anonymize(bodies, k=3, quasi_identifiers=["height", "weight"], method=shoal.Forest(neighbour="any", tries=5))
    >>> result.data["height"]
    [161, 161, 161, 181, 181, 181]
    """

    neighbour: Literal["nearest", "any"] = "nearest"
    large: Literal["split", "keep"] = "split"
    tries: int = 1

    info: ClassVar[MethodInfo] = MethodInfo(
        name="forest",
        title="Forest approximation",
        family="microaggregation",
        paper="Domingo-Ferrer, Sebé and Solanas 2005 (surveyed by Domingo-Ferrer 2006)",
        complexity="O(n²) at worst; about O(n log n) with few columns",
        default_release="representatives",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("Forest", "neighbour", self.neighbour, ("nearest", "any"))
        check_choice("Forest", "large", self.large, ("split", "keep"))
        check_int("Forest", "tries", self.tries, least=1)

    def _group(self, points: Points, task: Task) -> IntArray:
        neighbours = _find_neighbours(points.numbers, task)
        random = np.random.default_rng(task.seed)
        order = np.arange(len(neighbours))
        best, least = self._grow(points.numbers, neighbours, order, random, task.k), np.inf
        for tried in range(1, self.tries):
            if tried == 1:
                least = sum_of_squares(points.numbers, best)
            labels = self._grow(points.numbers, neighbours, random.permutation(order), random, task.k)
            loss = sum_of_squares(points.numbers, labels)
            if loss < least:
                best, least = labels, loss
            task.progress((1 + tried) / self.tries, "growing forests")
        return best

    def _grow(
        self, numbers: FloatArray, neighbours: LongArray, order: LongArray, random: np.random.Generator, k: int
    ) -> IntArray:
        if self.neighbour == "any":
            neighbours = random.permuted(neighbours, axis=1)
        labels = cut_forest(grow_forest(neighbours, order, k), k)
        return split_large(numbers, labels, k) if self.large == "split" else labels


def _find_neighbours(numbers: FloatArray, task: Task) -> LongArray:
    """Return the k - 1 nearest of each record, the nearest first."""
    tree = kdtree.build_tree(numbers, _LEAF)
    neighbours = np.empty((len(numbers), task.k - 1), np.int64)
    for start in range(0, len(neighbours), _ROUNDS):
        stop = min(start + _ROUNDS, len(neighbours))
        neighbours[start:stop] = nearest.nearest_table(tree, numbers, start, stop, task.k - 1)
        task.progress(stop / len(neighbours), "finding neighbours")
    return neighbours


def split_large(numbers: FloatArray, labels: IntArray, k: int) -> IntArray:
    """Return the labels with each group of 2k records or more split by MDAV into groups of k to 2k - 1."""
    labels = labels.copy()
    groups = int(labels.max()) + 1
    by_group = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    for group in np.flatnonzero(np.bincount(labels) >= 2 * k):
        members = by_group[ends[group - 1] if group else 0 : ends[group]]
        state = mdav.start_mdav(numbers[members], _LEAF)
        mdav.run_mdav(state, k, len(members))
        parts = state.labels
        labels[members] = np.where(parts == 0, group, groups + parts - 1)
        groups += int(parts.max())
    return labels


def sum_of_squares(numbers: FloatArray, labels: IntArray) -> float:
    """Return the squared distances of records to the mean of their group, summed up."""
    size = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / size for column in numbers.T], axis=1)
    return float(((numbers - means[labels]) ** 2).sum())
