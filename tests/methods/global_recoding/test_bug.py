from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import CodedAttribute, encode
from shoal.errors import ColumnError, DataError, HierarchyError, ParameterError, PrivacyError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.global_recoding.bug import anonymity, anonymity_after, candidate_in
from shoal.kernels.global_recoding.tuple_index import build_index
from shoal.methods.base import Task
from shoal.methods.global_recoding.bug import BottomUpGeneralization
from shoal.methods.global_recoding.climbing import cuts_after, make_climber
from shoal.methods.global_recoding.information import entropy
from shoal.methods.global_recoding.revising import _View
from shoal.testing import check_method
from tests.support.reference_global import Climb, ClimbByError, theorem_1
from tests.support.tables import coded_table

# Figure 1 of the paper: vid, number of records, Y/N.
FIGURE_1 = {
    ("c1", "b2", "a3"): (0, 4),
    ("c1", "b2", "c3"): (0, 4),
    ("c1", "b2", "d3"): (0, 3),
    ("c1", "c2", "a3"): (2, 1),
    ("c1", "c2", "b3"): (2, 2),
    ("d1", "c2", "b3"): (4, 0),
    ("d1", "c2", "e3"): (2, 0),
    ("d1", "d2", "b3"): (2, 1),
    ("d1", "d2", "e3"): (2, 0),
}
HIERARCHIES = {
    "Relationship": Hierarchy.from_dict({"*1": {"e1": ["a1", "b1"], "f1": ["c1", "d1"]}}),
    "Race": Hierarchy.from_dict({"*2": {"e2": ["a2", "b2"], "f2": ["c2", "d2"]}}),
    "Workclass": Hierarchy.from_dict({"*3": ["a3", "b3", {"f3": ["c3", "d3"]}, "e3"]}),
}
NAMES = list(HIERARCHIES)


def figure_1():
    rows = []
    for vid, (yes, no) in FIGURE_1.items():
        rows += [(*vid, "Y")] * yes + [(*vid, "N")] * no
    return pa.table(dict(zip([*NAMES, "C"], map(list, zip(*rows, strict=True)), strict=True)))


def coded_figure_1():
    return encode(Frame(figure_1()), NAMES, hierarchies=HIERARCHIES, attributes=["C"])


def with_classes(table, seed, classes=3):
    codes = np.random.default_rng(seed).integers(0, classes, table.records).astype(np.int32)
    values = pa.array([f"class {code}" for code in range(classes)])
    return replace(table, attributes={"class": CodedAttribute("class", codes, values)})


def released(result):
    return Counter(zip(*(result.released.column(name).to_pylist() for name in NAMES), strict=True))


def run(table=None, **parameters):
    parameters = {"k": 3, "quasi_identifiers": NAMES, "hierarchies": HIERARCHIES, "sensitive": ["C"]} | parameters
    return shoal.anonymize(figure_1() if table is None else table, **parameters)


def test_example_1_takes_one_step_to_three():
    result = run(method=BottomUpGeneralization(target="C", revise=False))
    (step,) = result.details["steps"]
    assert (step.column, step.value, step.joined) == ("Race", "f2", ("c2", "d2"))
    assert (step.gain, step.anonymity) == (1, 3)


def test_example_2_gives_the_papers_new_tuples():
    counts = released(run(method=BottomUpGeneralization(target="C", revise=False)))
    new = {vid: count for vid, count in counts.items() if vid[1] == "f2"}
    assert new == {("d1", "f2", "b3"): 7, ("d1", "f2", "e3"): 4, ("c1", "f2", "a3"): 3, ("c1", "f2", "b3"): 4}
    assert min(counts.values()) == 3


def example_climber(k=3):
    table = coded_figure_1()
    climber = make_climber(table, Task(k=k), table.attributes["C"], pruning=True)
    index = build_index(climber.forest, climber.base.codes, climber.base.size, k)
    node = {}
    for row, column in enumerate(table.columns):
        for number, label in enumerate(column.node_labels):
            node[label] = int(climber.forest.start[row]) + number
    return climber, index, node


def test_at_first_the_smallest_tuples_have_two_records_and_only_f2_is_critical():
    climber, index, node = example_climber()
    assert anonymity(index) == 2
    after = {
        name: anonymity_after(index, climber.forest, climber.scratch, node[name])
        for name in ("e1", "f1", "e2", "f2", "f3")
    }
    assert after == {"e1": 2, "f1": 2, "e2": 2, "f2": 3, "f3": 2}


def test_trying_a_generalization_out_leaves_no_trace():
    climber, index, node = example_climber()
    before = [array.copy() for array in (*index, *climber.scratch[:1])]
    for name in ("f1", "f2", "f3"):
        anonymity_after(index, climber.forest, climber.scratch, node[name])
    for then, now in zip(before, (*index, *climber.scratch[:1]), strict=True):
        assert np.array_equal(then, now)


def test_the_condition_of_theorem_1_holds_of_f1_and_f2_and_fails_for_f3():
    parents = [
        {leaf: tree.path(leaf)[1] for leaf in tree.leaves if tree.path(leaf)[1] != tree.labels[tree.root]}
        for tree in HIERARCHIES.values()
    ]
    vids = Counter({vid: yes + no for vid, (yes, no) in FIGURE_1.items()})
    assert theorem_1(vids, parents) == {(0, "f1"), (1, "f2")}


def test_the_kernels_sharper_condition_keeps_f2_alone():
    climber, index, node = example_climber()
    open_nodes = np.zeros(len(climber.forest.parent), np.bool_)
    open_nodes[[node[name] for name in ("e1", "f1", "e2", "f2", "f3")]] = True
    found = [candidate_in(index, climber.forest, open_nodes, 2, row) for row in range(3)]
    assert found == [-1, node["f2"], -1]


tables = st.builds(
    coded_table,
    st.integers(4, 30),
    st.text("inf", min_size=1, max_size=3),
    st.integers(0, 10**6),
    missing=st.booleans(),
    weighted=st.booleans(),
)


@settings(deadline=None, max_examples=30)
@given(tables, st.integers(2, 4), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_the_kernel_climbs_as_the_plain_reference_does(table, k, classed, pruning, share):
    table = with_classes(table, table.records)
    classes = table.attributes["class"].codes.tolist() if classed else None
    method = BottomUpGeneralization(target="class" if classed else None, pruning=pruning, revise=False)
    found = method.run(table, Task(k=k, max_suppression=share))
    expected = Climb(table, k, classes, int(share * table.records + 1e-9)).run()
    assert found.labels.tolist() == expected.labels()


@settings(deadline=None, max_examples=30)
@given(tables, st.integers(2, 4), st.booleans(), st.booleans())
def test_another_metric_named_or_ones_own_is_climbed_by_as_in_the_plain_reference(table, k, classed, own):
    table = with_classes(table, table.records)
    classes = table.attributes["class"].codes.tolist() if classed else None
    metric = guessing_error if own else "error"
    method = BottomUpGeneralization(target="class" if classed else None, metric=metric, revise=False)
    assert method.run(table, Task(k=k)).labels.tolist() == ClimbByError(table, k, classes).run().labels()


def guessing_error(members):
    """Return by how many of all records guessing the most common class fails more often once the values are joined."""
    size = members.sum()
    return (members.max(axis=1).sum() - members.sum(axis=0).max()) / size if size else 0.0


def test_the_metric_decides_the_steps():
    table = with_classes(coded_table(300, "nfn", 5), 3)
    steps = {
        metric: [
            (step.column, step.value)
            for step in BottomUpGeneralization("class", metric, revise=False).run(table, Task(k=10)).details["steps"]
        ]
        for metric in ("entropy", "gini", "error")
    }
    assert steps["entropy"] != steps["error"]
    assert len(steps["gini"]) > 0


@pytest.mark.parametrize("answer", [-1.0, float("nan"), float("inf")])
def test_a_metric_whose_answer_means_nothing_is_refused(answer):
    method = BottomUpGeneralization(target="C", metric=lambda members: answer)
    with pytest.raises(ParameterError, match="'metric' function of BottomUpGeneralization must return a finite number"):
        run(method=method)


def test_an_unknown_metric_is_refused():
    with pytest.raises(ParameterError, match="'metric' parameter of BottomUpGeneralization must be one of 'entropy'"):
        BottomUpGeneralization(metric="entropie")


def test_a_metric_of_ones_own_is_revised_by_and_told_in_the_details_but_no_recipe_can_hold_it(tmp_path):
    method = BottomUpGeneralization(target="C", metric=guessing_error)
    result = run(method=method)
    assert result.audit.k >= 3
    assert result.details["information"].startswith("own metric of the class column 'C'")
    anonymizer = shoal.Anonymizer(k=3, quasi_identifiers=NAMES, sensitive=["C"], method=method)
    with pytest.raises(
        ParameterError, match="'metric' of the method 'bug' is a function, which a recipe file cannot hold"
    ):
        anonymizer.save(tmp_path / "recipe.toml")
    assert not list(tmp_path.iterdir())


@settings(deadline=None, max_examples=20)
@given(tables, st.integers(2, 4), st.booleans(), st.booleans())
def test_the_method_revises_as_the_plain_reference_does(table, k, classed, partial):
    table = with_classes(table, table.records)
    classes = table.attributes["class"].codes.tolist() if classed else None
    found = BottomUpGeneralization(target="class" if classed else None, partial=partial).run(table, Task(k=k))
    assert found.labels.tolist() == Climb(table, k, classes).run().revise_in_turn(partial=partial).labels()


def test_revising_a_wide_flat_hierarchy_divides_the_groups_about_once_for_each_value(monkeypatch):
    # a column of 150 values on one floor once took hours: every round tried every value, and had to be told by all tuples
    values = [float(value) for value in range(150)]
    data = pa.table({"a": values, "b": values[::-1], "s": [number % 3 for number in range(150)]})
    divided = []
    whole = _View._divided
    monkeypatch.setattr(_View, "_divided", lambda view, undo: divided.append(undo) or whole(view, undo))
    result = shoal.anonymize(
        data, k=3, quasi_identifiers=["a", "b"], sensitive=["s"], hierarchies={"a": "flat", "b": "flat"}, method="bug",
        max_suppression=0.5,
    )  # fmt: skip
    assert result.audit.k >= 3
    assert 150 < len(divided) < 2000  # six revisions, each of 300 values; 130,000 if each round looked at all


@settings(deadline=None, max_examples=20)
@given(tables, st.integers(2, 5))
def test_every_candidate_of_the_kernel_is_critical_and_none_is_missed(table, k):
    climber = make_climber(table, Task(k=k), None, pruning=True)
    state = climber._start(None)
    least = anonymity(state.index)
    if least == k:
        return
    critical = {
        int(node)
        for node in np.flatnonzero(state.open_nodes)
        if anonymity_after(state.index, climber.forest, climber.scratch, int(node)) > least
    }
    rows = range(len(table.columns))
    found = {candidate_in(state.index, climber.forest, state.open_nodes, least, row) for row in rows} - {-1}
    assert critical <= found
    assert len(found) <= len(table.columns)


def test_pruning_changes_how_many_are_tried_but_no_step():
    table = with_classes(coded_table(400, "nfnf", 3), 4)
    with_it, without = (
        BottomUpGeneralization("class", pruning=pruning, revise=False).run(table, Task(k=8)).details["steps"]
        for pruning in (True, False)
    )
    assert [replace(step, tried=0) for step in with_it] == [replace(step, tried=0) for step in without]
    assert sum(step.tried for step in with_it) < sum(step.tried for step in without)


def lost(table, grouping):
    """Return the entropy of the class among records released alike, summed over the records."""
    classes = table.attributes["class"].codes
    counts = np.array([np.bincount(classes[grouping.labels == group], minlength=3) for group in set(grouping.labels)])
    return float((counts.sum(axis=1) * entropy(counts)).sum())


@pytest.mark.parametrize("seed", range(2))
def test_annealing_never_loses_more_than_the_greedy_climb(seed):
    table = with_classes(coded_table(300, "nfni", seed), seed)
    greedy = BottomUpGeneralization("class").run(table, Task(k=6))
    annealed = BottomUpGeneralization("class", stochastic=True).run(table, Task(k=6, effort="fast", seed=seed))
    assert lost(table, annealed) <= lost(table, greedy) + 1e-6
    assert np.bincount(annealed.labels).min() >= 6


def test_annealing_finds_less_loss_where_the_greedy_order_is_poor():
    table = with_classes(coded_table(200, "iin", 9), 9)
    greedy = BottomUpGeneralization("class").run(table, Task(k=6))
    annealed = BottomUpGeneralization("class", stochastic=True).run(table, Task(k=6, effort="fast"))
    assert lost(table, annealed) < lost(table, greedy) - 1e-3


def test_the_steps_lead_to_the_cuts():
    table = with_classes(coded_table(200, "nfi", 5), 6)
    for partial in (False, True):
        grouping = BottomUpGeneralization("class", partial=partial).run(table, Task(k=5))
        cuts = cuts_after(grouping.details["steps"], [column.cardinality for column in table.columns])
        assert all(np.array_equal(one, other) for one, other in zip(cuts, grouping.cuts, strict=True))


def test_withholding_records_saves_steps():
    table = with_classes(coded_table(300, "nfn", 8), 9)
    plain = BottomUpGeneralization("class", revise=False).run(table, Task(k=10))
    allowed = BottomUpGeneralization("class", revise=False).run(table, Task(k=10, max_suppression=0.2))
    assert len(allowed.details["steps"]) < len(plain.details["steps"])
    assert 0 < (allowed.labels < 0).sum() <= 60


def test_without_a_class_the_measure_is_named():
    assert "no class column" in run(method="bug").details["information"]


def test_a_column_of_text_without_a_hierarchy_is_refused():
    with pytest.raises(HierarchyError, match=r"needs a hierarchy for column 'Race'(?s:.*)flat"):
        run(method="bug", hierarchies={name: HIERARCHIES[name] for name in ("Relationship", "Workclass")})


def test_a_class_column_among_the_quasi_identifiers_is_refused():
    with pytest.raises(ColumnError, match="'Race' is also a quasi-identifier"):
        run(method=BottomUpGeneralization(target="Race"))


def test_an_unknown_class_column_is_refused():
    with pytest.raises(ColumnError, match="Cx"):
        run(method=BottomUpGeneralization(target="Cx"))


def test_records_without_a_class_are_refused():
    table = figure_1()
    holes = [None if place < 2 else value for place, value in enumerate(table.column("C").to_pylist())]
    with pytest.raises(DataError, match="'C' has no value in 2 of 29"):
        run(table.set_column(3, "C", pa.array(holes)), method=BottomUpGeneralization(target="C"))


def test_what_cannot_be_reached_is_refused():
    with pytest.raises(PrivacyError, match="even with every quasi-identifier generalized"):
        BottomUpGeneralization().run(coded_figure_1(), Task(k=30))


def test_the_method_passes_every_check():
    # a hierarchy, also a flat one, refuses an empty text as a label
    check_method("bug", skip=["check_unicode"])


SETTING_P4 = ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"]


def adult(data_path, name):
    return pyarrow.csv.read_csv(data_path(f"adult/{name}.csv")).select([*SETTING_P4, "salary-class"])


@pytest.mark.parametrize("k", [10, 20, 50, 100, 150, 200, 300, 500])
def test_the_error_on_adult_stays_within_the_papers_bound(data_path, k):
    pytest.importorskip("sklearn")
    result = shoal.anonymize(
        adult(data_path, "adult"),
        k=k,
        quasi_identifiers=SETTING_P4,
        hierarchies={name: data_path(f"adult/hierarchies/{name}.csv") for name in SETTING_P4},
        sensitive=["salary-class"],
        method=BottomUpGeneralization(target="salary-class"),
    )
    test = adult(data_path, "adult_test")
    found = shoal.metrics.classification_error(result, "salary-class", test=test)
    assert found.baseline == pytest.approx(0.174, abs=0.001)
    assert found.worst == pytest.approx(0.246, abs=0.001)
    assert found.lost <= 0.011
