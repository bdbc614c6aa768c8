"""Which columns need a learned tree, and the rounds in which trees are tried: a quick release measures the loss of each."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import CancelToken, IntArray, LongArray
from shoal.encoding import CodedTable, text_meanings, value_texts
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.learnable import Learnable, learnable
from shoal.hierarchy.orders import run_name_of
from shoal.kernels.space.space import cover_groups
from shoal.knowledge import Reading
from shoal.learning.grow import Known, grow_tree
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.metrics.base import Outcome
from shoal.metrics.loss import ncp
from shoal.plan.contents import in_sample
from shoal.plan.table import group_table

LEARNED = "learned from the data: values that meet in the groups of a quick release are together"
MOST_RECORDS = 50_000
"""Records of a larger table that are looked at, chosen by what they hold."""
ROUNDS = {"fast": 3, "balanced": 5, "best": 6}
"""Trees that are tried at each effort; efforts in seconds try as many as ``balanced``."""
PREFERENCE = 0.01
"""Trees that keep known groups are taken unless free ones lose less by more than this share."""


@dataclass(frozen=True)
class Wish:
    """A column that is to get a tree, and what is known of its values."""

    name: str
    known: Learnable

    def without_groups(self) -> Wish:
        """Return the wish for a tree that need not keep known groups; an order is kept always."""
        tree = self.known.tree
        if tree.height < 2:
            return self
        return Wish(self.name, Learnable(Hierarchy.flat(sorted(tree.leaves)), None))


def wishes(frame: Frame, columns: Iterable[str], codes: Container[str] = ()) -> list[Wish]:
    """Return the columns, of those whose hierarchy is chosen automatically, for which there is something to learn.

    ``codes`` are columns whose numbers are codes.
    """
    found = ((name, learnable(text_meanings(frame, name, codes=name in codes), name)) for name in columns)
    return [Wish(name, known) for name, known in found if known is not None]


@dataclass(frozen=True)
class Trial:
    """Trees for all wishes, and what a quick release with them loses."""

    loss: float
    trees: dict[str, Hierarchy]


def learn_trees(
    wanted: Sequence[Wish],
    encoded: Callable[[Mapping[str, Any]], CodedTable],
    *,
    k: int,
    effort: str | float = "fast",
    seed: int = 0,
    cancel: CancelToken | None = None,
) -> dict[str, Hierarchy]:
    """Return a tree for each wish, learned together.

    ``encoded`` codes the table, with these choices for the columns that have a wish. Values that meet in the groups of a release with sets come
    first; then the groups of each release with trees are added, and the trees that lose least are kept.
    """
    whole = encoded({wish.name: "set" for wish in wanted})
    people = {wish.name: _people_of(whole, wish.name) for wish in wanted}
    table, chosen = _sampled(whole, k, seed)
    task = Task(k=k, effort="fast", seed=seed, cancel=cancel)
    start = _group(table, task)

    def tried(ways: Sequence[Wish]) -> Trial:
        groups, trials = [start], []
        for _ in range(ROUNDS.get(str(effort), ROUNDS["balanced"])):
            trees = {wish.name: _grow(wish, table, k, people[wish.name], groups) for wish in ways}
            coded = encoded(trees)
            coded = coded if chosen is None else coded.take(chosen)
            groups.append(_group(coded, task))
            trials.append(Trial(_loss(coded, groups[-1], k), trees))
        return min(trials, key=lambda trial: trial.loss)

    best = tried(wanted)
    free = [wish.without_groups() for wish in wanted]
    if any(one is not other for one, other in zip(free, wanted, strict=True)):
        freely = tried(free)
        best = freely if freely.loss < (1 - PREFERENCE) * best.loss else best
    return best.trees


def _sampled(table: CodedTable, k: int, seed: int) -> tuple[CodedTable, LongArray | None]:
    """Return the part of a large table that is looked at, and its records."""
    if table.records <= MOST_RECORDS:
        return table, None
    chosen = np.flatnonzero(in_sample(table, seed, MOST_RECORDS / table.records))
    if len(chosen) < max(2 * k, MOST_RECORDS // 10):  # nearly all records have the same values
        chosen = np.arange(MOST_RECORDS)
    return table.take(chosen), chosen


def _group(table: CodedTable, task: Task) -> IntArray:
    return group_table(Optimize(), replace(table, attributes={}, units={}), task).labels


def _loss(table: CodedTable, labels: IntArray, k: int) -> float:
    cover = cover_groups(table.space, table.codes, labels, int(labels.max(initial=-1)) + 1)
    return ncp(Outcome(table, labels, cover, k))


def _people_of(table: CodedTable, name: str) -> Callable[[Sequence[str]], int]:
    """Return how many people have one of some values of a column."""
    row = table.names.index(name)
    place = {text: code for code, text in enumerate(table.columns[row].texts)}
    codes, person = table.codes[row], table.units.get("person")
    if person is None:
        count = np.bincount(codes, minlength=len(place)).tolist()
        return lambda values: sum(count[place[value]] for value in values if value in place)
    pairs = np.unique(np.stack([codes, person]), axis=1)
    return lambda values: len(
        np.unique(pairs[1][np.isin(pairs[0], [place[value] for value in values if value in place])])
    )


def _leaf_of(table: CodedTable, wish: Wish) -> LongArray:
    """Return the leaf of each code of a column coded as a set; the missing value comes after all leaves."""
    column = table.columns[table.names.index(wish.name)]
    leaves = wish.known.tree.leaf_codes(value_texts(column.values).to_pylist())
    return np.append(leaves, wish.known.tree.n_leaves).astype(np.int64)


def _grow(
    wish: Wish, table: CodedTable, k: int, people: Callable[[Sequence[str]], int], groups: Sequence[IntArray]
) -> Hierarchy:
    row = table.names.index(wish.name)
    leaf = _leaf_of(table, wish)[table.codes[row]].astype(np.int32)
    tree = wish.known.tree
    records = np.bincount(leaf, minlength=tree.n_leaves + 1)
    reading = wish.known.reading
    run_name = run_name_of(reading) if reading is not None and reading.order else None
    leaves = np.array(tree.leaves, object)
    counted = lambda codes: people(leaves[codes].tolist())  # noqa: E731
    made = grow_tree(Known(tree, run_name), k, counted, records, groups, leaf)
    return replace(made, reading=_told(reading, made))


def _told(reading: Reading | None, tree: Hierarchy) -> Reading:
    """Return what the leaves were recognized as, and that the rest of the tree was learned."""
    if reading is None:
        groups = {leaf: tree.path(leaf)[1:-1] for leaf in tree.leaves}
        return Reading(LEARNED, groups, learned=True)
    return replace(reading, what=f"{reading.what}; {LEARNED}", learned=True)
