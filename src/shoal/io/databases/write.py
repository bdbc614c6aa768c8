"""Writing a release into a database: complete, counted by the database itself, or not at all."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from shoal.errors import DatabaseError, PrivacyError
from shoal.frames.canonical import decoded_table
from shoal.io.databases.count import check_promise
from shoal.io.databases.session import Session


@dataclass(frozen=True)
class Promise:
    """What the database must count before a release gets its name."""

    quasi_identifiers: Sequence[str]
    k: int


def write_release(session: Session, name: str, table: pa.Table, promise: Promise, *, force: bool) -> None:
    """Write rows under a temporary name, have them counted there, then rename, all in one transaction."""
    there = check_target_table(session, name, force=force)
    schema, _, _ = name.rpartition(".")
    temporary = f"{schema}{'.' if schema else ''}shoal_{secrets.token_hex(8)}"
    try:
        session.ingest(temporary, decoded_table(table))
        _check(session, temporary, table.num_rows, promise)
        session.publish(temporary, name, replace=there)
    except BaseException:
        # the connection may be gone, and with it the transaction; that fault must not hide the first one
        with contextlib.suppress(Exception):
            session.discard(temporary)
        raise


def check_target_table(session: Session, name: str, *, force: bool) -> bool:
    """Return whether a table of this name is there; refuse it without ``force``."""
    there = session.exists(name)
    if there and not force:
        raise DatabaseError(f"The table {name!r} exists and is left as it is.", hint="use force to replace it.")
    return there


def _check(session: Session, table: str, records: int, promise: Promise) -> None:
    rows, few = check_promise(session, table, promise.quasi_identifiers, promise.k)
    if rows != records:
        raise DatabaseError(f"The database holds {rows} rows, but {records} were written. Nothing was released.")
    if few:
        raise PrivacyError(
            f"The release is not {promise.k}-anonymous: the database counts {few} groups that are too small. "
            "Nothing was released.",
            hint="this is an internal error of the method; please report it.",
        )
