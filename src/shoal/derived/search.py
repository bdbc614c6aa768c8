"""Columns that can be computed from the quasi-identifiers, with their formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from shoal.arrays import AnyArray, LongArray
from shoal.derived.categories import LookedUp, Sources
from shoal.derived.columns import Column, read_column
from shoal.derived.criteria import FEWEST
from shoal.derived.numeric import Formulas
from shoal.derived.trees import Trees
from shoal.frames import Frame

SAMPLE = 12_000
"""Records on which rules are found; more would change the share in its third digit."""
Kind = Literal["copy", "part", "formula", "map", "tree"]


@dataclass(frozen=True)
class Derived:
    """A column that quasi-identifiers give away."""

    column: str
    kind: Kind
    """``copy``, ``part`` (of a text), ``formula``, ``map`` or ``tree``."""
    sources: tuple[str, ...]
    """The quasi-identifiers it follows from."""
    formula: str
    share: float
    """For how many of the records in which both are known the formula gives the column."""
    within: float = 0.0
    """How far a computed number may be from the released one, because what it is computed from is rounded."""
    predicted: AnyArray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    """The result of the formula for each record looked at: a number or a text; NaN or None if there is none. Empty unless asked for."""

    @property
    def certain(self) -> bool:
        """Whether a formula or a map gives the column; what a tree predicts is only likely."""
        return self.kind != "tree"

    @property
    def words(self) -> str:
        """The formula and for how many records it holds, in one phrase."""
        about = "follows from" if self.kind == "tree" else "="
        return f"{self.column} {about} {self.formula}, for {100 * self.share:.1f} % of records"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, without a value of the table."""
        return {
            "column": self.column,
            "kind": self.kind,
            "sources": list(self.sources),
            "formula": self.formula,
            "share": self.share,
            "certain": self.certain,
        }


def find_derived(
    frame: Frame,
    known: Sequence[str],
    released: Sequence[str],
    *,
    person: str | None = None,
    rows: LongArray | None = None,
    predictions: bool = False,
    trees: bool = True,
    seed: int = 0,
) -> list[Derived]:
    """Return the columns among ``released`` that follow from the columns ``known``.

    Parameters
    ----------
    frame
        The table.
    known
        The quasi-identifiers.
    released
        The other columns that are released.
    person
        The column that identifies people: one record of each is looked at, because all records of a person share what is constant
        for the person, which no formula gives.
    rows
        The records to look at; by default a random sample.
    predictions
        Whether to return what each formula says of each record looked at. These are values of the table, so only an attack asks for them.
    trees
        Whether columns are named that a decision tree predicts although no formula gives them.
    seed
        Seed of the random numbers that draw the sample.
    """
    chosen = _sample(frame, person, seed) if rows is None else rows
    if len(chosen) < FEWEST or not released:
        return []
    sides = [one for name in known if (one := read_column(frame, name, chosen)) is not None]
    search = _Search(sides, len(chosen), trees=trees)
    targets = (read_column(frame, name, chosen) for name in released)
    every = [found for one in targets if one is not None and (found := search.explain(one)) is not None]
    return every if predictions else [replace(one, predicted=np.zeros(0)) for one in every]


def _sample(frame: Frame, person: str | None, seed: int) -> LongArray:
    """Return a random sample of the records, in random order, of each person at most one."""
    random = np.random.default_rng(seed)
    if person is not None and (whose := read_column(frame, person)) is not None:
        order = random.permutation(frame.records)
        first = np.sort(np.unique(whose.codes[order], return_index=True)[1])
        return np.asarray(order[first][:SAMPLE], np.int64)
    return np.asarray(random.permutation(frame.records)[:SAMPLE], np.int64)


class _Search:
    """All ways in which the known columns may give another, prepared once for all targets."""

    def __init__(self, sides: Sequence[Column], records: int, *, trees: bool) -> None:
        self.sources = Sources(sides)
        self.formulas = Formulas(sides, records)
        self.trees = Trees(sides, records) if trees else None

    def explain(self, column: Column) -> Derived | None:
        """Return what gives a column: a copy or a part before a formula, a formula before a map, and a tree last.

        A column of two values is a question with an answer: a map or a bound tells it better than a line that crosses one half.
        """
        if len(column.values) < 2:
            return None
        looked_up = list(self.sources.find(column))
        plain = next((one for one in looked_up if one.kind in ("copy", "part")), None)
        if plain is not None:
            return _of_codes(column, plain)
        number = len(column.values) > 2
        computed = self._computed(column) if number else None
        if computed is not None:
            return computed
        if looked_up:
            return _of_codes(column, max(looked_up, key=lambda one: one.share))
        banded = self.formulas.band(column)
        if banded is not None:
            texts = _texts(column, banded.predicted)
            return Derived(column.name, "map", banded.sources, banded.words, banded.share, predicted=texts)
        computed = None if number else self._computed(column)
        if computed is not None:
            return computed
        predicted = self.trees.predict(column) if self.trees is not None else None
        if predicted is not None:
            words = ", ".join(predicted.sources)
            return Derived(column.name, "tree", predicted.sources, words, predicted.share)
        return None

    def _computed(self, column: Column) -> Derived | None:
        found = self.formulas.compute(column)
        if found is None:
            return None
        return Derived(column.name, "formula", found.sources, found.words, found.share, found.within, found.predicted)


def _of_codes(column: Column, found: LookedUp) -> Derived:
    kind: Kind = found.kind  # type: ignore[assignment]
    texts = _texts(column, found.predicted)
    return Derived(column.name, kind, (found.source,), found.words, found.share, predicted=texts)


def _texts(column: Column, codes: AnyArray) -> AnyArray:
    """Return predicted values as text; None if nothing is predicted."""
    return np.array([*column.texts, None], object)[codes]
