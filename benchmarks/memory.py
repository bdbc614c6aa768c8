"""The peak of a process's memory. Needs nothing but Python, so that it also runs where shoal is not installed."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_PER_MEGABYTE = 1024**2 if sys.platform == "darwin" else 1024


def peak_megabytes() -> float:
    """Return the most memory this process has had; Linux's rusage would count the process it was started from too."""
    if _STATUS.exists():
        lines = _STATUS.read_text("ascii", "replace").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _PER_MEGABYTE
