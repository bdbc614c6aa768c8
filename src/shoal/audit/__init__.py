"""Counting a table again, whoever made it, to see what protection it really has."""

from __future__ import annotations

from shoal.audit.auditing import audit, audit_of_sizes, audit_owned
from shoal.audit.counting import column_codes, count_tuples
from shoal.audit.covering import check_cover
from shoal.audit.found import AT_MOST, Audit
from shoal.audit.measuring import measure_attribute, measure_people
from shoal.audit.population import represented_people
from shoal.audit.recount import check_codes, check_companions, check_release, recount
from shoal.audit.risk import PopulationUniqueness, Risk
from shoal.audit.typical import check_typical
from shoal.audit.uniques import UniqueSet, unique_sets

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
    "count_tuples",
    "measure_attribute",
    "measure_people",
    "recount",
    "represented_people",
    "unique_sets",
]
