"""Learning a sensitive value without naming a row: homogeneity and skewness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.attacks.base import Finding, as_frame, choose_targets, rate, typed_table
from shoal.attacks.holders import fitting_holders, numbered, one_record_each, released_owner
from shoal.attacks.matching import covering_groups
from shoal.audit import column_codes, count_tuples
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import Tuples
from shoal.validation import check_columns

SUSPICION = 2.0
"""A belief counts as a suspicion where it is this many times that in the whole table."""


def homogeneity(
    original: Any,
    release: Any,
    on: Sequence[str],
    sensitive: str,
    *,
    person: str | None = None,
    owner: pa.ChunkedArray | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    targets: int = 2_000,
    seed: int = 0,
) -> Finding:
    """Guess people's sensitive value as the most frequent one among the released rows that fit them.

    The control guesses the most frequent value of the whole release for everybody. Where ``person`` is named, a value counts once for each
    person who bears it in a row that fits, and a guess is right if the person bears it in any record; ``owner`` says whose each released row
    is, by default as for ``linkage``.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> found = shoal.attacks.homogeneity(patients, result, known, "diagnosis")
    >>> found.success.share >= found.control.share
    True
    """
    own, published = as_frame(original), as_frame(release)
    columns = check_columns("known to the intruder", on, published.names)
    check_columns("sensitive", [sensitive], [name for name in published.names if name in own.names])
    together = pa.concat_tables(
        [pa.table({"s": one.table.column(sensitive).cast(pa.string())}) for one in (published, own)]
    )
    codes = column_codes(together, ["s"])[0]
    shown, truth = codes[: published.records], codes[published.records :]
    table = _Table(own, published, columns, shown, truth, int(codes.max(initial=0)) + 1, hierarchies)
    if person is None:
        return _judge(_belief_in_rows(table, targets, seed), sensitive)
    if owner is None:
        owner = released_owner(own, published, columns, person, hierarchies)
    return _judge(
        _belief_in_people(table, numbered(own.table.column(person)), numbered(owner), targets, seed), sensitive
    )


class _Table(NamedTuple):
    """The original and the release, with the sensitive value of each row as a code of both."""

    own: Frame
    published: Frame
    columns: Sequence[str]
    shown: IntArray
    truth: IntArray
    values: int
    hierarchies: Mapping[str, Hierarchy] | None

    def known(self, chosen: LongArray) -> pa.Table:
        """Return what the intruder knows of some of the original's records."""
        return typed_table(self.own, self.columns).take(pa.array(chosen))


class _Belief(NamedTuple):
    """What an intruder holds likely of each target, counted in rows or in people."""

    chosen: LongArray
    """The original's record of each target."""
    counts: FloatArray
    """Those that fit and have each value, (targets, values)."""
    candidates: FloatArray
    """Those that fit."""
    borne: BoolArray
    """Which values each target has, (targets, values)."""
    whole: LongArray
    """Those of the whole release with each value."""
    population: int
    """All of the release."""


def _belief_in_rows(table: _Table, targets: int, seed: int) -> _Belief:
    """Count the rows that fit each target and have each value."""
    chosen = choose_targets(table.own.records, targets, seed)
    released, columns = table.published.table, table.columns
    groups = count_tuples(released, columns)
    spread = _spread(groups, table.shown, table.values)
    count = np.zeros((len(chosen), table.values))
    for part, covered in covering_groups(released, groups, table.known(chosen), columns, table.hierarchies):
        count += covered.T.astype(np.float64) @ spread[part]
    borne = np.zeros(count.shape, np.bool_)
    borne[np.arange(len(chosen)), table.truth[chosen]] = True
    whole = np.bincount(table.shown, minlength=table.values)
    return _Belief(chosen, count, count.sum(axis=1), borne, whole, len(table.shown))


def _belief_in_people(table: _Table, whose: IntArray, holder: IntArray, targets: int, seed: int) -> _Belief:
    """Count the people who fit each target and bear each value; of each target one record is known."""
    chosen, values = one_record_each(whose, targets, seed), table.values
    pairs = holder.astype(np.int64) * values + table.shown
    fitting = fitting_holders(table.published.table, table.known(chosen), table.columns, pairs, table.hierarchies)
    count = np.array([np.bincount(each % values, minlength=values) for each in fitting], np.float64)
    people = np.array([len(np.unique(each // values)) for each in fitting], np.float64)
    borne = np.zeros((int(whose.max()) + 1, values), np.bool_)
    borne[whose, table.truth] = True
    whole = np.bincount(np.unique(pairs) % values, minlength=values)
    return _Belief(chosen, count, people, borne[whose[chosen]], whole, len(np.unique(holder)))


def _spread(groups: Tuples, shown: Any, values: int) -> FloatArray:
    """Return how often each value occurs in each group."""
    pairs = np.bincount(groups.label.astype(np.int64) * values + shown, minlength=len(groups.size) * values)
    return pairs.reshape(len(groups.size), values).astype(np.float64)


def _judge(seen: _Belief, sensitive: str) -> Finding:
    """Say how often the likeliest value is one that the target has."""
    borne, targets = seen.borne, np.arange(len(seen.borne))
    fits = seen.candidates > 0
    share = seen.counts / np.maximum(seen.candidates, 1)[:, None]
    right = fits & borne[targets, share.argmax(axis=1)]
    certain = fits & (share.max(axis=1) == 1.0)
    prior = seen.whole / max(seen.population, 1)
    likeliest = np.where(borne, share, -1.0).argmax(axis=1)  # of a target's values the one believed most
    belief_in_truth, prior_of_truth = share[targets, likeliest], prior[likeliest]
    gained = belief_in_truth >= SUSPICION * prior_of_truth
    control = int(borne[:, seen.whole.argmax()].sum())
    sure = int((certain & right).sum())
    return Finding(
        attack="homogeneity",
        question=f"What is this person's {sensitive}?",
        success=rate(int(right.sum()), len(borne)),
        control=rate(control, len(borne)),
        verdict=(
            f"For {sure:,} of {len(borne):,} people all that fit have the same {sensitive}; it is known without naming a row."
            if sure
            else f"Nobody's {sensitive} is certain; guesses are right for {int(right.sum()):,} of {len(borne):,} people."
        ),
        figures={
            "certain_and_right": sure,
            "guessed_rightly": int(right.sum()),
            "suspected": int((fits & gained).sum()),
            "mean_belief_in_truth": float(belief_in_truth.mean()) if len(borne) else 0.0,
            "mean_prior_of_truth": float(prior_of_truth.mean()) if len(borne) else 0.0,
        },
        examples=[int(row) for row in seen.chosen[certain & right][:5]],
    )
