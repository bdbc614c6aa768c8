"""The command that ``shoal inspect`` proposes: it is complete, so that running it makes the release that was described."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from shoal.cli.options import Place, Reading

if TYPE_CHECKING:
    from shoal.inspection import ColumnView, Inspection

_MARKS = {",": "comma", ".": "point", " ": "space", "'": "apostrophe", "": "none"}
_SMALLEST = 2


def proposed_command(found: Inspection, file: Place, reading: Reading) -> list[str]:
    """Return the words of a command that gives every column of a table the role that it was guessed to have."""
    roles = proposed_roles(found)
    if not roles["--qi"]:
        return []
    parts = ["shoal", "anonymize", str(file), *reading_options(reading), "-k", str(group_size(found))]
    for option, names in roles.items():
        if names:
            parts += [option, listed(names)]
    for column in found.columns:
        if column.name in roles["--qi"] and column.suggested_kind:
            parts += ["--kind", f"{column.name}={column.suggested_kind}"]
        if column.name in roles["--qi"] and column.suggested_hierarchy:
            parts += ["--hierarchy", f"{column.name}={column.suggested_hierarchy}"]
    if left_out(found):
        parts += ["--others", "drop"]
    return [*parts, "-o", "release.csv"]


def proposed_roles(found: Inspection) -> dict[str, list[str]]:
    """Return the columns of each option; what follows from quasi-identifiers is one of them."""
    units = {"--person": found.person, "--household": found.household, "--survey-weight": found.survey_weight}
    taken = {column.name for column in units.values() if column is not None}
    known = list(found.combinations[-1].columns) if found.combinations else []
    known = [name for name in [*known, *found.given_away] if name not in taken]

    def with_role(columns: Iterable[ColumnView], role: str) -> list[str]:
        return [one.name for one in columns if one.role == role and one.name not in {*taken, *known}]

    roles = {"--qi": known, "--sensitive": with_role(found.columns, "sensitive")}
    roles["--identifier"] = with_role(found.columns, "identifier")
    return roles | {option: [column.name] for option, column in units.items() if column is not None}


def left_out(found: Inspection) -> list[str]:
    """Return the columns that the proposed command leaves out because nothing says what they are."""
    decided = {name for names in proposed_roles(found).values() for name in names}
    return [column.name for column in found.columns if column.name not in decided]


def group_size(found: Inspection) -> int:
    """Return k: 10, or less in a table of so few people that hardly any group of ten could be formed."""
    from shoal.inspection import USUAL_K

    people = found.person.distinct if found.person else found.records
    households = found.household.distinct if found.household else people
    return max(min(USUAL_K, min(people, households) // 4), _SMALLEST)


def reading_options(reading: Reading) -> list[str]:
    """Return the options by which the table was read, as they would be written again."""
    parts: list[str] = []
    for option, value in (
        ("--table", reading.table),
        ("--query", reading.query),
        ("--separator", reading.separator),
        ("--encoding", reading.encoding),
    ):
        parts += [option, value] if value is not None else []
    for option, mark in (("--decimal", reading.decimal), ("--thousands", reading.thousands)):
        parts += [option, _MARKS.get(mark, mark)] if mark is not None else []
    for form in reading.date_format:
        parts += ["--date-format", form]
    if reading.missing is not None:
        parts += ["--missing", listed(reading.missing)]
    return parts


def listed(names: Iterable[str]) -> str:
    """Return names as one option takes them; one with a comma or a quote is quoted."""
    return ",".join('"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name for name in names)
