"""Learning a sensitive value without naming a row: homogeneity and skewness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.attacks.base import Finding, as_frame, choose_targets, rate, typed_table
from shoal.attacks.matching import covering_groups
from shoal.attacks.row_owners import fitting_holders, numbered, one_record_each, released_owner
from shoal.audit import column_codes, count_tuples
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.validation import check_columns

SUSPICION = 2.0
"""A belief counts as a suspicion if it is this many times that in the whole table."""


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

    The control guesses the most frequent value of the whole release for everybody. If ``person`` is named, a value counts once for each
    person who has it in a row that fits, and a guess is right if the person has it in any record; ``owner`` is the person of each released
    row, by default as for ``linkage``.

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
    together = pa.concat_tables([pa.table({"s": one.plain(sensitive).cast(pa.string())}) for one in (published, own)])
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


class _Guess(NamedTuple):
    """What an intruder holds likely of one target, counted in rows or in people."""

    value: LongArray
    """The values of those that fit, in rising order."""
    times: LongArray
    """Those that fit and have each value."""
    candidates: int
    """Those that fit."""
    borne: LongArray
    """The values that the target has, in rising order."""

    @property
    def likeliest(self) -> int:
        """The place of the value guessed; some value fits."""
        return int(self.times.argmax())

    @property
    def right(self) -> bool:
        """Whether the likeliest value is one that the target has."""
        return self.candidates > 0 and bool(np.isin(self.value[self.likeliest], self.borne))

    @property
    def certain(self) -> bool:
        """Whether all that fit have one value."""
        return self.candidates > 0 and int(self.times[self.likeliest]) == self.candidates

    def belief_in_truth(self) -> tuple[float, int]:
        """Return how likely the target's values are held, the one believed most, and which that is."""
        place = np.minimum(np.searchsorted(self.value, self.borne), max(len(self.value) - 1, 0))
        fits = self.value[place] == self.borne if len(self.value) else np.zeros(len(self.borne), np.bool_)
        count = np.where(fits, self.times[place], 0) if len(self.value) else np.zeros(len(self.borne), np.int64)
        most = int(count.argmax())
        return float(count[most]) / max(self.candidates, 1), int(self.borne[most])


class _Belief(NamedTuple):
    """What an intruder believes about all targets: only values that occur, because a table of targets × values could be too large."""

    chosen: LongArray
    """The original's record of each target."""
    guesses: list[_Guess]
    whole: LongArray
    """Those of the whole release with each value."""
    population: int
    """All of the release."""


def _belief_in_rows(table: _Table, targets: int, seed: int) -> _Belief:
    """Count the rows that fit each target and have each value."""
    chosen = choose_targets(table.own.records, targets, seed)
    released, columns = table.published.table, table.columns
    groups = count_tuples(released, columns)
    pair, held = np.unique(groups.label.astype(np.int64) * table.values + table.shown, return_counts=True)
    value, ends = pair % table.values, np.searchsorted(pair // table.values, np.arange(len(groups.size) + 1))
    fitting: list[list[slice]] = [[] for _ in chosen]
    for part, covered in covering_groups(released, groups, table.known(chosen), columns, table.hierarchies):
        for target, group in zip(*(place.tolist() for place in np.nonzero(covered.T)), strict=True):
            fitting[target].append(slice(ends[part.start + group], ends[part.start + group + 1]))
    guesses = []
    for target, slices in zip(chosen, fitting, strict=True):
        values, place = np.unique(np.concatenate([value[:0], *(value[one] for one in slices)]), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, place.reshape(-1), np.concatenate([held[:0], *(held[one] for one in slices)]))
        guesses.append(_Guess(values, counts, int(counts.sum()), table.truth[target : target + 1].astype(np.int64)))
    return _Belief(chosen, guesses, np.bincount(table.shown, minlength=table.values), len(table.shown))


def _belief_in_people(table: _Table, whose: IntArray, holder: IntArray, targets: int, seed: int) -> _Belief:
    """Count the people who fit each target and have each value; one record of each target is known."""
    chosen, values = one_record_each(whose, targets, seed), table.values
    pairs = holder.astype(np.int64) * values + table.shown
    fitting = fitting_holders(table.published.table, table.known(chosen), table.columns, pairs, table.hierarchies)
    bearing = np.unique(whose.astype(np.int64) * values + table.truth)
    guesses = []
    for target, each in zip(chosen, fitting, strict=True):
        value, count = np.unique(each % values, return_counts=True)
        begin, end = np.searchsorted(bearing, (int(whose[target]) * values, (int(whose[target]) + 1) * values))
        guesses.append(_Guess(value, count, len(np.unique(each // values)), bearing[begin:end] % values))
    whole = np.bincount(np.unique(pairs) % values, minlength=values)
    return _Belief(chosen, guesses, whole, len(np.unique(holder)))


def _judge(seen: _Belief, sensitive: str) -> Finding:
    """Return how often the likeliest value is one that the target has."""
    guesses, prior = seen.guesses, seen.whole / max(seen.population, 1)
    fits = np.array([guess.candidates > 0 for guess in guesses], np.bool_)
    right = np.array([guess.right for guess in guesses], np.bool_)
    certain = np.array([guess.certain for guess in guesses], np.bool_)
    truths = [guess.belief_in_truth() for guess in guesses]
    belief_in_truth = np.array([belief for belief, _ in truths], np.float64)
    prior_of_truth = prior[np.array([value for _, value in truths], np.int64)]
    gained = belief_in_truth >= SUSPICION * prior_of_truth
    control = sum(int(np.isin(seen.whole.argmax(), guess.borne)) for guess in guesses)
    sure = int((certain & right).sum())
    return Finding(
        attack="homogeneity",
        question=f"What is this person's {sensitive}?",
        success=rate(int(right.sum()), len(guesses)),
        control=rate(control, len(guesses)),
        verdict=(
            f"For {sure:,} of {len(guesses):,} people all that fit have the same {sensitive}; it is known without naming a row."
            if sure
            else f"Nobody's {sensitive} is certain; guesses are right for {int(right.sum()):,} of {len(guesses):,} people."
        ),
        figures={
            "certain_and_right": sure,
            "guessed_rightly": int(right.sum()),
            "suspected": int((fits & gained).sum()),
            "mean_belief_in_truth": float(belief_in_truth.mean()) if len(guesses) else 0.0,
            "mean_prior_of_truth": float(prior_of_truth.mean()) if len(guesses) else 0.0,
        },
        examples=[int(row) for row in seen.chosen[certain & right][:5]],
    )
