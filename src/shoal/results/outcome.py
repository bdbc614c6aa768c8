"""The interface of every release, whether its rows are in memory, on disk or on Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, overload

import numpy as np
import pyarrow as pa

from shoal.audit import Audit
from shoal.encoding import CodedTable, Unit
from shoal.errors import ParameterError
from shoal.frames import to_frame
from shoal.io.files import open_table
from shoal.io.transaction import replacing
from shoal.notation import Notation
from shoal.publication import PublicReport
from shoal.recipe import Recipe, recipe_notation
from shoal.report import Report
from shoal.results.columns import Describing
from shoal.results.generalization import Generalization, Unseen, make_generalization
from shoal.results.save import holder_facts
from shoal.results.transform import warn_if_exposed
from shoal.validation import check_choice, check_path

Audience = Literal["holder", "public"]
_LACKING = {
    "felt": "figures of what a reader feels of the loss, which need the codes of all records at once",
    "explain": "explanation of single cells",
    "at": "other points of its trade-off",
    "save_to_database": "way into a database by itself; save it as a file",
    "with_originals": "original table to pickle",
}
"""What only a release in memory has, in words that follow "has no"."""


class Outcome(ABC):
    """A verified release: its recipe, measures, audit and rows, reports about it and a safe way to write it."""

    released: Any
    """The released rows as an Arrow table."""
    recipe: Recipe
    """All parameters, to repeat it."""
    metrics: Any
    """What was lost, by every registered metric."""
    audit: Audit
    """What protection the released rows have, counted again."""
    details: Any
    """What the method reports beyond its groups."""
    coded: CodedTable
    """How the columns were coded."""
    ends: Any
    """How the ends of ranges moved."""
    treated: Any
    """What treatments did to kept and sensitive columns."""
    _called: ClassVar[str] = "A release"

    @property
    @abstractmethod
    def data(self) -> Any:
        """The released rows."""

    @abstractmethod
    def save(self, path: Any, /, *, force: bool = False) -> Any:
        """Write the release, recounted before it appears under its name."""

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int(self.metrics["suppressed"])

    @overload
    def report(self, *, examples: bool = False, audience: Literal["holder"] = "holder") -> Report: ...

    @overload
    def report(
        self, *, examples: Literal[False] = False, audience: Literal["public"], about: Describing = True
    ) -> PublicReport: ...

    def report(
        self, *, examples: bool = False, audience: Audience = "holder", about: Describing = True
    ) -> Report | PublicReport:
        """Return what was done, gained and lost, to save as ``.html``, ``.md`` or ``.json``.

        Parameters
        ----------
        examples
            Put some rows of the original next to the released ones.
        audience
            ``"holder"``: the release compared with the original, for those who have it. ``"public"``: what the released rows
            and the recipe say, and nothing else, so that it may go wherever the release goes.
        about
            For a public report: what the publisher says of the table and its columns, as for ``dictionary`` of ``save``.
        """
        check_choice("Result.report", "audience", audience, ("holder", "public"))
        if audience == "holder":
            return self._holder_report(examples=examples)
        if examples:
            raise ParameterError("A public report holds no rows of the original. Got examples=True.")
        return self._public_report(about)

    # --- global recodings: bug, datafly, incognito ---------------------------------------------------------------

    @property
    def steps(self) -> tuple[Any, ...]:
        """The generalizations in the order they were taken (bug, datafly)."""
        return tuple(self._detail("steps", "takes no steps that are kept"))

    @property
    def solutions(self) -> tuple[Any, ...]:
        """All minimal combinations of levels, the best first (incognito)."""
        return tuple(self._detail("solutions", "does not list other solutions"))

    @cached_property
    def generalization(self) -> Generalization:
        """What each value of each quasi-identifier is released as: readable, saveable, applicable to new records."""
        lack = "does not recode a value alike everywhere, so there is no mapping of values"
        cuts = self._detail("cuts", f"with 'widen' {lack}" if self.recipe.widen else lack)
        keep = [name for name in (*self.recipe.sensitive, *self.recipe.keep) if name not in self.treated]
        units: dict[Unit, str | None] = {"person": self.recipe.person, "household": self.recipe.household}
        return make_generalization(self.coded, cuts, self.recipe.k, keep, self.ends, units)

    def transform(self, new_rows: Any, *, unseen: Unseen = "refuse") -> Any:
        """Recode new records as this release was, and warn if they are too few to hide among each other.

        Values that only the hierarchy knows follow it; others are refused, or released as ``*`` with
        ``unseen="suppress"``. Nothing is withheld. If the release counted persons or households, so does this, and new
        records that do not name them are refused.
        """
        check_choice("Result.transform", "unseen", unseen, ("refuse", "suppress"))
        frame = open_table(new_rows) if isinstance(new_rows, (str, Path)) else to_frame(new_rows)
        mapping = self.generalization
        owners, earlier = mapping.owners(frame), self._owners(mapping)
        recoded = mapping.recode(replace(frame, notation=self._notation), unseen)
        warn_if_exposed(recoded, self.released, self.recipe.quasi_identifiers, self.recipe.k, owners, earlier)
        return frame.release(recoded, self.recipe.quasi_identifiers, np.arange(frame.records))

    def _detail(self, name: str, lack: str) -> Any:
        found = self.details.get(name)
        if found is None:
            raise ParameterError(
                f"The method {self.recipe.method!r} {lack}.",
                hint="the methods 'bug', 'datafly' and 'incognito' recode globally.",
            )
        return found

    @property
    def _notation(self) -> Notation:
        """How text of the table is written."""
        return recipe_notation(self.recipe)

    def _owners(self, mapping: Generalization) -> Mapping[str, pa.ChunkedArray]:
        """Return whose the released records are, by the word for the unit."""
        if mapping.person is not None or mapping.household is not None:
            self._refuse("count of new records by person or household")
        return {}

    # --- reports -------------------------------------------------------------------------------------------------

    def codebook(self, path: str | Path, *, about: Describing = True, force: bool = False) -> Path:
        """Write what each released column means and how its cells are spread, for people: ``.html`` or ``.md``.

        It follows from the released rows and the recipe alone. ``about`` is what the publisher says of the table and its columns, as for ``dictionary`` of ``save``.
        """
        target = check_path("Result.codebook", "path", path)
        content = self._public_report(about).codebook(target)
        with replacing(target, force=force) as temporary:
            temporary.write_text(content, encoding="utf-8")
        return target

    def provenance(self) -> dict[str, Any]:
        """Return where the release comes from: recipe, versions, measures against the original; for the holder."""
        return holder_facts(self.recipe, self.metrics, self.audit)

    def close(self) -> None:  # noqa: B027  (most releases hold nothing)
        """Give back what the release takes until it is closed; what was saved stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        withheld = f", {self.suppressed:,} withheld" if self.suppressed else ""
        return (
            f"<shoal.{type(self).__name__}: {self.audit.records:,} records in {self.audit.groups:,} groups of at least "
            f"{self.audit.k}, information loss {self.metrics['ncp']:.4f}{withheld}>"
        )

    def __getstate__(self) -> Any:
        """Refuse to be pickled: the rows are elsewhere."""
        self._refuse("pickle; its rows are not in memory, so save it")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what only a release in memory has."""
            if name in _LACKING:
                self._refuse(_LACKING[name])
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @abstractmethod
    def _holder_report(self, *, examples: bool) -> Report:
        """Return the report that compares the release with the original."""

    @abstractmethod
    def _public_report(self, about: Describing) -> PublicReport:
        """Return the report that follows from the released rows and the recipe."""

    def _refuse(self, what: str) -> NoReturn:
        raise ParameterError(f"{self._called} has no {what}.", hint="take engine='memory'.")
