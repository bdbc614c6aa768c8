"""The steps of Bottom-Up Generalization, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray, LongArray
from shoal.kernels.global_recoding.bug import (
    anonymity,
    choose,
    generalize,
    small_records,
)
from shoal.kernels.global_recoding.tuple_index import (
    Forest,
    Scratch,
    TupleIndex,
    build_index,
    make_scratch,
    number_tuples,
)
from shoal.methods.global_recoding.information import UNIT, Metric, by_value, information_loss, split_numbers
from shoal.methods.global_recoding.trees import (
    LeafTuples,
    ValueTree,
    allowed_records,
    join_trees,
    judge_cut,
    leaf_tuples,
    release_codes,
    release_tuples,
    require_hierarchy,
    tree_of,
    without_last_row,
)

if TYPE_CHECKING:
    from shoal.encoding import CodedAttribute, CodedColumn, CodedTable
    from shoal.kernels.space.space import Space
    from shoal.methods.base import Task


@dataclass(frozen=True)
class Step:
    """One generalization that was taken."""

    column: str
    value: str
    """What is released from here on."""
    joined: tuple[str, ...]
    """The values it replaces."""
    loss: float
    """Information lost, in bits a record (the paper's I; a column of less than the largest weight counts less)."""
    gain: int
    """Records by which the smallest tuple grew, up to k (the paper's P)."""
    anonymity: int
    """Size of the smallest tuple afterwards, at most k."""
    tried: int
    """How many generalizations were tried out to find this one."""
    row: int
    """The number of the column."""
    low: int
    """The lowest and ..."""
    high: int
    """... the highest code released as the value."""
    ranges: tuple[tuple[int, int], ...]
    """The codes, from .. to, it is released for."""
    node: int
    """The number of its node in the column's hierarchy."""


@dataclass(frozen=True)
class Move:
    """A generalization of the ``moved`` children to ``node``."""

    node: int
    moved: BoolArray
    tried: int = 0
    loss: float = 0.0
    before: int = 0
    after: int = 0


@dataclass
class Climb:
    """A sequence of generalizations."""

    moves: list[Move] = field(default_factory=list)
    reached: bool = False


@dataclass
class _State:
    """The state of a climb."""

    index: TupleIndex
    open_nodes: BoolArray
    waiting: LongArray
    """How many children of a node still have values below them."""
    loss: FloatArray


@dataclass(frozen=True)
class Climber:
    """Everything a climb starts from."""

    forest: Forest
    base: LeafTuples
    fine: LeafTuples
    """The base tuples divided further by class, the last row of their codes."""
    counts: LongArray
    """Class counts of the records below each node; one class if there is no class column."""
    loss: FloatArray
    """Loss of each node as a whole multiple of 2⁻³² bit."""
    weight: FloatArray
    by_class: bool
    """Whether a release is judged by the entropy of the class among records released alike; else by the losses of its steps."""
    measure: Metric
    """What joining values loses."""
    pruning: bool
    columns: tuple[CodedColumn, ...]
    space: Space
    task: Task
    scratch: Scratch

    def climb(self, factor: FloatArray | None = None) -> Climb:
        """Generalize until the task is met; ``factor`` multiplies the loss of each node."""
        state = self._start(factor)
        climb = Climb()
        first = max(small_records(state.index), 1)
        # ends: each step replaces nodes by their parent, and there is no step left at the roots
        while not self._enough(state, climb):
            if not self._step(state, climb):
                return climb
            self.task.progress(1 - small_records(state.index) / first, "generalizing")
        climb.reached = True
        return climb

    def climb_on(self, climb: Climb) -> Climb:
        """Go on to the roots of all hierarchies, the step of least loss first."""
        state, further = self._start(None), Climb(reached=climb.reached)
        for move in climb.moves:
            self._take(state, further, move)
        # ends: each step replaces nodes by their parent, and there is no step left at the roots
        while self._step(state, further):
            pass
        return further

    def replay(self, moves: Sequence[Move]) -> Climb:
        """Take the steps ``moves`` from the start, whatever they lead to."""
        state, climb = self._start(None), Climb()
        for move in moves:
            self._take(state, climb, move)
        climb.reached = self._enough(state, climb)
        return climb

    def cuts(self, moves: Sequence[Move]) -> tuple[IntArray, ...]:
        """Return what each code is released as once ``moves`` are taken."""
        own: list[list[Move]] = [[] for _ in self.columns]
        for move in moves:
            own[self.forest.column[move.node]].append(move)
        return tuple(self.cut(row, moves) for row, moves in enumerate(own))

    def cut(self, row: int, moves: Sequence[Move]) -> IntArray:
        """Return what each code of column ``row`` is released as once ``moves``, all of that column, are taken."""
        (cut,) = whole_cuts([self.columns[row].cardinality])
        low, high, first = self.forest.low, self.forest.high, int(self.forest.start[row])
        for move in moves:
            for child in self.children(move.node)[move.moved]:
                released = [[low[move.node]], [high[move.node]], [move.node - first]]
                cut[:, low[child] : high[child] + 1] = released
        return cut

    def describe(self, climb: Climb) -> tuple[Step, ...]:
        """Return the steps in words and codes."""
        return tuple(self._describe(move) for move in climb.moves)

    def children(self, node: int) -> IntArray:
        """Return the nodes right below ``node``."""
        return self.forest.child[self.forest.child_start[node] : self.forest.child_start[node + 1]]

    def loss_of(self, node: int, moved: BoolArray) -> int:
        """Return the information lost, in 2⁻³² bit, by generalizing only some children."""
        if moved.all():
            return int(self.loss[node])
        lost = self.measure(self.counts[self.children(node)[moved]]) * self.weight[self.forest.column[node]]
        return int(np.rint(lost * UNIT))

    def records_of(self, node: int, moved: BoolArray) -> int:
        """Return the number of records below the children generalized."""
        return int(self.counts[self.children(node)[moved]].sum())

    def _start(self, factor: FloatArray | None) -> _State:
        forest = self.forest
        records = self.counts.sum(axis=1)
        inner = np.diff(forest.child_start) > 0
        below = np.flatnonzero(inner & (records > 0) & (forest.parent >= 0))
        waiting = np.bincount(forest.parent[below], minlength=len(inner)).astype(np.int64)
        index = build_index(forest, self.base.codes, self.base.size, self.task.k)
        loss = self.loss if factor is None else self.loss * factor
        return _State(index, inner & (records > 0) & (waiting == 0), waiting, loss)

    def _enough(self, state: _State, climb: Climb) -> bool:
        if not self.allows(small_records(state.index)):
            return False
        return not self.task.requirements or self.meets(self.cuts(climb.moves))

    def allows(self, withheld: int) -> bool:
        """Return whether so many records may be withheld."""
        return withheld <= allowed_records(len(self.base.label), self.task)

    def meets(self, cuts: Sequence[IntArray]) -> bool:
        """Return whether few enough records would have to be withheld."""
        sizes = np.bincount(number_tuples(release_codes(self.base.codes, cuts))[0], self.base.size)
        if not self.allows(int(sizes[sizes < self.task.k].sum())):
            return False
        if not self.task.requirements:
            return True
        released = release_tuples(self.base, cuts)
        verdict = judge_cut(released, self.space, self.task)
        return not verdict.left_out and self.allows(int(released.size[verdict.failing].sum()))

    def _step(self, state: _State, climb: Climb) -> bool:
        """Take the best step; False if none is left."""
        choice = choose(state.index, self.forest, self.scratch, state.open_nodes, state.loss, self.pruning)
        if choice.node < 0:
            return False
        moved = np.ones(len(self.children(choice.node)), np.bool_)
        self._take(state, climb, Move(choice.node, moved, choice.tried))
        return True

    def _take(self, state: _State, climb: Climb, move: Move) -> None:
        before = anonymity(state.index)
        generalize(state.index, self.forest, move.node, move.moved)
        loss = self.loss_of(move.node, move.moved)
        climb.moves.append(replace(move, loss=loss / UNIT, before=before, after=anonymity(state.index)))
        state.open_nodes[move.node] = False
        above = int(self.forest.parent[move.node])
        if above >= 0:
            state.waiting[above] -= 1
            state.open_nodes[above] = state.waiting[above] == 0

    def _describe(self, move: Move) -> Step:
        forest, row = self.forest, int(self.forest.column[move.node])
        column = self.columns[row]
        joined = self.children(move.node)[move.moved]
        return Step(
            column=column.name,
            value=self._label(row, move.node),
            joined=tuple(self._label(row, int(child)) for child in joined),
            loss=float(move.loss),
            gain=move.after - move.before,
            anonymity=move.after,
            tried=move.tried,
            row=row,
            low=int(forest.low[move.node]),
            high=int(forest.high[move.node]),
            ranges=tuple((int(forest.low[child]), int(forest.high[child])) for child in joined),
            node=int(move.node - forest.start[row]),
        )

    def _label(self, row: int, node: int) -> str:
        column = self.columns[row]
        low, high = int(self.forest.low[node]), int(self.forest.high[node])
        if column.hierarchy is not None:
            return column.node_labels[node - int(self.forest.start[row])]
        if low == high:
            return column.texts[low] if low != column.missing else ""
        return "*" if high == column.missing else f"{column.texts[low]} to {column.texts[high]}"


def whole_cuts(cardinalities: Sequence[int]) -> tuple[IntArray, ...]:
    """Return cuts that release every code as itself."""
    return tuple(np.vstack([np.arange(codes, dtype=np.int32)] * 3) for codes in cardinalities)


def cuts_after(steps: Sequence[Step], cardinalities: Sequence[int]) -> tuple[IntArray, ...]:
    """Return the lowest and highest code released for each code once ``steps`` were taken, and their node, (3, codes) a column."""
    cuts = whole_cuts(cardinalities)
    for step in steps:
        for first, last in step.ranges:
            cuts[step.row][:, first : last + 1] = [[step.low], [step.high], [step.node]]
    return cuts


def make_climber(
    table: CodedTable, task: Task, classes: CodedAttribute | None, *, pruning: bool, metric: Metric = information_loss
) -> Climber:
    """Group the records and measure every generalization, once."""
    for column in table.columns:
        if not column.kind.ordered:
            require_hierarchy(column, "bug")
    target = np.zeros(table.records, np.int32) if classes is None else classes.codes
    fine = leaf_tuples(np.vstack([table.codes, target[None, :]]))
    by_class = classes is not None
    leaf_counts = [_leaf_counts(fine, row, column) for row, column in enumerate(table.columns)]
    forest = join_trees([_tree(table, row, counts, by_class) for row, counts in enumerate(leaf_counts)])
    counts = _node_counts(forest, leaf_counts)
    weight = table.weights / table.weights.max()
    measure = metric if by_class else by_value(metric)
    base = without_last_row(fine)
    return Climber(
        forest=forest,
        base=base,
        fine=fine,
        counts=counts,
        loss=_losses(forest, counts, weight, measure),
        weight=weight,
        by_class=by_class and metric is information_loss,
        measure=measure,
        pruning=pruning,
        columns=table.columns,
        space=table.space,
        task=task,
        scratch=make_scratch(len(base.size)),
    )


def _tree(table: CodedTable, row: int, counts: LongArray, by_class: bool) -> ValueTree:
    column = table.columns[row]
    if column.hierarchy is not None:
        return tree_of(table, row)
    return split_numbers(counts, has_missing=column.has_missing, by_class=by_class)


def _leaf_counts(fine: LeafTuples, row: int, column: CodedColumn) -> LongArray:
    """Return the class counts of each code of a column, from tuples whose last code is the class."""
    classes = int(fine.codes[-1].max(initial=0)) + 1
    key = fine.codes[row].astype(np.int64) * classes + fine.codes[-1]
    return np.bincount(key, fine.size, column.cardinality * classes).astype(np.int64).reshape(-1, classes)


def _node_counts(forest: Forest, leaf_counts: Sequence[LongArray]) -> LongArray:
    """Return the class counts of the records below each node."""
    parts = []
    for row, counts in enumerate(leaf_counts):
        own = slice(int(forest.start[row]), int(forest.start[row + 1]))
        running = np.vstack([np.zeros((1, counts.shape[1]), np.int64), counts.cumsum(axis=0)])
        parts.append(running[forest.high[own] + 1] - running[forest.low[own]])
    return np.vstack(parts)


def _losses(forest: Forest, counts: LongArray, weight: FloatArray, measure: Metric) -> FloatArray:
    """Return the loss of generalizing all children of each node, in 2⁻³² bit; 0 for leaves."""
    loss = np.zeros(len(forest.parent))
    for node in np.flatnonzero(np.diff(forest.child_start)).tolist():
        children = forest.child[forest.child_start[node] : forest.child_start[node + 1]]
        loss[node] = measure(counts[children]) * weight[forest.column[node]]
    return np.asarray(np.rint(loss * UNIT), np.float64)
