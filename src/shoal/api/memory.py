"""A release of a table in memory: read, treat, code, group, render, count."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.api.people import warn_of_repeated_people
from shoal.api.roles import check_role_columns, tell_of_coded_categories, warn_of_columns_left_out
from shoal.encoding import CodedTable, encode, survey_weights, with_units
from shoal.engines.memory import group_table
from shoal.errors import DataError, ParameterError
from shoal.frames import Frame, to_frame
from shoal.io.files import open_table
from shoal.io.source import ReadOptions
from shoal.methods.base import Grouping, Task
from shoal.methods.stopping import cancellable
from shoal.privacy.base import Requirement, bind_models
from shoal.privacy.k_anonymity import at_least_units
from shoal.recipe import recipe_inputs, together_units
from shoal.release import make_release
from shoal.result import Result
from shoal.treatments import Treated, treat_columns
from shoal.treatments.pseudonyms import pseudonymize_columns, read_key
from shoal.validation import check_columns

if TYPE_CHECKING:
    from shoal.api.anonymizer import Anonymizer

_LOG = logging.getLogger("shoal")  # counts and names of methods and files; never a cell of a table
_LOG.addHandler(logging.NullHandler())


def release_in_memory(recipe: Anonymizer, data: Any, options: ReadOptions) -> Result:
    """Return the release of a table."""
    frame = _read(recipe, data, options)
    _check_table(recipe, frame)
    _LOG.info("releasing %d records by %s with k = %d", frame.records, recipe.method.info.name, recipe.k)
    _report(recipe, 0.0, "reading")
    given, (frame, treated) = frame, _treat(recipe, frame)
    coded = _encode(recipe, frame)
    if not given.announced:
        tell_of_coded_categories(coded, {*recipe.kinds, *recipe.hierarchies})
    frame = replace(frame, announced=given.tell(recipe.as_understood()).announced)
    requirements = bind_models(recipe.models, coded, recipe.sensitive)
    grouping = _group(recipe, coded, (*at_least_units(coded, recipe.k), *requirements))
    _report(recipe, 0.9, "checking")
    plain = recipe.recipe()
    result = Result.of(
        make_release(frame, coded, grouping, plain, recipe.models, requirements, recipe.method.info, treated)
    )
    _report(recipe, 1.0, "done")
    _LOG.info("released %d records in %d groups", result.released.num_rows, result.audit.groups)
    return replace(result, inputs=(*_files_of(data), *recipe_inputs(plain), *recipe.key_files))


def _read(recipe: Anonymizer, data: Any, options: ReadOptions) -> Frame:
    """Return a table, or the one in a file or a database, with the notations that the recipe names."""
    columns = list(dict.fromkeys(name for names in recipe.named.values() for name in names))
    frame = (
        open_table(data, table=options.table, query=options.query)
        if isinstance(data, (str, Path))
        else to_frame(data, columns)
    )
    return frame if recipe.notation.is_default else replace(frame, notation=recipe.notation)


def _check_table(recipe: Anonymizer, frame: Frame) -> None:
    """Refuse a table that cannot be released, and warn of columns that may be forgotten."""
    check_role_columns(recipe.named, frame)
    if frame.records == 0:
        raise DataError("The table has no rows. There is nothing to release.")
    if recipe.k > frame.records:
        raise ParameterError(
            f"The 'k' parameter of Anonymizer must be at most the number of records, {frame.records}. "
            f"Got {recipe.k} instead.",
            hint="nobody can hide among more records than there are.",
        )
    if recipe.person is None:
        warn_of_repeated_people(frame, recipe.roles)
    warn_of_columns_left_out(recipe.named, frame)


def _treat(recipe: Anonymizer, frame: Frame) -> tuple[Frame, dict[str, Treated]]:
    """Return the table with kept columns treated and tokens for pseudonyms, and what was done."""
    treated, done = treat_columns(frame, recipe.treat)
    if recipe.key is not None:
        treated = pseudonymize_columns(treated, recipe.pseudonymize, read_key(recipe.key))
    return treated, done


def _encode(recipe: Anonymizer, frame: Frame) -> CodedTable:
    """Return the table as integers, with the columns that models and the method look at."""
    check_columns("a column the method looks at", recipe.attributes, frame.names)
    coded = encode(
        frame,
        recipe.quasi_identifiers,
        kinds=recipe.kinds,
        hierarchies=recipe.hierarchies,
        weights=recipe.weights,
        attributes=recipe.attributes,
    )
    coded = with_units(coded, frame, recipe.units)
    weight = None if recipe.survey_weight is None else survey_weights(frame, recipe.survey_weight)
    return replace(coded, survey_weight=weight)


def _group(recipe: Anonymizer, coded: CodedTable, requirements: tuple[Requirement, ...]) -> Grouping:
    """Find groups in which k and all models hold."""

    def progress(fraction: float, text: str) -> None:
        _report(recipe, 0.1 + 0.8 * fraction, text)

    task = Task(
        k=recipe.k,
        requirements=requirements,
        together=together_units(recipe.recipe()),
        max_suppression=recipe.max_suppression,
        release=recipe.release,
        effort=recipe.effort,
        seed=recipe.seed,
        progress=progress,
        on_interrupt=recipe.on_interrupt,
        cancel=recipe.cancel,
    )
    progress(0.0, "finding groups")
    return group_table(recipe.method, coded, task, recipe.models, recipe.sensitive)


def _report(recipe: Anonymizer, fraction: float, text: str) -> None:
    """Tell how far the work is; unless the best so far is wanted, this is where a cancelled run ends."""
    _LOG.debug("%.0f %%: %s", 100 * fraction, text)
    cancellable(recipe.progress, recipe.cancel if recipe.on_interrupt == "raise" else None)(fraction, text)


def _files_of(data: Any) -> list[Path]:
    """Return the files a table comes from; an address is none."""
    return [Path(data)] if isinstance(data, Path) or (isinstance(data, str) and "://" not in data) else []
