"""Cells wider than their groups need, so that a cell no longer shows how narrow it could be.

If every cell is as narrow as its group allows, a range has a record at each end and a node was only taken because
no child of it holds the whole group; an intruder can go by that (Wong et al. 2007, "minimality"; Cohen 2022,
"downcoding"). Here some cells are released wider without need, so that the conclusion is often wrong:

- for every cell that had to be a certain node, or a set of so many values, or a range of two neighbouring values,
  ``share`` cells one step below it are released so as well;
- a wider range is drawn out at each end by a random number of values, up to ``share`` of its width.

Exact cells are needed as decoys: were only wide cells drawn out, the narrowest of them would be known to be tight.
The random numbers follow from the seed and the table, so that a recipe makes the same release again, and
an intruder who knows only the recipe cannot draw them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, IntArray, LongArray, WordArray
from shoal.enforcement.neighbours import join_boxes, number_boxes
from shoal.methods.global_recoding.trees import ValueTree, tree_of
from shoal.privacy.base import Shown, failing_groups

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.kernels.space.space import Cover
    from shoal.privacy.base import Requirement

_HALF = 0.5
_ROUNDS = 8
_DRAWS = 64
"""How often a value is drawn for a set before only those it lacks are looked at."""


def widen_where_models_hold(
    table: CodedTable, labels: IntArray, cover: Cover, share: float, seed: int, requirements: Sequence[Requirement]
) -> Cover:
    """Widen cells, but not those of groups that would then fail a model: with the people who fit them, or because they are released alike."""
    wider = widen(table, cover, share, seed)
    for _ in range(_ROUNDS if requirements else 0):
        alike = number_boxes(wider)
        joined = np.append(alike, np.int32(-1))[labels]
        shown = Shown(table.space, join_boxes(wider, alike))
        failing = failing_groups(requirements, joined, shown.cover.size.shape[0], shown)
        back = failing[alike]
        if not back.any():
            return wider
        wider.low[:, back], wider.high[:, back], wider.words[back] = (
            cover.low[:, back],
            cover.high[:, back],
            cover.words[back],
        )
    return cover if requirements else wider


def widen(table: CodedTable, cover: Cover, share: float, seed: int) -> Cover:
    """Return the boxes with some cells wider than their groups need."""
    wider = cover._replace(low=cover.low.copy(), high=cover.high.copy(), words=cover.words.copy())
    codes = np.ascontiguousarray(table.codes[:, np.lexsort(table.codes[::-1])])  # whatever the order of rows
    random = np.random.default_rng([seed, *hashlib.sha256(codes.tobytes()).digest()])
    for row, column in enumerate(table.columns):
        if column.kind.ordered:
            _widen_ranges(table, wider, row, share, random)
        elif column.hierarchy is not None:
            _widen_nodes(table, wider, row, share, random)
        else:
            _widen_sets(table, wider, row, share, random)
    return wider


def _choose_decoys(tight: LongArray, reached: LongArray, share: float, random: np.random.Generator) -> BoolArray:
    """Choose groups to be released one step wider: for each form, ``share`` as many as must have it.

    ``tight`` is the form each group must have, ``reached`` the one it would have a step wider (-1: none).
    """
    wanted = np.rint(share * np.bincount(tight, minlength=int(reached.max(initial=0)) + 1)).astype(np.int64)
    order = random.permutation(len(reached))
    order = order[np.argsort(reached[order], kind="stable")]
    rank = np.arange(len(order)) - np.searchsorted(reached[order], reached[order])
    chosen = np.zeros(len(reached), np.bool_)
    chosen[order] = (reached[order] >= 0) & (rank < wanted[reached[order]])
    return chosen


def _widen_ranges(table: CodedTable, cover: Cover, row: int, share: float, random: np.random.Generator) -> None:
    low, high = cover.low[row].astype(np.int64), cover.high[row].astype(np.int64)
    last = len(table.columns[row].values) - 1
    if last < 1:
        return
    decoy = _choose_decoys(high - low, np.where((low == high) & (high <= last), 1, -1), share, random)
    downwards = ((random.random(len(low)) < _HALF) & (low > 0)) | (low == last)
    wide = (low < high) & (high <= last)  # a range that holds missing values is * already
    below, above = _furthest(table, row, low, high, share)
    cover.low[row] = random.integers(np.where(wide, below, low), low, endpoint=True) - (decoy & downwards)
    cover.high[row] = random.integers(high, np.where(wide, above, high), endpoint=True) + (decoy & ~downwards)


def _furthest(
    table: CodedTable, row: int, low: LongArray, high: LongArray, share: float
) -> tuple[LongArray, LongArray]:
    """Return the codes up to which ranges may be drawn out: ``share`` of their width, but at least one value."""
    column = table.columns[row]
    assert column.position is not None  # noqa: S101
    last = len(column.values) - 1
    begin, end = column.position[np.minimum(low, last)], column.position[np.minimum(high, last)]
    reach = share * (end - begin)
    below = np.searchsorted(column.position, begin - reach)
    above = np.searchsorted(column.position, end + reach, side="right") - 1
    return np.minimum(below, np.maximum(low - 1, 0)), np.maximum(above, np.minimum(high + 1, last))


def _widen_nodes(table: CodedTable, cover: Cover, row: int, share: float, random: np.random.Generator) -> None:
    tree = tree_of(table, row)
    node = _lowest_nodes(tree, cover.low[row], cover.high[row])
    above = tree.parent[node]
    # ends: each round goes one level up, and a root is its own parent
    while True:  # a parent with a single child is never shown
        same = (tree.low[above] == tree.low[node]) & (tree.high[above] == tree.high[node])
        if np.array_equal(tree.parent[above[same]], above[same]):
            break
        above = np.where(same, tree.parent[above], above)
    decoy = _choose_decoys(node.astype(np.int64), np.where(same, -1, above).astype(np.int64), share, random)
    cover.low[row] = np.where(decoy, tree.low[above], cover.low[row])
    cover.high[row] = np.where(decoy, tree.high[above], cover.high[row])


def _lowest_nodes(tree: ValueTree, low: IntArray, high: IntArray) -> IntArray:
    """Return the lowest node around each range of leaves."""
    node = low.copy()
    # ends: each round goes one level up, and the root covers every range
    while (tree.high[node] < high).any():
        node = np.where(tree.high[node] < high, tree.parent[node], node)
    return node


def _widen_sets(table: CodedTable, cover: Cover, row: int, share: float, random: np.random.Generator) -> None:
    first, last = table.space.word_start[row], table.space.word_start[row + 1]
    words, values = cover.words[:, first:last], len(table.columns[row].values)
    held = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little").sum(
        axis=1, dtype=np.int64
    )
    open_sets = (cover.high[row] < values) & (held < values)
    decoy = _choose_decoys(held, np.where(open_sets, held + 1, -1), share, random)
    waiting = np.flatnonzero(decoy)
    for turn in range(_DRAWS + 1):  # draw again if the group has the value already
        if not len(waiting):
            break
        if (
            turn == _DRAWS
        ):  # each set that holds nearly all values draws only among the missing ones, so that the loop ends
            code = np.array([random.choice(_absent(words[group], values)) for group in waiting], np.int64)
        else:
            code = random.integers(0, values, len(waiting))
        word, bit = code >> 6, np.uint64(1) << (code & 63).astype(np.uint64)
        new = (words[waiting, word] & bit) == 0
        words[waiting[new], word[new]] |= bit[new]
        cover.low[row, waiting[new]] = np.minimum(cover.low[row, waiting[new]], code[new])
        cover.high[row, waiting[new]] = np.maximum(cover.high[row, waiting[new]], code[new])
        waiting = waiting[~new]


def _absent(words: WordArray, values: int) -> LongArray:
    """Return the codes of the values that a set lacks."""
    held = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")[:values]
    return np.flatnonzero(held == 0)
