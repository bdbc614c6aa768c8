"""Tasks about a release: making it, looking at its rows, publishing it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.api import compiles_first, recipe_parameters
from shoal.frames import Frame
from shoal.io.files import open_table
from shoal.io.transaction import Transaction
from shoal.publication.plain_columns import Cells
from shoal.recipe import Recipe, check_recipe, recipe_inputs
from shoal.report import Report
from shoal.report.html import column_figures, figures
from shoal.request import stage_recipe
from shoal.results.columns import Shown
from shoal.results.result import Result
from shoal.results.save import check_database, files_beside
from shoal.summary import Summary
from shoal.web.jobs.loading import load
from shoal.web.jobs.reading import cell_texts
from shoal.web.jobs.worker import Tell, stoppable
from shoal.web.private import private_file
from shoal.web.stored import StoredTable

_RESULT, _FIGURES = "result.pickle", "figures"


def make_release(
    tell: Tell, *, table: StoredTable, recipe: dict[str, Any], folder: str, key: str | None = None
) -> dict[str, Any]:
    """Make a release, attack it, draw it; keep it in a private folder and return what is to be shown of it."""
    frame, home = load(table), Path(folder)
    first = " · compiling, once: up to a minute" if compiles_first() else ""

    def progress(share: float, text: str) -> None:
        tell("progress", (0.8 * share, text + first))

    parameters = recipe_parameters(check_recipe(recipe, "The recipe"))
    with stoppable() as stop:
        anonymizer = shoal.Anonymizer(**parameters, key=key, progress=progress, cancel=stop, on_interrupt="best")
        result = anonymizer.result_of(frame)
    tell("progress", (0.82, "attacking the release"))
    summary = result.report().summary
    tell("progress", (0.92, "drawing"))
    home.mkdir(mode=0o700, exist_ok=True)
    drawn = _draw(summary, home / _FIGURES)
    _keep(result, home / _RESULT)
    return {
        "folder": folder,
        "summary": summary.model_dump(mode="json"),
        "figures": drawn,
        "stopped": stop.is_set(),
    }


def _draw(summary: Summary, folder: Path) -> list[dict[str, Any]]:
    """Write the pictures of the report, each as a file, and return their titles and notes."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = [(name, figure) for name, figure in figures(summary).items() if figure is not None]
    found += [(f"column-{place}", figure) for place, figure in enumerate(column_figures(summary))]
    for name, figure in found:
        private_file(folder / f"{name}.svg").write_text(figure.svg, encoding="utf-8")
    return [
        {"name": name, "title": figure.title, "note": figure.note, "drawn": bool(figure.svg)} for name, figure in found
    ]


def _keep(result: Result, path: Path) -> None:
    """Write a result without the table it was made from: which is in a file already."""
    bare = replace(
        result.with_originals(), source=replace(result.source, table=result.source.table.schema.empty_table())
    )
    with private_file(path).open("wb") as stream:
        pickle.dump(bare, stream, protocol=5)


_results: dict[str, Result] = {}


def load_result(table: StoredTable, folder: str) -> Result:
    """Return a release that was made before; the last one stays available."""
    if folder not in _results:
        _results.clear()
        with (Path(folder) / _RESULT).open("rb") as stream:
            bare: Result = pickle.load(stream)  # noqa: S301  (our own file, in a folder nobody else can write)
        _results[folder] = replace(bare, source=load(table))
    return _results[folder]


def read_rows(
    tell: Tell,  # noqa: ARG001
    *,
    table: StoredTable,
    folder: str,
    first: int,
    number: int,
    withheld: bool,
) -> dict[str, Any]:
    """Return some records before and after, with the cells that were changed; or some that were withheld."""
    result = load_result(table, folder)
    chosen = np.flatnonzero(result.groups < 0 if withheld else result.groups >= 0)
    rows = chosen[first : first + number]
    names = result.released.column_names
    was = {name: cell_texts(result.source, name, rows.tolist()) for name in names}
    place = range(first, first + len(rows))
    now = {} if withheld else {name: cell_texts(Frame(result.released), name, place) for name in names}
    return {
        "names": names,
        "total": len(chosen),
        "rows": [
            {
                "row": int(row),
                "was": [was[name][number_] for name in names],
                "is": None if withheld else [now[name][number_] for name in names],
            }
            for number_, row in enumerate(rows)
        ],
    }


def explain_cell(tell: Tell, *, table: StoredTable, folder: str, row: int, column: str) -> dict[str, Any]:  # noqa: ARG001
    """Return why a cell is as coarse as it is."""
    return load_result(table, folder).explain(row, column).as_dict()


def publish(
    tell: Tell,
    *,
    table: StoredTable,
    folder: str,
    targets: dict[str, str],
    place: dict[str, str],
    inputs: list[str],
    own: list[str],
    recipe_made: dict[str, Any],
    summary: dict[str, Any],
    cells: Cells = "text",
    force: bool,
    key: str | None = None,
) -> dict[str, Any]:
    """Write release, report and recipe, and a table if one is named, all or none; count the file once more."""
    if place:
        check_database(place["database"], place["table"], force=force)
    release, report, recipe = (Path(targets[name]) for name in ("release", "report", "recipe"))
    tell("progress", (0.0, "fetching the release"))
    result = load_result(table, folder)
    read: list[str | Path] = [*inputs, *recipe_inputs(result.recipe), *([key] if key else [])]
    files = Transaction(force=force, inputs=read)
    for target in (release, report, recipe):
        files.add(target, last=target is release, private=target is not release)
    for beside in files_beside(release, True, result.recipe.counts):
        files.add(beside)

    def progress(share: float, text: str) -> None:
        tell("progress", (0.1 + 0.5 * share, text))

    with files:
        result.stage(
            files,
            release,
            shuffle=True,
            dictionary=True,
            spreadsheet_safe=False,
            shown=Shown(cells=cells),
            progress=progress,
        )
        tell("progress", (0.6, "counting what the page tells of the file"))
        counted = _count_file(result, files.temporary(release), cells)
        tell("progress", (0.8, "writing the report"))
        told = Report(Summary.model_validate(summary))  # what the page shows; the attacks are not made again
        files.temporary(report).write_text(told.text(report), encoding="utf-8")
        stage_recipe(files, _rebuild(check_recipe(recipe_made, "The recipe"), own, key).request, recipe)
        if place:
            tell("progress", (0.9, "writing into the database, which counts again"))
            result.save_to_database(place["database"], place["table"], force=force)
        tell("progress", (0.98, "giving the files their names"))  # the last step: ended before it, none has one
    return counted | {"targets": targets}


def _count_file(result: Result, release: Path, cells: Cells) -> dict[str, Any]:
    """Count a file that was written, whatever names its format gives the columns; plain columns have names of their own."""
    written, names = open_table(release), result.released.column_names
    others = {name for name in names if name not in result.recipe.quasi_identifiers}
    was = written.names if cells == "columns" else names
    counted = shoal.audit(
        written,
        quasi_identifiers=[name for name, before in zip(written.names, was, strict=True) if before not in others],
    )
    return {"k": counted.k, "records": counted.records, "groups": counted.groups}


def save_recipe(
    tell: Tell,  # noqa: ARG001
    *,
    recipe: dict[str, Any],
    own: list[str],
    key: str | None,
    target: str,
    force: bool,
) -> None:
    """Write a recipe, and the hierarchies made on the page next to it."""
    checked = check_recipe(recipe, "The recipe")
    unknown = "unknown.key" if checked.pseudonymize else None  # a recipe does not name its key
    _rebuild(checked, own, key or unknown).save(target, force=force)


def _rebuild(recipe: Recipe, own: list[str], key: str | None) -> shoal.Anonymizer:
    """Return the recipe with the hierarchies made on the page as objects, so that they are saved next to it."""
    parameters = recipe_parameters(recipe)
    for column in own:
        if column in parameters["hierarchies"]:
            parameters["hierarchies"][column] = shoal.Hierarchy.from_csv(parameters["hierarchies"][column])
    return shoal.Anonymizer(**parameters, key=key)
