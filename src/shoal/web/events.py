"""News for every open page, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

_MOST_WAITING = 1000
_QUIET_SECONDS = 20.0


Event = tuple[str, Any]
"""An event: its name and what it says."""


class Events:
    """Hands each event to all who listen. Used from the server's loop only."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Event | None]] = set()
        self._closed = False

    def publish(self, name: str, content: Any) -> None:
        """Send to all pages. A page that no longer listens loses old events, never the server its memory."""
        for queue in self._listeners:
            if queue.full():
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)
            queue.put_nowait((name, content))

    def close(self) -> None:
        """Let all streams end."""
        self._closed = True
        self.publish("end", {})

    async def listen(self, standing: Callable[[], list[Event]]) -> AsyncIterator[str]:
        """Yield the current state, then all that happens; a comment now and then shows that the line is alive.

        ``standing`` is asked when the listener is on the list, and again if events were lost, so that no news is missed.
        """
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)
        self._listeners.add(queue)
        queue.put_nowait(None)
        try:
            while not self._closed:
                try:
                    event = await asyncio.wait_for(queue.get(), _QUIET_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                for one in standing() if event is None else [event]:
                    yield _written(*one)
        finally:
            self._listeners.discard(queue)


def _written(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
