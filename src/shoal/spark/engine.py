"""The plan of a large table on Spark: learn, cut, group, stage, count again. Runs on the driver, which sees no rows but the coded sample."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Iterable
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from shoal.api import Anonymizer
from shoal.api.roles import ROLES
from shoal.arrays import IntArray
from shoal.encoding import CodedTable
from shoal.engines.cutting import Tree, build_tree
from shoal.engines.learning import Coding, Learned, make_coding, merge_learned
from shoal.engines.plan import Job, cut_table, fragments_of, sample_share, uncuttable_models
from shoal.engines.releasing import Statistics, combine, metrics_of
from shoal.errors import DataError, ParameterError, PrivacyError
from shoal.methods.base import Task, most_withheld
from shoal.methods.optimise import Optimise
from shoal.spark import staging as places
from shoal.spark.counting import Counted, audit_of, check_counted, count_release
from shoal.spark.result import SparkResult
from shoal.spark.sessions import check_dataframe, collect, payloads, tasks_for, with_columns
from shoal.spark.tasks import (
    FRAGMENT,
    OWN_COLUMNS,
    PAYLOAD,
    PLACE,
    Fragments,
    Rows,
    count_rows,
    learn_rows,
    mark_rows,
    release_rows,
    sample_rows,
)
from shoal.validation import check_columns

_CARRIED = frozenset(
    {"k", *ROLES, "kinds", "hierarchies", "decimal", "thousands", "date_format", "missing", "weights", "models"}
    | {"method", "effort", "max_suppression", "release", "seed", "progress"}
)
"""Parameters that this engine carries; a release that asks for another one is refused, not made without it."""
_ORDER = "shoal_order"


def anonymize(data: Any, *, staging: str | None = None, **parameters: Any) -> SparkResult:
    """Release a DataFrame of Spark in which every record hides among at least k.

    Parameters
    ----------
    data
        A DataFrame of Spark. It is read four times: put it on disk first where it is dear to compute, or changes.
    staging
        A folder that every executor can write. The release lies there, in a folder of its own, until it is counted, and as long as the
        result is used. Not needed where Spark runs on this machine alone.
    **parameters
        Those of ``shoal.anonymize``. What this engine does not carry is refused in one sentence; ranges end at values of the table
        (``ends="exact"``).

    Returns
    -------
    SparkResult
        The released DataFrame with its metrics and audit; ``save`` writes it.

    Raises
    ------
    ShoalError
        The table cannot be released as promised, or a parameter is wrong. Nothing is left in ``staging`` then.
    """
    data = check_dataframe(data, "shoal.spark.anonymize")
    exact = {"ends": "exact"}  # how far ends move follows from the ranges of all groups, which no task here knows
    recipe = Anonymizer(**exact | parameters)
    _refuse_what_is_not_carried(recipe)
    _check_columns(recipe, data)
    data = data.select(*[name for name in data.columns if _role_of(recipe, name)])
    recipe.progress(0.0, "learning the columns")
    coding = _learn(recipe, data)
    job = _job_of(recipe)
    share = sample_share(coding.records, job, coding.columns)
    if share is not None:
        _check_cuttable(job)
    recipe.progress(0.2, "cutting the table")
    tree, number = _cut(data, coding, job, share)
    return _release(data, recipe, coding, job, tree, number, places.staging_folder(data, staging))


def _refuse_what_is_not_carried(recipe: Anonymizer) -> None:
    parameters = inspect.signature(Anonymizer.__init__).parameters
    usual = {name: one.default for name, one in parameters.items()} | {"ends": "exact"}
    for name, value in recipe.get_params().items():
        if name not in _CARRIED and value is not usual[name] and value != usual[name]:
            raise ParameterError(
                f"The {name!r} parameter cannot be used on Spark yet. Got {type(value).__name__}.",
                hint="leave it out, or anonymise on one machine with shoal.anonymize.",
            )
    if recipe.release != "ranges":
        raise ParameterError(
            "On Spark a release has ranges; representatives need all records of a group's method in one place.",
            hint="leave 'release' out, or take a method such as \"optimise\".",
        )


def _role_of(recipe: Anonymizer, name: str) -> str | None:
    return next((role for role, names in recipe.roles.items() if name in names and role != "identifiers"), None)


def _check_columns(recipe: Anonymizer, data: Any) -> None:
    for role, names in recipe.roles.items():
        check_columns(role, names, data.columns)
    own = [name for name in data.columns if name in {*OWN_COLUMNS, _ORDER}]
    if own:
        raise DataError(f"The table has a column {own[0]!r}, a name that shoal uses itself. Rename it.")


def _learn(recipe: Anonymizer, data: Any) -> Coding:
    names = [*recipe.quasi_identifiers, *recipe.sensitive]
    parts: list[Learned] = collect(data.select(*names), learn_rows, names=names)
    learned = merge_learned(parts) if parts else Learned(0, {})
    if not learned.records:
        raise DataError("The table has no rows. There is nothing to release.")
    if recipe.k > learned.records:
        raise ParameterError(
            f"The 'k' parameter of Anonymizer must be at most the number of records, {learned.records}. Got {recipe.k} instead.",
            hint="nobody can hide among more records than there are.",
        )
    return make_coding(
        learned,
        recipe.quasi_identifiers,
        recipe.sensitive,
        kinds=recipe.kinds,
        hierarchies=recipe.hierarchies,
        weights=recipe.weights,
        notation=recipe.notation,
    )


def _job_of(recipe: Anonymizer) -> Job:
    task = Task(
        k=recipe.k,
        max_suppression=recipe.max_suppression,
        release=recipe.release,
        effort=recipe.effort,
        seed=recipe.seed,
    )
    return Job(recipe.method, task, recipe.models, recipe.sensitive)


def _check_cuttable(job: Job) -> None:
    """Raise where a large table cannot be grouped fragment by fragment."""
    models = uncuttable_models(job.models)
    if models:
        raise ParameterError(
            f"{models[0]} cannot be kept fragment by fragment, and the table is too large to be one fragment.",
            hint="leave the model out, or release fewer records at a time.",
        )
    if not isinstance(job.method, Optimise):
        raise ParameterError(
            f"The method {job.method.info.name!r} needs all records in one place, and the table is too large for that.",
            hint="take 'optimise', which works fragment by fragment.",
        )


def _cut(data: Any, coding: Coding, job: Job, share: float | None) -> tuple[Tree, IntArray]:
    """Return the tree of cuts and the fragment of each of its leaves."""
    if share is None:
        return build_tree(coding.space, coding.empty.codes, np.zeros(0, np.int32), 0.0), np.zeros(1, np.int32)
    parts = collect(data, sample_rows, coding=coding, seed=job.task.seed, share=share)
    tree = cut_table(_joined(coding, parts), coding.records, job)
    counts = reduce(add, collect(data, count_rows, coding=coding, tree=tree))
    protected = [coding.attributes[name] for name in job.sensitive]
    return tree, fragments_of(tree, counts, job, protected)


def _joined(coding: Coding, parts: Iterable[Rows]) -> CodedTable:
    rows = list(parts)
    if not rows:
        return coding.empty
    attributes = {name: np.concatenate([one.attributes[name] for one in rows]) for name in coding.attributes}
    return coding.part(np.ascontiguousarray(np.concatenate([one.codes for one in rows], axis=1)), attributes)


def _release(
    data: Any, recipe: Anonymizer, coding: Coding, job: Job, tree: Tree, number: IntArray, folder: str
) -> SparkResult:
    """Stage the release, count it from there, and return it; on any fault nothing stays."""
    rows = f"{folder}/rows"  # below the folder, whose rights Spark then leaves as they are
    try:
        recipe.progress(0.3, "finding groups, fragment by fragment")
        _stage(data, recipe, coding, job, tree, number, rows)
        staged = data.sparkSession.read.parquet(rows)
        sums = dict(payloads(staged.where(f"{PAYLOAD} is not null")))
        total = combine([sums[one] for one in sorted(sums)])
        released = staged.where(f"{PAYLOAD} is null").drop(PAYLOAD)
        recipe.progress(0.8, "counting")
        counted = count_release(released, recipe.quasi_identifiers, recipe.sensitive, coding, recipe.models)
        check_counted(counted, recipe.k)
        _check_records(recipe, coding, total, counted)
    except BaseException:
        places.remove(folder)
        raise
    recipe.progress(1.0, "done")
    metrics = metrics_of(total, recipe.quasi_identifiers, coding.weights, recipe.k)
    details = {"fragments": len(sums)}
    return SparkResult(released, metrics, audit_of(counted, recipe.quasi_identifiers), recipe.recipe(), details, folder)


def _check_records(recipe: Anonymizer, coding: Coding, total: Statistics, counted: Counted) -> None:
    """Raise where rows came or went between the passes over the table, or too many are withheld."""
    if total.records != coding.records or counted.records != total.records - total.suppressed:
        raise DataError(
            f"The table had {coding.records} rows when it was learned and {total.records} when it was released. "
            "Nothing was released.",
            hint="write it to disk first, so that it is the same each time it is read.",
        )
    if total.suppressed > most_withheld(recipe.max_suppression, total.records):
        raise PrivacyError(
            f"{total.suppressed} records would have to be withheld, more than 'max_suppression' allows. Nothing was released.",
            hint="allow more suppression, lower k, or take another method.",
        )


def _stage(data: Any, recipe: Anonymizer, coding: Coding, job: Job, tree: Tree, number: IntArray, folder: str) -> None:
    """Group every fragment where its rows are, scatter the released rows and write them."""
    from pyspark.sql import functions  # noqa: PLC0415

    tasks = tasks_for(data, int(number.max()) + 1)
    # rows of equal content come in the same order whenever a task is run, so that a repeated task gives the same rows
    ordered = data.withColumn(_ORDER, functions.xxhash64(*data.columns))
    mark = partial(mark_rows, coding=coding, tree=tree, number=number)
    marked = ordered.mapInArrow(mark, with_columns(ordered, ordered.columns, (), [FRAGMENT]))
    together = marked.repartition(tasks, FRAGMENT).sortWithinPartitions(FRAGMENT, _ORDER).drop(_ORDER)
    columns = [name for name in data.columns if name not in recipe.identifiers]
    how = Fragments(coding, job, coding.records, tuple(columns), recipe.notation, secrets.randbits(120))
    schema = with_columns(data, columns, recipe.quasi_identifiers, [PLACE, PAYLOAD])
    released = together.mapInArrow(partial(release_rows, fragments=how), schema)
    scattered = released.repartition(tasks, PLACE).sortWithinPartitions(PLACE).drop(PLACE)
    scattered.write.parquet(folder)
