"""Read a table that shoal released, and analyse it with the tools you have.

A recipient needs this package alone: it imports numpy and pandas, knows the grammar of released cells and the dictionary that comes
with a release, and nothing of shoal. Completions need scipy.
"""

from __future__ import annotations

from shoal_reader._version import __version__
from shoal_reader.design import Design
from shoal_reader.errors import DictionaryWarning, ReleaseError, TooLittleKnownWarning
from shoal_reader.pooling import pool
from shoal_reader.reading import read
from shoal_reader.release import Release

__all__ = [
    "Design",
    "DictionaryWarning",
    "Release",
    "ReleaseError",
    "TooLittleKnownWarning",
    "__version__",
    "pool",
    "read",
]
