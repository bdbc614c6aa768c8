"""Step 4, Protect: how many to hide among, what else must hold, and making the release."""

from __future__ import annotations

import os
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

import shoal
from shoal.errors import ParameterError
from shoal.web.as_code import name_inside
from shoal.web.controls import without
from shoal.web.folder import inside, list_tables
from shoal.web.models import ModelForm, Number, model_forms, model_settings
from shoal.web.routes.common import Answer, Here, check_draft, go
from shoal.web.session import Session

router = APIRouter()

KS = (5, 10, 20, 50)
EFFORTS = {"fast": "quickly", "balanced": "balanced", "best": "take your time"}


class KChange(BaseModel):
    """Another size of the smallest group."""

    k: int = Field(ge=2, le=1_000_000)


class ModelChange(BaseModel):
    """A model beyond k: on with its numbers, each under its name, or off."""

    model_config = ConfigDict(extra="allow")

    model: str
    on: bool = False
    population: str = Field(default="", max_length=4096)


class SearchChange(BaseModel):
    """How groups are found and what is released of them; what is not named stays as it is."""

    method: str | None = None
    effort: str | None = Field(default=None, max_length=20)
    max_suppression: float | None = Field(default=None, ge=0, le=100, description="In percent.")
    ends: Literal["round", "exact", "by column"] | None = None
    release: Literal["", "ranges", "representatives"] | None = None
    widen: float | None = Field(default=None, ge=0, le=100, description="In percent.")
    seed: int | None = Field(default=None, ge=0)


class Unshown(BaseModel):
    """A choice that only a line shows."""

    key: str = Field(max_length=100)
    part: str = Field(default="", max_length=10_000)


def view(session: Session) -> dict[str, Any]:
    """Return the choices, and the attack before and after."""
    draft = session.draft
    by_trees = {one.name for one in shoal.methods() if one.needs_hierarchies}
    models = [_model_row(session, one) for one in model_forms()]
    return {
        "lacking": draft.without_tree if draft.get("method") in by_trees else [],
        "ks": KS,
        "k": draft.get("k"),
        "models": [one for one in models if not one["on_list"]],
        "on_population": [one for one in models if one["on_list"]],
        "lists": [one.name for one in list_tables(session.folder)],
        "sensitive": draft.get("sensitive"),
        "methods": shoal.methods(),
        "method": draft.get("method"),
        "efforts": _efforts(draft.get("effort")),
        "effort": _shown_effort(draft.get("effort")),
        "withheld": 100 * draft.get("max_suppression"),
        "ends": draft.get("ends") if isinstance(draft.get("ends"), str) else "by column",
        "released": draft.get("release") or "",
        "widen": 100 * draft.get("widen"),
        "seed": draft.get("seed"),
        "rare": any(draft.get(name) not in {None, 0} for name in ("release", "widen", "seed")),
        "lines": session.unshown,
        "can_stop": os.name == "posix",
        "summary": session.release.summary if session.release else None,
    }


def _efforts(chosen: Any) -> dict[str, str]:
    """Return the efforts to choose from: those with a name, and the seconds that a recipe names."""
    return EFFORTS if chosen in EFFORTS else EFFORTS | {_shown_effort(chosen): f"{chosen:g} seconds"}


def _shown_effort(chosen: Any) -> str:
    return chosen if isinstance(chosen, str) else f"{chosen:g}"


def _offered(session: Session, number: Number) -> float | None:
    """Return the content of the field of a number that was not chosen: its default, or the size of groups for a k without one."""
    return session.draft.get("k") if number.required and number.name == "k" else number.default


def _model_row(session: Session, form: ModelForm) -> dict[str, Any]:
    chosen = next((one for one in session.draft.get("models") if one["model"] == form.name), None)
    names = " and ".join(session.draft.get("sensitive"))
    population = str(chosen["population"]) if chosen and chosen.get("population") else ""
    return {
        "name": form.name,
        "on": chosen is not None,
        "numbers": [
            {"name": one.name, "value": (chosen or {}).get(one.name, _offered(session, one)), "whole": one.whole}
            for one in form.numbers
        ],
        "before": form.before.replace("{}", names),
        "after": form.after.replace("{}", names),
        "stops": form.stops,
        "on_list": form.population,
        "population": name_inside(population, session.folder) if population else "",
    }


@router.post("/protect/k")
async def change_k(change: KChange, session: Here) -> Answer:
    """Hide everyone among another number."""
    _check_k(change.k, session)
    session.change(session.draft.change(k=change.k), f"k = {change.k}")
    return go(session)


def _check_k(k: int, session: Session) -> None:
    """Refuse a k that no table of this length can keep."""
    rows = session.need_table().records
    if k > rows:
        many = f"{rows:,} row{'' if rows == 1 else 's'}"
        raise ParameterError(f"Nobody can hide among {k:,}: the table has {many}.", hint="take a smaller k.")


@router.post("/protect/model")
async def change_model(change: ModelChange, session: Here) -> Answer:
    """Ask for a model, with other numbers, or no longer; of several with one name, the first is meant."""
    models = list(session.draft.get("models"))
    place = next((number for number, one in enumerate(models) if one["model"] == change.model), len(models))
    if change.on:
        given = {name: str(value) for name, value in (change.model_extra or {}).items()}
        population = str(inside(session.folder, change.population)) if change.population else ""
        before = models[place] if place < len(models) else None
        settings = model_settings(change.model, given, before, population)
        models[place : place + 1] = [settings]
        words = " ".join(str(one) for name, one in settings.items() if name != "population")
    else:
        del models[place : place + 1]
        words = f"without {change.model}"
    draft = session.draft.change(models=models)
    check_draft(draft)
    session.change(draft, words)
    return go(session)


@router.post("/protect/search")
async def change_search(change: SearchChange, session: Here) -> Answer:
    """Find groups in another way, or release something else of them."""
    given = change.model_dump(exclude_none=True)
    fields: dict[str, Any] = dict(given)
    if "method" in given and given["method"] != session.draft.get("method"):
        fields["method_options"] = {}
    if "effort" in given and given["effort"] not in EFFORTS:
        fields["effort"] = _seconds(given["effort"])
    if given.get("ends") == "by column":
        del fields["ends"]
    for name in ("max_suppression", "widen"):
        if name in given:
            fields[name] = given[name] / 100
    if "release" in given:
        fields["release"] = given["release"] or None
    draft = session.draft.change(**fields)
    check_draft(draft)
    session.change(
        draft, ", ".join(f"{_WORDS[name]} {value or 'as the method has it'}" for name, value in given.items())
    )
    return go(session)


_WORDS = {
    "method": "method", "effort": "effort", "max_suppression": "percent withheld at most:", "ends": "ranges end",
    "release": "released:", "widen": "percent released wider:", "seed": "seed",
}  # fmt: skip


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise ParameterError(f"The effort {text!r} is none that the page knows.") from None
    return int(seconds) if seconds == int(seconds) else seconds


@router.post("/protect/without")
async def take_back(unshown: Unshown, session: Here) -> Answer:
    """Take back a choice of a loaded recipe that no control shows."""
    if not any((one.key, one.part) == (unshown.key, unshown.part) for one in session.unshown):
        raise ParameterError("The recipe has no such choice.")
    session.change(without(session.draft, unshown.key, unshown.part), f"without {unshown.key} {unshown.part}".rstrip())
    return go(session)


@router.post("/protect/make")
async def make(session: Here) -> Answer:
    """Make the release."""
    session.draft.check_complete()
    _check_k(session.draft.get("k"), session)
    return go(session, job=session.make_release())
