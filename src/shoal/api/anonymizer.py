"""The recipe for releases as an object: parameters in, a release out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from shoal.api.estimator import Estimator
from shoal.api.run import run
from shoal.arrays import CancelToken, Effort, Progress, Release
from shoal.cells.counted import CountsChoice
from shoal.cells.disjoint import CellsChoice
from shoal.encoding import HierarchyChoice, KindChoice, Weight
from shoal.ends import EndsChoice
from shoal.engines.stream.start import stream_release
from shoal.errors import ParameterError, PublicationWarning, warn
from shoal.io.source import ReadOptions
from shoal.io.transaction import Transaction
from shoal.methods import DEFAULT_METHOD
from shoal.methods.base import Method
from shoal.privacy.base import PrivacyModel
from shoal.recipe import Recipe, read_recipe
from shoal.request import EngineChoice, Request, recipe_parameters, stage_recipe
from shoal.results.columns import Describing
from shoal.results.result import Result
from shoal.summary import second_look
from shoal.treatments import TreatmentChoice
from shoal.validation import check_keywords, check_path

if TYPE_CHECKING:
    from shoal.engines.stream.result import StreamResult

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
        hierarchies: Mapping[str, HierarchyChoice] | Literal["auto", "suggest"] | None = None,
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
        cells: Mapping[str, CellsChoice] | None = None,
        counts: CountsChoice | None = None,
        treat: Mapping[str, TreatmentChoice] | None = None,
        pseudonymize: Sequence[str] = (),
        key: str | Path | None = None,
        derived: Literal["refuse", "warn"] = "refuse",
        others: Literal["drop", "keep", "ask"] = "drop",
        seed: int = 0,
        engine: EngineChoice = "auto",
        memory: int | str | None = None,
        progress: Progress | bool | None = None,
        on_interrupt: Literal["raise", "best"] = "raise",
        cancel: CancelToken | None = None,
    ) -> None:
        given = dict(locals())
        self._given = {name: given[name] for name in given if name != "self"}
        self.request = Request.of(self._given)
        self.result_: Result

    def __getattr__(self, name: str) -> Any:
        """Return a parameter in its checked form."""
        if "request" not in vars(self) or not (name in Request.__dataclass_fields__ or hasattr(Request, name)):
            raise AttributeError(f"'Anonymizer' object has no attribute {name!r}", name=name, obj=self)
        return getattr(self.request, name)

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
        for sentence in second_look(self.result_) if isinstance(self.result_, Result) else ():
            warn(f"Look at this before you publish: {sentence}", PublicationWarning)
        return self

    def result_of(self, data: Any, *, table: str | None = None, query: str | None = None) -> Result:
        """Return the release of a table as ``fit`` makes it, without a word on what to look at and without keeping it."""
        return cast("Result", run(self.request, data, table=table, query=query))

    def stream(
        self,
        data: str | Path,
        target: str | Path,
        *,
        memory: int | str | None = None,
        workers: int | None = None,
        scratch: str | Path | None = None,
        force: bool = False,
        dictionary: Describing = True,
        report: str | Path | None = None,
        public_report: str | Path | None = None,
        table: str | None = None,
        query: str | None = None,
    ) -> StreamResult:
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
            Folder for the temporary rows. shoal works in a private subfolder and removes it at the end. Default: next to the target.
        force
            Replace an existing file.
        dictionary
            Write the data dictionary that travels with the release, as ``Result.save`` does.
        report
            Also write what was done, gained and lost, compared with the original: a ``.html``, ``.md`` or ``.json`` file for the holder.
        public_report
            Also write what the released rows and the recipe say, and nothing else, in one of these forms.
        table
            The table of a database.
        query
            The rows of a database, as a query that only reads.

        Returns
        -------
        StreamResult
            The place of the released rows, and what was measured.
        """
        options = ReadOptions(table=table, query=query)
        choices = {"memory": memory, "workers": workers, "scratch": scratch, "force": force}
        files = {"dictionary": dictionary, "report": report, "public_report": public_report}
        return stream_release(self.request, data, target, options=options, **choices, **files)

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

    # --- the recipe ------------------------------------------------------------------------------------------

    def recipe(self) -> Recipe:
        """Return all parameters as a recipe; hierarchies that are objects appear as ``"(object)"``."""
        return self.request.recipe

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the recipe as TOML; hierarchy objects go into a folder next to it."""
        target = check_path("Anonymizer.save", "path", path)
        files = Transaction(force=force, inputs=self.request.inputs)
        files.add(target, last=True, private=True)
        with files:
            stage_recipe(files, self.request, target)
        return target

    @classmethod
    def load(cls, path: str | Path, **changes: Any) -> Anonymizer:
        """Read a recipe; ``changes`` replace what it says."""
        check_keywords("Anonymizer", changes, cls.__init__)
        return cls(**recipe_parameters(read_recipe(check_path("Anonymizer.load", "path", path))) | changes)
