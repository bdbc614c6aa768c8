"""What privacy models measure, written out plainly from their definitions."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate

from shoal.hierarchy import Hierarchy


def shares(values, domain):
    count = Counter(values)
    return [count[value] / len(values) for value in domain]


def distinct(group, table):
    return len(set(group))


def entropy(group, table):
    return math.exp(-sum(p * math.log(p) for p in shares(group, set(group))))


def recursive(rank):
    def measure(group, table):
        counts = sorted(Counter(group).values(), reverse=True)
        tail = sum(counts[rank - 1 :])
        return counts[0] / tail if tail else math.inf

    return measure


def equal(group, table):
    domain = sorted(set(table))
    return sum(abs(q - p) for q, p in zip(shares(group, domain), shares(table, domain), strict=True)) / 2


def ordered(group, table):
    domain = sorted(set(table))
    if len(domain) < 2:
        return 0.0
    gap = [q - p for q, p in zip(shares(group, domain), shares(table, domain), strict=True)]
    return sum(abs(one) for one in accumulate(gap)) / (len(domain) - 1)


def hierarchical(tree: Hierarchy):
    """Move earth greedily from the closest ancestor up, which is optimal when distance only depends on it."""

    def height(label):
        below = tree.children(label)
        return 1 + max(map(height, below)) if below else 0

    def measure(group, table):
        moved = 0.0

        def hand_up(label):
            nonlocal moved
            if not tree.children(label):
                return group.count(label) / len(group) - table.count(label) / len(table)
            left = [hand_up(child) for child in tree.children(label)]
            surplus, lack = sum(x for x in left if x > 0), -sum(x for x in left if x < 0)
            moved += height(label) * min(surplus, lack)
            return surplus - lack

        hand_up(tree.labels[tree.root])
        return moved / height(tree.labels[tree.root])

    return measure


def alpha(group, table):
    return max(shares(group, set(group)))


def beta(group, table):
    domain = sorted(set(table))
    return max(0.0, *((q - p) / p for q, p in zip(shares(group, domain), shares(table, domain), strict=True)))


def enhanced(group, table):
    domain = sorted(set(table))
    pairs = list(zip(shares(group, domain), shares(table, domain), strict=True))
    if any((q - p) / p > -math.log(p) + 1e-12 for q, p in pairs):
        return math.inf
    return beta(group, table)


def delta(group, table):
    domain = sorted(set(group))
    return max(abs(math.log(q / p)) for q, p in zip(shares(group, domain), shares(table, domain), strict=True))
