"""The partition of a column's values with which a release loses least, for columns whose cells must be disjoint.

Candidates have growing numbers of parts: runs of about as many records each for numbers, dates and given orders, and cuts through a hierarchy,
the user's own or a learned one, for categories. A quick release with each says what the whole loses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import CancelToken, IntArray
from shoal.cells.disjoint import Disjoint, as_searched, in_parts
from shoal.cells.recode import range_text, set_text
from shoal.encoding import CodedColumn, CodedTable, text_meanings
from shoal.errors import ParameterError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy, value_text
from shoal.hierarchy.learnable import Learnable
from shoal.kernels.space.space import cover_groups
from shoal.learning.rounds import Wish, _sampled, learn_trees
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.metrics.base import Outcome
from shoal.metrics.loss import ncp
from shoal.plan.table import group_table

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
"""Numbers of parts that are tried."""
START = 8
"""The number of parts of a column until it is its turn."""
_NUMBER = re.compile(r"\d+(\.\d+)?")
_WORSE = 3
"""The search for the number of parts ends after so many that lose more than the best."""

Encoded = Callable[[Mapping[str, Any]], CodedTable]
Parts = list[list[int]]


class Partition(NamedTuple):
    """The parts of a column as a hierarchy of two levels: the parts below the root, their values below them."""

    tree: Hierarchy
    column: _Column


class _Choice(NamedTuple):
    """A column and its candidates, by their number of parts."""

    column: _Column
    candidates: dict[int, Hierarchy]


def find_partitions(
    cells: Mapping[str, Disjoint],
    choices: Mapping[str, Any],
    frame: Frame,
    encoded: Encoded,
    *,
    k: int,
    exact: bool = False,
    seed: int = 0,
    cancel: CancelToken | None = None,
) -> dict[str, Partition]:
    """Return for each column the parts that lose least; ranges of numbers end at round numbers unless ``exact``."""
    if not cells:
        return {}
    free = encoded({name: choice for name, choice in choices.items() if name not in cells or choice != "auto"})
    columns = {column.name: column for column in free.columns if column.name in cells}
    learned = _learned(columns, choices, encoded, k, seed, cancel)
    table, chosen = _sampled(free, k, seed)
    counts = {
        column.name: np.bincount(table.codes[row], minlength=column.cardinality)
        for row, column in enumerate(table.columns)
    }
    found = {}
    for name, coded in columns.items():
        column = _Column(coded, frame, exact)
        found[name] = _Choice(column, _candidates(column, counts[name], learned.get(name), cells[name].most))
    best = {
        name: one.candidates[min(one.candidates, key=lambda size: abs(size - START))] for name, one in found.items()
    }

    def loss(trees: Mapping[str, Hierarchy]) -> float:
        coded = encoded({**choices, **trees})
        coded = coded if chosen is None else coded.take(chosen)
        searched = as_searched(coded, cells)
        labels = group_table(Optimize(), searched, Task(k=k, effort="fast", seed=seed, cancel=cancel), (), ()).labels
        groups = int(labels.max(initial=-1)) + 1
        cover = in_parts(coded, cover_groups(coded.space, coded.codes, labels, groups), cells)
        return ncp(Outcome(coded, labels, cover, k))

    for name, one in found.items():
        best[name] = _least(one.candidates, partial(_with, loss, best, name))
    return {name: Partition(best[name], one.column) for name, one in found.items()}


def named_by_released(coded: CodedTable, labels: IntArray, partitions: Mapping[str, Partition]) -> dict[str, Hierarchy]:
    """Return the parts without the values that only withheld records have, named by the others: no cell shows a withheld value."""
    trees: dict[str, Hierarchy] = {}
    for column, codes in zip(coded.columns, coded.codes, strict=True):
        one = partitions.get(column.name)
        if one is not None and one.column.coded.hierarchy is None:  # labels of the user's own hierarchy are not values
            seen = np.unique(codes[labels >= 0])
            trees[column.name] = one.column.without(
                one.tree, {column.texts[code] for code in seen[seen < len(column.texts)]}
            )
    return trees


def _with(
    loss: Callable[[Mapping[str, Hierarchy]], float], best: Mapping[str, Hierarchy], name: str, tree: Hierarchy
) -> float:
    return loss({**best, name: tree})


def _least(candidates: Mapping[int, Hierarchy], loss: Callable[[Hierarchy], float]) -> Hierarchy:
    """Return the candidate that loses least; a few that lose more end the search."""
    tried: list[tuple[float, int]] = []
    for size in sorted(candidates):
        tried.append((loss(candidates[size]), size))
        if len(tried) - 1 - tried.index(min(tried)) >= _WORSE:
            break
    return candidates[min(tried)[1]]


def _learned(
    columns: Mapping[str, CodedColumn],
    choices: Mapping[str, Any],
    encoded: Encoded,
    k: int,
    seed: int,
    cancel: CancelToken | None,
) -> dict[str, Hierarchy]:
    """Return a learned hierarchy for each column of categories that has none and no order."""
    wanted = [
        Wish(name, Learnable(Hierarchy.flat(sorted(column.texts)), None))
        for name, column in columns.items()
        if column.hierarchy is None and not column.kind.ordered and len(column.values) > START
    ]
    if not wanted:
        return {}
    named = {wish.name for wish in wanted}
    others = {name: choice for name, choice in choices.items() if name not in named and choice != "auto"}
    return learn_trees(wanted, lambda trees: encoded({**others, **trees}), k=k, seed=seed, cancel=cancel)


# --- candidates --------------------------------------------------------------------------------------------------


class _Column:
    """A column and the counts of its values."""

    def __init__(self, coded: CodedColumn, frame: Frame, exact: bool) -> None:
        self.coded, self.exact, self.texts = coded, exact, coded.texts
        place = {text: code for code, text in enumerate(self.texts)}
        self.cells: list[list[str]] = [[] for _ in self.texts]
        """The texts of each value in the table: ``1.50`` and ``1.5`` are one number."""
        for text, meaning in text_meanings(frame, coded.name).items():
            code = place.get(str(value_text(meaning)) if coded.measured else text)
            if code is not None and text is not None:
                self.cells[code].append(text)

    def tree(self, parts: Sequence[tuple[str, list[int]]], alone: Iterable[str] = ()) -> Hierarchy:
        """Return the hierarchy of two levels: the parts and the texts ``alone`` below the root, the values of parts below them."""
        nested: dict[str, Any] = dict.fromkeys(alone)
        for label, part in parts:
            texts = [text for code in part for text in self.cells[code]]
            if label in texts and len(texts) > 1:  # one number in two writings: a label has one place
                nested[range_text(label, label)] = texts
            else:
                nested[label] = None if texts == [label] else texts
        return Hierarchy.from_dict({"*": nested})

    def without(self, tree: Hierarchy, released: Collection[str]) -> Hierarchy:
        """Return parts of the released texts alone; each other value is a part of its own, which no cell shows."""
        code = {text: code for code, texts in enumerate(self.cells) for text in texts}
        shown = {code[text] for text in released}
        leaves = [tree.leaves_below(label) for label in tree.children(tree.labels[tree.root])]
        parts = [list(dict.fromkeys(code[leaf] for leaf in part if code[leaf] in shown)) for part in leaves]
        alone = [text for one, texts in enumerate(self.cells) if one not in shown for text in texts]
        return self.tree(self.labelled([part for part in parts if part]), alone)

    def labelled(self, parts: Parts) -> list[tuple[str, list[int]]]:
        """Return parts with the labels of their cells: ranges of numbers and dates, sets of other values."""
        if not self.coded.measured:
            return [(_one_or_set([self.texts[code] for code in part]), part) for part in parts]
        ends = [(self.texts[part[0]], self.texts[part[-1]]) for part in parts]
        ends = ends if self.exact else round_parts(ends)
        return [
            (low if low == high else range_text(low, high), part) for (low, high), part in zip(ends, parts, strict=True)
        ]


def round_parts(ends: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return ranges of numbers that touch each other and end at round numbers; others as they are.

    Examples
    --------
    >>> round_parts([("17", "28"), ("29", "43"), ("44", "91")])
    [('10', '28'), ('29', '39'), ('40', '99')]
    """
    texts = [text for pair in ends for text in pair]
    if len(ends) < 2 or not all(_NUMBER.fullmatch(text) for text in texts):
        return list(ends)
    digits = max(len(text.partition(".")[2]) for text in texts)
    whole = [(round(float(low) * 10**digits), round(float(high) * 10**digits)) for low, high in ends]
    step = 10 ** max(int(np.log10(max((whole[-1][1] - whole[0][0]) / len(whole), 1))), 0)
    starts = [whole[0][0] // step * step]
    starts += [_roundest(before + 1, first) for (_, before), (first, _) in pairwise(whole)]
    lasts = [*(start - 1 for start in starts[1:]), (whole[-1][1] // step + 1) * step - 1]
    return [(_text(low, digits), _text(high, digits)) for low, high in zip(starts, lasts, strict=True)]


def _roundest(low: int, high: int) -> int:
    """Return the number from low to high that ends in most zeros."""
    power = 1
    while high // (10 * power) * 10 * power >= low and power <= abs(high):
        power *= 10
    return high // power * power


def _text(number: int, digits: int) -> str:
    return str(number) if not digits else f"{number / 10**digits:.{digits}f}"


def _candidates(column: _Column, counts: Any, learned: Hierarchy | None, most: int | None) -> dict[int, Hierarchy]:
    """Return hierarchies of two levels by their number of parts, at most ``most``."""
    coded, values = column.coded, len(column.texts)
    if values < 2:
        raise ParameterError(
            f"The cells of {coded.name!r} cannot be disjoint: the column has fewer than two values.",
            hint="leave it out of 'cells'.",
        )
    sizes = sorted({min(size, values) for size in (*SIZES, most or values) if size <= (most or size)})
    if coded.kind.ordered:
        made = [_runs(counts[:values], size) for size in sizes]
        return {len(parts): column.tree(column.labelled(parts)) for parts in made if len(parts) > 1}
    tree = coded.hierarchy or learned or Hierarchy.flat(sorted(column.texts))
    place = {text: code for code, text in enumerate(column.texts)}
    found = {
        len(cut): column.tree([(_label(column, tree, node, part), part) for node, part in cut])
        for cut in _cuts(tree, place, counts, sizes[-1])
        if len(cut) > 1
    }
    if not found:
        raise ParameterError(
            f"The values of {coded.name!r} cannot be parted into {sizes[-1]} or fewer cells by their hierarchy.",
            hint="allow more, or give a hierarchy with fewer nodes below its root.",
        )
    return found


def _runs(counts: Any, size: int) -> Parts:
    """Return runs of codes with about as many records each."""
    before = np.cumsum(counts) - counts / 2
    part = np.minimum((before / max(counts.sum(), 1) * size).astype(int), size - 1)
    return [np.flatnonzero(part == one).tolist() for one in np.unique(part)]


def _cuts(tree: Hierarchy, place: Mapping[str, int], counts: Any, most: int) -> list[list[tuple[int, list[int]]]]:
    """Return cuts through a hierarchy, each with one node more split: the one whose values and records cost most."""

    def codes(node: int) -> list[int]:
        leaves = tree.leaves[int(tree.low[node]) : int(tree.high[node]) + 1]
        return [place[leaf] for leaf in leaves if leaf in place]

    def below(node: int) -> list[tuple[int, list[int]]]:
        children = [tree.node(label) for label in tree.children(tree.labels[node])]
        return [(child, part) for child in children if (part := codes(child))]

    cut = [(tree.root, codes(tree.root))]
    cuts: list[list[tuple[int, list[int]]]] = []
    while True:  # ends: each round splits a node of a finite tree, or leaves
        ways = [(counts[part].sum() * (len(part) - 1), node, part) for node, part in cut if len(part) > 1]
        ways.sort(key=lambda way: -way[0])
        split = next(
            ((node, new) for _, node, _ in ways if len(new := below(node)) >= 1 and len(cut) - 1 + len(new) <= most),
            None,
        )
        if split is None:
            return cuts
        cut = [one for one in cut if one[0] != split[0]] + split[1]
        cuts.append(sorted(cut, key=lambda one: int(tree.low[one[0]])))


def _label(column: _Column, tree: Hierarchy, node: int, part: list[int]) -> str:
    """Return the text of a part: the label of the user's own hierarchy, or the set of its values."""
    own = column.coded.hierarchy is not None
    return tree.labels[node] if own else _one_or_set([column.texts[code] for code in part])


def _one_or_set(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else set_text(list(texts))
