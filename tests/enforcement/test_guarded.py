from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from shoal.enforcement.guarded import search_guarded
from shoal.enforcement.keeping import group_records
from shoal.kernels.guarded.improve import MOVES
from shoal.methods.optimise import Optimise
from shoal.privacy.base import failing_groups
from shoal.privacy.case import build_case
from tests.enforcement.cases import case_of
from tests.methods.clock import TickingClock


class Watched:
    """The optimiser as it is asked for groups without models in view; the second search is interrupted, if that is wanted."""

    def __init__(self, *, interrupted=False):
        self.asked, self.interrupted = [], interrupted

    def run(self, table, task):
        self.asked.append(task)
        if self.interrupted and len(self.asked) == 2:
            raise KeyboardInterrupt
        return Optimise().run(table, replace(task, effort="fast"))


def search(method, task, table):
    return search_guarded(method, table, task, build_case(table, task.k, task.requirements))


def test_details_tell_what_each_operator_did():
    table, task = case_of("distinct", 0)
    operators = group_records(Optimise(), table, replace(task, effort="balanced")).details["operators"]
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
    losses = group_records(Optimise(), table, replace(task, effort="best", max_suppression=0.3)).details["losses"]
    assert all(after <= before for before, after in pairwise(losses))
    assert np.isfinite(losses).all()
