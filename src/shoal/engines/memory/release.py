"""A release of a table in memory: read, treat, code, group, render, count."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from shoal.cells.disjoint import as_searched
from shoal.derived import find_derived
from shoal.encoding import CodedTable, HierarchyChoice, encode, survey_weights, with_units
from shoal.engines.columns import check_records
from shoal.engines.memory.hierarchies import settle_hierarchies, settled_words
from shoal.frames import Frame, to_frame
from shoal.hierarchy import Hierarchy
from shoal.io.files import open_table
from shoal.io.source import ReadOptions
from shoal.io.targets import files_read
from shoal.learning.partitions import Partition, find_partitions, named_by_released
from shoal.methods.base import Grouping
from shoal.methods.stopping import cancellable
from shoal.plan.table import group_table
from shoal.privacy.base import Requirement, bind_models, refuse_unreachable
from shoal.privacy.k_anonymity import at_least_units
from shoal.release.make import followed_columns, make_release
from shoal.request import (
    Request,
    check_role_columns,
    tell_of_coded_categories,
    warn_of_columns_left_out,
    warn_of_repeated_people,
    with_others_decided,
)
from shoal.results.result import Result
from shoal.treatments import Treated, treat_columns
from shoal.treatments.pseudonyms import pseudonymize_columns, read_key
from shoal.validation import check_columns

_LOG = logging.getLogger("shoal")  # counts and names of methods and files; never a cell of a table
_LOG.addHandler(logging.NullHandler())


def release_in_memory(request: Request, data: Any, options: ReadOptions) -> Result:
    """Return the release of a table."""
    frame = _read(request, data, options)
    _check_table(request, frame)
    request = with_others_decided(request, frame)
    _LOG.info("releasing %d records by %s with k = %d", frame.records, request.method.info.name, request.k)
    _report(request, 0.0, "reading")
    given, (frame, treated) = frame, _treat(request, frame)
    encoded = partial(_encode, request, frame)
    hierarchies = settle_hierarchies(request, frame, encoded)
    partitions = _partitions(request, frame, hierarchies, encoded)
    trees = {name: one.tree for name, one in partitions.items()}
    coded = encoded({**hierarchies, **trees})
    if not given.announced:
        tell_of_coded_categories(coded, {*request.kinds, *request.hierarchies})
    frame = replace(frame, announced=given.tell(request.as_understood()).announced)
    requirements = bind_models(request.models, coded, request.sensitive)
    refuse_unreachable(request.models, requirements, request.max_suppression)
    grouping = _group(request, as_searched(coded, request.cells), (*at_least_units(coded, request.k), *requirements))
    if partitions and (grouping.labels < 0).any():
        coded = encoded({**hierarchies, **trees, **named_by_released(coded, grouping.labels, partitions)})
        requirements = bind_models(request.models, coded, request.sensitive)
    _report(request, 0.9, "checking")
    plain = request.recipe.model_copy(update={"hierarchies": settled_words(hierarchies)})
    derived = find_derived(frame, plain.quasi_identifiers, followed_columns(plain), person=plain.person)
    result = Result.of(
        make_release(frame, coded, grouping, plain, request.models, requirements, request.method.info, treated, derived)
    )
    _report(request, 1.0, "done")
    _LOG.info("released %d records in %d groups", result.released.num_rows, result.audit.groups)
    return replace(result, inputs=(*files_read(data), *request.inputs))


def _read(request: Request, data: Any, options: ReadOptions) -> Frame:
    """Return a table, or the one in a file or a database, with the notations that the request names."""
    columns = list(dict.fromkeys(name for names in request.named.values() for name in names))
    frame = (
        open_table(data, table=options.table, query=options.query)
        if isinstance(data, (str, Path))
        else to_frame(data, columns)
    )
    return frame if request.notation.is_default else replace(frame, notation=request.notation)


def _check_table(request: Request, frame: Frame) -> None:
    """Refuse a table that cannot be released, and warn of columns that may be forgotten."""
    check_role_columns(request.named, frame)
    check_records(request, frame.records)
    if request.person is None:
        warn_of_repeated_people(frame, request.roles)
    if request.others == "drop":
        warn_of_columns_left_out(request.named, frame)


def _treat(request: Request, frame: Frame) -> tuple[Frame, dict[str, Treated]]:
    """Return the table with kept columns treated and tokens for pseudonyms, and what was done."""
    treated, done = treat_columns(frame, request.treat)
    if request.key is not None:
        treated = pseudonymize_columns(treated, request.pseudonymize, read_key(request.key))
    return treated, done


def _encode(request: Request, frame: Frame, hierarchies: Mapping[str, HierarchyChoice]) -> CodedTable:
    """Return the table as integers, with the columns that models and the method look at."""
    check_columns("a column the method looks at", request.attributes, frame.names)
    coded = encode(
        frame,
        request.quasi_identifiers,
        kinds={name: kind for name, kind in request.kinds.items() if not _is_parted(request, name, hierarchies)},
        hierarchies=hierarchies,
        weights=request.weights,
        attributes=request.attributes,
    )
    coded = with_units(coded, frame, request.units)
    weight = None if request.survey_weight is None else survey_weights(frame, request.survey_weight)
    return replace(coded, survey_weight=weight)


def _partitions(
    request: Request, frame: Frame, hierarchies: Mapping[str, HierarchyChoice], encoded: Callable[[Any], CodedTable]
) -> dict[str, Partition]:
    """Return the parts of the columns whose cells must be disjoint."""
    options: dict[str, Any] = {"k": request.k, "seed": request.seed, "cancel": request.cancel}
    return find_partitions(request.cells, hierarchies, frame, encoded, exact=request.ends == "exact", **options)


def _is_parted(request: Request, name: str, hierarchies: Mapping[str, HierarchyChoice]) -> bool:
    """Return whether a column is coded by its parts, which have been found by its kind."""
    return name in request.cells and isinstance(hierarchies.get(name), Hierarchy) and name not in request.hierarchies


def _group(request: Request, coded: CodedTable, requirements: tuple[Requirement, ...]) -> Grouping:
    """Find groups in which k and all models hold."""

    def progress(fraction: float, text: str) -> None:
        _report(request, 0.1 + 0.8 * fraction, text)

    task = request.task(requirements=requirements, progress=progress)
    progress(0.0, "finding groups")
    return group_table(request.method, coded, task, request.models, request.sensitive)


def _report(request: Request, fraction: float, text: str) -> None:
    """Report how far the work is; unless the best so far is wanted, this is where a cancelled run ends."""
    _LOG.debug("%.0f %%: %s", 100 * fraction, text)
    cancellable(request.progress, request.cancel if request.on_interrupt == "raise" else None)(fraction, text)
