from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numba
import numpy as np
import pytest
from benchmarks.optimize import made
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError
from shoal.kernels.optimize.cells.bound import run_bound
from shoal.kernels.space.space import cost_table, cover_groups
from shoal.methods.base import Task
from shoal.methods.optimize import bounds, pricing, solver
from shoal.methods.optimize.candidates import LearnedCells, NoCells, find_candidates
from shoal.methods.optimize.construct import construct
from shoal.methods.optimize.params import (
    EFFORTS,
    SECONDS_FOR_LEARNING,
    SECONDS_FOR_PRICES,
    AnnealingParams,
    Params,
    block_for,
    margin_for,
    params_for,
    rounds_for,
    rounds_with_prices,
    temperature_for,
)
from shoal.methods.optimize.search import Search
from tests.methods.clock import TickingClock
from tests.support import reference_optimize
from tests.support.tables import coded_table, coded_tables


def loss_of(table, labels):
    cover = cover_groups(table.space, table.codes, labels, int(labels.max()) + 1)
    total = float(table.space.weight @ cost_table(table.space, cover) @ cover.size)
    return total / (table.records * float(table.space.weight.sum()))


@settings(max_examples=60, deadline=None)
@given(coded_tables(), st.integers(2, 5), st.sampled_from(["fast", "balanced"]))
def test_it_never_loses_more_than_mondrian(table, k, effort):
    if k > table.records:
        return
    task = Task(k=k, effort=effort)
    found = shoal.Optimize().run(table, task)
    assert np.bincount(found.labels).min() >= k
    assert loss_of(table, found.labels) <= loss_of(table, shoal.Mondrian().run(table, task).labels) + 1e-12


@settings(max_examples=30, deadline=None)
@given(coded_tables(least=10), st.integers(2, 4))
def test_the_loss_falls_from_round_to_round_and_ends_at_that_of_a_recount(table, k):
    found = shoal.Optimize().run(table, Task(k=k, effort="balanced"))
    losses = found.details["losses"]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(losses))
    assert losses[-1] == pytest.approx(loss_of(table, found.labels), abs=1e-12)


def test_optimize_passes_every_common_check():
    shoal.testing.check_method(shoal.Optimize())


@settings(max_examples=25, deadline=None)
@given(coded_tables(least=4, most=9), st.integers(2, 3))
def test_no_grouping_is_below_the_bound(table, k):
    found = shoal.Optimize().run(table, Task(k=k, effort="balanced"))
    least = reference_optimize.least_loss(table, k)
    assert found.details["lower_bound"] <= least + 1e-9
    assert least <= loss_of(table, found.labels) + 1e-9


@pytest.mark.parametrize(("columns", "effort"), [("iiii", "balanced"), ("nnffss", "balanced"), ("nnfff", "best")])
def test_the_number_of_threads_changes_nothing(columns, effort):
    table = coded_table(700, columns, 5)
    before = numba.get_num_threads()
    found = []
    for threads in (1, before):
        numba.set_num_threads(threads)
        found.append(shoal.Optimize().run(table, Task(k=3, seed=4, effort=effort)).labels.tolist())
    numba.set_num_threads(before)
    assert found[0] == found[1]
    assert len(set(found[0])) > 100


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
@pytest.mark.parametrize("columns", ["ii", "nf", "ss", "innffs"])
def test_more_effort_never_loses_more_than_k_member(columns):
    table = coded_table(600, columns, 6, weighted=True)
    mine = loss_of(table, shoal.Optimize().run(table, Task(k=5, effort="best")).labels)
    assert mine <= loss_of(table, shoal.KMember().run(table, Task(k=5)).labels)


def _interrupt(fraction, text):
    if text.startswith("loss"):
        raise KeyboardInterrupt


def test_an_interrupted_run_returns_the_best_so_far_only_if_asked():
    table = coded_table(500, "inf", 7)
    with pytest.raises(KeyboardInterrupt):
        shoal.Optimize().run(table, Task(k=4, progress=_interrupt))
    kept = shoal.Optimize().run(table, Task(k=4, progress=_interrupt, on_interrupt="best"))
    assert np.bincount(kept.labels).min() >= 4
    assert kept.details["losses"][-1] == pytest.approx(loss_of(table, kept.labels), abs=1e-12)


@pytest.mark.parametrize(
    ("columns", "effort"),
    [("ffii", "fast"), ("ffii", "balanced"), ("ffii", 0.5), ("ffnn", "best"), ("ffnn", SECONDS_FOR_LEARNING)],
)
def test_progress_never_falls_and_the_loss_reported_never_rises(columns, effort):
    heard = []
    table = coded_table(400, columns, 3)
    clock = TickingClock(0.001 * SECONDS_FOR_LEARNING if effort == SECONDS_FOR_LEARNING else 0.01)
    heard_by = lambda done, text: heard.append((done, text))  # noqa: E731
    shoal.Optimize().run(table, Task(k=5, effort=effort, progress=heard_by, clock=clock))
    done = [share for share, _ in heard]
    losses = [float(text.split()[1]) for _, text in heard if text.startswith("loss")]
    assert done == sorted(done)
    assert done[-1] <= 1.0
    assert losses == sorted(losses, reverse=True)
    assert len(losses) > 2


def test_the_size_of_the_weights_as_a_whole_changes_nothing():
    table = coded_table(300, "ffii", 3)
    small = replace(table, weights=1e-12 * table.weights)
    task = Task(k=5, effort="fast")
    assert shoal.Optimize().run(small, task).labels.tolist() == shoal.Optimize().run(table, task).labels.tolist()


def test_any_seed_is_taken():
    table = coded_table(60, "if", 7)
    assert np.bincount(shoal.Optimize().run(table, Task(k=4, seed=10**30)).labels).min() >= 4


def test_a_number_of_seconds_is_kept_and_a_result_returned():
    table = coded_table(300, "inf", 7)
    found = shoal.Optimize().run(table, Task(k=4, effort=0.01, clock=TickingClock(0.001)))
    assert np.bincount(found.labels).min() >= 4
    assert loss_of(table, found.labels) < loss_of(table, shoal.Mondrian().run(table, Task(k=4)).labels)


def test_prices_are_for_all_but_short_runs_and_cells_are_learned_in_long_ones():
    best, balanced = EFFORTS["best"], EFFORTS["balanced"]
    assert (best.pricing, best.learning) == (
        params_for(SECONDS_FOR_LEARNING).pricing,
        params_for(SECONDS_FOR_LEARNING).learning,
    )
    warm = replace(balanced.pricing, temperature=best.pricing.temperature)
    assert (warm, balanced.learning) == (
        params_for(SECONDS_FOR_PRICES).pricing,
        params_for(SECONDS_FOR_PRICES).learning,
    )
    assert best.pricing.visits > balanced.pricing.visits > 0
    assert best.learning.first_round > balanced.learning.first_round == 0
    for params in (EFFORTS["fast"], params_for(SECONDS_FOR_PRICES - 1.0)):
        assert params.pricing.visits == 0


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
def test_balanced_loses_less_with_dual_prices():
    table, task = coded_table(700, "nnfff", 5), Task(k=5, effort="balanced")
    plain = shoal.Optimize(params=replace(EFFORTS["balanced"], without=("pricing",))).run(table, task)
    assert loss_of(table, shoal.Optimize().run(table, task).labels) < 0.995 * loss_of(table, plain.labels)


def test_with_many_columns_steps_are_cooler_and_blocks_smaller_where_rounds_follow():
    fast, balanced = EFFORTS["fast"], EFFORTS["balanced"]
    warm, block = balanced.annealing, balanced.construct.block
    assert temperature_for(warm, 10, 8) == temperature_for(warm, 10, 12) == 3.0
    assert temperature_for(warm, 10, 24) == 1.5
    assert temperature_for(fast.annealing, 10, 8) == 0.0
    assert (block_for(balanced, 10, 8), block_for(balanced, 10, 24)) == (block, block // 2)
    assert block_for(fast, 10, 24) == fast.construct.block
    assert block_for(fast, 1000, 24) == 8000
    assert rounds_for(warm, 100, 30) == warm.rounds > rounds_for(warm, 100, 60) > 0


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
def test_cells_on_offer_lower_the_loss_where_all_columns_have_a_hierarchy(monkeypatch):
    table, task = coded_table(700, "nnfff", 5), Task(k=3, effort="best")
    monkeypatch.setattr(solver, "has_solver", lambda: False)  # recombining makes up for a part of it
    mine = shoal.Optimize().run(table, task)
    without = shoal.Optimize(params=replace(EFFORTS["best"], without=("reopen",)))
    assert loss_of(table, mine.labels) < 0.995 * loss_of(table, without.run(table, task).labels)
    assert mine.details["lower_bound"] <= loss_of(table, mine.labels)


def test_a_large_table_has_fewer_rounds_where_all_cells_were_enumerated_unless_seconds_are_given():
    best = EFFORTS["best"]
    assert [rounds_with_prices(best.pricing, 130, records) for records in (1_000, 30_162, 10**7)] == [195, 33, 1]
    assert rounds_with_prices(EFFORTS["balanced"].pricing, 18, 10**7) == 18
    timed = params_for(SECONDS_FOR_LEARNING).annealing.rounds
    assert rounds_with_prices(best.pricing, timed, 10**7) == timed


def test_cells_of_very_many_combinations_of_levels_are_not_enumerated_and_the_bound_takes_one_chunk(monkeypatch):
    def refused(*_):
        raise AssertionError("an enumeration was begun")

    table, spent = coded_table(60, "n" * 30, 5), []
    monkeypatch.setattr(pricing, "_enumerate", refused)
    monkeypatch.setattr(bounds, "CHUNK", 1_000)

    def counted(*arguments):
        spent.append(arguments[-1])
        return run_bound(*arguments)

    monkeypatch.setattr(bounds, "run_bound", counted)
    assert shoal.Optimize().run(table, Task(k=3, effort="balanced")).details["lower_bound"] > 0.0
    assert 0 < sum(spent) <= 1_000


def test_margins_of_larger_groups_grow_with_the_root_of_k():
    assert [margin_for(0.25, k) for k in (2, 10, 40)] == pytest.approx([0.25, 0.25, 0.125])


@pytest.mark.parametrize(("rounds", "left"), [(130, 91), (15, 10), (14, 14), (1, 1)])
def test_rounds_give_way_to_learned_cells_only_where_there_are_enough_of_them(rounds, left):
    params = replace(EFFORTS["best"], annealing=AnnealingParams(rounds=rounds))
    search = Search.of(coded_table(200, "iss", 5), Task(k=5, effort="best"), params)
    cells = find_candidates(search, construct(search))
    assert (search.stop.rounds, type(cells)) == (left, LearnedCells if left < rounds else NoCells)


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
@pytest.mark.parametrize(("columns", "gain"), [("iisss", 0.001), ("innff", 0.003)])
def test_cells_learned_from_groups_lower_the_loss_where_there_are_ranges_or_sets(columns, gain):
    table = coded_table(1500, columns, 5)
    found = {name: [] for name in ((), ("reopen",))}
    for left_out, losses in found.items():
        method = shoal.Optimize(params=replace(EFFORTS["best"], without=left_out))
        for seed in range(1, 7):  # single seeds differ by half a per cent
            grouping = method.run(table, Task(k=15, effort="best", seed=seed))
            losses.append(loss_of(table, grouping.labels))
            assert grouping.details["lower_bound"] <= losses[-1]
    assert np.mean(found[()]) < (1.0 - gain) * np.mean(found["reopen",])


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
@settings(max_examples=60, deadline=None)
@given(coded_tables(least=6), st.integers(2, 4))
def test_with_the_best_effort_it_never_loses_more_than_any_other_local_method(table, k):
    found = loss_of(table, shoal.Optimize().run(table, Task(k=k, effort="best")).labels)
    for method in (shoal.Mondrian(), shoal.BottomUp(), shoal.TopDown(), shoal.KMember()):
        assert found <= loss_of(table, method.run(table, Task(k=k)).labels) + 1e-12


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
@pytest.mark.parametrize("columns", ["ii", "nnn", "fffff", "ss", "infs"])
@pytest.mark.parametrize("method", [shoal.BottomUp(), shoal.TopDown(), shoal.Mondrian(), shoal.KMember()])
def test_it_loses_no_more_than_other_local_methods_on_generated_tables(columns, method):
    table = coded_table(400, columns, 11, weighted=True)
    mine = loss_of(table, shoal.Optimize().run(table, Task(k=5, effort="balanced")).labels)
    assert mine <= loss_of(table, method.run(table, Task(k=5)).labels) + 1e-12


@pytest.mark.compiled  # what is asked is how low the loss is, after whole searches
@pytest.mark.parametrize("seed", range(40))
def test_on_small_tables_of_many_shapes_no_local_method_loses_less_even_at_the_least_effort(seed):
    random = np.random.default_rng(seed)
    columns = "".join(random.choice(list("infs"), random.integers(1, 6)))
    table = coded_table(int(random.integers(20, 400)), columns, seed, weighted=bool(seed % 2))
    task = Task(k=int(random.integers(2, 8)), effort="fast")
    found = loss_of(table, shoal.Optimize().run(table, task).labels)
    for method in (shoal.Mondrian(), shoal.BottomUp(), shoal.TopDown(), shoal.KMember()):
        assert found <= loss_of(table, method.run(table, task).labels) + 1e-12


def test_what_each_operator_did_is_told():
    found = shoal.Optimize().run(coded_table(400, "nnff", 3), Task(k=4, effort="best"))
    operators = found.details["operators"]
    parts = [name for name in operators if name.startswith("local-moves: ")]
    assert {"reopen", "local-moves"} == operators.keys() - set(parts)
    assert len(parts) == 4
    for name, one in operators.items():
        assert one["tried"] >= one["taken"] >= 0
        assert (one["seconds"] is None) == (name in parts)
    moved = operators["local-moves"]
    for figure in ("tried", "taken", "gained"):
        assert moved[figure] == pytest.approx(sum(operators[name][figure] for name in parts))


def test_operators_gain_what_the_loss_falls_by_where_no_step_may_cost_more():
    table = coded_table(500, "iinf", 3)
    params = replace(EFFORTS["balanced"], annealing=AnnealingParams(rounds=3, temperature=0.0, close=1.0))
    found = shoal.Optimize(params=params).run(table, Task(k=4))
    gained = sum(one["gained"] for one in found.details["operators"].values() if one["seconds"] is not None)
    start = Search.of(table, Task(k=4), params)
    construct(start)
    assert gained == pytest.approx(start.incumbent.loss - loss_of(table, found.labels))
    assert gained > 0.0


def test_parameters_of_an_expert_replace_those_of_the_effort_and_survive_a_recipe(tmp_path):
    table = coded_table(300, "nnf", 3)
    params = Params(annealing=AnnealingParams(rounds=1), without=("evict", "grown"))
    method = shoal.Optimize(params=params)
    found = method.run(table, Task(k=4))
    assert found.details["operators"]["local-moves: evict"]["tried"] == 0
    assert found.details["operators"]["local-moves: rebuild"]["tried"] > 0
    recipe = shoal.Anonymizer(k=4, quasi_identifiers=["x"], method=method)
    recipe.save(tmp_path / "recipe.toml")
    assert shoal.Anonymizer.load(tmp_path / "recipe.toml").method == method


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"anealing": {}}, "has no 'anealing'"),
        ({"annealing": {"round": 3}}, "'params.annealing' has no 'round'"),
        ({"annealing": 3}, "must be a table of parameters"),
    ],
)
def test_parameters_that_do_not_exist_are_named(given, complaint):
    with pytest.raises(shoal.errors.ParameterError, match=complaint):
        shoal.Optimize(params=given)


def test_names_of_nothing_are_refused_where_parts_are_left_out():
    with pytest.raises(ParameterError, match=r"must name starts, operators or their parts\. Got 'rebild'") as caught:
        shoal.Optimize(params=Params(without=("rebild",)))
    assert "rebuild" in str(caught.value)
    with pytest.raises(ParameterError, match=r"must be a list of names\. Got 'evict'"):
        shoal.Optimize(params={"without": "evict"})


def test_parameters_given_are_kept_as_they_are_whoever_made_them():
    table, task = made("skewed sets of many values", 13_000), Task(k=5, effort="fast")
    same = [Search.of(table, task, one).stop.rounds for one in (EFFORTS["fast"], replace(EFFORTS["fast"]))]
    assert same == [0, 0]  # without them there are three


@pytest.mark.compiled  # where kernels are interpreted the efforts are cut down
def test_parameters_as_a_table_are_those_of_balanced_but_for_what_is_given():
    chosen = Params.of({"annealing": {"rounds": 3}, "without": ["evict"]})
    assert chosen == Params(annealing=AnnealingParams(rounds=3), without=("evict",))
    assert EFFORTS["balanced"] == Params.of({})
    assert Params.of({"pricing": {"margins": [0.1, 0.2]}}).pricing.margins == (0.1, 0.2)
