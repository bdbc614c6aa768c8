"""Databases as sources of tables."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from shoal.errors import DatabaseError, ParameterError, ShoalError
from shoal.frames import Frame, require, to_frame
from shoal.frames.canonical import decoded_table
from shoal.io.databases.adbc import PostgresSession, SqliteSession, adbc_faults
from shoal.io.databases.address import check_address, database_path, explain
from shoal.io.databases.alchemy import PASSWORD_VARIABLE, AlchemySession
from shoal.io.databases.duck import DuckSession
from shoal.io.databases.session import Relation, Session
from shoal.io.location import Location
from shoal.io.source import ReadOptions, Source

RELEASE_TABLE = "release"
"""The table of a new database that is written as a file."""


class Database(Source):
    """A database: a table or a query must be named."""

    takes_table = True
    password_help: ClassVar[str] = ""

    @property
    def release_table(self) -> str:
        """The table of a file that was written."""
        return RELEASE_TABLE

    @abstractmethod
    def connect(self, location: Location, *, read_only: bool) -> Session:
        """Return a connection."""

    @contextlib.contextmanager
    def session(self, location: Location, what: str, *, read_only: bool = True) -> Iterator[Session]:
        """Yield a connection that is closed at the end; what the driver says becomes one sentence."""
        check_address(location, self.password_help)
        try:
            session = self.connect(location, read_only=read_only)
            try:
                if read_only:
                    session.protect()
                yield session
            finally:
                with contextlib.suppress(Exception):  # the connection may be gone
                    session.close()
        except ShoalError:
            raise
        except (*self.faults(), pa.ArrowException, OSError) as fault:
            raise explain(fault, what) from None

    @abstractmethod
    def faults(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""

    def read(self, location: Location, options: ReadOptions) -> Frame:
        """Return the rows of a table or query."""
        return to_frame(self.batches(location, options).read_all())

    def tables(self, location: Location) -> list[str]:
        """Return the names of the tables that can be read."""
        with self.session(location, "the list of tables") as session:
            return session.tables()

    def batches(self, location: Location, options: ReadOptions) -> pa.RecordBatchReader:
        """Return the rows of a table or query in batches; the connection closes behind the last."""
        relation = relation_of(options)
        parts = self._parts(location, relation)
        schema = next(parts)
        return pa.RecordBatchReader.from_batches(schema, parts)

    def _parts(self, location: Location, relation: Relation) -> Iterator[pa.Schema | pa.RecordBatch]:
        with self.session(location, relation.words) as session:
            reader = session.stream(f"SELECT * FROM {session.source(relation)}")  # noqa: S608  (names are quoted)
            yield reader.schema
            yield from reader


def relation_of(options: ReadOptions) -> Relation:
    """Return the rows that options name: a table or a query, and not both."""
    if (options.table is None) == (options.query is None):
        given = "Got both" if options.table else "Got neither"
        raise ParameterError(
            f"A database needs the name of a table, or a query. {given}.",
            hint='say which with table="patients" or query="SELECT ...".',
        )
    return Relation(options.table, options.query)


class PostgreSQL(Database):
    """PostgreSQL."""

    name = "PostgreSQL database"
    schemes: ClassVar[tuple[str, ...]] = ("postgresql", "postgres")
    password_help = "set PGPASSWORD, or write it into ~/.pgpass."  # noqa: S105

    def connect(self, location: Location, *, read_only: bool) -> Session:  # noqa: ARG002
        """Return a connection."""
        return PostgresSession(location.text)

    def faults(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""
        return adbc_faults()


class _Embedded(Database):
    """A database that is a file."""

    password_help = "a database in a file has no password."  # noqa: S105

    def connect(self, location: Location, *, read_only: bool) -> Session:
        """Return a connection; one that may write makes a file that is not there."""
        path = database_path(location)
        if read_only and not Path(path).is_file():
            raise DatabaseError(f"There is no database {Path(path).name!r}.", hint="check the path.")
        return self.open_file(path, read_only=read_only)

    @abstractmethod
    def open_file(self, path: str, *, read_only: bool) -> Session:
        """Return a connection to a file."""

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:  # noqa: ARG002
        """Write a new database with one table."""
        with self.session(Location(str(path)), f"the table {RELEASE_TABLE!r}", read_only=False) as session:
            session.ingest(RELEASE_TABLE, decoded_table(table))
            session.commit()


class SQLite(_Embedded):
    """A file of SQLite."""

    name = "SQLite database"
    schemes: ClassVar[tuple[str, ...]] = ("sqlite",)
    endings: ClassVar[tuple[str, ...]] = (".sqlite", ".sqlite3", ".db")

    def open_file(self, path: str, *, read_only: bool) -> Session:  # noqa: ARG002
        """Return a connection to a file."""
        return SqliteSession(path)

    def faults(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""
        return adbc_faults()


class DuckDB(_Embedded):
    """A file of DuckDB."""

    name = "DuckDB database"
    schemes: ClassVar[tuple[str, ...]] = ("duckdb",)
    endings: ClassVar[tuple[str, ...]] = (".duckdb", ".ddb")

    def open_file(self, path: str, *, read_only: bool) -> Session:
        """Return a connection to a file."""
        return DuckSession(path, read_only=read_only)

    def faults(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""
        return (require("duckdb", "duckdb", "Reading from DuckDB").Error,)


class OtherDatabase(Database):
    """MySQL, MariaDB, SQL Server, Oracle: what SQLAlchemy has a driver for."""

    name = "database"
    schemes: ClassVar[tuple[str, ...]] = ("mysql", "mariadb", "mssql", "oracle")
    password_help = f"set {PASSWORD_VARIABLE}."

    def connect(self, location: Location, *, read_only: bool) -> Session:  # noqa: ARG002
        """Return a connection."""
        return AlchemySession(location.text)

    def faults(self) -> tuple[type[Exception], ...]:
        """Return what the driver raises."""
        return (require("sqlalchemy.exc", "sql", "Reading from this database").SQLAlchemyError,)
