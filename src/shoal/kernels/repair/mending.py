"""Mending groups that fall short of a privacy model.

For a failing group and each of its near neighbours there are several *plans*: become one group; be cut again along a column; give or
take a record; swap two records. Of all plans after which both meet the rules the cheapest is carried out. All plans for a pair are
costed first and then checked from the cheapest on, so few are ever checked.

Two valid groups are valid as one under all models but δ-disclosure and δ-presence, unless persons have several records. So plans are
made only with neighbours with which the group would be valid as one.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.compiling.decorator import kernel
from shoal.kernels.common.copying import copy_values
from shoal.kernels.measuring.matching import Points
from shoal.kernels.models.population_rules import PopulationRules, crowd_shortfall, one_box
from shoal.kernels.models.rules import Rules, Tally, add, clear, new_tally, shortfall
from shoal.kernels.repair.linked_groups import LinkedGroups, members, reset
from shoal.kernels.repair.plans import cut_costs, exchange_costs, interleave, lay_out, sort_stably
from shoal.kernels.space.space import Cover, Space, add_record, empty_cover, union_cost

_CHECKS = 1000
"""Plans checked for a pair, at most."""
_TINY = 1e-9


@kernel()
def union_shortfalls(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: PopulationRules,
    points: Points,
    linked: LinkedGroups,
    a: int,
    near: IntArray,
    enough: int,
) -> FloatArray:
    """Return the shortfall of group ``a`` joined with each of ``near``; ends once ``enough`` have none, the others are infinite."""
    tally, trial = new_tally(rules), empty_cover(space, 1)
    short = np.full(near.shape[0], np.inf)
    for place in range(near.shape[0]):
        clear(rules, tally)
        reset(trial, 0)
        for turn in range(2):
            record = linked.first[a if turn == 0 else near[place]]
            while record >= 0:
                add(rules, tally, record)
                if crowds.kind.shape[0] > 0:
                    add_record(space, trial, 0, codes, record)
                record = linked.follow[record]
        short[place] = shortfall(rules, tally)
        if crowds.kind.shape[0] > 0:
            short[place] += crowd_shortfall(crowds, points, one_box(space, trial, 0), trial.size[0])
        enough -= short[place] == 0.0
        if enough == 0:
            break
    return short


@kernel()
def records_shortfall(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: PopulationRules,
    points: Points,
    tally: Tally,
    trial: Cover,
    records: IntArray,
) -> float:
    """Return the shortfall of some records as a group; 0 if there are none."""
    if records.shape[0] == 0:
        return 0.0
    clear(rules, tally)
    reset(trial, 0)
    for record in records:
        add(rules, tally, record)
        if crowds.kind.shape[0] > 0:
            add_record(space, trial, 0, codes, record)
    short = shortfall(rules, tally)
    if crowds.kind.shape[0] > 0:
        short += crowd_shortfall(crowds, points, one_box(space, trial, 0), trial.size[0])
    return short


@kernel()
def find_cheapest_plan(
    space: Space,
    codes: IntArray,
    rules: Rules,
    crowds: PopulationRules,
    points: Points,
    k: int,
    cover: Cover,
    linked: LinkedGroups,
    a: int,
    partners: IntArray,
    best: float,
) -> tuple[int, float, IntArray, int]:
    """Find the cheapest valid plan for group ``a`` with one of ``partners`` that adds less than ``best``.

    A partner of -1 stands for none: ``a`` is cut by itself. What a plan adds is divided among the failing groups it
    mends. Returns the place of the partner (-1: no plan), what the plan adds, its records, and how many go to ``a``.
    """
    tally, trial = new_tally(rules), empty_cover(space, 1)
    chosen, chosen_laid, chosen_left = -1, np.empty(0, np.int32), 0
    for place in range(partners.shape[0]):
        b = partners[place]
        before = linked.cost[a] * cover.size[a]
        mended = 1.0
        if b >= 0:
            before += linked.cost[b] * cover.size[b]
            mended += linked.short[b] > 0.0
        records = members(cover, linked, a, b)
        most = before + best * mended - _TINY
        mixed = interleave(rules.codes[0], records) if rules.codes.shape[0] > 0 else records
        orders = np.empty((codes.shape[0], records.shape[0]), np.int32)
        for column in range(codes.shape[0]):
            copy_values(sort_stably(codes[column], mixed), orders[column])
        whole = union_cost(space, cover, a, b if b >= 0 else a) * records.shape[0]
        cuts = cut_costs(space, codes, k, orders, most)
        exchanges = exchange_costs(space, codes, k, records, cover.size[a], most)
        costs = np.concatenate((cuts, np.array([whole]), exchanges))
        checks = 0
        for plan in np.argsort(costs, kind="mergesort"):
            if costs[plan] >= most or checks == _CHECKS:
                break
            checks += 1
            laid, left = lay_out(plan, cuts.shape[0], cover.size[a], records, orders)
            short = records_shortfall(space, codes, rules, crowds, points, tally, trial, laid[:left])
            if short == 0.0:
                short = records_shortfall(space, codes, rules, crowds, points, tally, trial, laid[left:])
            if short == 0.0:
                chosen, chosen_laid, chosen_left = place, laid, left
                best = (costs[plan] - before) / mended
                break
    return chosen, best, chosen_laid, chosen_left
