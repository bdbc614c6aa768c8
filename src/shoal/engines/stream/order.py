"""The order for a streamed release: its request, its table and its target."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from shoal.encoding import Unit
from shoal.frames import Frame
from shoal.io.files import gives_text
from shoal.io.source import ReadOptions
from shoal.plan.steps import Job, can_be_cut
from shoal.recipe import Recipe
from shoal.release.make import released_columns
from shoal.request import Request
from shoal.results.columns import Describing


@dataclass(frozen=True)
class Order:
    """A request, the table it is for, and where the release goes."""

    request: Request
    place: str | Path
    target: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    key: bytes | None = field(default=None, repr=False)
    """The key of the tokens, if columns are released as such."""
    memory: int = 1 << 32
    """Bytes that all processes together should stay within."""
    workers: int = 1
    scratch: Path | None = None
    """Folder for temporary rows. Default: next to the target."""
    force: bool = False
    report: Path | None = None
    """The file of a report."""
    reporting: bool = False
    """Whether what a report needs is gathered."""
    dictionary: Describing = True
    """Whether the release gets a data dictionary, or what the publisher says in it."""
    public_report: Path | None = None
    """The file of a report that may be published."""
    part: str = "part-{:05}.parquet"
    """The names of the parts, if the target is a folder."""
    inputs: tuple[Path, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """The request as files and reports hold it."""
        return self.request.recipe

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that are recoded."""
        return self.request.quasi_identifiers

    @property
    def attributes(self) -> list[str]:
        """Sensitive columns, and others that the method looks at."""
        return self.request.attributes

    @cached_property
    def job(self) -> Job:
        """What is done with every fragment."""
        request = self.request
        return Job(request.method, request.for_others().task(), request.models, request.sensitive)

    @property
    def units(self) -> dict[Unit, str]:
        """The columns that identify the person and the household of a record."""
        return self.request.owners

    @property
    def whole(self) -> bool:
        """Whether the table is grouped as a whole: its codes are then all in memory, its rows are not."""
        request = self.request
        return bool(self.units or request.widen or request.survey_weight) or not can_be_cut(self.job)

    @property
    def released(self) -> set[str]:
        """The columns of the release."""
        return released_columns(self.recipe)

    @property
    def needed(self) -> set[str]:
        """The columns that are read: those of the release, and those that models, treatments and counts look at."""
        request, weight = self.request, {self.request.survey_weight} - {None}
        return {*self.released, *request.looked_at, *request.treat, *self.units.values(), *map(str, weight)}

    def frame(self, rows: pa.Table) -> Frame:
        """Return rows as a table that knows how its text is to be read."""
        return Frame(rows, untyped=gives_text(self.place), notation=self.request.notation)
