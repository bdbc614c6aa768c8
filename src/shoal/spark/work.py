"""One release on Spark, as its steps see it: the rows, the recipe with all its files read, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.api import Anonymizer
from shoal.api.roles import check_role_columns, warn_of_columns_left_out
from shoal.arrays import Progress
from shoal.audit import Audit
from shoal.encoding import load_hierarchy
from shoal.engines.learning import Coding, Learned, make_coding, merge_learned
from shoal.engines.plan import Job
from shoal.errors import DataError, ParameterError
from shoal.frames import Frame
from shoal.generalization import Generalization
from shoal.hierarchy import WORDS
from shoal.methods.base import Task
from shoal.privacy.base import PrivacyModel
from shoal.privacy.people import open_people
from shoal.recipe import averaged_weight
from shoal.spark.naming import all_quoted, map_in_arrow
from shoal.spark.sessions import collect, with_columns
from shoal.spark.tasks import OWN_COLUMNS, learn_rows, pseudonymize_rows
from shoal.summary import Summary
from shoal.treatments.pseudonyms import read_key


@dataclass(frozen=True)
class Work:
    """What is to be released."""

    data: Any
    """The columns that have a role, pseudonyms already in place."""
    recipe: Anonymizer
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
        recipe = self.recipe
        task = Task(
            k=recipe.k,
            max_suppression=recipe.max_suppression,
            release=recipe.release,
            effort=recipe.effort,
            seed=recipe.seed,
        )
        return Job(recipe.method, task, recipe.models, recipe.sensitive)

    @property
    def rows(self) -> str:
        """Where the released rows are: below the folder, whose rights Spark then leaves as they are."""
        return f"{self.folder}/rows"

    @property
    def frame(self) -> Frame:
        """How cells are read, without a row."""
        return Frame(pa.table({}), untyped=self.untyped, notation=self.recipe.notation)

    @property
    def owners(self) -> dict[str, str]:
        """The columns of persons and households."""
        return {str(unit): name for unit, name in self.recipe.units.items() if name is not None}

    @property
    def released(self) -> list[str]:
        """The columns of the release, in the order of the table."""
        recipe = self.recipe
        out = {*recipe.quasi_identifiers, *recipe.sensitive, *recipe.keep, *recipe.pseudonymize}
        out.add(averaged_weight(recipe.recipe()) or "")
        return [name for name in self.data.columns if name in out]


@dataclass(frozen=True)
class Made:
    """What came out; its rows are staged."""

    metrics: dict[str, Any]
    audit: Audit
    details: Mapping[str, Any] = field(default_factory=dict)
    summary: Summary | None = None
    mapping: Generalization | None = None


def at_hand(recipe: Anonymizer) -> Anonymizer:
    """Return a recipe that needs no file, for executors have other disks than the driver; the key stays with the driver."""
    hierarchies = {
        name: choice if choice in WORDS else load_hierarchy(name, choice) for name, choice in recipe.hierarchies.items()
    }
    given = recipe.get_params() | {"hierarchies": hierarchies, "models": [_with_people(one) for one in recipe.models]}
    there = {"progress": None, "cancel": None, "engine": "memory"}
    copy = Anonymizer(**given | {name: value for name, value in there.items() if name in given})
    copy.key = None  # tokens are made first, by ``with_tokens``
    return copy


def _with_people(model: PrivacyModel) -> PrivacyModel:
    """Return a model on a population with the population itself in place of its file."""
    place = getattr(model, "population", None)
    return replace(model, population=open_people(place).table) if isinstance(place, (str, Path)) else model  # type: ignore[call-arg]


def check_columns_of(recipe: Anonymizer, data: Any) -> None:
    """Refuse columns that are not there, and names that shoal uses itself; name those that have no role."""
    frame = Frame(pa.table({name: pa.array([], pa.string()) for name in data.columns}))
    check_role_columns(recipe.named, frame)
    own = [name for name in data.columns if name in OWN_COLUMNS]
    if own:
        raise DataError(f"The table has a column {own[0]!r}, a name that shoal uses itself. Rename it.")
    warn_of_columns_left_out(recipe.named, frame)


def with_tokens(recipe: Anonymizer, data: Any) -> Any:
    """Return the table with tokens in place of what is pseudonymized: a map, with the key in it."""
    if recipe.key is None:
        return data
    schema = with_columns(data, data.columns, recipe.pseudonymize, [])
    task = partial(pseudonymize_rows, names=recipe.pseudonymize, key=read_key(recipe.key))
    return map_in_arrow(data, task, schema)


def check_records(recipe: Anonymizer, records: int) -> None:
    """Refuse an empty table, and one in which nobody can hide among k."""
    if not records:
        raise DataError("The table has no rows. There is nothing to release.")
    if recipe.k > records:
        raise ParameterError(
            f"The 'k' parameter of Anonymizer must be at most the number of records, {records}. Got {recipe.k} instead.",
            hint="nobody can hide among more records than there are.",
        )


def learn(work: Work, more: tuple[str, ...] = ()) -> Coding:
    """Learn the columns of the table; ``more`` are those that only the method looks at."""
    recipe = work.recipe
    attributes = [*recipe.sensitive, *more]
    names = [*recipe.quasi_identifiers, *attributes]
    parts: list[Learned] = collect(work.data.select(*all_quoted(names)), learn_rows, names=names)
    learned = merge_learned(parts)
    if learned.records != work.records:
        raise changed(work.records, learned.records)
    return make_coding(
        learned,
        recipe.quasi_identifiers,
        attributes,
        kinds=recipe.kinds,
        hierarchies=recipe.hierarchies,
        weights=recipe.weights,
        untyped=work.untyped,
        notation=recipe.notation,
    )


def changed(before: int, after: int) -> DataError:
    """Return the complaint that a table is not the same each time it is read."""
    return DataError(
        f"The table had {before} rows when it was first read and {after} later. Nothing was released.",
        hint="write it to disk first, so that it is the same each time it is read.",
    )
