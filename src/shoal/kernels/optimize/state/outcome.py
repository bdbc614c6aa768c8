"""What an operator reports of its work in a region."""

from __future__ import annotations

from typing import NamedTuple


class Outcome(NamedTuple):
    """How often an operator tried to change the groups, how often it did, and by how much their total cost fell.

    With a temperature above 0 steps may raise the cost, so the fall may be negative.
    """

    tried: int
    taken: int
    gained: float
