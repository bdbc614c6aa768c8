"""Hierarchies of values: rooted ordered trees whose leaves are the texts a column may hold.

``tree`` is the public class, ``numbered`` its form in integers, ``structure`` and ``links`` check it; ``files`` and ``regular`` read it; ``suggest``,
``intervals``, ``halves`` and ``orders`` make one from values. Called by users, the coding, the recount and the web interface. It knows the
knowledge of the world, and neither tables nor releases.
"""

from __future__ import annotations

from shoal.hierarchy.suggest import WORDS
from shoal.hierarchy.texts import value_text
from shoal.hierarchy.tree import Hierarchy

__all__ = ["WORDS", "Hierarchy", "value_text"]
