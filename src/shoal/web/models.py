"""Privacy models as the page offers them: all that are registered, those of other packages too.

A model is asked for in a sentence with a number. shoal's own models have a sentence here; any other gets the first line of its
docstring and a field for each of its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from shoal.errors import ParameterError
from shoal.recipe import known_models, restore_models


@dataclass(frozen=True)
class Number:
    """A number of a model."""

    name: str
    default: float | None
    whole: bool
    required: bool = False
    """Whether there is no default."""


@dataclass(frozen=True)
class Sentence:
    """How a model is asked for; {} stands for the sensitive columns."""

    parameter: str
    default: float
    before: str
    after: str
    stops: str
    others: Mapping[str, Any]
    """Further parameters that the model needs."""


_SENTENCES = {
    "l-diversity": Sentence("l", 3, "At least", "different values of {} in every group", "“all of them have it”", {}),
    "t-closeness": Sentence("t", 0.3, "Values of {} spread as in the whole table, within", "", "“most of them have it”", {}),
    "alpha-k": Sentence("alpha", 0.5, "No value of {} has more than the share", "of a group", "“probably this one”", {}),
    "beta-likeness": Sentence("beta", 2, "No value of {} gains more than", "times its share of the whole table", "“far more likely here than elsewhere”", {}),
    "k-map": Sentence("k", 10, "At least", "people of the list fit every group", "“only this one of the whole town fits”", {}),
    "delta-presence": Sentence("high", 0.5, "Of the people of the list who fit a group, at most the share", "is in the table", "“then she must be in it”", {"low": 0.0}),
    "delta-disclosure": Sentence("delta", 2, "The share of every value of {} in a group differs from the whole by a factor of e to the", "at most", "“much more, or much less, likely here”", {}),
}  # fmt: skip


@dataclass(frozen=True)
class ModelForm:
    """A privacy model as the page offers it."""

    name: str
    before: str
    after: str
    stops: str
    numbers: tuple[Number, ...]
    population: bool
    """Whether it needs a list of the population."""
    others: Mapping[str, Any]

    def shows(self, settings: Mapping[str, Any]) -> bool:
        """Return whether the form shows all of a model's settings."""
        known = {"model", *(one.name for one in self.numbers), *(["population"] if self.population else [])}
        return {name for name, value in settings.items() if self.others.get(name, MISSING) != value} <= known


def model_forms() -> list[ModelForm]:
    """Return the form of every registered model, those with a sentence first."""
    found = known_models()
    told = [*(name for name in _SENTENCES if name in found), *(name for name in found if name not in _SENTENCES)]
    return [_form(name, found[name]) for name in told]


def _form(name: str, kind: Any) -> ModelForm:
    sentence = _SENTENCES.get(name)
    known = {one.name for one in fields(kind)}
    on_list = "population" in known
    if sentence is not None:
        whole = isinstance(sentence.default, int) and sentence.parameter in {"k", "l"}
        number = Number(sentence.parameter, sentence.default, whole)
        return ModelForm(name, sentence.before, sentence.after, sentence.stops, (number,), on_list, sentence.others)
    told = (kind.__doc__ or name).strip().splitlines()[0].replace("``", "")
    return ModelForm(name, told, "", "", tuple(_numbers(kind)), on_list, {})


def _numbers(kind: Any) -> list[Number]:
    found = []
    for one in fields(kind):
        text = one.type if isinstance(one.type, str) else getattr(one.type, "__name__", "")
        if text.split(" ")[0] in {"int", "float"}:
            default = one.default if isinstance(one.default, int | float) else None
            found.append(Number(one.name, default, text.startswith("int"), one.default is MISSING))
    return found


def model_settings(
    name: str, given: Mapping[str, str], before: Mapping[str, Any] | None, population: str
) -> dict[str, Any]:
    """Return a model as a recipe has it, checked in its own words; what the form does not show stays as it was."""
    form = next((one for one in model_forms() if one.name == name), None)
    if form is None:
        raise ParameterError("There is no such model.")
    settings = {"model": name, **form.others, **(before or {})}
    for number in form.numbers:
        value = _read(number, given.get(number.name, ""))
        if value is not None:
            settings[number.name] = value
        elif number.required and number.name not in settings:
            raise ParameterError(
                f"The privacy model {name!r} needs a number for {number.name!r}.", hint="type it first."
            )
    if population:
        settings["population"] = population
    restore_models([settings])
    return settings


def _read(number: Number, text: str) -> float | None:
    if not text:
        return number.default
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"The {number.name!r} of a privacy model must be a number.") from None
    return int(value) if value == int(value) else value
