"""Step 7, Publish: the checklist, the files, and the same as a command and as Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from shoal.errors import FileError, ParameterError
from shoal.web.databases import database_address
from shoal.web.folder import inside, release_endings
from shoal.web.repeating import command_text, name_inside, python_text
from shoal.web.routes.common import Answer, Here, go
from shoal.web.session import Session

router = APIRouter()

_FILES = ("release", "report", "recipe")
_ENDINGS = {
    "report": (".html", ".md", ".json"),
    "recipe": (".toml",),
}
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-modals; frame-ancestors 'none'"


class Targets(BaseModel):
    """What to write, and what the steward has read."""

    release: str = Field(max_length=200)
    report: str = Field(max_length=200)
    recipe: str = Field(max_length=200)
    database: str = Field(default="", max_length=4096)
    table: str = Field(default="", max_length=1000)
    """A new table of a database that gets the release too, where one is named."""
    replace: bool = False
    read: list[int] = Field(default=[], max_length=1000)


def view(session: Session) -> dict[str, Any]:
    """Return the checklist, the names, what was written, and how to repeat it."""
    release = session.release
    if release is None:
        return {"made": None}
    published = session.releases.published.get(session.release_key)
    stem = _stem(session)
    names = published["names"] if published else {
        "release": f"{stem}-release.csv", "report": f"{stem}-report.html", "recipe": f"{stem}-recipe.toml",
    }  # fmt: skip
    return {
        "made": release,
        "s": release.summary,
        "attacks": [one | {"works": _works(one, session.draft.get("k"))} for one in release.summary["attacks"]],
        "names": names,
        "folder": session.folder.name,
        "published": published,
        "database": name_inside(names.get("database", _database(session)), session.folder),
        "command": command_text(session.draft, names, session.folder),
        "python": python_text(session.draft, names, session.folder),
    }


def _works(attack: dict[str, Any], k: int) -> bool:
    """Tell whether an intruder is right more often than k allows, and than without the release."""
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
    release, table, source = session.need_release(), session.need_table(), session.draft.source
    writing = session.jobs.get("publish")
    if (
        writing is not None and writing.active
    ):  # the second would fail at the files of the first, and hide that they are there
        raise ParameterError("The files are being written already.", hint="wait until they are there.")
    unread = set(range(len(release.summary["warnings"]))) - set(targets.read)
    if unread:
        raise ParameterError("Some warnings are not ticked off yet.", hint="read and tick them first.")
    names = targets.model_dump(include=set(_FILES))
    place = _place(session, targets)
    paths = {what: _target(session, what, name) for what, name in names.items()}
    key = session.release_key

    def keep(found: dict[str, Any]) -> None:
        session.releases.published[key] = found | {"names": names | place}
        session.touch()

    job = session.run(
        session.desk, "publish", "publish", keep,
        table=table.stored, folder=release.folder, targets=paths, place=place, force=targets.replace,
        source=source.path if source and source.place == "folder" else "", key=session.draft.key_file,
        own=session.own_hierarchies,
    )  # fmt: skip
    return go(job=job)


def _place(session: Session, targets: Targets) -> dict[str, str]:
    """Return the database and the table to write into; both, or none."""
    address, table = targets.database.strip(), targets.table.strip()
    if bool(address) != bool(table):
        raise ParameterError("A database and the name of a new table belong together.", hint="name both, or neither.")
    return {"database": database_address(session.folder, address), "table": table} if table else {}


def _target(session: Session, what: str, name: str) -> str:
    path = inside(session.folder, name)
    endings = release_endings() if what == "release" else _ENDINGS[what]
    if not path.name.lower().endswith(endings):
        raise FileError(f"The {what} {path.name!r} has no known ending.", hint=f"use {' or '.join(endings)}.")
    return str(path)


def _written(session: Session, what: str) -> Path:
    published = session.releases.published.get(session.release_key)
    if published is None or what not in _FILES:
        raise HTTPException(404)
    path = inside(session.folder, published["names"][what])
    if not path.is_file():
        raise FileError(f"The file {path.name!r} is no longer there.", hint="write it again.")
    return path


@router.get("/publish/{what}/download")
async def download(what: str, session: Here) -> FileResponse:
    """Return a written file for the browser to save."""
    path = _written(session, what)
    return FileResponse(path, filename=path.name)


@router.get("/publish/report/show")
async def show_report(session: Here) -> FileResponse:
    """Show the report by itself; the browser prints it or saves it as PDF."""
    return FileResponse(_written(session, "report"), headers={"content-security-policy": _REPORT_POLICY})
