"""Counting a table inside its database: the database groups, and only counts are transferred."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, LongArray
from shoal.frames import Frame, encode_dictionary
from shoal.io.databases import Database, Relation, Session, group_sizes, relation_of, value_counts
from shoal.io.location import locate
from shoal.io.registry import find_source
from shoal.io.source import ReadOptions
from shoal.validation import check_columns


class Counted(NamedTuple):
    """What a database counted."""

    names: tuple[str, ...]
    size: LongArray
    """For each group how many records it has; groups in no order."""
    sensitive: list[tuple[str, Frame, IntArray]]
    """For each sensitive column its values and, for each of them, the number of its group; one a record."""


def is_in_database(data: Any) -> bool:
    """Return whether what the user names is a database."""
    return isinstance(data, (str, Path)) and isinstance(find_source(locate(data)), Database)


def count_in_database(
    place: str | Path, options: ReadOptions, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> Counted:
    """Have the database count its groups, and the sensitive values in each."""
    location, relation = locate(place), relation_of(options)
    source = find_source(location)
    assert isinstance(source, Database)  # noqa: S101
    with source.session(location, relation.words) as session:
        known = session.names(relation)
        names = check_columns("a quasi-identifier", quasi_identifiers, known)
        others = check_columns("sensitive", sensitive, known)
        sizes = group_sizes(session, relation, names)
        size = np.repeat(np.array([*sizes], np.int64), np.array([*sizes.values()], np.int64))
        return Counted(names, size, [(name, *_values(session, relation, names, name)) for name in others])


def _values(session: Session, relation: Relation, names: Sequence[str], column: str) -> tuple[Frame, IntArray]:
    """Return the values of a column, one a record in any order, and the number of each one's group."""
    counts = value_counts(session, relation, names, column)
    times = np.asarray(counts["n"], np.int64)
    encoded = encode_dictionary(counts["value"])
    values = pa.DictionaryArray.from_arrays(
        encoded.indices.take(pa.array(np.repeat(np.arange(len(times)), times))), encoded.dictionary
    )
    table = pa.table({column: pa.chunked_array([values.dictionary.take(values.indices)])})
    return Frame(table), np.repeat(np.asarray(counts["label"], np.int64) - 1, times).astype(np.int32)
