"""The two ways in: the function ``anonymize`` and the class ``Anonymizer`` behind it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from shoal.arrays import CancelToken, Effort, Progress, Release
from shoal.encoding import CodedTable, HierarchyChoice, KindChoice, Weight, check_hierarchies, encode
from shoal.enforcement.keeping import group_records
from shoal.errors import ColumnError, ColumnLeftOutWarning, DataError, ParameterError
from shoal.frames import Frame, to_frame
from shoal.hierarchy import Hierarchy
from shoal.io.files import open_table
from shoal.io.transaction import Transaction
from shoal.kernels.keeping import own_store, shipped_store
from shoal.methods import DEFAULT_METHOD, make_method
from shoal.methods.base import Grouping, Method, Task, say_nothing
from shoal.methods.stopping import cancellable
from shoal.notation import make_notation
from shoal.privacy.base import PrivacyModel, Requirement, bind_models
from shoal.privacy.population import DeltaPresence
from shoal.recipe import (
    Recipe,
    check_recipe,
    method_settings,
    model_settings,
    read_recipe,
    recipe_inputs,
    restore_method,
    restore_models,
    write_recipe,
)
from shoal.result import Result, make_result
from shoal.validation import (
    check_callable,
    check_choice,
    check_columns,
    check_effort,
    check_float,
    check_int,
    check_keywords,
    check_mapping,
    check_names,
    check_options,
    check_path,
    wrong,
)

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
        How a quasi-identifier or sensitive column is read where its type does not say it: ``"numeric"``, ``"date"``,
        ``"nominal"``, or a list of values from low to high.
    hierarchies
        For categories: a ``Hierarchy``, the path of a hierarchy file, ``"flat"`` (the value or ``*``) or ``"set"``
        (a set of values; the default for text).
    decimal, thousands
        The marks in numbers that stand as text, such as ``","`` and ``"."`` for ``1.234,5``; detected where not given.
    date_format
        How dates and times in text are written, such as ``"%d.%m.%Y"``, or a list of such formats of which each column
        takes the first that fits; detected where not given. Dates that could be read in two ways are refused.
    missing
        Texts that stand for a missing value, such as ``["NA", "-99"]``. Where not given, the usual ones are found among
        numbers and dates, but not among other text, where ``NA`` may be Namibia; an empty list turns this off.
    weights
        How much a column's loss counts; 1 where not given. For a column with a hierarchy also a mapping of labels to weights of
        its nodes, such as ``{"zip": {"North": 3}}`` (see ``Hierarchy.weighted``); the column itself then counts 1.
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
    cancel
        A ``threading.Event`` (or one of ``multiprocessing``) that another thread may set to end the work: ``CancelledError`` is
        raised, or with ``on_interrupt="best"`` the best found so far is released where the method has some.

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
        decimal: str | None = None,
        thousands: str | None = None,
        date_format: str | Sequence[str] | None = None,
        missing: str | Sequence[str] | None = None,
        weights: Mapping[str, Weight] | None = None,
        models: Sequence[PrivacyModel] = (),
        method: str | Method = DEFAULT_METHOD,
        effort: Effort = "balanced",
        max_suppression: float = 0.0,
        release: Release | None = None,
        widen: float = 0.0,
        seed: int = 0,
        progress: Progress | None = None,
        on_interrupt: Literal["raise", "best"] = "raise",
        cancel: CancelToken | None = None,
    ) -> None:
        self.k = check_int("Anonymizer", "k", k, least=2, hint="k = 1 protects nobody; 5 to 20 are common choices.")
        self.quasi_identifiers = check_names("Anonymizer", "quasi_identifiers", quasi_identifiers)
        if not self.quasi_identifiers:
            raise ParameterError(
                "The 'quasi_identifiers' parameter of Anonymizer must name at least one column. Got none.",
                hint="name the columns an outsider may know, such as age, sex and zip.",
            )
        self.sensitive = check_names("Anonymizer", "sensitive", sensitive)
        self.identifiers = check_names("Anonymizer", "identifiers", identifiers)
        self.keep = check_names("Anonymizer", "keep", keep)
        self.kinds = _check_kinds(kinds)
        self.hierarchies = check_hierarchies("Anonymizer", hierarchies)
        self.weights = check_mapping("Anonymizer", "weights", weights)
        self.notation = make_notation("Anonymizer", decimal, thousands, date_format, missing)
        self.models = _check_models(models)
        self.method = make_method(method)
        self.effort: Effort = check_effort("Anonymizer", "effort", effort)
        self.max_suppression = check_float("Anonymizer", "max_suppression", max_suppression, least=0.0, most=1.0)
        self.release = self._choose_release(release)
        self.widen = self._check_widen(widen)
        self.seed = check_int("Anonymizer", "seed", seed, least=0)
        self.progress = check_callable("Anonymizer", "progress", progress) or say_nothing
        check_choice("Anonymizer", "on_interrupt", on_interrupt, ("raise", "best"))
        self.on_interrupt: Literal["raise", "best"] = on_interrupt
        self.cancel = _check_cancel(cancel)
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

    def fit(self, data: Any, *, table: str | None = None, query: str | None = None) -> Anonymizer:
        """Make the release of a table (or of one in a file, a folder or a database) and keep it as ``result_``.

        ``table`` or ``query`` say which rows of a database are meant, ``table`` also which sheet of a workbook.
        """
        roles = [name for role in _ROLES for name in getattr(self, role)]
        frame = open_table(data, table=table, query=query) if isinstance(data, (str, Path)) else to_frame(data, roles)
        if not self.notation.is_default:
            frame = replace(frame, notation=self.notation)
        self._check_table(frame)
        self._report(0.0, "reading")
        coded = self._encode(frame)
        frame = frame.tell(self.as_understood())
        requirements = bind_models(self.models, coded, self.sensitive)
        grouping = self._group(coded, requirements)
        self._report(0.9, "checking")
        recipe = self.recipe()
        result = make_result(frame, coded, grouping, recipe, self.models, requirements, self.method.info)
        self._report(1.0, "done")
        self.result_ = replace(result, inputs=(*_files_of(data), *recipe_inputs(recipe)))
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

    def as_understood(self) -> list[str]:
        """Return the columns that are read by what their text means, not as the text it is."""
        as_is = {*self.hierarchies, *(name for name, kind in self.kinds.items() if kind not in ("numeric", "date"))}
        return [name for name in (*self.quasi_identifiers, *self.sensitive) if name not in as_is]

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

    def _report(self, fraction: float, text: str) -> None:
        """Tell how far the work is; unless the best so far is wanted, this is where a cancelled run ends."""
        cancellable(self.progress, self.cancel if self.on_interrupt == "raise" else None)(fraction, text)

    def _group(self, coded: CodedTable, requirements: tuple[Requirement, ...]) -> Grouping:
        def progress(fraction: float, text: str) -> None:
            self._report(0.1 + 0.8 * fraction, text)

        task = Task(
            k=self.k,
            requirements=requirements,
            max_suppression=self.max_suppression,
            release=self.release,
            effort=self.effort,
            seed=self.seed,
            progress=progress,
            on_interrupt=self.on_interrupt,
            cancel=self.cancel,
        )
        progress(0.0, "finding groups")
        return group_records(self.method, coded, task)

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
            "decimal": self.notation.decimal,
            "thousands": self.notation.thousands,
            "date_format": list(self.notation.date_formats) or None,
            "missing": None if self.notation.missing is None else list(self.notation.missing),
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
        target = check_path("Anonymizer.save", "path", path)
        files = Transaction(force=force, inputs=recipe_inputs(self.recipe()))
        files.add(target, last=True)
        with files:
            self.stage(files, target)
        return target

    def stage(self, files: Transaction, target: Path) -> None:
        """Write the recipe as one of the files of a call; its target was added before."""
        objects = {name: choice for name, choice in self.hierarchies.items() if isinstance(choice, Hierarchy)}
        write_recipe(files, self.recipe(), objects, target)

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Anonymizer:
        """Read a recipe; ``changes`` replace what it says."""
        check_keywords("Anonymizer", changes, cls.__init__)
        return cls(**recipe_parameters(read_recipe(check_path("Anonymizer.load", "path", path))) | changes)


def recipe_parameters(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as parameters of ``Anonymizer``."""
    parameters = recipe.model_dump(exclude={"version", "method", "method_options", "models"})
    return parameters | {"method": restore_method(recipe), "models": restore_models(recipe.models)}


def anonymize(data: Any, **parameters: Any) -> Result:
    """Release a table in which every record hides among at least k.

    Takes a pandas, polars or pyarrow table, anything that speaks the Arrow capsule, the path of a file or folder, or an address
    (of a database with ``table`` or ``query``), and the parameters of ``Anonymizer``. See there.
    """
    place = {name: parameters.pop(name) for name in ("table", "query") if name in parameters}
    check_keywords("anonymize", parameters, Anonymizer.__init__, required=("k", "quasi_identifiers"))
    return Anonymizer(**parameters).fit(data, **place).result_


def _files_of(data: Any) -> list[Path]:
    """Return the files a table comes from; an address is none."""
    return [Path(data)] if isinstance(data, Path) or (isinstance(data, str) and "://" not in data) else []


def compiles_first() -> bool:
    """Tell whether no compiled kernels are there yet, so that a first run takes up to a minute longer."""
    store = own_store()
    return shipped_store() is None and (store is None or not any(store.folder.iterdir()))


def _role_text(role: str) -> str:
    return {"quasi_identifiers": "a quasi-identifier", "identifiers": "an identifier", "keep": "to keep"}.get(
        role, role
    )


def _check_cancel(cancel: CancelToken | None) -> CancelToken | None:
    if cancel is not None and not callable(getattr(cancel, "is_set", None)):
        raise ParameterError(
            f"The 'cancel' parameter of Anonymizer must be an event. Got {type(cancel).__name__}.",
            hint="a threading.Event() will do: event.set() ends the work.",
        )
    return cancel


def _check_models(models: Sequence[PrivacyModel]) -> tuple[PrivacyModel, ...]:
    """Return the models, or say that they must be objects in a list."""
    expected = "a list of privacy models"
    hint = "for example models=[shoal.LDiversity(3)]."
    if isinstance(models, (str, PrivacyModel, type)) or not isinstance(models, Iterable):
        raise wrong("Anonymizer", "models", expected, models, hint)
    checked = tuple(models)
    for model in checked:
        if not isinstance(model, PrivacyModel):
            raise wrong("Anonymizer", "models", expected, model, hint)
        check_options(type(model).__name__, model)
    return checked


def _check_kinds(kinds: Any) -> dict[str, KindChoice]:
    given = check_mapping("Anonymizer", "kinds", kinds)
    for name, kind in given.items():
        words = isinstance(kind, Iterable) and not isinstance(kind, (bytes, Mapping)) and not hasattr(kind, "columns")
        if not words or any(isinstance(one, Iterable) and not isinstance(one, str) for one in kind):
            raise wrong("Anonymizer", f"kinds[{name!r}]", "a word or a list of values in order", kind)
    return given
