"""Step 7, Publish: the checklist, the files, and the same as a command and as Python."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from shoal.errors import FileError, ParameterError
from shoal.io.workroom import remove_leftovers
from shoal.publication.plain_columns import Cells
from shoal.web.as_code import command_text, name_inside, python_text
from shoal.web.databases import database_address
from shoal.web.folder import inside, release_endings
from shoal.web.jobs.worker_queue import Job
from shoal.web.routes.common import Answer, Here, go
from shoal.web.session import Session

router = APIRouter()

_FILES = ("release", "report", "recipe")
_ENDINGS = {
    "report": (".html", ".md", ".json"),
    "recipe": (".toml",),
}
SHAPES = {
    "text": "as text, such as [30-39]",
    "columns": "in plain columns, for R, Stata, SPSS and Excel",
    "midpoints": "as text, ranges as their middle",
}
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-modals; frame-ancestors 'none'"


class Targets(BaseModel):
    """What to write, and what the steward has read."""

    release: str = Field(max_length=200)
    report: str = Field(max_length=200)
    recipe: str = Field(max_length=200)
    database: str = Field(default="", max_length=4096)
    table: str = Field(default="", max_length=1000)
    """A new table of a database that gets the release too, if one is named."""
    cells: Cells = "text"
    """How coarsened cells are written."""
    replace: bool = False
    number: int
    """The release that the tab shows."""
    read: list[int] = Field(default=[], max_length=1000)


def view(session: Session) -> dict[str, Any]:
    """Return the checklist, the names, what was written, and how to repeat it."""
    release = session.release
    if release is None:
        return {"made": None}
    written = session.releases.written.get(release.number)
    stem = _stem(session)
    names = written.names if written else {
        "cells": "text", "release": f"{stem}-release.csv", "report": f"{stem}-report.html", "recipe": f"{stem}-recipe.toml",
    }  # fmt: skip
    return {
        "made": release,
        "s": release.summary,
        "attacks": [one | {"works": _works(one, release.draft.get("k"))} for one in release.summary["attacks"]],
        "names": names,
        "shapes": SHAPES,
        "columns_released": sum(one["released_as"] != "removed" for one in release.summary["columns"]),
        "folder": session.folder.name,
        "written": written,
        "altered": [written.names[what] for what in _FILES if not written.is_unchanged(what)] if written else [],
        "intact": written is not None and written.is_unchanged("release"),
        "database": name_inside(names.get("database", _database(session)), session.folder),
        "command": command_text(release.draft, names, session.folder),
        "python": python_text(release.draft, names, session.folder),
    }


def _works(attack: dict[str, Any], k: int) -> bool:
    """Return whether an intruder is right more often than k allows, and than without the release."""
    return bool(attack["low"] > max(1 / k, attack["control"] or 0.0))


def _database(session: Session) -> str:
    """Return the database the rows come from, if any."""
    source = session.draft.source
    return source.path if source and source.place == "database" else ""


def _stem(session: Session) -> str:
    source = session.draft.source
    return "patients" if source is None or source.place == "demo" else source.name.split(".")[0]


@router.post("/publish")
async def publish(targets: Targets, session: Here) -> Answer:
    """Write release, report and recipe into the folder; every warning must have been read."""
    release, table, source = session.need_release(targets.number), session.need_table(), session.draft.source
    writing = session.jobs.get("publish")
    if (
        writing is not None and writing.active
    ):  # the second would fail at the files of the first, and hide that they are there
        raise ParameterError("The files are being written already.", hint="wait until they are there.")
    unread = set(range(len(release.summary["warnings"]))) - set(targets.read)
    if unread:
        raise ParameterError("Some warnings are not ticked off yet.", hint="read and tick them first.")
    if session.draft.undecided:
        raise ParameterError(
            f"{len(session.draft.undecided):,} columns are not decided yet.", hint="keep them or leave them out first."
        )
    names = targets.model_dump(include=set(_FILES)) | {"cells": targets.cells}
    place = _place(session, targets)
    paths = {what: _target(session, what, names[what]) for what in _FILES}
    await session.look_at_source(thoroughly=True)
    if session.changed_source:
        raise FileError("The table has changed since it was read. Nothing was written.", hint="read it again first.")

    def keep(found: dict[str, Any]) -> None:
        session.releases.wrote(release, names | place, found)
        session.touch()

    job = session.run(
        session.workshop.desk, "publish", "publish", keep,
        table=table.stored, folder=release.folder, targets=paths, place=place, cells=targets.cells, force=targets.replace,
        inputs=source.files if source else [], key=release.draft.key_file, own=session.own_hierarchies,
        recipe_made=release.draft.recipe().model_dump(exclude_unset=True), summary=release.summary,
    )  # fmt: skip
    clear_after(job, paths.values())
    return go(session, job=job)


def clear_after(job: Job, targets: Iterable[str]) -> None:
    """Remove what a writing worker leaves next to its targets if it is ended: nothing but its death ends it at once."""
    folders = {Path(one).parent for one in targets}

    def clear(_: Future[Any]) -> None:
        for folder in folders:
            remove_leftovers(folder)

    job.future.add_done_callback(clear)


def _place(session: Session, targets: Targets) -> dict[str, str]:
    """Return the database and the table to write into; both, or none."""
    address, table = targets.database.strip(), targets.table.strip()
    if bool(address) != bool(table):
        raise ParameterError("A database and the name of a new table belong together.", hint="name both, or neither.")
    if not table:
        return {}
    place = {"database": database_address(session.folder, address), "table": table}
    source = session.draft.source
    if (
        source
        and source.place == "database"
        and (source.path, source.options.get("table")) == (place["database"], table)
    ):
        raise FileError(f"The target {table!r} is the table that is released.", hint="name another table.")
    return place


def _target(session: Session, what: str, name: str) -> str:
    path = inside(session.folder, name)
    endings = release_endings() if what == "release" else _ENDINGS[what]
    if not path.name.lower().endswith(endings):
        raise FileError(f"The {what} {path.name!r} has no known ending.", hint=f"use {' or '.join(endings)}.")
    return str(path)


def _written(session: Session, number: int, what: str) -> Path:
    """Return a file that was written of a release, as long as it is what was written then."""
    written = session.releases.written.get(number)
    if written is None or what not in _FILES:
        raise HTTPException(404)
    path = inside(session.folder, written.names[what])
    if not path.is_file():
        raise FileError(f"The file {path.name!r} is no longer there.", hint="write it again.")
    if not written.is_unchanged(what):
        raise FileError(f"The file {path.name!r} has changed since it was written.", hint="write it again.")
    return path


@router.get("/publish/{release}/{what}/download")
async def download(release: int, what: str, session: Here) -> FileResponse:
    """Return a written file for the browser to save."""
    path = _written(session, release, what)
    return FileResponse(path, filename=path.name)


@router.get("/publish/{release}/report/show")
async def show_report(release: int, session: Here) -> FileResponse:
    """Show the report by itself; the browser prints it or saves it as PDF."""
    return FileResponse(_written(session, release, "report"), headers={"content-security-policy": _REPORT_POLICY})
