"""Taking back generalizations that k does not need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.kernels.tuple_index import number_tuples
from shoal.methods.information import entropy
from shoal.methods.trees import Cells, release_codes
from shoal.typing import FloatArray

if TYPE_CHECKING:
    from shoal.methods.climbing import Climb, Climber, Move

JOINT_UNIT = 2.0**20


class _Undo(NamedTuple):
    """Take back the generalization to a node, or of one child alone."""

    node: int
    child: int
    """The place of the child among its siblings; -1 for all of them."""


def revise(climber: Climber, climb: Climb, *, partial: bool, factor: FloatArray | None = None) -> Climb:
    """Take back steps that the task is met without, the one that tells most first.

    What a step back tells is by how much it lowers ``lost``. A step can be taken back once no step above it stands on
    it. With ``partial`` single children are taken back too: they keep their own value while their siblings stay
    generalized. What fails once fails for good, because taking back only makes groups smaller. ``factor``
    multiplies what taking back a node tells.
    """
    moves = {move.node: move for move in climb.moves}
    open_undos: set[_Undo] = set()
    failed: set[_Undo] = set()
    cells = climber.fine
    while True:
        fresh = {undo for undo in _undos(climber, moves, partial=partial) if undo not in open_undos | failed}
        barred = {undo for undo in fresh if not _possible(climber, moves, undo)}
        failed |= barred
        open_undos |= fresh - barred
        if not open_undos:
            return climber.replay(list(moves.values()))
        if barred:
            cells = _merged_for_good(climber, moves, open_undos)
        undo = max(open_undos, key=_Rank(climber, cells, moves, factor).of)
        open_undos.discard(undo)
        if _possible(climber, moves, undo):
            moves = _without(moves, undo)
            open_undos = {one for one in open_undos if _applies(moves, one)}
        else:
            failed.add(undo)


def revise_twice(climber: Climber, climb: Climb, *, partial: bool, factor: FloatArray | None = None) -> Climb:
    """Revise a climb, and once more from the roots of all hierarchies; return what loses less.

    A climb that took a step too many on one column can keep the others from coming back. From the roots all columns
    compete: this is generalization turned round, into specialization.
    """
    near = revise(climber, climb, partial=partial, factor=factor)
    far = revise(climber, climber.climb_on(climb), partial=partial, factor=factor)
    return min(near, far, key=lambda one: lost(climber, one.moves))


def lost(climber: Climber, moves: Iterable[Move]) -> int:
    """Return how much a reader cannot tell any more, in whole units.

    With a class column: the entropy of the class among the records released alike, summed over the records. Without:
    the losses of the steps, summed over their records.
    """
    if climber.by_class:
        return _joint_entropy(climber, climber.fine, list(moves))
    return sum(_own_loss(climber, move) for move in moves)


def _joint_entropy(climber: Climber, cells: Cells, moves: list[Move]) -> int:
    label, first = number_tuples(release_codes(cells.codes, climber.cuts(moves)))
    classes = climber.counts.shape[1]
    key = label.astype(np.int64) * classes + cells.codes[-1]
    counts = np.bincount(key, cells.size, len(first) * classes).astype(np.int64).reshape(-1, classes)
    return int(np.rint((counts.sum(axis=1) * entropy(counts)).sum() * JOINT_UNIT))


class _Rank:
    """Orders what can be taken back: by what it tells, then by what its own column tells, then by place."""

    def __init__(self, climber: Climber, cells: Cells, moves: dict[int, Move], factor: FloatArray | None) -> None:
        self.climber, self.cells, self.moves, self.factor = climber, cells, moves, factor
        self.before = _joint_entropy(climber, cells, list(moves.values())) if climber.by_class else 0

    def of(self, undo: _Undo) -> tuple[float, int, int, int]:
        fewer = _without(self.moves, undo)
        own = _own_loss(self.climber, self.moves[undo.node])
        if undo.node in fewer:
            own -= _own_loss(self.climber, fewer[undo.node])
        told: float = own
        if self.climber.by_class:
            told = self.before - _joint_entropy(self.climber, self.cells, list(fewer.values()))
        if self.factor is not None:
            told *= float(self.factor[undo.node])
        return told, own, -undo.child, -undo.node


def _own_loss(climber: Climber, move: Move) -> int:
    return climber.loss_of(move.node, move.moved) * climber.records_of(move.node, move.moved)


def _merged_for_good(climber: Climber, moves: dict[int, Move], open_undos: set[_Undo]) -> Cells:
    """Join the tuples that no step back can tell apart any more, so that there are fewer to look at."""
    open_nodes = {undo.node for undo in open_undos}
    stuck = [move for move in moves.values() if move.node not in open_nodes and _stands_free(climber, moves, move.node)]
    codes = np.vstack([release_codes(climber.fine.codes, climber.cuts(stuck)), climber.fine.codes[-1:]])
    label, first = number_tuples(codes)
    size = np.bincount(label, climber.fine.size).astype(np.int64)
    return Cells(np.ascontiguousarray(climber.fine.codes[:, first]), size, label)


def _possible(climber: Climber, moves: dict[int, Move], undo: _Undo) -> bool:
    return climber.meets(climber.cuts(list(_without(moves, undo).values())))


def _undos(climber: Climber, moves: dict[int, Move], *, partial: bool) -> list[_Undo]:
    """Return what can be taken back: steps whose node is not generalized further."""
    found = []
    for node, move in moves.items():
        if not _stands_free(climber, moves, node):
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
