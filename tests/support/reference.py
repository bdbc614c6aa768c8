"""Slow twins of the kernels, in the plainest Python: what a method must give, label for label."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from shoal.encoding import CodedTable


def plain_sum(numbers: Iterable[float]) -> float:
    """Add up from the first to the last, as a kernel does.

    Ties need the same bits, and ``sum`` compensates roundings since Python 3.12.
    """
    total = 0.0
    for number in numbers:
        total += number
    return total


def numbered(groups: list[list[int]], records: int) -> list[int]:
    """Return the label of each record for groups given as lists of records."""
    labels = [-1] * records
    for label, group in enumerate(groups):
        for record in group:
            labels[record] = label
    return labels


def cell_cost(table: CodedTable, row: int, codes: set[int]) -> float:
    """Return the penalty of releasing a set of codes in one column, straight from the definition."""
    column = table.columns[row]
    if len(codes) == 1:
        return 0.0
    if column.missing in codes:
        return 1.0
    if column.kind.ordered:
        return (column.position[max(codes)] - column.position[min(codes)]) / (
            max(column.position) - min(column.position)
        )
    if column.kind.name == "set":
        return len(codes) / len(column.values)
    tree = column.hierarchy
    return tree.size(tree.common_ancestor([tree.leaves[code] for code in codes])) / tree.n_leaves


def group_cost(table: CodedTable, group: list[int]) -> float:
    """Return the weighted penalty of each record of a group, added up column by column."""
    return plain_sum(
        table.weights[row] * cell_cost(table, row, {int(table.codes[row, record]) for record in group})
        for row in range(len(table.columns))
    )


def spread(table: CodedTable, row: int, codes: list[int], *, median: bool) -> float:
    """Return how wide Mondrian sees a part in a column."""
    column, weight = table.columns[row], table.weights[row]
    low, high = min(codes), max(codes)
    if low == high:
        return 0.0
    if high == column.missing:
        return weight
    if column.kind.name == "set" and not median:
        return weight * (len(set(codes)) / len(column.values))
    if column.kind.ordered:
        domain = max(column.position) - min(column.position)
        return weight * (column.position[high] - column.position[low]) / domain
    return weight * (high - low) / (column.cardinality - 1)


def mondrian(
    table: CodedTable,
    k: int,
    *,
    strict: bool = True,
    by_tree: bool = False,
    median: bool = False,
) -> list[int]:
    """Cut recursively, left part first. Relaxed cuts are at the median anyway.

    Where there are sets, strict cuts but those at the median are made twice, by records and by values, and the better groups are taken.
    """
    median = median and strict
    cut_all = partial(_mondrian, table, k, strict=strict, by_tree=by_tree, median=median)
    found = cut_all(values=False)
    if strict and not median and any(column.kind.name == "set" for column in table.columns):
        found = min(found, cut_all(values=True), key=lambda parts: round_cost(table, parts))
    return numbered(found, table.records)


def round_cost(table: CodedTable, parts: list[list[int]]) -> float:
    """Return what groups cost together, to ten digits."""
    return float(f"{plain_sum(len(part) * group_cost(table, part) for part in parts):.9e}")


def _mondrian(
    table: CodedTable,
    k: int,
    *,
    strict: bool,
    by_tree: bool,
    median: bool,
    values: bool,
) -> list[list[int]]:
    final: list[list[int]] = []

    def cut(part: list[int]) -> None:
        for row in sorted(range(len(table.columns)), key=lambda row: (-wide(part, row), row)):
            sides = split(table, part, row, k, strict=strict, by_tree=by_tree, median=median, values=values)
            if sides:
                for side in sides:
                    cut(side)
                return
        final.append(part)

    def wide(part: list[int], row: int) -> float:
        return spread(table, row, [int(table.codes[row, record]) for record in part], median=median)

    cut(list(range(table.records)))
    return final


def split(
    table: CodedTable,
    part: list[int],
    row: int,
    k: int,
    *,
    strict: bool,
    by_tree: bool,
    median: bool,
    values: bool = False,
) -> list[list[int]]:
    """Return the sides a part falls into when cut in one column; empty if k does not allow it."""
    codes = {record: int(table.codes[row, record]) for record in part}
    if len(part) < 2 * k or len(set(codes.values())) == 1:
        return []
    if by_tree and table.columns[row].kind.name == "node":
        return split_by_children(table, part, row, k)
    if table.columns[row].kind.name == "set" and not median:
        seen = list(codes.values())
        ranked = sorted(set(seen), key=lambda code: (-seen.count(code), code))
        codes = {record: ranked.index(code) for record, code in codes.items()}
    halve_values = values and table.columns[row].kind.name == "set"
    if strict:
        cuts = [
            (abs(2 * (code + 1) - len(ranked)) if halve_values else abs(2 * len(left) - len(part)), code)
            for code in ([sorted(codes.values())[(len(part) - 1) // 2]] if median else sorted(set(codes.values())))
            if k <= len(left := [record for record in part if codes[record] <= code]) <= len(part) - k
        ]
        if not cuts:
            return []
        code = min(cuts)[1]
        return [[r for r in part if codes[r] <= code], [r for r in part if codes[r] > code]]
    ordered = sorted(part, key=lambda record: codes[record])  # stable: equal records in their order
    left = set(ordered[: len(part) // 2])
    return [[r for r in part if r in left], [r for r in part if r not in left]]


def split_by_children(table: CodedTable, part: list[int], row: int, k: int) -> list[list[int]]:
    """Return the sides by the children of the node that covers the part."""
    tree, column = table.columns[row].hierarchy, table.columns[row]

    def child(code: int, top: str) -> tuple[int, str]:
        if code == column.missing:
            return (tree.n_leaves, "")
        path = list(tree.path(tree.leaves[code]))
        below = path[: path.index(top)][-1]
        return (int(tree.low[tree.node(below)]), below)

    values = {int(table.codes[row, record]) for record in part}
    known = values - {column.missing}
    mixed = column.missing in values
    top = tree.labels[tree.root] if mixed else tree.common_ancestor([tree.leaves[code] for code in known])
    sides: dict[tuple[int, str], list[int]] = {}
    for record in part:
        sides.setdefault(child(int(table.codes[row, record]), top), []).append(record)
    if len(sides) < 2 or any(len(side) < k for side in sides.values()):
        return []
    return [sides[key] for key in sorted(sides)]
