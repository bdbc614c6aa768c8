from __future__ import annotations

import math
import threading

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import CancelledError
from shoal.methods import REGISTRY, make_method, method_class
from shoal.methods.base import Task
from shoal.methods.stopping import Stop, cancellable
from tests.methods.clock import TickingClock
from tests.support.tables import coded_table


def stop_at(now, begin=0.0, deadline=math.inf, **others):
    """Return a stop of which the clock stands still."""
    return Stop(begin=begin, deadline=deadline, clock=lambda: now, **others)


def never():
    raise AssertionError("the clock was read")


def test_a_search_without_a_deadline_never_reads_the_clock():
    stop = Stop.after(math.inf, clock=never)
    assert (stop.over(), stop.left(), stop.timed) == (False, math.inf, False)
    assert stop.part(0.5) is stop.rest() is stop
    assert Stop(rounds=4, clock=never).spent(3) == 0.75


def test_the_deadline_counts_from_the_beginning():
    stop = Stop.after(10.0, clock=lambda: 5.0)
    assert (stop.begin, stop.deadline, stop.timed) == (5.0, 15.0, True)


@pytest.mark.parametrize(
    ("now", "spent", "left"), [(5.0, 0.0, 10.0), (10.0, 0.5, 5.0), (15.0, 1.0, 0.0), (17.0, 1.0, -2.0)]
)
def test_a_share_of_the_seconds_is_spent(now, spent, left):
    stop = stop_at(now, 5.0, 15.0, rounds=7)
    assert (stop.spent(3), stop.left(), stop.over()) == (spent, left, left <= 0.0)


def test_a_part_ends_earlier_and_the_rest_begins_now():
    stop = stop_at(8.0, 4.0, 14.0)
    assert (stop.part(0.3).begin, stop.part(0.3).deadline) == (4.0, 7.0)
    assert stop.part(0.3).over()
    assert (stop.rest(0.5).begin, stop.rest(0.5).deadline) == (8.0, 11.0)
    assert stop.rest(seconds=1.5).deadline == 9.5
    assert stop.rest(seconds=99.0).deadline == 14.0
    assert stop_at(15.0, 4.0, 14.0).rest().spent() == 1.0


def test_a_round_that_gains_too_little_is_the_last():
    stop = Stop(least_gain=0.01)
    assert not stop.settled(1.0, 0.98)
    assert stop.settled(1.0, 0.995)
    assert stop.settled(1.0, 1.2)


def test_rounds_are_counted_or_timed():
    assert list(Stop(rounds=4).each_round()) == [0.0, 0.25, 0.5, 0.75]
    timed = list(Stop.after(10.0, clock=TickingClock(1.5)).each_round())
    assert timed == pytest.approx([0.3, 0.6, 0.9])


def test_a_cancelled_search_raises_wherever_it_asks():
    cancel, heard = threading.Event(), []
    stop, report = Stop(cancel=cancel), cancellable(lambda *said: heard.append(said), cancel)
    assert not stop.over()
    report(0.5, "halfway")
    cancel.set()
    with pytest.raises(CancelledError, match="cancelled"):
        stop.over()
    with pytest.raises(CancelledError):
        report(0.6, "further")
    assert heard == [(0.5, "halfway")]


def cancel_at(text):
    """Return a cancel token and a progress function that sets it from another thread when a text is reported."""
    cancel = threading.Event()

    def progress(_, said):
        if said.startswith(text):
            thread = threading.Thread(target=cancel.set)
            thread.start()
            thread.join()

    return cancel, progress


ROLES = {"k": 4, "quasi_identifiers": ["x", "y"], "hierarchies": {"y": "flat"}}


def people(records=300):
    random = np.random.default_rng(0)
    return pa.table({"x": random.integers(0, 40, records), "y": random.integers(0, 5, records).astype(str)})


@pytest.mark.parametrize("method", sorted(REGISTRY.own))
def test_every_method_can_be_cancelled_while_it_looks_for_groups(method):
    cancel, progress = cancel_at("finding groups")
    roles = (
        ROLES | {"hierarchies": {"x": "flat", "y": "flat"}} if method_class(method).info.needs_hierarchies else ROLES
    )
    with pytest.raises(CancelledError):
        shoal.anonymize(people(), **roles, method=method, cancel=cancel, progress=progress)


@pytest.mark.parametrize("text", ["loss", "checking"])
def test_a_cancelled_release_raises_or_gives_the_best_so_far(text):
    cancel, progress = cancel_at(text)
    with pytest.raises(CancelledError):
        shoal.anonymize(people(), **ROLES, cancel=cancel, progress=progress)
    cancel.clear()
    result = shoal.anonymize(people(), **ROLES, cancel=cancel, progress=progress, on_interrupt="best")
    assert result.audit.k >= 4


def test_a_method_without_anything_to_improve_has_no_best_to_give():
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        shoal.anonymize(people(), **ROLES, method="bottom-up", cancel=cancel, on_interrupt="best")


def test_a_cancel_token_must_be_an_event():
    with pytest.raises(shoal.errors.ParameterError, match=r"must be an event\. Got bool"):
        shoal.Anonymizer(**ROLES, cancel=True)


@pytest.mark.parametrize("release", ["ranges", "representatives"])
def test_an_effort_in_seconds_is_kept_by_the_clock_of_the_task(release):
    table = coded_table(300, "ii", 7)
    clock = TickingClock(0.01)
    found = make_method("optimize").run(table, Task(k=4, effort=1.0, release=release, clock=clock))
    assert np.bincount(found.labels).min() >= 4
    assert 0.9 <= clock.now < 1.5  # a cold round that gains nothing ends it before


def test_bottom_up_generalization_keeps_the_seconds_of_the_same_clock():
    table, clock = coded_table(200, "nn", 3), TickingClock(0.1)
    make_method("bug", stochastic=True).run(table, Task(k=3, effort=1.0, clock=clock))
    assert 1.0 <= clock.now < 1.3
