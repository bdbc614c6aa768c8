"""What all parts of one search share: the problem, what may be spent, and the best solution so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shoal.methods.base import Reporter, Task
from shoal.methods.optimize.params import Params, fast_params_for, params_for, rounds_for
from shoal.methods.optimize.problem import Problem, Solution
from shoal.methods.stopping import Stop

if TYPE_CHECKING:
    from shoal.encoding import CodedTable
    from shoal.methods.optimize.operators import Statistics


@dataclass
class Search:
    """One search: what is given, and the best found so far (the incumbent)."""

    problem: Problem
    params: Params
    stop: Stop
    reporter: Reporter
    task: Task
    best: Solution | None = None
    losses: list[float] = field(default_factory=list)
    """How the loss of the best solution fell."""
    bound: float | None = None
    """A loss that no grouping can be below, if one was proven."""
    statistics: dict[str, Statistics] = field(default_factory=dict)
    """What each operator did."""

    @classmethod
    def of(cls, table: CodedTable, task: Task, params: Params | None = None) -> Search:
        """Return a search before its first step; an effort in seconds begins now."""
        problem = Problem.of(table, task)
        chosen = params_for(task.effort, params)
        if params is None and task.effort == "fast":
            chosen = fast_params_for(problem)
        seconds = float("inf") if isinstance(task.effort, str) else float(task.effort)
        stop = replace(
            Stop.after(seconds, cancel=task.cancel, clock=task.clock),
            rounds=rounds_for(chosen.annealing, table.records, len(table.columns)),
            least_gain=chosen.annealing.least_gain,
        )
        return cls(problem, chosen, stop, Reporter(task.progress), task)

    @property
    def incumbent(self) -> Solution:
        """The best solution so far; there is one after the first start."""
        assert self.best is not None  # noqa: S101
        return self.best

    def keep_if_best(self, solution: Solution) -> None:
        """Keep a solution if it is the best so far."""
        if self.best is None or solution.loss < self.best.loss:
            self.best = solution
            self.losses.append(solution.loss)

    def report_loss(self, fraction: float) -> None:
        """Report the share of the work that is done and the loss of the best solution."""
        self.reporter.report(fraction, f"loss {self.incumbent.loss:.5f}")
