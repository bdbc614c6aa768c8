"""Counting any table, whether shoal made it or not, to see what protection it really has.

``run`` audits a table in memory, ``in_database`` one that stays where it is; ``promises`` measures models, ``risk`` and ``population`` estimate
what an intruder risks, ``uniques`` finds the columns that pick people out. Called by users, the engines, the results and the summary. It knows
privacy models and tables, and not which method made them.
"""

from __future__ import annotations

from shoal.audit.determined import count_determined, refuse_determined
from shoal.audit.found import AT_MOST, Audit
from shoal.audit.population import represented_people
from shoal.audit.promises import measure_attribute, measure_people
from shoal.audit.risk import PopulationUniqueness, Risk
from shoal.audit.run import audit, audit_of_sizes, audit_owned
from shoal.audit.uniques import UniqueSet, unique_sets
from shoal.recount.cover import check_cover
from shoal.recount.crowds import find_people, refuse_broken_promise
from shoal.recount.rows import check_codes, check_companions, check_release, recount
from shoal.recount.tuples import column_codes, count_tuples
from shoal.recount.typical import check_typical

__all__ = [
    "AT_MOST",
    "Audit",
    "PopulationUniqueness",
    "Risk",
    "UniqueSet",
    "audit",
    "audit_of_sizes",
    "audit_owned",
    "check_codes",
    "check_companions",
    "check_cover",
    "check_release",
    "check_typical",
    "column_codes",
    "count_determined",
    "count_tuples",
    "find_people",
    "measure_attribute",
    "measure_people",
    "recount",
    "refuse_broken_promise",
    "refuse_determined",
    "represented_people",
    "unique_sets",
]
