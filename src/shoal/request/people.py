"""Persons and households: their columns, and the warning if a table seems to repeat people without a person column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.encoding import Unit
from shoal.errors import ColumnError, ParameterError, RepeatedPersonWarning, warn
from shoal.frames import Frame
from shoal.inspection import repeating_key
from shoal.methods.base import Method
from shoal.privacy.base import PrivacyModel
from shoal.request.roles import Roles
from shoal.validation import wrong

_REMOVED = "identifiers"
"""The one other role that a person or household column may have: it is removed in any case."""


def check_unit(unit: Unit, name: Any, roles: Roles) -> str | None:
    """Return the name of a person or household column, which has no other part in the release."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise wrong("Anonymizer", unit, "the name of a column", name)
    other = next(
        (role for role, names in roles.items() if name in names and role not in (_REMOVED, "pseudonymize")), None
    )
    if other is not None:
        raise ColumnError(
            f"The column {name!r} is the {unit} and one of {other} too. Give it one role.",
            hint=f"a {unit} column identifies the {unit} a record belongs to, and is removed.",
        )
    return name


def check_survey_weight(name: Any, roles: Roles, units: dict[Unit, str | None]) -> str | None:
    """Return the name of the column of survey weights, which may be kept or removed but has no other part in the release."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise wrong("Anonymizer", "survey_weight", "the name of a column", name)
    taken = {**{role: names for role, names in roles.items() if role not in ("keep", _REMOVED)}}
    taken |= {unit: [column] for unit, column in units.items() if column is not None}
    other = next((role for role, names in taken.items() if name in names), None)
    if other is not None:
        raise ColumnError(f"The column {name!r} is the survey weight and one of {other} too. Give it one role.")
    return name


def check_together(
    units: dict[Unit, str | None], together: Any, method: Method, models: Sequence[PrivacyModel]
) -> bool:
    """Return whether records of a person stay together, after a check that all that is asked for goes with it."""
    if not isinstance(together, bool):
        raise wrong("Anonymizer", "together", "True or False", together)
    if together and units["person"] is None:
        raise ParameterError(
            "The 'together' parameter of Anonymizer needs a person column. Got no 'person'.",
            hint='name the column, as in person="patient_id".',
        )
    if units["person"] is not None and units["person"] == units["household"]:
        raise ColumnError(f"The column {units['person']!r} is both the person and the household. Give it one role.")
    if (together or units["household"] is not None) and method.info.family == "global":
        what = "together" if together else "household"
        raise ParameterError(
            f"The {what!r} parameter of Anonymizer cannot be combined with the method {method.info.name!r}, which recodes values "
            "alike everywhere and cannot choose companions.",
            hint="take another method, such as 'optimize'.",
        )
    by_record = [type(model).__name__ for model in models if not model.by_persons]
    if any(units.values()) and by_record:
        raise ParameterError(
            f"{by_record[0]} counts records, and cannot be used with 'person' or 'household'.",
            hint="give it a table of one record a person.",
        )
    return together


def warn_of_repeated_people(frame: Frame, roles: Roles) -> None:
    """Warn if a column that is not released seems to name the same people in several records."""
    released = {name for role, names in roles.items() if role != _REMOVED for name in names}
    key = repeating_key(frame, [name for name in frame.names if name not in released])
    if key is not None:
        warn(
            f"The column {key.name!r} seems to name {key.distinct} people in {frame.records} records, and k counts records: "
            f'a group may hold fewer people than k. Count people with person="{key.name}".',
            RepeatedPersonWarning,
        )
