"""A first look at a table: what each column may be, and which columns pick people out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.audit import UniqueSet, column_codes, unique_sets
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary, is_nested, refuse_nested, to_frame
from shoal.inspection.roles import FREE_TEXT, NESTED, REPEATS, UNSURE, guess_role, is_coded_category
from shoal.inspection.words import Role
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import check_columns

_TOGETHER = 3
_WORDS_OF_FREE_TEXT = 4
"""Text of so many words in the mean, most of it different, is free text."""
_SHARED = ("(name of a person)", "name: name;", "(address)", "(contact)")
"""Reasons of identifiers that several people may have in common."""
_ROWS_EACH = 1.2
"""A key that stands in so many rows in the mean names people with several rows."""


@dataclass(frozen=True)
class ColumnView:
    """What a column looks like."""

    name: str
    type: str
    distinct: int
    missing: int
    unique: int
    """Records whose value no other record has."""
    role: Role
    reason: str
    reading: str = ""
    """How its text is understood, where this is not plain."""
    suggested_kind: str = ""
    """``nominal`` where its numbers look like codes for categories."""


@dataclass(frozen=True)
class Combination:
    """Columns that an outsider may know together."""

    columns: tuple[str, ...]
    unique: int
    """Records no other record shares all these values with."""
    smallest: int
    groups: int


@dataclass(frozen=True)
class Inspection:
    """A first look at a table."""

    records: int
    columns: tuple[ColumnView, ...]
    combinations: tuple[Combination, ...]
    """Each quasi-identifier alone, every two of them, and all."""
    unique_sets: tuple[UniqueSet, ...] = ()
    """The smallest sets of up to three quasi-identifiers by which records are alone."""
    notes: tuple[str, ...] = ()
    """What reading the table met, as sentences."""

    @property
    def unsure(self) -> list[str]:
        """The columns nothing is known about: the steward must say whether outsiders know them."""
        return [column.name for column in self.columns if column.reason == UNSURE]

    @property
    def person(self) -> ColumnView | None:
        """The identifier that names the same people in several rows, the one with the most people first."""
        keys = [column for column in self.columns if column.reason.endswith(REPEATS)]
        return max(keys, key=lambda column: column.distinct, default=None)

    def named(self, role: Role) -> list[str]:
        """Return the columns guessed to have a role."""
        return [column.name for column in self.columns if column.role == role]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"person": self.person.name if self.person else None}


def inspect_table(data: Any, quasi_identifiers: Sequence[str] = ()) -> Inspection:
    """Look at a table; ``quasi_identifiers`` replace the guessed ones."""
    frame = to_frame(data)
    if not frame.names or frame.records == 0:
        raise DataError("The table has no rows. There is nothing to inspect.")
    given = check_columns("a quasi-identifier", quasi_identifiers, frame.names)
    columns = column_views(frame, given)
    known = given or tuple(column.name for column in columns if column.role == "quasi-identifier")
    alone = tuple(unique_sets(frame, known, largest=_TOGETHER)) if known else ()
    return Inspection(frame.records, columns, _combine(frame.table, known), alone, frame.notes)


def repeating_key(frame: Frame, names: Sequence[str]) -> ColumnView | None:
    """Return the column among ``names`` that seems to be a person's key and stands in several rows of each.

    People share names, addresses and telephones, so those do not count.
    """
    views = (_view(frame, name, ()) for name in names)
    keys = [
        view for view in views if view.reason.endswith(REPEATS) and not any(word in view.reason for word in _SHARED)
    ]
    return max(keys, key=lambda view: view.distinct, default=None)


def column_views(frame: Frame, given: Sequence[str] = ()) -> tuple[ColumnView, ...]:
    """Look at each column by itself; ``given`` are the quasi-identifiers where they are known."""
    refuse_nested(frame, given)
    return tuple(_view(frame, name, given) for name in frame.names)


def _view(frame: Frame, name: str, given: Sequence[str]) -> ColumnView:
    column = frame.table.column(name)
    if is_nested(column.type):
        return ColumnView(name, "nested", 0, int(column.null_count), 0, "other", NESTED)
    typed = frame.typed(name)
    encoded = encode_dictionary(typed)
    counts = np.bincount(np.asarray(encoded.indices.drop_null()), minlength=len(encoded.dictionary))
    distinct, unique = int((counts > 0).sum()), int((counts == 1).sum())
    kind = type_word(encoded.dictionary.type)
    role, reason = _role(frame, name, kind, distinct, encoded.dictionary)
    if name in given:
        role, reason = "quasi-identifier", "in --qi"
    elif given and role == "quasi-identifier":
        role, reason = "other", f"not in --qi; {reason}"
    return ColumnView(
        name,
        kind,
        distinct,
        int(typed.null_count),
        unique,
        role,
        reason,
        reading=frame.understood([name]).get(name, ""),
        suggested_kind="nominal" if role != "identifier" and is_coded_category(name, kind, distinct) else "",
    )


def _role(frame: Frame, name: str, kind: str, distinct: int, values: pa.Array) -> tuple[Role, str]:
    role, reason = guess_role(name, kind, distinct, frame.records)
    named = role == "identifier" and reason.startswith("name")
    if kind == "text" and not named and _is_free_text(values, frame.records):
        return "identifier", FREE_TEXT
    if named and distinct > 1 and frame.records >= _ROWS_EACH * distinct:
        return role, f"{reason}; {REPEATS}"
    return role, reason


def _is_free_text(texts: pa.Array, records: int) -> bool:
    """Tell whether texts are sentences: several words each, most of them different."""
    if len(texts) * 2 < records or not pa.types.is_string(texts.type):
        return False
    words = pc.mean(pc.count_substring_regex(texts, r"\S+")).as_py() or 0.0
    return bool(words >= _WORDS_OF_FREE_TEXT)


def type_word(kind: pa.DataType) -> str:
    """Return a plain word for a type."""
    if pa.types.is_integer(kind):
        return "whole number"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_temporal(kind):
        return "time"
    return "yes/no" if pa.types.is_boolean(kind) else "text"


def _combine(table: pa.Table, names: Sequence[str]) -> tuple[Combination, ...]:
    """Count each column alone, every two, and all; pairs that pick out most people first."""
    codes = column_codes(table, names)
    place = {name: row for row, name in enumerate(names)}

    def count(chosen: tuple[str, ...]) -> Combination:
        size = distinct_tuples(codes[[place[name] for name in chosen]]).size
        return Combination(chosen, int((size == 1).sum()), int(size.min()), len(size))

    alone = [count((name,)) for name in names]
    pairs = [count(pair) for pair in combinations(names, 2)] if len(names) > 2 else []
    together = [count(tuple(names))] if len(names) > 1 else []
    order = [*sorted(alone, key=lambda one: -one.unique), *sorted(pairs, key=lambda one: -one.unique), *together]
    return tuple(order)
