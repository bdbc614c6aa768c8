"""Slow twins of the global methods: Bottom-Up Generalization, Datafly and Incognito in plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from math import log2

from shoal.encoding import CodedTable

UNIT = 2**32


# --- hierarchies as parents of nodes ------------------------------------------------------------------------------


@dataclass
class Tree:
    """Nodes are numbers, codes are leaves, the root is its own parent."""

    parent: dict[int, int]
    leaves: int
    children: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node, above in sorted(self.parent.items()):
            if node != above:
                self.children.setdefault(above, []).append(node)

    def below(self, node: int) -> list[int]:
        if node not in self.children:
            return [node]
        return sorted(code for child in self.children[node] for code in self.below(child))


def trees(table: CodedTable, classes: list[int] | None = None) -> list[Tree]:
    found = []
    for row, column in enumerate(table.columns):
        if column.kind.name == "node":
            found.append(_given_tree(column))
        else:
            found.append(_split_tree(column, table.codes[row].tolist(), classes))
    return found


def _given_tree(column) -> Tree:
    tree = column.hierarchy
    shift = int(column.has_missing)

    def number(node: int) -> int:
        return node if node < tree.n_leaves else node + shift

    parent = {number(node): number(int(above)) for node, above in enumerate(tree.parent)}
    if column.has_missing:
        parent[column.missing] = number(tree.root)
    return Tree(parent, column.cardinality)


def _split_tree(column, codes: list[int], classes: list[int] | None) -> Tree:
    """Split where the entropy of the class falls most, or in halves; halves are numbered left then right, the right is split first."""
    root = column.cardinality
    parent = {root: root} | dict.fromkeys(range(column.cardinality), root)
    parts = [(0, len(column.values), root)] if len(column.values) > 1 else []
    while parts:
        first, last, node = parts.pop()
        cut = min(range(first + 1, last), key=lambda cut: _cut_rank(codes, classes, first, cut, last))
        for low, high in ((first, cut), (cut, last)):
            if high - low == 1:
                parent[low] = node
            else:
                parent[len(parent)] = node
                parts.append((low, high, len(parent) - 1))
    return Tree(parent, column.cardinality)


def _cut_rank(codes, classes, first, cut, last):
    left = [record for record, code in enumerate(codes) if first <= code < cut]
    right = [record for record, code in enumerate(codes) if cut <= code < last]
    uneven = abs(len(left) - len(right))
    if classes is None:
        return uneven, cut
    within = sum(len(part) * entropy(Counter(classes[record] for record in part)) for part in (left, right))
    return round(within / (len(left) + len(right)) * UNIT), uneven, cut


def entropy(counts: Counter) -> float:
    total = sum(counts.values())
    return -sum(count / total * log2(count / total) for count in counts.values() if count)


# --- Bottom-Up Generalization -------------------------------------------------------------------------------------


def error(counts: Counter) -> float:
    """Return the share of records that are not of the most common class."""
    total = sum(counts.values())
    return (total - max(counts.values())) / total if total else 0.0


class Climb:
    """Algorithm 1 of Wang, Yu & Chakraborty (2004), with every generalization recounted from the records."""

    impurity = staticmethod(entropy)

    def __init__(self, table: CodedTable, k: int, classes: list[int] | None = None, allowed: int = 0) -> None:
        self.table, self.k, self.classes, self.allowed = table, k, classes, allowed
        self.trees = trees(table, classes)
        self.records = [tuple(column) for column in table.codes.T.tolist()]
        self.taken: dict[tuple[int, int], set[int]] = {}
        self.weights = (table.weights / table.weights.max()).tolist()

    def released(self, taken=None) -> list[tuple[int, ...]]:
        """Return the nodes each record is released as."""
        taken = self.taken if taken is None else taken
        maps = []
        for row, tree in enumerate(self.trees):
            chosen = {}
            for code in range(tree.leaves):
                node = code
                while tree.parent[node] != node and node in taken.get((row, tree.parent[node]), ()):
                    node = tree.parent[node]
                chosen[code] = node
            maps.append(chosen)
        return [tuple(chosen[code] for chosen, code in zip(maps, record, strict=True)) for record in self.records]

    def anonymity(self, taken=None) -> int:
        return min(Counter(self.released(taken)).values())

    def small(self, taken=None) -> int:
        return sum(size for size in Counter(self.released(taken)).values() if size < self.k)

    def members(self, row: int, children) -> list[Counter]:
        """Return the class counts below each child."""
        found = []
        for child in children:
            below = set(self.trees[row].below(child))
            inside = [place for place, record in enumerate(self.records) if record[row] in below]
            found.append(Counter(0 if self.classes is None else self.classes[place] for place in inside))
        return found

    def loss(self, row: int, children) -> int:
        members = [counts for counts in self.members(row, children) if counts]
        total = sum(members, Counter())
        size = sum(total.values())
        if not size:
            return 0
        if self.classes is None:
            lost = self.impurity(Counter(dict(enumerate(sum(counts.values()) for counts in members))))
        else:
            within = sum(sum(counts.values()) * self.impurity(counts) for counts in members)
            lost = self.impurity(total) - within / size
        return round(max(lost, 0.0) * self.weights[row] * UNIT)

    def valid(self) -> list[tuple[int, int]]:
        """Return the generalizations (column, parent) all of whose children are current, lowest first."""
        found = []
        for row, tree in enumerate(self.trees):
            for node, children in sorted(tree.children.items()):
                counts = self.members(row, children)
                ready = all(
                    not count or child not in tree.children or (row, child) in self.taken
                    for child, count in zip(children, counts, strict=True)
                )
                if (row, node) not in self.taken and ready and any(counts):
                    found.append((row, node))
        return found

    def choose(self) -> tuple[int, int] | None:
        before = min(self.anonymity(), self.k)
        ranked = []
        for row, node in self.valid():
            children = set(self.trees[row].children[node])
            gain = min(self.anonymity(self.taken | {(row, node): children}), self.k) - before
            ranked.append((gain, self.loss(row, children), (row, node)))
        critical = [(loss / gain, place) for gain, loss, place in ranked if gain > 0]
        if critical:
            return min(critical)[1]
        return min(((loss, place) for _, loss, place in ranked), default=(0, None))[1]

    def run(self) -> Climb:
        while self.small() > self.allowed:
            row, node = self.choose()
            self.taken[row, node] = set(self.trees[row].children[node])
        return self

    def revise(self, *, partial: bool, held=()) -> Climb:
        """Take back what is not needed, the step that regains most information first, but nothing of the columns held."""
        failed = set()
        while undos := [undo for undo in self._undos(partial) if undo not in failed and undo[0] not in held]:
            undo = max(undos, key=self._rank)
            fewer = self._without(undo)
            if self.small(fewer) <= self.allowed:
                self.taken = fewer
            else:
                failed.add(undo)
        return self

    def copy(self) -> Climb:
        other = Climb(self.table, self.k, self.classes, self.allowed)
        other.taken = dict(self.taken)
        return other

    def at_roots(self) -> Climb:
        """Return this climb gone on to the roots of all hierarchies."""
        far = self.copy()
        while (place := far.choose()) is not None:
            far.taken[place] = set(far.trees[place[0]].children[place[1]])
        return far

    def revise_in_turn(self, *, partial: bool) -> Climb:
        """Revise this climb and one at the roots, and then those that hold one column more until nothing gets better."""
        far = self.at_roots()
        best = min(
            (self.copy().revise(partial=partial), far.copy().revise(partial=partial)), key=Climb.information_lost
        )
        held: list[int] = []
        while True:
            values = list(zip(*best.released(), strict=True))
            tries = [
                (far.copy().revise(partial=partial, held=[*held, row]).revise(partial=partial), row)
                for row in range(len(values))
                if row not in held and len(set(values[row])) > 1
            ]
            chosen, row = min(tries, key=lambda one: one[0].information_lost(), default=(best, -1))
            if chosen.information_lost() >= best.information_lost():
                return best
            best = chosen
            held.append(row)

    def information_lost(self) -> int:
        if self.classes is not None:
            return self.class_entropy(self.taken)
        return sum(self._lost(row, moved) for (row, _), moved in self.taken.items())

    def _undos(self, partial: bool):
        for (row, node), moved in self.taken.items():
            tree = self.trees[row]
            if tree.parent[node] != node and node in self.taken.get((row, tree.parent[node]), ()):
                continue
            yield row, node, -1
            if partial and len(moved) > 2:
                for place, child in enumerate(tree.children[node]):
                    if child in moved:
                        yield row, node, place

    def _without(self, undo):
        row, node, place = undo
        if place < 0:
            return {key: moved for key, moved in self.taken.items() if key != (row, node)}
        return self.taken | {(row, node): self.taken[row, node] - {self.trees[row].children[node][place]}}

    def _rank(self, undo):
        row, node, place = undo
        fewer = self._without(undo)
        own = self._lost(row, self.taken[row, node]) - self._lost(row, fewer.get((row, node), set()))
        gain = own if self.classes is None else self.class_entropy(self.taken) - self.class_entropy(fewer)
        return gain, own, -place, (-row, -node)

    def _lost(self, row, moved):
        return self.loss(row, moved) * sum(sum(counts.values()) for counts in self.members(row, moved))

    def class_entropy(self, taken) -> int:
        """Return the entropy of the class among records released alike, summed over the records."""
        groups: dict[tuple[int, ...], Counter] = {}
        for value, label in zip(self.released(taken), self.classes, strict=True):
            groups.setdefault(value, Counter())[label] += 1
        return sum(round(sum(counts.values()) * entropy(counts) * 2**20) for counts in groups.values())

    def labels(self) -> list[int]:
        ranges = []
        for record in self.released():
            below = [self.trees[row].below(node) for row, node in enumerate(record)]
            ranges.append(tuple((codes[0], codes[-1]) for codes in below))
        return label_by(ranges, self.k)


class ClimbByError(Climb):
    """The same with another measure of what joining values loses."""

    impurity = staticmethod(error)


def label_by(released: list, k: int) -> list[int]:
    """Number what is released at least k times, in order; -1 for the rest."""
    sizes = Counter(released)
    kept = sorted(value for value, size in sizes.items() if size >= k)
    number = {value: label for label, value in enumerate(kept)}
    return [number.get(value, -1) for value in released]


def theorem_1(vids: Counter, parents: list[dict[str, str]]) -> set[tuple[int, str]]:
    """Return the generalizations every smallest vid is generalized by a segment of more than one sibling of."""
    least = min(vids.values())
    smallest = [vid for vid, count in vids.items() if count == least]
    found = []
    for level, parent in enumerate(parents):
        passing = {parent.get(smallest[0][level])}
        for vid in smallest:
            segment = {
                other[level]
                for other in vids
                if other[:level] == vid[:level] and parent.get(other[level]) == parent.get(vid[level])
            }
            passing &= {parent.get(vid[level])} if len(segment) > 1 else set()
        found.extend((level, node) for node in passing if node is not None)
    return set(found)


# --- full-domain generalization -----------------------------------------------------------------------------------


def level_maps(table: CodedTable, row: int) -> list[list[tuple[int, int]]]:
    """Return, for each level, the range of codes each code is released as."""
    tree, column = _given_tree(table.columns[row]), table.columns[row]
    nodes, found = list(range(column.cardinality)), []
    while True:
        ranges = [(tree.below(node)[0], tree.below(node)[-1]) for node in nodes]
        if not found or found[-1] != ranges:
            found.append(ranges)
        above = [tree.parent[node] for node in nodes]
        if above == nodes:
            return found
        if column.missing >= 0 and any(tree.parent[node] != node for node in above[: column.missing]):
            above[column.missing] = column.missing
        nodes = above


def level_releases(table: CodedTable):
    """Yield every combination of levels with what it releases."""
    maps = [level_maps(table, row) for row in range(len(table.columns))]
    for chosen in product(*(range(len(levels)) for levels in maps)):
        yield chosen, released_at(table, maps, chosen)


def released_at(table, maps, chosen):
    return [tuple(maps[row][chosen[row]][code] for row, code in enumerate(record)) for record in table.codes.T.tolist()]


def release_cost(table: CodedTable, released: list, k: int) -> float:
    """Return the normalized certainty penalty with small tuples withheld."""
    sizes, total = Counter(released), 0.0
    for record in released:
        if sizes[record] < k:
            total += float(table.weights.sum())
            continue
        for row, (low, high) in enumerate(record):
            column = table.columns[row]
            if low != high:
                share = 1.0 if high == column.missing else (high - low + 1) / len(column.values)
                total += float(table.weights[row]) * share
    return total / (len(released) * float(table.weights.sum()))


def full_domain(table: CodedTable, k: int, allowed: int):
    """Return all minimal level combinations and the least cost among all that hold."""
    holding, costs = set(), {}
    for chosen, released in level_releases(table):
        small = sum(size for size in Counter(released).values() if size < k)
        if small <= allowed:
            holding.add(chosen)
            costs[chosen] = release_cost(table, released, k)
    minimal = {
        chosen
        for chosen in holding
        if not any((*chosen[:axis], chosen[axis] - 1, *chosen[axis + 1 :]) in holding for axis in range(len(chosen)))
    }
    return minimal, costs


def datafly(table: CodedTable, k: int, allowed: int) -> list[int]:
    maps = [level_maps(table, row) for row in range(len(table.columns))]
    chosen = [0] * len(maps)
    while True:
        released = released_at(table, maps, chosen)
        if sum(size for size in Counter(released).values() if size < k) <= allowed:
            return label_by(released, k)
        can_climb = [row for row in range(len(maps)) if chosen[row] + 1 < len(maps[row])]
        distinct = {row: len({record[row] for record in released}) for row in can_climb}
        chosen[max(can_climb, key=lambda row: (distinct[row], -row))] += 1
