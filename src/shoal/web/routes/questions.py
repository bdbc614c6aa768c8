"""Questions in step 6, Look: what an analysis finds in the original table and in its release. For the holder alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from pydantic import BaseModel, Field

from shoal.errors import ParameterError
from shoal.evaluation.questions import read_question
from shoal.web.routes.common import Answer, Here, free, go
from shoal.web.routes.look import darkened, drawing
from shoal.web.session import Session, digest
from shoal.web.treating import NUMBERS

router = APIRouter()

_MOST_QUESTIONS = 20
WAYS = {
    "midpoints": "the middle of each range and the first value of each set, as people read a release without help",
    "expected": "averaged over what each cell stands for: release.expected() of the reader",
    "completed": "from tables that are completed inside the cells and pooled: release.complete() and release.pool()",
}
"""How a recipient may read a release."""
_FEW = range(2, 13)
"""How many values a column has that divides people into groups."""
_SOME = range(2, 61)
"""How many values a column has that can be crossed with one of few."""
_GROUPING = ("text", "yes/no")
_BRACKETS = frozenset("(),`")
"""Signs that a name between brackets cannot have."""
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_TIMES = re.compile(r"(^|_)(time|days|weeks|months|duration|survival|follow_?up)($|_)", re.IGNORECASE)
_EVENTS = re.compile(r"(^|_)(event|status|died|dead|death|censored|relapse)($|_)", re.IGNORECASE)


class Asked(BaseModel):
    """Analyses, one a line, and an example that was clicked."""

    questions: str = Field(default="", max_length=10_000)
    example: str = Field(default="", max_length=1000)
    number: int
    """The release that the tab shows."""


def view(session: Session) -> dict[str, Any]:
    """Return what was asked, what was found, and a few questions that fit the columns."""
    release, table = session.release, session.table
    if release is None or table is None:
        return {}
    found = session.answers.get(release.number)
    asked = session.asked if found is None else tuple(found["questions"])
    kept = {one["name"] for one in release.summary["columns"] if one["released_as"] != "removed"}
    columns = [one for one in table.columns if one["name"] in kept]
    return {
        "asked": "\n".join(session.asked),
        "answers": found and _tables(found),
        "ways": WAYS,
        "examples": [one for one in examples(columns, release.draft.get("quasi_identifiers")) if one not in asked],
    }


def _tables(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table for each analysis: a row for each figure, with the original and what each way finds."""
    tables: dict[str, dict[str, Any]] = {}
    for one in found["estimates"]:
        rows = tables.setdefault(one["analysis"], {})
        row = rows.setdefault(one["name"], {"name": one["name"], "original": one, "ways": {}})
        row["ways"][one["way"]] = one
    overlaps = {(one["analysis"], one["way"]): one for one in found["overview"]}
    return {
        "note": found["note"],
        "mark": digest(found["questions"]),
        "tables": [
            {
                "analysis": text,
                "rows": list(rows.values()),
                "more": found["figures"][text] - len(rows),
                "overview": {way: overlaps[text, way] for way in next(iter(rows.values()))["ways"]},
            }
            for text, rows in tables.items()
        ],
    }


def examples(columns: Sequence[Mapping[str, Any]], quasi_identifiers: Sequence[str]) -> list[str]:
    """Return up to three questions that fit the columns of a release."""
    return list(dict.fromkeys(_examples(columns, quasi_identifiers)))[:3]


def _examples(columns: Sequence[Mapping[str, Any]], quasi_identifiers: Sequence[str]) -> Iterator[str]:
    numbers = [one["name"] for one in columns if one["type"] in NUMBERS and one["distinct"] > 2]
    texts = [one for one in columns if one["type"] in _GROUPING and not _BRACKETS & set(one["name"])]
    texts.sort(key=lambda one: one["distinct"])  # two that are large together have more combinations than people
    groups = [one["name"] for one in texts if one["distinct"] in _FEW]
    ordered = sorted(numbers, key=lambda name: name in quasi_identifiers)  # outsiders rather do not know an outcome
    yield from _survival(columns, groups)
    for outcome in ordered[:1]:
        terms = [*[name for name in numbers if name != outcome][:1], *groups[:1]]
        if terms:
            yield f"{_term(outcome)} ~ {' + '.join(map(_term, terms))}"
    crossed = [one["name"] for one in texts[:2] if one["distinct"] in _SOME]
    if groups and len(crossed) == 2:
        yield f"crosstab({crossed[1]}, {crossed[0]})"
    for outcome in (one["name"] for one in columns if one["distinct"] == 2 and one["name"] not in quasi_identifiers):
        terms = [name for name in [*numbers[:1], *groups[:2]] if name != outcome][:2]
        if terms:
            yield f"{_term(outcome)} ~ {' + '.join(map(_term, terms))} : logistic"


def _survival(columns: Sequence[Mapping[str, Any]], groups: Sequence[str]) -> Iterator[str]:
    """Return a question about survival, if names of columns say that there are times and events."""
    times = [one["name"] for one in columns if one["type"] in NUMBERS and _TIMES.search(one["name"])]
    events = [name for name in groups if _EVENTS.search(name)]
    by = [name for name in groups if name not in events]
    if times and events:
        yield f"km({times[0]}, {events[0]}{f', by={by[0]}' if by else ''})"


def _term(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"`{name}`"


@router.post("/look/questions")
@free
async def ask(asked: Asked, session: Here) -> Answer:
    """Compare what analyses find before and after the release; nothing of it is written."""
    release = session.need_release(asked.number)
    lines = [line.strip() for line in (*asked.questions.splitlines(), asked.example)]
    questions = list(dict.fromkeys(line for line in lines if line))
    if not 1 <= len(questions) <= _MOST_QUESTIONS:
        raise ParameterError(
            f"Between 1 and {_MOST_QUESTIONS} analyses can be asked for. Got {len(questions)}.",
            hint="write one a line.",
        )
    for one in questions:
        read_question(one)
    session.asked = tuple(questions)

    def keep(found: dict[str, Any]) -> None:
        session.answers = {release.number: found}
        session.touch()

    job = session.run(
        session.workshop.search, "questions", "ask_questions", keep,
        table=session.need_table().stored, folder=release.folder, questions=questions,
    )  # fmt: skip
    session.touch()
    return go(session, job=job)


@router.get("/look/questions/{release}.svg")
async def picture(release: int, session: Here, *, dark: bool = False) -> Response:
    """Return the picture of what was found in a release."""
    found = session.answers.get(release)
    if found is None:
        raise HTTPException(404)
    return drawing(darkened(found["picture"]) if dark else found["picture"])
