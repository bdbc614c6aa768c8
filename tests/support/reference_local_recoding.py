"""Bottom-Up and Top-Down in plain Python, from Xu et al. (2006), Figures 4 and 5, and the rules for ties."""

from __future__ import annotations


class Table:
    """Records as tuples of codes, and what a list of them costs."""

    def __init__(self, columns, weights, records):
        self.columns, self.weights, self.records = columns, weights, records

    def cost(self, members):
        """Return the weighted cost of a group for each of its records."""
        total = 0.0
        for i, (column, weight) in enumerate(zip(self.columns, self.weights, strict=True)):
            total += weight * column.cost([self.records[member][i] for member in members])
        return total

    def penalty(self, members):
        """Return NCP(G), counted over all records of the group."""
        return len(members) * self.cost(members)


def labels_of(groups, records):
    labels = [None] * records
    for number, members in enumerate(groups):
        for member in members:
            labels[member] = number
    return labels


def nearest_group(table, groups, asking, *, increase=False):
    """Return the group with the least penalty of the union, or of what the union has more than the other had; the lowest among equals."""
    others = [number for number, members in enumerate(groups) if members and number != asking]

    def penalty(number):
        union = groups[asking] + groups[number]
        if not increase:
            return table.penalty(union)
        widening = table.cost(union) - table.cost(groups[number])
        return len(groups[asking]) * table.cost(union) + len(groups[number]) * widening

    return min(others, key=lambda number: (penalty(number), number), default=None)


def split_group(table, members, k):
    """Cut a group into ⌊n/k⌋ pieces of at least k."""
    left, pieces = list(members), []
    for _ in range(len(members) // k - 1):
        first = left[0]
        piece = [max(left, key=lambda member: (table.cost([first, member]), -left.index(member)))]
        left.remove(piece[0])
        while len(piece) < k:
            piece.append(min(left, key=lambda member: (table.cost([*piece, member]), left.index(member))))
            left.remove(piece[-1])
        pieces.append(piece)
    return [*pieces, left]


def bottom_up(columns, weights, records, k, *, increase=True, split=True):
    """Return the label of each record."""
    table = Table(columns, weights, records)
    groups = [[record] for record in range(len(records))]
    while len(groups) > 1 and any(len(members) < k for members in groups):
        for asking in range(len(groups)):
            if 0 < len(groups[asking]) < k:
                other = nearest_group(table, groups, asking, increase=increase)
                if other is not None:
                    groups[asking] = groups[asking] + groups[other]
                    groups[other] = []
        groups = [members for members in groups if members]
        if split:
            groups = [piece for members in groups for piece in split_group(table, members, k)]
    return labels_of(groups, len(records))


def find_seeds(table, part, rounds):
    """Return two members of ``part`` far apart: from the first on, each round the farthest from the last found."""
    one = other = part[0]
    most = 0.0
    for _ in range(rounds):
        farthest = max(part, key=lambda member: (table.cost([other, member]), -part.index(member)))
        if table.cost([other, farthest]) <= most:
            break
        one, other, most = other, farthest, table.cost([other, farthest])
    return (one, other) if most > 0 else (part[0], part[-1])


def cut(table, part, rounds):
    """Assign each member of ``part``, in order, to the side whose penalty it raises least."""
    seeds = find_seeds(table, part, rounds)
    sides = [[seeds[0]], [seeds[1]]]
    for member in part:
        if member not in seeds:
            growth = [table.penalty([*side, member]) - table.penalty(side) for side in sides]
            sides[(growth[1], len(sides[1])) < (growth[0], len(sides[0]))].append(member)
    return [[member for member in part if member in side] for side in sides]


def partition(table, part, k, rounds):
    """Return the groups into which ``part`` is cut."""
    if len(part) <= k:
        return [part]
    sides = cut(table, part, rounds)
    if max(map(len, sides)) < k:
        return [part]
    return [group for side in sides for group in partition(table, side, k, rounds)]


def pull(table, group, donor, lacking):
    """Return the group with the ``lacking`` cheapest records of ``donor``, and what is left of the donor."""
    taken, left = [], list(donor)
    for _ in range(lacking):
        taken.append(min(left, key=lambda member: (table.cost([*group, *taken, member]), left.index(member))))
        left.remove(taken[-1])
    return group + taken, left


def repair(table, groups, k, small):
    """Give groups[small] more records: the lacking ones of one donor, or all of its nearest group."""
    group = groups[small]
    other = nearest_group(table, groups, small)
    donors = [number for number, members in enumerate(groups) if len(members) >= 2 * k - len(group)]
    if donors:
        pulls = {number: pull(table, group, groups[number], k - len(group)) for number in donors}
        donor = min(donors, key=lambda number: (table.cost(pulls[number][0]), number))
        whole, rest = pulls[donor]
        pull_growth = table.penalty(whole) + table.penalty(rest) - table.penalty(groups[donor])
        if pull_growth <= table.penalty(group + groups[other]) - table.penalty(groups[other]):
            groups[small], groups[donor] = whole, rest
            return
    groups[small], groups[other] = group + groups[other], []


def top_down(columns, weights, records, k, order, *, rounds=3):
    """Return the label of each record."""
    table = Table(columns, weights, records)
    groups = partition(table, list(order), k, rounds)
    for small in range(len(groups)):
        while 0 < len(groups[small]) < k:
            repair(table, groups, k, small)
    return labels_of([members for members in groups if members], len(records))
