"""A first look at a table: what each column may be, and which columns pick people out.

``first_look`` inspects, ``roles`` guesses roles from names, types and repetition, ``meanings`` and ``words`` say what values and names may be about,
``hipaa`` holds a rule book. Called by users, the command line and the web interface. It does not know releases; the steward decides,
and no value of the table is told.
"""

from __future__ import annotations

from shoal.encoding import text_meanings
from shoal.inspection.first_look import (
    USUAL_K,
    ColumnView,
    Combination,
    Giveaway,
    Inspection,
    column_views,
    inspect_table,
    repeating_key,
    type_word,
)
from shoal.inspection.formats import ValueFinding, find_identifiers
from shoal.inspection.roles import UNSURE, guess_role, is_coded_category
from shoal.inspection.words import Role, words_of

__all__ = [
    "UNSURE",
    "USUAL_K",
    "ColumnView",
    "Combination",
    "Giveaway",
    "Inspection",
    "Role",
    "ValueFinding",
    "column_views",
    "find_identifiers",
    "guess_role",
    "inspect_table",
    "is_coded_category",
    "repeating_key",
    "text_meanings",
    "type_word",
    "words_of",
]
