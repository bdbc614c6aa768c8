"""The two ways in: the function ``anonymize`` and the class ``Anonymizer`` behind it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from shoal.encoding import CodedTable, HierarchyChoice, KindChoice, encode
from shoal.errors import ColumnError, ColumnLeftOutWarning, DataError, ParameterError
from shoal.files import read_table
from shoal.frames import Frame, to_frame
from shoal.hierarchy import Hierarchy
from shoal.methods import DEFAULT_METHOD, make_method
from shoal.methods.base import Grouping, Method, Task, say_nothing
from shoal.methods.mending import keep_models
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.privacy.population import DeltaPresence
from shoal.recipe import (
    Recipe,
    check_recipe,
    method_settings,
    model_settings,
    read_recipe,
    restore_method,
    restore_models,
    write_recipe,
)
from shoal.result import Result, make_result
from shoal.typing import Effort, Progress, Release
from shoal.validation import check_choice, check_columns, check_float, check_int

_ROLES = ("quasi_identifiers", "sensitive", "identifiers", "keep")


class Anonymizer:
    """A recipe for releases: all parameters, no rows.

    Parameters
    ----------
    k
        Every combination of released quasi-identifier values occurs at least ``k`` times.
    quasi_identifiers
        Columns an outsider may know. They are recoded.
    sensitive
        Columns that are kept and protected by ``models``.
    identifiers
        Columns that are removed.
    keep
        Columns passed through unchanged.
    kinds
        How a quasi-identifier is read where its type does not say it: ``"numeric"``, ``"date"``, ``"nominal"``,
        or a list of values from low to high.
    hierarchies
        For categories: a ``Hierarchy``, the path of a hierarchy file, ``"flat"`` (the value or ``*``) or ``"set"``
        (a set of values; the default for text).
    weights
        How much a column's loss counts; 1 where not given.
    models
        Privacy models that must hold beyond k.
    method
        Name of a method, or a method object.
    effort
        ``"fast"``, ``"balanced"``, ``"best"`` or seconds, for methods that can spend more to lose less.
    max_suppression
        Largest share of records that may be withheld.
    release
        ``"ranges"`` or ``"representatives"``; by default what the method is made for.
    widen
        Blunts conclusions from how narrow cells are: for each cell that had to be a certain node or set, this many
        others (0 to 1) are released so without need, and ranges are drawn out by up to this share of their width.
    seed
        Start of the random numbers: same table, same recipe, same seed, same groups.
    progress
        Called with the share done and a short text.
    on_interrupt
        What Ctrl-C does in a method that improves a solution step by step: ``"raise"``, or ``"best"`` to go on
        with the best found so far.

    Attributes
    ----------
    result_
        The ``Result`` of the last ``fit``.
    """

    def __init__(
        self,
        *,
        k: int,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        keep: Sequence[str] = (),
        kinds: Mapping[str, KindChoice] | None = None,
        hierarchies: Mapping[str, HierarchyChoice] | None = None,
        weights: Mapping[str, float] | None = None,
        models: Sequence[PrivacyModel] = (),
        method: str | Method = DEFAULT_METHOD,
        effort: Effort = "balanced",
        max_suppression: float = 0.0,
        release: Release | None = None,
        widen: float = 0.0,
        seed: int = 0,
        progress: Progress | None = None,
        on_interrupt: Literal["raise", "best"] = "raise",
    ) -> None:
        self.k = check_int("Anonymizer", "k", k, least=2, hint="k = 1 protects nobody; 5 to 20 are common choices.")
        self.quasi_identifiers = _as_names(quasi_identifiers)
        if not self.quasi_identifiers:
            raise ParameterError(
                "The 'quasi_identifiers' parameter of Anonymizer must name at least one column. Got none.",
                hint="name the columns an outsider may know, such as age, sex and zip.",
            )
        self.sensitive, self.identifiers, self.keep = _as_names(sensitive), _as_names(identifiers), _as_names(keep)
        self.kinds, self.hierarchies, self.weights = dict(kinds or {}), dict(hierarchies or {}), dict(weights or {})
        self.models = _check_models(models)
        self.method = make_method(method)
        self.effort = _check_effort(effort)
        self.max_suppression = check_float("Anonymizer", "max_suppression", max_suppression, least=0.0, most=1.0)
        self.release = self._choose_release(release)
        self.widen = self._check_widen(widen)
        self.seed = check_int("Anonymizer", "seed", seed, least=0)
        self.progress = progress or say_nothing
        check_choice("Anonymizer", "on_interrupt", on_interrupt, ("raise", "best"))
        self.on_interrupt: Literal["raise", "best"] = on_interrupt
        self._check_roles()
        self.result_: Result

    def _choose_release(self, release: Release | None) -> Release:
        if release is None:
            return self.method.info.default_release
        check_choice("Anonymizer", "release", release, ("ranges", "representatives"))
        return release

    def _check_widen(self, widen: float) -> float:
        share = check_float("Anonymizer", "widen", widen, least=0.0, most=1.0)
        if share and self.release == "representatives":
            raise ParameterError(
                "The 'widen' parameter of Anonymizer is for releases with ranges. Got a release with representatives.",
                hint='leave it out, or take release="ranges".',
            )
        if share and any(isinstance(model, DeltaPresence) and model.low for model in self.models):
            raise ParameterError(
                "The 'widen' parameter of Anonymizer cannot be used with a lower bound of DeltaPresence: "
                "wider cells fit more people, of whom a smaller share is in the table.",
                hint="leave 'widen' out, or take low=0.",
            )
        return share

    def _check_roles(self) -> None:
        role_of: dict[str, str] = {}
        for role in _ROLES:
            for name in getattr(self, role):
                if name in role_of:
                    raise ColumnError(
                        f"The column {name!r} has two roles, {role_of[name]} and {role}. Give it one."
                        if role_of[name] != role
                        else f"The column {name!r} is named twice in {role}. Name it once."
                    )
                role_of[name] = role

    # --- the job ---------------------------------------------------------------------------------------------

    def fit(self, data: Any) -> Anonymizer:
        """Make the release of a table (or of the table in a file) and keep it as ``result_``."""
        frame = read_table(data) if isinstance(data, (str, Path)) else to_frame(data)
        self._check_table(frame)
        self.progress(0.0, "reading")
        coded = self._encode(frame)
        protected = replace(coded, attributes={name: coded.attributes[name] for name in self.sensitive})
        requirements = tuple(model.bind(protected) for model in self.models)
        grouping = self._group(coded, requirements)
        self.progress(0.9, "checking")
        self.result_ = make_result(frame, coded, grouping, self.recipe(), self.models, requirements)
        self.progress(1.0, "done")
        return self

    def _check_table(self, frame: Frame) -> None:
        for role in _ROLES:
            check_columns(_role_text(role), getattr(self, role), frame.names)
        if frame.records == 0:
            raise DataError("The table has no rows. There is nothing to release.")
        if self.k > frame.records:
            raise ParameterError(
                f"The 'k' parameter of Anonymizer must be at most the number of records, {frame.records}. "
                f"Got {self.k} instead.",
                hint="nobody can hide among more records than there are.",
            )
        roles = {name for role in _ROLES for name in getattr(self, role)}
        left_out = [name for name in frame.names if name not in roles]
        if left_out:
            warnings.warn(
                f"Columns without a role are left out of the release: {', '.join(left_out)}. "
                "Name them as quasi_identifiers, sensitive, keep or identifiers.",
                ColumnLeftOutWarning,
                stacklevel=3,
            )

    def _encode(self, frame: Frame) -> CodedTable:
        named: list[str] = [getattr(self.method, option, None) or "" for option in ("target", "within")]
        known = {*self.quasi_identifiers, *self.sensitive, ""}
        attributes = [*self.sensitive, *(name for name in dict.fromkeys(named) if name not in known)]
        check_columns("a column the method looks at", attributes, frame.names)
        return encode(
            frame,
            self.quasi_identifiers,
            kinds=self.kinds,
            hierarchies=self.hierarchies,
            weights=self.weights,
            attributes=attributes,
        )

    def _group(self, coded: CodedTable, requirements: tuple[Requirement, ...]) -> Grouping:
        def progress(fraction: float, text: str) -> None:
            self.progress(0.1 + 0.8 * fraction, text)

        task = Task(
            k=self.k,
            requirements=requirements,
            max_suppression=self.max_suppression,
            release=self.release,
            effort=self.effort,
            seed=self.seed,
            progress=progress,
            on_interrupt=self.on_interrupt,
        )
        progress(0.0, "finding groups")
        return keep_models(self.method.run(coded, task), coded, task, self.method.info.family)

    # --- the recipe ------------------------------------------------------------------------------------------

    def recipe(self) -> Recipe:
        """Return all parameters as a recipe; hierarchies that are objects appear as ``"(object)"``."""
        name, options = method_settings(self.method)
        content = {
            "k": self.k,
            **{role: list(getattr(self, role)) for role in _ROLES},
            "kinds": {key: kind if isinstance(kind, str) else list(kind) for key, kind in self.kinds.items()},
            "hierarchies": {
                key: "(object)" if isinstance(choice, Hierarchy) else str(choice)
                for key, choice in self.hierarchies.items()
            },
            "weights": self.weights,
            "models": model_settings(self.models),
            "method": name,
            "method_options": options,
            "effort": self.effort,
            "max_suppression": self.max_suppression,
            "release": self.release,
            "widen": self.widen,
            "seed": self.seed,
        }
        return check_recipe(content, "Anonymizer")

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the recipe as TOML; hierarchy objects go into a folder beside it."""
        target = Path(path)
        objects = {name: choice for name, choice in self.hierarchies.items() if isinstance(choice, Hierarchy)}
        write_recipe(self.recipe(), objects, target, force=force)
        return target

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Anonymizer:
        """Read a recipe; ``changes`` replace what it says."""
        return cls(**recipe_parameters(read_recipe(Path(path))) | changes)


def recipe_parameters(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as parameters of ``Anonymizer``."""
    parameters = recipe.model_dump(exclude={"version", "method", "method_options", "models"})
    return parameters | {"method": restore_method(recipe), "models": restore_models(recipe.models)}


def anonymize(data: Any, **parameters: Any) -> Result:
    """Release a table in which every record hides among at least k.

    Takes a pandas, polars or pyarrow table (or anything that speaks the Arrow capsule, or the path of a file)
    and the parameters of ``Anonymizer``. See there.
    """
    return Anonymizer(**parameters).fit(data).result_


def _as_names(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _role_text(role: str) -> str:
    return {"quasi_identifiers": "a quasi-identifier", "identifiers": "an identifier", "keep": "to keep"}.get(
        role, role
    )


def _check_models(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    for model in models:
        if not isinstance(model, PrivacyModel):
            raise ParameterError(
                f"The 'models' parameter of Anonymizer must hold privacy models. Got {type(model).__name__}.",
                hint="for example models=[shoal.KAnonymity(5)].",
            )
    return tuple(models)


def _check_effort(effort: Effort) -> Effort:
    if isinstance(effort, str):
        check_choice("Anonymizer", "effort", effort, ("fast", "balanced", "best"))
        return effort
    return check_float("Anonymizer", "effort", effort, least=0.0, above=True, hint="seconds, or a word.")
