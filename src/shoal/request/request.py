"""The request for one release: every parameter, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from shoal.arrays import CancelToken, Effort, Progress, Release
from shoal.cells.counted import CountsChoice
from shoal.cells.disjoint import Disjoint
from shoal.encoding import HierarchyChoice, KindChoice, Unit, Weight, check_hierarchies, check_weights
from shoal.ends import EndsChoice
from shoal.methods.base import Method, Task, say_nothing
from shoal.notation import Notation, make_notation
from shoal.privacy.base import PrivacyModel
from shoal.recipe import Recipe, averaged_weight, recipe_inputs, together_units
from shoal.request.checks import CHECKS, EngineChoice, check_counts, check_disjoint, check_release, check_without_ranges
from shoal.request.others import Others
from shoal.request.people import check_survey_weight, check_together, check_unit
from shoal.request.roles import ROLES, Roles, check_roles
from shoal.request.saved import make_recipe
from shoal.treatments import Treatment, check_treated_roles
from shoal.treatments.pseudonyms import check_pseudonyms
from shoal.validation import check_keys


@dataclass(frozen=True)
class Request:
    """All parameters of a release, checked; see ``shoal.anonymize``. Changes are made with ``dataclasses.replace``."""

    k: int
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifiers: tuple[str, ...]
    keep: tuple[str, ...]
    person: str | None
    household: str | None
    together: bool
    survey_weight: str | None
    kinds: dict[str, KindChoice]
    hierarchies: dict[str, HierarchyChoice]
    notation: Notation
    weights: dict[str, Weight]
    models: tuple[PrivacyModel, ...]
    method: Method
    effort: Effort
    max_suppression: float
    release: Release
    release_given: Release | None
    """None if the method decides what is released."""
    widen: float
    ends: EndsChoice
    cells: dict[str, Disjoint]
    counts: CountsChoice | None
    treat: dict[str, Treatment]
    pseudonymize: tuple[str, ...]
    key: Path | None
    derived: Literal["refuse", "warn"]
    others: Others
    seed: int
    engine: EngineChoice
    memory: int | str | None
    progress: Progress
    on_interrupt: Literal["raise", "best"]
    cancel: CancelToken | None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Request:
        """Return the request that parameters make, by name as ``Anonymizer`` takes them, or say what is wrong with them."""
        checked = {name: check(given[name]) for name, check in CHECKS.items()}
        without = [name for name in checked["quasi_identifiers"] if name not in checked["kinds"]]
        checked["hierarchies"] = check_hierarchies("Anonymizer", given["hierarchies"], without)
        marks = (given[name] for name in ("decimal", "thousands", "date_format", "missing"))
        checked["notation"] = make_notation("Anonymizer", *marks)
        checked["release"] = check_release(given["release"], checked["method"], checked["models"])
        checked["release_given"] = given["release"]
        checked["key"] = check_pseudonyms(checked["pseudonymize"], given["key"])
        values: dict[str, Any] = {one.name: checked.get(one.name, given.get(one.name)) for one in fields(cls)}
        request = cls(**values)
        request._check_together()
        return request

    def _check_together(self) -> None:
        """Refuse what does not go together."""
        check_without_ranges(self)
        check_disjoint(self)
        check_counts(self)
        for unit, name in self.units.items():
            check_unit(unit, name, self.roles)
        check_survey_weight(self.survey_weight, self.roles, self.units)
        check_together(self.units, self.together, self.method, self.models)
        check_roles(self.roles)
        coded = [*self.quasi_identifiers, *self.attributes]
        check_keys("kinds", self.kinds, coded)
        check_keys("hierarchies", self.hierarchies, coded)
        check_weights(self.weights, self.quasi_identifiers)
        check_treated_roles(self.treat, self.roles)

    # --- columns -------------------------------------------------------------------------------------------------

    @property
    def roles(self) -> Roles:
        """The columns of each role."""
        return {role: getattr(self, role) for role in ROLES}

    @property
    def units(self) -> dict[Unit, str | None]:
        """The columns that identify persons and households."""
        return {"person": self.person, "household": self.household}

    @property
    def owners(self) -> dict[Unit, str]:
        """The columns that identify persons and households, as far as they are named."""
        return {unit: name for unit, name in self.units.items() if name is not None}

    @property
    def named(self) -> Roles:
        """The columns of each role, and those that identify persons, households and survey weights."""
        others: dict[str, str | None] = {**dict(self.units.items()), "survey_weight": self.survey_weight}
        return {**self.roles, **{role: [name] for role, name in others.items() if name is not None}}

    @property
    def attributes(self) -> list[str]:
        """The columns that models and the method look at besides the quasi-identifiers."""
        named: list[str] = [getattr(self.method, option, None) or "" for option in ("target", "within")]
        known = {*self.quasi_identifiers, *self.sensitive, ""}
        return [*self.sensitive, *(name for name in dict.fromkeys(named) if name not in known)]

    @property
    def looked_at(self) -> list[str]:
        """The columns that the method and treatments look at; they need no role."""
        persons = [person for one in self.treat.values() if (person := getattr(one, "person", None))]
        return [*self.attributes, *persons]

    def as_understood(self) -> list[str]:
        """Return the columns that are read by what their text means, not as the text it is."""
        trees = {name for name, choice in self.hierarchies.items() if choice not in ("auto", "suggest")}
        as_is = {*trees, *(name for name, kind in self.kinds.items() if kind not in ("numeric", "date"))}
        read = dict.fromkeys((*self.quasi_identifiers, *self.sensitive, *self.treat))
        return [name for name in read if name not in as_is]

    @property
    def averaged_weight(self) -> str | None:
        """The column of survey weights if it is released as the mean of each group, not kept or removed."""
        return averaged_weight(self.recipe)

    # --- how text is written -------------------------------------------------------------------------------------

    @property
    def decimal(self) -> str | None:
        """The decimal mark of numbers in text."""
        return self.notation.decimal

    @property
    def thousands(self) -> str | None:
        """The mark between thousands."""
        return self.notation.thousands

    @property
    def date_format(self) -> tuple[str, ...] | None:
        """How dates are written."""
        return self.notation.date_formats or None

    @property
    def missing(self) -> tuple[str, ...] | None:
        """The texts that stand for a missing value."""
        return self.notation.missing

    # --- for engines ---------------------------------------------------------------------------------------------

    @cached_property
    def recipe(self) -> Recipe:
        """All parameters as a file and a report hold them; hierarchies that are objects appear as ``"(object)"``."""
        return make_recipe(self)

    def hierarchy_words(self) -> dict[str, HierarchyChoice]:
        """Return the choices of hierarchies; a method that needs one everywhere, or releases representatives, takes what the values suggest."""
        plain = self.method.info.needs_hierarchies or self.release != "ranges"
        return {
            name: "suggest" if plain and isinstance(choice, str) and choice == "auto" else choice
            for name, choice in self.hierarchies.items()
        }

    @property
    def key_files(self) -> tuple[Path, ...]:
        """The file of the key, if there is one: it is read, and never replaced."""
        return () if self.key is None else (self.key,)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the request names and a release reads: hierarchies, populations, the key. None is ever replaced."""
        return (*recipe_inputs(self.recipe), *self.key_files)

    def task(self, **more: Any) -> Task:
        """Return what a method is asked to do; ``more`` are the requirements, and whatever else only one call has."""
        task = Task(
            k=self.k,
            together=together_units(self.recipe),
            max_suppression=self.max_suppression,
            release=self.release,
            effort=self.effort,
            seed=self.seed,
            progress=self.progress,
            on_interrupt=self.on_interrupt,
            cancel=self.cancel,
        )
        return replace(task, **more)

    def for_others(self) -> Request:
        """Return the request as processes elsewhere get it: without the key and what cannot travel."""
        return replace(self, key=None, progress=say_nothing, on_interrupt="raise", cancel=None)
