"""The roles of columns, and the check that no column has two."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from shoal.encoding import CodedTable
from shoal.errors import ColumnError, ColumnLeftOutWarning, NotationNotice, warn
from shoal.frames import Frame
from shoal.inspection import is_coded_category, type_word
from shoal.validation import check_columns

Roles = Mapping[str, Sequence[str]]
"""The columns of each role."""

ROLES = {
    "quasi_identifiers": "a quasi-identifier",
    "sensitive": "sensitive",
    "identifiers": "an identifier",
    "keep": "to keep",
    "pseudonymize": "to pseudonymize",
}
"""Every role, and its words in messages."""
OTHERS = {"person": "the person column", "household": "the household column", "survey_weight": "the survey weight"}
"""Columns that are not a part of the release but are looked at, and how a message calls them."""


_ROWS_EACH = 3
"""Fewest records, on average, in which a code for a category occurs."""


def check_roles(roles: Roles) -> None:
    """Refuse a column with two roles."""
    role_of: dict[str, str] = {}
    for role, names in roles.items():
        for name in names:
            if name in role_of:
                raise ColumnError(
                    f"The column {name!r} has two roles, {role_of[name]} and {role}. Give it one."
                    if role_of[name] != role
                    else f"The column {name!r} is named twice in {role}. Name it once."
                )
            role_of[name] = role


def check_role_columns(roles: Roles, frame: Frame) -> None:
    """Refuse a role of a column that the table does not have."""
    for role, names in roles.items():
        check_columns({**ROLES, **OTHERS}[role], names, frame.names)


def warn_of_columns_left_out(roles: Roles, frame: Frame) -> None:
    """Warn about columns without a role, which are not a part of the release."""
    named = {name for names in roles.values() for name in names}
    left_out = [name for name in frame.names if name not in named]
    if left_out:
        warn(
            f"Columns without a role are left out of the release: {', '.join(left_out)}. "
            "Name them as quasi_identifiers, sensitive, keep or identifiers.",
            ColumnLeftOutWarning,
        )


def tell_of_coded_categories(table: CodedTable, settled: Container[str]) -> None:
    """Warn about quasi-identifiers that are released as ranges although their numbers look like codes for categories.

    Codes repeat, and two of them are as well off in a range as in a set; columns that are ``settled`` have a kind or a hierarchy of the user's choice.
    """
    coded = [
        one.name
        for one in table.columns
        if one.name not in settled
        and one.measured
        and 2 < len(one.values) <= table.records / _ROWS_EACH
        and is_coded_category(one.name, type_word(one.values.type), len(one.values))
    ]
    if coded:
        warn(
            f"The numbers in {', '.join(coded)} look like codes for categories, of which a range means little. If they are, give "
            f'kinds={{"{coded[0]}": "nominal"}}, or a hierarchy; kinds={{"{coded[0]}": "numeric"}} says that they are quantities.',
            NotationNotice,
        )


def select_roles(frame: Frame, roles: Roles, looked_at: Sequence[str] = ()) -> Frame:
    """Return only the columns with a role, which a release is made of, and those that methods and treatments look at."""
    check_role_columns(roles, frame)
    named = {name for names in roles.values() for name in names} | {*looked_at}
    return frame.select([name for name in frame.names if name in named])
