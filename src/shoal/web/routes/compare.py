"""Step 5, Compare: what more protection costs, point by point; a click takes one."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, Field

import shoal
from shoal.compare import RULE, Comparison, Point
from shoal.errors import ParameterError
from shoal.report.words import percent
from shoal.web.private import private_file
from shoal.web.routes.common import Answer, Here, go
from shoal.web.routes.look import darkened
from shoal.web.session import Session, digest

router = APIRouter()

KS = (2, 5, 10, 20, 50)
METHODS = ("optimize", "mondrian")


class Start(BaseModel):
    """What to compare."""

    ks: str = Field(default="2, 5, 10, 20, 50", max_length=200)
    methods: list[str] = Field(default=list(METHODS), min_length=1, max_length=20)


class Take(BaseModel):
    """A point to take over into the recipe."""

    method: str
    k: int = Field(ge=2)


def _key(session: Session) -> str:
    """Return what all points of a comparison have in common: the recipe without k and method."""
    recipe = session.draft.recipe().model_dump(exclude={"k", "method", "method_options", "release"})
    source = session.draft.source
    return digest("compare", source.key if source else "", recipe)


def comparison(session: Session) -> Comparison:
    """Return the points so far."""
    points = [Point(**one) for one in session.workshop.points.get(_key(session), [])] if session.draft.ready else []
    return Comparison(tuple(points), total=session.need_table().records)


def view(session: Session) -> dict[str, Any]:
    """Return the points so far, the recommended one and the reason."""
    found = comparison(session)
    best = found.recommended if len(found.points) > 1 else None  # one point is not a choice
    ordered = sorted(found.points, key=lambda point: (point.k, point.method, point.sampled))
    return {
        "points": ordered,
        "mark": digest(*ordered),
        "best": best,
        "reason": _reason(best, found) if best else None,
        "rule": RULE,
        "ks": session.compared[0] or ", ".join(str(k) for k in KS if k <= session.need_table().records),
        "methods": [one.name for one in shoal.methods()],
        "chosen": session.compared[1] or METHODS,
        "now": (session.draft.get("method"), session.draft.get("k")),
    }


def _reason(best: Point, found: Comparison) -> str:
    larger = [one for one in found.points if one.loss is not None and one.k > best.k and one.method == best.method]
    told = f"{best.method} with k = {best.k} loses {percent(best.loss or 0.0)} of the detail"
    if not larger:
        return f"{told}; it protects most of what was tried."
    after = min(larger, key=lambda one: one.k)
    return f"{told}; from there on protection costs more: k = {after.k} loses {percent(after.loss or 0.0)}."


@router.post("/compare/start")
async def start(wanted: Start, session: Here) -> Answer:
    """Compute points, or go on with those that are missing."""
    ks = _numbers(wanted.ks, session.need_table().records)
    session.draft.check_complete()
    key, recipe = _key(session), session.draft.recipe()
    session.compared = (", ".join(map(str, ks)), tuple(wanted.methods))
    session.workshop.points.setdefault(key, [])
    state = session.private / f"compare-{key}.jsonl"
    if not state.exists():
        private_file(state)

    def keep(point: dict[str, Any]) -> None:
        mark = (point["method"], point["effort"], point["k"], point["sampled"])
        session.workshop.points[key] = [
            one
            for one in session.workshop.points[key]
            if (one["method"], one["effort"], one["k"], one["sampled"]) != mark
        ] + [point]
        session.touch()

    job = session.run(
        session.workshop.search, "compare", "compare_points", lambda _: session.touch(), on_part=keep,
        table=session.need_table().stored, recipe=recipe.model_dump(exclude_unset=True), methods=wanted.methods,
        ks=ks, state=str(state), key_file=session.draft.key_file,
    )  # fmt: skip
    return go(session, job=job)


def _numbers(text: str, most: int) -> list[int]:
    try:
        found = sorted({int(part) for part in text.replace(";", ",").split(",") if part.strip()})
    except ValueError:
        raise ParameterError("The sizes of k must be whole numbers with commas between.") from None
    if most < 2:
        raise ParameterError("Nobody can hide: the table has 1 row.", hint="open a table with more rows.")
    if not found or found[0] < 2 or found[-1] > most:
        raise ParameterError(f"The sizes of k must lie between 2 and {most:,}.")
    return found


@router.post("/compare/take")
async def take(point: Take, session: Here) -> Answer:
    """Take a point over into the recipe."""
    draft = session.draft.change(k=point.k, method=point.method, method_options={})
    session.change(draft, f"{point.method} with k = {point.k} taken")
    return go(session, "protect")


@router.get("/compare/plot.json")
async def plot(session: Here, *, dark: bool = False, narrow: bool = False) -> Response:
    """Return the frontier as a Vega-Lite specification."""
    spec = comparison(session).plot(*((300, 300) if narrow else (640, 340)))
    spec.pop("$schema")  # it names a version; the bundle brings its own
    text = json.dumps(spec)
    return Response(darkened(text) if dark else text, media_type="application/json")


@cache
def _bundle() -> str:
    """Return Vega with what draws it, from vl-convert; nothing is fetched."""
    import vl_convert  # noqa: PLC0415

    text: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return text


def vega() -> Response:
    """Return the program that draws the frontier."""
    return Response(_bundle(), media_type="text/javascript")
