"""Treatments of kept and sensitive columns, which can give people away too.

A treatment changes the cells of a kept or sensitive column before models are bound to it, so that models hold of the values that are released.
Called by the request, the engines and the release. A treatment knows one column, and neither groups nor methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.encoding import is_ordered, positions
from shoal.errors import ColumnError, ParameterError
from shoal.frames import Frame, encode_dictionary
from shoal.treatments.base import Surroundings, Treatment
from shoal.treatments.coarsening import BottomCode, Round, TopCode
from shoal.treatments.others import Drop, Pram, ShiftDates
from shoal.treatments.perturbing import Microaggregate, Noise, RankSwap
from shoal.treatments.randomness import Randomness, SystemRandomness
from shoal.validation import check_columns, check_mapping, nearest_hint, wrong

__all__ = [
    "TREATMENTS",
    "BottomCode",
    "Drop",
    "Microaggregate",
    "Noise",
    "Pram",
    "RankSwap",
    "Round",
    "ShiftDates",
    "TopCode",
    "Treated",
    "Treatment",
    "TreatmentChoice",
    "check_treated_roles",
    "check_treatments",
    "dropped_columns",
    "make_treatment",
    "treat_columns",
    "treatment_settings",
]

TreatmentChoice = Treatment | Mapping[str, Any]
"""A treatment, or its name and parameters as a recipe has them."""

TREATMENTS: dict[str, type[Treatment]] = {
    kind.name: kind for kind in (Round, TopCode, BottomCode, Microaggregate, RankSwap, Pram, Noise, ShiftDates, Drop)
}


@dataclass(frozen=True)
class Treated:
    """What a treatment did to a column, in figures that name nobody."""

    column: str
    treatment: str
    words: str
    technique: str
    """The class and technique of ISO/IEC 20889."""
    changed: float
    """The share of the cells that show another value than before."""
    moved: float | None
    """The mean distance between old and new numbers or dates, in standard deviations of the column."""
    unique_before: int
    """Records that were alone with their value."""
    unique_after: int
    remains: str
    """What an intruder still finds."""


def make_treatment(name: str, **parameters: Any) -> Treatment:
    """Return the treatment called ``name`` with its parameters."""
    if name not in TREATMENTS:
        raise ParameterError(
            f"There is no treatment {name!r}.",
            hint=nearest_hint(name, TREATMENTS) or f"there are {', '.join(TREATMENTS)}.",
        )
    try:
        return TREATMENTS[name](**parameters)
    except TypeError:
        known = ", ".join(one.name for one in fields(TREATMENTS[name])) or "no parameters"
        raise ParameterError(
            f"The treatment {name!r} does not take just the parameters {sorted(parameters)}.", hint=f"it takes {known}."
        ) from None


def treatment_settings(treat: Mapping[str, Treatment]) -> dict[str, dict[str, Any]]:
    """Return treatments as plain values, for a recipe."""
    return {name: {"treatment": one.name, **one.settings()} for name, one in treat.items()}


def check_treatments(owner: str, treat: Any) -> dict[str, Treatment]:
    """Return the treatment of each column, given as an object or as plain values; or raise."""
    checked: dict[str, Treatment] = {}
    for name, one in check_mapping(owner, "treat", treat).items():
        if isinstance(one, Mapping):
            values = {str(key): value for key, value in one.items()}
            one = make_treatment(str(values.pop("treatment", "")), **values)  # noqa: PLW2901
        if not isinstance(one, Treatment):
            raise wrong(owner, f"treat[{name!r}]", "a treatment", one, hint="such as shoal.Round(100).")
        checked[name] = one
    return checked


def check_treated_roles(treat: Mapping[str, Treatment], roles: Mapping[str, Sequence[str]]) -> None:
    """Refuse to treat what is not kept: quasi-identifiers are recoded, identifiers removed, others left out."""
    kept = [*roles.get("sensitive", ()), *roles.get("keep", ())]
    for name in treat:
        if name in kept:
            continue
        role = next((role for role, names in roles.items() if name in names), None)
        if role is not None:
            raise ColumnError(
                f"The column {name!r} is named in {role} and cannot be treated: only kept and sensitive columns can.",
                hint="leave the treatment out, or give the column another role.",
            )
        raise ColumnError(
            f"The column {name!r} has a treatment but is neither kept nor sensitive.",
            hint=nearest_hint(name, kept) or f"add {name!r} to keep or sensitive.",
        )


def dropped_columns(settings: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the columns that treatments, given as plain values, leave out of a release."""
    return {name for name, one in settings.items() if one.get("treatment") == Drop.name}


# --- the treatment of a table ------------------------------------------------------------------------------------


def treat_columns(
    frame: Frame, treat: Mapping[str, Treatment], random: Randomness | None = None
) -> tuple[Frame, dict[str, Treated]]:
    """Return the table with its columns treated, and what was done to each; random numbers are the system's own."""
    if not treat:
        return frame, {}
    persons = [person for one in treat.values() if (person := getattr(one, "person", None))]
    check_columns("the person of a treatment", list(dict.fromkeys(persons)), frame.names)
    around = Surroundings(random or SystemRandomness(), frame.cells, {})
    done, table = {}, frame.table
    for name, one in treat.items():
        before = frame.typed(name)
        after = one.apply(name, before, around)
        done[name] = _what_was_done(name, one, before, after)
        table = table.set_column(table.column_names.index(name), name, after)
    return replace(frame, table=table), done


def _what_was_done(name: str, one: Treatment, before: pa.ChunkedArray, after: pa.ChunkedArray) -> Treated:
    return Treated(
        column=name,
        treatment=one.name,
        words=one.describe(),
        technique=one.technique,
        changed=_changed(before, after),
        moved=_moved(before, after),
        unique_before=unique_values(before),
        unique_after=0 if isinstance(one, Drop) else unique_values(after),
        remains=one.remains,
    )


def _changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    same = pc.fill_null(pc.equal(before, after), fill_value=True)
    return 1.0 - float(pc.mean(same.cast(pa.int8())).as_py() or 0.0) if len(before) else 0.0


def _moved(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float | None:
    if not is_ordered(before.type):
        return None
    old, new = (positions(one.drop_null()) for one in (before, after))
    spread = float(old.std()) if len(old) else 0.0
    return float(np.abs(new - old).mean()) / spread if spread > 0 else 0.0


def can_be_counted(kind: pa.DataType) -> bool:
    """Return whether values of a type are compared with each other."""
    return not (pa.types.is_nested(kind) or pa.types.is_interval(kind) or isinstance(kind, pa.BaseExtensionType))


def unique_values(column: pa.ChunkedArray) -> int:
    """Return how many rows are alone with their value; nested values are not compared."""
    if not can_be_counted(column.type):
        return 0
    encoded = encode_dictionary(column)
    counts = np.bincount(np.asarray(encoded.indices.drop_null()), minlength=1)
    return int((counts == 1).sum())
