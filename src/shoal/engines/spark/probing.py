"""A check of the executors before any work: their Python, shoal with its dependencies, and the folder for staging."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from shoal._version import __version__
from shoal.engines.spark.staging import is_here, is_local
from shoal.errors import ParameterError

_PYTHON = "PYSPARK_PYTHON"
_SETTINGS = ("spark.pyspark.python", "spark.pyspark.driver.python")
_TASKS = 8
"""Tasks that ask, so that most executors of a small cluster are among them."""
_NEEDED = ("shoal", "numba", "numpy", "pyarrow")
_asked: set[tuple[str, str]] = set()
"""Sessions and places that were asked before, by their names."""


def take_own_python(session: Any) -> None:
    """Let Spark on this machine alone run the Python of this process, unless a setting names another.

    Otherwise executors run the system's ``python3`` if Python was started by its path, in an environment that is not activated.
    """
    if not is_here(session) or _PYTHON in os.environ:
        return
    if any(session.conf.get(name, None) for name in _SETTINGS):
        return
    session.sparkContext.pythonExec = sys.executable


def check_executors(session: Any, folder: str) -> None:
    """Raise an error that says what executors lack, before any work; a session is checked once for each folder."""
    here = folder if is_local(folder) else ""
    asked = (str(id(session)), str(PurePath(here).parent))  # folders of one place differ in their last part
    if asked in _asked:
        return
    try:
        rows = session.range(0, _TASKS, 1, _TASKS).mapInArrow(_question(_NEEDED, here), "found string").collect()
    except Exception as fault:
        said = _explained(str(fault))
        if said is None:
            raise
        raise said from None
    for row in rows:
        _check(json.loads(row[0]))
    _asked.add(asked)


def _question(needed: tuple[str, ...], folder: str) -> Callable[[Any], Iterator[Any]]:
    """Return a task that knows nothing of shoal, because executors may lack it: a function made here travels as it is."""

    def ask(batches: Any) -> Iterator[Any]:
        import importlib  # noqa: PLC0415
        import json  # noqa: PLC0415
        import os  # noqa: PLC0415

        import pyarrow  # noqa: PLC0415, ICN001

        for _ in batches:
            found: dict[str, str | None] = {}
            for name in needed:
                try:
                    module = importlib.import_module(name)
                    found[name] = str(getattr(module, "__version__", ""))
                except ImportError:
                    found[name] = None
            found["folder"] = "yes" if not folder or os.access(folder, os.W_OK) else None
            yield pyarrow.RecordBatch.from_pydict({"found": [json.dumps(found)]})
            return

    return ask


def _check(found: dict[str, str | None]) -> None:
    """Refuse executors that lack something."""
    for name in _NEEDED:
        if found[name] is None:
            raise _lacking(name)
    if found["shoal"] != __version__:
        raise ParameterError(
            f"Executors have shoal {found['shoal']}, and the driver has {__version__}.",
            hint="install the same version on both.",
        )
    if found["folder"] is None:
        raise ParameterError(
            "Executors cannot write the folder for staging.",
            hint="name one that driver and executors see: 'staging' in Python, --scratch on the command line.",
        )


def _explained(said: str) -> Exception | None:
    """Return in one sentence what Spark says of a Python that cannot run the question."""
    missing = re.search(r"No module named '(\w+)'", said)
    if missing:
        return _lacking(missing[1])
    if "PYTHON_VERSION_MISMATCH" in said or "different version" in said:
        return ParameterError(
            f"Executors run another version of Python than the driver, which has {sys.version_info[0]}.{sys.version_info[1]}.",
            hint=f"set {_PYTHON} to a Python of this version before Spark is started.",
        )
    return None


def _lacking(name: str) -> ParameterError:
    return ParameterError(
        f"The Python of Spark's executors has no {name!r}.",
        hint=f"set {_PYTHON} to a Python with shoal before Spark is started, or install shoal there.",
    )
