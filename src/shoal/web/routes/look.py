"""Step 6, Look: the release next to the original, and why a cell is as coarse as it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import Response

from shoal.report import words
from shoal.summary import Summary
from shoal.web.routes.common import Here
from shoal.web.session import Session

router = APIRouter()

PAGE = 10
_NAME = re.compile(r"[a-z]+(-\d+)?")
_DARK = {
    "#14213d": "#e6edf5",
    "#5c6b80": "#a3b3c6",
    "#e4e9ef": "#2d3b4d",
    "#b7c3cf": "#55677c",
    "#0b6a8a": "#62c1de",
    "#b3261e": "#ff8a80",
    "#8496a8": "#8b9db2",
    '"white"': '"#172230"',
    "#222222": "#e6edf5",
    "#cccccc": "#55677c",
    "#b8860b": "#f0b04f",
    "#1f6fb4": "#62c1de",
    "#2e8b57": "#6fd3a4",
}
"""The colours of the report and of analyses on a dark ground."""


def view(session: Session) -> dict[str, Any]:
    """Return what the tabs show; rows are asked for one page at a time."""
    release = session.release
    if release is None:
        return {"made": None}
    summary = Summary.model_validate(release.summary)
    titled = {one["name"]: one for one in release.figures}
    return {
        "made": release,
        "s": summary,
        "words": words,
        "figures": titled,
        "columns": [one for one in release.figures if one["name"].startswith("column-")],
        "treated": {one.column: one for one in summary.treatments},
        "limit": PAGE,
    }


@router.get("/look/rows")
async def rows(
    session: Here,
    first: Annotated[int, Query(ge=0)] = 0,
    withheld: Annotated[bool, Query()] = False,
) -> dict[str, Any]:
    """Return some records, before and after."""
    release = session.need_release()
    found: dict[str, Any] = await session.ask(
        "read_rows",
        table=session.need_table().stored,
        folder=release.folder,
        first=first,
        number=PAGE,
        withheld=withheld,
    )
    return found | {"first": first, "quasi": session.draft.get("quasi_identifiers")}


@router.get("/look/why")
async def why(session: Here, row: Annotated[int, Query(ge=0)], column: str) -> dict[str, Any]:
    """Return why a cell is as coarse as it is."""
    found: dict[str, Any] = await session.ask(
        "explain_cell",
        table=session.need_table().stored,
        folder=session.need_release().folder,
        row=row,
        column=column,
    )
    *sentences, last = found["sentences"]
    return found | {"sentences": sentences or [last], "whole": last if sentences else None}


@router.get("/look/figure/{name}.svg")
async def figure(name: str, session: Here, *, dark: bool = False) -> Response:
    """Return a picture of the report, in the colours of the page."""
    if not _NAME.fullmatch(name):
        raise HTTPException(404)
    path = Path(session.need_release().folder) / "figures" / f"{name}.svg"
    if not path.is_file():
        raise HTTPException(404)
    text = path.read_text(encoding="utf-8")
    return drawing(darkened(text) if dark else text)


def drawing(text: str) -> Response:
    """Return a picture that may load nothing and run nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return Response(text, media_type="image/svg+xml", headers={"content-security-policy": policy})


def darkened(drawing: str) -> str:
    """Return a picture or its specification in the colours of a dark page."""
    for light, other in _DARK.items():
        drawing = drawing.replace(light, other)
    return drawing
