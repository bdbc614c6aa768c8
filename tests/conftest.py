"""What all tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numba
import pytest
from hypothesis import settings

from shoal.arrays import Effort
from shoal.enforcement.guarded_params import STAGES
from shoal.methods.microaggregation import sse
from shoal.methods.microaggregation.sse_params import SSEParams, params_for
from shoal.methods.optimize.params import EFFORTS, few_steps

REPOSITORY = Path(__file__).resolve().parent.parent


INTERPRETED = bool(numba.config.DISABLE_JIT)
"""Whether kernels run as plain Python (``make coverage``), hundreds of times as slowly."""
FEW_EXAMPLES = 10
SLOW = (
    "tests/engines/spark",
    "tests/compiling",
    "tests/fuzz",
    "tests/web/test_whole_way",
    "tests/docs/test_docs",
    "tests/tools/test_packaging",
    "tests/engines/test_faults",
    "tests/methods/optimize",
)
"""Files that take minutes for few tests: they start Spark, servers, browsers or compilers."""
PATIENCE = 20
"""Seconds that a test may take where kernels are interpreted."""


def pytest_configure() -> None:
    """Cut down what the efforts may spend where kernels are interpreted: the same lines run, in seconds instead of minutes."""
    if INTERPRETED:
        EFFORTS.update({effort: few_steps(params) for effort, params in EFFORTS.items()})
        STAGES.update({effort: replace(params, rounds=min(params.rounds, 4)) for effort, params in STAGES.items()})
        sse.params_for = _few_proposals


def _few_proposals(effort: Effort, records: int) -> SSEParams:
    full = params_for(effort, records)
    few = 200
    return replace(full, runs=min(full.runs, 2), short=min(full.short, few), long=(few,) * len(full.long), spare=0)


@pytest.hookimpl(tryfirst=True)  # before tests are deselected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that take long, so that none is left for one worker at the end.

    Where kernels are interpreted, leave tests on whole reference tables to compiled ones, and draw a few examples only.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(SLOW))
    for item in items if INTERPRETED else ():
        if "data_path" in getattr(item, "fixturenames", ()):
            item.add_marker("compiled")
        test = getattr(item, "obj", None)
        chosen = getattr(test, "_hypothesis_internal_use_settings", None)
        if chosen is not None:
            fewer = min(chosen.max_examples, FEW_EXAMPLES)
            test._hypothesis_internal_use_settings = settings(chosen, max_examples=fewer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """Leave what a test is given, as the test itself is left."""
    with _patience():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Where kernels are interpreted, leave a test that takes long to compiled ones: the lines it has run count all the same."""
    with _patience():
        return (yield)


@contextmanager
def _patience() -> Generator[None, None, None]:
    if not INTERPRETED or not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGALRM, _leave)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _leave(_: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename.endswith("coverage/collector.py"):  # it holds a lock, which nobody else would open
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            return
        frame = frame.f_back
    pytest.skip(f"does not apply: it takes more than {PATIENCE} seconds where kernels are interpreted")


@pytest.fixture(scope="session")
def data_path() -> Callable[[str], Path]:
    """Return a function from a name such as ``adult/adult.csv`` to its path in the folder SHOAL_DATA.

    The test is skipped where the file is missing; with CI=true it fails, so that no check is lost unseen.
    """
    folder = Path(os.environ.get("SHOAL_DATA") or REPOSITORY.parent / "shared" / "data")

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            reason = f"{name} is not in {folder}; set SHOAL_DATA to the folder with the reference data"
            if os.environ.get("CI", "").lower() == "true":
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return find
