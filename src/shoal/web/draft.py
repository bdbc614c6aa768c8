"""The recipe while it is being made. Every click on the page is a function from one draft to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from shoal.errors import ColumnError, ParameterError
from shoal.recipe import Recipe, check_recipe, read_recipe
from shoal.web.treating import DATES, NUMBERS, PERIODS, fits

Role = Literal[
    "quasi-identifier", "sensitive", "identifier", "kept", "left out",
    "person", "household", "survey weight", "pseudonym",
]  # fmt: skip
ROLES: tuple[Role, ...] = get_args(Role)
_LIST_OF: dict[Role, str] = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "kept": "keep",
    "pseudonym": "pseudonymize",
}
_ONE_OF: dict[Role, tuple[str, Role]] = {
    "person": ("person", "identifier"),
    "household": ("household", "identifier"),
    "survey weight": ("survey_weight", "left out"),
}
"""Roles that one column has: its field of the recipe, and what a column becomes that loses the role to another."""
_ROLES_WITH: dict[str, tuple[Role, ...]] = {
    "kinds": ("quasi-identifier", "sensitive"),
    "hierarchies": ("quasi-identifier", "sensitive"),
    "weights": ("quasi-identifier",),
    "cells": ("quasi-identifier",),
    "treat": ("sensitive", "kept"),
}
"""Choices by column, and the roles in which they mean something. In another role they wait for the column to come back."""
DEFAULT_K = 10
_TYPE_OF = {"numeric": "number", "nominal": "text"}
"""What a column that is read in another way is, in the words of its type."""
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
    identity: str = ""
    """Distinguishes the content that was read from any other that the same file may hold."""

    @property
    def key(self) -> str:
        """Distinguishes this table from others, and from other rows in the same place."""
        return repr((self.place, self.path, sorted(self.options.items()), self.identity))

    @property
    def place_key(self) -> tuple[str, str, str]:
        """Distinguishes this place from others, whatever it holds and however its text is read."""
        wanted = {name: self.options[name] for name in ("table", "query") if name in self.options}
        return (self.place, self.path, repr(sorted(wanted.items())))

    def known_as(self, identity: str) -> Source:
        """Return the source with the identity of what was read from it."""
        return replace(self, identity=identity)

    @property
    def files(self) -> list[str]:
        """The files whose change may be one of this table; none for the register, a private copy, or a server."""
        if self.place == "folder":
            return [self.path]
        if self.place == "database" and "://" not in self.path:
            return [self.path, f"{self.path}-wal", f"{self.path}.wal"]
        return []


@dataclass(frozen=True)
class Draft:
    """A table and a recipe that may not be complete yet."""

    source: Source | None = None
    content: Mapping[str, Any] = field(default_factory=dict)
    """The recipe as plain values: the fields of ``shoal.recipe.Recipe``, those that were chosen."""
    key: str = ""
    """The file with the key of pseudonyms, which is not a part of a recipe."""
    undecided: frozenset[str] = frozenset()
    """The columns that nothing is known about and nobody has decided on: they are left out until somebody does."""

    def get(self, name: str) -> Any:
        """Return a field of the recipe, or its default if nothing was chosen."""
        if name in self.content:
            return self.content[name]
        return _DEFAULTS[name] if name in _DEFAULTS else Recipe.model_fields[name].default

    def role(self, column: str) -> Role:
        """Return the role of a column."""
        for role, (name, _) in _ONE_OF.items():
            if column == self.get(name):
                return role
        return next((role for role, name in _LIST_OF.items() if column in self.get(name)), "left out")

    def order(self, column: str) -> list[str] | None:
        """Return the order of a column's values, if one was given."""
        kind = self.get("kinds").get(column)
        return kind if isinstance(kind, list) else None

    @property
    def without_tree(self) -> list[str]:
        """The quasi-identifiers that are not made coarser along a hierarchy."""
        return [name for name in self.get("quasi_identifiers") if self.get("hierarchies").get(name) in {None, "set"}]

    @property
    def ready(self) -> bool:
        """Whether a release can be asked for."""
        return self.source is not None and bool(self.get("quasi_identifiers"))

    @property
    def key_file(self) -> str | None:
        """The key, if something is released as a token."""
        return self.key or None if self.get("pseudonymize") else None

    def recipe(self) -> Recipe:
        """Return the finished recipe, or say what is missing."""
        if not self.get("quasi_identifiers"):
            raise ParameterError(
                "No column is a quasi-identifier yet.",
                hint="mark the columns an outsider may know, such as age and zip.",
            )
        return check_recipe({"k": DEFAULT_K, **self.content, **self._fitting()}, "The recipe")

    def check_complete(self) -> None:
        """Say what is missing before a release can be made."""
        self.recipe()
        if self.get("pseudonymize") and not self.key:
            raise ParameterError(
                "Tokens are made with a key, and none is chosen yet.", hint="choose or make one in the step Columns."
            )

    def _fitting(self) -> dict[str, Any]:
        """Return the choices by column, those alone that mean something in the column's present role."""
        fitting: dict[str, Any] = {
            name: {column: value for column, value in self.content[name].items() if self.role(column) in roles}
            for name, roles in _ROLES_WITH.items()
            if name in self.content
        }
        trees = set(fitting.get("hierarchies", ()))
        if "kinds" in fitting:  # a hierarchy says how a column is read
            fitting["kinds"] = {column: kind for column, kind in fitting["kinds"].items() if column not in trees}
        ends = self.content.get("ends")
        if isinstance(ends, Mapping):
            ranged = set(self.get("quasi_identifiers")) - trees
            fitting["ends"] = {column: step for column, step in ends.items() if column in ranged} or "round"
        if (
            "treat" in fitting
        ):  # dates of one person are shifted together, in either order of naming the person and the treatment
            fitting["treat"] = {column: self._shifted(one) for column, one in fitting["treat"].items()}
        return fitting

    def _shifted(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        if settings["treatment"] != "shift-dates":
            return dict(settings)
        person = self.get("person")
        return {name: value for name, value in settings.items() if name != "person"} | (
            {} if person is None else {"person": person}
        )

    # --- changes -----------------------------------------------------------------------------------------------

    def change(self, **fields: Any) -> Draft:
        """Return the draft with other fields; a value that a recipe cannot hold is refused."""
        content = {name: value for name, value in {**self.content, **fields}.items() if value is not None}
        check_recipe({"k": DEFAULT_K, "quasi_identifiers": ["any"], **_named(content)}, "This choice")
        return replace(self, content=content)

    def with_role(self, column: str, role: Role, columns: Sequence[str]) -> Draft:
        """Return the draft in which a column has another role; ``columns`` is the order of the table."""
        return self.with_roles([column], role, columns)

    def with_roles(self, chosen: Sequence[str], role: Role, columns: Sequence[str]) -> Draft:
        """Return the draft in which some columns have another role; ``columns`` is the order of the table."""
        strange = next((name for name in chosen if name not in columns), None)
        if strange is not None:
            raise ColumnError(f"The table has no column {strange!r}.")
        roles = {name: self.role(name) for name in columns}
        if role in _ONE_OF:
            roles |= {name: _ONE_OF[role][1] for name, given in roles.items() if given == role}
        fields = role_fields(roles | dict.fromkeys(chosen, role))
        tokens = [name for name in self.get("pseudonymize") if name in (fields["person"], fields["household"])]
        fields["pseudonymize"] = [name for name in columns if name in {*fields["pseudonymize"], *tokens}]
        changed = self.change(**fields, together=(self.get("together") and fields["person"] is not None) or None)
        return replace(changed, undecided=self.undecided - set(chosen))

    def with_token(self, column: str, *, token: bool) -> Draft:
        """Return the draft in which a person or household is released as a token, or removed."""
        others = [name for name in self.get("pseudonymize") if name != column]
        return self.change(pseudonymize=[*others, column] if token else others)

    def with_choice(self, field_name: str, column: str, value: Any) -> Draft:
        """Return the draft with another kind, hierarchy, weight or treatment of a column; None takes the choice back."""
        chosen = {name: one for name, one in self.get(field_name).items() if name != column}
        return self.change(**{field_name: chosen if value is None else {**chosen, column: value}})

    def with_order(self, column: str, values: Sequence[str]) -> Draft:
        """Return the draft in which a column's values have an order; it is released as ranges of it, without a tree."""
        return self.with_choice("kinds", column, list(values)).with_choice("hierarchies", column, None)

    def without_order(self, column: str) -> Draft:
        """Return the draft in which a column's values have no order."""
        return self if self.order(column) is None else self.with_choice("kinds", column, None)

    def with_types(self, types: Mapping[str, str]) -> Draft:
        """Return the draft without the ends and treatments by column that its types of values cannot have."""
        kinds = {name: _TYPE_OF.get(str(kind), kind) for name, kind in self.get("kinds").items()}
        found = {**types, **{name: kind for name, kind in kinds.items() if isinstance(kind, str)}}
        draft = self
        ends = self.get("ends")
        for column, step in ends.items() if isinstance(ends, Mapping) else ():
            asked = DATES if step in PERIODS else NUMBERS if not isinstance(step, str) else (*NUMBERS, *DATES)
            if found.get(column, asked[0]) not in asked:
                draft = draft.with_ends(column, None)
        for column, settings in self.get("treat").items():
            if column in found and not fits(settings, found[column]):
                draft = draft.with_choice("treat", column, None)
        return draft

    def with_ends(self, column: str, end: float | str | None) -> Draft:
        """Return the draft in which the ranges of a column end where it is said, all others round; None: as the others."""
        ends = self.get("ends")
        steps = {name: step for name, step in ends.items() if name != column} if isinstance(ends, Mapping) else {}
        if end is not None:
            steps[column] = end
        return self.change(ends=steps or "round") if isinstance(ends, Mapping) or steps else self


def _named(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content without an empty list of quasi-identifiers: a draft may not have any yet."""
    return {key: value for key, value in content.items() if key != "quasi_identifiers" or value}


def role_fields(roles: Mapping[str, Role]) -> dict[str, Any]:
    """Return the fields of a recipe that say what columns are, lists in the order of ``roles``."""
    lists = {name: [column for column, given in roles.items() if given == role] for role, name in _LIST_OF.items()}
    singles = {
        name: next((column for column, given in roles.items() if given == role), None)
        for role, (name, _) in _ONE_OF.items()
    }
    return lists | singles


def opened(draft: Draft, source: Source, guessed: Mapping[str, str]) -> Draft:
    """Return the draft on a newly opened table.

    Choices made for this table, or taken from a recipe before any was opened, stay if their columns are there; roles are else guessed.
    """
    columns = list(guessed)
    known = named_columns(draft.content)
    for_this = draft.source is None or (draft.source.place, draft.source.path) == (source.place, source.path)
    fitting = for_this and bool(known) and known <= set(columns)
    roles = {name: draft.role(name) if fitting else _first_role(guess) for name, guess in guessed.items()}
    kept = {
        name: {column: value for column, value in draft.get(name).items() if fitting and column in columns}
        for name in _ROLES_WITH
    }
    written = {name: source.options.get(name) for name in NOTATION}
    fields = role_fields(roles) | ({"pseudonymize": draft.get("pseudonymize")} if fitting else {})
    changed = replace(draft, source=source).change(**fields, **kept, **written)
    if fitting:  # a recipe decides on every column, by naming it or not
        return replace(changed, undecided=draft.undecided & set(columns))
    unknown = frozenset(name for name, guess in guessed.items() if guess == "other")
    return replace(changed.change(models=[], together=None, ends=None), undecided=unknown)


def named_columns(content: Mapping[str, Any]) -> set[str]:
    """Return the columns to which a recipe gives a role."""
    listed = {column for name in _LIST_OF.values() for column in content.get(name, ())}
    return listed | {content[name] for name, _ in _ONE_OF.values() if content.get(name) is not None}


def _first_role(guess: str) -> Role:
    """Return the role a guess stands for; what nothing is known about stays out until somebody decides."""
    return "left out" if guess == "other" else guess  # type: ignore[return-value]


def from_recipe(path: Path) -> Draft:
    """Return the draft that a recipe file describes, without a table."""
    recipe = read_recipe(path)
    return Draft(content=recipe.model_dump(exclude_unset=True, exclude={"version"}))
