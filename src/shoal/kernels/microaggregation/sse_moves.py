"""Moves of single records and swaps of two between groups, judged by the sum of squares.

Moving a record x from a group of a records with mean p to one of b records with mean q changes the sum of
squares by b/(b+1)·|x-q|² - a/(a-1)·|x-p|². Swapping x for y changes it by 2(y-x)·(q-p) - |y-x|²(1/a + 1/b). Both cost one pass
over the columns, whatever the sizes of the groups. Groups keep k to ``room`` records.

A step is taken only if the loss falls by more than these formulas can be wrong by. Each step then lowers the true
loss, no grouping comes twice, and the descent ends; without that, a swap of two equal records may look like a gain for ever.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel

_ROUNDING = 8.0 * np.finfo(np.float64).eps
"""What a product of two numbers, and the few sums and divisions around it, can be wrong by, as a share of it."""


class Groups(NamedTuple):
    """A grouping that is being improved."""

    label: IntArray
    size: IntArray
    member: IntArray
    """The records of each group, (groups, room); the first ``size`` count."""
    slot: IntArray
    """The place of a record among its group's members."""
    mean: FloatArray
    """(groups, m)."""


@kernel()
def collect_groups(matrix: FloatArray, labels: IntArray, groups: int, room: int) -> Groups:
    """Return ``groups`` groups by ``labels``, none with more than ``room`` records; those not named are empty."""
    n, m = matrix.shape
    state = Groups(
        labels.copy(), np.zeros(groups, np.int32), np.zeros((groups, room), np.int32), np.zeros(n, np.int32),
        np.zeros((groups, m)),
    )  # fmt: skip
    for record in range(n):
        group = labels[record]
        state.member[group, state.size[group]] = record
        state.slot[record] = state.size[group]
        state.size[group] += 1
    renew_means(matrix, state)
    return state


@kernel()
def renew_means(matrix: FloatArray, state: Groups) -> None:
    """Compute all means again, so that roundings do not add up."""
    for group in range(state.size.shape[0]):
        renew_mean(matrix, state, group)


@kernel(allocates=False)
def renew_mean(matrix: FloatArray, state: Groups, group: int) -> None:
    """Compute the mean of one group again from its members."""
    for column in range(matrix.shape[1]):
        total = 0.0
        for index in range(state.size[group]):
            total += matrix[state.member[group, index], column]
        state.mean[group, column] = total / max(state.size[group], 1)


@kernel()
def total_loss(matrix: FloatArray, state: Groups) -> float:
    """Return the sum of squares within the groups."""
    total = 0.0
    for record in range(matrix.shape[0]):
        group = state.label[record]
        for column in range(matrix.shape[1]):
            step = matrix[record, column] - state.mean[group, column]
            total += step * step
    return total


@kernel()
def move_change(matrix: FloatArray, state: Groups, record: int, target: int) -> float:
    """Return the change of the loss when ``record`` moves to the group ``target``."""
    source = state.label[record]
    away, near = 0.0, 0.0
    for column in range(matrix.shape[1]):
        value = matrix[record, column]
        step = value - state.mean[source, column]
        away += step * step
        step = value - state.mean[target, column]
        near += step * step
    a, b = state.size[source], state.size[target]
    leaving = away * a / (a - 1) if a > 1 else 0.0
    return near * b / (b + 1) - leaving


@kernel()
def swap_change(matrix: FloatArray, state: Groups, record: int, other: int) -> float:
    """Return the change of the loss when two records of different groups change places."""
    source, target = state.label[record], state.label[other]
    cross, square = 0.0, 0.0
    for column in range(matrix.shape[1]):
        step = matrix[other, column] - matrix[record, column]
        cross += step * (state.mean[target, column] - state.mean[source, column])
        square += step * step
    return 2.0 * cross - square * (1.0 / state.size[source] + 1.0 / state.size[target])


@kernel()
def move_record(matrix: FloatArray, state: Groups, record: int, target: int) -> None:
    """Move ``record`` to the group ``target``."""
    source = state.label[record]
    a, b = state.size[source], state.size[target]
    for column in range(matrix.shape[1]):
        value = matrix[record, column]
        state.mean[source, column] += (state.mean[source, column] - value) / max(a - 1, 1)
        state.mean[target, column] += (value - state.mean[target, column]) / (b + 1)
    last = state.member[source, a - 1]
    state.member[source, state.slot[record]] = last
    state.slot[last] = state.slot[record]
    state.member[target, b] = record
    state.slot[record] = b
    state.size[source] = a - 1
    state.size[target] = b + 1
    state.label[record] = target


@kernel()
def swap_records(matrix: FloatArray, state: Groups, record: int, other: int) -> None:
    """Let two records of different groups change places."""
    source, target = state.label[record], state.label[other]
    for column in range(matrix.shape[1]):
        step = matrix[other, column] - matrix[record, column]
        state.mean[source, column] += step / state.size[source]
        state.mean[target, column] -= step / state.size[target]
    state.member[source, state.slot[record]] = other
    state.member[target, state.slot[other]] = record
    state.slot[record], state.slot[other] = state.slot[other], state.slot[record]
    state.label[record], state.label[other] = target, source


@kernel(allocates=False)
def rounding_error(matrix: FloatArray, state: Groups, record: int, other: int, target: int) -> float:
    """Return more than the change of a move (``other`` is ``record``) or a swap can be wrong by.

    A mean of s numbers is wrong by at most s roundings of the largest of them, a sum over m columns by m of the largest
    term, and no term is larger than the squared sum of the sizes of all numbers it is made of.
    """
    source = state.label[record]
    square = 0.0
    for column in range(matrix.shape[1]):
        reach = abs(matrix[record, column]) + abs(matrix[other, column])
        reach += abs(state.mean[source, column]) + abs(state.mean[target, column])
        square += reach * reach
    return _ROUNDING * (state.size[source] + state.size[target] + matrix.shape[1]) * square


@kernel()
def improve_record(
    matrix: FloatArray, state: Groups, record: int, near: IntArray, k: int, room: int, changed_in: IntArray, since: int
) -> int:
    """Make the best move or swap of ``record`` with the groups of its neighbours; return the group it met, or -1.

    Groups that have not changed after the round ``since`` (and neither has the record's own) were tried before.
    """
    source = state.label[record]
    best, best_group, best_other = 0.0, -1, record
    for index in range(near.shape[0]):
        target = state.label[near[index]]
        if target == source or (changed_in[target] <= since and changed_in[source] <= since):
            continue
        repeated = False
        for before in range(index):
            repeated = repeated or state.label[near[before]] == target
        if repeated:
            continue
        if state.size[source] > k and state.size[target] < room:
            change = move_change(matrix, state, record, target)
            if change < best:
                best, best_group, best_other = change, target, record
        for place in range(state.size[target]):
            other = state.member[target, place]
            change = swap_change(matrix, state, record, other)
            if change < best:
                best, best_group, best_other = change, target, other
    if best_group < 0 or best >= -rounding_error(matrix, state, record, best_other, best_group):
        return -1
    if best_other == record:
        move_record(matrix, state, record, best_group)
    else:
        swap_records(matrix, state, record, best_other)
    renew_mean(matrix, state, source)  # a mean that is only updated would drift with every step
    renew_mean(matrix, state, best_group)
    return best_group


@kernel()
def descend(
    matrix: FloatArray,
    state: Groups,
    near: IntArray,
    k: int,
    room: int,
    changed_in: IntArray,
    number: int,
    first: int,
    last: int,
) -> int:
    """Try the records ``first..last - 1`` once; return how many changed place.

    ``changed_in`` holds the round in which each group last changed; ``number`` is the number of this round.
    """
    changed = 0
    for record in range(first, last):
        source = state.label[record]
        target = improve_record(matrix, state, record, near[record], k, room, changed_in, number - 2)
        if target >= 0:
            changed_in[source] = number
            changed_in[target] = number
            changed += 1
    return changed
