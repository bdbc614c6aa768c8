"""What is declared about a release beyond its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.cells.counted import ExactCounts
from shoal.errors import ParameterError
from shoal.notation import ValueLabels
from shoal.recipe import Recipe, averaged_weight
from shoal.validation import nearest_hint

Role = Literal["quasi-identifier", "sensitive", "kept", "pseudonym", "weight"]


class ColumnAbout(BaseModel):
    """What the publisher says of one column."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    description: str = ""
    unit: str = ""
    labels: dict[str, str] = Field(default={}, description="What values stand for.")


class About(BaseModel):
    """What the publisher says of a release, for its dictionary.

    Examples
    --------
    >>> from shoal.publication import About
    >>> About(title="Hospital stays", licenses=[{"name": "CC-BY-4.0"}], columns={"cost": {"unit": "EUR"}}).columns["cost"].unit
    'EUR'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    description: str = ""
    licenses: list[dict[str, str]] = Field(default=[], description="Each with a name, a path or a title.")
    contributors: list[dict[str, str]] = Field(default=[], description="Each with a title: who made the table.")
    citation: str = ""
    columns: dict[str, ColumnAbout] = {}

    @classmethod
    def of(cls, given: Mapping[str, Any] | About) -> About:
        """Return what was given as a mapping, or say in one sentence what is wrong with it."""
        if isinstance(given, About):
            return given
        try:
            return cls.model_validate(dict(given))
        except ValidationError as fault:
            first = fault.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            hint = nearest_hint(place, cls.model_fields) if first["type"] == "extra_forbidden" else None
            raise ParameterError(
                f"What is said about a release is wrong at {place!r}: {first['msg']}.", hint=hint
            ) from None


class Declared(NamedTuple):
    """What is known of a release without looking at a row of the original.

    ``labels`` may hold more codes than were released: the released rows decide which of them are published.
    """

    recipe: Recipe
    trees: Mapping[str, Mapping[str, Any]] = {}
    """The hierarchies of quasi-identifiers as far as the released cells show them; see ``trees.public_tree``."""
    labels: Mapping[str, ValueLabels] = {}
    """Titles and value labels of the file that the table comes from."""
    separator: str = ","
    encoding: str = "utf-8"
    untyped: bool = False
    """Columns are text because the table comes from a text file."""
    about: About = About()
    counts: ExactCounts | None = None
    """Counts of exact values, pooled and rounded where the release was made: the one thing here that the rows do not show."""

    def role(self, name: str) -> Role:
        """Return the role of a released column."""
        recipe = self.recipe
        if name in recipe.quasi_identifiers:
            return "quasi-identifier"
        if name in recipe.pseudonymize:
            return "pseudonym"
        if name in {averaged_weight(recipe), recipe.survey_weight}:
            return "weight"
        return "sensitive" if name in recipe.sensitive else "kept"

    def order(self, name: str) -> list[str] | None:
        """Return the order that the recipe gives the values of a column."""
        kind = self.recipe.kinds.get(name)
        return [str(one) for one in kind] if isinstance(kind, list) else None
