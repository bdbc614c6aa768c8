"""Hierarchies learned from the data: values that meet in the groups of a quick release are placed near each other.

``learn_trees`` returns a hierarchy for each column that asks for one: ``meetings`` counts who meets whom, ``agglomerate`` joins what meets most,
``grow`` makes a tree in which no value of fewer than k people has a place of its own, ``node_names`` names the nodes, ``rounds`` keeps the best.
Called by the engines before a table is coded. It knows tables, coding and methods, and neither recipes nor results.
"""

from __future__ import annotations

from shoal.learning.rounds import LEARNED, Wish, learn_trees, wishes

__all__ = ["LEARNED", "Wish", "learn_trees", "wishes"]
