"""What happened, told to every open page as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

_MOST_WAITING = 1000
_QUIET_SECONDS = 20.0


class Events:
    """Hands each event to all who listen. Used from the server's loop only."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str]] = set()
        self._closed = False

    def publish(self, name: str, content: Any) -> None:
        """Tell all pages. A page that no longer listens loses its oldest events, never the server its memory."""
        text = _written(name, content)
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(text)

    def close(self) -> None:
        """Let all streams end."""
        self._closed = True
        self.publish("end", {})

    async def listen(self, name: str, content: Any) -> AsyncIterator[str]:
        """Give a first event, then all from now on; a comment now and then shows that the line is alive."""
        queue: asyncio.Queue[str] = asyncio.Queue(_MOST_WAITING)
        self._listeners.add(queue)
        try:
            yield _written(name, content)
            while not self._closed:
                try:
                    yield await asyncio.wait_for(queue.get(), _QUIET_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listeners.discard(queue)


def _written(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
