"""Checks that every engine makes before any work: the columns of the table by name, and its number of records."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from shoal.errors import DataError, ParameterError
from shoal.frames import Frame
from shoal.request import Request, check_role_columns, warn_of_columns_left_out, with_others_decided
from shoal.validation import check_columns


def decide_columns(request: Request, names: Sequence[str]) -> Request:
    """Refuse a table without the columns that a request names; return the request with a decision about all others."""
    frame = Frame(pa.table({name: pa.array([], pa.string()) for name in names}))
    check_role_columns(request.named, frame)
    if request.others == "drop":
        warn_of_columns_left_out(request.named, frame)
    check_columns("a column the method looks at", request.attributes, frame.names)
    return with_others_decided(request, frame)


def check_records(request: Request, records: int) -> None:
    """Refuse an empty table, and one in which nobody can hide among k."""
    if not records:
        raise DataError("The table has no rows. There is nothing to release.")
    if request.k > records:
        raise ParameterError(
            f"The 'k' parameter of Anonymizer must be at most the number of records, {records}. Got {request.k} instead.",
            hint="nobody can hide among more records than there are.",
        )
