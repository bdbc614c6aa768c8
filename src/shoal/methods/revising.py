"""Taking back generalizations that k does not need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shoal.typing import FloatArray

if TYPE_CHECKING:
    from shoal.methods.climbing import Climb, Climber, Move


class _Undo(NamedTuple):
    """Take back the generalization to a node, or of one child alone."""

    node: int
    child: int
    """The place of the child among its siblings; -1 for all of them."""


def revise(climber: Climber, climb: Climb, *, partial: bool, factor: FloatArray | None = None) -> Climb:
    """Take back steps that the task is met without, the one that tells most first.

    A step can be taken back once no step above it stands on it. With ``partial`` single children are taken back too:
    they keep their own value while their siblings stay generalized. What fails once fails for good, because taking
    back only makes groups smaller, so each step is tried once. ``factor`` multiplies what taking back a node tells.
    """
    moves = {move.node: move for move in climb.moves}
    failed: set[_Undo] = set()
    while True:
        undos = [undo for undo in _undos(climber, moves, partial=partial) if undo not in failed]
        if not undos:
            break
        undo = max(undos, key=lambda one: (_told(climber, moves, one, factor), -one.child, -one.node))
        fewer = _without(moves, undo)
        if climber.meets(climber.cuts(list(fewer.values()))):
            moves = fewer
        else:
            failed.add(undo)
    return climber.replay(list(moves.values()))


def _undos(climber: Climber, moves: dict[int, Move], *, partial: bool) -> list[_Undo]:
    """Return what can be taken back: steps whose node is not generalized further."""
    found = []
    for node, move in moves.items():
        if not _stands_free(climber, moves, node):
            continue
        found.append(_Undo(node, -1))
        if partial and move.moved.sum() > 2:
            found.extend(_Undo(node, int(child)) for child in np.flatnonzero(move.moved))
    return found


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


def _told(climber: Climber, moves: dict[int, Move], undo: _Undo, factor: FloatArray | None) -> float:
    """Return the information won back, in 2⁻³² bit times records."""
    told = _lost(climber, moves[undo.node])
    after = _without(moves, undo).get(undo.node)
    if after is not None:
        told -= _lost(climber, after)
    return told if factor is None else told * float(factor[undo.node])


def _lost(climber: Climber, move: Move) -> int:
    return climber.loss_of(move.node, move.moved) * climber.records_of(move.node, move.moved)
