"""Finding a person of whom several records are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.attacks.base import Finding, as_frame, choose_targets, rate, typed_table
from shoal.attacks.matching import Candidates
from shoal.attacks.row_owners import fitting_holders, numbered, released_owner
from shoal.hierarchy import Hierarchy
from shoal.validation import check_columns


def companions(
    original: Any,
    release: Any,
    on: Sequence[str],
    person: str,
    *,
    owner: pa.ChunkedArray | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    targets: int = 500,
    seed: int = 0,
) -> Finding:
    """Look for people of whom all records are known: count the people whose released records fit every one of them.

    The intruder is taken to know which released rows belong to one person, as from a pseudonym; without one it is harder.

    Parameters
    ----------
    original
        The steward's own rows.
    release
        What is to be published: a table or a ``Result``.
    on
        Quasi-identifiers the intruder knows.
    person
        Column that identifies the person a record belongs to.
    owner
        The person of each released row. Default: the column ``person`` of the release, or of the original if both have as many
        rows in the same order.
    hierarchies
        For columns released as nodes.
    targets
        At most this many people are looked for, drawn at random.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> import shoal
    >>> visits = {"nr": [1, 1, 2, 2, 3, 3, 4, 4], "age": [20, 21, 20, 21, 40, 41, 40, 41]}
    >>> result = shoal.anonymize(visits, k=2, quasi_identifiers=["age"], person="nr", method="mondrian")
    >>> shoal.attacks.companions(visits, result, ["age"], "nr").verdict
    'Nobody is named outright: an intruder who knows all records of a person is left with at least 2 people.'
    """
    own, published = as_frame(original), as_frame(release)
    columns = check_columns("known to the intruder", on, published.names)
    check_columns("the person column", [person], own.names)
    holder = numbered(released_owner(own, published, columns, person, hierarchies) if owner is None else owner)
    whose = numbered(own.table.column(person))
    chosen = choose_targets(int(whose.max(initial=-1)) + 1, targets, seed)
    rows = np.flatnonzero(np.isin(whose, chosen))
    wanted = typed_table(own, columns).take(pa.array(rows))
    fitting = fitting_holders(published.table, wanted, columns, holder, hierarchies)
    by_one, by_all = _candidates(fitting, whose[rows], chosen)
    named, fewest = by_all.named, by_all.fewest
    return Finding(
        attack="companions",
        question="Who is this person, of whom all records are known?",
        success=rate(by_all.right_guesses(), len(chosen)),
        control=rate(by_one.right_guesses(), len(chosen)),
        verdict=_verdict(len(named), fewest, len(chosen)),
        figures={
            "people": len(chosen),
            "named_outright": len(named),
            "fewest_candidates": fewest,
            "fewest_candidates_by_one_record": by_one.fewest,
        },
        examples=[int(np.flatnonzero(whose == one)[0]) for one in chosen[named[:5]]],
    )


def _candidates(fitting: Sequence[LongArray], whose: IntArray, chosen: LongArray) -> tuple[Candidates, Candidates]:
    """Return for each person the smallest number of people who fit one record, and the number who fit all records."""
    by_one, by_all = np.zeros(len(chosen), np.int64), np.zeros(len(chosen), np.int64)
    for place, one in enumerate(chosen.tolist()):
        known = [fitting[row] for row in np.flatnonzero(whose == one).tolist() if len(fitting[row])]
        if known:  # records that fit nothing were withheld
            by_one[place], by_all[place] = min(map(len, known)), len(reduce(np.intersect1d, known))
    return Candidates(by_one), Candidates(by_all)


def _verdict(named: int, fewest: int, tried: int) -> str:
    if named:
        return (
            f"{named:,} of {tried:,} people are the only ones who fit all their records; rows of one person must not be "
            "marked as belonging together, or must be kept with the same companions."
        )
    return f"Nobody is named outright: an intruder who knows all records of a person is left with at least {fewest:,} people."
