"""An escape from the greedy order of Bottom-Up Generalization (Wang, Yu & Chakraborty 2004, section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.methods.global_recoding.revising import information_lost, revise_in_turn, revise_twice
from shoal.methods.stopping import Stop

if TYPE_CHECKING:
    from shoal.methods.base import Task
    from shoal.methods.global_recoding.climbing import Climb, Climber

ROUNDS = {"fast": 20, "balanced": 60, "best": 300}
HEAT = 0.05
"""At the start, a climb that loses this much more is accepted about one time in three."""
SHARE = 0.3
"""The share of nodes whose losses a round alters."""
SPREAD = 0.7
"""By how much, as the standard deviation of the logarithm."""


def anneal(climber: Climber, greedy: Climb, task: Task, *, partial: bool) -> Climb:
    """Return the climb of least information lost among the greedy one and many altered ones, all of them revised.

    A round alters the losses that guide a climb and its revision, and keeps the alteration when less was lost, or,
    with a chance that falls from round to round, when a little more was. The greedy climb, revised, is the first to
    beat, so the result never loses more.
    """
    random = np.random.default_rng(task.seed)
    altered = np.zeros(len(climber.loss))
    best = revise_in_turn(climber, greedy, partial=partial)
    least = held = information_lost(climber, best.moves)
    for done in _stop(task).each_round():
        touched = random.random(len(altered)) < SHARE
        trial = altered + touched * random.normal(0.0, SPREAD, len(altered))
        climb = revise_twice(climber, climber.climb(np.exp(trial)), partial=partial, factor=np.exp(trial))
        now = information_lost(climber, climb.moves)
        luck = -np.log(max(random.random(), 1e-300))
        if now <= held * (1 + HEAT * (1 - done) * luck):
            altered, held = trial, now
        if now < least:
            best, least = climb, now
        task.progress(done, "annealing")
    return best


def _stop(task: Task) -> Stop:
    """Return when the rounds end: after a number of them, or after some seconds."""
    if isinstance(task.effort, str):
        return Stop(rounds=ROUNDS[task.effort], cancel=task.cancel)
    return Stop.after(task.effort, cancel=task.cancel, clock=task.clock)
