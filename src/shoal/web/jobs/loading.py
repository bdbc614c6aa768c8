"""The table a worker has available."""

from __future__ import annotations

from shoal.frames import Frame
from shoal.web.stored import StoredTable

_at_hand: dict[str, Frame] = {}


def load(table: StoredTable) -> Frame:
    """Return a stored table; the last one stays available."""
    if table.path not in _at_hand:
        _at_hand.clear()
        _at_hand[table.path] = table.load()
    return _at_hand[table.path]
