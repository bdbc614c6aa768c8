"""Settings that let a command start faster."""

from __future__ import annotations

import sys
from typing import Any

_PANDAS = "pandas"


class _Absent:
    """An importer that knows one thing: pandas is not here."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002  (as Python calls it)
        if name == _PANDAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leave_pandas_out() -> None:
    """Let pyarrow do without pandas, which it imports to see whether the first list it is given is one of pandas' own.

    That took a fifth of the time of a small job, and 40 MB, in a process that never holds such a thing. pyarrow asks once
    and remembers; whatever needs pandas, a file of SPSS to be written or a plug-in, still imports it.
    """
    if _PANDAS in sys.modules:
        return
    import pyarrow as pa

    absent: Any = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(absent)
