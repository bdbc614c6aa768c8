"""Attacks on the released rows, tried on the original's own people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.attacks import Finding, companions, downcoding, homogeneity, linkage
from shoal.encoding import is_ordered
from shoal.summary.release import Release
from shoal.summary.schema import Attack

_PEOPLE = 2_000
_ROWS = 10_000
"""Released records whose exact values are guessed from their ranges."""
_SEVERAL = 500
"""People of whom all records are known."""
_WORK = 200_000_000
"""People times groups that are compared; fewer people are tried if there are very many groups."""


def try_attacks(release: Release, *, whole: bool = True) -> list[Attack]:
    """Try to name people's rows, and to learn their sensitive values, from the released cells.

    Of a part of a release, not ``whole``, only attacks that need nothing but its groups are tried.
    """
    if not _can_be_matched(release):
        return []
    found, guessed = list(_matching(release)) if whole else [], _downcoding(release)
    return [_plain(finding) for finding in [*found, *([guessed] if guessed.success.tried else [])]]


def _can_be_matched(release: Release) -> bool:
    """Return whether released cells can be compared with the original's values as they are.

    Representatives are not ranges; an order of the user's own, or numbers read from text, are not those of the type.
    """
    return (
        not release.representatives
        and release.released.num_rows > 0
        and all(
            not column.kind.ordered or (column.measured and is_ordered(release.source.typed(column.name).type))
            for column in release.coded.columns
        )
    )


def _matching(release: Release) -> Iterator[Finding]:
    """Match people with all released rows."""
    source, names = release.source, release.recipe.quasi_identifiers
    targets = max(min(_PEOPLE, _WORK // max(release.audit.groups, 1)), 100)
    people: dict[str, Any] = {"hierarchies": _trees(release), "targets": targets, "seed": release.recipe.seed}
    person = release.recipe.person
    if person is not None:
        people |= {"person": person, "owner": release.source.table.column(person).take(pa.array(release.kept))}
    yield linkage(source, release.released, names, **people)
    if person is not None:
        few = people | {"targets": min(targets, _SEVERAL)}
        yield companions(source, release.released, names, **few)
    for sensitive in release.recipe.sensitive:
        if sensitive not in release.released.column_names:
            continue
        yield homogeneity(source, release.released, names, sensitive, **people)


def _trees(release: Release) -> dict[str, Any]:
    return {column.name: column.hierarchy for column in release.coded.columns if column.hierarchy is not None}


def _downcoding(release: Release) -> Finding:
    """Guess exact values from ranges, in whole groups of the release: of a large one, in some of them."""
    labels = release.groups[release.kept]
    order = np.random.default_rng(release.recipe.seed).permutation(int(labels.max(initial=-1)) + 1)
    size = np.bincount(labels, minlength=len(order))
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[: max(int(np.searchsorted(np.cumsum(size[order]), _ROWS, side="right")), 1)]] = True
    rows = np.flatnonzero(chosen[labels])
    names = list(release.recipe.quasi_identifiers)
    own = release.source.select(names).at(release.kept[rows])
    return downcoding(own, release.released.select(names).take(pa.array(rows)), names, hierarchies=_trees(release))


def _plain(finding: Finding) -> Attack:
    success, control = finding.success, finding.control
    return Attack(
        attack=finding.attack,
        question=finding.question,
        tried=success.tried,
        share=success.share,
        low=success.low,
        high=success.high,
        control=None if control is None else control.share,
        verdict=finding.verdict,
    )
