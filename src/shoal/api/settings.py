"""From parameters to a recipe and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.hierarchy import Hierarchy
from shoal.recipe import Recipe, check_recipe, method_settings, model_settings, restore_method, restore_models
from shoal.treatments import treatment_settings

if TYPE_CHECKING:
    from shoal.api.anonymizer import Anonymizer

_OBJECTS = {"version", "method", "method_options", "models", "treat"}
"""Fields of a recipe that are made from objects; all others are a parameter of the same name."""


def make_recipe(anonymizer: Anonymizer) -> Recipe:
    """Return all parameters as plain values; hierarchies that are objects appear as ``"(object)"``."""
    name, options = method_settings(anonymizer.method)
    plain = {field: _plain(getattr(anonymizer, field)) for field in Recipe.model_fields if field not in _OBJECTS}
    objects = {
        "method": name,
        "method_options": options,
        "models": model_settings(anonymizer.models),
        "treat": treatment_settings(anonymizer.treat),
    }
    return check_recipe(plain | objects, "Anonymizer")


def recipe_parameters(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as parameters of ``Anonymizer``."""
    parameters = recipe.model_dump(exclude=_OBJECTS)
    objects = {"method": restore_method(recipe), "models": restore_models(recipe.models), "treat": recipe.treat}
    return parameters | objects


def _plain(value: Any) -> Any:
    """Return a parameter as a recipe file can hold it."""
    if isinstance(value, Hierarchy):
        return "(object)"
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
