"""The count of all whole-subtree generalizations, and that revising a climb finds the best of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from benchmarks.papers.subtrees import whole_subtrees

from shoal.encoding import CodedAttribute, encode
from shoal.frames import to_frame
from shoal.methods.base import Task
from shoal.methods.global_recoding.bug import BottomUpGeneralization
from tests.support.reference_global import trees
from tests.support.tables import coded_table

SETTING_P4 = ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"]


def adult_table(data_path):
    hierarchies = {name: data_path(f"adult/hierarchies/{name}.csv") for name in SETTING_P4}
    train = to_frame(pyarrow.csv.read_csv(data_path("adult/adult.csv")))
    return encode(train, SETTING_P4, hierarchies=hierarchies, attributes=["salary-class"])


@pytest.mark.parametrize(("k", "releases", "error"), [(200, 38, 0.1870), (300, 33, 0.1875), (500, 10, 0.2290)])
def test_revising_finds_the_best_of_all_whole_subtree_releases_of_adult(data_path, k, releases, error):
    table = adult_table(data_path)
    all_there_are = whole_subtrees(table, "salary-class", k)
    assert (all_there_are.releases, all_there_are.complete) == (releases, True)
    assert all_there_are.least_error == pytest.approx(error, abs=5e-5)
    labels = BottomUpGeneralization("salary-class", partial=False).run(table, Task(k=k)).labels
    counts = np.zeros((labels.max() + 1, 2), np.int64)
    np.add.at(counts, (labels, table.attributes["salary-class"].codes), 1)
    assert counts.min(axis=1).sum() / len(labels) == pytest.approx(all_there_are.least_error)


@pytest.mark.parametrize("seed", range(3))
def test_all_whole_subtree_releases_are_those_a_plain_count_finds(seed):
    table = coded_table(60, "nf", seed)
    codes = np.random.default_rng(seed).integers(0, 2, table.records).astype(np.int32)
    table = replace(table, attributes={"class": CodedAttribute("class", codes, pa.array(["no", "yes"]))})
    found = whole_subtrees(table, "class", 5)
    plain = plain_whole_subtrees(table, 5)
    assert (found.releases, found.complete) == (len(plain), True)
    assert found.least_error == pytest.approx(min(plain.values()))


def plain_whole_subtrees(table, k):
    """Return the training error of each distinct grouping that some cut through every hierarchy gives."""
    classes = table.attributes["class"].codes.tolist()
    found = {}
    for cuts in product(*(subtree_cuts(tree, root_of(tree)) for tree in trees(table))):
        groups = {}
        for place, record in enumerate(table.codes.T.tolist()):
            groups.setdefault(tuple(cut[code] for cut, code in zip(cuts, record, strict=True)), []).append(place)
        if min(map(len, groups.values())) >= k:
            right = sum(max(Counter(classes[place] for place in group).values()) for group in groups.values())
            found[frozenset(map(frozenset, groups.values()))] = 1 - right / len(classes)
    return found


def root_of(tree):
    return next(node for node, above in tree.parent.items() if node == above)


def subtree_cuts(tree, node):
    """Return every map from the codes below a node to the node they are released as."""
    if node not in tree.children:
        return [{node: node}]
    below = [subtree_cuts(tree, child) for child in tree.children[node]]
    finer = [{code: to for cut in cuts for code, to in cut.items()} for cuts in product(*below)]
    return [dict.fromkeys(tree.below(node), node), *finer]
