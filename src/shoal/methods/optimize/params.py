"""The budget of each part of the optimizer, and the three efforts.

All are counts, no clocks: the same seed gives the same groups on any machine. An expert may pass others:
``Optimize(params=replace(EFFORTS["best"], annealing=AnnealingParams(rounds=300)))``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from shoal.arrays import Effort
from shoal.errors import ParameterError
from shoal.validation import nearest_hint

if TYPE_CHECKING:
    from shoal.methods.optimize.problem import Problem

MANY_COLUMNS = 12
"""Columns above which moves are cooler, because there a record costs far more than a move changes, and groups grow in smaller blocks."""
VERY_MANY_COLUMNS = 30
"""Columns above which there are fewer rounds, because a round takes long."""
FEW_TUPLES = 256
"""Distinct tuples up to which a small table of many equal records is searched at effort "fast" as at "balanced": that takes next to nothing."""
EQUAL_RECORDS = 16
"""How many records a distinct tuple of such a table has at least, on average."""
RANGE_ROUNDS = 1
"""Rounds of effort "fast" on larger tables, if columns are released as ranges: cells know some ranges only."""
SET_ROUNDS = 3
"""The same if columns are released as sets: cells know one value of a set or any, so the first rounds gain most there."""
MANY_CELLED = 1 << 15
"""Combinations of levels from which a table by hierarchy gets the rounds of ranges: its cells are too many to be searched."""
MANY_CELLED_ROUNDS = 4
"""Rounds of such a table if it is small: they take a tenth of the time, and its first groups are the farthest from good ones."""
ROUND_BUDGET = 3_000_000
"""Rounds times records times k stay below it, because the larger groups are, the longer a round takes: with 30,000 records there are three up to k = 33."""
FIRST_ROUND_BUDGET = 4 * ROUND_BUDGET
"""The same for a single round, which gains most."""
SMALL_GROUP = 10
"""k up to which margins are as they are. With larger groups the deviations of their records cancel out in part, so that the reduced costs of good
cells grow with the root of k only."""
MANY_RECORDS = 15
"""k from which cells are reopened more often, in proportion to k."""
MOST_TRIES = 3.5
"""By what factor more often, at most."""
SECONDS_FOR_PRICES = 10.0
"""Seconds from which there is time for dual prices."""
SECONDS_FOR_LEARNING = 45.0
"""Seconds from which there is time for the dual prices of effort "best", and to learn cells."""
_ENDLESS = 1_000_000
"""Rounds of a run that the clock ends."""


@dataclass(frozen=True)
class ConstructParams:
    """Starts (``construct.py``)."""

    window_ratio: float = 1.15
    """By what factor windows of numbers grow from level to level in the search for cells."""
    visits: int = 8_000
    """How often a record is visited in the search for cells, on average."""
    block: int = 1 << 15
    """Most records of a block in which groups are grown; the time for a record grows with it."""
    k_member_records: int = 6_000
    """Records up to which k-member, whose time grows with their square, is one of the starts."""
    other_methods: bool = False
    """Whether Bottom-Up and Top-Down are starts too."""


@dataclass(frozen=True)
class SampleParams:
    """A start from samples (``sampled.py``)."""

    samples: int = 6
    """How many samples are drawn; 0: there is no such start."""
    share: float = 0.1
    """Share of the records in each, at least."""
    least_k: int = 16
    """k from which there is such a start: at a small k, cells are found without it."""
    least_k_of_sample: int = 5
    """k of a sample, at least: smaller groups say too little of where records are."""
    close: float = 1.1
    """If the boxes of the first sample lose more than this times the best start, no other sample is drawn: those of three lose up to a tenth less than those of one."""


@dataclass(frozen=True)
class PricingParams:
    """Dual prices of all cells, if every column has a hierarchy (``pricing.py``)."""

    visits: int = 30_000
    """How often a tuple may be visited in one enumeration of the cells, on average; 0: no prices."""
    margins: tuple[float, ...] = (0.05, 0.1)
    """How far the ceilings are above the prices in each enumeration but the last, in multiples of the mean cost of a record."""
    last_margin: float = 0.25
    """The same in the last one, whose cells become candidates: a wider margin keeps more of them. For k above ``SMALL_GROUP`` it is smaller (``margin_for``)."""
    step_visits: int = 100_000_000
    """Visits of the tuples of cells after each enumeration: the budget of the subgradient steps, whose number is bounded both ways."""
    rounds_factor: float = 1.0
    """Factor on the number of rounds if all cells were enumerated: with more effort the loss goes on falling there."""
    most_record_rounds: float = math.inf
    """Rounds times records there, at most: on large tables there are fewer rounds."""
    temperature: float = 0.0
    """Factor on the temperature of all rounds there: groups of good cells are near the best ones, and few rounds must not lead away from them."""


@dataclass(frozen=True)
class LearningParams:
    """Candidate cells learned from groups, if they cannot be enumerated (``candidates.py``)."""

    first_round: int = 0
    """Rounds before cells are first learned, because there is more to learn from good groups; a run of no more learns none. 0: none are learned."""
    every: int = 3
    """Every so many rounds cells are learned, opened and closed."""
    rounds_factor: float = 0.7
    """Factor on the number of rounds if cells are learned: learning takes the time of the others."""


@dataclass(frozen=True)
class AnnealingParams:
    """Rounds of improvement and their temperature (``annealing.py``)."""

    rounds: int = 18
    """How often all regions are improved, at most; fewer times if columns are very many."""
    most_records: float = math.inf
    """Records up to which there are rounds at all."""
    region: int = 100
    """Records of a region, in multiples of k."""
    least_gain: float = 1e-4
    """A cold round that gains a smaller share of the loss is the last."""
    close: float = 1.1
    """A start that loses at most this much more than the best one may still end below it, and is tried."""
    trial_rounds: int = 2
    """Rounds after which the better of two close starts is chosen."""
    temperature: float = 6.0
    """By how much a move may raise the total cost in the first round, in multiples of the mean cost of a record, at most."""
    temperature_of_groups: float = 30.0
    """A second limit: at most this ÷ k, because the larger k, the cooler moves must be."""
    cold_from: float = 0.9
    """Share of a run after which the temperature is 0."""
    cooling: float = 0.6
    """A round that raises the loss makes the next ones cooler by this factor, in a run without candidate cells."""


@dataclass(frozen=True)
class LocalMovesParams:
    """Relocate, swap, dissolve, evict and rebuild (``operators.py``)."""

    visits: int = 8
    """How often a record is visited when groups are rebuilt, in one round and on average."""
    least_visits: int = 50_000
    """Visits of all records together when groups are rebuilt, in one round, at least: a small table costs next to nothing."""
    rebuild_temperature: float = 0.2
    """The temperature of rebuilding, as a share of that of moves."""
    noise: float = 0.5
    """When groups are rebuilt, column weights are times random factors of exp(-noise) to exp(noise)."""


@dataclass(frozen=True)
class ReopenParams:
    """Opening a cell instead of several groups (``operators.py``)."""

    tries: float = 1.5
    """Tries in a round, for each group of k records; more for k from ``MANY_RECORDS`` on (``tries_for``)."""
    temperature: float = 0.1
    """By how much reopening may raise the total cost in the first round, in multiples of the mean cost of k records of the replaced groups."""

    def tries_for(self, k: int) -> float:
        """Return the tries for each group of k records: they gain most if better groups are many records away."""
        return self.tries * min(max(k / MANY_RECORDS, 1.0), MOST_TRIES)


@dataclass(frozen=True)
class RecombineParams:
    """Several runs, recombined by an integer program (``recombine.py``)."""

    first_run: float = 0.2
    """Share of the rounds, or of the seconds, that the first of several runs takes."""
    later_runs: int = 6
    """How many there are after it, at most; 0: one run, nothing is recombined."""
    least_rounds: int = 20
    """Rounds of each of these, at least: a shorter run does not cool down."""
    reheat: float = 1.4
    """The temperature at which later runs begin, in multiples of that of the first: warm enough to find other cells, too cool to forget all."""
    deadline: float = 0.93
    """Share of the seconds left in which the runs end, so that the last one can be recombined too."""
    time_share: float = 0.5
    """What recombining may take of the time of the run before it, in a run of seconds."""


@dataclass(frozen=True)
class BoundParams:
    """A lower bound on the loss of any grouping (``bounds.py``)."""

    visits: int = 3_000
    """How often a record is visited to prove a bound; 0: no bound."""
    pairs: int = 1_000_000_000
    """Pairs of distinct tuples compared for the bound by nearest records, at most."""
    most_values: int = 3_000_000
    """Values of the table up to which a bound is worked out."""


@dataclass(frozen=True)
class Params:
    """What the optimizer may spend, part by part. The defaults are those of effort ``"balanced"``."""

    construct: ConstructParams = field(default_factory=ConstructParams)
    samples: SampleParams = field(default_factory=SampleParams)
    pricing: PricingParams = field(default_factory=PricingParams)
    learning: LearningParams = field(default_factory=LearningParams)
    annealing: AnnealingParams = field(default_factory=AnnealingParams)
    local_moves: LocalMovesParams = field(default_factory=LocalMovesParams)
    reopen: ReopenParams = field(default_factory=ReopenParams)
    recombine: RecombineParams = field(default_factory=RecombineParams)
    bound: BoundParams = field(default_factory=BoundParams)
    without: tuple[str, ...] = ()
    """What is left out: names of starts, of operators and of their parts, ``"pricing"`` and ``"learning"``."""

    @classmethod
    def of(cls, values: Params | Mapping[str, Any]) -> Params:
        """Return parameters given as a mapping of mappings, as a recipe file has them; what is missing is as in ``"balanced"``."""
        if isinstance(values, Params):
            return values
        _check_names(values, [one.name for one in fields(cls)], "Optimize's 'params'")
        left_out = values.get("without", ())
        if isinstance(left_out, str):
            raise ParameterError(
                f"Optimize's 'params.without' must be a list of names. Got {left_out!r} instead.",
                hint=f'["{left_out}"]',
            )
        made: dict[str, Any] = {"without": tuple(left_out)}
        for name in values.keys() - made.keys():
            default = getattr(cls(), name)
            _check_names(values[name], [one.name for one in fields(default)], f"Optimize's 'params.{name}'")
            made[name] = replace(default, **{key: _frozen(value) for key, value in values[name].items()})
        return cls(**made)


def _frozen(value: Any) -> Any:
    """Return a list from a recipe file in the type of the parameter."""
    return tuple(value) if isinstance(value, list) else value


def _check_names(values: Any, known: Any, owner: str) -> None:
    if not isinstance(values, Mapping):
        raise ParameterError(f"{owner} must be a table of parameters. Got {type(values).__name__}.")
    for name in values:
        if name not in known:
            raise ParameterError(f"{owner} has no {name!r}.", hint=nearest_hint(str(name), known))


EFFORTS = {
    "fast": Params(
        construct=ConstructParams(window_ratio=1.6, visits=4_000, block=1 << 12),
        samples=SampleParams(samples=3),
        pricing=PricingParams(visits=0),
        annealing=AnnealingParams(rounds=2, most_records=12_000, least_gain=5e-4, temperature=0.0),
        bound=BoundParams(visits=0),
    ),
    "balanced": Params(),
    "best": Params(
        construct=ConstructParams(
            window_ratio=1.1, visits=20_000, block=1 << 16, k_member_records=12_000, other_methods=True
        ),
        pricing=PricingParams(
            visits=60_000,
            margins=(0.05, 0.1, 0.1),
            step_visits=150_000_000,
            rounds_factor=1.5,
            most_record_rounds=1e6,
            temperature=1.0,
        ),
        learning=LearningParams(first_round=9),
        annealing=AnnealingParams(rounds=130, region=200, least_gain=2e-5),
        local_moves=LocalMovesParams(least_visits=7_000),
        bound=BoundParams(visits=10_000),
    ),
}

FAST_FRAGMENT = replace(
    EFFORTS["fast"],
    construct=replace(EFFORTS["fast"].construct, visits=1_000),
    annealing=replace(EFFORTS["fast"].annealing, most_records=math.inf, close=1.0),
    local_moves=LocalMovesParams(least_visits=5_000),
    without=("k-member",),
)
"""Effort "fast" on one of the many fragments of a large table: what small tables get for next to nothing would add up."""
BALANCED_FRAGMENT = replace(
    EFFORTS["balanced"],
    pricing=replace(EFFORTS["balanced"].pricing, margins=(0.1,), step_visits=30_000_000, rounds_factor=1.5),
    annealing=replace(EFFORTS["balanced"].annealing, rounds=6),
    bound=BoundParams(visits=0),
)
"""Effort "balanced" there: a third of the rounds, half of them if all cells are priced, because the first ones gain most."""
FRAGMENTS = {
    "fast": FAST_FRAGMENT,
    "balanced": BALANCED_FRAGMENT,
    "best": replace(EFFORTS["best"], bound=BoundParams(visits=0)),
}
"""What one of many fragments is given, by effort. No bound is proven: that of a fragment says nothing about groups across fragments."""


def few_steps(full: Params, visits: int = 40, rounds: int = 15) -> Params:
    """Return parameters cut down to a few steps in each part, for runs with numba off: every part runs as before, only for less long.

    So many rounds are enough for cells to be learned and opened.
    """
    return replace(
        full,
        construct=replace(full.construct, visits=visits),
        samples=replace(full.samples, samples=0),
        pricing=replace(full.pricing, step_visits=visits),
        annealing=replace(full.annealing, rounds=min(full.annealing.rounds, rounds), least_gain=-1.0),
        local_moves=replace(full.local_moves, visits=1, least_visits=visits),
        recombine=replace(full.recombine, least_rounds=2, later_runs=min(full.recombine.later_runs, 2)),
        bound=replace(full.bound, visits=min(full.bound.visits, visits)),
    )


def params_for(effort: Effort, given: Params | None = None) -> Params:
    """Return the parameters of an effort, or those ``given``. A number of seconds ends by the clock, or with a round that gains nothing."""
    if isinstance(effort, str):
        return given or EFFORTS[effort]
    params, best = given or EFFORTS["balanced"], EFFORTS["best"]
    params = replace(params, annealing=replace(params.annealing, rounds=_ENDLESS, least_gain=0.0))
    if given is None and effort >= SECONDS_FOR_LEARNING:
        annealing = replace(params.annealing, region=best.annealing.region)
        return replace(params, pricing=best.pricing, learning=best.learning, annealing=annealing)
    if given is None:  # the clock leaves time to come back from where warm rounds lead
        warm = replace(params.pricing, temperature=best.pricing.temperature)
        return replace(params, pricing=warm if effort >= SECONDS_FOR_PRICES else EFFORTS["fast"].pricing)
    return params


def fast_params_for(problem: Problem) -> Params:
    """Return the parameters of effort "fast" for a table. Tables with few distinct tuples, ranges or sets are searched for longer."""
    params = EFFORTS["fast"]
    small = problem.records <= params.annealing.most_records
    if small and len(problem.tuples.size) <= min(FEW_TUPLES, problem.records // EQUAL_RECORDS):
        return EFFORTS["balanced"]  # with nearly k equal records in a cell there is little to choose
    few_cells = problem.by_hierarchy and problem.combinations < MANY_CELLED
    if small and problem.by_hierarchy and not few_cells:
        return replace(params, annealing=replace(params.annealing, rounds=MANY_CELLED_ROUNDS))
    most = 0 if few_cells else SET_ROUNDS if problem.has_sets else RANGE_ROUNDS
    visited = problem.records * problem.k
    rounds = min(most, max(ROUND_BUDGET // visited, int(visited <= FIRST_ROUND_BUDGET)))
    if rounds <= (params.annealing.rounds if small else 0):
        return params
    return replace(params, annealing=replace(params.annealing, rounds=rounds, most_records=math.inf))


def rounds_for(params: AnnealingParams, records: int, columns: int) -> int:
    """Return how often all regions of a table are improved, at most: with very many columns a round takes long."""
    if records > params.most_records:
        return 0
    return params.rounds if columns <= VERY_MANY_COLUMNS else 1 + params.rounds * VERY_MANY_COLUMNS // columns


def rounds_with_prices(params: PricingParams, rounds: float, records: int) -> float:
    """Return how many of all rounds there are if all cells were enumerated; a run of seconds has no number of them."""
    if rounds >= _ENDLESS:
        return rounds
    return max(1, int(min(params.rounds_factor * rounds, params.most_record_rounds / records)))


def block_for(params: Params, k: int, columns: int) -> int:
    """Return how many records a block has at most in which groups are grown: with many columns fewer, if rounds make up for it."""
    many_rounds = params.annealing.rounds > params.annealing.trial_rounds
    share = MANY_COLUMNS / max(columns, MANY_COLUMNS) if many_rounds else 1.0
    return max(int(params.construct.block * share), 8 * k)


def margin_for(margin: float, k: int) -> float:
    """Return a margin for each record of groups of k, given the one for k up to ``SMALL_GROUP``."""
    return margin * min(1.0, math.sqrt(SMALL_GROUP / k))


def temperature_for(params: AnnealingParams, k: int, columns: int) -> float:
    """Return by how much a move may raise the total cost in the first round, in multiples of the mean cost of a record.

    Measured on tables of several shapes: the more records a group has and the more columns they have, the cooler the
    moves must be.
    """
    return min(params.temperature, params.temperature_of_groups / k) * MANY_COLUMNS / max(columns, MANY_COLUMNS)
