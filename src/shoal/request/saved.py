"""From a request to a recipe, and from a recipe to parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.hierarchy import Hierarchy
from shoal.io.transaction import Transaction
from shoal.recipe import (
    OBJECT,
    Recipe,
    check_recipe,
    method_settings,
    model_settings,
    restore_method,
    restore_models,
    write_recipe,
)
from shoal.treatments import treatment_settings

if TYPE_CHECKING:
    from shoal.request.request import Request

_OBJECTS = {"version", "method", "method_options", "models", "treat", "cells"}
"""Fields of a recipe that are made from objects; all others are a parameter of the same name."""


def make_recipe(request: Request) -> Recipe:
    """Return all parameters as plain values; hierarchies that are objects appear as ``"(object)"``."""
    name, options = method_settings(request.method)
    plain = {field: _plain(getattr(request, field)) for field in Recipe.model_fields if field not in _OBJECTS}
    objects = {
        "method": name,
        "method_options": options,
        "models": model_settings(request.models),
        "treat": treatment_settings(request.treat),
        "cells": {name: one.plain for name, one in request.cells.items()},
    }
    return check_recipe(plain | objects, "Anonymizer")


def stage_recipe(files: Transaction, request: Request, target: Path) -> None:
    """Write the recipe of a request as one of the files of a call; its target was added before."""
    objects = {name: choice for name, choice in request.hierarchies.items() if isinstance(choice, Hierarchy)}
    named = request.recipe.model_copy(update={"release": request.release_given})  # the method's own is not pinned
    write_recipe(files, named, objects, target)


def recipe_parameters(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as parameters of ``Anonymizer``."""
    parameters = recipe.model_dump(exclude=_OBJECTS)
    objects: dict[str, Any] = {"method": restore_method(recipe), "models": restore_models(recipe.models)}
    objects |= {"treat": recipe.treat, "cells": recipe.cells}
    return parameters | objects


def _plain(value: Any) -> Any:
    """Return a parameter as a recipe file can hold it."""
    if isinstance(value, Hierarchy):
        return OBJECT
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
