"""Jobs that run inside the environment of the other packages, where shoal is not installed.

python -m benchmarks.peers.jobs <job> <arguments>: prints CPU seconds of the work alone (no imports, no files), and the peak of memory.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_megabytes


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what ``work`` returns, its CPU seconds, and the most memory the process has had."""
    begin = time.process_time()
    value = work()
    seconds = time.process_time() - begin
    return value, {"CPU s": seconds, "peak MB": peak_megabytes()}


def read(path: str) -> Any:
    """Return a CSV file, text columns as categories."""
    import pandas as pd

    frame = pd.read_csv(path)
    return frame.astype({name: "category" for name in frame if not pd.api.types.is_numeric_dtype(frame[name])})


def run_anonypy(source: str, k: str, target: str) -> dict[str, float]:
    """Group by anonypy's Mondrian; the last column of the table is its sensitive one."""
    import anonypy
    import pandas as pd

    frame = read(source)
    names = list(frame.columns)
    rows, cost = timed(lambda: anonypy.Preserver(frame, names[:-1], names[-1]).anonymize_k_anonymity(int(k)))
    plain = [{name: cell[0] if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows]
    pd.DataFrame(plain).to_csv(target, index=False)
    return cost


def run_anonypyx(source: str, k: str, target: str, algorithm: str, form: str) -> dict[str, float]:
    """Group by anonypyx's Mondrian or MDAV."""
    import anonypyx

    frame = read(source)
    anonymizer = anonypyx.Anonymizer(
        frame,
        k=int(k),
        feature_columns=list(frame.columns[:-1]),
        algorithm=algorithm,
        generalization_strategy=form,
    )
    released, cost = timed(anonymizer.anonymize)
    released.to_csv(target, index=False)
    return cost


def run_anjana(source: str, k: str, target: str, hierarchies: str) -> dict[str, float]:
    """Recode the whole table by hierarchy, no record suppressed."""
    import pandas as pd
    from anjana.anonymity import k_anonymity

    frame = pd.read_csv(source, dtype=str)
    names = list(frame.columns)
    trees = {
        name: dict(pd.read_csv(path, sep=";", header=None, dtype=str))
        for name, path in json.loads(Path(hierarchies).read_text("utf-8")).items()
    }
    released, cost = timed(lambda: k_anonymity(frame, [], names, int(k), 0, trees))
    released[names].assign(count=1).to_csv(target, index=False)
    return cost


def run_pycanon(source: str, sensitive: str) -> dict[str, float]:
    """Count k and l of a released table."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(source, dtype=str)
    names = [name for name in frame.columns if name != sensitive]
    reached, cost = timed(lambda: anonymity.k_anonymity(frame, names))
    diversity, other = timed(lambda: anonymity.l_diversity(frame, names, [sensitive]))
    return {"k": int(reached), "l": int(diversity), "k CPU s": cost["CPU s"], "l CPU s": other["CPU s"], **other}


def run_microagg1d(source: str, k: str) -> dict[str, float]:
    """Group one column of numbers; compiled before the clock runs."""
    import numpy as np
    from microagg1d import univariate_microaggregation

    values = np.load(source)
    univariate_microaggregation(values[:1000].copy(), int(k))
    labels, cost = timed(lambda: univariate_microaggregation(values.copy(), int(k)))
    means = np.bincount(labels, values) / np.bincount(labels)
    return {"SSE": float(((values - means[labels]) ** 2).sum()), **cost}


def list_versions(*packages: str) -> dict[str, str]:
    """Return the version of each package."""
    return {name: version(name) for name in packages}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "anonypy": run_anonypy,
    "anonypyx": run_anonypyx,
    "anjana": run_anjana,
    "pycanon": run_pycanon,
    "microagg1d": run_microagg1d,
    "versions": list_versions,
}

if __name__ == "__main__":
    print("\n" + json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
