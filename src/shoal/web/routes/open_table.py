"""Step 1, Open: a file of the folder, a file that is dropped, a table of a database, or the demo register."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from shoal.errors import FileError, ParameterError
from shoal.notation import make_notation
from shoal.web.databases import database_address
from shoal.web.draft import NOTATION, Source
from shoal.web.folder import inside, list_databases, list_tables, table_endings
from shoal.web.private import private_file
from shoal.web.routes.common import Answer, Here, free, go
from shoal.web.session import Session

router = APIRouter()

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
DATES_WRITTEN = ("%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y%m%d")
ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "latin-1", "utf-16")
_KEPT_FREE = 1 << 28
"""Bytes of the disk that a dropped file may not take."""
_SILENCE = 60.0
"""Seconds a sender may say nothing."""


class Chosen(BaseModel):
    """What to open."""

    place: Literal["folder", "demo"]
    name: str = Field(default="", max_length=4096)


class Database(BaseModel):
    """A table of a database, or the rows of a query."""

    address: str = Field(min_length=1, max_length=4096)
    table: str = Field(default="", max_length=1000)
    query: str = Field(default="", max_length=100_000)


class Reading(BaseModel):
    """How a text file is read; empty fields are detected."""

    separator: str = Field(default="", max_length=1)
    encoding: str = Field(default="", max_length=40)
    decimal: str = Field(default="", max_length=1)
    thousands: str = Field(default="", max_length=1)
    date_format: str = Field(default="", max_length=100)
    missing: str = Field(default="", max_length=1000)


def view(session: Session) -> dict[str, Any]:
    """Return the files to choose from, and what was understood of the one that is open."""
    return {
        "files": [one for one in list_tables(session.folder) if "-hierarchies/" not in one.name],
        "databases": list_databases(session.folder),
        "offered": session.offered,
        "others": [one for one in session.workshop.sessions.values() if one is not session and one.table is not None],
        "endings": sorted({f".{ending.rsplit('.', 1)[-1]}" for ending in table_endings()}),
        "folder": session.folder.name,
        "separators": SEPARATORS,
        "encodings": ENCODINGS,
        "decimals": {",": "comma", ".": "point"},
        "thousands": {",": "comma", ".": "point", " ": "space", "'": "apostrophe"},
        "dates": DATES_WRITTEN,
        "given": session.draft.source.options if session.draft.source else {},
    }


@router.post("/open")
@free
async def open_chosen(chosen: Chosen, session: Here) -> Answer:
    """Open a file of the folder, or the demo register."""
    if chosen.place == "demo":
        return await _start(session, Source("demo", "demo register"))
    path = inside(session.folder, chosen.name)
    if chosen.name in {one.name for one in list_databases(session.folder)}:
        return await _offer(session, chosen.name)
    return await _start(session, Source("folder", path.name, str(path)))


@router.post("/open/database")
@free
async def open_database(wanted: Database, session: Here) -> Answer:
    """Open a table of a database, or the rows of a query; passwords come from the environment."""
    named = {"table": wanted.table.strip(), "query": wanted.query.strip()}
    options = {key: value for key, value in named.items() if value}
    if not options:
        return await _offer(session, wanted.address)
    if len(options) != 1:
        raise ParameterError("A database needs the name of a table, or a query.", hint="fill in one of the two.")
    address = database_address(session.folder, wanted.address)
    return await _start(session, Source("database", options.get("table", "query"), address, options))


async def _offer(session: Session, name: str) -> Answer:
    """Open the only table of a database, or show which there are."""
    address = database_address(session.folder, name)
    tables: list[str] = await session.ask("list_tables", address=address)
    if not tables:
        raise ParameterError("This database has no table.")
    if len(tables) == 1:
        return await _start(session, Source("database", tables[0], address, {"table": tables[0]}))
    session.offered = (name, tables)
    session.touch()
    return go(session, "open")


async def _start(session: Session, source: Source) -> Answer:
    number, job = await session.open(source)
    return go(session, "columns", job, number)


@router.post("/open/drop")
@free
async def open_dropped(request: Request, session: Here) -> Answer:
    """Take a file that was dropped on the page: straight to a private file, whatever its size."""
    name = Path(unquote(request.headers.get("x-file-name", ""))).name[-200:]
    if not name or name in {".", ".."} or not name.isprintable():
        raise ParameterError("The file has no name that a file can have.")
    folder = session.private / session.workshop.new_name()
    folder.mkdir(mode=0o700)
    target = private_file(folder / name)
    try:
        await _receive(request, target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return await _start(session, Source("dropped", name, str(target)))


async def _receive(request: Request, target: Path) -> None:
    chunks = request.stream().__aiter__()
    with target.open("wb") as stream:
        while True:
            try:
                chunk = await asyncio.wait_for(chunks.__anext__(), _SILENCE)
            except StopAsyncIteration:
                return
            if shutil.disk_usage(target.parent).free < _KEPT_FREE + len(chunk):
                raise FileError(
                    "There is not enough disk space for this file.",
                    hint="put it into the folder: it is then read in place.",
                )
            stream.write(chunk)


@router.post("/open/again")
@free
async def read_again(session: Here) -> Answer:
    """Read the table as it is now; choices stay if its columns are still there."""
    source = session.draft.source
    if source is None:
        raise ParameterError("No table is open that could be read again.")
    return go(session, job=session.read_again(source))


@router.post("/open/reading")
@free
async def correct_reading(reading: Reading, session: Here) -> Answer:
    """Read the open file in another way."""
    source = session.draft.source
    if source is None or source.place not in {"folder", "dropped"}:
        raise ParameterError("No file is open whose reading could be corrected.")
    found = session.table.understood if session.table else {}
    options: dict[str, Any] = {
        key: value
        for key, value in reading.model_dump().items()
        if value and (key in source.options or value != found.get(key))  # what was detected need not be said
    }
    if reading.missing:
        options["missing"] = [mark.strip() for mark in reading.missing.split(",") if mark.strip()]
    make_notation("The page", **{key: value for key, value in options.items() if key in NOTATION})
    return go(session, job=session.read_again(replace(source, options=options)))
