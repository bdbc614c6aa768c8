"""The recipe while it is being made. Every click on the page is a function from one draft to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from shoal.errors import ColumnError, ParameterError
from shoal.recipe import Recipe, check_recipe, read_recipe

Role = Literal["quasi-identifier", "sensitive", "identifier", "kept", "left out"]
ROLES: tuple[Role, ...] = get_args(Role)
_LIST_OF: dict[Role, str] = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "kept": "keep",
}
_BY_COLUMN = ("kinds", "hierarchies", "weights")
DEFAULT_K = 10
NOTATION = ("decimal", "thousands", "date_format", "missing")
"""How values in text are written: options of reading that the recipe repeats."""
_DEFAULTS: dict[str, Any] = {"k": DEFAULT_K, "quasi_identifiers": []}
"""What a recipe must name and a draft may leave open."""


@dataclass(frozen=True)
class Source:
    """Where the table comes from, and how its text is read."""

    place: Literal["folder", "dropped", "database", "demo"]
    name: str
    """What the page calls it: the file's name, never more of its path."""
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What was corrected by hand, as parameters of ``shoal.read_table``."""

    @property
    def key(self) -> str:
        """What tells this table from others."""
        return repr((self.place, self.path, sorted(self.options.items())))


@dataclass(frozen=True)
class Draft:
    """A table and a recipe that may not be complete yet."""

    source: Source | None = None
    content: Mapping[str, Any] = field(default_factory=dict)
    """The recipe as plain values: the fields of ``shoal.recipe.Recipe``, those that were chosen."""

    def get(self, name: str) -> Any:
        """Return a field of the recipe, or what it is where nothing was chosen."""
        if name in self.content:
            return self.content[name]
        return _DEFAULTS[name] if name in _DEFAULTS else Recipe.model_fields[name].default

    def role(self, column: str) -> Role:
        """Return the role of a column."""
        return next((role for role, name in _LIST_OF.items() if column in self.get(name)), "left out")

    @property
    def ready(self) -> bool:
        """Whether a release can be asked for."""
        return self.source is not None and bool(self.get("quasi_identifiers"))

    def recipe(self) -> Recipe:
        """Return the finished recipe, or say what is missing."""
        if not self.get("quasi_identifiers"):
            raise ParameterError(
                "No column is a quasi-identifier yet.",
                hint="mark the columns an outsider may know, such as age and zip.",
            )
        return check_recipe({"k": DEFAULT_K, **self.content}, "The recipe")

    # --- changes -----------------------------------------------------------------------------------------------

    def change(self, **fields: Any) -> Draft:
        """Return the draft with other fields; a value that cannot stand in a recipe is refused."""
        content = {name: value for name, value in {**self.content, **fields}.items() if value is not None}
        check_recipe({"k": DEFAULT_K, "quasi_identifiers": ["any"], **_named(content)}, "This choice")
        return replace(self, content=content)

    def with_role(self, column: str, role: Role, columns: Sequence[str]) -> Draft:
        """Return the draft in which a column has another role; ``columns`` is the order of the table."""
        if column not in columns:
            raise ColumnError(f"The table has no column {column!r}.")
        roles = {name: self.role(name) for name in columns} | {column: role}
        return self.change(**role_lists(roles))

    def with_choice(self, field_name: str, column: str, value: Any) -> Draft:
        """Return the draft with another kind, hierarchy or weight of a column; None takes the choice back."""
        chosen = {name: one for name, one in self.get(field_name).items() if name != column}
        return self.change(**{field_name: chosen if value is None else {**chosen, column: value}})


def _named(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content without an empty list of quasi-identifiers: a draft may not have any yet."""
    return {key: value for key, value in content.items() if key != "quasi_identifiers" or value}


def role_lists(roles: Mapping[str, Role]) -> dict[str, list[str]]:
    """Return the lists of a recipe, each in the order of ``roles``."""
    return {name: [column for column, given in roles.items() if given == role] for role, name in _LIST_OF.items()}


def opened(draft: Draft, source: Source, guessed: Mapping[str, str]) -> Draft:
    """Return the draft on a newly opened table: choices whose columns are still there stay, roles are else guessed."""
    columns = list(guessed)
    known = {column for name in _LIST_OF.values() for column in draft.get(name)}
    fitting = bool(known) and known <= set(columns)
    roles = {name: draft.role(name) if fitting else _first_role(guess) for name, guess in guessed.items()}
    kept = {
        name: {column: value for column, value in draft.get(name).items() if fitting and column in columns}
        for name in _BY_COLUMN
    }
    written = {name: source.options.get(name) for name in NOTATION}
    changed = replace(draft, source=source).change(**role_lists(roles), **kept, **written)
    return changed if fitting else changed.change(models=[])


def _first_role(guess: str) -> Role:
    """Return the role a guess stands for; what nothing is known about stays out until somebody decides."""
    return "left out" if guess == "other" else guess  # type: ignore[return-value]


def from_recipe(path: Path) -> Draft:
    """Return the draft that a recipe file describes, without a table."""
    recipe = read_recipe(path)
    return Draft(content=recipe.model_dump(exclude_unset=True, exclude={"version"}))
