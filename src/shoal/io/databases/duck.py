"""DuckDB, which speaks Arrow by itself."""

from __future__ import annotations

import pyarrow as pa

from shoal.errors import ParameterError
from shoal.frames import require
from shoal.io.databases.session import Session
from shoal.io.source import BATCH_ROWS

_SHUT = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
"""No file, address, extension or variable of the calling program is read but the database itself, whatever a query or a view in it says, and no statement changes that."""


class DuckSession(Session):
    """A connection to a file of DuckDB."""

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        duckdb = require("duckdb", "duckdb", "Reading from DuckDB")
        self.duckdb = duckdb
        self.connection = duckdb.connect(path, read_only=read_only, config=_SHUT)
        self.connection.execute("BEGIN TRANSACTION")

    def only_reading(self, query: str) -> str:
        """Return a query that DuckDB itself takes for one SELECT."""
        text = super().only_reading(query)
        statements = self.duckdb.extract_statements(text)
        if len(statements) != 1 or statements[0].type != self.duckdb.StatementType.SELECT:
            raise ParameterError(
                "A query must be one SELECT. Got another statement, or several.", hint="leave out all but one SELECT."
            )
        return text

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the rows of a query in batches."""
        found = self.connection.sql(sql)
        reader = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # the name before DuckDB 1.4
        return reader(BATCH_ROWS)

    def run(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        self.connection.execute(sql)

    def ingest(self, name: str, table: pa.Table) -> None:
        """Create a table and fill it."""
        self.connection.register("shoal_rows", table)
        made = self.quote_table(name)
        self.connection.execute(f"CREATE TABLE {made} AS SELECT * FROM shoal_rows")  # noqa: S608  (quoted)
        self.connection.unregister("shoal_rows")
