"""Small jobs that between them call every kernel that Python calls, with all the types of arguments that occur.

They run with numba off, so what an effort may spend is cut down to a few steps: that changes how often kernels are
called, not which ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np

from shoal.api import anonymize
from shoal.arrays import FloatArray
from shoal.attacks.distance import distance_linked
from shoal.attacks.matching import find_candidates
from shoal.audit.uniques import unique_sets
from shoal.compiling.warm_up import EFFORT_PARTS
from shoal.datasets import Hospital, hospital
from shoal.errors import ShoalError
from shoal.inspection.first_look import inspect_table
from shoal.methods import DEFAULT_METHOD, REGISTRY, make_method, method_options
from shoal.methods.base import Task
from shoal.methods.microaggregation.sse import minimize_sse
from shoal.methods.microaggregation.sse_params import SSEParams
from shoal.methods.optimize import Optimize
from shoal.methods.optimize.candidates import Variants
from shoal.methods.optimize.params import EFFORTS, few_steps
from shoal.methods.optimize.problem import Problem
from shoal.methods.optimize.recombine import merge_groups
from shoal.methods.optimize.sampled import group_by_samples
from shoal.methods.optimize.search import Search
from shoal.methods.stopping import Stop
from shoal.metrics import query_error
from shoal.privacy import PrivacyModel, make_model
from shoal.results.result import Result
from shoal.treatments.perturbing import Microaggregate

Job = Callable[[], object]

_RECORDS, _K = 30, 3
_FEW = 40
"""Visits, proposals and queries that are enough for each kernel to be called."""
_KNOWN = ("birth_date", "sex", "zip")
_SAME_KERNELS = ("bug",)
"""Methods whose options choose among the same kernels: tried with their defaults only, because plain Python takes seconds."""
_LEAST_SQUARES: dict[str, SSEParams] = {
    "fast": SSEParams(),
    "balanced": SSEParams(long=(_FEW,)),
    "best": SSEParams(runs=2, short=_FEW, long=(_FEW, _FEW)),
}


@cache
def _register() -> Hospital:
    return hospital(_RECORDS, 0)


@cache
def _shapes() -> dict[str, dict[str, Any]]:
    """Return choices of columns: all with a hierarchy, of all kinds, numbers only, a single one."""
    trees = {"sex": "flat", "zip": _register().hierarchies["zip"], "job": _register().hierarchies["job"]}
    some = {name: trees[name] for name in ("sex", "zip")}
    return {
        "hierarchies": {"quasi_identifiers": ["sex", "zip", "job"], "hierarchies": trees},
        "mixed": {"quasi_identifiers": ["birth_date", "sex", "zip", "job"], "hierarchies": some},
        "numbers": {"quasi_identifiers": ["birth_date", "cost"]},
        "single": {"quasi_identifiers": ["birth_date"]},
    }


_WIDE = ("hierarchies", "mixed", "numbers")
"""Shapes of more than one column. A matrix with one row or column lies both ways in memory, which numba takes for another type."""


def _release(shape: str, **choices: Any) -> Result | None:
    """Anonymize the small register; a method that is not made for such columns refuses them, and calls no kernel."""
    settings = {"k": _K, "effort": "fast", "sensitive": ["diagnosis"], **_shapes()[shape], **choices}
    try:
        return anonymize(_register().patients, **settings)
    except ShoalError:
        return None


def _points() -> FloatArray:
    return np.random.default_rng(0).normal(size=(_RECORDS, 2))


def _optimizer(effort: str) -> Optimize:
    """Return the optimizer of an effort, with a few steps in each of its parts."""
    return Optimize(params=few_steps(EFFORTS[effort], _FEW))


def _optimize(effort: str) -> Iterator[Job]:
    for shape in _WIDE:
        yield partial(_release, shape, method=_optimizer(effort))
    yield partial(minimize_sse, _points(), Task(_K, release="representatives"), _LEAST_SQUARES[effort])
    yield _open_boxes
    if effort == "best":
        yield _forget_cells
        yield _merge_groups


def _open_boxes() -> None:
    """Open the boxes of samples of which each is one group, on a table of any shape."""
    result = _release("mixed", method="mondrian")
    if result is not None:

        def one_group(sample: Search) -> None:
            sample.keep_if_best(sample.problem.solution(np.zeros(sample.problem.records, np.int32), 1))

        group_by_samples(Search.of(result.coded, Task(_K, effort="fast")), one_group)


def _forget_cells() -> None:
    """Learn candidate cells if there is room for none, as on a table that has too many."""
    result = _release("mixed", method="mondrian")
    if result is not None:
        problem = Problem(result.coded, _K)
        variants = Variants(problem.table, problem.tuples, _K, seed=0, remembered=0)
        labels = result.groups.copy()  # numba tells arrays apart that may not be written
        for _ in range(2):
            variants.learn(labels, int(labels.max()) + 1, np.ones(problem.records))


def _merge_groups() -> None:
    """Merge groups with themselves, which takes no solver: kernels are compiled also for those who have the extra for it."""
    result = _release("hierarchies", method="mondrian")
    if result is not None:
        problem, labels = Problem(result.coded, _K), result.groups.copy()
        with ThreadPoolExecutor(1) as pool:
            merge_groups(problem.table, problem.rows, labels, labels, _K, 0, pool, Stop())


def _method(name: str) -> Iterator[Job]:
    for shape in _WIDE:
        for release in ("ranges", "representatives"):
            yield partial(_release, shape, method=name, release=release)
        for option, (default, others) in method_options(name).items() if name not in _SAME_KERNELS else ():
            for other in others:
                if other != default:
                    yield partial(_release, shape, method=make_method(name, **{option: other}))


def _narrow() -> Iterator[Job]:
    """Yield releases of a single column by every method that keeps the order of its columns in memory."""
    for name in (name for name in REGISTRY.own if name not in (DEFAULT_METHOD, *_SAME_KERNELS)):
        yield partial(_release, "single", method=name)
    for effort in EFFORT_PARTS:
        yield partial(_release, "single", method=_optimizer(effort))


def _models() -> Iterator[Job]:
    """Yield models kept inside the optimizer, by mending after another method, by its cuts, and by withholding."""
    population = _register().patients
    inside: list[PrivacyModel] = [make_model("l-diversity", l=2), make_model("t-closeness", t=0.4)]
    people = [make_model("k-map", k=4, population=population)]
    people += [make_model("delta-presence", low=low, high=0.9, population=population) for low in (0.0, 0.001)]
    for model in (*inside, *people):
        for share in (0.0, 0.5):
            yield partial(_release, "mixed", method="mondrian", models=[model], max_suppression=share)
            yield partial(_release, "mixed", method=_optimizer("fast"), models=[model], max_suppression=share)
    yield partial(_release, "hierarchies", method=_optimizer("balanced"), models=inside)
    for together in (False, True):  # people, whose rows are found again for each release
        yield partial(_release, "mixed", method="mondrian", person="name", together=together)


def _measures() -> Iterator[Job]:
    """Yield what looks at a table or at a release (inspect, attack, queries), and what treats columns that are kept."""
    yield partial(inspect_table, _register().patients)
    yield partial(unique_sets, _register().patients, list(_KNOWN))
    yield partial(distance_linked, _points(), _points().round(1))
    yield partial(_release, "mixed", method="mondrian", keep=["cost"], treat={"cost": Microaggregate(_K)})
    yield _attack
    yield _ask
    yield _ask_survey


def _attack() -> None:
    result = _release("mixed", method="mondrian")
    if result is not None:
        find_candidates(result.released, _register().voters, _KNOWN, _register().hierarchies)


def _ask() -> None:
    for shape in ("mixed", "numbers"):
        result = _release(shape, method="mondrian")
        if result is not None:
            query_error(_register().patients, result, _FEW)
            query_error(_register().patients, result, _FEW, "sum")
            query_error(_register().patients, result, _FEW, "sum", total="cost")


def _ask_survey() -> None:
    """Ask a release whose records count for several people; their weights come from the table and cannot be written."""
    result = _release("mixed", method="mondrian", survey_weight="cost")
    if result is not None:
        query_error(_register().patients, result, _FEW)


def _demo() -> Iterator[Job]:
    yield partial(_release, "mixed", method=_optimizer("balanced"))
    yield _attack
    yield _ask  # the report needs what queries on the release answer


PARTS: dict[str, Callable[[], Iterator[Job]]] = {
    "demo": _demo,
    **{effort: partial(_optimize, effort) for effort in EFFORT_PARTS},
    **{name: partial(_method, name) for name in REGISTRY.own if name != DEFAULT_METHOD},
    "narrow": _narrow,
    "models": _models,
    "measures": _measures,
}
"""The jobs of each of ``PART_NAMES``."""
