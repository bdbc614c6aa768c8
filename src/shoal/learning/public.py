"""Trees learned for the columns of a table, to be looked at, changed and used in later releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.encoding import HierarchyChoice, KindChoice, encode, with_units
from shoal.errors import DataError, ParameterError
from shoal.frames import Frame, to_frame
from shoal.hierarchy import Hierarchy
from shoal.io.files import open_table
from shoal.learning.rounds import learn_trees, wishes
from shoal.validation import check_columns, check_int, check_names

_OWNER = "learn_hierarchies"


def learn_hierarchies(
    table: Any,
    *,
    k: int,
    quasi_identifiers: Sequence[str],
    columns: Sequence[str] | None = None,
    person: str | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | None = None,
    effort: str | float = "balanced",
    seed: int = 0,
) -> dict[str, Hierarchy]:
    """Learn hierarchies for the categories of a table from the data.

    Values that meet in the groups of a quick release with sets are placed near each other. Known groups (regions of countries) and orders (age bands, school levels)
    are kept unless free trees lose clearly less; orders always. Only quasi-identifiers are looked at. No value of fewer than ``k`` people has a place or a name of
    its own: the rare values of a column are one part, and which of them a person has changes nothing. A tree is made for one ``k``. Learn another tree for another ``k``.

    Parameters
    ----------
    table
        The table, or the path of a file.
    k
        The k of the release.
    quasi_identifiers
        All columns that an outsider may know: what the groups are made of.
    columns
        Those to learn a tree for; by default all with categories.
    person
        The column that identifies the person a record belongs to. People are then counted instead of records.
    kinds, hierarchies
        How the other columns are released, as in ``anonymize``.
    effort
        How many trees are tried: 3 for ``"fast"``, 5 for ``"balanced"``, 6 for ``"best"``.
    seed
        Same seed, same trees.

    Returns
    -------
    dict
        A ``Hierarchy`` for each column. Its ``reading`` says that it was learned.

    Examples
    --------
    >>> import shoal
    >>> people = {"colour": ["red", "crimson", "blue", "azure"] * 20, "pay": [10, 10, 90, 90] * 20}
    >>> trees = shoal.learn_hierarchies(people, k=15, quasi_identifiers=["colour", "pay"], effort="fast")
    >>> trees["colour"].children("*")
    ('azure, blue', 'crimson, red')
    """
    least = check_int(_OWNER, "k", k, least=2)
    names = check_names(_OWNER, "quasi_identifiers", quasi_identifiers)
    frame = _read(table)
    check_columns("quasi_identifiers", names, frame.names)
    asked = names if columns is None else check_names(_OWNER, "columns", columns)
    foreign = [name for name in asked if name not in names]
    if foreign:
        raise ParameterError(
            f"The 'columns' parameter of {_OWNER} must hold quasi-identifiers. Got {foreign[0]!r} instead.",
            hint="a tree is learned from the groups of the quasi-identifiers.",
        )
    if frame.records < least:
        raise DataError(
            f"The table has {frame.records} records, fewer than k = {least}. There is nothing to learn from."
        )
    given = {name: choice for name, choice in (hierarchies or {}).items() if name not in (columns or ())}
    settled = set(given) | set(kinds or {})
    wanted = wishes(frame, [name for name in asked if name not in settled])
    if not wanted:
        return {}
    return learn_trees(
        wanted,
        lambda trees: with_units(
            encode(frame, names, kinds=kinds, hierarchies={**given, **trees}), frame, {"person": person}
        ),
        k=least,
        effort=effort,
        seed=check_int(_OWNER, "seed", seed, least=0),
    )


def _read(table: Any) -> Frame:
    if isinstance(table, Frame):
        return table
    return open_table(table) if isinstance(table, (str, Path)) else to_frame(table)
