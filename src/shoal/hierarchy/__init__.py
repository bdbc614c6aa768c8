"""Hierarchies of values: rooted ordered trees whose leaves are the texts a column may hold."""

from __future__ import annotations

from shoal.hierarchy.suggest import WORDS
from shoal.hierarchy.texts import value_text
from shoal.hierarchy.tree import Hierarchy

__all__ = ["WORDS", "Hierarchy", "value_text"]
