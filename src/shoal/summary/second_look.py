"""The points to check before publishing, shown in the report, on the command line and as warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa

from shoal.audit import Audit
from shoal.cells.counted import TOLD
from shoal.derived import Derived, Exposure, likely, warning
from shoal.frames import Frame
from shoal.inspection import repeating_key
from shoal.recipe import Recipe
from shoal.summary.release import Release
from shoal.treatments import Treated, unique_values

_SHOWN = 8
"""Columns that a sentence about several names."""


def second_look(release: Release) -> Iterator[str]:
    """Say, a sentence or two each, what in this release calls for a second look."""
    names = release.released.column_names
    apart = release.source.select([name for name in release.source.names if name not in names])
    alone = partial(_alone_in, release.released)
    yield from things_to_look_at(
        release.recipe, release.audit, names, release.treated, apart, release.source.records, alone
    )
    yield from computed_columns(release.derived, release.exposed, release.released.num_rows, release.recipe.k)
    if release.counts is not None:
        yield TOLD[release.counts.choice]


def computed_columns(derived: Sequence[Derived], exposed: Sequence[Exposure], records: int, k: int) -> Iterator[str]:
    """Yield which released columns follow from the quasi-identifiers and pick people out, and which are predicted by them."""
    for one in exposed:
        yield warning(one, records, k)
    predicted = [found for found in derived if not found.certain]
    if len(predicted) == 1:
        yield likely(predicted[0])
    elif predicted:
        listed = [f"“{found.column}” ({found.share:.0%})" for found in sorted(predicted, key=lambda one: -one.share)]
        yield (
            f"{len(predicted)} columns can be predicted from the quasi-identifiers, each by a decision tree. The share in brackets is how often it is right for records it has not seen: "
            f"{_some(listed, marked=True)}. Make them quasi-identifiers if that could matter."
        )


def _alone_in(released: pa.Table, name: str) -> int:
    return unique_values(released.column(name))


def things_to_look_at(
    recipe: Recipe,
    audit: Audit,
    released: Sequence[str],
    treated: Mapping[str, Treated],
    apart: Frame,
    records: int,
    alone: Callable[[str], int],
) -> Iterator[str]:
    """Yield the points to check before publishing.

    Parameters
    ----------
    recipe, audit, treated
        Those of the release.
    released
        The names of the released columns.
    apart
        The columns that are not released, or their first rows.
    records
        How many records the whole table has.
    alone
        How many values of a column occur only once.
    """
    yield from _repeated_people(recipe, apart, records)
    yield from _given_away(
        [name for name, found in audit.sensitive.items() if found.get("l") == 1 and name in released]
    )
    kept = [name for name in (*recipe.sensitive, *recipe.keep) if name in released]
    yield from _values_alone({name: count for name in kept if (count := alone(name))}, treated)
    if recipe.pseudonymize:
        yield (
            f"{_listed(recipe.pseudonymize)} hold pseudonyms: anyone who has the key, or another table with the same "
            "tokens, can tie rows to people. The release is pseudonymous there, not anonymous."
        )
    if recipe.release == "representatives":
        yield (
            "Each group is released as typical values. Somebody who knows all but one member of a group can compute "
            "the last one's numbers."
        )


def _repeated_people(recipe: Recipe, apart: Frame, records: int) -> Iterator[str]:
    """Warn if people seem to have several records but no person column is given."""
    key = repeating_key(apart, apart.names)
    if recipe.person is None and key is not None:
        looked_at = f"{apart.records:,} records" if apart.records == records else f"the first {apart.records:,} records"
        yield (
            f"“{key.name}” seems to name {key.distinct:,} people in {looked_at}, and no person column was "
            "named: groups count records, so a group may hold fewer people than k."
        )
    if recipe.person is not None and not recipe.together:
        yield (
            "People have several records, which may be in groups of different people. An intruder who can tell which released rows "
            "belong to one person finds fewer than k; keep the records of a person together if that can happen."
        )


def _given_away(names: Sequence[str]) -> Iterator[str]:
    """Warn about columns whose value a group gives away without pointing at a person."""
    if len(names) == 1:
        yield (
            f"In at least one group everybody has the same value of {_listed(names)}, so the group gives it away without "
            "pointing at a person. Ask for l-diversity or t-closeness if this matters."
        )
    elif names:
        yield (
            f"In at least one group everybody has the same value, for each of {len(names)} columns: {_some(names)}. Such a group gives the value away "
            "without pointing at a person. Ask for l-diversity or t-closeness if this matters."
        )


def _values_alone(alone: Mapping[str, int], treated: Mapping[str, Treated]) -> Iterator[str]:
    """Yield how many values of each column point at one row: a sentence for each that is treated, one for all others."""
    for name, count in alone.items():
        if name in treated:
            yield (
                f"“{name}” {treated[name].words}, and {count:,} of its values still occur only once. "
                "Treat it more strongly or leave it out if somebody may know such a value."
            )
    plain = {name: count for name, count in alone.items() if name not in treated}
    if len(plain) == 1:
        ((name, count),) = plain.items()
        yield (
            f"“{name}” is released unchanged and {count:,} of its values occur only once. Anyone who knows such a value "
            "from elsewhere finds the person. Round it, group it or leave it out if that can happen."
        )
    elif plain:
        most = sorted(plain, key=lambda name: -plain[name])
        counted = [f"“{name}” ({plain[name]:,})" for name in most]
        yield (
            f"{len(plain)} columns are released unchanged and have values that occur only once: {_some(counted, marked=True)}. Anyone who knows such a value "
            "from elsewhere finds the person. Round them, group them or leave them out if that can happen."
        )


def _some(names: Sequence[str], *, marked: bool = False) -> str:
    """Return the first names of a long list, and how many there are besides."""
    shown = ", ".join(names[:_SHOWN]) if marked else _listed(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
