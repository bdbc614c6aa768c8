"""What ``shoal anonymize`` prints about a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.cli.console import make_table, out, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.audit import Audit
    from shoal.encoding import CodedColumn
    from shoal.evaluation import Analyses
    from shoal.metrics.felt import Felt
    from shoal.results.outcome import Outcome
    from shoal.results.result import Result


def tell(
    result: Outcome,
    written: Sequence[object],
    *,
    as_json: bool,
    analyses: Analyses | None = None,
    measures: Sequence[str] = (),
) -> None:
    """Print the results."""
    names = [str(one) for one in written]
    if as_json:
        told = {} if analyses is None else {"analyses": analyses.as_dict()["estimates"]}
        print_json(describe(result) | told | {"written": names})
        return
    if analyses is not None:
        show_analyses(analyses)
    show(result)
    for name in measures:
        out().print(measure_sentence(name, result.metrics[name]))
    for one in names:
        out().print(f"Written: {one}", soft_wrap=True)
    if not names:
        out().print("Nothing was written; add -o release.csv to write the release.")


def analyses_of(result: Result, questions: Sequence[str]) -> Analyses | None:
    """Return what becomes of figures of the original table, if questions were asked."""
    if not questions:
        return None
    from shoal.evaluation import analyses

    return analyses(result, list(questions))


def measure_sentence(name: str, value: float) -> str:
    """Return what a measure found, and what it measures."""
    from shoal.metrics import REGISTRY

    number = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{REGISTRY[name].title} ({name}) {number}: {REGISTRY[name].meaning}."


def show_analyses(found: Analyses) -> None:
    """Print how near recipients come to figures of the original table."""
    table = make_table("analysis", "way", "overlap", "kept", "withheld", numbers=["overlap", "kept", "withheld"])
    for row in found.overview():
        table.add_row(
            row["analysis"],
            row["way"],
            f"{row['overlap']:.2f}",
            f"{row['kept']} of {row['figures']}",
            str(row["withheld"]),
        )
    out().print(table)


def describe(result: Outcome) -> dict[str, Any]:
    """Return the results as plain values."""
    return {
        "records": result.audit.records,
        "withheld": result.suppressed,
        "groups": result.audit.groups,
        "k": result.audit.k,
        "loss": result.metrics["ncp"],
        **_apart(result),
        "metrics": dict(result.metrics),
        "audit": result.audit.as_dict(),
        "recipe": result.recipe.model_dump(exclude_none=True),
    }


def _apart(result: Outcome) -> dict[str, Any]:
    """Return the parts that only some results have: points to check, the lower bound, the number of fragments."""
    from shoal.results.result import Result
    from shoal.summary import second_look

    if isinstance(result, Result):
        return {
            "lower_bound": result.details.get("lower_bound"),
            "warnings": list(second_look(result)),
            "cells": None if result.recipe.release == "representatives" else _plain_felt(result),
        }
    warnings = {"warnings": list(result.warnings)} if hasattr(result, "warnings") else {}
    return {name: one for name, one in result.details.items() if isinstance(one, (int, float, str))} | warnings


def _plain_felt(result: Result) -> dict[str, Any]:
    """Return how coarse the recoded cells are, as plain values."""
    found = result.felt
    columns = {name: one._asdict() for name, one in found.columns.items()}
    return {"exact": found.exact, "typical": found.typical, "columns": columns}


def show(result: Outcome) -> None:
    """Print the results for people; the points to look at before publishing are in the report too."""
    from shoal.results.result import Result

    console, audit = out(), result.audit
    withheld = f", {result.suppressed:,} withheld" if result.suppressed else ""
    console.print(
        f"{audit.records:,} records in {audit.groups:,} groups of {audit.k:,} or more{_whom(audit)}{withheld}.",
        style="bold",
    )
    if not isinstance(result, Result):
        console.print(loss_sentence(result))
        return
    console.print(columns_sentence(len(result.released.column_names), len(result.source.names)))
    felt = None if result.recipe.release == "representatives" else result.felt
    if felt:
        console.print(felt_sentence(felt.exact, felt.typical))
    console.print(loss_sentence(result))
    numbers = ["exact", "values", "cells", "to guess", "loss"] if felt else ["loss"]
    table = make_table("column", "released as", *numbers, numbers=numbers)
    for column in result.coded.columns:
        loss = f"{result.metrics['ncp_by_column'][column.name]:.3f}"
        table.add_row(column.name, _form(result, column), *(_felt(felt.columns[column.name]) if felt else ()), loss)
    console.print(table)
    found = _apart(result)["warnings"]
    if found:
        console.print("Look at this before you publish:", style="bold yellow")
        for sentence in found:
            console.print(f"- {sentence}", soft_wrap=True)
        console.print()


def _whom(audit: Audit) -> str:
    """Return what groups are counted in, if not in records."""
    if audit.households is not None:
        return " people and households"
    return "" if audit.persons is None else f" of {audit.persons:,} people"


def columns_sentence(released: int, columns: int) -> str:
    """Return how many of the table's columns are released."""
    return f"{released} of {columns} columns released." if released < columns else f"All {columns} columns released."


def felt_sentence(exact: float, typical: float | None) -> str:
    """Return how many recoded cells are exact, and how many values a typical other cell covers."""
    from shoal.report.words import felt_sentences

    return " ".join(felt_sentences(exact, typical))


def _felt(one: Felt) -> tuple[str, ...]:
    return f"{one.exact:.0%}", f"{one.typical:,.0f}", f"{one.different:,}", f"{one.guess:.0%}"


def loss_sentence(result: Outcome) -> str:
    """Print the loss and, if the method knows one, the bound below which no grouping can come."""
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
