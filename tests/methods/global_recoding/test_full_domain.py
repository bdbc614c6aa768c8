from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.errors import CancelledError, HierarchyError, ParameterError
from shoal.frames import Frame
from shoal.methods.base import Task
from shoal.methods.global_recoding.full_domain import Datafly, Incognito
from shoal.methods.stopping import cancellable
from shoal.testing import check_method
from tests.support import reference_global
from tests.support.tables import coded_table

SETTING_A = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
tables = st.builds(
    coded_table,
    st.integers(4, 30),
    st.text("nf", min_size=1, max_size=3),
    st.integers(0, 10**6),
    missing=st.booleans(),
    weighted=st.booleans(),
)


@settings(deadline=None, max_examples=30)
@given(tables, st.integers(2, 5), st.sampled_from([0.0, 0.1, 0.3]))
def test_incognito_finds_what_looking_at_every_combination_finds(table, k, share):
    k = min(k, table.records)
    minimal, costs = reference_global.full_domain(table, k, int(share * table.records + 1e-9))
    details = Incognito().run(table, Task(k=k, max_suppression=share)).details
    assert {tuple(one.levels.values()) for one in details["solutions"]} == minimal
    assert details["chosen"].ncp == pytest.approx(min(costs.values()))
    assert costs[tuple(details["chosen"].levels.values())] == pytest.approx(min(costs.values()))


@settings(deadline=None, max_examples=30)
@given(tables, st.integers(2, 5), st.sampled_from([0.0, 0.2]))
def test_datafly_climbs_as_the_plain_reference_does(table, k, share):
    k = min(k, table.records)
    found = Datafly().run(table, Task(k=k, max_suppression=share))
    allowed = min(k, int(share * table.records + 1e-9))
    assert found.labels.tolist() == reference_global.datafly(table, k, allowed)


def test_datafly_withholds_at_most_k_records_unless_told_otherwise():
    table = coded_table(200, "nfn", 11)
    few = Datafly().run(table, Task(k=5, max_suppression=0.5))
    many = Datafly(at_most_k=False).run(table, Task(k=5, max_suppression=0.5))
    assert (few.labels < 0).sum() <= 5 < (many.labels < 0).sum() <= 100


@pytest.mark.parametrize("measure", ["dm", "c_avg", "height"])
def test_the_chosen_solution_is_the_best_by_the_measure_asked_for(measure):
    table = coded_table(120, "nfnf", 2)
    details = Incognito(measure=measure).run(table, Task(k=6)).details
    values = {"dm": lambda one: one.dm, "c_avg": lambda one: -one.groups, "height": lambda one: one.height}[measure]
    assert values(details["chosen"]) == min(map(values, details["solutions"]))
    assert len(details["solutions"]) > 1


def test_the_loss_of_a_solution_is_that_of_the_release():
    table = pa.table({"a": list("bcdefg") * 5, "b": list("xyz") * 10})
    tree = shoal.Hierarchy.from_dict({"*": {"low": ["b", "c", "d"], "high": ["e", "f", "g"]}})
    for share in (0.0, 0.4):
        result = shoal.anonymize(
            table,
            k=6,
            quasi_identifiers=["a", "b"],
            hierarchies={"a": tree, "b": "flat"},
            method="incognito",
            max_suppression=share,
        )
        chosen = result.details["chosen"]
        assert chosen.ncp == pytest.approx(result.metrics["ncp"])
        assert (chosen.dm, chosen.groups) == (result.metrics["dm"], result.metrics["groups"])


def test_a_lattice_too_large_is_refused_at_once_with_the_numbers():
    with pytest.raises(ParameterError, match=r"5 × 2 = 10 level combinations; 'max_nodes' allows 9"):
        Incognito(max_nodes=9).run(coded_table(50, "nf", 2), Task(k=2))


@pytest.mark.parametrize("method", ["datafly", "incognito"])
def test_a_column_without_a_hierarchy_is_refused(method):
    table = pa.table({"age": [1, 2, 3, 4]})
    with pytest.raises(HierarchyError, match=r"needs a hierarchy for column 'age'(?s:.*)flat"):
        shoal.anonymize(table, k=2, quasi_identifiers=["age"], method=method)


@pytest.mark.parametrize(("k", "ncp", "groups"), [(2, 0.6127, 52), (10, 0.6502, 24), (100, 0.7042, 12)])
def test_the_least_loss_on_adult_is_the_known_optimum(data_path, k, ncp, groups):
    table = pyarrow.csv.read_csv(data_path("adult/adult.csv")).select(SETTING_A)
    trees = {name: data_path(f"adult/hierarchies/{name}.csv") for name in SETTING_A}
    result = shoal.anonymize(table, k=k, quasi_identifiers=SETTING_A, hierarchies=trees, method="incognito")
    assert round(result.metrics["ncp"], 4) == ncp
    assert result.metrics["groups"] == groups


@pytest.mark.parametrize("method", ["datafly", "incognito"])
def test_the_method_passes_every_check(method):
    # a hierarchy, also a flat one, refuses an empty text as a label
    check_method(method, skip=["check_unicode"])


ZIPS = shoal.Hierarchy.from_dict(
    {"*": {"511**": {"5110*": ["51107"], "5111*": ["51110", "51111"]}, "402**": {"4021*": ["40213"]}}}
)


def test_a_cell_shows_the_label_of_its_level_though_the_node_has_one_value():
    """At the level of 5110* the value 51107 is not an exception: it would say more than the level says."""
    people = {"zip": ["51107"] * 3 + ["51110", "51111", "51111"] + ["40213"] * 3}
    for method in ("incognito", "datafly"):
        asked = {"k": 3, "quasi_identifiers": ["zip"], "hierarchies": {"zip": ZIPS}, "method": method}
        result = shoal.anonymize(people, **asked)
        assert result.data["zip"] == ["5110*"] * 3 + ["5111*"] * 3 + ["4021*"] * 3
        assert result.transform({"zip": ["51107", "51110"] * 3})["zip"] == ["5110*", "5111*"] * 3
    bug = shoal.anonymize(people, **asked | {"method": "bug"})
    assert bug.data["zip"] == ["51107"] * 3 + ["5111*"] * 3 + ["40213"] * 3


def test_levels_are_numbered_as_the_hierarchy_counts_them():
    """Nothing but labels changes from the first level to the second, and both are levels of the hierarchy."""
    chained = shoal.Hierarchy.from_dict({"*": {"A": {"a": ["1", "2"]}, "B": {"b": ["3", "4"]}}})
    people = {"code": ["1", "2", "3", "4"], "sex": ["f", "m", "f", "m"]}
    asked = {"k": 4, "quasi_identifiers": ["code", "sex"], "hierarchies": {"code": chained, "sex": "flat"}}
    result = shoal.anonymize(people, method="incognito", **asked)
    assert dict(result.solutions[0].levels) == {"code": 3, "sex": 1}
    steps = shoal.anonymize(people, method="datafly", **asked).steps
    assert [(step.column, step.level) for step in steps if step.column == "code"] == [("code", 1), ("code", 3)]


class Clock:
    """A clock that moves by a second each time it is read."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def comparing(**more):
    rng = np.random.default_rng(0)
    frame = Frame(pa.table({name: rng.choice(list("abcdefgh"), 80) for name in "qrst"}))
    tree = shoal.Hierarchy.from_dict(
        {"*": {"x": {"u": ["a", "b"], "v": ["c", "d"]}, "y": {"w": ["e", "f"], "z": ["g", "h"]}}}
    )
    table = encode(frame, list("qrst"), hierarchies=dict.fromkeys("qrst", tree))
    return table, Task(k=4, max_suppression=0.3, **more)


def test_incognito_ends_its_comparison_at_the_deadline_with_a_solution_that_holds():
    table, task = comparing()
    whole = Incognito().run(table, task)
    table, hurried = comparing(effort=3.0, clock=Clock())
    found = Incognito().run(table, hurried)
    assert len(found.details["solutions"]) < len(whole.details["solutions"])
    size = np.bincount(found.labels[found.labels >= 0])
    assert size.min() >= 4
    assert (found.labels < 0).sum() <= 24


def test_incognito_ends_its_search_of_the_lattice_at_the_deadline():
    def tests(**changes):
        told = []
        table, task = comparing(progress=lambda _, text: told.append(text), **changes)
        size = np.bincount((found := Incognito().run(table, task)).labels[found.labels >= 0])
        assert size.min() >= 4
        return told.count("searching the lattice")

    assert tests(effort=1.0, clock=Clock()) < tests()


@pytest.mark.parametrize("wanted", ["raise", "best"])
def test_incognito_looks_at_cancel_while_it_compares_solutions(wanted):
    cancel, heard = threading.Event(), []

    def progress(_, text):
        heard.append(text)
        if heard.count("comparing solutions") == 3:
            cancel.set()

    table, task = comparing(on_interrupt=wanted, cancel=cancel, progress=progress)
    running = replace(task, progress=cancellable(task.progress, cancel))
    if wanted == "raise":
        with pytest.raises(CancelledError):
            Incognito().run(table, running)
    else:
        found = Incognito().run(table, running)
        assert np.bincount(found.labels[found.labels >= 0]).min() >= 4
    assert heard.count("comparing solutions") == 3
