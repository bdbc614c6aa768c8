"""A connection to a database: SQL in, Arrow out, one transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from shoal.io.databases.queries import check_query


@dataclass(frozen=True)
class Relation:
    """The rows meant: a table, or the answer to a query."""

    table: str | None = None
    query: str | None = None

    @property
    def words(self) -> str:
        """What is read, in words; a query may hold values and is not repeated."""
        return f"the table {self.table!r}" if self.table else "the query"


class Session(ABC):
    """A connection with one transaction: what is not committed never was."""

    def close(self) -> None:
        """End the connection; what was not committed is gone."""
        self.connection.close()

    connection: Any
    patience: ClassVar[int] = 10
    """Seconds that a statement waits for a lock of another program; without this limit servers wait for ever, or a day."""

    @abstractmethod
    def stream(self, sql: str) -> pa.RecordBatchReader:
        """Return the rows of a query in batches."""

    @abstractmethod
    def run(self, sql: str) -> None:
        """Run a statement that gives no rows."""

    @abstractmethod
    def ingest(self, name: str, table: pa.Table) -> None:
        """Create a table and fill it."""

    def protect(self) -> None:  # noqa: B027  (not every database can)
        """Let the rest of the transaction change nothing, if the database can do so."""

    def commit(self) -> None:
        """Keep what was done."""
        self.connection.commit()

    def rollback(self) -> None:
        """Undo what was done."""
        self.connection.rollback()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the few rows of a query as Python values."""
        table = self.stream(sql).read_all()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def names(self, relation: Relation) -> list[str]:
        """Return the names of the columns."""
        sql = f"SELECT * FROM {self.source(relation)} WHERE 1 = 0"  # noqa: S608  (names are quoted)
        return list(self.stream(sql).schema.names)

    def source(self, relation: Relation) -> str:
        """Return what comes behind FROM."""
        if relation.table:
            return self.quote_table(relation.table)
        return f"({self.only_reading(str(relation.query))}\n) AS asked"  # a comment at the end of a query ends with its line

    def only_reading(self, query: str) -> str:
        """Return a query of a user that is one statement and only reads, or raise."""
        return check_query(query)

    def quote(self, name: str) -> str:
        """Return a name as SQL writes it."""
        doubled = name.replace('"', '""')
        return f'"{doubled}"'

    def quote_table(self, name: str) -> str:
        """Return the name of a table, with its schema if it is written ``schema.table``."""
        return ".".join(self.quote(part) for part in name.split("."))

    def exact(self, column: str) -> str:
        """Return an expression by which values are grouped that are equal sign by sign."""
        return column

    def exists(self, name: str) -> bool:
        """Return whether there is a table or view of this name."""
        schema, _, table = name.rpartition(".")
        where = f"table_name = {_literal(table)}" + (f" AND table_schema = {_literal(schema)}" if schema else "")
        if not schema:
            where += f" AND table_schema = {self.usual_schema}"
        return bool(self.rows(f"SELECT 1 AS one FROM information_schema.tables WHERE {where}"))  # noqa: S608

    def tables(self) -> list[str]:
        """Return the tables and views that can be named without a schema."""
        sql = f"SELECT table_name AS name FROM information_schema.tables WHERE table_schema = {self.usual_schema}"  # noqa: S608
        return sorted(str(name) for (name,) in self.rows(sql))

    usual_schema = "current_schema()"
    """The expression for the schema of a table that is named without one."""

    def drop(self, name: str) -> None:
        """Remove a table."""
        self.run(f"DROP TABLE {self.quote_table(name)}")

    def rename(self, old: str, new: str) -> None:
        """Give a table another name in its schema."""
        self.run(f"ALTER TABLE {self.quote_table(old)} RENAME TO {self.quote(new.rpartition('.')[2])}")

    def publish(self, temporary: str, name: str, *, replace: bool) -> None:
        """Give a finished table its name and commit; with ``replace`` the table of that name goes."""
        if replace:
            self.drop(name)
        self.rename(temporary, name)
        self.commit()

    def discard(self, temporary: str) -> None:  # noqa: ARG002  (a transaction takes the table with it)
        """Undo what was done, the temporary table with it."""
        self.rollback()


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
