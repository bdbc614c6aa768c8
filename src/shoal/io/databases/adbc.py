"""PostgreSQL and SQLite through ADBC, which speaks Arrow all the way."""

from __future__ import annotations

import contextlib
from typing import Any

import pyarrow as pa

from shoal.errors import PrivacyWarning, warn
from shoal.frames import require
from shoal.io.databases.session import Session, _literal

_LARGEST_PRECISION = 38
_MIGHTY = """SELECT rolsuper OR EXISTS (
    SELECT 1 FROM pg_roles AS may WHERE may.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    AND pg_has_role(current_user, may.oid, 'MEMBER')
) AS mighty FROM pg_roles WHERE rolname = current_user"""
"""Whether the user of PostgreSQL may reach the server's files."""


def adbc_faults() -> tuple[type[Exception], ...]:
    """Return what ADBC drivers raise."""
    return (require("adbc_driver_manager", "postgresql", "Reading from this database").Error,)


class AdbcSession(Session):
    """A connection through an ADBC driver."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._cursors = contextlib.ExitStack()

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the rows of a query in batches; they end with the connection."""
        cursor = self._cursors.enter_context(self.connection.cursor())
        cursor.execute(sql)
        return _with_plain_types(cursor.fetch_record_batch())

    def close(self) -> None:
        """End the connection; what was not committed is gone."""
        try:
            self._cursors.close()
        finally:
            self.connection.close()

    def run(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql)

    def ingest(self, name: str, table: pa.Table) -> None:
        """Create a table and fill it."""
        schema, _, short = name.rpartition(".")
        place = {"db_schema_name": schema} if schema else {}
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(short, table.to_reader(), mode="create", **place)


class PostgresSession(AdbcSession):
    """A connection to PostgreSQL."""

    def __init__(self, address: str) -> None:
        driver = require("adbc_driver_postgresql.dbapi", "postgresql", "Reading from PostgreSQL")
        super().__init__(driver.connect(address))
        self.run(f"SET lock_timeout = '{self.patience}s'")
        self.commit()  # a rollback would undo the setting

    def protect(self) -> None:
        """Let the transaction change nothing: a query with side effects is refused by the server.

        Functions that read files of the server are allowed to superusers and a few roles even then, also inside a view. Such a user is warned.
        """
        self.run("SET TRANSACTION READ ONLY")
        if self.rows(_MIGHTY)[0][0]:
            warn(
                "The user of the database may read or write files of the server, also through a view or function in the database. "
                "Read tables as a user without these rights.",
                PrivacyWarning,
            )


class SqliteSession(AdbcSession):
    """A connection to a file of SQLite."""

    def __init__(self, path: str) -> None:
        driver = require("adbc_driver_sqlite.dbapi", "sqlite", "Reading from SQLite")
        super().__init__(driver.connect(path))
        self.run(f"PRAGMA busy_timeout = {1000 * self.patience}")

    def protect(self) -> None:
        """Let the connection change nothing, attach no other file, and let views and triggers of the file call no function with side effects."""
        self.run("PRAGMA query_only = 1")
        self.run("PRAGMA trusted_schema = 0")

    def exists(self, name: str) -> bool:
        """Return whether there is a table or view of this name."""
        return bool(self.rows(f"SELECT 1 AS one FROM sqlite_master WHERE name = {_literal(name)}"))  # noqa: S608

    def tables(self) -> list[str]:
        """Return the tables and views, without those SQLite keeps for itself."""
        sql = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        return sorted(str(name) for (name,) in self.rows(sql))

    def quote_table(self, name: str) -> str:
        """Return the name of a table; SQLite has no schemas, so a dot is part of it."""
        return self.quote(name)


def _with_plain_types(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Return the batches with PostgreSQL's ``numeric``, which comes as text, as decimals."""
    schema = pa.schema([pa.field(field.name, _plain_type(field)) for field in reader.schema])
    if schema.types == reader.schema.types:
        return reader
    batches = (
        pa.record_batch(
            [_storage(column).cast(field.type) for column, field in zip(batch.columns, schema, strict=True)],
            schema=schema,
        )
        for batch in reader
    )
    return pa.RecordBatchReader.from_batches(schema, batches)


def _plain_type(field: pa.Field) -> pa.DataType:
    details = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    if details.get("POSTGRESQL:type") == "numeric":  # pyarrow before 18 takes its type for plain text
        modifier = int(details.get("POSTGRESQL:typmod", "-1")) - 4
        precision, scale = modifier >> 16, modifier & 0x7FF
        return pa.decimal128(precision, scale) if 0 < precision <= _LARGEST_PRECISION else pa.float64()
    if isinstance(field.type, pa.BaseExtensionType) and str(field.type.storage_type) != "fixed_size_binary[16]":
        return field.type.storage_type
    return field.type


def _storage(column: pa.Array) -> pa.Array:
    return (
        column.storage
        if isinstance(column.type, pa.BaseExtensionType) and str(column.type) != "extension<arrow.uuid>"
        else column
    )
