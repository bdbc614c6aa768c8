"""A table of quasi-identifiers as integers.

Each column is coded so that what may be released is a range of codes: numbers and dates by the rank of their distinct values, categories by the
depth-first number of their leaf in a hierarchy. A missing value is a code of its own, the last. Called by whatever groups, checks or measures
records. It knows tables and hierarchies, and neither methods nor models. Nobody outside asks which kind a column is.
"""

from __future__ import annotations

from shoal.encoding.encode import (
    HierarchyChoice,
    KindChoice,
    Weight,
    check_hierarchies,
    check_kinds,
    check_weights,
    encode,
    encode_attribute,
    load_hierarchy,
)
from shoal.encoding.tables import CodedAttribute, CodedColumn, CodedTable, Unit
from shoal.encoding.units import encode_unit, numbered_anew, numbered_as_met, survey_weights, with_units
from shoal.encoding.values import (
    exact_numbers,
    exponent_beyond_reach,
    is_ordered,
    positions,
    text_meanings,
    value_texts,
)

__all__ = [
    "CodedAttribute",
    "CodedColumn",
    "CodedTable",
    "HierarchyChoice",
    "KindChoice",
    "Unit",
    "Weight",
    "check_hierarchies",
    "check_kinds",
    "check_weights",
    "encode",
    "encode_attribute",
    "encode_unit",
    "exact_numbers",
    "exponent_beyond_reach",
    "is_ordered",
    "load_hierarchy",
    "numbered_anew",
    "numbered_as_met",
    "positions",
    "survey_weights",
    "text_meanings",
    "value_texts",
    "with_units",
]
