"""What a streamed release is asked for, and what comes out of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.arrays import CancelToken, Progress
from shoal.audit import Audit
from shoal.encoding import CodedTable, HierarchyChoice, KindChoice, Unit, Weight
from shoal.engines.plan import Job, can_be_cut
from shoal.frames import Frame
from shoal.io.files import gives_text
from shoal.io.source import ReadOptions
from shoal.recipe import Recipe, averaged_weight
from shoal.summary import Summary
from shoal.treatments import Treated, Treatment, dropped_columns


@dataclass(frozen=True)
class Order:
    """What is to be released, and where: all parameters of a streamed release."""

    place: str | Path
    target: Path
    recipe: Recipe
    job: Job
    attributes: tuple[str, ...]
    """Sensitive columns, and others that the method looks at."""
    treat: dict[str, Treatment] = field(default_factory=dict)
    key: bytes | None = None
    """The key of the tokens, where columns are released as such."""
    options: ReadOptions = field(default_factory=ReadOptions)
    kinds: dict[str, KindChoice] = field(default_factory=dict)
    hierarchies: dict[str, HierarchyChoice] = field(default_factory=dict)
    weights: dict[str, Weight] = field(default_factory=dict)
    memory: int = 1 << 32
    """Bytes that all processes together should stay within."""
    workers: int = 1
    scratch: Path | None = None
    """Where rows lie meanwhile; by default beside the target."""
    force: bool = False
    report: Path | None = None
    """The file of a report."""
    reporting: bool = False
    """Whether what a report needs is gathered."""
    sidecar: bool = False
    """Whether a JSON file beside the release says where it comes from."""
    part: str = "part-{:05}.parquet"
    """The names of the parts, where the target is a folder."""
    inputs: tuple[Path, ...] = ()
    check_columns: Callable[[Sequence[str]], None] = lambda _: None
    """Refuses a table without the columns that are named."""
    progress: Progress = lambda _fraction, _text: None
    cancel: CancelToken | None = None

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that are recoded."""
        return tuple(self.recipe.quasi_identifiers)

    @property
    def units(self) -> dict[Unit, str]:
        """The columns that say whose a record is."""
        named: dict[Unit, str | None] = {"person": self.recipe.person, "household": self.recipe.household}
        return {unit: name for unit, name in named.items() if name is not None}

    @property
    def whole(self) -> bool:
        """Whether the table is grouped as a whole: its codes are then all in memory, its rows are not."""
        recipe = self.recipe
        return bool(self.units or recipe.widen or recipe.survey_weight) or not can_be_cut(self.job)

    @property
    def released(self) -> set[str]:
        """The columns of the release."""
        recipe = self.recipe
        passed = {*recipe.sensitive, *recipe.keep, *recipe.pseudonymize} - dropped_columns(recipe.treat)
        averaged = averaged_weight(recipe)
        return {*recipe.quasi_identifiers, *passed, *([averaged] if averaged else [])}

    @property
    def needed(self) -> set[str]:
        """The columns that are read: those of the release, and those that models, treatments and counts look at."""
        persons = {person for one in self.treat.values() if (person := getattr(one, "person", None))}
        weight = {self.recipe.survey_weight} - {None}
        return {*self.released, *self.attributes, *self.treat, *persons, *self.units.values(), *map(str, weight)}

    def frame(self, rows: pa.Table) -> Frame:
        """Return rows as a table that knows how its text is to be read."""
        return Frame(rows, untyped=gives_text(self.place), notation=self.options.notation)


@dataclass(frozen=True)
class StreamRelease:
    """What came out of a streamed release; its rows are in ``files``."""

    path: Path
    files: tuple[Path, ...]
    records: int
    """Records of the table."""
    fragments: int
    metrics: dict[str, Any]
    audit: Audit
    understood: dict[str, str]
    empty: CodedTable = field(repr=False)
    """How the columns were coded, without records."""
    treated: dict[str, Treated] = field(default_factory=dict)
    """What treatments did to kept and sensitive columns."""
    warnings: tuple[str, ...] = ()
    """What to look at before it is published."""
    summary: Summary | None = field(default=None, repr=False)
    """What a report is made from, where it was asked for."""

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int(self.metrics["suppressed"])


def free_memory() -> int:
    """Return half of the memory that is free, in bytes; 2 GiB where the system does not tell."""
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) // 2
    except (ValueError, OSError, AttributeError):
        return 1 << 31
