"""All ways to generalize whole subtrees that meet k, to tell what no order of steps can reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import IntArray
from shoal.encoding import CodedTable
from shoal.kernels.global_recoding.tuple_index import number_tuples
from shoal.methods.base import Task
from shoal.methods.global_recoding.climbing import Climber, Move, make_climber
from shoal.methods.global_recoding.trees import release_codes

Nodes = frozenset[int]
"""The nodes that all their children are generalized to."""


@dataclass(frozen=True)
class WholeSubtrees:
    """The releases of one table at one k."""

    releases: int
    """How many there are; two that group the records alike are one."""
    complete: bool
    """Whether these are all."""
    least_error: float
    """The least share of the training records that are not of their group's most common class."""


def whole_subtrees(table: CodedTable, target: str, k: int, *, most: int = 2_000) -> WholeSubtrees:
    """Count the whole-subtree generalizations of ``table`` that meet k, up to ``most``, and find the best.

    All are found by taking back one step at a time from the roots of all hierarchies: what is more general than one
    that meets k meets it too, so each is reached through others that do.
    """
    climber = make_climber(table, Task(k=k), table.attributes[target], pruning=True)
    roots = {move.node: move for move in climber.climb_on(climber.climb()).moves}
    waiting, seen, errors = [Nodes(roots)], {Nodes(roots)}, dict[bytes, float]()
    while waiting and len(errors) < most:
        nodes = waiting.pop()
        label = _labels(climber, roots, nodes)
        errors[label.tobytes()] = _error(climber, label)
        for fewer in _finer(climber, nodes):
            if fewer not in seen and climber.meets(climber.cuts(_moves(roots, fewer))):
                seen.add(fewer)
                waiting.append(fewer)
    return WholeSubtrees(len(errors), not waiting, min(errors.values()))


def _finer(climber: Climber, nodes: Nodes) -> Iterator[Nodes]:
    """Yield what is left when one step that no other stands on is taken back."""
    return (nodes - {node} for node in sorted(nodes) if int(climber.forest.parent[node]) not in nodes)


def _moves(roots: dict[int, Move], nodes: Nodes) -> list[Move]:
    return [move for node, move in roots.items() if node in nodes]


def _labels(climber: Climber, roots: dict[int, Move], nodes: Nodes) -> IntArray:
    return number_tuples(release_codes(climber.fine.codes, climber.cuts(_moves(roots, nodes))))[0]


def _error(climber: Climber, label: IntArray) -> float:
    classes = climber.counts.shape[1]
    key = label.astype(np.int64) * classes + climber.fine.codes[-1]
    counts: Any = np.bincount(key, climber.fine.size, (int(label.max()) + 1) * classes).reshape(-1, classes)
    return float(1 - counts.max(axis=1).sum() / counts.sum())
