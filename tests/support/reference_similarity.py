"""Similarity-based clustering as the paper tells it: every count and every distance again for every group."""

from __future__ import annotations

from tests.kernels.spaces import Interval


def similarity_order(values, first, rows, conditions, k):
    """Return ``values`` by their similarity to ``first``, judged by (condition columns, value) ``rows``.

    ``rows`` are pairs (tuple of condition values, value); ``conditions`` are the first record's. The last condition
    is dropped until k rows agree with the others.
    """
    length = len(conditions)
    while True:
        agreeing = [value for given, value in rows if given[:length] == conditions[:length]]
        if len(agreeing) >= k or length == 0:
            break
        length -= 1
    share = {value: agreeing.count(value) for value in values}
    others = sorted((value for value in values if value != first), key=lambda v: (abs(share[v] - share[first]), v))
    return [first, *others]


def cluster(columns, weights, codes, k):
    """Return the group of each record, -1 for the fewer than k that are left at the end."""
    records = list(range(len(codes[0])))
    values = [sorted(set(row)) for row in codes]
    cardinality = [len(found) for found in values]
    narrowest = cardinality.index(min(cardinality))
    waiting = sorted(records, key=lambda record: codes[narrowest][record])
    labels = [-1] * len(records)
    group = 0
    while len(waiting) >= k:
        first = waiting[0]
        tables = [_distances(columns, cardinality, values, codes, c, waiting, k) for c in range(len(columns))]

        def distance(record, tables=tables):
            total = 0.0
            for c, table in enumerate(tables):
                total += weights[c] * table[codes[c][record]]
            return total

        chosen = [first, *sorted(waiting[1:], key=distance)[: k - 1]]
        for record in chosen:
            labels[record] = group
        waiting = [record for record in waiting if record not in chosen]
        group += 1
    return labels


def join_nearest(columns, weights, codes, k, labels):
    """Return labels in which each record without a group is in that of the grouped record nearest to it; ties go to the earliest group."""
    values = [sorted(set(row)) for row in codes]
    cardinality = [len(found) for found in values]
    found = list(labels)
    for record in [record for record, label in enumerate(labels) if label < 0]:
        seen = [record, *(other for other in range(len(labels)) if other != record)]
        tables = [_distances(columns, cardinality, values, codes, c, seen, k) for c in range(len(columns))]

        def place(other, tables=tables):
            total = 0.0
            for c, table in enumerate(tables):
                total += weights[c] * table[codes[c][other]]
            return total, labels[other]

        found[record] = min(place(other) for other in range(len(labels)) if labels[other] >= 0)[1]
    return found


def _distances(columns, cardinality, values, codes, c, waiting, k):
    """Return the distance of each value of column ``c`` from the first waiting record's."""
    first = codes[c][waiting[0]]
    if isinstance(columns[c], Interval):
        return {value: _number_distance(columns[c], value, first) for value in values[c]}
    categories = [i for i, column in enumerate(columns) if not isinstance(column, Interval)]
    ordered = sorted(categories, key=lambda i: cardinality[i])
    before = ordered[: ordered.index(c)]
    rows = [(tuple(codes[i][record] for i in before), codes[c][record]) for record in waiting]
    order = similarity_order(values[c], first, rows, rows[0][0], k)
    return {value: index / max(len(order) - 1, 1) for index, value in enumerate(order)}


def _number_distance(column, value, first):
    if value == first:
        return 0.0
    if column.missing and len(column.positions) in (value, first):
        return 1.0
    return abs(column.positions[value] - column.positions[first]) / column.domain
