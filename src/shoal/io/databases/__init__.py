"""Tables in databases: read in batches, written in one transaction, counted where they are.

PostgreSQL and SQLite speak Arrow through ADBC, DuckDB speaks it by itself, all others go through SQLAlchemy.
"""

from __future__ import annotations

from shoal.io.databases.address import new_file
from shoal.io.databases.count import check_promise, group_sizes, value_counts
from shoal.io.databases.session import Relation, Session
from shoal.io.databases.sources import RELEASE_TABLE, Database, DuckDB, OtherDatabase, PostgreSQL, SQLite, relation_of
from shoal.io.databases.write import Promise, check_target_table, write_release

__all__ = [
    "RELEASE_TABLE",
    "Database",
    "DuckDB",
    "OtherDatabase",
    "PostgreSQL",
    "Promise",
    "Relation",
    "SQLite",
    "Session",
    "check_promise",
    "check_target_table",
    "group_sizes",
    "new_file",
    "relation_of",
    "value_counts",
    "write_release",
]
