"""Microaggregation said in plain Python: the slow twins of the kernels, and an exact solver for tiny tables."""

from __future__ import annotations

from functools import cache
from itertools import combinations


def squared_distance(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def mean_of(rows):
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def sum_of_squares(rows):
    centre = mean_of(rows)
    return sum(squared_distance(row, centre) for row in rows)


def loss(rows, labels):
    groups = {}
    for row, label in zip(rows, labels, strict=True):
        groups.setdefault(label, []).append(row)
    return sum(sum_of_squares(group) for group in groups.values())


def optimum(rows, k):
    """Return the least loss of any grouping into groups of at least k, by dynamic programming over sets of records."""
    n = len(rows)
    most = min(2 * k - 1, n)

    @cache
    def group_loss(members):
        return sum_of_squares([rows[i] for i in members])

    @cache
    def least(left):
        if not left:
            return 0.0, ()
        best = (float("inf"), ())
        for size in range(k, most + 1):
            for others in combinations(left[1:], size - 1):
                group = (left[0], *others)
                rest_loss, rest = least(tuple(i for i in left if i not in group))
                if group_loss(group) + rest_loss < best[0]:
                    best = (group_loss(group) + rest_loss, (group, *rest))
        return best

    return least(tuple(range(n)))


class Left:
    """The records that have no group yet, with their sum kept up to date as the kernel keeps it."""

    def __init__(self, rows):
        self.rows = rows
        self.records = list(range(len(rows)))
        self.labels = [-1] * len(rows)
        self.groups = 0
        self.total = [0.0] * len(rows[0])
        for row in rows:
            self.total = [t + x for t, x in zip(self.total, row, strict=True)]

    def mean(self):
        return [t / len(self.records) for t in self.total]

    def farthest(self, point):
        return max(self.records, key=lambda i: (squared_distance(self.rows[i], point), -i))

    def nearest(self, record, count, skip=None):
        others = [i for i in self.records if i not in (record, skip)]
        return sorted(others, key=lambda i: (squared_distance(self.rows[i], self.rows[record]), i))[:count]

    def assign(self, record, group):
        self.labels[record] = group
        self.records.remove(record)
        self.total = [t - x for t, x in zip(self.total, self.rows[record], strict=True)]

    def group_around(self, record, k):
        members = [record, *self.nearest(record, k - 1)]
        for member in members:
            self.assign(member, self.groups)
        self.groups += 1
        return members


def mdav(rows, k):
    left = Left(rows)
    while len(left.records) >= 2 * k:
        count = len(left.records)
        record = left.farthest(left.mean())
        left.group_around(record, k)
        if count >= 3 * k:
            left.group_around(left.farthest(rows[record]), k)
    return [left.groups if label < 0 else label for label in left.labels]


def vmdav(rows, k, gamma, rest):
    left = Left(rows)
    centre = left.mean()
    while len(left.records) >= k:
        members = left.group_around(left.farthest(centre), k)
        group = left.groups - 1
        while len(members) < 2 * k - 1 and left.records:
            inside, record = min((squared_distance(rows[i], rows[m]), i) for i in left.records for m in members)
            others = left.nearest(record, 1)
            outside = squared_distance(rows[others[0]], rows[record]) if others else float("inf")
            if not inside < gamma * gamma * outside:
                break
            left.assign(record, group)
            members.append(record)
    return place_rest(rows, left, rest)


def place_rest(rows, left, rest):
    if rest == "last":
        return [left.groups - 1 if label < 0 else label for label in left.labels]
    means = [mean_of([rows[i] for i, one in enumerate(left.labels) if one == group]) for group in range(left.groups)]
    return [
        min(range(left.groups), key=lambda group: (squared_distance(row, means[group]), group)) if label < 0 else label
        for row, label in zip(rows, left.labels, strict=True)
    ]


def best_cut(rows, order, k):
    """Return the least loss of a cut of ``order`` into runs of at least k, trying every one."""

    @cache
    def least(start):
        if start == len(order):
            return 0.0
        ends = range(start + k, len(order) + 1)
        return min(
            (sum_of_squares([rows[i] for i in order[start:end]]) + least(end) for end in ends), default=float("inf")
        )

    return least(0)


def forest_trees(rows, k, order=None, neighbours=None):
    """Return the trees of the forest before large ones are cut, as sets of records, and who points to whom.

    Records choose in ``order``, each the first of its ``neighbours`` outside its tree; by default as they come, the nearest.
    """
    left = Left(rows)
    tree_of = {i: frozenset([i]) for i in range(len(rows))}
    edges = {}
    for record in order or range(len(rows)):
        tree = tree_of[record]
        if len(tree) >= k or record in edges:
            continue
        near = neighbours[record] if neighbours else left.nearest(record, k - 1)
        target = next(i for i in near if i not in tree)
        edges[record] = target
        joined = tree | tree_of[target]
        for member in joined:
            tree_of[member] = joined
    return set(tree_of.values()), edges


def mdav_generic(numbers, codes, factors, distances, k):
    """``codes`` holds one list a category column, ``distances`` one function a column."""
    n = len(numbers)
    left, labels, group = list(range(n)), [-1] * n, 0

    def distance(i, point, values):
        total = 0.0
        for x, y in zip(numbers[i], point, strict=True):
            total += (x - y) * (x - y)
        for column, value in enumerate(values):
            total += factors[column] * distances[column](codes[column][i], value)
        return total

    def about(i):
        return numbers[i], [column[i] for column in codes]

    total = [0.0] * len(numbers[0])
    for row in numbers:
        total = [t + x for t, x in zip(total, row, strict=True)]

    def average():
        modes = []
        for column in codes:
            values = [column[i] for i in left]
            modes.append(min(set(values), key=lambda value: (-values.count(value), value)))
        return [t / len(left) for t in total], modes

    def farthest(point, values):
        return max(left, key=lambda i: (distance(i, point, values), -i))

    def take(record):
        nonlocal group, total
        near = sorted((i for i in left if i != record), key=lambda i: (distance(i, *about(record)), i))[: k - 1]
        for i in (record, *near):
            labels[i] = group
            left.remove(i)
            total = [t - x for t, x in zip(total, numbers[i], strict=True)]
        group += 1

    while len(left) >= 2 * k:
        count = len(left)
        record = farthest(*average())
        take(record)
        if count >= 3 * k:
            take(farthest(*about(record)))
    return [group if label < 0 else label for label in labels]
