"""Hierarchies learned from the data: values that meet in the groups of a quick release are placed near each other.

``learn_trees`` takes a table and a recipe's worth of choices and returns a hierarchy for each column that asks for one; the public function is in
``public.py``. The engine in memory calls it before a table is coded. It knows tables, coding and methods, and neither
recipes nor results. ``meetings.py`` counts who meets whom, ``agglomerate.py`` joins what meets most, ``grow.py`` makes a tree of it in which
no value of fewer than k people has a place of its own, ``node_names.py`` names the nodes, ``rounds.py`` tries the trees and keeps the best.
"""

from __future__ import annotations

from shoal.learning.rounds import LEARNED, Wish, learn_trees, wishes

__all__ = ["LEARNED", "Wish", "learn_trees", "wishes"]
