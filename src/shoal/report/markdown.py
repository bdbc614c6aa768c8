"""A summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from shoal.publication.document import markdown_table as table
from shoal.publication.document import plain as text
from shoal.report import words
from shoal.summary import Summary


def bullets(sentences: Iterable[str]) -> str:
    """Return a list; its items are not escaped."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def fenced(content: str, language: str) -> str:
    """Return text as it is, between fences longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", content)), default=0))
    return f"{fence}{language}\n{content.rstrip()}\n{fence}"


def render_markdown(summary: Summary) -> str:
    """Return the report as Markdown: blocks with a blank line between them."""
    parts = (_head, _found, _attacks, _reached, _cost, _sizes, _columns, _relations, _examples, _limits, _repeat)
    return "\n\n".join(block for part in parts for block in part(summary)) + "\n"


def _head(summary: Summary) -> Iterator[str]:
    yield "# Report on a release, for the holder of the original table"
    yield f"> {text(words.HOLDER)}"
    yield f"{summary.created} · shoal {summary.shoal}"
    if summary.examples.holds_original:
        yield "> **This report holds rows of the original table. Keep it as safe as the table itself.**"
    yield "## What was done"
    yield f"**{words.verdict(summary)}**"
    yield bullets(map(text, words.done(summary)))
    if summary.warnings:
        yield "## Look at this before you publish"
        yield bullets(map(text, summary.warnings))


def _found(summary: Summary) -> Iterator[str]:
    before, after = summary.found.before, summary.found.after
    yield "## Who could be found"
    yield "Somebody knows a person's quasi-identifiers and looks for the person in the table."
    rows = (
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
    )
    yield table(("", "original", "released"), rows)
    alone = (
        (words.listed(one.columns), f"{one.unique:,} ({words.percent(one.unique, summary.records)})")
        for one in summary.found.by_columns
    )
    yield table(("an outsider who knows", "finds in the original"), alone)


def _attacks(summary: Summary) -> Iterator[str]:
    if summary.attacks:
        yield "### Attacks on the release"
        yield text(words.attack_note(summary))
        yield table(words.ATTACK_HEADINGS, words.attack_rows(summary))
    if summary.treatments:
        yield "### Treatments of kept columns"
        yield table(words.TREATMENT_HEADINGS, words.treatment_rows(summary))


def _reached(summary: Summary) -> Iterator[str]:
    reached = summary.reached
    yield "## What the release has"
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
    yield table(("what", "figure"), rows)
    if reached.sensitive:
        yield table(words.sensitive_headings(summary), words.sensitive_rows(summary))
        yield bullets(map(text, words.sensitive_meanings(summary)))


def _cost(summary: Summary) -> Iterator[str]:
    yield "## What it cost"
    yield text(words.cost(summary))
    yield "### What each column pays"
    rows = (
        (
            one.name,
            one.role,
            words.released_from(one),
            *words.felt_cells(one),
            "" if one.loss is None else words.percent(one.loss),
        )
        for one in summary.columns
    )
    yield table(("column", "role", "released", *words.FELT, "detail lost"), rows)
    metrics = ((one.title, words.number(one.value), one.better, one.meaning) for one in summary.loss.metrics)
    yield table(("measure", "value", "better", "meaning"), metrics)


def _sizes(summary: Summary) -> Iterator[str]:
    yield "### Group sizes"
    yield words.size_note(summary)
    yield table(words.SIZE_HEADINGS, words.size_rows(summary))


def _columns(summary: Summary) -> Iterator[str]:
    yield "## Before and after"
    for column in summary.columns:
        if column.released_as == "removed":
            continue
        yield f"### {text(column.name)}"
        notes = words.apart(summary, column.name)
        if notes:
            yield f"Counted apart: {text('; '.join(notes))}."
        if column.distribution:
            yield table(words.spread_headings(summary), words.spread_rows(column.distribution))
        if column.tree:
            yield words.TREE_NOTE
            yield fenced(words.drawn_tree(column.tree), "text")


def _relations(summary: Summary) -> Iterator[str]:
    if summary.associations:
        yield "## Do columns still go together?"
        yield table(words.ASSOCIATION_HEADINGS, words.association_rows(summary))
    if summary.query_error:
        yield text(words.query_sentence(summary.query_error))


def _examples(summary: Summary) -> Iterator[str]:
    examples = summary.examples
    yield "## Examples"
    both = examples.holds_original
    rows = []
    for row in examples.rows:
        if row.original is not None:
            rows.append([*(cell or "" for cell in row.original), "original"])
        rows.append([*(cell or "" for cell in row.released), *(["released"] if both else [])])
    yield table([*examples.columns, *([""] if both else [])], rows)


def _limits(summary: Summary) -> Iterator[str]:
    yield "## What this does not promise"
    yield bullets(f"**{first}** {second}" for first, second in words.limits(summary))


def _repeat(summary: Summary) -> Iterator[str]:
    yield "## Repeat it"
    yield f"`{words.COMMAND}` with this recipe:"
    yield fenced(summary.recipe, "toml")
