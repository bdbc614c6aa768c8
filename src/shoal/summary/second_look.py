"""What to look at before a release is published: said in the report, on the command line and as warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa

from shoal.audit import Audit
from shoal.frames import Frame
from shoal.inspection import repeating_key
from shoal.recipe import Recipe
from shoal.summary.release import Release
from shoal.treatments import Treated, unique_values


def second_look(release: Release) -> Iterator[str]:
    """Say, a sentence or two each, what in this release calls for a second look."""
    names = release.released.column_names
    apart = release.source.select([name for name in release.source.names if name not in names])
    alone = partial(_alone_in, release.released)
    yield from things_to_look_at(
        release.recipe, release.audit, names, release.treated, apart, release.source.records, alone
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
    """Say what calls for a second look.

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
    for name, figures in audit.sensitive.items():
        if figures.get("l") == 1 and name in released:
            yield (
                f"In at least one group everybody has the same value of “{name}”, so the group gives it away without "
                "pointing at a person. Ask for l-diversity or t-closeness if this matters."
            )
    for name in (*recipe.sensitive, *recipe.keep):
        if name in released:
            yield from _values_alone(name, alone(name), treated.get(name))
    if recipe.pseudonymize:
        yield (
            f"{_listed(recipe.pseudonymize)} hold pseudonyms: whoever has the key, or another table with the same "
            "tokens, can tie rows to people. The release is pseudonymous there, not anonymous."
        )
    if recipe.release == "representatives":
        yield (
            "Each group is released as typical values. Somebody who knows all but one member of a group can compute "
            "the last one's numbers."
        )


def _repeated_people(recipe: Recipe, apart: Frame, records: int) -> Iterator[str]:
    """Say where people seem to have several records and nobody said whose they are."""
    key = repeating_key(apart, apart.names)
    if recipe.person is None and key is not None:
        looked_at = f"{apart.records:,} records" if apart.records == records else f"the first {apart.records:,} records"
        yield (
            f"“{key.name}” seems to name {key.distinct:,} people in {looked_at}, and no person column was "
            "named: groups count records, so a group may hold fewer people than k."
        )
    if recipe.person is not None and not recipe.together:
        yield (
            "People have several records, which may lie in groups of different people. Whoever can tell which released rows "
            "belong to one person finds fewer than k; keep the records of a person together if that can happen."
        )


def _values_alone(name: str, alone: int, treated: Treated | None) -> Iterator[str]:
    """Say how many values of a column point at one row."""
    if not alone:
        return
    if treated is not None:
        yield (
            f"“{name}” {treated.words}, and {alone:,} of its values still occur only once. "
            "Treat it more strongly or leave it out if somebody may know such a value."
        )
        return
    yield (
        f"“{name}” is released unchanged and {alone:,} of its values occur only once. Whoever knows such a value "
        "from elsewhere finds the person. Round it, group it or leave it out if that can happen."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
