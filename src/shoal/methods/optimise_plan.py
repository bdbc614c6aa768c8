"""What each effort of the optimiser may spend."""

from __future__ import annotations

import math
from typing import NamedTuple


class Plan(NamedTuple):
    """What an effort may spend. All counts, no clocks: the same seed gives the same groups on any machine."""

    ratio: float
    """By what factor windows of numbers grow from level to level."""
    looks: int
    """How often a record is looked at in the search for cells, in the mean."""
    grown: int
    """Most records of a block in which groups are grown; the time for a record grows with it."""
    greedy: int
    """Records up to which k-member, whose time grows with their square, is one of the starts."""
    rivals: bool
    """Whether Bottom-Up and Top-Down are starts too."""
    priced: int
    """How often a tuple may be looked at in one walk over the cells that prices open, in the mean; 0: no prices."""
    rounds: int
    """How often all regions are improved, at most; fewer times where columns are very many."""
    improved: float
    """Records up to which there are rounds at all."""
    region: int
    """Records of a region, in multiples of k."""
    rebuilt: int
    """How often a record is looked at when groups are rebuilt, in one round and in the mean."""
    least_looks: int
    """Looks at records when groups are rebuilt, in one round, at least: a small table costs next to nothing."""
    least_gain: float
    """A cold round that gains a smaller share of the loss is the last."""
    bound_looks: int
    """How often a record is looked at to prove a bound."""


CLOSE = 1.1
"""A start that loses at most this much more than the best one may still end below it, and is tried."""
TRIAL = 2
"""Rounds after which the better of two close starts is chosen."""
COLD = 0.9
"""Share of a run after which no step may cost more."""
FIRST_RUN = 0.2
"""Share of the rounds, or of the seconds, that the first of several runs takes."""
LATER_RUNS = 6
"""How many there are after it, at most."""
LEAST_ROUNDS = 20
"""Rounds of each of these, at least: a shorter run does not cool down."""
IN_TIME = 0.93
"""Share of the seconds left in which the runs end, so that the last one can be merged too."""
MERGING = 0.5
"""What merging may take of the time of the run before it, in a run of seconds."""
REWARMED = 1.4
"""How warm the second run and the later ones begin, in multiples of the first: warm enough to find other cells, not to forget all."""
COOLING = 0.6
"""A round that raises the loss makes the next ones cooler by this factor, in a run that never opens and closes cells."""
REOPENED = 1.5
"""How often a round opens cells that prices offer in the place of groups, for each group of k records."""
REOPENING = 0.1
"""What that may cost more in the first round, in multiples of what k records of those groups cost in the mean."""
EXCHANGED = 20.0
"""How often a round looks for cells to exchange, for each group of k records."""
EXCHANGING = 0.05
"""What that may cost more in the first round, in the mean and in multiples of what k records cost."""
WIDE = 6
"""How many times larger regions are in which cells open and close: chains lead far."""
UNVARIED = 9
"""Rounds before cells are first learned from groups, for there is more to learn from good ones; a run of no more learns none."""
VARIED = 3
"""Every so many rounds cells are learned, opened and closed."""
FEWER = 0.7
"""Share of the rounds that stay where cells are learned: what they gain takes the time of the others."""
LONGER = 1.5
"""How many times more rounds there are where a walk found all cells: the loss goes on falling there."""
MANY_COLUMNS = 12
"""Columns above which steps are cooler, for there a record costs far more than a step changes, and groups grow in smaller blocks."""
VERY_MANY_COLUMNS = 30
"""Columns above which there are fewer rounds."""
MOST_BOUND = 3_000_000
"""Distinct values of the table up to which a bound is worked out."""
LONG = 45.0
"""Seconds from which prices are worth their time."""
_ENDLESS = 1_000_000
PLANS = {
    "fast": Plan(
        ratio=1.6,
        looks=4_000,
        grown=1 << 12,
        greedy=6_000,
        rivals=False,
        priced=0,
        rounds=2,
        improved=12_000,
        region=100,
        rebuilt=8,
        least_looks=50_000,
        least_gain=5e-4,
        bound_looks=0,
    ),
    "balanced": Plan(
        ratio=1.15,
        looks=8_000,
        grown=1 << 15,
        greedy=6_000,
        rivals=False,
        priced=0,
        rounds=18,
        improved=math.inf,
        region=100,
        rebuilt=8,
        least_looks=50_000,
        least_gain=1e-4,
        bound_looks=3_000,
    ),
    "best": Plan(
        ratio=1.1,
        looks=20_000,
        grown=1 << 16,
        greedy=12_000,
        rivals=True,
        priced=60_000,
        rounds=130,
        improved=math.inf,
        region=200,
        rebuilt=8,
        least_looks=7_000,
        least_gain=2e-5,
        bound_looks=10_000,
    ),
}


class Run(NamedTuple):
    """Rounds that cool down, one after the other."""

    begin: float = 0.0
    end: float = 1.0
    """When it begins and ends, as a share of all rounds or of the seconds."""
    warmth: float = 1.0
    """How warm it begins."""

    def warmth_at(self, share: float) -> float:
        """Return how warm a round is, down to 0 for the last, cold ones."""
        return self.warmth * max(0.0, 1.0 - (share - self.begin) / (self.end - self.begin) / COLD)


def ends_of_runs(rounds: float) -> tuple[float, ...]:
    """Return when each run ends, as a share of so many rounds; there is one where they are few."""
    later = min(LATER_RUNS, int((1.0 - FIRST_RUN) * rounds / LEAST_ROUNDS))
    return tuple(FIRST_RUN + (1.0 - FIRST_RUN) * run / later for run in range(later + 1)) if later else (1.0,)


def rounds_for(plan: Plan, records: int, columns: int) -> int:
    """Return how often all regions of a table are improved, at most: with very many columns a round takes long."""
    if records > plan.improved:
        return 0
    return plan.rounds if columns <= VERY_MANY_COLUMNS else 1 + plan.rounds * VERY_MANY_COLUMNS // columns


def block_for(plan: Plan, k: int, columns: int) -> int:
    """Return how many records a block has at most in which groups are grown: with many columns fewer, where rounds make up for it."""
    share = MANY_COLUMNS / max(columns, MANY_COLUMNS) if plan.rounds > TRIAL else 1.0
    return max(int(plan.grown * share), 8 * k)


def hottest(plan: Plan, k: int, columns: int) -> float:
    """Return what one step may cost more in the first round, in multiples of what a record costs in the mean.

    Measured on tables of several shapes: the more records a group has and the more columns they have, the cooler the
    steps must be. Two rounds are too few to cool down again.
    """
    if plan.rounds <= TRIAL:
        return 0.0
    return min(6.0, 30.0 / k) * MANY_COLUMNS / max(columns, MANY_COLUMNS)


def in_seconds(seconds: float) -> Plan:
    """Return the plan of a run that the clock ends, or a round that gains nothing."""
    plan, best = PLANS["balanced"]._replace(rounds=_ENDLESS, least_gain=0.0), PLANS["best"]
    return plan._replace(priced=best.priced, region=best.region) if seconds >= LONG else plan
