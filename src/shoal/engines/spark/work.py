"""One release on Spark, as its steps see it: the rows, the request with all its files read, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.arrays import Progress
from shoal.audit import Audit
from shoal.encoding import HierarchyChoice, load_hierarchy
from shoal.engines.spark.naming import all_quoted, map_in_arrow
from shoal.engines.spark.sessions import collect, with_columns
from shoal.engines.spark.tasks import learn_rows, pseudonymize_rows
from shoal.errors import DataError
from shoal.frames import Frame
from shoal.hierarchy import WORDS
from shoal.plan.coding import Coding, Learned, make_coding, merge_learned
from shoal.plan.steps import Job
from shoal.privacy.base import PrivacyModel
from shoal.privacy.people import open_people
from shoal.release.make import released_columns
from shoal.request import Request
from shoal.results.generalization import Generalization
from shoal.summary import Summary
from shoal.treatments.pseudonyms import read_key


@dataclass(frozen=True)
class Work:
    """What is to be released."""

    data: Any
    """The columns that have a role, pseudonyms already in place."""
    request: Request
    records: int
    folder: str
    """Where the release is staged."""
    progress: Progress
    untyped: bool = False
    """All columns are text because they come from a text file."""
    report: bool = False
    """Gather what a report needs."""

    @property
    def job(self) -> Job:
        """What is done with every fragment."""
        request = self.request
        return Job(request.method, request.task(), request.models, request.sensitive)

    @property
    def rows(self) -> str:
        """Where the released rows are: below the folder, whose rights Spark then leaves as they are."""
        return f"{self.folder}/rows"

    @property
    def frame(self) -> Frame:
        """How cells are read, without a row."""
        return Frame(pa.table({}), untyped=self.untyped, notation=self.request.notation)

    @property
    def owners(self) -> dict[str, str]:
        """The columns of persons and households."""
        return {str(unit): name for unit, name in self.request.owners.items()}

    @property
    def released(self) -> list[str]:
        """The columns of the release, in the order of the table."""
        released = released_columns(self.request.recipe)
        return [name for name in self.data.columns if name in released]


@dataclass(frozen=True)
class Made:
    """The outcome; its rows are staged."""

    metrics: dict[str, Any]
    audit: Audit
    details: Mapping[str, Any] = field(default_factory=dict)
    summary: Summary | None = None
    mapping: Generalization | None = None


def at_hand(request: Request) -> Request:
    """Return a request that needs no file, because executors have other disks than the driver; the key stays with the driver."""
    hierarchies: dict[str, HierarchyChoice] = {
        name: choice if choice in WORDS else load_hierarchy(name, choice)
        for name, choice in request.hierarchy_words().items()
    }
    models = tuple(_with_people(one) for one in request.models)
    return replace(request.for_others(), hierarchies=hierarchies, models=models, engine="memory", memory=None)


def _with_people(model: PrivacyModel) -> PrivacyModel:
    """Return a model on a population with the population itself instead of its file."""
    place = getattr(model, "population", None)
    return replace(model, population=open_people(place).table) if isinstance(place, (str, Path)) else model  # type: ignore[call-arg]


def with_tokens(request: Request, data: Any) -> Any:
    """Return the table with tokens instead of what is pseudonymized: a map, with the key in it."""
    if request.key is None:
        return data
    schema = with_columns(data, data.columns, request.pseudonymize, [])
    task = partial(pseudonymize_rows, names=request.pseudonymize, key=read_key(request.key))
    return map_in_arrow(data, task, schema)


def learn(work: Work) -> Coding:
    """Learn the columns of the table, those that only the method looks at too."""
    request = work.request
    names = [*request.quasi_identifiers, *request.attributes]
    parts: list[Learned] = collect(work.data.select(*all_quoted(names)), learn_rows, names=names)
    learned = merge_learned(parts)
    if learned.records != work.records:
        raise changed(work.records, learned.records)
    return make_coding(
        learned,
        request.quasi_identifiers,
        request.attributes,
        kinds=request.kinds,
        hierarchies=request.hierarchies,
        weights=request.weights,
        untyped=work.untyped,
        notation=request.notation,
    )


def changed(before: int, after: int) -> DataError:
    """Return the complaint that a table is not the same each time it is read."""
    return DataError(
        f"The table had {before} rows when it was first read and {after} later. Nothing was released.",
        hint="write it to disk first, so that it is the same each time it is read.",
    )
