"""What to look at before a release is published: said in the report, on the command line and as warnings."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.inspection import repeating_key
from shoal.summary.release import Release
from shoal.treatments import unique_values


def second_look(release: Release) -> Iterator[str]:
    """Say, a sentence or two each, what in this release calls for a second look."""
    yield from _repeated_people(release)
    for name, figures in release.audit.sensitive.items():
        if figures.get("l") == 1 and name in release.released.column_names:
            yield (
                f"In at least one group everybody has the same value of “{name}”, so the group gives it away without "
                "pointing at a person. Ask for l-diversity or t-closeness if this matters."
            )
    for name in (*release.recipe.sensitive, *release.recipe.keep):
        if name in release.released.column_names:
            yield from _values_alone(release, name)
    if release.recipe.pseudonymize:
        yield (
            f"{_listed(release.recipe.pseudonymize)} hold pseudonyms: whoever has the key, or another table with the same "
            "tokens, can tie rows to people. The release is pseudonymous there, not anonymous."
        )
    if release.representatives:
        yield (
            "Each group is released as typical values. Somebody who knows all but one member of a group can compute "
            "the last one's numbers."
        )


def _repeated_people(release: Release) -> Iterator[str]:
    """Say where people seem to have several records and nobody said whose they are."""
    key = repeating_key(
        release.source, [name for name in release.source.names if name not in release.released.column_names]
    )
    if release.recipe.person is None and key is not None:
        yield (
            f"“{key.name}” seems to name {key.distinct:,} people in {release.source.records:,} records, and no person column was "
            "named: groups count records, so a group may hold fewer people than k."
        )
    if release.recipe.person is not None and not release.recipe.together:
        yield (
            "People have several records, which may lie in groups of different people. Whoever can tell which released rows "
            "belong to one person finds fewer than k; keep the records of a person together if that can happen."
        )


def _values_alone(release: Release, name: str) -> Iterator[str]:
    """Say how many values of a column point at one row."""
    alone = unique_values(release.released.column(name))
    if not alone:
        return
    if name in release.treated:
        yield (
            f"“{name}” {release.treated[name].words}, and {alone:,} of its values still occur only once. "
            "Treat it more strongly or leave it out if somebody may know such a value."
        )
        return
    yield (
        f"“{name}” is released unchanged and {alone:,} of its values occur only once. Whoever knows such a value "
        "from elsewhere finds the person. Round it, group it or leave it out if that can happen."
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
