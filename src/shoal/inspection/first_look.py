"""A first look at a table: what each column may be, and which columns pick people out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.audit import UniqueSet, column_codes, unique_sets
from shoal.derived import find_derived
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary, is_nested, refuse_nested, to_frame
from shoal.inspection.formats import UNCERTAIN, kind_of_values
from shoal.inspection.roles import (
    FREE_TEXT,
    NESTED,
    REPEATS,
    UNSURE,
    Guess,
    Numbers,
    Unit,
    guess,
    is_coded_category,
    is_postcode,
)
from shoal.inspection.words import Role
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import check_columns

USUAL_K = 10
"""The k of the command that an inspection proposes."""
_TOGETHER = 3
_WORDS_OF_FREE_TEXT = 4
"""Text of so many words on average, most of it different, is free text."""
_MOST_WORDED = 2_000
"""Text with more different values is not looked at for what it is about."""
_SHARED = ("(name of a person)", "name: name;", "(address)", "(contact)")
"""Reasons of identifiers that several people may have in common."""


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
    """How its text is understood, if this is not plain."""
    suggested_kind: str = ""
    """``nominal`` if its numbers look like codes for categories."""
    suggested_hierarchy: str = ""
    """``auto`` if its codes are places that their first digits group, such as zip codes."""
    unit: Unit = ""
    """``person`` or ``household`` if it identifies the person or household of a record, ``weight`` if it says how many people a record represents."""
    evidence: tuple[str, ...] = ()
    """What speaks for the role: its name, its values, how they repeat."""


@dataclass(frozen=True)
class Combination:
    """Columns that an outsider may know together."""

    columns: tuple[str, ...]
    unique: int
    """Records no other record shares all these values with."""
    smallest: int
    groups: int


@dataclass(frozen=True)
class Giveaway:
    """A column that follows from the quasi-identifiers: an outsider who knows them knows it too."""

    column: str
    formula: str
    sources: tuple[str, ...]
    share: float
    """For how many of the records in which both are known the formula gives the column."""
    certain: bool
    """Whether a formula or a map gives it; otherwise a decision tree predicts it."""
    below: int
    """Records that share its value with fewer than nine others; in a release with groups of ten at least so many fall below that."""


@dataclass(frozen=True)
class Inspection:
    """A first look at a table."""

    records: int
    columns: tuple[ColumnView, ...]
    combinations: tuple[Combination, ...]
    """Each quasi-identifier alone, every two of them, and all."""
    unique_sets: tuple[UniqueSet, ...] = ()
    """The smallest sets of up to three quasi-identifiers by which records are alone."""
    derived: tuple[Giveaway, ...] = ()
    """Columns that follow from the quasi-identifiers."""
    notes: tuple[str, ...] = ()
    """What reading the table met, as sentences."""

    @property
    def given_away(self) -> list[str]:
        """The columns that a formula or a map gives: they are known to everybody who knows the quasi-identifiers."""
        return [one.column for one in self.derived if one.certain]

    @property
    def unsure(self) -> list[str]:
        """The columns nothing is known about: the steward must say whether outsiders know them."""
        return [column.name for column in self.columns if column.reason == UNSURE]

    @property
    def person(self) -> ColumnView | None:
        """The identifier that names the same people in several rows, the one with the most people first."""
        return self._of_unit("person")

    @property
    def household(self) -> ColumnView | None:
        """The column that names households, if there is one."""
        return self._of_unit("household")

    @property
    def survey_weight(self) -> ColumnView | None:
        """The column that says how many people a record represents, if there is one."""
        return self._of_unit("weight")

    def _of_unit(self, unit: Unit) -> ColumnView | None:
        return max((one for one in self.columns if one.unit == unit), key=lambda one: one.distinct, default=None)

    def named(self, role: Role) -> list[str]:
        """Return the columns guessed to have a role."""
        return [column.name for column in self.columns if column.role == role]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {
            "person": self.person.name if self.person else None,
            "household": self.household.name if self.household else None,
            "survey_weight": self.survey_weight.name if self.survey_weight else None,
        }


def inspect_table(data: Any, quasi_identifiers: Sequence[str] = ()) -> Inspection:
    """Look at a table; ``quasi_identifiers`` replace the guessed ones."""
    frame = to_frame(data)
    if not frame.names or frame.records == 0:
        raise DataError("The table has no rows. There is nothing to inspect.")
    given = check_columns("a quasi-identifier", quasi_identifiers, frame.names)
    columns = column_views(frame, given)
    known = given or tuple(column.name for column in columns if column.role == "quasi-identifier")
    alone = tuple(unique_sets(frame, known, largest=_TOGETHER)) if known else ()
    found = Inspection(frame.records, columns, _combine(frame.table, known), alone, notes=frame.notes)
    return replace(found, derived=_giveaways(frame, found, known))


def _giveaways(frame: Frame, found: Inspection, known: Sequence[str]) -> tuple[Giveaway, ...]:
    """Return the columns, of those that may be released, that follow from the quasi-identifiers."""
    followed = [
        one.name for one in found.columns if one.name not in known and one.role != "identifier" and one.reason != NESTED
    ]
    person = found.person.name if found.person else None
    return tuple(
        Giveaway(one.column, one.formula, one.sources, one.share, one.certain, _rare(frame, one.column))
        for one in find_derived(frame, known, followed, person=person)
    )


def _rare(frame: Frame, name: str) -> int:
    counts = np.bincount(np.asarray(encode_dictionary(frame.typed(name)).indices.drop_null()), minlength=1)
    return int(counts[counts < USUAL_K].sum())


def repeating_key(frame: Frame, names: Sequence[str]) -> ColumnView | None:
    """Return the column among ``names`` that seems to be a person's key and occurs in several rows of each.

    People share names, addresses and telephones, so those do not count.
    """
    views = (_view(frame, name, ()) for name in names)
    keys = [view for view in views if view.unit == "person" and not any(word in view.reason for word in _SHARED)]
    return max(keys, key=lambda view: view.distinct, default=None)


def column_views(frame: Frame, given: Sequence[str] = ()) -> tuple[ColumnView, ...]:
    """Look at each column by itself; ``given`` are the quasi-identifiers if they are known."""
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
    found = _guessed(frame, name, kind, distinct, encoded.dictionary)
    role, reason = found.role, found.reason
    coded = role != "identifier" and (
        is_coded_category(name, kind, distinct) or (kind == "whole number" and is_postcode(name))
    )
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
        suggested_kind="nominal" if coded else "",
        suggested_hierarchy="auto" if coded and is_postcode(name) else "",
        unit="" if name in given else found.unit,
        evidence=found.evidence,
    )


def _guessed(frame: Frame, name: str, kind: str, distinct: int, values: pa.Array) -> Guess:
    """Return the role of a column by its name, its values and how they repeat."""
    texts = values.to_pylist() if pa.types.is_string(values.type) and len(values) <= _MOST_WORDED else ()
    found = guess(name, kind, distinct, frame.records, _numbers(values), texts)
    held = kind_of_values(_spread(values)) if kind in {"text", "whole number"} and found.role != "identifier" else ""
    if held and not found.unit and (found.reason == UNSURE or held not in UNCERTAIN):
        said = f"values: {held}"
        return Guess("identifier", said, evidence=(said, *found.evidence))
    named = found.role == "identifier" and found.reason.startswith("name")
    if kind == "text" and not named and _is_free_text(values, frame.records):
        return Guess("identifier", FREE_TEXT, evidence=(FREE_TEXT,))
    if found.unit == "weight" and (frame.table.column(name).null_count or _least(values) <= 0):
        return replace(found, unit="", reason=f"{found.reason}, but missing or 0 in some rows")
    if found.unit in {"person", "household"} and frame.typed(name).null_count:
        return replace(
            found, unit="", reason=f"{found.reason}, but empty in some rows, so it does not identify their persons"
        )
    if found.unit == "person":
        return replace(found, reason=f"{found.reason}; {REPEATS}")
    return found


def _least(values: pa.Array) -> float:
    seen = _numbers(values)
    return seen.least if seen else 0.0


def _spread(values: pa.Array) -> list[str]:
    """Return some distinct values of a column as text, spread over all."""
    step = max(len(values) // 200, 1)
    return [str(value) for value in values[::step].to_pylist()] if len(values) else []


def _numbers(values: pa.Array) -> Numbers | None:
    """Return what is seen of a column of numbers; of equal ones each once."""
    kind = values.type
    if not len(values) or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    ends = pc.min_max(values).as_py()
    return Numbers(float(ends["min"]), float(pc.mean(values).as_py()), float(ends["max"]))


def _is_free_text(texts: pa.Array, records: int) -> bool:
    """Return whether texts are sentences: several words each, most of them different."""
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
