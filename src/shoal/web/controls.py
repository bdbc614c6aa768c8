"""Which control of the page shows which key of a recipe: each key has a control, or a line that shows it and takes it back.

A recipe that was loaded may say more than the controls can: a weight for single values, an option of a method, a key that is newer
than the page. None of it acts unseen: what no control shows is a line of the step Protect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.recipe import Recipe
from shoal.web.draft import NOTATION, Draft
from shoal.web.models import model_forms
from shoal.web.treating import choice_of


@dataclass(frozen=True)
class Line:
    """A choice that acts and that no control shows."""

    key: str
    part: str
    """The column, or the place in a list; empty for the whole key."""
    text: str
    words: str
    """What the key means, in the words of the recipe's schema."""


Shown = Callable[[Draft, Any, Mapping[str, str]], Any]
"""Return what a control leaves unshown of a value: a part of a mapping or list by its keys, or all of it; nothing if empty."""


def _all(_draft: Draft, _value: Any, _types: Mapping[str, str]) -> Any:
    return None


def _numbers_alone(_draft: Draft, value: Any, _types: Mapping[str, str]) -> Any:
    return {column: weight for column, weight in value.items() if isinstance(weight, Mapping)}


def _treatments(_draft: Draft, value: Any, types: Mapping[str, str]) -> Any:
    return {column: one for column, one in value.items() if choice_of(one, types.get(column, "text")) is None}


def _models(_draft: Draft, value: Any, _types: Mapping[str, str]) -> Any:
    forms, seen, hidden = {one.name: one for one in model_forms()}, set(), {}
    for place, one in enumerate(value):
        name = one["model"]
        if name in seen or name not in forms or not forms[name].shows(one):
            hidden[str(place)] = one
        seen.add(name)
    return hidden


def _token_of_role(draft: Draft, value: Any, _types: Mapping[str, str]) -> Any:
    return [name for name in value if draft.role(name) not in {"pseudonym", "person", "household"}]


def _reading(name: str) -> Shown:
    def left(draft: Draft, value: Any, _types: Mapping[str, str]) -> Any:
        return None if draft.source is not None and draft.source.options.get(name) == value else value

    return left


def _with_person(draft: Draft, value: Any, _types: Mapping[str, str]) -> Any:
    return None if draft.get("person") is not None else value


CONTROLS: dict[str, tuple[str, Shown]] = {
    "k": ("protect", _all),
    "quasi_identifiers": ("columns", _all),
    "sensitive": ("columns", _all),
    "identifiers": ("columns", _all),
    "keep": ("columns", _all),
    "person": ("columns", _all),
    "household": ("columns", _all),
    "together": ("columns", _with_person),
    "survey_weight": ("columns", _all),
    "kinds": ("columns", _all),
    "hierarchies": ("hierarchies", _all),
    "weights": ("columns", _numbers_alone),
    "models": ("protect", _models),
    "method": ("protect", _all),
    "effort": ("protect", _all),
    "max_suppression": ("protect", _all),
    "release": ("protect", _all),
    "widen": ("protect", _all),
    "ends": ("hierarchies", _all),
    "cells": ("columns", _all),
    "treat": ("columns", _treatments),
    "pseudonymize": ("columns", _token_of_role),
    "seed": ("protect", _all),
} | {name: ("open", _reading(name)) for name in NOTATION}
"""The step with the control of each key, and what that leaves unshown."""


def lines(draft: Draft, types: Mapping[str, str]) -> list[Line]:
    """Return what acts in a recipe and no control shows."""
    if not draft.get("quasi_identifiers"):
        return []
    recipe, found = draft.recipe(), []
    for key, field in Recipe.model_fields.items():
        value = getattr(recipe, key)
        if key == "version" or field.is_required() or value == field.default:
            continue
        left = CONTROLS[key][1](draft, value, types) if key in CONTROLS else value
        parts = left if key in CONTROLS and isinstance(left, Mapping) else {"": left}
        found += [
            Line(key, str(part), _written(key, one, part), field.description or "")
            for part, one in parts.items()
            if one not in (None, [], {})
        ]
    return found


def _written(key: str, value: Any, part: Any) -> str:
    name = f"{key} of {part}" if part and key != "models" else key
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"


def without(draft: Draft, key: str, part: str) -> Draft:
    """Return the draft without a choice that no control shows."""
    value = draft.get(key)
    if part and isinstance(value, Mapping):
        return draft.with_choice(key, part, None)
    if part and isinstance(value, list):
        return draft.change(**{key: [one for place, one in enumerate(value) if str(place) != part]})
    return draft.change(**{key: None})
