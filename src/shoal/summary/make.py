"""From a release to its summary: plain values that say what was done, what was gained and what was lost."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal._version import __version__
from shoal.audit import count_tuples
from shoal.encoding import CodedColumn
from shoal.kernels.space.space import cost_table
from shoal.kernels.space.tuples import distinct_tuples
from shoal.metrics import REGISTRY as METRICS
from shoal.metrics import query_error, random_queries
from shoal.recipe import averaged_weight, declared_hierarchies, recipe_text, without_folders
from shoal.summary.association import Variable, associations
from shoal.summary.attempts import try_attacks
from shoal.summary.cells import draw_codes
from shoal.summary.distributions import distribution
from shoal.summary.found_people import GroupSizes, find, most_telling, people_in, size_bins
from shoal.summary.release import Release, hides_withheld
from shoal.summary.rows import example_rows
from shoal.summary.schema import (
    Association,
    Column,
    Loss,
    Measured,
    Method,
    Promise,
    QueryError,
    Reached,
    ReleasedAs,
    Role,
    Summary,
    Treatment,
    Tree,
)
from shoal.summary.second_look import second_look
from shoal.summary.trees import shown_tree

_LONGEST_EXAMPLE = 60
_ASSOCIATION_RECORDS = 50_000
_ASSOCIATION_COLUMNS = 12
_QUESTIONS = 600
_QUESTION_WORK = 200_000_000
"""Records looked at, over all questions."""
_ROLE_LISTS: tuple[tuple[str, Role], ...] = (
    ("quasi_identifiers", "quasi-identifier"),
    ("sensitive", "sensitive"),
    ("identifiers", "identifier"),
    ("keep", "kept"),
    ("pseudonymize", "pseudonym"),
)


class ReleaseCounts(NamedTuple):
    """What is known of a whole release of which only some groups are available.

    If fewer than k records were withheld, nothing here counts them (``without_withheld``).
    """

    records: int
    released: int
    withheld: int | None
    """None: fewer than k."""
    before: GroupSizes
    """Records, or people if they are known, that are equal in all quasi-identifiers."""
    after: GroupSizes
    warnings: list[str]


def summarize(release: Release, *, examples: bool = False, whole: ReleaseCounts | None = None) -> Summary:
    """Return the summary of a release; ``examples`` puts rows of the original next to the released ones.

    Of a large release ``release`` holds some whole groups, drawn at random, and ``whole`` what was counted over all of them. Spreads, associations
    and examples are those of the groups available; what would be wrong of a part of the release is left out: matching people with all rows, and counting questions.
    """
    if whole is None:
        withheld = release.source.records - len(release.kept)
        few = hides_withheld(withheld, release.recipe.k)
        release = release.without_withheld() if few else release
        known = _count(release, None if few else withheld)
    else:
        known = whole
    recipe, audit = release.recipe, release.audit
    felt = whole is None and not release.representatives
    cost = None if release.representatives else cost_table(*release.cost_boxes)
    return Summary(
        shoal=__version__,
        created=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        records=known.records,
        released=known.released,
        withheld=known.withheld,
        columns=list(_columns(release, felt=felt)),
        treatments=[Treatment(**asdict(one)) for one in release.treated.values()],
        method=_method(release),
        promise=Promise(
            k=recipe.k,
            models=[model.describe() for model in release.models],
            max_suppression=recipe.max_suppression,
        ),
        reached=Reached(
            k=audit.k,
            groups=audit.groups,
            mean_size=audit.mean_size,
            largest=audit.largest,
            persons=audit.persons,
            households=audit.households,
            sensitive=_plain_figures(audit.sensitive),
            people=dict(audit.people),
        ),
        found=find(
            known.before,
            known.after,
            recipe.k,
            [] if whole else most_telling(release.coded.codes, release.coded.names),
        ),
        attacks=try_attacks(release, whole=whole is None),
        loss=_loss(release, felt=felt),
        group_sizes=size_bins(known.before, known.after, recipe.k),
        associations=_associations(release),
        query_error=None if whole else _query_error(release),
        examples=example_rows(release.released, release.coded, release.groups, cost, recipe.seed, originals=examples),
        recipe=recipe_text(without_folders(recipe)),
        warnings=known.warnings,
    )


def _count(release: Release, withheld: int | None) -> ReleaseCounts:
    """Count a release whose rows are all available."""
    person = release.coded.units.get("person")
    label = distinct_tuples(release.coded.codes).label
    return ReleaseCounts(
        len(label),
        release.released.num_rows,
        withheld,
        people_in(label, person),
        people_in(
            count_tuples(release.released, release.recipe.quasi_identifiers).label,
            None if person is None else person[release.kept],
        ),
        list(second_look(release)),
    )


def _plain_figures(sensitive: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    """Return what was measured on sensitive columns; JSON has no infinity, so what is unbounded is None."""
    return {
        name: {key: float(value) if math.isfinite(value) else None for key, value in figures.items()}
        for name, figures in sensitive.items()
    }


def _read_as(release: Release, name: str, role: Role) -> str | None:
    """Return how the text of a column was understood; None if it is taken as plain text."""
    recipe = release.recipe
    as_is = name in recipe.hierarchies or recipe.kinds.get(name, "numeric") not in ("numeric", "date")
    if as_is or role not in ("quasi-identifier", "sensitive"):
        return None
    return release.source.understood([name]).get(name)


def _columns(release: Release, *, felt: bool) -> Iterator[Column]:
    role_of: dict[str, Role] = {name: role for key, role in _ROLE_LISTS for name in getattr(release.recipe, key)}
    role_of |= dict.fromkeys([name for name in (release.recipe.person, release.recipe.household) if name], "identifier")
    averaged = averaged_weight(release.recipe)
    if averaged is not None:
        role_of[averaged] = "kept"
    spread = {
        column.name: distribution(column, before, after, release.recipe.k) for column, before, after in release.cells()
    }
    coded = {column.name: column for column in release.coded.columns}
    losses = release.metrics["ncp_by_column"]
    for name in release.source.names:
        role = role_of.get(name, "left out")
        form: ReleasedAs = "representative" if name == averaged else _released_as(release, coded.get(name), name)
        yield Column(
            name=name,
            role=role,
            released_as=form,
            example=_example(release.released.column(name)) if form in {"range", "set"} else None,
            read_as=_read_as(release, name, role),
            ends=None if release.representatives else release.details.get("ends", {}).get(name),
            weight=_weight(release.recipe.weights.get(name, 1.0)) if name in coded else None,
            loss=losses.get(name),
            **(release.felt.columns[name]._asdict() if felt and name in release.felt.columns else {}),
            distribution=spread.get(name),
            tree=_tree(release, coded.get(name)) if felt else None,
        )


def _tree(release: Release, column: CodedColumn | None) -> Tree | None:
    """Return what the release shows of a column's hierarchy."""
    if column is None or column.hierarchy is None or column.kind.form != "node":
        return None
    declared = column.name in declared_hierarchies(release.recipe)
    return shown_tree(column.hierarchy, release.released.column(column.name), declared=declared)


def _example(released: pa.ChunkedArray) -> str | None:
    """Return the most frequent cell that is a range or a set (ties: the first in order); none longer than a line."""
    counted = released.cast(pa.string()).value_counts().to_pylist()
    cells = [
        one for one in counted if (one["values"] or "")[:1] in {"[", "{"} and len(one["values"]) <= _LONGEST_EXAMPLE
    ]
    return min(cells, key=lambda one: (-one["counts"], one["values"]))["values"] if cells else None


def _released_as(release: Release, column: CodedColumn | None, name: str) -> Any:
    if name not in release.released.column_names:
        return "removed"
    if column is None:
        return "token" if name in release.recipe.pseudonymize else "treated" if name in release.treated else "unchanged"
    return "representative" if release.representatives else column.kind.form


def _method(release: Release) -> Method:
    recipe, info = release.recipe, release.method
    return Method(
        name=recipe.method,
        title=info.title if info else recipe.method,
        paper=info.paper if info else "",
        effort=recipe.effort if info and info.uses_effort else None,
        seed=recipe.seed,
    )


def _loss(release: Release, *, felt: bool) -> Loss:
    bound = release.details.get("lower_bound")
    measured = [
        Measured(
            name=name,
            title=metric.title,
            value=float(release.metrics[name]),
            better=metric.better,
            best=metric.best,
            worst=metric.worst,
            meaning=metric.meaning,
        )
        for name, metric in METRICS.items()
        if name in release.metrics
    ]
    return Loss(
        ncp=release.metrics["ncp"],
        lower_bound=None if bound is None else float(bound),
        exact=release.felt.exact if felt else None,
        typical=release.felt.typical if felt else None,
        metrics=measured,
    )


def _associations(release: Release) -> list[Association]:
    random = np.random.default_rng(release.recipe.seed)
    before_part = _part(random, len(release.kept))
    after_part = _part(random, len(release.kept))
    variables = []
    for column, before, after in release.cells():
        codes = len(column.values)
        if codes < 2 or (column.position is None and codes > release.source.records / 4):
            continue
        drawn = [
            draw_codes(replace(cells, group=cells.group[part]), codes, random)
            for cells, part in ((before, before_part), (after, after_part))
        ]
        variables.append(Variable(column.name, drawn[0], drawn[1], column.position))
    return associations(variables[:_ASSOCIATION_COLUMNS])


def _query_error(release: Release) -> QueryError | None:
    """Ask random counting questions of every pair of columns; representatives have no ranges to ask."""
    if release.representatives:
        return None
    names = release.coded.names
    pairs: list[tuple[str, ...]] = [*combinations(names, 2)] or [names]
    number = min(_QUESTIONS, _QUESTION_WORK // max(release.coded.records, 1)) // len(pairs)
    asked = [
        query
        for place, pair in enumerate(pairs)
        for query in random_queries(release.coded, max(number, 1), pair, seed=release.recipe.seed + place)
        if query.conditions
    ]
    errors = query_error(release.source, release, asked).errors if asked else np.zeros(0)
    if not errors.size:
        return None
    return QueryError(
        questions=errors.size,
        median=float(np.median(errors)),
        mean=float(errors.mean()),
        within_tenth=float((errors <= 0.1).mean()),
    )


def _part(random: Any, records: int) -> Any:
    """Return all records, or a sample if there are very many."""
    if records <= _ASSOCIATION_RECORDS:
        return slice(None)
    return random.choice(records, _ASSOCIATION_RECORDS, replace=False)


def _weight(given: float | dict[str, float]) -> float:
    """Return a column's weight; if its nodes have weights, the column itself has 1."""
    return 1.0 if isinstance(given, dict) else given
