"""Requirements on the sensitive values of a group: what all models but those on a population share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shoal.encoding import CodedAttribute, is_ordered, value_texts
from shoal.errors import ColumnError, HierarchyError, ParameterError, PrivacyError
from shoal.privacy.base import AllOf, Requirement
from shoal.typing import BoolArray, FloatArray, IntArray, LongArray
from shoal.validation import nearest_hint

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.rules import Rules

Measure = Literal[
    "size", "distinct", "entropy", "recursive", "equal", "ordered", "hierarchical", "alpha", "beta", "enhanced", "delta"
]
_MEASURES: tuple[Measure, ...] = (
    "size",
    "distinct",
    "entropy",
    "recursive",
    "equal",
    "ordered",
    "hierarchical",
    "alpha",
    "beta",
    "enhanced",
    "delta",
)
"""In the order of the kernels' numbers."""


@dataclass(frozen=True, eq=False)
class SensitiveRow:
    """A sensitive column as a model looks at it: codes in the order, or under the tree, that it measures by."""

    name: str
    codes: IntArray
    cardinality: int
    parent: IntArray | None = None
    """Parents of the nodes of a tree whose leaves are the codes."""

    @cached_property
    def total(self) -> LongArray:
        """The records of the whole table with each code."""
        return np.bincount(self.codes, minlength=self.cardinality).astype(np.int64)

    @cached_property
    def height(self) -> IntArray:
        """Edges from each node of the tree down to its deepest leaf."""
        assert self.parent is not None  # noqa: S101
        height = [0] * len(self.parent)
        for node, above in enumerate(self.parent.tolist()):  # children come before their parents
            if above != node:
                height[above] = max(height[above], height[node] + 1)
        return np.array(height, np.int32)


@dataclass(frozen=True, eq=False)
class HistogramRequirement(Requirement):
    """One bound on one measure of a group's sensitive values."""

    measure: Measure
    row: SensitiveRow
    bound: float
    rank: int = 0

    @property
    def kind(self) -> int:
        """The kernels' number of the measure."""
        return _MEASURES.index(self.measure)

    @cached_property
    def rules(self) -> Rules:
        """The requirement alone, as the kernels read it."""
        return build_rules([self], self.row.codes.shape[0])

    def measured(self, labels: IntArray, groups: int) -> FloatArray:
        """Return the measure of each group."""
        from shoal.kernels.rules import measure_groups  # noqa: PLC0415  (numba is imported when first needed)

        order, begin = members(labels, groups)
        return np.asarray(measure_groups(self.rules, order, begin)[0], np.float64)

    def failing(self, labels: IntArray, groups: int) -> BoolArray:
        """Tell which groups miss the bound."""
        from shoal.kernels.rules import lacks  # noqa: PLC0415

        values = self.measured(labels, groups)
        return np.array([lacks(self.kind, self.bound, value) > 0 for value in values], np.bool_)

    def check_reachable(self, model: str) -> None:
        """Raise if not even the whole table as one group meets the bound."""
        whole = np.zeros(self.row.codes.shape[0], np.int32)
        if self.failing(whole, 1)[0]:
            value = float(self.measured(whole, 1)[0])
            raise PrivacyError(
                f"{model} cannot hold: the column {self.row.name!r} as a whole reaches {value:.4g}, "
                f"and {self.bound:g} is asked for. Nothing was released.",
                hint=f"ask for a value that the whole column meets, which is {value:.4g} at best.",
            )


def members(labels: IntArray, groups: int) -> tuple[LongArray, LongArray]:
    """Return the records in the order of their groups, and where each group begins."""
    order = np.argsort(labels, kind="stable")
    begin = np.searchsorted(labels[order], np.arange(groups + 1))
    return order.astype(np.int64), begin.astype(np.int64)


def build_rules(requirements: Sequence[HistogramRequirement], records: int, *, k: int = 0) -> Rules:
    """Lay requirements, and a least group size ``k`` if given, out as the kernels read them."""
    from shoal.kernels.rules import Rules  # noqa: PLC0415

    rows = list(dict.fromkeys(one.row for one in requirements))
    sizes = [(0, 0, float(k), 0)] if k else []
    each = sizes + [(one.kind, rows.index(one.row), one.bound, one.rank) for one in requirements]
    kinds, places, bounds, ranks = zip(*each, strict=True)
    trees = [np.zeros(0, np.int32) if row.parent is None else row.parent for row in rows]
    heights = [np.zeros(0, np.int32) if row.parent is None else row.height for row in rows]
    return Rules(
        np.array(kinds, np.int32),
        np.array(places, np.int32),
        np.array(bounds, np.float64),
        np.array(ranks, np.int32),
        np.ascontiguousarray(np.array([row.codes for row in rows], np.int32).reshape(len(rows), records)),
        _starts([row.cardinality for row in rows]),
        np.concatenate([np.zeros(0, np.int64), *(row.total for row in rows)]),
        records,
        _starts([len(tree) for tree in trees]),
        np.concatenate([np.zeros(0, np.int32), *trees]).astype(np.int32),
        np.concatenate([np.zeros(0, np.int32), *heights]).astype(np.int32),
    )


def _starts(lengths: Sequence[int]) -> LongArray:
    return np.concatenate(([0], np.cumsum(np.array(lengths, np.int64)))).astype(np.int64)


# --- from a table's columns to rows ------------------------------------------------------------------------------


def chosen_attributes(model: str, table: CodedTable, column: str | None) -> list[CodedAttribute]:
    """Return the sensitive column a model names, or all of them."""
    known = table.attributes
    if not known:
        raise ParameterError(
            f"{model} protects sensitive columns, and none is named.", hint="name them in 'sensitive'."
        )
    if column is None:
        return list(known.values())
    if column not in known:
        raise ColumnError(
            f"{model} names the column {column!r}, which is not sensitive. Sensitive are: {', '.join(known)}.",
            hint=nearest_hint(column, known) or f"add {column!r} to 'sensitive'.",
        )
    return [known[column]]


def plain_row(attribute: CodedAttribute) -> SensitiveRow:
    """Return a column's values without any order; the same object for the same column."""
    known = attribute.__dict__  # a frozen dataclass keeps what was computed, as cached_property does
    if "_plain_row" not in known:
        known["_plain_row"] = SensitiveRow(attribute.name, attribute.codes, attribute.cardinality)
    row: SensitiveRow = known["_plain_row"]
    return row


def ordered_row(model: str, attribute: CodedAttribute, order: Sequence[str] | None) -> SensitiveRow:
    """Return a column's values from low to high."""
    if order is None:
        if not is_ordered(attribute.values.type):
            raise ParameterError(
                f"{model} measures the column {attribute.name!r} by order, and text has none of its own.",
                hint="give order=[values from low to high], or distance='equal'.",
            )
        return plain_row(attribute)
    rank = {text: place for place, text in enumerate(order)}
    texts = value_texts(attribute.values).to_pylist()
    if any(text not in rank for text in texts) or len(rank) != len(order):
        raise ParameterError(f"The order that {model} is given must name each value of {attribute.name!r} once.")
    missing = attribute.cardinality - len(texts)
    place = np.array([*(rank[text] for text in texts), *([len(order)] * missing)], np.int32)
    return SensitiveRow(attribute.name, place[attribute.codes], len(order) + missing)


def tree_row(model: str, attribute: CodedAttribute) -> SensitiveRow:
    """Return a column's values as leaves of its hierarchy; a missing value is one more leaf below the root."""
    tree = attribute.hierarchy
    if tree is None:
        raise ParameterError(
            f"{model} measures the column {attribute.name!r} by its hierarchy, and it has none.",
            hint=f"give hierarchies={{{attribute.name!r}: …}}, or distance='equal'.",
        )
    leaf = tree.leaf_codes(value_texts(attribute.values).to_pylist())
    if (leaf < 0).any():
        raise HierarchyError(
            f"The hierarchy of column {attribute.name!r} lacks {int((leaf < 0).sum())} of its values.",
            hint="add the missing values to it, or correct them in the table.",
        )
    if attribute.cardinality == len(leaf):
        return SensitiveRow(attribute.name, leaf[attribute.codes], tree.n_leaves, tree.parent)
    parent = np.insert(tree.parent + (tree.parent >= tree.n_leaves), tree.n_leaves, tree.root + 1).astype(np.int32)
    place = np.append(leaf, tree.n_leaves).astype(np.int32)
    return SensitiveRow(attribute.name, place[attribute.codes], tree.n_leaves + 1, parent)


def together(requirements: Sequence[HistogramRequirement], model: Any) -> Requirement:
    """Return requirements as one, after a check that the whole table meets each."""
    for one in requirements:
        one.check_reachable(type(model).__name__)
    return requirements[0] if len(requirements) == 1 else AllOf(tuple(requirements))
