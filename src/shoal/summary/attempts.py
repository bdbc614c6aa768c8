"""Attacks on the released rows, tried on the original's own people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shoal.attacks import Finding, homogeneity, linkage
from shoal.encoding import is_ordered
from shoal.summary.release import Release
from shoal.summary.schema import Attack

_PEOPLE = 2_000
_WORK = 200_000_000
"""People times groups that are compared; fewer people are tried where there are very many groups."""


def try_attacks(release: Release) -> list[Attack]:
    """Try to name people's rows, and to learn their sensitive values, from the released cells."""
    return [_plain(finding) for finding in _findings(release)] if _can_be_matched(release) else []


def _can_be_matched(release: Release) -> bool:
    """Tell whether released cells can be compared with the original's values as they stand.

    Representatives are no ranges; an order of the user's own, or numbers read from text, are not those of the type.
    """
    return (
        not release.representatives
        and release.released.num_rows > 0
        and all(
            column.kind != "interval" or (not column.ordinal and is_ordered(release.source.typed(column.name).type))
            for column in release.coded.columns
        )
    )


def _findings(release: Release) -> Iterator[Finding]:
    names = release.recipe.quasi_identifiers
    trees = {column.name: column.hierarchy for column in release.coded.columns if column.hierarchy is not None}
    targets = max(min(_PEOPLE, _WORK // max(release.audit.groups, 1)), 100)
    people: dict[str, Any] = {"hierarchies": trees, "targets": targets, "seed": release.recipe.seed}
    yield linkage(release.source, release.released, names, **people)
    for sensitive in release.recipe.sensitive:
        yield homogeneity(release.source, release.released, names, sensitive, **people)


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
