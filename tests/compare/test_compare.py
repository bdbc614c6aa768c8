from __future__ import annotations

import json
import re
import sys
import threading
import time
import warnings
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.compare import RULE, Comparison, Point, frontier, recommend
from shoal.compare import points as points_module
from shoal.errors import ColumnError, FileError, MissingExtraError, ParameterError, PrivacyError
from shoal.methods.base import Grouping, Method, MethodInfo

pytestmark = pytest.mark.compiled

compare_module = sys.modules["shoal.compare"]
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}


def small_table(records=120):
    random = np.random.default_rng(1)
    return pa.table(
        {
            "age": random.integers(18, 90, records),
            "sex": random.choice(["f", "m"], records),
            "ill": random.choice(["flu", "gout"], records),
            "note": ["n"] * records,
        }
    )


def point(k, loss, *, method="a", sampled=False):
    return Point(method, None, k, 100, sampled, loss=loss, risk=1 / k)


def without_time(comparison):
    return [replace(one, seconds=None) for one in comparison.points]


@dataclass(frozen=True)
class OneGroup(Method):
    """Everybody together; with a dial that does nothing."""

    info: ClassVar[MethodInfo] = MethodInfo("one-group", "One group", "local", "none", "O(n)", uses_effort=True)

    def run(self, table, task):
        return Grouping(np.zeros(table.records, np.int32))


@dataclass(frozen=True)
class Impossible(Method):
    info: ClassVar[MethodInfo] = MethodInfo("impossible", "Impossible", "local", "none", "O(1)")

    def run(self, table, task):
        raise PrivacyError("No groups were found.", hint="none")


@dataclass(frozen=True)
class Endless(Method):
    """Goes on until it is told to stop, and gives up after a long while so that a failing test ends."""

    info: ClassVar[MethodInfo] = MethodInfo("endless", "Endless", "local", "none", "O(1)")
    ended: ClassVar[list[str]] = []
    started: ClassVar[threading.Event] = threading.Event()

    def run(self, table, task):
        self.started.set()
        try:
            for _ in range(3000):
                task.progress(0.5, "turning")
                time.sleep(0.01)
        except BaseException:
            self.ended.append("stopped")
            raise
        self.ended.append("ran to its end")
        return Grouping(np.zeros(table.records, np.int32))


# --- the recommended point ---------------------------------------------------------------------------------------


def test_the_knee_is_recommended():
    points = [point(2, 0.02), point(5, 0.05), point(10, 0.08), point(20, 0.30), point(50, 0.50)]
    assert recommend(points).k == 10


def test_where_no_point_lies_below_the_line_the_largest_k_is_recommended():
    assert recommend([point(2, 0.1), point(4, 0.2), point(8, 0.3)]).k == 8
    assert recommend([point(2, 0.1), point(4, 0.29), point(8, 0.3)]).k == 8
    assert recommend([point(2, 0.1), point(50, 0.9)]).k == 50
    assert recommend([point(2, 0.1)]).k == 2


def test_for_each_k_the_release_that_loses_least_counts_and_of_equals_the_first():
    points = [point(5, 0.3), point(5, 0.2, method="b"), point(5, 0.2, method="c"), point(9, 0.4)]
    assert [(one.k, one.method) for one in frontier(points)] == [(5, "b"), (9, "a")]


def test_points_of_the_whole_table_go_before_those_of_a_sample():
    sampled = [point(2, 0.01, sampled=True), point(5, 0.02, sampled=True), point(10, 0.5, sampled=True)]
    assert recommend(sampled).k == 5
    assert recommend([*sampled, point(2, 0.3)]).loss == 0.3


def test_nothing_is_recommended_where_nothing_was_made():
    assert recommend([Point("a", None, 5, 100, sampled=False, fault="no")]) is None


# --- running -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_points_are_those_of_single_releases(workers):
    table = small_table()
    found = shoal.compare(table, methods=["mondrian", "mdav"], k=[4, 2], workers=workers, **ROLES)
    assert [(one.method, one.k) for one in found.points] == [
        ("mondrian", 2),
        ("mondrian", 4),
        ("mdav", 2),
        ("mdav", 4),
    ]
    for one in found.points:
        result = shoal.anonymize(table.drop(["note"]), method=one.method, k=one.k, **ROLES)
        assert one.loss == result.metrics["ncp"]
        assert one.risk == 1 / result.audit.k
        assert one.groups == result.audit.groups
        assert one.fault is None


def test_efforts_are_tried_only_where_a_method_has_the_dial():
    found = shoal.compare(small_table(), methods=[OneGroup(), "mondrian"], k=5, efforts=["fast", 2.5], **ROLES)
    assert [one.series for one in found.points] == ["one-group, fast", "one-group, 2.5 s", "mondrian"]


def test_options_of_a_method_are_part_of_its_name():
    found = shoal.compare(small_table(), methods=["mondrian", shoal.Mondrian(strict=False)], k=5, **ROLES)
    assert [one.method for one in found.points] == ["mondrian", "mondrian (strict=False)"]


def test_points_are_told_as_they_finish():
    told = []
    found = shoal.compare(small_table(), methods="mondrian", k=[2, 3, 4], on_point=told.append, **ROLES)
    assert sorted(told, key=lambda one: one.k) == list(found.points)


def test_what_cannot_be_made_says_why_and_the_rest_goes_on():
    found = shoal.compare(small_table(), methods=[Impossible(), "mondrian"], k=5, **ROLES)
    assert [one.fault for one in found.points] == ["No groups were found.", None]
    assert found.recommended.method == "mondrian"


def test_where_nothing_can_be_made_the_first_fault_is_raised():
    with pytest.raises(PrivacyError, match="No groups were found"):
        shoal.compare(small_table(), methods=[Impossible()], k=5, **ROLES)


def test_a_large_table_starts_with_a_sample_and_says_so(monkeypatch):
    monkeypatch.setattr(compare_module, "LARGE_RECORDS", 100)
    monkeypatch.setattr(compare_module, "SAMPLE_RECORDS", 60)
    told = []
    found = shoal.compare(small_table(), methods="mondrian", k=[2, 5], on_point=told.append, **ROLES)
    assert [(one.sampled, one.records) for one in told] == [(True, 60)] * 2 + [(False, 120)] * 2
    assert not found.recommended.sampled
    assert sum(one["drawn"] for one in found.content["points"]) == 2
    only = shoal.compare(small_table(), methods="mondrian", k=[2, 5], whole=False, **ROLES)
    assert {one.sampled for one in only.points} == {True}
    assert "(sample)" in json.dumps(only.plot())
    assert "sparser" in only.html


def test_a_small_table_is_not_sampled_unless_asked():
    assert {one.sampled for one in shoal.compare(small_table(), methods="mondrian", k=2, **ROLES).points} == {False}
    asked = shoal.compare(small_table(), methods="mondrian", k=2, sample=50, **ROLES)
    assert [one.records for one in asked.points] == [120, 50]


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"k": [1, 5]}, ParameterError, "'k' parameter of compare must be an int of at least 2"),
        ({"k": [500]}, ParameterError, "'k' parameter of compare must be an int from 2 to 120"),
        ({"k": []}, ParameterError, "must name at least one"),
        ({"methods": ["mondrain"]}, ParameterError, "did you mean 'mondrian'"),
        ({"method": "mondrian"}, ParameterError, "compare has no parameter 'method'"),
        ({"sample": "some"}, ParameterError, "'sample' parameter"),
        ({"workers": 0}, ParameterError, "'workers' parameter"),
        ({"quasi_identifiers": ["aeg"]}, ColumnError, "did you mean 'age'"),
    ],
)
def test_wrong_parameters_are_refused_before_the_work(changes, error, says):
    with pytest.raises(error, match=says):
        shoal.compare(small_table(), **{"methods": "mondrian", "k": [2], **ROLES} | changes)


# --- interrupt and resume ----------------------------------------------------------------------------------------


def interrupt_after(number):
    seen = []

    def on_point(one):
        seen.append(one)
        if len(seen) == number:
            Endless.started.wait(10)
            raise KeyboardInterrupt

    return on_point


def test_an_interrupt_stops_what_is_running_and_keeps_what_is_finished(tmp_path):
    Endless.ended.clear()
    Endless.started.clear()
    state = tmp_path / "state.jsonl"
    asked = {"methods": ["mondrian", Endless()], "k": [5], "workers": 2, "state": state, **ROLES}
    with pytest.raises(KeyboardInterrupt):
        shoal.compare(small_table(), on_point=interrupt_after(1), **asked)
    assert Endless.ended == ["stopped"]
    assert [json.loads(line)["point"]["method"] for line in state.read_text("utf-8").splitlines()] == ["mondrian"]


def test_an_interrupt_can_give_back_what_is_finished():
    Endless.started.clear()
    found = shoal.compare(
        small_table(),
        methods=["mondrian", Endless()],
        k=[5],
        workers=2,
        on_point=interrupt_after(1),
        on_interrupt="partial",
        **ROLES,
    )
    assert not found.complete
    assert [one.method for one in found.points] == ["mondrian"]
    assert "Not all points are finished" in found.html


@pytest.fixture
def runs(monkeypatch):
    """Return the list of the points that were really run."""
    made = []
    run = points_module.run_plan

    def counting(plan, *arguments, **more):
        made.append((plan.point.method, plan.point.k))
        return run(plan, *arguments, **more)

    monkeypatch.setattr(compare_module, "run_plan", counting)
    return made


def test_a_second_run_takes_finished_points_from_the_state(tmp_path, runs):
    state = tmp_path / "state.jsonl"
    first = shoal.compare(small_table(), methods="mondrian", k=[2, 5], state=state, **ROLES)
    again = shoal.compare(small_table(), methods="mondrian", k=[2, 5, 9], state=state, **ROLES)
    assert sorted(runs) == [("mondrian", 2), ("mondrian", 5), ("mondrian", 9)]
    assert again.points[:2] == first.points


def test_a_line_cut_off_by_a_crash_is_run_again(tmp_path, runs):
    state = tmp_path / "state.jsonl"
    shoal.compare(small_table(), methods="mondrian", k=[2], state=state, **ROLES)
    state.write_text(state.read_text("utf-8")[:-30] + '\n{"key": 3}\n[]\n', "utf-8")
    shoal.compare(small_table(), methods="mondrian", k=[2], state=state, **ROLES)
    assert runs == [("mondrian", 2)] * 2


def tree(*groups):
    return shoal.Hierarchy.from_dict({"*": dict(groups)})


@pytest.mark.parametrize(
    "change",
    [
        {"table": small_table().slice(1)},
        {"seed": 1},
        {"weights": {"age": 2}},
        {"hierarchies": {"sex": tree(("x", ["m", "f"]))}},
    ],
    ids=["table", "seed", "weights", "hierarchy"],
)
def test_another_table_or_recipe_takes_nothing_from_the_state(tmp_path, runs, change):
    state = tmp_path / "state.jsonl"
    asked = {"methods": "mondrian", "k": [2], "state": state, **ROLES, "hierarchies": {"sex": tree(("x", ["f", "m"]))}}
    shoal.compare(small_table(), **asked)
    shoal.compare(change.get("table", small_table()), **asked | {key: change[key] for key in change if key != "table"})
    assert len(runs) == 2


def test_the_state_holds_no_rows(tmp_path):
    state = tmp_path / "state.jsonl"
    shoal.compare(small_table(), methods="mondrian", k=[2], state=state, **ROLES)
    content = json.loads(state.read_text("utf-8"))
    assert set(content) == {"key", "point"}
    assert "gout" not in state.read_text("utf-8")


def test_a_state_without_a_folder_is_refused(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        shoal.compare(small_table(), methods="mondrian", k=[2], state=tmp_path / "no" / "state.jsonl", **ROLES)


# --- what is given back ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def comparison():
    return shoal.compare(small_table(), methods=["mondrian", "mdav"], k=[2, 5, 10], **ROLES)


@pytest.mark.parametrize(
    ("convert", "kind"), [(lambda t: t, pa.Table), (pa.Table.to_pandas, pd.DataFrame), (pl.from_arrow, pl.DataFrame)]
)
def test_the_frame_is_of_the_kind_that_came(convert, kind):
    found = shoal.compare(convert(small_table()), methods="mondrian", k=[2, 5], **ROLES)
    assert isinstance(found.frame, kind)
    assert list(found.frame.columns if kind is not pa.Table else found.frame.column_names)[:3] == [
        "method",
        "effort",
        "k",
    ]
    assert sum(found.table.column("recommended").to_pylist()) == 1


def test_exactly_one_point_is_ringed(comparison):
    rows = comparison.plot()["data"]["values"]
    assert len(rows) == 6
    assert sum(row["recommended"] for row in rows) == 1


def test_the_ending_decides_the_form(comparison, tmp_path):
    assert comparison.save(tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    assert "recommended" in comparison.save(tmp_path / "a.html").read_text("utf-8")
    assert json.loads(comparison.save(tmp_path / "a.json").read_text("utf-8"))["rule"] == RULE
    assert comparison.save(tmp_path / "a.csv").read_text("utf-8").count("\n") == 7
    with pytest.raises(FileError, match="no known ending"):
        comparison.save(tmp_path / "a.txt")
    with pytest.raises(FileError, match="exists"):
        comparison.save(tmp_path / "a.csv")


def test_the_page_loads_nothing(comparison):
    assert re.findall(r"(?:src|href)=|url\((?!#)|@import|<script", comparison.html) == []
    assert "default-src 'none'" in comparison.html


def test_figures_need_no_extra(comparison, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert comparison.save(tmp_path / "a.csv").exists()
    assert comparison.save(tmp_path / "a.json").exists()
    with pytest.raises(MissingExtraError, match=r"shoal-privacy\[report\]"):
        comparison.save(tmp_path / "a.svg")


def test_a_comparison_says_what_it_recommends(comparison):
    assert repr(comparison).startswith("<shoal.Comparison: 6 points, recommended: ")
    assert repr(Comparison(())) == "<shoal.Comparison: 0 points, nothing to recommend>"


@pytest.mark.parametrize(
    ("methods", "more"),
    [
        ([shoal.MDAV(within="cls")], {}),
        ([shoal.BottomUpGeneralization(target="cls")], {}),
        (["mondrian"], {"keep": ["visit"], "treat": {"visit": shoal.ShiftDates(5, person="who")}}),
    ],
)
def test_columns_that_a_method_or_a_treatment_looks_at_need_no_role(methods, more):
    number = np.arange(40)
    table = {
        "age": (20 + number % 9).tolist(),
        "sex": ["f", "m"] * 20,
        "cls": ["x", "y"] * 20,
        "who": (number // 2).tolist(),
        "visit": [date(2024, 1, 1) + timedelta(days=int(n)) for n in number],
    }
    given = {"quasi_identifiers": ["age", "sex"], "hierarchies": "auto", "k": 4} | more
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", shoal.errors.ShoalWarning)
        (point,) = shoal.compare(table, methods=methods, **given).points
        result = shoal.anonymize(table, method=methods[0], **given)
    assert point.loss == pytest.approx(result.metrics["ncp"])
