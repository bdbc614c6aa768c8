"""Choose the engine that was asked for, or one that fits, and let it release a table."""

from __future__ import annotations

from typing import Any

from shoal.engines.base import engine_for
from shoal.io.source import ReadOptions, check_source
from shoal.request import Bar, Request
from shoal.results.outcome import Outcome


def run(request: Request, data: Any, *, table: str | None = None, query: str | None = None) -> Outcome:
    """Return the release of a table."""
    try:
        check_source("anonymize", data, table=table, query=query)
        return engine_for(data, request).release(data, request, ReadOptions(table=table, query=query))
    finally:
        if isinstance(request.progress, Bar):
            request.progress.close()
