from __future__ import annotations

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.enforcement.dispatch import group_records
from shoal.enforcement.guarded import search_guarded
from shoal.enforcement.guarded_params import GuardedParams
from shoal.frames import Frame
from shoal.kernels.guarded.improve import MOVES
from shoal.methods.optimize import Optimize
from shoal.privacy.base import failing_groups
from shoal.privacy.compiled_models import compile_models
from tests.enforcement.cases import EVERY, HISTOGRAMS, case_of, searching
from tests.enforcement.test_mending import blocks
from tests.kernels.optimize.groups import recount
from tests.methods.clock import TickingClock


class Watched:
    """The optimizer as it is asked for groups without models in view; the second search is interrupted, if that is wanted."""

    def __init__(self, *, interrupted=False):
        self.asked, self.interrupted = [], interrupted

    def run(self, table, task):
        self.asked.append(task)
        if self.interrupted and len(self.asked) == 2:
            raise KeyboardInterrupt
        return Optimize().run(table, replace(task, effort="fast"))


def search(method, task, table):
    return search_guarded(method, table, task, compile_models(table, task.k, task.requirements))


def test_details_tell_what_each_operator_did():
    table, task = case_of("distinct", 0)
    operators = group_records(Optimize(), table, replace(task, effort="balanced")).details["operators"]
    assert {"with-models", *(f"with-models: {move}" for move in MOVES), "local-moves"} <= operators.keys()
    told = operators["with-models"]
    parts = [operators[f"with-models: {move}"] for move in MOVES]
    assert told["tried"] == sum(part["tried"] for part in parts) > told["taken"] > 0
    assert told["gained"] == pytest.approx(sum(part["gained"] for part in parts))
    assert told["seconds"] > 0.0


def test_an_interrupt_ends_all_stages_and_gives_the_groups_that_meet_the_models():
    table, task = case_of("distinct", 0)
    method = Watched(interrupted=True)
    kept = search(method, replace(task, effort="best", on_interrupt="best"), table)
    assert len(method.asked) == 2
    assert not failing_groups(task.requirements, kept.labels, int(kept.labels.max()) + 1).any()


def test_groups_that_need_not_meet_the_models_are_no_answer_to_an_interrupt():
    table, task = case_of("distinct", 0)
    method = Watched()
    search(method, replace(task, on_interrupt="best"), table)
    assert {one.on_interrupt for one in method.asked} == {"raise"}


def test_a_search_without_models_gets_a_share_of_the_seconds_left():
    table, task = case_of("distinct", 0)
    method = Watched()
    search(method, replace(task, effort=30.0, clock=TickingClock(0.001)), table)
    assert method.asked[0].effort == "fast"
    assert all(0.0 < one.effort <= 30.0 / 4 for one in method.asked[1:])
    assert len(method.asked) > 1


def test_losses_never_rise_where_records_are_withheld_on_the_way():
    table, task = case_of("equal", 1)
    losses = group_records(Optimize(), table, replace(task, effort="best", max_suppression=0.3)).details["losses"]
    assert all(after <= before for before, after in pairwise(losses))
    assert np.isfinite(losses).all()


@pytest.mark.compiled
@pytest.mark.parametrize("name", EVERY)
def test_more_effort_never_loses_more(name):
    for seed in range(3):
        losses = []
        for effort in ("fast", "balanced", "best"):
            table, task = case_of(name, seed, n=150, effort=effort)
            labels = group_records(Optimize(), table, task).labels
            assert not failing_groups(task.requirements, labels, int(labels.max()) + 1).any()
            losses.append(recount(table, labels))
        assert losses == sorted(losses, reverse=True)


def test_smaller_groups_get_more_rounds_within_bounds():
    search, params = searching("distinct", 0), GuardedParams(rounds=10, usual_size=20, most_rounds=2.0)
    solution = search.problem.solution(blocks(120, 20), 6)
    rounds = [search.rounds_for(solution._replace(groups=groups), params) for groups in (1, 4, 6, 8, 60)]
    assert rounds == [5, 7, 10, 13, 20]


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_no_group_meets_the_models_with_fewer_records_than_they_are_said_to_need(name):
    search = searching(name, 4, n=40)
    least = max(one.least_records for one in search.case.histograms)
    for size in range(1, min(least, 4)):
        for chosen in combinations(range(40), size):
            labels = np.full(40, -1, np.int32)
            labels[list(chosen)] = 0
            assert failing_groups(search.task.requirements, labels, 1)[0]


@settings(max_examples=40)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.sampled_from([0.1, 0.2, 0.3, 0.45]))
def test_the_records_that_closeness_needs_are_those_of_the_smallest_close_histogram(counts, t):
    column = np.repeat([f"v{place}" for place in range(len(counts))], counts)
    table = encode(Frame(pa.table({"a": np.arange(len(column)), "s": column})), ["a"], attributes=["s"])
    total = np.array(counts)

    def close(size):
        ways = combinations_with_replacement(range(len(counts)), size)
        shares = (np.bincount(way, minlength=len(counts)) / size - total / total.sum() for way in map(list, ways))
        return any(np.abs(one).sum() / 2 <= t + 1e-12 for one in shares)

    expected = next(size for size in range(1, total.sum() + 1) if close(size))
    assert shoal.TCloseness(t).bind(table).least_records == expected


def test_a_bound_says_what_it_follows_from():
    rng = np.random.default_rng(5)
    table = pa.table(
        {"a": rng.integers(0, 60, 200), "b": rng.integers(0, 60, 200), "s": rng.choice(list("uvwxyz"), 200)}
    )
    given = {"quasi_identifiers": ["a", "b"], "sensitive": ["s"], "k": 2, "method": "optimize"}
    plain = shoal.anonymize(table, **given).metrics
    strict = shoal.anonymize(table, models=[shoal.TCloseness(0.2)], **given).metrics
    loose = shoal.anonymize(table, models=[shoal.LDiversity(2)], **given).metrics
    assert strict["bound_from"] == "a group needs 5 records to meet the models"
    assert loose["bound_from"] == "k = 2"
    assert plain["lower_bound"] <= loose["lower_bound"] + 1e-12
    assert loose["lower_bound"] < strict["lower_bound"] <= strict["ncp"]
