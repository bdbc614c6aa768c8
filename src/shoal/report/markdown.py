"""A summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from shoal.report import words
from shoal.summary import Summary

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$-])")


def text(value: str) -> str:
    """Return a value so that no Markdown reader takes it for markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(value.split()))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return a table; cells are escaped."""
    yield "| " + " | ".join(headings) + " |"
    yield "|" + " --- |" * len(headings)
    for row in rows:
        yield "| " + " | ".join(map(text, row)) + " |"
    yield ""


def fenced(content: str, language: str) -> Iterator[str]:
    """Return text as it is, between fences longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", content)), default=0))
    yield f"{fence}{language}"
    yield content.rstrip()
    yield fence


def render_markdown(summary: Summary) -> str:
    """Return the report as Markdown."""
    parts = (_head, _found, _attacks, _reached, _cost, _sizes, _columns, _relations, _examples, _limits, _repeat)
    return "\n".join(line for part in parts for line in part(summary)).rstrip() + "\n"


def _head(summary: Summary) -> Iterator[str]:
    yield "# Report on a release, for the holder of the original table"
    yield ""
    yield f"> {text(words.HOLDER)}"
    yield ""
    yield f"{summary.created} · shoal {summary.shoal}"
    yield ""
    if summary.examples.holds_original:
        yield "> **This report holds rows of the original table. Keep it as safe as the table itself.**"
        yield ""
    yield "## What was done"
    yield ""
    yield f"**{words.verdict(summary)}**"
    yield ""
    yield from (f"- {text(sentence)}" for sentence in words.done(summary))
    yield ""
    if summary.warnings:
        yield "## Look at this before you publish"
        yield ""
        yield from (f"- {text(sentence)}" for sentence in summary.warnings)
        yield ""


def _found(summary: Summary) -> Iterator[str]:
    before, after = summary.found.before, summary.found.after
    yield "## Who could be found"
    yield ""
    yield "Somebody knows a person's quasi-identifiers and looks for the person in the table."
    yield ""
    yield from table(
        ("", "original", "released"),
        (
            ("match exactly one record", f"{before.unique:,} of {summary.records:,}", f"{after.unique:,}"),
            (
                f"share their values with fewer than {summary.promise.k - 1} others",
                f"{before.below_k:,}",
                f"{after.below_k:,}",
            ),
            (
                "chance that a guess within the person's group is right, on average",
                words.percent(before.mean_risk),
                words.percent(after.mean_risk),
            ),
            ("the same for the person worst off", words.chance(before.largest_risk), words.chance(after.largest_risk)),
        ),
    )
    yield from table(
        ("an outsider who knows", "finds in the original"),
        (
            (words.listed(one.columns), f"{one.unique:,} ({words.percent(one.unique, summary.records)})")
            for one in summary.found.by_columns
        ),
    )


def _attacks(summary: Summary) -> Iterator[str]:
    if summary.attacks:
        yield "### Attacks on the release"
        yield ""
        yield text(words.attack_note(summary))
        yield ""
        yield from table(words.ATTACK_HEADINGS, words.attack_rows(summary))
    if summary.treatments:
        yield ""
        yield "### Treatments of kept columns"
        yield ""
        yield from table(words.TREATMENT_HEADINGS, words.treatment_rows(summary))


def _reached(summary: Summary) -> Iterator[str]:
    reached = summary.reached
    yield "## What the release has"
    yield ""
    rows = [
        ("smallest group (k), asked for", f"{summary.promise.k:,}"),
        ("smallest group (k), counted", f"{reached.k:,}"),
        *(
            (f"{name} the records belong to; groups count them", f"{count:,}")
            for name, count in (("people", reached.persons), ("households", reached.households))
            if count is not None
        ),
        ("groups", f"{reached.groups:,}"),
        ("mean size", f"{reached.mean_size:,.1f}"),
        *words.people_rows(summary),
    ]
    yield from table(("what", "figure"), rows)
    if reached.sensitive:
        yield from table(words.sensitive_headings(summary), words.sensitive_rows(summary))
        yield from (f"- {text(meaning)}" for meaning in words.sensitive_meanings(summary))
        yield ""


def _cost(summary: Summary) -> Iterator[str]:
    yield "## What it cost"
    yield ""
    yield text(words.cost(summary))
    yield ""
    yield "### What each column pays"
    yield ""
    yield from table(
        ("column", "role", "released", *words.FELT, "detail lost"),
        (
            (
                one.name,
                one.role,
                words.released_from(one),
                *words.felt_cells(one),
                "" if one.loss is None else words.percent(one.loss),
            )
            for one in summary.columns
        ),
    )
    yield from table(
        ("measure", "value", "better", "meaning"),
        ((one.title, words.number(one.value), one.better, one.meaning) for one in summary.loss.metrics),
    )


def _sizes(summary: Summary) -> Iterator[str]:
    yield "### Group sizes"
    yield ""
    yield words.size_note(summary)
    yield ""
    yield from table(words.SIZE_HEADINGS, words.size_rows(summary))


def _columns(summary: Summary) -> Iterator[str]:
    yield "## Before and after"
    yield ""
    for column in summary.columns:
        if column.released_as == "removed":
            continue
        yield f"### {text(column.name)}"
        yield ""
        notes = words.apart(summary, column.name)
        if notes:
            yield f"Counted apart: {text('; '.join(notes))}."
            yield ""
        if column.distribution:
            yield from table(words.spread_headings(summary), words.spread_rows(column.distribution))
        if column.tree:
            yield words.TREE_NOTE
            yield ""
            yield from fenced(words.drawn_tree(column.tree), "text")
            yield ""


def _relations(summary: Summary) -> Iterator[str]:
    if summary.associations:
        yield "## Do columns still go together?"
        yield ""
        yield from table(
            words.ASSOCIATION_HEADINGS,
            words.association_rows(summary),
        )
    if summary.query_error:
        yield text(words.query_sentence(summary.query_error))
        yield ""


def _examples(summary: Summary) -> Iterator[str]:
    examples = summary.examples
    yield "## Examples"
    yield ""
    both = examples.holds_original
    rows = []
    for row in examples.rows:
        if row.original is not None:
            rows.append([*(cell or "" for cell in row.original), "original"])
        rows.append([*(cell or "" for cell in row.released), *(["released"] if both else [])])
    yield from table([*map(text, examples.columns), *([""] if both else [])], rows)


def _limits(summary: Summary) -> Iterator[str]:
    yield "## What this does not promise"
    yield ""
    yield from (f"- **{first}** {second}" for first, second in words.limits(summary))
    yield ""


def _repeat(summary: Summary) -> Iterator[str]:
    yield "## Repeat it"
    yield ""
    yield f"`{words.COMMAND}` with this recipe:"
    yield ""
    yield from fenced(summary.recipe, "toml")
