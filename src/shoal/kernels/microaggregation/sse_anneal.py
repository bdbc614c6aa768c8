"""Annealing over moves, swaps, and groups made or dissolved, judged by the sum of squares.

A change that raises the loss by d is taken with probability exp(-d/T), and T falls. Making and dissolving groups
are chains of moves that are undone as a whole if refused; without them the number of groups could never change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, WordArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.random_state import draw_share
from shoal.kernels.microaggregation.sse_moves import Groups, move_change, move_record, swap_change, swap_records

_CHAIN_SHARE = 0.02
"""Share of the proposals that make or dissolve a group."""


class Annealing(NamedTuple):
    """What annealing needs besides the groups."""

    matrix: FloatArray
    near: IntArray
    """The nearest records of each record, (n, q)."""
    vacant: IntArray
    """Numbers of groups without records, as a stack; the last entry counts them."""
    chain: IntArray
    """Records moved by the chain under way, and where they came from, (2, room)."""
    random: WordArray
    """State of the random numbers, one word."""


@kernel()
def accepts(change: float, temperature: float, random: WordArray) -> bool:
    """Decide on a change of the loss."""
    return change <= 0.0 or draw_share(random) < np.exp(-change / temperature)


@kernel()
def undo_chain(work: Annealing, state: Groups, length: int) -> None:
    """Move the records of a refused chain back."""
    for index in range(length - 1, -1, -1):
        move_record(work.matrix, state, work.chain[0, index], work.chain[1, index])


@kernel()
def dissolve_group(work: Annealing, state: Groups, group: int, room: int, temperature: float) -> float:
    """Try to hand all records of a group to the groups of their neighbours; return the change of the loss."""
    total, length = 0.0, 0
    size = state.size[group]
    while length < size:
        record = state.member[group, 0]
        best, chosen = np.inf, -1
        for index in range(work.near.shape[1]):
            target = state.label[work.near[record, index]]
            if target != group and state.size[target] < room:
                change = move_change(work.matrix, state, record, target)
                if change < best:
                    best, chosen = change, target
        if chosen < 0:
            undo_chain(work, state, length)
            return 0.0
        work.chain[0, length], work.chain[1, length] = record, group
        length += 1
        total += best
        move_record(work.matrix, state, record, chosen)
    if not accepts(total, temperature, work.random):
        undo_chain(work, state, length)
        return 0.0
    count = work.vacant[-1]
    work.vacant[count] = group
    work.vacant[-1] = count + 1
    return total


@kernel()
def make_group(work: Annealing, state: Groups, seed: int, k: int, temperature: float) -> float:
    """Try to make a group of a record and its nearest whose groups can spare them; return the change of the loss."""
    count = work.vacant[-1]
    if count == 0:
        return 0.0
    group = work.vacant[count - 1]
    total, length = 0.0, 0
    for index in range(-1, work.near.shape[1]):
        record = seed if index < 0 else work.near[seed, index]
        source = state.label[record]
        if state.size[source] > k and source != group:
            total += move_change(work.matrix, state, record, group)
            work.chain[0, length], work.chain[1, length] = record, source
            length += 1
            move_record(work.matrix, state, record, group)
            if length == k:
                break
        elif index < 0:
            return 0.0
    if length < k or not accepts(total, temperature, work.random):
        undo_chain(work, state, length)
        return 0.0
    work.vacant[-1] = count - 1
    return total


@kernel()
def propose(work: Annealing, state: Groups, k: int, room: int, temperature: float) -> float:
    """Try a move or swap of a random record with the group of a near one; return the change of the loss."""
    n, width = work.near.shape
    record = int(draw_share(work.random) * n)
    source = state.label[record]
    if draw_share(work.random) < _CHAIN_SHARE:
        if draw_share(work.random) < 0.5:
            return dissolve_group(work, state, source, room, temperature)
        return make_group(work, state, record, k, temperature)
    target = state.label[work.near[record, int(draw_share(work.random) * width)]]
    if target == source:
        return 0.0
    choice = int(draw_share(work.random) * (state.size[target] + 1))
    if choice == state.size[target]:
        if state.size[source] <= k or state.size[target] >= room:
            return 0.0
        change = move_change(work.matrix, state, record, target)
        if not accepts(change, temperature, work.random):
            return 0.0
        move_record(work.matrix, state, record, target)
        return change
    other = state.member[target, choice]
    change = swap_change(work.matrix, state, record, other)
    if not accepts(change, temperature, work.random):
        return 0.0
    swap_records(work.matrix, state, record, other)
    return change


@kernel()
def anneal(
    work: Annealing, state: Groups, k: int, room: int, hot: float, cold: float, first: int, last: int, steps: int
) -> float:
    """Do the proposals ``first..last - 1`` of a schedule of ``steps`` from ``hot`` to ``cold``; return the change."""
    total = 0.0
    rate = np.log(cold / hot) / steps
    temperature = hot
    for step in range(first, last):
        if step % 256 == 0 or step == first:
            temperature = hot * np.exp(rate * step)
        total += propose(work, state, k, room, temperature)
    return total
