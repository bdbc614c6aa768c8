"""The information that a generalization loses, and hierarchies of numbers whose splits lose least.

Losses are held as whole multiples of 2⁻³² bit, so that equal losses are equal however they were summed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from shoal.arrays import FloatArray, LongArray
from shoal.errors import ParameterError
from shoal.methods.global_recoding.trees import ValueTree, make_tree

Metric: TypeAlias = Callable[[LongArray], float]
"""Takes the class counts of the values that are to be joined, one row a value, and returns what joining them loses."""
UNIT = 2.0**32
MOST_BINS = 256


def entropy(counts: LongArray) -> FloatArray:
    """Return the entropy in bits of each row of counts (0 for a row of zeros)."""
    share = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    safe = np.where(share > 0, share, 1.0)
    return np.asarray(-(share * np.log2(safe)).sum(axis=-1), np.float64)


def gini(counts: LongArray) -> FloatArray:
    """Return the chance that two records drawn from each row of counts differ in class."""
    share = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.where(counts.sum(axis=-1) > 0, 1 - (share**2).sum(axis=-1), 0.0), np.float64)


def error(counts: LongArray) -> FloatArray:
    """Return the share of the records in each row of counts that are not of its most common class."""
    total = counts.sum(axis=-1)
    return np.asarray((total - counts.max(axis=-1)) / np.maximum(total, 1), np.float64)


def impurity_loss(members: LongArray, impurity: Callable[[LongArray], FloatArray]) -> float:
    """Return by how much joining values makes their records less pure; members are the class counts of the values, a row each."""
    total = members.sum()
    if total == 0:
        return 0.0
    within = float((members.sum(axis=1) * impurity(members)).sum() / total)
    return max(float(impurity(members.sum(axis=0))) - within, 0.0)


def information_loss(members: LongArray) -> float:
    """Return I of a generalization from the class counts of the values it joins, a row each.

    Wang, Yu & Chakraborty (2004), section 3: the entropy of the class among all their records less the mean
    entropy within each value.
    """
    return impurity_loss(members, entropy)


def gini_loss(members: LongArray) -> float:
    """Return by how much joining values raises the chance that two of their records differ in class."""
    return impurity_loss(members, gini)


def error_loss(members: LongArray) -> float:
    """Return by how much joining values raises the share of records that are not of the most common class."""
    return impurity_loss(members, error)


METRICS: dict[str, Metric] = {"entropy": information_loss, "gini": gini_loss, "error": error_loss}
"""What joining values may be measured by."""
_IMPURITY: dict[Metric, Callable[[LongArray], FloatArray]] = {
    information_loss: entropy,
    gini_loss: gini,
    error_loss: error,
}


def by_value(metric: Metric) -> Metric:
    """Return a metric for records without a class: each value is a class of its own.

    The entropy is then the bits it takes to say which of the joined values a record had. Values are pure by
    themselves, so only the impurity of all together counts; a metric of the user's own is given the counts of the classes.
    """
    impurity = _IMPURITY.get(metric)
    if impurity is None:
        return lambda members: metric(np.diag(members.sum(axis=1)))
    return lambda members: float(impurity(members.sum(axis=1)))


def checked(metric: Metric) -> Metric:
    """Return a user's metric that refuses answers no choice could rest on."""

    def measure(members: LongArray) -> float:
        loss = float(metric(members.copy()))
        if not (np.isfinite(loss) and loss >= 0):
            raise ParameterError(
                f"The 'metric' function of BottomUpGeneralization must return a finite number of at least 0. Got {loss}.",
                hint="it is given the class counts of the values to be joined, one row a value.",
            )
        return loss

    return measure


def best_cut(counts: LongArray, *, by_class: bool) -> int:
    """Return where to split a row of values, counts (values, classes), in two: the length of the first part.

    The entropy of the class within the parts is least; among equals, or without a class, the parts are most alike in size; of
    equals the first.
    """
    left = counts.cumsum(axis=0)[:-1]
    right = counts.sum(axis=0) - left
    below, above = left.sum(axis=1), right.sum(axis=1)
    uneven = np.abs(below - above)
    if not by_class:
        return int(np.argmin(uneven)) + 1
    within = np.rint((below * entropy(left) + above * entropy(right)) / counts.sum() * UNIT)
    return int(np.lexsort((uneven, within))[0]) + 1


def split_numbers(counts: LongArray, *, has_missing: bool, by_class: bool) -> ValueTree:
    """Make a hierarchy for a column of numbers: a binary tree of splits, counts (values, classes).

    If there are more than 256 values, they are first put into as many bins of about equal size, whose values
    are joined in one step; the missing value joins the others at the root only.
    """
    values = len(counts) - has_missing
    bins = _bins(counts[:values].sum(axis=1))
    summed = np.add.reduceat(counts[:values], bins[:-1], axis=0) if values else counts[:0]
    leaves = len(counts)
    parent = np.full(leaves + 1, leaves, np.int64).tolist()
    parts = [(0, len(bins) - 1, leaves)] if values else []
    # ends: a part is cut into two that are shorter, and one of a single bin is not cut
    while parts:
        first, last, node = parts.pop()
        if last - first == 1:
            parent[bins[first] : bins[last]] = [node] * (bins[last] - bins[first])
            continue
        middle = first + best_cut(summed[first:last], by_class=by_class)
        for part in ((first, middle), (middle, last)):
            if bins[part[1]] - bins[part[0]] == 1:
                parent[bins[part[0]]] = node
            else:
                parent.append(node)
                parts.append((*part, len(parent) - 1))
    return make_tree(np.array(parent, np.int32), leaves)


def _bins(sizes: LongArray) -> list[int]:
    """Return the bounds of at most 256 runs of values with about equally many records."""
    if len(sizes) <= MOST_BINS:
        return list(range(len(sizes) + 1))
    share = (np.cumsum(sizes) * MOST_BINS - 1) // max(int(sizes.sum()), 1)
    bounds = np.flatnonzero(np.diff(share)) + 1
    return [0, *bounds.tolist(), len(sizes)]
