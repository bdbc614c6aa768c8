"""Where tables are cut, against a plain reading of the rule."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from shoal.encoding import encode
from shoal.frames import to_frame
from shoal.methods.base import Task
from shoal.methods.mondrian import Mondrian
from shoal.plan.cuts import build_tree
from shoal.plan.fragments import join_leaves
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people


def coded(records=400, seed=0):
    return encode(to_frame(people(records, seed)), QUASI_IDENTIFIERS, hierarchies=HIERARCHIES)


def plain_scores(table, labels):
    """Score every cut of a whole table, row by row, as the rule is written down."""
    found = {}
    records = table.records
    for column, codes in enumerate(table.codes):
        kind = table.columns[column]
        values = sorted(set(codes.tolist()))
        for code in values[:-1]:
            first = codes <= code
            share = first.mean()
            if min(share, 1 - share) < 0.02 or not between_children(kind, values, code):
                continue
            straddle = sum(1 for label in labels if len(set(first[labels == label].tolist())) == 2)
            entropy = -share * math.log2(share) - (1 - share) * math.log2(1 - share)
            found[column, code] = (straddle / records + 0.002) / entropy
    return found


def between_children(kind, values, code):
    """Return whether a cut of all values of a column lies between children of the node above them."""
    if kind.hierarchy is None:
        return True
    paths = {
        value: ("*missing",) if value == kind.missing else kind.hierarchy.path(kind.texts[value])[::-1]
        for value in values
    }
    if kind.missing in values:
        tops = {value: path[1] if value != kind.missing else path[0] for value, path in paths.items()}
    else:
        shared = 0
        while len({path[shared] for path in paths.values()}) == 1:
            shared += 1
        tops = {value: path[shared] for value, path in paths.items()}
    after = values[values.index(code) + 1]
    return tops[code] != tops[after]


@pytest.mark.parametrize("seed", range(3))
def test_the_first_cut_is_the_one_with_the_least_score(seed):
    table = coded(seed=seed)
    labels = Mondrian().run(table, Task(k=8)).labels
    tree = build_tree(table.space, table.codes, labels, most=300)
    scores = plain_scores(table, labels)
    assert scores[int(tree.column[0]), int(tree.code[0])] == pytest.approx(min(scores.values()))


def test_leaves_are_small_and_numbered_depth_first():
    table = coded()
    tree = build_tree(table.space, table.codes, Mondrian().run(table, Task(k=8)).labels, most=60)
    leaf = tree.assign(table.codes)
    assert np.bincount(leaf).max() <= 60
    assert sorted(set(leaf.tolist())) == list(range(tree.leaves))
    branches = [-1 - place for place in walk(tree, 0)]
    assert branches == list(range(tree.leaves))


def walk(tree, place):
    """Yield the leaves below a cut from left to right."""
    for branch in tree.below[place]:
        if branch >= 0:
            yield from walk(tree, branch)
        else:
            yield int(branch)


def test_every_record_goes_where_the_cuts_say():
    table = coded()
    tree = build_tree(table.space, table.codes, Mondrian().run(table, Task(k=8)).labels, most=60)
    for record, leaf in enumerate(tree.assign(table.codes)):
        place = 0
        while place >= 0:
            place = int(tree.below[place][int(table.codes[tree.column[place], record] > tree.code[place])])
        assert leaf == -1 - place


def test_equal_records_are_not_cut():
    table = encode(to_frame(pa.table({"age": [30] * 50})), ["age"])
    tree = build_tree(table.space, table.codes, np.zeros(50, np.int32), most=10)
    assert tree.leaves == 1
    assert set(tree.assign(table.codes).tolist()) == {0}


def test_leaves_that_cannot_stand_join_the_smallest_fragment_beside_them():
    table = coded()
    tree = build_tree(table.space, table.codes, Mondrian().run(table, Task(k=8)).labels, most=60)
    counts = np.bincount(tree.assign(table.codes), minlength=tree.leaves)
    least = int(np.sort(counts)[len(counts) // 2])
    fragment = join_leaves(tree, counts, lambda leaves: counts[list(leaves)].sum() >= least)
    sizes = np.bincount(fragment, counts)
    assert sizes.min() >= least
    assert len(sizes) > 1
    together = join_leaves(tree, counts, lambda leaves: len(leaves) == tree.leaves)
    assert set(together.tolist()) == {0}
