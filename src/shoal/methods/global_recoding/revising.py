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
    """Take back steps that the task is met without, the one that tells most first.

    What a step back tells is by how much it lowers ``lost``. A step can be taken back once no step above it stands on
    it. With ``partial`` single children are taken back too: they keep their own value while their siblings stay
    generalized. What fails once fails for good, because taking back only makes groups smaller. ``factor``
    multiplies what taking back a node tells; the columns ``held`` stay as they are.
    """
    moves = {move.node: move for move in climb.moves}
    open_undos = set(_undos(climber, moves, partial=partial, held=held))
    failed: set[_Undo] = set()
    cells = _merged_for_good(climber, moves, open_undos)
    # ends: each round takes a step back, of which there are finitely many, or finds none open
    while True:
        view = _View(climber, cells, moves, factor)
        barred = {undo for undo in open_undos if not view.possible(undo)}
        failed |= barred
        open_undos -= barred
        if not open_undos:
            return replace(climb, moves=list(moves.values()))
        if barred:
            cells = _merged_for_good(climber, moves, open_undos)
            view = _View(climber, cells, moves, factor)
        moves = _without(moves, max(open_undos, key=view.rank))
        open_undos = set(_undos(climber, moves, partial=partial, held=held)) - failed


def revise_twice(climber: Climber, climb: Climb, *, partial: bool, factor: FloatArray | None = None) -> Climb:
    """Revise a climb, and once more from the roots of all hierarchies; return what loses less.

    A climb that took a step too many on one column can keep the others from coming back. From the roots all columns
    compete: this is generalization turned round, into specialization.
    """
    near = revise(climber, climb, partial=partial, factor=factor)
    far = revise(climber, climber.climb_on(climb), partial=partial, factor=factor)
    return min(near, far, key=lambda one: lost(climber, one.moves))


def revise_in_turn(climber: Climber, climb: Climb, *, partial: bool) -> Climb:
    """Revise a climb, and try whether less is lost when some columns have to wait until the others are done.

    What is taken back first, because it tells most at that moment, can bar more that would have told more together. So
    each column still told from is held at its root until nothing else can be taken back; where that loses less, it
    stays held and the others are tried with it, until none helps. Ties go to the first column.
    """
    best = revise_twice(climber, climb, partial=partial)
    roots, held = climber.climb_on(climb), frozenset[int]()
    # ends: each round holds one more column
    while waiting := [row for row in _telling(climber, best) if row not in held]:
        tries = [_revise_held(climber, roots, held | {row}, partial=partial) for row in waiting]
        losses = [lost(climber, one.moves) for one in tries]
        place = int(np.argmin(losses))
        if losses[place] >= lost(climber, best.moves):
            break
        best, held = tries[place], held | {waiting[place]}
    return best


def _revise_held(climber: Climber, roots: Climb, held: frozenset[int], *, partial: bool) -> Climb:
    return revise(climber, revise(climber, roots, partial=partial, held=held), partial=partial)


def _telling(climber: Climber, climb: Climb) -> list[int]:
    """Return the columns of which a release still has more than one value."""
    released = release_codes(climber.cells.codes, climber.cuts(climb.moves))
    return [row for row, values in enumerate(released) if np.any(values != values[:1])]


def lost(climber: Climber, moves: Iterable[Move]) -> int:
    """Return how much a reader cannot tell any more, in whole units.

    With a class column: the entropy of the class among the records released alike, summed over the records. Without:
    the losses of the steps, summed over their records.
    """
    if climber.by_class:
        return _joint_entropy(climber, climber.fine, list(moves))
    return sum(_own_loss(climber, move) for move in moves)


def _joint_entropy(climber: Climber, cells: LeafTuples, moves: Iterable[Move]) -> int:
    label, first = number_tuples(release_codes(cells.codes, climber.cuts(list(moves))))
    return _untold(_class_counts(climber, cells, label, len(first)))


def _class_counts(climber: Climber, cells: LeafTuples, label: IntArray, groups: int) -> LongArray:
    classes = climber.counts.shape[1]
    key = label.astype(np.int64) * classes + cells.codes[-1]
    return np.bincount(key, cells.size, groups * classes).astype(np.int64).reshape(-1, classes)


def _untold(counts: LongArray) -> int:
    return int(np.rint((counts.sum(axis=1) * entropy(counts)).sum() * JOINT_UNIT))


class _View:
    """What taking back a step would do, from where a revision stands.

    A step back divides the groups there are by one column, so only that column and the group are looked at.
    """

    def __init__(self, climber: Climber, cells: LeafTuples, moves: dict[int, Move], factor: FloatArray | None) -> None:
        self.climber, self.cells, self.moves, self.factor = climber, cells, moves, factor
        self.label, first = number_tuples(release_codes(cells.codes, climber.cuts(list(moves.values()))))
        self.untold = _untold(_class_counts(climber, cells, self.label, len(first)))
        self.seen: dict[_Undo, tuple[int, int]] = {}

    def possible(self, undo: _Undo) -> bool:
        """Tell whether the task is still met."""
        climber = self.climber
        if not climber.allows(self._effect(undo)[0]):
            return False
        return not climber.task.requirements or climber.meets(climber.cuts(list(_without(self.moves, undo).values())))

    def rank(self, undo: _Undo) -> tuple[float, int, int, int]:
        """Order by what a step back tells, then by what its own column tells, then by place."""
        fewer = _without(self.moves, undo)
        own = _own_loss(self.climber, self.moves[undo.node])
        if undo.node in fewer:
            own -= _own_loss(self.climber, fewer[undo.node])
        told: float = own
        if self.climber.by_class:
            told = self.untold - self._effect(undo)[1]
        if self.factor is not None:
            told *= float(self.factor[undo.node])
        return told, own, -undo.child, -undo.node

    def _effect(self, undo: _Undo) -> tuple[int, int]:
        """Return how many records would be in groups below k, and what would be untold."""
        if undo not in self.seen:
            counts = self._divided(undo)
            sizes = counts.sum(axis=1)
            self.seen[undo] = int(sizes[sizes < self.climber.task.k].sum()), _untold(counts)
        return self.seen[undo]

    def _divided(self, undo: _Undo) -> LongArray:
        """Return the class counts of the groups afterwards."""
        column = self.climber.forest.column
        row = int(column[undo.node])
        own = [move for move in _without(self.moves, undo).values() if column[move.node] == row]
        value = release_codes(self.cells.codes[row : row + 1], self.climber.cuts(own)[row : row + 1])
        label, first = number_tuples(np.vstack([self.label, value]))
        return _class_counts(self.climber, self.cells, label, len(first))


def _own_loss(climber: Climber, move: Move) -> int:
    return climber.loss_of(move.node, move.moved) * climber.records_of(move.node, move.moved)


def _merged_for_good(climber: Climber, moves: dict[int, Move], open_undos: set[_Undo]) -> LeafTuples:
    """Join the tuples that no step back can tell apart any more, so that there are fewer to look at."""
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
    """Tell whether there is still something to take back; of two children neither goes alone."""
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
    moved = moves[undo.node].moved.copy()
    moved[undo.child] = False
    return {**moves, undo.node: replace(moves[undo.node], moved=moved)}
