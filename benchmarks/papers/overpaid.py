"""All groups of negative reduced cost at given dual prices of the records: the exact pricing step of column generation.

With prices p, a group S of s records is *overpaid* by the sum of its prices minus its sum of squares: its reduced cost with the sign
turned. That is minus the total weight of S as a clique with edge weights w(i,j) = d²(i,j)/s - (p(i) + p(j))/(s - 1).

Taking away the member whose edges weigh most leaves a clique of t - 1 with at most (t - 2)/t of the weight of t. So below
every clique of weight W < 0 there is a chain of cliques of every smaller size t that weigh at most W·t(t - 1)/(s(s - 1)), and each
clique has one place in such a chain. Growing cliques along the chains therefore finds every overpaid group
once, and no other cliques have to be visited.

Weights are rounded down to whole numbers of a tiny unit: sums are then exact in whatever order they are made, so
ties are decided alike everywhere, and a group that is overpaid stays so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel

FOUND, VISITED = 0, 1


class Growth(NamedTuple):
    """The clique that is being grown, one row a depth."""

    members: LongArray
    """(s,)."""
    share: LongArray
    """The weight of each member's edges, (s + 1, s): row t holds that of the clique of t."""
    reach: LongArray
    """The weight of the edges from the clique of t to every record, (s + 1, n)."""
    following: LongArray
    """The record to try next at each depth."""


class Overpaid(NamedTuple):
    """Groups found."""

    members: IntArray
    """(most, 2k - 1), filled with -1."""
    amount: FloatArray
    """By how much each is overpaid."""
    tally: LongArray
    """FOUND groups, VISITED cliques."""


@kernel()
def edge_weights(squared: FloatArray, price: FloatArray, size: int, unit: float) -> LongArray:
    """Return the weights of all edges in cliques of ``size``, in units, rounded down."""
    n = price.shape[0]
    weight = np.empty((n, n), np.int64)
    for a in range(n):
        for b in range(n):
            weight[a, b] = np.int64(np.floor((squared[a, b] / size - (price[a] + price[b]) / (size - 1)) / unit))
    return weight


@kernel()
def is_heaviest(grown: Growth, t: int, edge: LongArray, record: int) -> bool:
    """Return whether ``record``, joined to the clique of t, is the member to take away again; ties: the largest number."""
    own = grown.reach[t, record]
    for index in range(t):
        other = grown.members[index]
        weight = grown.share[t, index] + edge[other, record]
        if weight > own or (weight == own and other > record):
            return False
    return True


@kernel()
def push(grown: Growth, t: int, edge: LongArray, record: int) -> None:
    """Join ``record`` to the clique of t."""
    grown.members[t] = record
    for index in range(t):
        grown.share[t + 1, index] = grown.share[t, index] + edge[grown.members[index], record]
    grown.share[t + 1, t] = grown.reach[t, record]
    for other in range(edge.shape[0]):
        grown.reach[t + 1, other] = grown.reach[t, other] + edge[record, other]
    grown.following[t + 1] = 0


@kernel()
def holds(grown: Growth, t: int, record: int) -> bool:
    """Return whether the clique of t has the record."""
    for index in range(t):
        if grown.members[index] == record:
            return True
    return False


@kernel()
def grow_from(edge: LongArray, size: int, first: int, least: int, most: int, unit: float, out: Overpaid) -> bool:
    """List all groups of ``size`` that weigh less than -``least`` and whose chain starts with the record ``first``.

    Returns False if ``most`` cliques were visited or there is no room for more groups.
    """
    n = edge.shape[0]
    grown = Growth(
        np.zeros(size, np.int64), np.zeros((size + 1, size), np.int64), np.zeros((size + 1, n), np.int64),
        np.zeros(size + 1, np.int64),
    )  # fmt: skip
    push(grown, 0, edge, first)
    grown.following[1] = first + 1
    weight = np.zeros(size + 1, np.int64)
    t = 1
    while t >= 1:
        record = grown.following[t]
        if record == n:
            t -= 1
            continue
        grown.following[t] += 1
        joined = weight[t] + grown.reach[t, record]
        if joined >= 0 or np.float64(joined) * (size * (size - 1)) > -np.float64(least) * (t * (t + 1)):
            continue
        if holds(grown, t, record) or (t > 1 and not is_heaviest(grown, t, edge, record)):
            continue
        out.tally[VISITED] += 1
        if t + 1 < size:
            if out.tally[VISITED] > most:
                return False
            push(grown, t, edge, record)
            weight[t + 1] = joined
            t += 1
        elif joined < -least and not add_group(grown, t, record, -joined * unit, out):
            return False
    return True


@kernel()
def add_group(grown: Growth, t: int, record: int, amount: float, out: Overpaid) -> bool:
    """Note the clique of t with ``record``; tell whether there was room."""
    place = out.tally[FOUND]
    if place == out.amount.shape[0]:
        return False
    for index in range(t):
        out.members[place, index] = grown.members[index]
    out.members[place, t] = record
    out.amount[place] = amount
    out.tally[FOUND] += 1
    return True


@kernel()
def list_overpaid(
    squared: FloatArray, price: FloatArray, size: int, unit: float, least: int, most: int, out: Overpaid
) -> bool:
    """List the groups of ``size`` that are overpaid by more than ``least`` units; False if the list is not complete."""
    edge = edge_weights(squared, price, size, unit)
    for record in range(price.shape[0]):
        if not grow_from(edge, size, record, least, most, unit, out):
            return False
    return True


@kernel()
def lower_prices(price: FloatArray, out: Overpaid) -> FloatArray:
    """Return prices lowered until none of the groups listed is overpaid.

    Each group takes what is still missing from its member whose price was lowered most: such members are few,
    and the others keep their price.
    """
    cut = np.zeros(price.shape[0])
    for place in range(out.tally[FOUND]):
        missing = out.amount[place]
        chosen = -1
        for index in range(out.members.shape[1]):
            record = out.members[place, index]
            if record < 0:
                break
            missing -= cut[record]
            if chosen < 0 or cut[record] > cut[chosen]:
                chosen = record
        if missing > 0.0:
            cut[chosen] += missing
    return price - cut
