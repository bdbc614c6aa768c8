"""The interface of engines. An engine releases a table; it is asked for by name, or chosen to fit the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from shoal.errors import ParameterError
from shoal.extensions import ENGINES
from shoal.io.source import ReadOptions
from shoal.request import Request
from shoal.results.outcome import Outcome


class Refusal(NamedTuple):
    """Why an engine does not release what it is asked for, and what to do about it."""

    sentence: str
    hint: str | None = None


class Engine(Protocol):
    """An engine. Its class takes no arguments, and is named in the group of entry points ``shoal.engines``."""

    def accepts(self, data: Any, request: Request) -> bool:
        """Return whether ``engine="auto"`` may choose this engine for a table."""

    def refuses(self, request: Request) -> Refusal | None:
        """Return why a request cannot be honoured in every parameter; None if it can. Nothing is read for the answer."""

    def release(self, data: Any, request: Request, options: ReadOptions) -> Outcome:
        """Return the release of a table, counted again. If the table and the request do not go together, nothing is released."""


def engine_named(name: str) -> Engine:
    """Return an engine."""
    made: Engine = ENGINES.load("Anonymizer", "engine", name)()
    return made


def engine_for(data: Any, request: Request) -> Engine:
    """Return who releases a table: the engine that the request names, else the first that accepts it and refuses nothing."""
    if request.engine != "auto":
        return asked(engine_named(request.engine), request)
    for name in _in_order():
        engine = engine_named(name)
        if engine.accepts(data, request) and engine.refuses(request) is None:
            return engine
    return asked(engine_named(next(iter(ENGINES.own))), request)


def _in_order() -> Iterator[str]:
    """Yield the names of engines, shoal's own first; what is installed is looked through only if none of these fits."""
    yield from ENGINES.own
    yield from (name for name in ENGINES.places() if name not in ENGINES.own)


def asked(engine: Engine, request: Request) -> Engine:
    """Return an engine that honours a request, or say what it refuses."""
    refusal = engine.refuses(request)
    if refusal is not None:
        raise ParameterError(refusal.sentence, hint=refusal.hint)
    return engine
