"""All other databases, through SQLAlchemy: MySQL, MariaDB, SQL Server, Oracle and more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from shoal.errors import DatabaseError
from shoal.frames import require
from shoal.io.databases.session import Session
from shoal.io.source import BATCH_ROWS, rows_of

PASSWORD_VARIABLE = "SHOAL_DB_PASSWORD"  # noqa: S105  (the name of the variable, no password)
_EXACT = {"mysql": "BINARY {}", "mariadb": "BINARY {}", "mssql": "{} COLLATE Latin1_General_BIN2"}
"""How to group text by its signs if the database takes ``a`` and ``A`` for the same."""

_READ_ONLY = {
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
}
"""The statement after which a session's transactions only read."""
_LOCKS = {
    "mysql": "SET SESSION lock_wait_timeout = {0}, innodb_lock_wait_timeout = {0}",
    "mariadb": "SET SESSION lock_wait_timeout = {0}, innodb_lock_wait_timeout = {0}",
}
"""The statement that sets how many seconds a session waits for a lock."""


class AlchemySession(Session):
    """A connection through SQLAlchemy. Rows travel as Python values, so this is the slow way."""

    def __init__(self, address: str) -> None:
        self.alchemy = require("sqlalchemy", "sql", "Reading from this database")
        url = self.alchemy.make_url(address)
        if os.environ.get(PASSWORD_VARIABLE):
            url = url.set(password=os.environ[PASSWORD_VARIABLE])
        try:
            self.engine = self.alchemy.create_engine(url)
        except (ImportError, self.alchemy.exc.NoSuchModuleError):
            raise DatabaseError(
                f"The driver for {url.drivername} is not installed.",
                hint='install it; for MySQL and MariaDB: pip install "shoal-privacy[mysql]" and write mysql+pymysql://.',
            ) from None
        self.connection = self.engine.connect()
        self.dialect = self.engine.dialect.name
        if self.dialect in _LOCKS:
            self.run(_LOCKS[self.dialect].format(self.patience))

    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the rows of a query in batches."""
        result = self.connection.execution_options(stream_results=True, max_row_buffer=BATCH_ROWS).exec_driver_sql(sql)
        names = list(result.keys())
        parts = result.partitions(BATCH_ROWS)
        first = _batch(names, next(parts, []), None)

        def batches() -> Iterator[pa.RecordBatch]:
            yield first
            for part in parts:
                yield _batch(names, part, first.schema)

        return pa.RecordBatchReader.from_batches(first.schema, batches())

    def protect(self) -> None:
        """Let the transaction change nothing, if the database has such transactions."""
        read_only = _READ_ONLY.get(self.dialect)
        if read_only:
            self.rollback()  # it holds of transactions that begin after it
            self.connection.exec_driver_sql(read_only)
            self.rollback()

    def run(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        self.connection.exec_driver_sql(sql)

    def quote(self, name: str) -> str:
        """Return a name as the database writes it."""
        return str(self.engine.dialect.identifier_preparer.quote_identifier(name))

    def exact(self, column: str) -> str:
        """Return an expression by which values are grouped that are equal sign by sign."""
        return _EXACT.get(self.dialect, "{}").format(column)

    def exists(self, name: str) -> bool:
        """Return whether there is a table or view of this name."""
        schema, _, table = name.rpartition(".")
        return bool(self.alchemy.inspect(self.connection).has_table(table, schema=schema or None))

    def tables(self) -> list[str]:
        """Return the tables and views that can be named without a schema."""
        looking = self.alchemy.inspect(self.connection)
        return sorted([*looking.get_table_names(), *looking.get_view_names()])

    def ingest(self, name: str, table: pa.Table) -> None:
        """Create a table and fill it."""
        schema, _, short = name.rpartition(".")
        columns = [self.alchemy.Column(field.name, self._type(field.type)) for field in table.schema]
        made = self.alchemy.Table(short, self.alchemy.MetaData(), *columns, schema=schema or None)
        made.create(self.connection)
        names = table.column_names
        rows = [dict(zip(names, row, strict=True)) for row in rows_of(table)]
        for start in range(0, len(rows), 1000):
            self.connection.execute(made.insert(), rows[start : start + 1000])

    def _type(self, kind: pa.DataType) -> Any:
        types = self.alchemy.types
        for fits, made in (
            (pa.types.is_boolean, types.Boolean),
            (pa.types.is_integer, types.BigInteger),
            (pa.types.is_floating, types.Double),
            (pa.types.is_date, types.Date),
            (pa.types.is_timestamp, types.DateTime),
            (pa.types.is_time, types.Time),
        ):
            if fits(kind):
                return made()
        return types.Numeric(kind.precision, kind.scale) if pa.types.is_decimal(kind) else types.Text()

    def publish(self, temporary: str, name: str, *, replace: bool) -> None:
        """Give a finished table its name; MySQL renames two tables in one step, but cannot undo a removal."""
        if not replace:
            self.rename(temporary, name)
            self.commit()
            return
        if self.dialect not in {"mysql", "mariadb"}:
            super().publish(temporary, name, replace=True)
            return
        old = f"{temporary}_old"
        new_name, old_name, temporary_name = (self.quote_table(one) for one in (name, old, temporary))
        self.run(f"RENAME TABLE {new_name} TO {old_name}, {temporary_name} TO {new_name}")
        self.drop(old)
        self.commit()

    def discard(self, temporary: str) -> None:
        """Undo what was done; if a transaction does not take the table with it, remove it on a connection of its own."""
        self.rollback()
        self.connection.close()
        with self.engine.connect() as fresh:
            fresh.exec_driver_sql(f"DROP TABLE IF EXISTS {self.quote_table(temporary)}")
            fresh.commit()

    def close(self) -> None:
        """End the connection."""
        self.connection.close()
        self.engine.dispose()


def _batch(names: list[str], rows: Any, schema: pa.Schema | None) -> pa.RecordBatch:
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[] for _ in names]
    arrays = (
        [pa.array(column) for column in columns]
        if schema is None
        else [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    )
    return pa.record_batch(arrays, names=names)
