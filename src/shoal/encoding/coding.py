"""From the columns of a table to codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding.tables import CodedAttribute, CodedColumn, CodedTable
from shoal.encoding.values import as_dates, as_numbers, is_ordered, positions, value_texts
from shoal.errors import ColumnError, DataError, HierarchyError, ParameterError
from shoal.frames import Frame, encode_dictionary
from shoal.hierarchy import Hierarchy
from shoal.typing import FloatArray, IntArray
from shoal.validation import check_float, nearest_hint

KindChoice = str | Sequence[str]
HierarchyChoice = Hierarchy | str | Path

_MOST_SET_VALUES = 1 << 20


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
        return _encode_interval(name, as_numbers(name, frame.typed(name)))
    if kind == "date":
        return _encode_interval(name, as_dates(name, frame.typed(name)))
    if isinstance(kind, str):
        raise ParameterError(
            f"The kind of column {name!r} must be 'numeric', 'date', 'nominal' or a list of values in order. Got {kind!r} instead.",
            hint=nearest_hint(kind, ["numeric", "date", "nominal"]),
        )
    return _encode_ordinal(name, frame.table.column(name), list(kind))


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
