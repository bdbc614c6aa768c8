"""The codebook: what each released column means and how its cells are spread, for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import FileError
from shoal.publication.document import Grid, Section, as_html, as_markdown

CODEBOOK_FORMS = {".html": as_html, ".htm": as_html, ".md": as_markdown}
MOST_CELLS = 15
"""Cells of a column that are listed with their counts, the most frequent first."""
_LONGEST = 60
"""Longer cells are not examples."""
FORMS = {
    "ranges": "ranges, both ends included",
    "nodes": "labels of a hierarchy",
    "sets": "sets: one of these values",
    "representatives": "one typical value for each group",
    "exact": "exact values",
}
_KINDS = {
    "integer": "whole numbers",
    "number": "numbers",
    "date": "dates",
    "datetime": "date and time",
    "text": "text",
    "boolean": "true or false",
}


def codebook_text(told: Mapping[str, Any], released: pa.Table, target: Path) -> str:
    """Return the codebook of released rows, in the form of the target's name."""
    title = told.get("title") or told["name"]
    return codebook_form(target)(
        f"Codebook of {title}", [*about_sections(told), *column_sections(told, released), reading_section()]
    )


def codebook_form(target: Path) -> Callable[[str, Sequence[Section]], str]:
    """Return what renders a codebook of this name, or refuse a name that no codebook has."""
    render = CODEBOOK_FORMS.get(target.suffix.lower())
    if render is None:
        raise FileError(
            f"A codebook is saved as .html or .md. Got {target.suffix or 'no ending'!r}.",
            hint="the dictionary next to the release says the same as JSON.",
        )
    return render


def about_sections(told: Mapping[str, Any]) -> Iterator[Section]:
    """Yield what is said of the table as a whole."""
    own = told["shoal"]
    sentences = [told["description"]] if told.get("description") else []
    sentences.append(
        f"{own['records']:,} rows. Every combination of the quasi-identifiers occurs in at least {own['k']:,} {own['counts']}."
    )
    if own.get("value_counts"):
        sentences.append(f"Counts of exact values are released next to the cells, by {own['value_counts']}.")
    if own["models"]:
        sentences.append(f"Further privacy models: {'; '.join(map(_model, own['models']))}.")
    sentences.append(f"Made with shoal {own['version']}, method {own['method']}, on {told['created'][:10]}.")
    sentences += [f"Licence: {_named(one)}." for one in told.get("licenses", ())]
    sentences += [f"By {_named(one)}." for one in told.get("contributors", ())]
    sentences += [f"Cite as: {told['citation']}"] if told.get("citation") else []
    yield Section("", sentences)


def _model(settings: Mapping[str, Any]) -> str:
    rest = ", ".join(f"{key} = {value}" for key, value in settings.items() if key != "model")
    return f"{settings['model']} ({rest})" if rest else str(settings["model"])


def _named(one: Mapping[str, str]) -> str:
    return ", ".join(str(value) for value in one.values())


def column_sections(told: Mapping[str, Any], released: pa.Table) -> Iterator[Section]:
    """Yield an overview of the columns, then each of them with its cells."""
    fields = told["resources"][0]["schema"]["fields"]
    rows = [
        (one["name"], one.get("title", ""), one["shoal"]["role"], _form(one, released.column(one["name"])))
        for one in fields
    ]
    yield Section("Columns", (), (Grid(("column", "title", "role", "released as"), rows),))
    for one in fields:
        yield _column_section(one, released.column(one["name"]))


def codebook_rows(told: Mapping[str, Any]) -> list[list[str]]:
    """Return the codebook as the rows of a sheet: the table, one row for each column, how cells are read."""
    rows = [[sentence] for section in about_sections(told) for sentence in section.sentences]
    rows += [[], ["column", "title", "description", "role", "released as", "values", "unit", "from", "to", "labels"]]
    for field in told["resources"][0]["schema"]["fields"]:
        own = field["shoal"]
        ends = ["" if own[end] is None else str(own[end]) for end in ("low", "high")]
        labels = "; ".join(f"{code} = {label}" for code, label in own["labels"].items())
        about = [field.get("title", ""), field.get("description", ""), own["role"], FORMS[own["form"]]]
        rows.append([field["name"], *about, _KINDS[own["kind"]], own["unit"] or "", *ends, labels])
    reading = reading_section()
    return [*rows, [], [reading.title], *([*row] for grid in reading.grids for row in (grid.headings, *grid.rows))]


def _form(field: Mapping[str, Any], column: pa.ChunkedArray) -> str:
    """Return how a column is released, with its most frequent range or set."""
    form = FORMS[field["shoal"]["form"]]
    mark = {"ranges": "[", "sets": "{"}.get(field["shoal"]["form"])
    if mark is None or not pa.types.is_string(column.type):
        return form
    cells = column.filter(pc.fill_null(pc.starts_with(column, mark), fill_value=False))
    found = [cell for cell, _ in spread(cells) if len(cell) <= _LONGEST and cell[:1] == mark]
    return f"{form}, such as {found[0]}" if found else form


def _column_section(field: Mapping[str, Any], column: pa.ChunkedArray) -> Section:
    own = field["shoal"]
    sentences = [field[key] for key in ("title", "description") if field.get(key)]
    unit = f", in {own['unit']}" if own["unit"] else ""
    sentences.append(f"{own['role'].capitalize()}; {_KINDS[own['kind']]}{unit}, released as {_form(field, column)}.")
    if own["low"] is not None:
        sentences.append(f"From {own['low']} to {own['high']}.")
    sentences += [own["ends"]] if own["ends"] else []
    if own["treatment"]:
        sentences.append(
            f"Changed before release: {', '.join(f'{key} {value}' for key, value in own['treatment'].items())}."
        )
    grids = [Grid(("cell", "rows"), spread(column))]
    if own["labels"]:
        grids.append(Grid(("value", "label"), list(own["labels"].items())))
    if own["order"]:
        sentences.append(f"In this order: {', '.join(own['order'])}.")
    return Section(field["name"], sentences, grids, level=3)


def spread(column: pa.ChunkedArray) -> Sequence[tuple[str, str]]:
    """Return the most frequent cells with their counts; ties in the order of their text."""
    try:
        counts = pc.value_counts(column)
    except pa.ArrowNotImplementedError:  # lists and other cells that hold several values
        return []
    pairs = [(_text(one["values"]), one["counts"].as_py()) for one in counts]
    pairs.sort(key=lambda pair: (-pair[1], pair[0]))
    shown = [(text, f"{count:,}") for text, count in pairs[:MOST_CELLS]]
    rest = pairs[MOST_CELLS:]
    return [*shown, (f"{len(rest):,} other cells", f"{sum(count for _, count in rest):,}")] if rest else shown


def _text(value: Any) -> str:
    if not value.is_valid:
        return "(missing)"
    try:
        return str(value.cast(pa.string()).as_py())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return str(value)


def reading_section() -> Section:
    """Return how cells are read."""
    rows = [
        ("30, nurse", "one value, or a label of the hierarchy that stands for all values below it"),
        ("[24-30]", "a value from 24 to 30, both included"),
        ("[-5 to 3]", "the same for negative numbers, dates and ordered categories"),
        ("{nurse, teacher}", "one of these values"),
        ("*", "any value"),
        ("(missing)", "the value is missing for everybody in the group"),
        ('"*"', "quoted as in JSON: a value that would otherwise read as one of the forms above"),
    ]
    return Section("How cells are read", (), (Grid(("cell", "meaning"), rows),))
