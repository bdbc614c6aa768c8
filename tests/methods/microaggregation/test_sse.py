from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.frames import Frame
from shoal.methods.base import Task
from shoal.methods.microaggregation import partition, sse, sse_params, sse_start
from shoal.methods.microaggregation.heuristics import MDAV
from shoal.methods.microaggregation.partition import GroupPool, best_partition
from shoal.methods.microaggregation.scaling import as_coordinates
from shoal.methods.microaggregation.sse import minimize_sse
from shoal.methods.microaggregation.sse_params import SSEParams, params_for
from tests.kernels.microaggregation.test_mdav import tables
from tests.methods.clock import TickingClock
from tests.methods.microaggregation.test_heuristics import COMPANIES
from tests.support import reference_microaggregation as reference


@pytest.fixture
def short_plan(monkeypatch):
    """Let every effort anneal for a moment only."""
    monkeypatch.setattr(sse, "params_for", lambda *_: SSEParams(runs=3, short=50_000, long=(100_000,)))


@pytest.fixture
def many_runs(monkeypatch):
    """Let every effort anneal many times for a moment, so that groups recur."""
    monkeypatch.setattr(sse, "params_for", lambda *_: SSEParams(runs=20, short=10_000, long=(10_000,)))


def loss(matrix, labels):
    return reference.loss(matrix.tolist(), labels.tolist())


def test_the_slides_eleven_companies_come_out_with_their_means(short_plan):
    matrix = as_coordinates(encode(Frame(pa.table(COMPANIES)), ["surface", "employees"]), "z")
    labels = minimize_sse(matrix, Task(k=3, effort="best"))
    assert labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 1, 0, 2]
    assert loss(matrix, labels) == pytest.approx(7.4848, abs=5e-5)


def test_optimize_releases_the_slides_table_when_asked_for_representatives(short_plan):
    surface = pa.array(COMPANIES["surface"], pa.float64())
    table = pa.table({"surface": surface, "employees": COMPANIES["employees"], "turnover": list(range(11))})
    result = shoal.anonymize(
        table, k=3, quasi_identifiers=["surface", "employees"], keep=["turnover"], method="optimize",
        release="representatives",
    )  # fmt: skip
    assert result.data.column("employees").to_pylist() == [46, 46, 46, 8, 8, 33, 33, 33, 8, 46, 33]
    assert [round(value, 2) for value in result.data.column("surface").unique().to_pylist()] == [747.5, 756.67, 322.5]
    assert result.metrics["sse"] == pytest.approx(7.4848, abs=5e-5)


@pytest.mark.parametrize("seed", range(8))
def test_tiny_tables_of_scattered_records_are_grouped_as_well_as_possible(seed, short_plan):
    matrix = np.random.default_rng(seed).normal(size=(11, 2))
    labels = minimize_sse(matrix, Task(k=3, effort="best"))
    least, _ = reference.optimum(matrix.tolist(), 3)
    assert loss(matrix, labels) == pytest.approx(least)


@settings(deadline=None, max_examples=25)
@given(tables(most=30), st.integers(2, 5))
def test_groups_have_at_least_k_records_and_lose_no_more_than_mdav(matrix, k):
    k = min(k, len(matrix))
    labels = minimize_sse(matrix, Task(k=k, effort="fast"))
    scale = max(float((matrix**2).sum()), 1.0)
    assert np.bincount(labels).min() >= k
    assert loss(matrix, labels) <= reference.loss(matrix.tolist(), reference.mdav(matrix.tolist(), k)) + 1e-9 * scale


def test_ties_fall_as_in_mdav_so_that_no_more_is_lost():
    matrix = np.zeros((17, 2))
    matrix[11:] = [[2, 0], [2, 0], [3, 1], [0, 0], [0, 2], [2, 2]]
    plain = reference.mdav(matrix.tolist(), 3)
    assert loss(matrix, minimize_sse(matrix, Task(k=3, effort="fast"))) <= reference.loss(matrix.tolist(), plain) + 1e-9


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_less_is_lost_than_with_mdav(effort, short_plan):
    matrix = np.random.default_rng(3).normal(size=(400, 4))
    coded = encode(Frame(pa.table({f"x{i}": matrix[:, i] for i in range(4)})), [f"x{i}" for i in range(4)])
    scaled = as_coordinates(coded, "z")
    plain = MDAV().run(coded, Task(k=4)).labels
    labels = minimize_sse(scaled, Task(k=4, effort=effort))
    assert np.bincount(labels).min() >= 4
    assert loss(scaled, labels) < 0.95 * loss(scaled, plain)


def test_the_same_seed_gives_the_same_groups_and_another_seed_others(short_plan):
    matrix = np.random.default_rng(0).normal(size=(300, 3))
    assert minimize_sse(matrix, Task(k=3, seed=5)).tolist() == minimize_sse(matrix, Task(k=3, seed=5)).tolist()
    assert minimize_sse(matrix, Task(k=3, seed=5)).tolist() != minimize_sse(matrix, Task(k=3, seed=6)).tolist()


def test_large_tables_are_started_in_blocks(monkeypatch):
    matrix = np.random.default_rng(0).normal(size=(3_000, 3))
    whole = minimize_sse(matrix, Task(k=5, effort="fast"))
    monkeypatch.setattr(sse_start, "_BLOCK", 500)
    blocked = minimize_sse(matrix, Task(k=5, effort="fast"))
    assert np.bincount(blocked).min() >= 5
    assert whole.tolist() != blocked.tolist()
    assert loss(matrix, blocked) < 1.1 * loss(matrix, whole)


def test_mdav_refined_loses_less_than_mdav():
    rng = np.random.default_rng(1)
    coded = encode(Frame(pa.table({"x": rng.normal(size=500), "y": rng.standard_t(2, 500)})), ["x", "y"])
    scaled = as_coordinates(coded, "z")
    plain, refined = (MDAV(refine=refine).run(coded, Task(k=5)).labels for refine in (False, True))
    assert np.bincount(refined).min() >= 5
    assert loss(scaled, refined) < loss(scaled, plain)


@pytest.mark.parametrize("n", [3, 5])
def test_a_table_below_2k_is_one_group(n):
    assert minimize_sse(np.arange(float(n))[:, None], Task(k=3, effort="best")).tolist() == [0] * n


def test_the_best_effort_does_all_that_the_balanced_one_does():
    assert params_for("best", 700).long[:1] == params_for("balanced", 700).long


@pytest.mark.parametrize("seconds", [1e-9, 0.2, 30.0])
def test_groups_found_in_a_moment_are_groups_of_k(seconds):
    matrix = np.random.default_rng(0).normal(size=(200, 3))
    labels = minimize_sse(matrix, Task(k=3, effort=seconds, clock=TickingClock(0.1)))
    assert np.bincount(labels).min() >= 3
    assert loss(matrix, labels) <= reference.loss(matrix.tolist(), reference.mdav(matrix.tolist(), 3))


def test_groups_of_several_runs_are_recombined_only_with_a_solver_and_a_table_that_is_small(monkeypatch):
    assert params_for("best", 5_000).runs > 0 == params_for("best", 500_000).runs
    monkeypatch.setattr(sse_params, "has_solver", lambda: False)
    assert params_for("best", 5_000).runs == 0 < len(params_for("best", 5_000).long)


def test_recombined_runs_lose_less_than_the_best_of_them(many_runs, monkeypatch):
    matrix = np.random.default_rng(1).normal(size=(120, 2))
    recombined = minimize_sse(matrix, Task(k=3))
    monkeypatch.setattr(sse, "best_partition", lambda pool, labels, seconds: labels)
    assert loss(matrix, recombined) < 0.99 * loss(matrix, minimize_sse(matrix, Task(k=3)))


@pytest.mark.parametrize("text", ["annealing, short runs", "annealing", "recombining groups"])
def test_an_interrupted_search_returns_the_best_so_far_only_if_asked(text, many_runs):
    def interrupt(_, said):
        if said == text:
            raise KeyboardInterrupt

    table = encode(Frame(pa.table({"x": np.random.default_rng(2).normal(size=90)})), ["x"])
    with pytest.raises(KeyboardInterrupt):
        shoal.Optimize().run(table, Task(k=3, release="representatives", progress=interrupt))
    asked = Task(k=3, release="representatives", progress=interrupt, on_interrupt="best")
    kept = shoal.Optimize().run(table, asked).labels
    matrix = as_coordinates(table, "z")
    assert np.bincount(kept).min() >= 3
    assert loss(matrix, kept) <= reference.loss(matrix.tolist(), reference.mdav(matrix.tolist(), 3)) + 1e-9


def test_progress_never_falls(short_plan):
    heard = []
    matrix = np.random.default_rng(0).normal(size=(90, 2))
    minimize_sse(matrix, Task(k=3, progress=lambda share, _: heard.append(share)))
    assert len(heard) > 5
    assert heard == sorted(heard)
    assert 0 <= heard[0] <= heard[-1] <= 1


def test_optimize_releases_exact_means_of_integers_when_asked(short_plan):
    table = pa.table(COMPANIES)
    result = shoal.anonymize(
        table, k=3, quasi_identifiers=["surface", "employees"], release="representatives",
        method=shoal.Optimize(round_integers=False),
    )  # fmt: skip
    assert result.data.column("employees").unique().to_pylist() == [45.75, pytest.approx(25 / 3), 33.0]


def test_the_best_partition_is_made_of_groups_of_different_groupings():
    points = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0], [30.0], [31.0]])
    pool = GroupPool(points)
    good_left = np.array([0, 0, 1, 1, 2, 3, 2, 3], np.int32)
    good_right = np.array([0, 1, 0, 1, 2, 2, 3, 3], np.int32)
    pool.add(good_left)
    pool.add(good_right)
    assert best_partition(pool, good_left).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_without_a_solver_the_best_grouping_seen_is_returned(monkeypatch):
    monkeypatch.setattr(partition, "has_solver", lambda: False)
    labels = np.array([0, 0, 1, 1], np.int32)
    assert best_partition(GroupPool(np.zeros((4, 1))), labels) is labels
