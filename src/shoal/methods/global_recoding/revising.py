"""Taking back generalizations that k does not need."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.kernels.global_recoding.tuple_index import number_tuples
from shoal.methods.global_recoding.information import entropy
from shoal.methods.global_recoding.trees import LeafTuples, release_codes

if TYPE_CHECKING:
    from shoal.methods.global_recoding.climbing import Climb, Climber, Move

JOINT_UNIT = 2.0**20


class _Undo(NamedTuple):
    """Take back the generalization to a node, or of one child alone."""

    node: int
    child: int
    """The place of the child among its siblings; -1 for all of them."""


def revise(
    climber: Climber, climb: Climb, *, partial: bool, factor: FloatArray | None = None, held: Collection[int] = ()
) -> Climb:
    """Take back steps that the task is met without, the one that regains most information first.

    A step back regains what it lowers ``information_lost`` by. A step can be taken back once its node is not generalized
    further. With ``partial`` single children are taken back too: they keep their own value while their siblings stay
    generalized. What fails once fails for good, because taking back only makes groups smaller. ``factor``
    multiplies what taking back a node regains; the columns ``held`` stay as they are.
    """
    moves = {move.node: move for move in climb.moves}
    open_undos = set(_undos(climber, moves, partial=partial, held=held))
    failed: set[_Undo] = set()
    base = _merged_for_good(climber, moves, open_undos)
    # ends: each round takes a step back, of which there are finitely many, or finds none that can be
    while open_undos:
        climber.task.progress(1.0, "taking steps back")
        view = _View(climber, base, moves, factor)
        barred, chosen = view.first_possible(open_undos)
        if chosen is None:
            break
        moves = _without(moves, chosen)
        failed |= barred
        open_undos = set(_undos(climber, moves, partial=partial, held=held)) - failed
        if barred:
            base = _merged_for_good(climber, moves, open_undos)
    return replace(climb, moves=list(moves.values()))


def revise_twice(climber: Climber, climb: Climb, *, partial: bool, factor: FloatArray | None = None) -> Climb:
    """Revise a climb, and once more from the roots of all hierarchies; return what loses less.

    A climb that took a step too many on one column can keep the others from coming back. From the roots all columns
    compete: this is generalization turned round, into specialization.
    """
    near = revise(climber, climb, partial=partial, factor=factor)
    far = revise(climber, climber.climb_on(climb), partial=partial, factor=factor)
    return min(near, far, key=lambda one: information_lost(climber, one.moves))


def revise_in_turn(climber: Climber, climb: Climb, *, partial: bool) -> Climb:
    """Revise a climb, and try whether less is lost when some columns have to wait until the others are done.

    The step back that regains most at one moment can bar others that would have regained more together. So each column
    that is still released with several values is held at its root until nothing else can be taken back; if that loses
    less, it stays held and the others are tried with it, until none helps. Ties go to the first column.
    """
    best = revise_twice(climber, climb, partial=partial)
    roots, held = climber.climb_on(climb), frozenset[int]()
    # ends: each round holds one more column
    while waiting := [row for row in _varied_columns(climber, best) if row not in held]:
        tries = [_revise_held(climber, roots, held | {row}, partial=partial) for row in waiting]
        losses = [information_lost(climber, one.moves) for one in tries]
        place = int(np.argmin(losses))
        if losses[place] >= information_lost(climber, best.moves):
            break
        best, held = tries[place], held | {waiting[place]}
    return best


def _revise_held(climber: Climber, roots: Climb, held: frozenset[int], *, partial: bool) -> Climb:
    return revise(climber, revise(climber, roots, partial=partial, held=held), partial=partial)


def _varied_columns(climber: Climber, climb: Climb) -> list[int]:
    """Return the columns of which a release still has more than one value."""
    released = release_codes(climber.base.codes, climber.cuts(climb.moves))
    return [row for row, values in enumerate(released) if np.any(values != values[:1])]


def information_lost(climber: Climber, moves: Iterable[Move]) -> int:
    """Return the information lost by a climb, in whole units.

    With a class column: the entropy of the class among the records released alike, summed over the records. Without:
    the losses of the steps, summed over their records.
    """
    if climber.by_class:
        return _joint_entropy(climber, climber.fine, list(moves))
    return sum(_own_loss(climber, move) for move in moves)


def _joint_entropy(climber: Climber, base: LeafTuples, moves: Iterable[Move]) -> int:
    label, first = number_tuples(release_codes(base.codes, climber.cuts(list(moves))))
    return _class_entropy(_class_counts(climber, base, label, len(first)))


def _class_counts(
    climber: Climber, base: LeafTuples, label: IntArray, groups: int, chosen: LongArray | slice = slice(None)
) -> LongArray:
    """Return how many records of each class each group has; ``label`` is the group of each of the ``chosen`` tuples."""
    classes = climber.counts.shape[1]
    key = label.astype(np.int64) * classes + base.codes[-1, chosen]
    return np.bincount(key, base.size[chosen], groups * classes).astype(np.int64).reshape(-1, classes)


def _class_entropy(counts: LongArray) -> int:
    """Return the entropy of the rows of ``counts`` times their records; each in whole units, so that parts add up exactly."""
    return int(np.rint(counts.sum(axis=1) * entropy(counts) * JOINT_UNIT).astype(np.int64).sum())


class _View:
    """What taking back a step would do, from where a revision is.

    A step back divides the groups of the records below one node and leaves all others as they are, so only these
    records are read.
    """

    def __init__(self, climber: Climber, base: LeafTuples, moves: dict[int, Move], factor: FloatArray | None) -> None:
        self.climber, self.base, self.moves, self.factor = climber, base, moves, factor
        self.label, first = number_tuples(release_codes(base.codes, climber.cuts(list(moves.values()))))
        self.counts = _class_counts(climber, base, self.label, len(first))
        self.small, self.entropy_left = self._small(self.counts), _class_entropy(self.counts)
        self.effects: dict[_Undo, tuple[int, int]] = {}
        self.own_gains: dict[tuple[int, bytes], int] = {}
        self.sorted: dict[int, tuple[LongArray, IntArray]] = {}

    def first_possible(self, undos: set[_Undo]) -> tuple[set[_Undo], _Undo | None]:
        """Return the step back of highest rank that the task is met without, and those found to fail on the way."""
        barred = set[_Undo]()
        if self.climber.by_class:  # ranks need the effects anyway, and these show at once what leaves too many below k
            barred = {undo for undo in undos if not self.climber.allows(self._effect(undo)[0])}
        for undo in sorted(undos - barred, key=self.rank, reverse=True):
            if self.possible(undo):
                return barred, undo
            barred.add(undo)
        return barred, None

    def possible(self, undo: _Undo) -> bool:
        """Return whether the task is still met."""
        climber = self.climber
        if not climber.allows(self._effect(undo)[0]):
            return False
        return not climber.task.requirements or climber.meets(climber.cuts(list(_without(self.moves, undo).values())))

    def rank(self, undo: _Undo) -> tuple[float, int, int, int]:
        """Order by what a step back regains in all, then by what it regains in its own column, then by place."""
        own = self._own_gain(undo)
        gain: float = own
        if self.climber.by_class:
            gain = self.entropy_left - self._effect(undo)[1]
        if self.factor is not None:
            gain *= float(self.factor[undo.node])
        return gain, own, -undo.child, -undo.node

    def _own_gain(self, undo: _Undo) -> int:
        """Return by how much a step back lowers the loss of its own generalization."""
        move = self.moves[undo.node]
        # children with equal counts lower it equally, and a wide hierarchy has many of those
        like = b"" if undo.child < 0 else self.climber.counts[self.climber.children(undo.node)[undo.child]].tobytes()
        if (undo.node, like) not in self.own_gains:
            left = 0 if undo.child < 0 else _own_loss(self.climber, _less_child(move, undo.child))
            self.own_gains[undo.node, like] = _own_loss(self.climber, move) - left
        return self.own_gains[undo.node, like]

    def _effect(self, undo: _Undo) -> tuple[int, int]:
        """Return how many records would be in groups below k, and the entropy of the class that would be left."""
        if undo not in self.effects:
            taken, made, left = self._divided(undo)
            small = self.small - self._small(taken) + self._small(made) + self._small(left)
            self.effects[undo] = (
                small,
                self.entropy_left - _class_entropy(taken) + _class_entropy(made) + _class_entropy(left),
            )
        return self.effects[undo]

    def _small(self, counts: LongArray) -> int:
        sizes = counts.sum(axis=1)
        return int(sizes[sizes < self.climber.task.k].sum())

    def _divided(self, undo: _Undo) -> tuple[LongArray, LongArray, LongArray]:
        """Return the class counts of the groups that lose records, of those that these make, and of what stays behind."""
        climber, forest = self.climber, self.climber.forest
        node = undo.node if undo.child < 0 else int(climber.children(undo.node)[undo.child])
        row, low, high = int(forest.column[node]), int(forest.low[node]), int(forest.high[node])
        inside = [
            move
            for move in self.moves.values()
            if forest.column[move.node] == row
            and low <= forest.low[move.node]
            and forest.high[move.node] <= high
            and move.node != undo.node
        ]
        below = self._below(row, low, high)
        value = release_codes(self.base.codes[row : row + 1, below], [climber.cut(row, inside)])
        label, first = number_tuples(np.vstack([self.label[below], value]))
        made = _class_counts(climber, self.base, label, len(first), below)
        old, place = np.unique(self.label[below][first], return_inverse=True)
        taken = self.counts[old]
        left = taken.copy()
        np.subtract.at(left, place, made)
        return taken, made, left

    def _below(self, row: int, low: int, high: int) -> LongArray:
        """Return the tuples whose code in column ``row`` is from ``low`` to ``high``."""
        if row not in self.sorted:
            order = np.argsort(self.base.codes[row], kind="stable")
            self.sorted[row] = order, self.base.codes[row][order]
        order, codes = self.sorted[row]
        return order[np.searchsorted(codes, low) : np.searchsorted(codes, high, side="right")]


def _own_loss(climber: Climber, move: Move) -> int:
    return climber.loss_of(move.node, move.moved) * climber.records_of(move.node, move.moved)


def _merged_for_good(climber: Climber, moves: dict[int, Move], open_undos: set[_Undo]) -> LeafTuples:
    """Join the tuples that no step back can separate any more, so that there are fewer to read."""
    open_nodes = {undo.node for undo in open_undos}
    stuck = [move for move in moves.values() if move.node not in open_nodes and _stands_free(climber, moves, move.node)]
    codes = np.vstack([release_codes(climber.fine.codes, climber.cuts(stuck)), climber.fine.codes[-1:]])
    label, first = number_tuples(codes)
    size = np.bincount(label, climber.fine.size).astype(np.int64)
    return LeafTuples(np.ascontiguousarray(climber.fine.codes[:, first]), size, label)


def _undos(climber: Climber, moves: dict[int, Move], *, partial: bool, held: Collection[int]) -> list[_Undo]:
    """Return what can be taken back: steps of columns not held whose node is not generalized further."""
    found = []
    for node, move in moves.items():
        if climber.forest.column[node] in held or not _stands_free(climber, moves, node):
            continue
        found.append(_Undo(node, -1))
        if partial:
            found.extend(_Undo(node, int(child)) for child in np.flatnonzero(move.moved))
    return [undo for undo in found if _applies(moves, undo)]


def _applies(moves: dict[int, Move], undo: _Undo) -> bool:
    """Return whether there is still something to take back; of two children neither goes alone."""
    if undo.node not in moves:
        return False
    moved = moves[undo.node].moved
    return undo.child < 0 or bool(moved[undo.child] and moved.sum() > 2)


def _stands_free(climber: Climber, moves: dict[int, Move], node: int) -> bool:
    above = int(climber.forest.parent[node])
    if above not in moves:
        return True
    return not moves[above].moved[np.flatnonzero(climber.children(above) == node)[0]]


def _without(moves: dict[int, Move], undo: _Undo) -> dict[int, Move]:
    if undo.child < 0:
        return {node: move for node, move in moves.items() if node != undo.node}
    return {**moves, undo.node: _less_child(moves[undo.node], undo.child)}


def _less_child(move: Move, child: int) -> Move:
    """Return the same generalization without the child at this place."""
    moved = move.moved.copy()
    moved[child] = False
    return replace(move, moved=moved)
