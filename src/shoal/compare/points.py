"""The points of a comparison: the releases to make, and their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.api import Anonymizer
from shoal.api.run import run
from shoal.arrays import Effort
from shoal.errors import ShoalError
from shoal.frames import Frame
from shoal.methods import make_method
from shoal.methods.base import Method
from shoal.recipe import method_settings
from shoal.request import Request


@dataclass(frozen=True)
class Point:
    """One release made for comparison: its place between risk and loss. It holds no rows."""

    method: str
    """Name of the method, with the options that differ from its defaults."""
    effort: str | float | None
    """None if the method has no such dial."""
    k: int
    records: int
    sampled: bool
    """Made from a sample of the table."""
    loss: float | None = None
    """Information lost, 0..1; None if no release could be made."""
    risk: float | None = None
    """Chance to find the person worst off, 1 ÷ size of the smallest group."""
    mean_risk: float | None = None
    groups: int | None = None
    suppressed: int | None = None
    seconds: float | None = None
    fault: str | None = None
    """Why no release could be made."""

    @property
    def series(self) -> str:
        """Method and effort: what is drawn as one line."""
        return self.method if self.effort is None else f"{self.method}, {_effort_text(self.effort)}"


def _effort_text(effort: str | float) -> str:
    return effort if isinstance(effort, str) else f"{effort:g} s"


@dataclass(frozen=True)
class Plan:
    """A point to be made, and how."""

    point: Point
    request: Request


def make_plans(
    methods: Sequence[str | Method], ks: Sequence[int], efforts: Sequence[Effort], parameters: dict[str, Any]
) -> list[Plan]:
    """Return a plan for each method × effort × k; a method without the dial is run once for each k."""
    plans = []
    for method in map(make_method, methods):
        for effort in efforts if method.info.uses_effort else (None,):
            for k in ks:
                dial: dict[str, Any] = {} if effort is None else {"effort": effort}
                request = Anonymizer(**parameters, **dial, k=k, method=method).request
                plans.append(Plan(Point(_label(method), effort, k, records=0, sampled=False), request))
    return plans


def _label(method: Method) -> str:
    name, options = method_settings(method)
    told = ", ".join(f"{key}={value}" for key, value in options.items())
    return f"{name} ({told})" if told else name


def run_plan(plan: Plan, frame: Frame, *, sampled: bool, watch: Callable[[float, str], None]) -> Point:
    """Make the release of a plan and keep its figures; what cannot be made says why."""
    point = replace(plan.point, records=frame.records, sampled=sampled)
    start = time.perf_counter()
    try:
        result = run(replace(plan.request, progress=watch), frame)
    except ShoalError as fault:
        return replace(point, fault=fault.message, seconds=time.perf_counter() - start)
    return replace(
        point,
        loss=float(result.metrics["ncp"]),
        risk=1.0 / result.audit.k if result.audit.k else 0.0,
        mean_risk=result.audit.groups / frame.records,
        groups=result.audit.groups,
        suppressed=result.suppressed,
        seconds=time.perf_counter() - start,
    )
