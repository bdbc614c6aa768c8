"""The coded table and what its codes stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.encoding.kinds import ColumnKind
from shoal.encoding.spaces import build_space
from shoal.encoding.values import positions, value_texts
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.space import Space
from shoal.kernels.space.tuples import distinct_tuples

Unit = Literal["person", "household"]
"""Who may have several records and is counted once."""


@dataclass(frozen=True)
class CodedColumn:
    """What the codes of one quasi-identifier stand for."""

    name: str
    kind: ColumnKind
    values: pa.Array
    """The value of each code in its own type, the missing one left out (with a hierarchy: the leaf texts)."""
    has_missing: bool = False
    position: FloatArray | None = None
    """The number each code stands for, less ``origin``, in a column released as ranges."""
    hierarchy: Hierarchy | None = None
    ordinal: bool = False
    """The order was given by the user; positions are ranks."""
    original_type: pa.DataType = field(default_factory=pa.string)
    origin: int = 0
    """What was taken off all positions; not 0 only if floats would not tell the numbers apart."""

    @property
    def measured(self) -> bool:
        """Whether values are numbers or dates, which are compared by what they mean and not as texts."""
        return self.kind.ordered and not self.ordinal

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy of a column that has one."""
        assert self.hierarchy is not None  # noqa: S101
        return self.hierarchy

    @property
    def cardinality(self) -> int:
        """The number of codes, the missing one included."""
        return len(self.values) + self.has_missing

    @property
    def missing(self) -> int:
        """The code of the missing value, or -1."""
        return len(self.values) if self.has_missing else -1

    @cached_property
    def numbers(self) -> FloatArray:
        """The number each code stands for, as near as a float comes; for a column released as ranges."""
        return np.arange(len(self.values), dtype=np.float64) if self.ordinal else positions(self.values)

    @cached_property
    def texts(self) -> list[str]:
        """The text of each code, the missing one left out."""
        return list(value_texts(self.values).to_pylist())

    @cached_property
    def node_labels(self) -> list[str]:
        """The label of each node of the hierarchy, numbered as in the space."""
        labels = list(self.tree.labels)
        if self.has_missing:
            labels.insert(self.tree.n_leaves, "")
        return labels


@dataclass(frozen=True)
class CodedAttribute:
    """A sensitive or class column: codes only, for models and targets; it is never recoded."""

    name: str
    codes: IntArray
    values: pa.Array
    """The distinct values in code order (ascending); the missing value, if any, has the last code."""
    hierarchy: Hierarchy | None = None
    ordered: bool = False
    """The codes follow an order that means something: numbers, dates, or an order the user gave."""
    total: LongArray | None = None
    """The records, or people, of the whole table with each code, if ``codes`` are those of a part of it."""
    person: IntArray | None = None
    """The person of each record if a person may have several; models then count people."""
    people: int | None = None
    """The people of the whole table, if ``codes`` are those of a part of it."""

    @property
    def cardinality(self) -> int:
        """The number of codes, the missing one included."""
        if self.total is not None:
            return len(self.total)
        return int(self.codes.max(initial=len(self.values) - 1)) + 1

    def as_whole(self) -> CodedAttribute:
        """Return the column with the totals of its codes, so that a part of it is measured against the whole."""
        codes = self.codes
        if self.person is not None:  # each person once for each value
            codes = codes[distinct_tuples(np.stack([self.person, codes])).first]
        people = None if self.person is None else len(np.unique(self.person))
        return replace(self, total=np.bincount(codes, minlength=self.cardinality).astype(np.int64), people=people)


@dataclass(frozen=True)
class CodedTable:
    """The quasi-identifiers of a table as integers, one row of ``codes`` a column."""

    codes: IntArray
    columns: tuple[CodedColumn, ...]
    weights: FloatArray
    attributes: Mapping[str, CodedAttribute] = field(default_factory=dict)
    units: Mapping[Unit, IntArray] = field(default_factory=dict)
    """Whom records belong to, by number: persons or households that may have several records each."""
    survey_weight: FloatArray | None = None
    """How many people of the population each record represents, if a column says so."""

    @property
    def records(self) -> int:
        """The number of records, n."""
        return int(self.codes.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def space(self) -> Space:
        """What a range of codes costs in each column."""
        return build_space(self.columns, self.weights)

    def take(self, records: IntArray | LongArray) -> CodedTable:
        """Return the table of only ``records``; codes, domains and costs stay those of the whole."""
        units = {unit: code[records] for unit, code in self.units.items()}
        attributes = {
            name: replace(one, codes=one.codes[records], person=None if one.person is None else units["person"])
            for name, one in self.attributes.items()
        }
        weight = None if self.survey_weight is None else self.survey_weight[records]
        codes = np.ascontiguousarray(self.codes[:, records])
        part = CodedTable(codes, self.columns, self.weights, attributes, units, weight)
        part.__dict__["space"] = self.space
        return part

    def with_codes(self, codes: IntArray) -> CodedTable:
        """Return other records of the same columns, of which only their quasi-identifiers are known."""
        made = CodedTable(codes, self.columns, self.weights)
        made.__dict__["space"] = self.space
        return made

    def as_whole(self) -> CodedTable:
        """Return the table as one whose parts measure sensitive values against it: ``take`` then keeps its totals."""
        return replace(self, attributes={name: one.as_whole() for name, one in self.attributes.items()})
