"""DuckDB, which speaks Arrow by itself."""

from __future__ import annotations

import pyarrow as pa

from shoal.frames import require
from shoal.io.databases.session import Session
from shoal.io.source import BATCH_ROWS


class DuckSession(Session):
    """A connection to a file of DuckDB."""

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        duckdb = require("duckdb", "duckdb", "Reading from DuckDB")
        self.connection = duckdb.connect(path, read_only=read_only)
        self.connection.execute("BEGIN TRANSACTION")

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
