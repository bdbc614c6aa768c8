"""The engine for tables that fit into memory.

``release`` takes a table from reading to the count of the released rows, ``hierarchies`` settles those that are chosen automatically.
Called through ``engines.base``, and by a task of Spark that sees a whole table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.engines.base import Refusal
from shoal.engines.memory.release import release_in_memory
from shoal.engines.sizes import is_too_large
from shoal.io.source import ReadOptions
from shoal.request import Request
from shoal.results.result import Result

__all__ = ["MemoryEngine", "release_in_memory"]


class MemoryEngine:
    """Releases a table in memory; a file is read into it."""

    def accepts(self, data: Any, request: Request) -> bool:
        """Return whether a table is here already, or in a file that fits."""
        return not isinstance(data, (str, Path)) or not is_too_large(data, request.memory)

    def refuses(self, request: Request) -> Refusal | None:
        """Return why a request cannot be honoured."""
        if request.engine != "auto" and request.memory is not None:
            return Refusal(
                "The 'memory' parameter does not bound a release in memory.", "leave it out, or take engine='stream'."
            )
        return None

    def release(self, data: Any, request: Request, options: ReadOptions) -> Result:
        """Return the release of a table."""
        return release_in_memory(request, data, options)
