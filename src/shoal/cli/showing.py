"""What ``shoal anonymize`` prints about a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.console import make_table, out, print_json

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.encoding import CodedColumn
    from shoal.result import Result


def tell_result(result: Result, targets: list[Path], *, as_json: bool) -> None:
    """Print what came out."""
    if as_json:
        print_json(describe(result) | {"written": [str(target) for target in targets]})
    else:
        show_result(result, targets)


def describe(result: Result) -> dict[str, Any]:
    """Return what came out, as plain values."""
    from shoal.summary import second_look

    return {
        "records": result.released.num_rows,
        "withheld": result.suppressed,
        "groups": result.audit.groups,
        "k": result.audit.k,
        "loss": result.metrics["ncp"],
        "lower_bound": result.details.get("lower_bound"),
        "metrics": dict(result.metrics),
        "audit": result.audit.as_dict(),
        "warnings": list(second_look(result)),
        "recipe": result.recipe.model_dump(exclude_none=True),
    }


def show_result(result: Result, targets: list[Path]) -> None:
    """Print what came out, for people to read; what calls for a second look stands in the report too."""
    from shoal.summary import second_look

    console, audit = out(), result.audit
    withheld = f", {result.suppressed:,} withheld" if result.suppressed else ""
    console.print(
        f"{audit.records:,} records in {audit.groups:,} groups of {audit.k:,} or more{_whom(audit)}{withheld}.",
        style="bold",
    )
    console.print(loss_sentence(result))
    table = make_table("column", "released as", "loss", numbers=["loss"])
    for column in result.coded.columns:
        loss = result.metrics["ncp_by_column"][column.name]
        table.add_row(column.name, _form(result, column), f"{loss:.3f}")
    console.print(table)
    found = list(second_look(result))
    if found:
        console.print("Look at this before you publish:", style="bold yellow")
        for sentence in found:
            console.print(f"- {sentence}", soft_wrap=True)
        console.print()
    for target in targets:
        console.print(f"Written: {target}", soft_wrap=True)
    if not targets:
        console.print("Nothing was written; add -o release.csv to write the release.")


def _whom(audit: Audit) -> str:
    """Return what groups are counted in, where it is not records."""
    if audit.households is not None:
        return " people and households"
    return "" if audit.persons is None else f" of {audit.persons:,} people"


def loss_sentence(result: Result) -> str:
    """Say what was lost and, where the method knows it, how little could be lost."""
    loss = result.metrics["ncp"]
    bound = result.details.get("lower_bound")
    known = f", and no grouping can be below {bound:.3f}" if bound is not None else ""
    return f"Information loss {loss:.3f}{known} (0: nothing lost, 1: the quasi-identifiers say nothing any more)."


def _form(result: Result, column: CodedColumn) -> str:
    if result.recipe.release == "representatives":
        return "typical value"
    ends = result.details.get("ends", {}).get(column.name)
    form = {"node": "node of its hierarchy", "set": "set of values"}.get(column.kind.form, column.kind.form)
    return f"{form}, ends at {ends}" if ends else form
