"""Methods, sizes of k and efforts side by side on one table: what protection costs which information.

``points`` makes a release for each point, ``choice`` recommends one, ``state`` keeps finished points in a file, ``comparison`` shows them. Called
by users, the command line and the web interface. It knows the API and nothing of how a release is made.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.api import Anonymizer
from shoal.arrays import Effort, Release
from shoal.cells.disjoint import CellsChoice
from shoal.compare.choice import RULE, frontier, recommend
from shoal.compare.comparison import Comparison
from shoal.compare.points import Plan, Point, make_plans, run_plan
from shoal.compare.state import State
from shoal.encoding import HierarchyChoice, KindChoice, Weight
from shoal.ends import EndsChoice
from shoal.errors import ParameterError, PrivacyError
from shoal.frames import Frame, to_frame
from shoal.frames.canonical import table_hash
from shoal.io.files import open_table
from shoal.methods import DEFAULT_METHOD
from shoal.methods.base import Method
from shoal.privacy.base import PrivacyModel
from shoal.request import select_roles
from shoal.treatments import TreatmentChoice
from shoal.validation import (
    check_callable,
    check_choice,
    check_effort,
    check_flag,
    check_int,
    check_path,
    checks_keywords,
    wrong,
)

__all__ = ["RULE", "Comparison", "Point", "compare", "frontier", "recommend"]

KS = (2, 5, 10, 20, 50)
SAMPLE_RECORDS = 20_000
LARGE_RECORDS = 50_000
_OWN = ("k", "counts", "method", "effort", "engine", "memory", "progress", "on_interrupt", "cancel")
SHARED = [name for name in inspect.signature(Anonymizer).parameters if name not in _OWN]
"""Parameters of ``Anonymizer`` that hold for every release of a comparison."""


class _StopRun(BaseException):
    """Ends a run between two of its steps; no method may catch it."""


@checks_keywords
def compare(
    data: Any,
    *,
    methods: Sequence[str | Method] | str | Method | None = None,
    k: Sequence[int] | int = KS,
    efforts: Sequence[Effort] | Effort = "balanced",
    sample: int | Literal["auto"] | None = "auto",
    whole: bool = True,
    workers: int | None = None,
    state: str | Path | None = None,
    on_point: Callable[[Point], None] | None = None,
    on_interrupt: Literal["raise", "partial"] = "raise",
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    keep: Sequence[str] = (),
    person: str | None = None,
    household: str | None = None,
    together: bool = False,
    survey_weight: str | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    hierarchies: Mapping[str, HierarchyChoice] | Literal["auto", "suggest"] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | Sequence[str] | None = None,
    missing: str | Sequence[str] | None = None,
    weights: Mapping[str, Weight] | None = None,
    models: Sequence[PrivacyModel] = (),
    max_suppression: float = 0.0,
    release: Release | None = None,
    widen: float = 0.0,
    ends: EndsChoice = "round",
    cells: Mapping[str, CellsChoice] | None = None,
    treat: Mapping[str, TreatmentChoice] | None = None,
    pseudonymize: Sequence[str] = (),
    key: str | Path | None = None,
    derived: Literal["refuse", "warn"] = "refuse",
    others: Literal["drop", "keep", "ask"] = "drop",
    seed: int = 0,
) -> Comparison:
    """Run methods × efforts × k on one table and show what protection costs which information.

    Parameters
    ----------
    data
        A table as for ``anonymize``, or the path of a file.
    methods
        Names of methods or method objects; by default the default method and Mondrian.
    k
        Sizes of the smallest group.
    efforts
        For methods that can spend more to lose less; others are run once for each k.
    sample
        Number of records to run every point on first, to see the shape soon. ``"auto"``: 20,000 if the table has
        more than 50,000. A sample is sparser than the table, so its points lose more. None: no sample.
    whole
        Then run every point on the whole table; False stops after the sample.
    workers
        Points made at the same time; by default one for each processor, or one alone if numba has neither OpenMP nor TBB.
    state
        A file to which every finished point is added, and from which points of an earlier run are taken.
    on_point
        Called with each point as soon as it is finished.
    on_interrupt
        What Ctrl-C does: ``"raise"``, or ``"partial"`` to return what is finished.
    quasi_identifiers, sensitive, identifiers, keep
        Roles of the columns, as for ``anonymize``.
    person, household, together, survey_weight
        As for ``anonymize``: the person of a record, whether people keep their companions, and the number of people a record represents.
    kinds, hierarchies, decimal, thousands, date_format, missing, weights
        How columns are read and released, as for ``anonymize``.
    models, max_suppression, release, widen, ends, cells, treat, pseudonymize, key, derived, others, seed
        What every release of the comparison must hold, as for ``anonymize``.

    Returns
    -------
    Comparison
        A point for each release; ``frame`` is a tidy table of them, of the kind that came in (``table``: as Arrow), ``recommended`` the point with the best bargain.

    Raises
    ------
    ParameterError
        A parameter is out of its range, or k is larger than the number of records.
    PrivacyError
        None of the releases could be made.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=500, seed=1).patients
    >>> found = shoal.compare(patients, methods=["mondrian", "datafly"], k=[2, 5], quasi_identifiers=["birth_date", "sex"])
    >>> sorted({(point.method, point.k) for point in found.points})
    [('datafly', 2), ('datafly', 5), ('mondrian', 2), ('mondrian', 5)]
    """
    parameters = {name: value for name, value in locals().items() if name in SHARED}
    check_choice("compare", "on_interrupt", on_interrupt, ("raise", "partial"))
    check_callable("compare", "on_point", on_point)
    check_flag("compare", "whole", whole)
    state = None if state is None else check_path("compare", "state", state)
    frame = open_table(data) if isinstance(data, (str, Path)) else to_frame(data)
    plans = make_plans(*_axes(methods, k, efforts), parameters)
    first = plans[0].request
    looked_at = [name for plan in plans for name in plan.request.looked_at]
    frame = select_roles(frame, first.named, looked_at).tell(first.as_understood())
    stages = _stages(frame, plans, sample, whole=whole)
    crew = _Crew(State(state, table_hash(frame.table)), _check_workers(workers))
    points: list[Point] = []
    complete = True
    try:
        for point in crew.run(stages, plans):
            points.append(point)
            if on_point:
                on_point(point)
    except KeyboardInterrupt:
        if on_interrupt == "raise":
            raise
        complete = False
    if complete and all(point.fault for point in points):
        raise PrivacyError(f"No release could be made for comparison. The first fault: {points[0].fault}")
    order = {(plan.point.series, plan.point.k): place for place, plan in enumerate(plans)}
    points.sort(key=lambda point: (point.sampled, order[point.series, point.k]))
    return Comparison(tuple(points), kind=frame.kind, total=frame.records, complete=complete)


def _axes(methods: Any, k: Any, efforts: Any) -> tuple[list[str | Method], list[int], list[Effort]]:
    chosen = [DEFAULT_METHOD, "mondrian"] if methods is None else _as_list("methods", methods, (str, Method))
    ks = sorted({check_int("compare", "k", one, least=2) for one in _as_list("k", k, int)})
    dials = [check_effort("compare", "efforts", one) for one in _as_list("efforts", efforts, (str, int, float))]
    for name, values in (("methods", chosen), ("k", ks), ("efforts", dials)):
        if not values:
            raise ParameterError(f"The {name!r} parameter of compare must name at least one. Got none.")
    for one in chosen:
        if not isinstance(one, (str, Method)):
            raise wrong("compare", "methods", "names of methods or method objects", one)
    return list(dict.fromkeys(chosen)), ks, list(dict.fromkeys(dials))


def _as_list(name: str, values: Any, one: type | tuple[type, ...]) -> list[Any]:
    if isinstance(values, one):
        return [values]
    if not isinstance(values, Iterable):
        raise wrong("compare", name, "one or a list of several", values)
    return list(values)


def _stages(frame: Frame, plans: list[Plan], sample: int | str | None, *, whole: bool) -> list[tuple[Frame, bool]]:
    """Return the tables to run on: a sample if asked for, then the whole."""
    largest = max(plan.point.k for plan in plans)
    if isinstance(sample, str):
        check_choice("compare", "sample", sample, ("auto",))
        size = SAMPLE_RECORDS if frame.records > LARGE_RECORDS else None
    else:
        size = None if sample is None else check_int("compare", "sample", sample, least=2)
    check_int("compare", "k", largest, least=2, most=min(frame.records, size or frame.records))
    if size is None or size >= frame.records:
        return [(frame, False)]
    rows = np.random.default_rng(plans[0].request.seed).choice(frame.records, size, replace=False)
    part = replace(frame, table=frame.table.take(pa.array(np.sort(rows))), native=None)
    return [(part, True), (frame, False)] if whole else [(part, True)]


def _check_workers(workers: int | None) -> int:
    if workers is not None:
        return check_int("compare", "workers", workers, least=1)
    return (os.cpu_count() or 1) if _threads_are_safe() else 1


def _threads_are_safe() -> bool:
    """Return whether kernels with threads of their own may run side by side; numba's fallback pool ends the process."""
    return any(find_spec(f"numba.np.ufunc.{pool}") is not None for pool in ("omppool", "tbbpool"))


@dataclass(frozen=True)
class _Crew:
    """Runs plans side by side and hands over their points as they finish."""

    state: State
    workers: int

    def run(self, stages: list[tuple[Frame, bool]], plans: list[Plan]) -> Iterator[Point]:
        """Return the point of every plan on every table, finished ones first."""
        stop = threading.Event()

        def watch(_fraction: float, _text: str) -> None:
            if stop.is_set():
                raise _StopRun

        with ThreadPoolExecutor(self.workers, thread_name_prefix="shoal-compare") as pool:
            try:
                for frame, sampled in stages:
                    yield from self._run_stage(pool, plans, frame, sampled=sampled, watch=watch)
            except BaseException:  # an interrupt, or a reader who has seen enough
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _run_stage(
        self, pool: ThreadPoolExecutor, plans: list[Plan], frame: Frame, *, sampled: bool, watch: Any
    ) -> Iterator[Point]:
        waiting: dict[Future[Point], str] = {}
        for plan in plans:
            key = self.state.key(plan, frame.records)
            if key in self.state.known:
                yield self.state.known[key]
            else:
                waiting[pool.submit(run_plan, plan, frame, sampled=sampled, watch=watch)] = key
        while waiting:
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                key, point = waiting.pop(future), future.result()
                self.state.add(key, point)
                yield point
