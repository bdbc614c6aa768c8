"""How values are written: numbers, dates, times and marks for a missing value, in the notations of many countries.

One detection serves text files and data frames alike. It looks at the distinct texts of a column and either knows how all of them are to be read, or
leaves them text. What could be read in two ways is never guessed: the reading names the choices, and the user decides. Called by frames, files,
requests and publication. It knows texts, and neither tables nor roles.
"""

from __future__ import annotations

from shoal.notation.labels import ValueLabels
from shoal.notation.plain import in_plain_notation
from shoal.notation.read import Reading, code_for_missing, decimal_mark, understand
from shoal.notation.settings import AS_IS, Notation, make_notation

__all__ = [
    "AS_IS",
    "Notation",
    "Reading",
    "ValueLabels",
    "code_for_missing",
    "decimal_mark",
    "in_plain_notation",
    "make_notation",
    "understand",
]
