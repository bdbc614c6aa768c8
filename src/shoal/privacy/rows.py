"""Sensitive columns in the form that models use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.encoding import CodedAttribute, Unit, value_texts
from shoal.errors import ColumnError, HierarchyError, ParameterError
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import nearest_hint

if TYPE_CHECKING:
    from shoal.encoding import CodedTable


@dataclass(frozen=True, eq=False)
class SensitiveRow:
    """A sensitive column as a model looks at it: codes in the order, or under the tree, that it measures by."""

    name: str
    codes: IntArray
    cardinality: int
    parent: IntArray | None = None
    """Parents of the nodes of a tree whose leaves are the codes."""
    whole: LongArray | None = None
    """The records of the whole table with each code, if ``codes`` are those of a part of it."""
    person: IntArray | None = None
    """The person of each record: a value then counts once for each person who has it."""
    people: int | None = None
    """The persons of the whole table, if ``codes`` are those of a part of it."""
    value: FloatArray | None = None
    """What a record of each code counts for, if that is not 1."""
    sparse: bool = False
    """Whether there are about as many codes as records: persons, households, pairs of person and value."""

    @cached_property
    def total(self) -> LongArray:
        """The records, or persons, of the whole table with each code."""
        if self.whole is not None:
            return self.whole
        codes = self.codes if self.person is None else self.codes[distinct_tuples(self._persons_and_codes).first]
        return np.bincount(codes, minlength=self.cardinality).astype(np.int64)

    @cached_property
    def pairs(self) -> SensitiveRow:
        """The number of each record's (person, value) pair, as a row of its own."""
        pairs = distinct_tuples(self._persons_and_codes)
        return SensitiveRow(self.name, pairs.label, len(pairs.size), sparse=True)

    @property
    def _persons_and_codes(self) -> IntArray:
        assert self.person is not None  # noqa: S101
        return np.stack([self.person, self.codes])

    @cached_property
    def population(self) -> int:
        """The persons, or records, of the whole table."""
        if self.person is None:
            return self.records
        return len(np.unique(self.person)) if self.people is None else self.people

    @cached_property
    def records(self) -> int:
        """The records of the whole table."""
        return int(self.total.sum())

    @cached_property
    def height(self) -> IntArray:
        """Edges from each node of the tree down to its deepest leaf."""
        assert self.parent is not None  # noqa: S101
        height = [0] * len(self.parent)
        for node, above in enumerate(self.parent.tolist()):  # children come before their parents
            if above != node:
                height[above] = max(height[above], height[node] + 1)
        return np.array(height, np.int32)


def unit_row(table: CodedTable, unit: Unit) -> SensitiveRow:
    """Return the persons or households that records belong to as a row of codes."""
    codes = table.units[unit]
    return SensitiveRow(unit, codes, int(codes.max(initial=-1)) + 1, sparse=True)


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
        known["_plain_row"] = SensitiveRow(
            attribute.name,
            attribute.codes,
            attribute.cardinality,
            whole=attribute.total,
            person=attribute.person,
            people=attribute.people,
        )
    row: SensitiveRow = known["_plain_row"]
    return row


def ordered_row(model: str, attribute: CodedAttribute, order: Sequence[str] | None) -> SensitiveRow:
    """Return a column's values from low to high."""
    if order is None:
        if not attribute.ordered:
            raise ParameterError(
                f"{model} measures the column {attribute.name!r} by order, and text has none of its own.",
                hint="give order=[values from low to high], or kinds={column: [values from low to high]}, or distance='equal'.",
            )
        return plain_row(attribute)
    rank = {text: place for place, text in enumerate(order)}
    texts = value_texts(attribute.values).to_pylist()
    if any(text not in rank for text in texts) or len(rank) != len(order):
        raise ParameterError(f"The order that {model} is given must name each value of {attribute.name!r} once.")
    missing = attribute.cardinality - len(texts)
    place = np.array([*(rank[text] for text in texts), *([len(order)] * missing)], np.int32)
    return _placed(attribute, place, len(order) + missing)


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
        return _placed(attribute, leaf.astype(np.int32), tree.n_leaves, tree.parent)
    parent = np.insert(tree.parent + (tree.parent >= tree.n_leaves), tree.n_leaves, tree.root + 1).astype(np.int32)
    place = np.append(leaf, tree.n_leaves).astype(np.int32)
    return _placed(attribute, place, tree.n_leaves + 1, parent)


def _placed(
    attribute: CodedAttribute, place: IntArray, cardinality: int, parent: IntArray | None = None
) -> SensitiveRow:
    """Return a column's values as numbers of their own, given the number of each code."""
    total = attribute.total
    whole = None if total is None else np.bincount(place, total, cardinality).astype(np.int64)
    return SensitiveRow(
        attribute.name, place[attribute.codes], cardinality, parent, whole, attribute.person, attribute.people
    )
