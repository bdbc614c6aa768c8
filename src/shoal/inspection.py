"""A first look at a table: what each column may be, and which columns pick people out.

Roles are guessed from names, types and repetition; the steward decides. No value of the table is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.audit import UniqueSet, column_codes, unique_sets
from shoal.errors import DataError
from shoal.frames import Frame, encode_dictionary, to_frame
from shoal.kernels.tuples import distinct_tuples
from shoal.validation import check_columns

Role = Literal["identifier", "quasi-identifier", "sensitive", "other"]

_IDENTIFIER = frozenset(
    [
        "ssn",
        "email",
        "mail",
        "phone",
        "telephone",
        "tel",
        "mobile",
        "fax",
        "passport",
        "iban",
        "account",
        "uuid",
        "guid",
        "mrn",
        "username",
        "login",
        "url",
        "ip",
        "address",
        "street",
        "surname",
        "firstname",
        "lastname",
        "forename",
        "fullname",
        "nickname",
        "licence",
        "license",
        "plate",
    ]
)
_PERHAPS_IDENTIFIER = frozenset(["name", "id", "ids", "nr", "no", "number", "key", "record", "identifier"])
_QUASI = frozenset(
    [
        "age",
        "birth",
        "birthday",
        "birthdate",
        "dob",
        "born",
        "year",
        "sex",
        "gender",
        "zip",
        "zipcode",
        "postcode",
        "postal",
        "plz",
        "city",
        "town",
        "village",
        "county",
        "state",
        "region",
        "district",
        "country",
        "nation",
        "nationality",
        "citizenship",
        "native",
        "race",
        "ethnicity",
        "ethnic",
        "marital",
        "married",
        "education",
        "school",
        "degree",
        "job",
        "occupation",
        "profession",
        "employer",
        "workclass",
        "work",
        "industry",
        "language",
        "height",
        "weight",
        "children",
        "household",
        "relationship",
        "admission",
        "discharge",
        "visit",
        "date",
        "day",
        "month",
        "place",
        "location",
        "hours",
        "tenure",
    ]
)
_SENSITIVE = frozenset(
    [
        "diagnosis",
        "diagnoses",
        "disease",
        "icd",
        "condition",
        "illness",
        "symptom",
        "treatment",
        "therapy",
        "medication",
        "drug",
        "procedure",
        "hiv",
        "test",
        "result",
        "outcome",
        "blood",
        "disability",
        "salary",
        "income",
        "wage",
        "pay",
        "earnings",
        "debt",
        "loan",
        "credit",
        "capital",
        "gain",
        "loss",
        "score",
        "grade",
        "crime",
        "offence",
        "offense",
        "conviction",
        "religion",
        "party",
        "vote",
        "union",
        "orientation",
        "pregnancy",
        "genotype",
    ]
)
_WORD = re.compile(r"[A-Z]?[a-zà-ÿ]+|[A-Z]+(?![a-z])")
_NEARLY_ALL = 0.95
UNSURE = "decide yourself"
"""The reason given where neither name nor type nor repetition says anything."""
_TOGETHER = 3
_FEWEST_ROWS = 20
"""In a table with fewer rows, values that never repeat say little."""


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

    @property
    def unsure(self) -> list[str]:
        """The columns nothing is known about: the steward must say whether outsiders know them."""
        return [column.name for column in self.columns if column.reason == UNSURE]

    def named(self, role: Role) -> list[str]:
        """Return the columns guessed to have a role."""
        return [column.name for column in self.columns if column.role == role]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def inspect_table(data: Any, quasi_identifiers: Sequence[str] = ()) -> Inspection:
    """Look at a table; ``quasi_identifiers`` replace the guessed ones."""
    frame = to_frame(data)
    if not frame.names or frame.records == 0:
        raise DataError("The table has no rows. There is nothing to inspect.")
    given = check_columns("a quasi-identifier", quasi_identifiers, frame.names)
    columns = tuple(_view(frame, name, given) for name in frame.names)
    known = given or tuple(column.name for column in columns if column.role == "quasi-identifier")
    alone = tuple(unique_sets(frame, known, largest=_TOGETHER)) if known else ()
    return Inspection(frame.records, columns, _combine(frame.table, known), alone)


def _view(frame: Frame, name: str, given: Sequence[str]) -> ColumnView:
    typed = frame.typed(name)
    encoded = encode_dictionary(typed)
    counts = np.bincount(np.asarray(encoded.indices.drop_null()), minlength=len(encoded.dictionary))
    distinct, unique = int((counts > 0).sum()), int((counts == 1).sum())
    kind = type_word(encoded.dictionary.type)
    if given:
        role, reason = guess_role(name, kind, distinct, frame.records)
        if name in given:
            role, reason = "quasi-identifier", "in --qi"
        elif role == "quasi-identifier":
            role, reason = "other", f"not in --qi; {reason}"
    else:
        role, reason = guess_role(name, kind, distinct, frame.records)
    return ColumnView(name, kind, distinct, int(typed.null_count), unique, role, reason)


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


def words_of(name: str) -> list[str]:
    """Return the words of a column name: ``birthDate``, ``birth_date`` and ``BIRTH-DATE`` have the same."""
    return [word.lower() for word in _WORD.findall(name)]


def guess_role(name: str, kind: str, distinct: int, records: int) -> tuple[Role, str]:
    """Return the likely role of a column, and why."""
    words = words_of(name)
    for role, known in (("identifier", _IDENTIFIER), ("sensitive", _SENSITIVE), ("quasi-identifier", _QUASI)):
        found = [word for word in words if word in known]
        if found:
            return role, f"name: {found[0]}"  # type: ignore[return-value]
    for word in words:
        if word in _PERHAPS_IDENTIFIER:
            return "identifier", f"name: {word}"
    if kind in {"text", "whole number"} and records >= _FEWEST_ROWS and distinct >= _NEARLY_ALL * records:
        return "identifier", "hardly repeats"
    if kind in {"date", "time"}:
        return "quasi-identifier", "a date"
    return "other", UNSURE


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
