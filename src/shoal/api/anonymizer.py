"""The recipe for releases as an object: parameters in, a release out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from shoal.api.bars import Bar
from shoal.api.checks import (
    check_cancel,
    check_kinds,
    check_models,
    check_progress,
    check_quasi_identifiers,
    check_range_ends,
    check_widen,
    choose_release,
)
from shoal.api.estimator import Estimator
from shoal.api.memory import release_in_memory
from shoal.api.people import check_survey_weight, check_together, check_unit
from shoal.api.roles import (
    ROLES,
    Roles,
    check_roles,
)
from shoal.api.settings import make_recipe, recipe_parameters
from shoal.api.streaming import (
    EngineChoice,
    check_engine,
    check_memory,
    choose_engine,
    release_on_spark,
    stream_release,
    stream_result,
)
from shoal.arrays import CancelToken, Effort, Progress, Release
from shoal.encoding import (
    HierarchyChoice,
    KindChoice,
    Unit,
    Weight,
    check_hierarchies,
)
from shoal.ends import EndsChoice
from shoal.engines.stream.order import StreamRelease
from shoal.errors import ParameterError, PublicationWarning, warn
from shoal.hierarchy import Hierarchy
from shoal.io.source import ReadOptions
from shoal.io.transaction import Transaction
from shoal.methods import DEFAULT_METHOD, make_method
from shoal.methods.base import Method
from shoal.notation import make_notation
from shoal.privacy.base import PrivacyModel
from shoal.recipe import Recipe, read_recipe, recipe_inputs, write_recipe
from shoal.result import Result
from shoal.summary import second_look
from shoal.treatments import TreatmentChoice, check_treated_roles, check_treatments
from shoal.treatments.pseudonyms import check_pseudonyms
from shoal.validation import (
    check_choice,
    check_effort,
    check_float,
    check_int,
    check_keywords,
    check_mapping,
    check_names,
    check_path,
)

Table = TypeVar("Table")


class Anonymizer(Estimator):
    """A recipe for releases: all parameters, no rows.

    The parameters are those of ``shoal.anonymize``, which describes them; the table is given to ``fit``.

    Attributes
    ----------
    result_
        The ``Result`` of the last ``fit``.

    Raises
    ------
    ParameterError
        A parameter is out of its range or of the wrong type, or two do not go together.
    ColumnError
        A column is given two roles.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=500, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> recipe = shoal.Anonymizer(k=5, quasi_identifiers=["birth_date", "sex"], sensitive=["diagnosis"], method="mondrian")
    >>> recipe.fit(patients).result_.audit.k >= 5
    True
    """

    def __init__(
        self,
        *,
        k: int,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        keep: Sequence[str] = (),
        person: str | None = None,
        household: str | None = None,
        together: bool = False,
        survey_weight: str | None = None,
        kinds: Mapping[str, KindChoice] | None = None,
        hierarchies: Mapping[str, HierarchyChoice] | Literal["auto"] | None = None,
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
        ends: EndsChoice = "round",
        treat: Mapping[str, TreatmentChoice] | None = None,
        pseudonymize: Sequence[str] = (),
        key: str | Path | None = None,
        seed: int = 0,
        engine: EngineChoice = "auto",
        memory: int | str | None = None,
        progress: Progress | bool | None = None,
        on_interrupt: Literal["raise", "best"] = "raise",
        cancel: CancelToken | None = None,
    ) -> None:
        given = dict(locals())
        self._given = {name: given[name] for name in given if name != "self"}
        self.k = check_int("Anonymizer", "k", k, least=2, hint="k = 1 protects nobody; 5 to 20 are common choices.")
        self.quasi_identifiers = check_quasi_identifiers(quasi_identifiers)
        self.sensitive = check_names("Anonymizer", "sensitive", sensitive)
        self.identifiers = check_names("Anonymizer", "identifiers", identifiers)
        self.keep = check_names("Anonymizer", "keep", keep)
        self.kinds = check_kinds(kinds)
        without = [name for name in self.quasi_identifiers if name not in self.kinds]
        self.hierarchies = check_hierarchies("Anonymizer", hierarchies, without)
        self.weights = check_mapping("Anonymizer", "weights", weights)
        self.notation = make_notation("Anonymizer", decimal, thousands, date_format, missing)
        self.decimal, self.thousands = self.notation.decimal, self.notation.thousands
        self.date_format, self.missing = self.notation.date_formats or None, self.notation.missing
        self.models = check_models(models)
        self.method = make_method(method)
        self.effort: Effort = check_effort("Anonymizer", "effort", effort)
        self.max_suppression = check_float("Anonymizer", "max_suppression", max_suppression, least=0.0, most=1.0)
        self.release = choose_release(release, self.method)
        self.widen = check_widen(widen, self.release, self.models)
        self.ends = check_range_ends(ends, self.release, self.models)
        self.treat = check_treatments("Anonymizer", treat)
        self.pseudonymize = check_names("Anonymizer", "pseudonymize", pseudonymize)
        self.key = check_pseudonyms(self.pseudonymize, key)
        self.person = check_unit("person", person, self.roles)
        self.household = check_unit("household", household, self.roles)
        self.survey_weight = check_survey_weight(survey_weight, self.roles, self.units)
        self.together = check_together(self.units, together, self.method, self.models)
        self.seed = check_int("Anonymizer", "seed", seed, least=0)
        self.engine: EngineChoice = check_engine(engine)
        self.memory = check_memory(memory)
        self.progress = check_progress(progress)
        check_choice("Anonymizer", "on_interrupt", on_interrupt, ("raise", "best"))
        self.on_interrupt: Literal["raise", "best"] = on_interrupt
        self.cancel = check_cancel(cancel)
        check_roles(self.roles)
        check_treated_roles(self.treat, self.roles)
        self.result_: Result

    @property
    def roles(self) -> Roles:
        """The columns of each role."""
        return {role: getattr(self, role) for role in ROLES}

    @property
    def units(self) -> dict[Unit, str | None]:
        """The columns that say whose a record is."""
        return {"person": self.person, "household": self.household}

    @property
    def named(self) -> Roles:
        """The columns of each role, and those that say whose a record is."""
        others: dict[str, str | None] = {**dict(self.units.items()), "survey_weight": self.survey_weight}
        return {**self.roles, **{role: [name] for role, name in others.items() if name is not None}}

    # --- the job ---------------------------------------------------------------------------------------------

    def fit(self, data: Any, y: Any = None, *, table: str | None = None, query: str | None = None) -> Anonymizer:  # noqa: ARG002
        """Make the release of a table and keep it as ``result_``.

        Parameters
        ----------
        data
            A pandas, polars or pyarrow table, a dict of columns, a list of rows, anything that speaks the Arrow
            capsule, the path of a file or folder, or the address of a database.
        y
            Not used; scikit-learn's pipelines pass it.
        table
            The table of a database, or the sheet of a workbook.
        query
            The rows of a database, as a query that only reads.

        Returns
        -------
        Anonymizer
            The recipe itself; the release is its ``result_``.

        Raises
        ------
        ShoalError
            The table cannot be read, lacks a column, or cannot be released as promised. There is no result then.
        """
        self.result_ = self.result_of(data, table=table, query=query)
        for sentence in (
            second_look(self.result_) if self.result_.groups is not None and len(self.result_.groups) else ()
        ):
            warn(f"Look at this before you publish: {sentence}", PublicationWarning)
        return self

    def result_of(self, data: Any, *, table: str | None = None, query: str | None = None) -> Result:
        """Return the release of a table as ``fit`` makes it, without a word on what to look at and without keeping it."""
        try:
            return self._make(data, table, query)
        finally:
            if isinstance(self.progress, Bar):
                self.progress.close()

    def _make(self, data: Any, table: str | None, query: str | None) -> Result:
        """Release a table by the engine that was asked for, or that fits it."""
        options = ReadOptions(table=table, query=query)
        engine = choose_engine(self, data)
        if engine == "stream":
            return stream_result(self, data, options)
        if engine == "spark":
            return release_on_spark(self, data)
        return release_in_memory(self, data, options)

    def stream(
        self,
        data: str | Path,
        target: str | Path,
        *,
        memory: int | str | None = None,
        workers: int | None = None,
        scratch: str | Path | None = None,
        force: bool = False,
        sidecar: bool = False,
        report: str | Path | None = None,
        table: str | None = None,
        query: str | None = None,
    ) -> StreamRelease:
        """Release a table that need not fit into memory, from file to file.

        The groups are those that ``fit`` finds. What cannot be streamed is refused before any work.

        Parameters
        ----------
        data
            The path of a CSV or Parquet file or of a folder of Parquet files, or the address of a database. It is read once.
        target
            A ``.parquet``, ``.csv`` or ``.csv.gz`` file, or a new folder, which gets several Parquet files.
        memory
            What all processes together should stay within, such as ``"4GB"``; by default what the recipe says, or half of what is free.
        workers
            Processes that group fragments; by default one a core, as far as memory allows. The groups do not depend on it.
        scratch
            The folder in which rows lie meanwhile, in a private folder that is removed at the end; by default beside the target.
        force
            Replace an existing file.
        sidecar
            Also write ``<target>.json`` with the recipe, seed, versions and measures.
        report
            Also write what was done, gained and lost: a ``.html``, ``.md`` or ``.json`` file.
        table
            The table of a database.
        query
            The rows of a database, as a query that only reads.

        Returns
        -------
        StreamRelease
            Where the rows are, and what was measured.
        """
        options = ReadOptions(table=table, query=query)
        choices = {"memory": memory, "workers": workers, "scratch": scratch, "force": force, "sidecar": sidecar}
        return stream_release(self, data, target, options=options, report=report, **choices)

    def fit_transform(self, data: Table, y: Any = None) -> Table:
        """Make the release of a table and return its rows, as the kind of table that came.

        The rows keep their order; withheld records are left out. ``y`` is not used.
        """
        released: Table = self.fit(data, y).result_.data
        return released

    def transform(self, data: Table) -> Table:
        """Recode new records as the last release was; only for methods that recode a value alike everywhere.

        See ``Result.transform``, which can also suppress values that were never seen.
        """
        if not hasattr(self, "result_"):
            raise ParameterError("There is no release yet, so new records cannot be recoded like it.", hint="call fit.")
        recoded: Table = self.result_.transform(data)
        return recoded

    def as_understood(self) -> list[str]:
        """Return the columns that are read by what their text means, not as the text it is."""
        trees = {name for name, choice in self.hierarchies.items() if choice != "auto"}
        as_is = {*trees, *(name for name, kind in self.kinds.items() if kind not in ("numeric", "date"))}
        read = dict.fromkeys((*self.quasi_identifiers, *self.sensitive, *self.treat))
        return [name for name in read if name not in as_is]

    @property
    def key_files(self) -> tuple[Path, ...]:
        """The file of the key, where there is one: it is read, and never replaced."""
        return () if self.key is None else (self.key,)

    @property
    def attributes(self) -> list[str]:
        """The columns that models and the method look at beside the quasi-identifiers."""
        named: list[str] = [getattr(self.method, option, None) or "" for option in ("target", "within")]
        known = {*self.quasi_identifiers, *self.sensitive, ""}
        return [*self.sensitive, *(name for name in dict.fromkeys(named) if name not in known)]

    # --- the recipe ------------------------------------------------------------------------------------------

    def recipe(self) -> Recipe:
        """Return all parameters as a recipe; hierarchies that are objects appear as ``"(object)"``."""
        return make_recipe(self)

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
