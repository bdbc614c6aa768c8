"""From the columns of a table to codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray
from shoal.encoding.kinds import NODES, RANGES, SETS
from shoal.encoding.ranks import rank_codes, rank_values
from shoal.encoding.tables import CodedAttribute, CodedColumn, CodedTable
from shoal.encoding.values import (
    as_dates,
    as_numbers,
    exact_numbers,
    is_ordered,
    positions_of,
    refuse_far,
    text_meanings,
    value_texts,
)
from shoal.errors import AmbiguousNotationError, DataError, HierarchyError, ParameterError
from shoal.frames import Frame, encode_dictionary, refuse_nested
from shoal.frames.canonical import value_type
from shoal.hierarchy import WORDS, Hierarchy, value_text
from shoal.hierarchy.learnable import learnable
from shoal.hierarchy.orders import MOST_ORDERED, ranged_order, text_order
from shoal.hierarchy.texts import match_texts
from shoal.validation import check_float, check_keys, check_mapping, nearest_hint, wrong

KindChoice = str | Sequence[str]
HierarchyChoice = Hierarchy | str | Path
Weight = float | Mapping[str, float]
"""Of a column, or of nodes of its hierarchy by label."""

_MOST_SET_VALUES = 1 << 20
_MOST_WEIGHT = 1e9
"""Weights count relative to each other; next to larger ones the other columns would be rounded away."""
_MOST_SHOWN = 10
"""Number of values listed when a caller asks for those a hierarchy lacks."""


def encode(
    frame: Frame,
    quasi_identifiers: Sequence[str],
    *,
    kinds: Mapping[str, KindChoice] | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    weights: Mapping[str, Weight] | None = None,
    attributes: Sequence[str] = (),
) -> CodedTable:
    """Code the quasi-identifiers of a table, and the sensitive or class columns ``attributes``."""
    kinds, hierarchies = dict(kinds or {}), dict(hierarchies or {})
    check_keys("kinds", kinds, [*quasi_identifiers, *attributes])
    check_keys("hierarchies", hierarchies, [*quasi_identifiers, *attributes])
    refuse_nested(frame, [*quasi_identifiers, *attributes])
    for name in (*quasi_identifiers, *attributes):
        refuse_far(name, frame.table.column(name))
    codes = np.empty((len(quasi_identifiers), frame.records), np.int32)
    columns = []
    for row, name in enumerate(quasi_identifiers):
        column, codes[row] = _encode_column(frame, name, kinds.get(name), hierarchies.get(name))
        columns.append(_with_node_weights(column, (weights or {}).get(name)))
    side = {name: encode_attribute(frame, name, hierarchies.get(name), kinds.get(name)) for name in attributes}
    return CodedTable(codes, tuple(columns), check_weights(weights, quasi_identifiers), side)


def _with_node_weights(column: CodedColumn, weight: Weight | None) -> CodedColumn:
    """Return the column with weights on the nodes of its hierarchy, if they are given."""
    if not isinstance(weight, Mapping):
        return column
    if column.hierarchy is None:
        raise ParameterError(
            f"The 'weights' parameter of Anonymizer gives weights of nodes for {column.name!r}, which has no hierarchy.",
            hint="give the column one number, or a hierarchy.",
        )
    return replace(column, hierarchy=column.hierarchy.weighted(weight))


def check_weights(weights: Mapping[str, Weight] | None, names: Sequence[str]) -> FloatArray:
    """Return one finite, non-negative weight a column (1 if none is given or its nodes have weights), or raise."""
    given = {name: 1.0 if isinstance(weight, Mapping) else weight for name, weight in (weights or {}).items()}
    check_keys("weights", given, names)
    for name, weight in (weights or {}).items():
        for one in weight.values() if isinstance(weight, Mapping) else ():
            check_float("Anonymizer", f"weights[{name!r}]", one, least=0.0, most=_MOST_WEIGHT)
    checked = [
        check_float("Anonymizer", f"weights[{name!r}]", given.get(name, 1.0), least=0.0, most=_MOST_WEIGHT)
        for name in names
    ]
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
        return _encode_by_hierarchy(frame, name, hierarchy, codes=kind == "nominal")
    if kind is None or kind in ("numeric", "date"):
        _check_unambiguous(frame, name)
    if kind is not None and not isinstance(kind, str):
        return _encode_ordinal(name, frame.cells(name), list(kind))
    column = _column_of_kind(frame, name, kind)
    if is_ordered(column.type) and kind != "nominal":
        return _encode_interval(name, column)
    order = ranged_order(_few_texts(column)) if kind is None else ()
    return _encode_ordinal(name, frame.cells(name), list(order)) if order else _encode_set(name, column)


def _few_texts(column: pa.ChunkedArray) -> list[str]:
    """Return the different texts of a column that has few of them; none of another column."""
    kind = value_type(column.type)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return []
    texts = encode_dictionary(column).dictionary
    return [] if len(texts) > MOST_ORDERED else value_texts(texts).to_pylist()


def _check_unambiguous(frame: Frame, name: str) -> None:
    """Refuse a column whose texts are numbers or dates in two ways: which one is meant is the user's to say."""
    choices = frame.reading(name).choices
    if not choices:
        return
    parameter, what = ("date_format", "dates") if "%" in choices[0] else ("decimal", "numbers")
    raise AmbiguousNotationError(
        f"The column {name!r} holds {what} that can be read in two ways: {parameter} {' or '.join(choices)}."
        if len(choices) > 1
        else f"The column {name!r} holds {what} with two-digit years, whose century is not known.",
        hint=f'say which with {parameter}="{choices[0]}", or leave it as text with kinds={{"{name}": "nominal"}}.',
    )


def _encode_interval(name: str, column: pa.ChunkedArray) -> tuple[CodedColumn, IntArray]:
    values, exact, codes, has_missing = rank_values(column)
    if exact.dtype.kind == "f" and not np.isfinite(exact).all():
        raise DataError(
            f"The column {name!r} holds infinite values, so its range has no width.",
            hint="replace them by missing values or by the largest value that can occur.",
        )
    position, origin = positions_of(exact)
    coded = CodedColumn(name, RANGES, values, has_missing, position=position, original_type=column.type, origin=origin)
    return coded, codes


def _encode_ordinal(name: str, column: pa.ChunkedArray, order: list[str]) -> tuple[CodedColumn, IntArray]:
    if len(set(order)) != len(order):
        raise ParameterError(f"The order given for column {name!r} names a value twice. Name each value once.")
    encoded = encode_dictionary(column)
    mapped = match_texts([value_text(value) for value in order], value_texts(encoded.dictionary).to_pylist())
    _check_covered(name, "The order given", encoded, mapped)
    codes, has_missing = _mapped_codes(encoded, mapped, len(order))
    position = np.arange(len(order), dtype=np.float64)
    values = pa.array([value_text(value) for value in order], pa.string())
    coded = CodedColumn(name, RANGES, values, has_missing, position=position, ordinal=True, original_type=column.type)
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
    rows = np.flatnonzero(np.isin(np.asarray(encoded.indices.fill_null(-1)), unknown))
    texts = value_texts(encoded.dictionary.take(pa.array(unknown[:_MOST_SHOWN]))).to_pylist()
    raise HierarchyError(
        f"{owner} for column {name!r} does not cover the data: it lacks {len(unknown):,} of its values "
        f"({len(rows):,} rows, the first is row {rows[0] + 1:,}).",
        hint="add the missing values to it, or correct them in the table.",
        values=texts,
    )


def check_kinds(owner: str, kinds: Any) -> dict[str, KindChoice]:
    """Return how columns are read: a word, or values in order."""
    given = check_mapping(owner, "kinds", kinds)
    for name, kind in given.items():
        words = isinstance(kind, Iterable) and not isinstance(kind, (bytes, Mapping)) and not hasattr(kind, "columns")
        if not words or any(isinstance(one, Iterable) and not isinstance(one, str) for one in kind):
            raise wrong(owner, f"kinds[{name!r}]", "a word or a list of values in order", kind)
    return {name: kind if isinstance(kind, str) else [value_text(one) for one in kind] for name, kind in given.items()}


def check_hierarchies(owner: str, hierarchies: Any, suggested: Iterable[str] = ()) -> dict[str, HierarchyChoice]:
    """Return how columns are made coarser, each named in a way that can be understood, or raise.

    One word, ``"auto"`` or ``"suggest"``, stands for all columns ``suggested``.
    """
    if isinstance(hierarchies, str) and hierarchies in ("auto", "suggest"):
        return dict.fromkeys(suggested, hierarchies)
    given = check_mapping(owner, "hierarchies", hierarchies)
    for name, choice in given.items():
        if not isinstance(choice, (Hierarchy, str, Path)) or choice == "":
            raise wrong(
                owner,
                f"hierarchies[{name!r}]",
                "a Hierarchy, the path of a file, 'flat', 'set', 'suggest' or 'auto'",
                choice,
                "make one with Hierarchy.from_dict, from_csv, from_prefixes and so on.",
            )
    return given


def load_hierarchy(name: str, choice: HierarchyChoice) -> Hierarchy:
    """Return the hierarchy a user named for a column: an object, or the path of a file."""
    if isinstance(choice, Hierarchy):
        return choice
    if isinstance(choice, (str, Path)):
        return Hierarchy.from_csv(choice)
    raise ParameterError(
        f"The hierarchy of column {name!r} must be a Hierarchy, a file name, 'flat', 'set', 'suggest' or 'auto'. Got {type(choice).__name__}."
    )


def _encode_by_hierarchy(
    frame: Frame, name: str, choice: HierarchyChoice, *, codes: bool
) -> tuple[CodedColumn, IntArray]:
    column = frame.cells(name)
    if isinstance(choice, str) and choice == "set":
        return _encode_set(name, column)
    if isinstance(choice, str) and choice == "auto":
        if not codes and is_ordered(frame.typed(name).type):
            return _encode_column(frame, name, None, None)
        _refuse_unlearned(frame, name, codes=codes)
    encoded = encode_dictionary(column)
    texts = value_texts(encoded.dictionary).to_pylist()
    if isinstance(choice, str) and choice == "flat":
        hierarchy = Hierarchy.flat(sorted(set(texts)) or ["*"])
    elif isinstance(choice, str) and choice in ("auto", "suggest"):
        meanings = sorted(
            text_meanings(frame, name, codes=codes).items()
        )  # the order of rows is not to decide that of leaves
        hierarchy = Hierarchy.suggest(dict(meanings) or {"*": None}, name)
    else:
        hierarchy = load_hierarchy(name, choice)
    mapped = hierarchy.leaf_codes(texts)
    _check_covered(name, "The hierarchy", encoded, [int(code) for code in mapped])
    numbers, has_missing = _mapped_codes(encoded, [int(code) for code in mapped], hierarchy.n_leaves)
    values = pa.array(hierarchy.leaves, pa.string())
    coded = CodedColumn(name, NODES, values, has_missing, hierarchy=hierarchy, original_type=column.type)
    return coded, numbers


def _refuse_unlearned(frame: Frame, name: str, *, codes: bool) -> None:
    """Refuse a column whose hierarchy should have been learned from all records: here there is one column only."""
    if learnable(text_meanings(frame, name, codes=codes), name) is not None:
        raise ParameterError(
            f"The hierarchy of column {name!r} must be learned from all records, which is done in memory only. Got 'auto'.",
            hint='learn it once with "shoal hierarchy learn" and name the file, or choose "suggest", "set" or "flat".',
        )


def _encode_set(name: str, column: pa.ChunkedArray) -> tuple[CodedColumn, IntArray]:
    encoded = encode_dictionary(column)
    if len(encoded.dictionary) > _MOST_SET_VALUES:
        raise DataError(
            f"The column {name!r} has {len(encoded.dictionary):,} distinct values, too many to release as sets.",
            hint="give it a hierarchy, or make it an identifier if it tells people apart.",
        )
    texts = value_texts(encoded.dictionary).to_pylist()
    place = {
        text: number for number, text in enumerate(text_order(texts))
    }  # sets print in the order that their values have
    order = np.array(sorted(range(len(texts)), key=lambda index: (place.get(texts[index], 0), texts[index])), np.int64)
    codes, has_missing = rank_codes(encoded, order)
    values = pa.array([texts[index] for index in order], pa.string())
    return CodedColumn(name, SETS, values, has_missing, original_type=column.type), codes


def encode_attribute(
    frame: Frame, name: str, hierarchy: HierarchyChoice | None = None, kind: KindChoice | None = None
) -> CodedAttribute:
    """Code a sensitive or class column; numbers and dates in their order, text in the order of its letters.

    ``kind`` says otherwise, as it does for a quasi-identifier: ``"nominal"`` numbers have no order, a list is one.
    """
    tree = (
        None
        if hierarchy is None or (isinstance(hierarchy, str) and hierarchy in WORDS)
        else load_hierarchy(name, hierarchy)
    )
    if kind is not None and not isinstance(kind, str):
        column, codes = _encode_ordinal(name, frame.cells(name), list(kind))
        return CodedAttribute(name, codes, column.values, tree, ordered=True)
    encoded = encode_dictionary(_column_of_kind(frame, name, kind))
    ordered = is_ordered(encoded.dictionary.type) and kind != "nominal"
    if ordered:
        order = np.argsort(exact_numbers(encoded.dictionary), kind="stable")
    else:
        texts = value_texts(encoded.dictionary).to_pylist()
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    codes, _ = rank_codes(encoded, order)
    return CodedAttribute(name, codes, encoded.dictionary.take(pa.array(order)), tree, ordered)


def _column_of_kind(frame: Frame, name: str, kind: str | None) -> pa.ChunkedArray:
    """Return a column as the kind the user calls it."""
    if kind == "nominal":
        return frame.cells(name)
    if kind == "numeric":
        return as_numbers(name, frame.typed(name))
    if kind == "date":
        return as_dates(name, frame.typed(name))
    if kind is None:
        return frame.typed(name)
    raise ParameterError(
        f"The kind of column {name!r} must be 'numeric', 'date', 'nominal' or a list of values in order. Got {kind!r} instead.",
        hint=nearest_hint(kind, ["numeric", "date", "nominal"]),
    )
