"""Undo, redo, and the recipe as it is: visible, savable, loadable at any time."""

from __future__ import annotations

import tomllib
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from shoal.errors import FileError, ParameterError
from shoal.hierarchy import WORDS
from shoal.recipe import check_recipe, recipe_text, restore_models
from shoal.web.as_code import hierarchy_name, name_inside
from shoal.web.draft import Draft, named_columns
from shoal.web.folder import inside
from shoal.web.routes.common import Answer, Here, check_draft, go
from shoal.web.session import Session

router = APIRouter()

_RECIPE = "recipe.toml"


class Place(BaseModel):
    """Where in the history to go."""

    place: int = Field(ge=0)


class Loaded(BaseModel):
    """The text of a recipe file."""

    text: str = Field(max_length=500_000)


class Saving(BaseModel):
    """A file of the folder to write the recipe into."""

    name: str = Field(max_length=200)
    replace: bool = False


def view(session: Session) -> dict[str, Any]:
    """Return the steps taken and the recipe they led to."""
    return {
        "steps_taken": session.history.steps,
        "place": session.history.place,
        "recipe": draft_text(session),
        "folder": session.folder.name,
        "saved": session.saved,
        "ready": bool(session.draft.get("quasi_identifiers")),
    }


def draft_text(session: Session) -> str:
    """Return the recipe as TOML, also while it is not complete; files as they are named when it is saved."""
    draft, folder = session.draft, session.folder
    if not draft.get("quasi_identifiers"):
        return "# no quasi-identifier is chosen yet\n"
    recipe = draft.recipe()
    trees = {column: hierarchy_name(column, choice, _RECIPE, folder) for column, choice in recipe.hierarchies.items()}
    models = [
        one | {"population": name_inside(one["population"], folder)} if "population" in one else one
        for one in recipe.models
    ]
    return recipe_text(recipe.model_copy(update={"hierarchies": trees, "models": models}))


@router.post("/history/go")
async def go_to(place: Place, session: Here) -> Answer:
    """Go to any step of the history."""
    session.go(place.place)
    return go(session)


@router.post("/history/undo")
async def undo(session: Here) -> Answer:
    """Take the last step back."""
    session.go(session.history.place - 1)
    return go(session)


@router.post("/history/redo")
async def redo(session: Here) -> Answer:
    """Take a step again that was taken back."""
    session.go(session.history.place + 1)
    return go(session)


@router.post("/history/save")
async def save(saving: Saving, session: Here) -> Answer:
    """Write the recipe into the folder, with the hierarchies made here next to it; nothing is replaced unasked."""
    path = inside(session.folder, saving.name)
    if path.suffix != ".toml":
        raise FileError(f"The recipe {path.name!r} has no known ending.", hint="use .toml.")

    def keep(_: Any) -> None:
        session.saved = saving.name
        session.touch()

    job = session.run(
        session.workshop.desk, "save", "save_recipe", keep,
        recipe=session.draft.recipe().model_dump(exclude_unset=True), own=session.own_hierarchies,
        key=session.draft.key_file, target=str(path), force=saving.replace,
    )  # fmt: skip
    return go(session, job=job)


@router.post("/history/load")
async def load(loaded: Loaded, session: Here) -> Answer:
    """Take all choices from a recipe file; hierarchy files it names must be in the folder."""
    try:
        content = tomllib.loads(loaded.text)
    except (ValueError, RecursionError):  # a number of thousands of digits, or brackets without end, too
        raise ParameterError("This is not a recipe: it is not valid TOML.") from None
    recipe = check_recipe(content, "The recipe")
    table = session.table
    strange = sorted(named_columns(recipe.model_dump()) - set(table.names)) if table else []
    if strange:
        raise ParameterError(f"The recipe names columns this table does not have: {', '.join(strange)}.")
    content = recipe.model_dump(exclude_unset=True, exclude={"version"}) | {
        "hierarchies": _local_hierarchies(session, recipe.hierarchies),
        "models": [_local_model(session, one) for one in recipe.models],
    }
    draft = Draft(session.draft.source, content, session.draft.key).with_types(session.types)
    restore_models(recipe.models)
    check_draft(draft)
    session.change(draft, "recipe loaded")
    return go(session, "columns" if table else None)


def _local_model(session: Session, settings: dict[str, Any]) -> dict[str, Any]:
    """Return a model whose list of the population, if it has one, is in the folder."""
    if "population" not in settings:
        return settings
    return settings | {"population": str(inside(session.folder, str(settings["population"])))}


def _local_hierarchies(session: Session, named: dict[str, str]) -> dict[str, str]:
    return {
        column: choice if choice in WORDS else str(inside(session.folder, choice)) for column, choice in named.items()
    }
