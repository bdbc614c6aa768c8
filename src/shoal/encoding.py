"""A table of quasi-identifiers as integers.

Each column is coded so that what may be released is a range of codes: numbers and dates by the rank of their
distinct values, categories by the depth-first number of their leaf in a hierarchy. A missing value is a
code of its own, the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ColumnError, DataError, HierarchyError, ParameterError
from shoal.frames import Frame, encode_dictionary
from shoal.hierarchy import Hierarchy, value_text
from shoal.kernels.space import INTERVAL, NODE, SET, Space
from shoal.typing import FloatArray, IntArray
from shoal.validation import check_float, nearest_hint

ColumnKind = Literal["interval", "node", "set"]
KindChoice = str | Sequence[str]
HierarchyChoice = Hierarchy | str | Path

_KIND_CODES = {"interval": INTERVAL, "node": NODE, "set": SET}
_MOST_SET_VALUES = 1 << 20


@dataclass(frozen=True)
class CodedColumn:
    """What the codes of one quasi-identifier stand for."""

    name: str
    kind: ColumnKind
    values: pa.Array
    """The value of each code in its own type, the missing one left out (NODE columns: the leaf texts)."""
    has_missing: bool = False
    position: FloatArray | None = None
    """INTERVAL columns: the number each code stands for."""
    hierarchy: Hierarchy | None = None
    ordinal: bool = False
    """The order was given by the user; positions are ranks."""
    original_type: pa.DataType = field(default_factory=pa.string)

    @property
    def cardinality(self) -> int:
        """The number of codes, the missing one included."""
        return len(self.values) + self.has_missing

    @property
    def missing(self) -> int:
        """The code of the missing value, or -1."""
        return len(self.values) if self.has_missing else -1

    @cached_property
    def texts(self) -> list[str]:
        """The text of each code, the missing one left out."""
        return list(value_texts(self.values).to_pylist())

    @cached_property
    def node_labels(self) -> list[str]:
        """The label of each node, numbered as in the space (NODE columns)."""
        assert self.hierarchy is not None  # noqa: S101
        labels = list(self.hierarchy.labels)
        if self.has_missing:
            labels.insert(self.hierarchy.n_leaves, "")
        return labels


@dataclass(frozen=True)
class CodedAttribute:
    """A sensitive or class column: codes only, for models and targets; it is never recoded."""

    name: str
    codes: IntArray
    values: pa.Array
    """The distinct values in code order (ascending); the missing value, if any, has the last code."""
    hierarchy: Hierarchy | None = None

    @property
    def cardinality(self) -> int:
        """The number of codes, the missing one included."""
        return int(self.codes.max(initial=len(self.values) - 1)) + 1


@dataclass(frozen=True)
class CodedTable:
    """The quasi-identifiers of a table as integers, one row of ``codes`` a column."""

    codes: IntArray
    columns: tuple[CodedColumn, ...]
    weights: FloatArray
    attributes: Mapping[str, CodedAttribute] = field(default_factory=dict)

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

    def take(self, records: IntArray) -> CodedTable:
        """Return the table of only ``records``; codes, domains and costs stay those of the whole."""
        attributes = {
            name: CodedAttribute(name, one.codes[records], one.values, one.hierarchy)
            for name, one in self.attributes.items()
        }
        part = CodedTable(np.ascontiguousarray(self.codes[:, records]), self.columns, self.weights, attributes)
        part.__dict__["space"] = self.space
        return part


def value_texts(values: pa.Array) -> pa.Array:
    """Return values as text, the same that hierarchies use: dates in ISO form, 39.0 as ``39``."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_timestamp(kind) or pa.types.is_decimal(kind):
        return pa.array([None if value is None else value_text(value) for value in values.to_pylist()], pa.string())
    return values.cast(pa.string())


def encode(
    frame: Frame,
    quasi_identifiers: Sequence[str],
    *,
    kinds: Mapping[str, KindChoice] | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    weights: Mapping[str, float] | None = None,
    attributes: Sequence[str] = (),
) -> CodedTable:
    """Code the quasi-identifiers of a table, and the sensitive or class columns ``attributes``."""
    kinds, hierarchies = dict(kinds or {}), dict(hierarchies or {})
    _check_keys("kinds", kinds, quasi_identifiers)
    _check_keys("hierarchies", hierarchies, [*quasi_identifiers, *attributes])
    codes = np.empty((len(quasi_identifiers), frame.records), np.int32)
    columns = []
    for row, name in enumerate(quasi_identifiers):
        column, codes[row] = _encode_column(frame, name, kinds.get(name), hierarchies.get(name))
        columns.append(column)
    side = {name: encode_attribute(frame, name, hierarchies.get(name)) for name in attributes}
    return CodedTable(codes, tuple(columns), check_weights(weights, quasi_identifiers), side)


def _check_keys(parameter: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise ColumnError(
                f"The {parameter!r} parameter names {name!r}, which is no quasi-identifier.",
                hint=nearest_hint(str(name), known) or f"add {name!r} to the quasi-identifiers or leave it out.",
            )


def check_weights(weights: Mapping[str, float] | None, names: Sequence[str]) -> FloatArray:
    """Return one finite, non-negative weight a column (1 where none is given), or raise."""
    given = dict(weights or {})
    _check_keys("weights", given, names)
    checked = [check_float("Anonymizer", f"weights[{name!r}]", given.get(name, 1.0), least=0.0) for name in names]
    if names and not any(checked):
        raise ParameterError("The 'weights' parameter of Anonymizer must have at least one weight above 0. Got all 0.")
    return np.array(checked, np.float64)


def _encode_column(
    frame: Frame, name: str, kind: KindChoice | None, hierarchy: HierarchyChoice | None
) -> tuple[CodedColumn, IntArray]:
    if hierarchy is not None:
        if kind is not None and kind != "nominal":
            raise ParameterError(
                f"The column {name!r} has both a kind and a hierarchy. Got kind {kind!r}.",
                hint="a hierarchy says how the column is released; leave the kind out.",
            )
        return _encode_by_hierarchy(frame, name, hierarchy)
    if kind is None:
        column = frame.typed(name)
        return _encode_interval(name, column) if is_ordered(column.type) else _encode_set(name, column)
    if kind == "nominal":
        return _encode_set(name, frame.table.column(name))
    if kind == "numeric":
        return _encode_interval(name, _as_numbers(name, frame.typed(name)))
    if kind == "date":
        return _encode_interval(name, _as_dates(name, frame.typed(name)))
    if isinstance(kind, str):
        raise ParameterError(
            f"The kind of column {name!r} must be 'numeric', 'date', 'nominal' or a list of values in order. Got {kind!r} instead.",
            hint=nearest_hint(kind, ["numeric", "date", "nominal"]),
        )
    return _encode_ordinal(name, frame.table.column(name), list(kind))


def is_ordered(kind: pa.DataType) -> bool:
    """Tell whether values of this type have distances: numbers, dates, times."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_temporal(kind)
    )


def _as_numbers(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if is_ordered(column.type):
        return column
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    return _parse_texts(name, column, pa.float64(), "numeric", "numbers")


def _as_dates(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_temporal(column.type):
        return column
    return _parse_texts(name, column, pa.date32(), "date", "dates like 2024-12-31")


def _parse_texts(name: str, column: pa.ChunkedArray, target: pa.DataType, kind: str, wanted: str) -> pa.ChunkedArray:
    encoded = encode_dictionary(column)
    values, faulty = [], []
    for index, text in enumerate(value_texts(encoded.dictionary)):
        try:
            values.append(text.cast(target).as_py())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            values.append(None)
            faulty.append(index)
    if faulty:
        rows = int(np.isin(np.asarray(encoded.indices.fill_null(-1)), faulty).sum())
        raise DataError(
            f"The column {name!r} is given as {kind} and must hold {wanted}. Got other text in {rows} rows.",
            hint="correct these rows, leave them empty, or give the column another kind.",
        )
    parsed = pa.array(values, target)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(encoded.indices, parsed).cast(target)])


def positions(values: pa.Array | pa.ChunkedArray) -> FloatArray:
    """Return numbers, dates or times as floats; missing as NaN."""
    kind = values.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64())
    return np.asarray(values.cast(pa.float64(), safe=False), np.float64)


def _encode_interval(name: str, column: pa.ChunkedArray) -> tuple[CodedColumn, IntArray]:
    original = column.type
    if pa.types.is_floating(original):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, original), column)
    encoded = encode_dictionary(column)
    position = positions(encoded.dictionary)
    if not np.isfinite(position).all():
        raise DataError(
            f"The column {name!r} holds infinite values, so its range has no width.",
            hint="replace them by missing values or by the largest value that can occur.",
        )
    order = np.argsort(position, kind="stable")
    values = encoded.dictionary.take(pa.array(order))
    codes, has_missing = _rank_codes(encoded, order)
    coded = CodedColumn(name, "interval", values, has_missing, position=position[order], original_type=original)
    return coded, codes


def _rank_codes(encoded: pa.DictionaryArray, order: Any) -> tuple[IntArray, bool]:
    """Turn dictionary indices into codes: position in ``order``, missing last."""
    size = len(order)
    rank = np.empty(size + 1, np.int32)
    rank[order] = np.arange(size, dtype=np.int32)
    rank[size] = size
    indices = np.asarray(encoded.indices.fill_null(size)) if encoded.indices.null_count else np.asarray(encoded.indices)
    return rank[indices], encoded.indices.null_count > 0


def _encode_ordinal(name: str, column: pa.ChunkedArray, order: list[str]) -> tuple[CodedColumn, IntArray]:
    if len(set(order)) != len(order):
        raise ParameterError(f"The order given for column {name!r} names a value twice. Name each value once.")
    encoded = encode_dictionary(column)
    lookup = {str(value): code for code, value in enumerate(order)}
    mapped = [lookup.get(text, -1) for text in value_texts(encoded.dictionary).to_pylist()]
    _check_covered(name, "The order given", encoded, mapped)
    codes, has_missing = _mapped_codes(encoded, mapped, len(order))
    position = np.arange(len(order), dtype=np.float64)
    values = pa.array([str(value) for value in order], pa.string())
    coded = CodedColumn(
        name, "interval", values, has_missing, position=position, ordinal=True, original_type=column.type
    )
    return coded, codes


def _mapped_codes(encoded: pa.DictionaryArray, mapped: Sequence[int], missing: int) -> tuple[IntArray, bool]:
    table = np.array([*mapped, missing], np.int32)
    has_missing = encoded.indices.null_count > 0
    indices = encoded.indices.fill_null(len(mapped)) if has_missing else encoded.indices
    return table[np.asarray(indices)], has_missing


def _check_covered(name: str, owner: str, encoded: pa.DictionaryArray, mapped: Sequence[int]) -> None:
    unknown = [index for index, code in enumerate(mapped) if code < 0]
    if not unknown:
        return
    rows = int(np.isin(np.asarray(encoded.indices.fill_null(-1)), unknown).sum())
    first = value_texts(encoded.dictionary.slice(unknown[0], 1))[0].as_py()
    more = f" and {len(unknown) - 1} more values" if len(unknown) > 1 else ""
    raise HierarchyError(
        f"{owner} for column {name!r} does not cover the data: it has no leaf {first!r}{more} ({rows} rows).",
        hint="add the missing values to it, or correct them in the table.",
    )


def load_hierarchy(name: str, choice: HierarchyChoice) -> Hierarchy:
    """Return the hierarchy a user named for a column: an object, or the path of a file."""
    if isinstance(choice, Hierarchy):
        return choice
    if isinstance(choice, (str, Path)):
        return Hierarchy.from_csv(choice)
    raise ParameterError(
        f"The hierarchy of column {name!r} must be a Hierarchy, a file name, 'flat' or 'set'. Got {type(choice).__name__}."
    )


def _encode_by_hierarchy(frame: Frame, name: str, choice: HierarchyChoice) -> tuple[CodedColumn, IntArray]:
    column = frame.table.column(name)
    if isinstance(choice, str) and choice == "set":
        return _encode_set(name, column)
    encoded = encode_dictionary(column)
    texts = value_texts(encoded.dictionary).to_pylist()
    if isinstance(choice, str) and choice == "flat":
        hierarchy = Hierarchy.flat(sorted(set(texts)) or ["*"])
    else:
        hierarchy = load_hierarchy(name, choice)
    mapped = hierarchy.leaf_codes(texts)
    _check_covered(name, "The hierarchy", encoded, [int(code) for code in mapped])
    codes, has_missing = _mapped_codes(encoded, [int(code) for code in mapped], hierarchy.n_leaves)
    values = pa.array(hierarchy.leaves, pa.string())
    coded = CodedColumn(name, "node", values, has_missing, hierarchy=hierarchy, original_type=column.type)
    return coded, codes


def _encode_set(name: str, column: pa.ChunkedArray) -> tuple[CodedColumn, IntArray]:
    encoded = encode_dictionary(column)
    if len(encoded.dictionary) > _MOST_SET_VALUES:
        raise DataError(
            f"The column {name!r} has {len(encoded.dictionary):,} distinct values, too many to release as sets.",
            hint="give it a hierarchy, or name it an identifier if it tells people apart.",
        )
    texts = value_texts(encoded.dictionary).to_pylist()
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    codes, has_missing = _rank_codes(encoded, order)
    values = pa.array([texts[index] for index in order], pa.string())
    return CodedColumn(name, "set", values, has_missing, original_type=column.type), codes


def encode_attribute(frame: Frame, name: str, hierarchy: HierarchyChoice | None = None) -> CodedAttribute:
    """Code a sensitive or class column; numbers and dates in their order, text in the order of its letters."""
    column = frame.typed(name)
    encoded = encode_dictionary(column)
    if is_ordered(column.type):
        order = np.argsort(positions(encoded.dictionary), kind="stable")
    else:
        texts = value_texts(encoded.dictionary).to_pylist()
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    codes, _ = _rank_codes(encoded, order)
    tree = (
        None
        if hierarchy is None or (isinstance(hierarchy, str) and hierarchy in {"flat", "set"})
        else load_hierarchy(name, hierarchy)
    )
    return CodedAttribute(name, codes, encoded.dictionary.take(pa.array(order)), tree)


def build_space(columns: Sequence[CodedColumn], weights: FloatArray) -> Space:
    """Lay the columns' costs out as the flat arrays the kernels read."""
    starts, positions = [], [np.zeros(0)]
    parents, highs, costs = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0)]
    domains, word_starts = [], [0]
    for column in columns:
        words = 0
        if column.kind == "interval":
            assert column.position is not None  # noqa: S101
            starts.append(sum(map(len, positions)))
            positions.append(column.position)
            domains.append(float(np.ptp(column.position)) if len(column.position) else 0.0)
        elif column.kind == "node":
            starts.append(sum(map(len, parents)))
            parent, high, cost = _node_arrays(column)
            parents.append(parent)
            highs.append(high)
            costs.append(cost)
            domains.append(float(len(column.values)))
        else:
            starts.append(0)
            words = (column.cardinality + 63) // 64
            domains.append(float(len(column.values)))
        word_starts.append(word_starts[-1] + words)
    return Space(
        kind=np.array([_KIND_CODES[column.kind] for column in columns], np.int32),
        weight=np.asarray(weights, np.float64),
        cardinality=np.array([column.cardinality for column in columns], np.int32),
        missing=np.array([column.missing for column in columns], np.int32),
        domain=np.array(domains, np.float64),
        start=np.array(starts, np.int64),
        position=np.concatenate(positions),
        node_parent=np.concatenate(parents),
        node_high=np.concatenate(highs),
        node_cost=np.concatenate(costs),
        word_start=np.array(word_starts, np.int64),
    )


def _node_arrays(column: CodedColumn) -> tuple[IntArray, IntArray, FloatArray]:
    """Return parent, largest leaf and cost of each node; a missing value is one more leaf below the root."""
    tree = column.hierarchy
    assert tree is not None  # noqa: S101
    if not column.has_missing:
        return tree.parent.astype(np.int32), tree.high.astype(np.int32), tree.cost
    missing = tree.n_leaves
    shifted = np.where(tree.parent >= missing, tree.parent + 1, tree.parent)
    root = tree.root + 1 if tree.root >= missing else tree.root
    parent = np.insert(shifted, missing, root).astype(np.int32)
    high = np.insert(tree.high, missing, missing).astype(np.int32)
    high[root] = missing
    return parent, high, np.insert(tree.cost, missing, 0.0)
