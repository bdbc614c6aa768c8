"""``shoal inspect --rules``: what a rule about identifiers finds in a table, and the command that follows it."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from shoal.cli.console import make_table, out, print_json
from shoal.cli.options import Place, Reading
from shoal.cli.proposing import group_size, listed, reading_options

if TYPE_CHECKING:
    from shoal.frames import Frame
    from shoal.inspection.hipaa import SafeHarbor

_WORDS = {"remove": "remove", "year": "show the year", "top-code": "one value from 90 on"}


def show_rules(frame: Frame, file: Place, reading: Reading, *, as_json: bool) -> None:
    """Print what each of the eighteen rules of HIPAA's Safe Harbor found, and the command that does it."""
    from shoal.inspection.hipaa import safe_harbor

    found = safe_harbor(frame)
    command = rules_command(found, file, reading)
    if as_json:
        print_json({"rules": [asdict(one) for one in found.findings], "actions": found.actions, "command": command})
        return
    console = out()
    table = make_table("", "kind", "found", "would do", whole=["kind"])
    for one in found.findings:
        done = sorted({_WORDS[action] for action in one.columns.values()})
        table.add_row(one.letter, one.name, "; ".join(one.evidence) or "nothing", ", ".join(done))
    console.print("HIPAA Safe Harbor, 45 CFR 164.514(b)(2): eighteen kinds of identifiers", style="bold")
    console.print(table)
    console.print(
        "The rule also asks that you know of no way in which the rest could identify a person. Names and addresses inside free text are found only by their "
        "form. Read such columns yourself, or remove them.",
        soft_wrap=True,
    )
    if command:
        console.print("This command removes them, and makes the remaining columns k-anonymous:", style="bold")
        console.print("  " + shlex.join(command), soft_wrap=True, markup=False, highlight=False)
    else:
        console.print("No quasi-identifier is left, so there is nothing to group; remove the columns named above.")


def rules_command(found: SafeHarbor, file: Place, reading: Reading) -> list[str]:
    """Return the words of a command that removes, shows years and cuts off ages, and groups the other columns that an outsider may know."""
    actions, columns = found.actions, found.inspection.columns
    known = [one.name for one in columns if one.role == "quasi-identifier" and one.name not in actions]
    if not known:
        return []
    removed = [one.name for one in columns if actions.get(one.name) == "remove"]
    treated = {one.name: actions[one.name] for one in columns if actions.get(one.name) in {"year", "top-code"}}
    sensitive = [one.name for one in columns if one.role == "sensitive" and one.name not in actions]
    kept = [one.name for one in columns if one.name not in {*known, *removed, *sensitive}]
    parts = ["shoal", "anonymize", str(file), *reading_options(reading), "-k", str(group_size(found.inspection))]
    for option, names in (("--qi", known), ("--sensitive", sensitive), ("--keep", kept), ("--identifier", removed)):
        parts += [option, listed(names)] if names else []
    for name, action in treated.items():
        parts += ["--treat", f"{name}={'round:year' if action == 'year' else 'top-code:90'}"]
    for column in columns:
        if column.name in known and column.suggested_kind:
            parts += ["--kind", f"{column.name}={column.suggested_kind}"]
    return [*parts, "-o", "release.csv"]
