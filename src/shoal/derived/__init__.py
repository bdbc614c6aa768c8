"""Columns that follow from quasi-identifiers: their formulas, and the records that they single out.

``search`` runs on a sample and knows tables, no groups. ``ways`` knows groups of released rows and counts whom a column picks out among them.
Called by the inspection, the attacks, the release and the engines. Nothing here decides whether a release is refused.
"""

from __future__ import annotations

from shoal.derived.search import SAMPLE, Derived, find_derived
from shoal.derived.ways import Exposure, Way, expose, likely, refusal, warning

__all__ = ["SAMPLE", "Derived", "Exposure", "Way", "expose", "find_derived", "likely", "refusal", "warning"]
