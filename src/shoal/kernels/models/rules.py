"""Privacy models as rules on the histogram of sensitive codes in a group.

A *tally* counts the sensitive codes of one group, or of a group that is only considered; a *rule* measures the tally and
gives its *shortfall*, 0 if the model is met. Distances between histograms are sums of integers, divided once at the end, so
that equal histograms measure equal wherever they occur.

If a person has several records, a value counts once for each person who has it. A row of values then has a *gate*, the row of
its (person, value) pairs: a record counts among the values only if it is the first of its pair. Rows of pairs, of persons and of households
are *sparse*: they have about as many codes as there are records, so that a region numbers those it has again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray, LongArray
from shoal.compiling.decorator import kernel

SIZE = 0
DISTINCT = 1
ENTROPY = 2
RECURSIVE = 3
EQUAL = 4
ORDERED = 5
HIERARCHICAL = 6
ALPHA = 7
BETA = 8
BETA_ENHANCED = 9
DELTA = 10
WEIGHT = 11

AT_LEAST = 0
AT_MOST = 1
BELOW = 2

SLACK = 1e-12
"""What rounding may add to a measure; far below any difference between two histograms of real tables."""


class Rules(NamedTuple):
    """What must hold of every group, as flat arrays: r rules on s sensitive rows."""

    kind: IntArray
    """SIZE, DISTINCT, …, for each rule."""
    sense: IntArray
    """AT_LEAST, AT_MOST or BELOW: on which side of its bound a measure must be."""
    row: IntArray
    """The sensitive row a rule looks at."""
    bound: FloatArray
    """The number the model was given: k, l, c, t, α, β or δ."""
    rank: IntArray
    """RECURSIVE: its l."""
    codes: IntArray
    """Sensitive codes, (s, n)."""
    start: LongArray
    """Where a row's counts begin in a tally; s + 1 entries."""
    gate: IntArray
    """The later row whose code must be new to the tally for a record to count in a row; -1: every record counts."""
    sparse: int
    """The first of the sparse rows, which come last; s if there are none."""
    people: int
    """The row of persons, by whose number shares are taken; -1: by the number of records."""
    total: LongArray
    """The counts of the whole table, laid out as in a tally; sparse rows have none."""
    value: FloatArray
    """What a record of each code counts for under WEIGHT, laid out as ``total``."""
    mass: LongArray
    """The sum of a row's counts in the whole table."""
    population: int
    """The persons of the whole table, or its records if no persons are known."""
    node_start: LongArray
    """HIERARCHICAL rows: where the row's nodes begin; s + 1 entries. Leaf code c is node c, parents come later."""
    node_parent: IntArray
    node_height: IntArray
    """Edges from a node down to its deepest leaf."""


class Tally(NamedTuple):
    """The sensitive codes of one group."""

    counts: LongArray
    """Records with each code; -1 for a code that was not met since the last ``clear``."""
    met: IntArray
    """The codes of each row that were met, laid out as ``counts``."""
    used: LongArray
    """How many codes each row has met, then the number of records, then how many of them counted in each row."""
    extra: LongArray
    """Scratch of the hierarchical distance, one entry a node."""


@kernel()
def new_tally(rules: Rules) -> Tally:
    """Return an empty tally."""
    rows = rules.codes.shape[0]
    return Tally(
        np.full(rules.start[rows], -1, np.int64),
        np.zeros(rules.start[rows], np.int32),
        np.zeros(2 * rows + 1, np.int64),
        np.zeros(rules.node_parent.shape[0], np.int64),
    )


@kernel(allocates=False)
def clear(rules: Rules, tally: Tally) -> None:
    """Forget all records, at the cost of the codes that were met."""
    rows = rules.codes.shape[0]
    for row in range(rows):
        start = rules.start[row]
        for place in range(tally.used[row]):
            tally.counts[start + tally.met[start + place]] = -1
        tally.used[row] = 0
        tally.used[rows + 1 + row] = 0
    tally.used[rows] = 0


@kernel(allocates=False)
def add(rules: Rules, tally: Tally, record: int) -> None:
    """Count one record in."""
    rows = rules.codes.shape[0]
    for row in range(rows - 1, -1, -1):  # gates first
        gate = rules.gate[row]
        if gate >= 0 and tally.counts[rules.start[gate] + rules.codes[gate, record]] != 1:
            continue
        start = rules.start[row]
        code = rules.codes[row, record]
        if tally.counts[start + code] < 0:
            tally.counts[start + code] = 0
            tally.met[start + tally.used[row]] = code
            tally.used[row] += 1
        tally.counts[start + code] += 1
        tally.used[rows + 1 + row] += 1
    tally.used[rows] += 1


@kernel(allocates=False)
def remove(rules: Rules, tally: Tally, record: int) -> None:
    """Take a record out that was counted in."""
    rows = rules.codes.shape[0]
    for row in range(rows - 1, -1, -1):
        gate = rules.gate[row]
        if gate >= 0 and tally.counts[rules.start[gate] + rules.codes[gate, record]] != 0:
            continue
        tally.counts[rules.start[row] + rules.codes[row, record]] -= 1
        tally.used[rows + 1 + row] -= 1
    tally.used[rows] -= 1


@kernel(allocates=False)
def counted(rules: Rules, tally: Tally, row: int) -> int:
    """Return how many records counted in a row."""
    return int(tally.used[rules.codes.shape[0] + 1 + row])


@kernel(allocates=False)
def bearers(rules: Rules, tally: Tally) -> int:
    """Return the number of persons, or of records if no persons are known."""
    if rules.people >= 0:
        return count_distinct(rules, tally, rules.people)
    return int(tally.used[rules.codes.shape[0]])


@kernel(allocates=False)
def count_distinct(rules: Rules, tally: Tally, row: int) -> int:
    """Return the number of different codes."""
    start, distinct = rules.start[row], 0
    for place in range(tally.used[row]):
        if tally.counts[start + tally.met[start + place]] > 0:
            distinct += 1
    return distinct


@kernel(allocates=False)
def effective_values(rules: Rules, tally: Tally, row: int) -> float:
    """Return e to the entropy: the number of equally frequent codes that would be as uncertain."""
    start, size = rules.start[row], counted(rules, tally, row)
    weighted = 0.0
    for place in range(tally.used[row]):
        count = tally.counts[start + tally.met[start + place]]
        if count > 0:
            weighted += count * np.log(count)
    return float(np.exp(np.log(size) - weighted / size))


@kernel()
def top_ratio(rules: Rules, tally: Tally, row: int, rank: int) -> float:
    """Return the count of the most frequent code ÷ the counts from the ``rank``-th most frequent on."""
    start, used = rules.start[row], tally.used[row]
    counts = np.empty(used, np.int64)
    for place in range(used):
        counts[place] = max(tally.counts[start + tally.met[start + place]], 0)
    counts.sort()
    tail = 0
    for place in range(used - rank + 1):
        tail += counts[place]
    return np.inf if tail == 0 else float(counts[used - 1] / tail)


@kernel(allocates=False)
def equal_distance(rules: Rules, tally: Tally, row: int) -> float:
    """Return the earth mover's distance to the whole table if any two codes are 1 apart."""
    start, size = rules.start[row], counted(rules, tally, row)
    moved = 0  # what the group has too much of, times size times records
    for place in range(tally.used[row]):
        code = start + tally.met[start + place]
        excess = tally.counts[code] * rules.mass[row] - rules.total[code] * size
        if excess > 0:
            moved += excess
    return float(moved / (size * rules.mass[row]))


@kernel(allocates=False)
def ordered_distance(rules: Rules, tally: Tally, row: int) -> float:
    """Return the earth mover's distance if neighbouring codes are 1/(codes - 1) apart."""
    start, end = rules.start[row], rules.start[row + 1]
    size = counted(rules, tally, row)
    if end - start < 2:
        return 0.0
    carried, moved = 0, 0.0
    for code in range(start, end):
        carried += max(tally.counts[code], 0) * rules.mass[row] - rules.total[code] * size
        moved += abs(carried)
    return moved / (float(size) * rules.mass[row] * (end - start - 1))


@kernel()
def tree_distance(rules: Rules, tally: Tally, row: int) -> float:
    """Return the earth mover's distance if codes are as far apart as the height of their common ancestor.

    Li, Li & Venkatasubramanian (2007), section 5.2: what children of a node can exchange among themselves is
    moved there, the rest is handed up.
    """
    start, codes = rules.start[row], rules.start[row + 1] - rules.start[row]
    first, last = rules.node_start[row], rules.node_start[row + 1]
    size = counted(rules, tally, row)
    height = rules.node_height[last - 1]
    if height == 0:
        return 0.0
    surplus, deficit = tally.extra[first:last], np.zeros(last - first, np.int64)
    surplus[:] = 0
    moved = 0.0
    for node in range(last - first):
        parent = rules.node_parent[first + node]
        if node < codes:
            left = max(tally.counts[start + node], 0) * rules.mass[row] - rules.total[start + node] * size
        else:
            moved += float(rules.node_height[first + node]) * min(surplus[node], deficit[node])
            left = surplus[node] - deficit[node]
        if parent != node:
            surplus[parent] += max(left, 0)
            deficit[parent] += max(-left, 0)
    return moved / (float(size) * rules.mass[row] * height)


@kernel(allocates=False)
def largest_share(rules: Rules, tally: Tally, row: int) -> float:
    """Return the share of the most frequent code."""
    start, most = rules.start[row], 0
    for place in range(tally.used[row]):
        most = max(most, tally.counts[start + tally.met[start + place]])
    return float(most / bearers(rules, tally))


@kernel(allocates=False)
def largest_gain(rules: Rules, tally: Tally, row: int, enhanced: bool) -> float:
    """Return the largest relative gain of a code's share over its share of the table.

    ``enhanced``: infinite if a gain exceeds -ln(share of the table), which no β allows (Cao & Karras 2012).
    """
    start, size = rules.start[row], bearers(rules, tally)
    gain = 0.0
    for place in range(tally.used[row]):
        code = start + tally.met[start + place]
        if tally.counts[code] <= 0:
            continue
        expected = rules.total[code] * size
        one = float((tally.counts[code] * rules.population - expected) / expected)
        if enhanced and one > SLACK - float(np.log(rules.total[code] / rules.population)):
            return np.inf
        gain = max(gain, one)
    return gain


@kernel(allocates=False)
def largest_log_ratio(rules: Rules, tally: Tally, row: int) -> float:
    """Return the largest |ln(share in the group ÷ share of the table)| of the codes present."""
    start, size = rules.start[row], bearers(rules, tally)
    largest = 0.0
    for place in range(tally.used[row]):
        code = start + tally.met[start + place]
        if tally.counts[code] > 0:
            ratio = (tally.counts[code] * rules.population) / (rules.total[code] * size)
            largest = max(largest, abs(float(np.log(ratio))))
    return largest


@kernel(allocates=False)
def people_represented(rules: Rules, tally: Tally, row: int) -> float:
    """Return how many people the records represent; the values are multiples of one power of two, so the sum is exact."""
    start, total = rules.start[row], 0.0
    for place in range(tally.used[row]):
        code = start + tally.met[start + place]
        total += max(tally.counts[code], 0) * rules.value[code]
    return total


@kernel(allocates=False)
def measure(rules: Rules, rule: int, tally: Tally) -> float:
    """Return what a rule finds in a tally with records: its size, l, c, t, α, β, δ or the people it stands for."""
    kind, row = rules.kind[rule], rules.row[rule]
    if kind == SIZE:
        return float(tally.used[rules.codes.shape[0]])
    if kind == DISTINCT:
        return float(count_distinct(rules, tally, row))
    if kind == ENTROPY:
        return effective_values(rules, tally, row)
    if kind == RECURSIVE:
        return top_ratio(rules, tally, row, rules.rank[rule])
    if kind == EQUAL:
        return equal_distance(rules, tally, row)
    if kind == ORDERED:
        return ordered_distance(rules, tally, row)
    if kind == HIERARCHICAL:
        return tree_distance(rules, tally, row)
    if kind == ALPHA:
        return largest_share(rules, tally, row)
    if kind == WEIGHT:
        return people_represented(rules, tally, row)
    if kind == DELTA:
        return largest_log_ratio(rules, tally, row)
    return largest_gain(rules, tally, row, kind == BETA_ENHANCED)


@kernel(allocates=False)
def rule_shortfall(sense: int, bound: float, value: float) -> float:
    """Return how far a measure is from its bound, 0 if it is met, at most 1."""
    if sense == AT_LEAST:
        return max(bound - value, 0.0) / bound if value < bound - SLACK * bound else 0.0
    if value < bound - SLACK if sense == BELOW else value <= bound + SLACK:
        return 0.0
    if value == np.inf:
        return 1.0
    return max((value - bound) / (value + 1.0), SLACK)


@kernel(allocates=False)
def shortfall(rules: Rules, tally: Tally) -> float:
    """Return how far a tally is from meeting all rules; 0 if it meets them, 1 for each rule in a hopeless case."""
    total = 0.0
    for rule in range(rules.kind.shape[0]):
        total += rule_shortfall(rules.sense[rule], rules.bound[rule], measure(rules, rule, tally))
    return total
