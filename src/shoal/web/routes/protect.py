"""Step 4, Protect: how many to hide among, what else must hold, and making the release."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

import shoal
from shoal.errors import ParameterError
from shoal.web.draft import Draft
from shoal.web.folder import inside, list_tables
from shoal.web.repeating import name_inside
from shoal.web.routes.common import Answer, Here, go
from shoal.web.session import Session

router = APIRouter()

KS = (5, 10, 20, 50)
EFFORTS = {"fast": "quickly", "balanced": "balanced", "best": "take your time"}


@dataclass(frozen=True)
class ModelChoice:
    """A privacy model beyond k, as the page offers it."""

    name: str
    parameter: str
    default: float
    before: str
    """The sentence up to its number, and after it; {} stands for the sensitive columns."""
    after: str
    stops: str
    population: bool = False
    """Whether it needs a list of the population."""


MODELS = (
    ModelChoice("l-diversity", "l", 3, "At least", "different values of {} in every group", "“all of them have it”"),
    ModelChoice("t-closeness", "t", 0.3, "Values of {} spread as in the whole table, within", "", "“most of them have it”"),
    ModelChoice("alpha-k", "alpha", 0.5, "No value of {} has more than the share", "of a group", "“probably this one”"),
    ModelChoice("beta-likeness", "beta", 2, "No value of {} gains more than", "times its share of the whole table", "“far more likely here than elsewhere”"),
    ModelChoice("k-map", "k", 10, "At least", "people of the list fit every group", "“only this one of the whole town fits”", population=True),
    ModelChoice("delta-presence", "high", 0.5, "Of the people of the list who fit a group, at most the share", "is in the table", "“then she must be in it”", population=True),
    ModelChoice("delta-disclosure", "delta", 2, "The share of every value of {} in a group differs from the whole by a factor of e to the", "at most", "“much more, or much less, likely here”"),
)  # fmt: skip


class KChange(BaseModel):
    """Another size of the smallest group."""

    k: int = Field(ge=2, le=1_000_000)


class ModelChange(BaseModel):
    """A model beyond k: on with its number, or off."""

    model: str
    value: float | None = None
    on: bool = False
    population: str = Field(default="", max_length=4096)


class SearchChange(BaseModel):
    """How groups are found, and how many records may be withheld."""

    method: str
    effort: Literal["fast", "balanced", "best"]
    max_suppression: float = Field(ge=0, le=100, description="In percent.")
    ends: Literal["round", "exact", "by column"]


def view(session: Session) -> dict[str, Any]:
    """Return the choices, and the attack before and after."""
    draft = session.draft
    by_trees = {one.name for one in shoal.methods() if one.needs_hierarchies}
    return {
        "lacking": draft.without_tree if draft.get("method") in by_trees else [],
        "ks": KS,
        "k": draft.get("k"),
        "models": [_model_row(session, one) for one in MODELS if not one.population],
        "on_population": [_model_row(session, one) for one in MODELS if one.population],
        "lists": [one.name for one in list_tables(session.folder)],
        "sensitive": draft.get("sensitive"),
        "methods": shoal.methods(),
        "method": draft.get("method"),
        "efforts": EFFORTS,
        "effort": draft.get("effort"),
        "withheld": 100 * draft.get("max_suppression"),
        "ends": draft.get("ends") if isinstance(draft.get("ends"), str) else "by column",
        "can_stop": os.name == "posix",
        "summary": session.release.summary if session.release else None,
    }


def _model_row(session: Session, choice: ModelChoice) -> dict[str, Any]:
    draft = session.draft
    chosen = next((one for one in draft.get("models") if one["model"] == choice.name), None)
    names = " and ".join(draft.get("sensitive"))
    return {
        "name": choice.name,
        "on": chosen is not None,
        "value": chosen[choice.parameter] if chosen else choice.default,
        "before": choice.before.format(names),
        "after": choice.after.format(names),
        "stops": choice.stops,
        "population": name_inside(chosen["population"], session.folder) if chosen and choice.population else "",
    }


@router.post("/protect/k")
async def change_k(change: KChange, session: Here) -> Answer:
    """Hide everyone among another number."""
    _check_k(change.k, session)
    session.change(session.draft.change(k=change.k), f"k = {change.k}")
    return go()


def _check_k(k: int, session: Session) -> None:
    """Refuse a k that no table of this length can keep."""
    rows = session.need_table().records
    if k > rows:
        many = f"{rows:,} row{'' if rows == 1 else 's'}"
        raise ParameterError(f"Nobody can hide among {k:,}: the table has {many}.", hint="take a smaller k.")


@router.post("/protect/model")
async def change_model(change: ModelChange, session: Here) -> Answer:
    """Ask for a model, with another number, or no longer."""
    choice = next((one for one in MODELS if one.name == change.model), None)
    if choice is None:
        raise ParameterError("There is no such model.")
    models = [one for one in session.draft.get("models") if one["model"] != choice.name]
    words = f"without {choice.name}"
    if change.on:
        value = choice.default if change.value is None else change.value
        settings = {"model": choice.name, choice.parameter: int(value) if value == int(value) else value}
        models.append(settings | _on_population(session, choice, change.population))
        words = f"{choice.name} {value:g}"
    draft = session.draft.change(models=models)
    _check_models(draft)
    session.change(draft, words)
    return go()


def _on_population(session: Session, choice: ModelChoice, name: str) -> dict[str, Any]:
    """Return the list of the population a model counts in, a file of the folder."""
    if not choice.population:
        return {}
    lowest = {"low": 0.0} if choice.name == "delta-presence" else {}
    return lowest | {"population": str(inside(session.folder, name))}


def _check_models(draft: Draft) -> None:
    """Refuse numbers a model does not take, in its own words."""
    if draft.ready:
        shoal.Anonymizer(**_parameters(draft) | {"pseudonymize": []})  # the key may not be chosen yet


def _parameters(draft: Draft) -> dict[str, Any]:
    from shoal.api import recipe_parameters  # noqa: PLC0415  (heavy; the first page is shown without it)

    return recipe_parameters(draft.recipe())


@router.post("/protect/search")
async def change_search(change: SearchChange, session: Here) -> Answer:
    """Find groups in another way."""
    ends = session.draft.get("ends") if change.ends == "by column" else change.ends
    draft = session.draft.change(
        method=change.method,
        method_options={},
        effort=change.effort,
        max_suppression=change.max_suppression / 100,
        ends=ends,
    )
    _check_models(draft)
    words = f"{change.method}, {change.effort}, at most {change.max_suppression:g} % withheld, {change.ends} ends"
    session.change(draft, words)
    return go()


@router.post("/protect/make")
async def make(session: Here) -> Answer:
    """Make the release."""
    session.draft.check_complete()
    _check_k(session.draft.get("k"), session)
    return go(job=session.make_release())
