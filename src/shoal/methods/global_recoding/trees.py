"""The hierarchies of a table as global recoding reads them, and what a cut through them releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import BoolArray, IntArray, LongArray
from shoal.errors import HierarchyError, PrivacyError
from shoal.kernels.global_recoding.tuple_index import Forest
from shoal.kernels.space.space import Cover
from shoal.kernels.space.tuples import distinct_tuples
from shoal.methods.base import Grouping, most_withheld
from shoal.privacy.base import Shown, failing_groups, read_cells, unreached_people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.encoding import CodedColumn, CodedTable
    from shoal.kernels.space.space import Space
    from shoal.methods.base import Task


class ValueTree(NamedTuple):
    """The hierarchy of one column: leaf code c is node c; the root is its own parent."""

    parent: IntArray
    low: IntArray
    high: IntArray


def make_tree(parent: IntArray, leaves: int) -> ValueTree:
    """Complete a tree by the range of leaf codes below each node; a node may come before or after its parent."""
    low = np.full(len(parent), leaves, np.int32)
    high = np.full(len(parent), -1, np.int32)
    node = np.arange(leaves, dtype=np.int32)
    code = np.arange(leaves, dtype=np.int32)
    # ends: each round goes one level up, and a root is its own parent
    while True:
        np.minimum.at(low, node, code)
        np.maximum.at(high, node, code)
        above = parent[node]
        if np.array_equal(above, node):
            return ValueTree(parent, low, high)
        node = above


def tree_of(table: CodedTable, row: int) -> ValueTree:
    """Return the hierarchy of a column that has one; a missing value is a leaf below the root."""
    column = table.columns[row]
    start = int(table.space.start[row])
    parent = table.space.node_parent[start : start + len(column.node_labels)]
    return make_tree(parent.astype(np.int32), column.cardinality)


def require_hierarchy(column: CodedColumn, method: str) -> None:
    """Refuse a column that a global recoding cannot generalize."""
    if column.hierarchy is None:
        raise HierarchyError(
            f"The method {method!r} generalizes whole columns and needs a hierarchy for column {column.name!r}, which has none.",
            hint=f'hierarchies={{{column.name!r}: "flat"}} releases a value or *; or make one with shoal.Hierarchy.',
        )


def join_trees(trees: Sequence[ValueTree]) -> Forest:
    """Number the nodes of all columns through."""
    start = np.concatenate(([0], np.cumsum([len(tree.parent) for tree in trees]))).astype(np.int64)
    parents = []
    for first, tree in zip(start, trees, strict=False):
        own = np.arange(len(tree.parent))
        parents.append(np.where(tree.parent == own, -1, tree.parent + first))
    parent = np.concatenate(parents).astype(np.int32)
    order = np.argsort(parent, kind="stable")
    order = order[parent[order] >= 0]
    children = np.bincount(parent[order], minlength=len(parent))
    return Forest(
        start=start,
        column=np.repeat(np.arange(len(trees)), np.diff(start)).astype(np.int32),
        parent=parent,
        low=np.concatenate([tree.low for tree in trees]).astype(np.int32),
        high=np.concatenate([tree.high for tree in trees]).astype(np.int32),
        child_start=np.concatenate(([0], np.cumsum(children))).astype(np.int64),
        child=order.astype(np.int32),
    )


class LeafTuples(NamedTuple):
    """The distinct tuples of a table, before anything is generalized: all that a global recoding reads after one pass over the records."""

    codes: IntArray
    """Leaf codes of each tuple, (m, T)."""
    size: LongArray
    """Records of each tuple."""
    label: IntArray
    """The tuple of each record."""


def leaf_tuples(codes: IntArray) -> LeafTuples:
    """Group records, the columns of ``codes``, by all their codes."""
    tuples = distinct_tuples(codes)
    return LeafTuples(np.ascontiguousarray(codes[:, tuples.first]), tuples.size, tuples.label)


def without_last_row(base: LeafTuples) -> LeafTuples:
    """Group the tuples further, by all codes but the last."""
    tuples = distinct_tuples(base.codes[:-1])
    codes = np.ascontiguousarray(base.codes[:-1, tuples.first])
    size = np.bincount(tuples.label, base.size, len(tuples.size)).astype(np.int64)
    return LeafTuples(codes, size, tuples.label[base.label])


class Released(NamedTuple):
    """What a cut makes of the tuples."""

    label: IntArray
    """The group of each record, before anything is suppressed."""
    size: LongArray
    """Records of each group."""
    low: IntArray
    """The lowest and ..."""
    high: IntArray
    """... the highest code that each group is released as, (m, groups)."""


def release_codes(codes: IntArray, cuts: Sequence[IntArray]) -> IntArray:
    """Return, for each tuple and column, the number of the released value."""
    released = np.empty((len(cuts), codes.shape[1]), np.int32)
    for row, cut in enumerate(cuts):
        form = np.unique(cut[0].astype(np.int64) * (cut.shape[1] + 1) + cut[1], return_inverse=True)[1]
        released[row] = form[codes[row]]
    return released


def release_tuples(base: LeafTuples, cuts: Sequence[IntArray]) -> Released:
    """Group the records whose tuples are released alike."""
    groups = distinct_tuples(release_codes(base.codes, cuts))
    size = np.bincount(groups.label, base.size, len(groups.size)).astype(np.int64)
    one = base.codes[:, groups.first]
    low, high = (np.stack([cut[end][codes] for cut, codes in zip(cuts, one, strict=True)]) for end in (0, 1))
    return Released(groups.label[base.label], size, low, high)


class Verdict(NamedTuple):
    """Which groups of a cut are withheld, and whether the release of the others holds."""

    failing: BoolArray
    left_out: bool
    """Whether the others fail people outside the table, which withholding more does not mend."""


def judge_cut(released: Released, space: Space, task: Task) -> Verdict:
    """Judge the groups by the cells of the cut: those that are smaller than k or fall short of a privacy model are withheld."""
    small = released.size < task.k
    if not read_cells(task.requirements):
        return Verdict(failing_groups(task.requirements, released.label, len(released.size)) | small, left_out=False)
    shown = _cells_of(released, space)
    failing = failing_groups(task.requirements, released.label, len(released.size), shown) | small
    kept = shown._replace(cover=shown.cover._replace(size=np.where(failing, 0, shown.cover.size).astype(np.int32)))
    return Verdict(failing, unreached_people(task.requirements, kept).size > 0)


def _cells_of(released: Released, space: Space) -> Shown:
    """Return the cells of the groups; global recodings release no sets."""
    words = np.zeros((len(released.size), int(space.word_start[-1])), np.uint64)
    cover = Cover(
        np.ascontiguousarray(released.low, np.int32),
        np.ascontiguousarray(released.high, np.int32),
        words,
        released.size.astype(np.int32),
    )
    return Shown(space, cover)


def allowed_records(records: int, task: Task) -> int:
    """Return how many records may be withheld."""
    return most_withheld(task.max_suppression, records)


def suppress(released: Released, failing: BoolArray) -> IntArray:
    """Return the labels with failing groups withheld and the others numbered without gaps."""
    number = np.where(failing, -1, np.cumsum(~failing) - 1).astype(np.int32)
    return number[released.label]


def finish(
    base: LeafTuples, cuts: Sequence[IntArray], space: Space, task: Task, details: dict[str, object]
) -> Grouping:
    """Return the grouping a cut gives, its failing groups withheld."""
    released = release_tuples(base, cuts)
    return Grouping(suppress(released, judge_cut(released, space, task).failing), tuple(cuts), details)


def nothing_meets(task: Task, method: str, records: int) -> PrivacyError:
    """Return the error for a table that falls short even when every value is generalized to the root."""
    models = " and the privacy models" if task.requirements else ""
    return PrivacyError(
        f"The method {method!r} cannot reach k = {task.k}{models} on {records} records, "
        "even with every quasi-identifier generalized to its root.",
        hint="lower k, relax the models, or allow some records to be withheld with max_suppression.",
    )
