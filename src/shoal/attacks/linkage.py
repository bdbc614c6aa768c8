"""Linking a table with a list of named people, as an intruder who has both would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import LongArray
from shoal.attacks.base import Finding, as_frame, choose_targets, rate, typed_table
from shoal.attacks.matching import Candidates, exact_matches, find_candidates
from shoal.attacks.row_owners import fitting_holders, numbered, one_record_each, released_owner
from shoal.audit import column_codes
from shoal.encoding import value_texts
from shoal.errors import ColumnError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import check_columns


def linkage(
    original: Any,
    release: Any,
    on: Sequence[str],
    *,
    known: Any = None,
    person: str | None = None,
    owner: pa.ChunkedArray | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    targets: int = 10_000,
    seed: int = 0,
) -> Finding:
    """Try to name released rows: count for each person the rows that fit, one of which must be right.

    If ``person`` is named, people are counted: one record of each is known, and those of whom a row fits are the candidates.

    Parameters
    ----------
    original
        The steward's own rows.
    release
        What is to be published: a table or a ``Result``.
    on
        Quasi-identifiers the intruder knows.
    known
        A list of people; by default the intruder knows the quasi-identifiers of the original rows. Columns of ``on``
        that the list does not have are not known.
    person
        Column that identifies the person a record belongs to, if people have several records.
    owner
        The person of each released row. Default: the column ``person`` of the release, or of the original if the release is in its order.
    hierarchies
        For columns released as nodes.
    targets
        At most this many people are looked for, drawn at random.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> shoal.attacks.linkage(patients, result, known).success.share <= 0.2
    True
    """
    own, published = as_frame(original), as_frame(release)
    people = own if known is None else as_frame(known)
    columns = check_columns("known to the intruder", [name for name in on if name in people.names], published.names)
    if not columns:
        raise ColumnError("The list of people shares no column with what the intruder is said to know.")
    chosen = _targets(people, None if known is not None else person, targets, seed)
    wanted = typed_table(people, columns).take(pa.array(chosen))
    if person is None:
        candidates, everybody = find_candidates(published.table, wanted, columns, hierarchies), published.records
    else:
        holder = numbered(released_owner(own, published, columns, person, hierarchies) if owner is None else owner)
        fitting = fitting_holders(published.table, wanted, columns, holder, hierarchies)
        candidates, everybody = Candidates(np.array([len(each) for each in fitting], np.int64)), len(np.unique(holder))
    count = candidates.count
    present = np.ones(len(chosen), np.bool_)
    if known is not None:
        texts = [
            pa.table({name: value_texts(one.column(name).combine_chunks()) for name in columns})
            for one in (wanted, _once_each(own, columns, person))
        ]
        present = exact_matches(texts[0], texts[1], columns) >= 0
    named = candidates.named
    right = candidates.right_guesses(np.flatnonzero(present))
    return Finding(
        attack="linkage",
        question="Which released row is this person?" if person is None else "Who of those released is this person?",
        success=rate(right, len(chosen)),
        control=rate(float(present.sum()) / max(everybody, 1), len(chosen)),
        verdict=_verdict(
            len(named), candidates.fewest, len(chosen), "released row" if person is None else "released person"
        ),
        figures={
            "people": len(chosen),
            "in_the_table": int(present.sum()),
            "named_outright": len(named),
            "named_rightly": int((present & (count == 1)).sum()),
            "expected_correct": right,
            "fewest_candidates": candidates.fewest,
            "median_candidates": float(np.median(count[count > 0])) if (count > 0).any() else 0.0,
        },
        examples=[int(row) for row in chosen[named[:5]]],
        examples_in="original" if known is None else "known",
    )


def _once_each(own: Frame, columns: Sequence[str], person: str | None) -> pa.Table:
    """Return what is known of the original's records; of a person's equal records only one."""
    table = typed_table(own, columns)
    if person is None:
        return table
    same = distinct_tuples(np.vstack([numbered(own.table.column(person)), column_codes(table, columns)]))
    return table.take(pa.array(same.first))


def _targets(people: Frame, person: str | None, targets: int, seed: int) -> LongArray:
    """Return the records that are looked for: any, or one of each person."""
    if person is None:
        return choose_targets(people.records, targets, seed)
    check_columns("the person column", [person], people.names)
    return one_record_each(numbered(people.table.column(person)), targets, seed)


def _verdict(named: int, fewest: int, tried: int, what: str) -> str:
    if not fewest:
        return f"None of {tried:,} people fits any {what}."
    if named:
        return f"{named:,} of {tried:,} people fit exactly one {what} and are named outright."
    return f"Nobody is named outright: everyone who fits any {what.rsplit(maxsplit=1)[-1]} fits at least {fewest:,}."
