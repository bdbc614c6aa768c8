"""A query, and a view in a database of somebody else's, reads the database and nothing else."""

from __future__ import annotations

import sqlite3

import duckdb
import pytest

from shoal.errors import DatabaseError, ParameterError, PrivacyWarning
from shoal.io.databases.queries import check_query
from shoal.io.files import open_table
from tests.io.test_databases import address, mariadb_server, postgresql_server, tables, writing
from tests.support import servers

__all__ = ["address", "mariadb_server", "postgresql_server"]  # fixtures
pytestmark = pytest.mark.filterwarnings("error")

SMUGGLED = {
    "copy": "SELECT * FROM people) AS a; COPY people TO '{victim}'; SELECT * FROM (SELECT 1 AS one",
    "drop": "SELECT 1) AS a; DROP TABLE people; SELECT * FROM (SELECT 1 AS one",
    "commit": "SELECT 1) AS a; COMMIT; DROP TABLE people; SELECT * FROM (SELECT 1 AS one",
    "writable": "SELECT 1) AS a; PRAGMA query_only = 0; DELETE FROM people; SELECT * FROM (SELECT 1 AS one",
    "attach": "SELECT 1) AS a; ATTACH DATABASE '{victim}' AS other; SELECT * FROM (SELECT 1 AS one",
    "outfile": "SELECT 1) AS a INTO OUTFILE '{victim}' -- ",
    "executed comment": "SELECT 1 /*!50000 INTO DUMPFILE */",
    "setting": "SELECT set_config('transaction_read_only', 'off', false)",
    "server file": "SELECT pg_read_file('/etc/passwd')",
    "large object": "SELECT lo_export(1, '{victim}')",
    "statement": "UPDATE people SET age = 1",
    "in quotes": "SELECT ';' AS one",
}


@pytest.mark.parametrize("smuggled", SMUGGLED)
def test_no_query_runs_a_second_statement_or_reaches_a_file(address, tmp_path, smuggled):
    victim = tmp_path / "victim.txt"
    with pytest.raises((ParameterError, DatabaseError)):
        open_table(address, query=SMUGGLED[smuggled].format(victim=victim))
    assert not victim.exists()
    assert tables(address) == ["people"]
    assert open_table(address, query="SELECT count(*) AS rows_left FROM people WHERE age > 1").table[
        "rows_left"
    ].to_pylist() == [40]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS one",
        "  select 1 AS one ; ",
        "WITH a AS (SELECT 1 AS one) SELECT * FROM a",
        "-- a remark\nSELECT 1 AS one",
        "SELECT 1 AS one -- at the end",
    ],
)
def test_plain_queries_are_answered(address, query):
    assert open_table(address, query=query).table["one"].to_pylist() == [1]


def test_a_query_changes_nothing_even_by_a_function(address, postgresql_server):
    if not address.startswith("postgresql"):
        pytest.skip("does not apply: only PostgreSQL has functions that write")
    with writing(address) as session:
        session.run("CREATE OR REPLACE FUNCTION wipe() RETURNS int LANGUAGE sql AS 'DELETE FROM people RETURNING 1'")
        session.commit()
    with pytest.raises(DatabaseError, match="lets nothing be changed"):
        open_table(address, query="SELECT wipe() AS one")
    assert len(open_table(address, table="people").table) == 40


def test_functions_that_write_are_refused_by_a_session_of_mariadb_too(mariadb_server, monkeypatch):
    monkeypatch.setenv("SHOAL_DB_PASSWORD", servers.PASSWORD)
    with writing(mariadb_server.address) as session:
        session.run("CREATE TABLE IF NOT EXISTS marks (one INT)")
        session.run("DROP FUNCTION IF EXISTS mark")
        session.run(
            "CREATE FUNCTION mark() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO marks VALUES (1); RETURN 1; END"
        )
        session.commit()
    with pytest.raises(DatabaseError):
        open_table(mariadb_server.address, query="SELECT mark() AS one")
    assert open_table(mariadb_server.address, table="marks").table.num_rows == 0


# --- DuckDB ------------------------------------------------------------------------------------------------------

OUTSIDE = {
    "text": "SELECT content FROM read_text('{file}')",
    "csv": "SELECT * FROM read_csv('{file}', header = false)",
    "by name": "SELECT * FROM '{file}'",
    "glob": "SELECT * FROM glob('{folder}/*')",
}


@pytest.fixture
def secret(tmp_path):
    (tmp_path / "secret.csv").write_text("1,2\n")
    return tmp_path / "secret.csv"


@pytest.mark.parametrize("way", OUTSIDE)
def test_a_query_of_duckdb_reads_no_file(tmp_path, secret, way):
    duckdb.connect(str(tmp_path / "people.duckdb")).close()
    with pytest.raises((DatabaseError, ParameterError)):
        open_table(tmp_path / "people.duckdb", query=OUTSIDE[way].format(file=secret, folder=tmp_path))


def test_a_view_in_a_database_of_somebody_elses_reads_no_file(tmp_path, secret):
    with duckdb.connect(str(tmp_path / "given.duckdb")) as theirs:
        theirs.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{secret}', header = false)")  # noqa: S608
    with pytest.raises(DatabaseError, match="reads files or addresses outside of itself"):
        open_table(tmp_path / "given.duckdb", table="people")


def test_a_query_of_duckdb_sees_no_variable_of_the_program(tmp_path):
    duckdb.connect(str(tmp_path / "people.duckdb")).close()
    import pyarrow as pa

    hidden = pa.table({"one": [1]})
    assert hidden.num_rows == 1
    with pytest.raises(DatabaseError):
        open_table(tmp_path / "people.duckdb", query="SELECT * FROM hidden")


def test_the_settings_of_duckdb_are_locked(tmp_path):
    duckdb.connect(str(tmp_path / "people.duckdb")).close()
    with writing(f"duckdb:///{tmp_path / 'people.duckdb'}") as session, pytest.raises(duckdb.Error, match="locked"):
        session.run("SET enable_external_access = true")


# --- SQLite ------------------------------------------------------------------------------------------------------


def test_a_database_of_sqlite_is_not_changed_and_no_other_is_attached(tmp_path):
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE hidden (one INT)")
    sqlite3.connect(tmp_path / "people.sqlite").close()
    before = (tmp_path / "people.sqlite").read_bytes()
    for query in ("SELECT load_extension('x')", "SELECT * FROM other.hidden", "SELECT readfile('/etc/passwd')"):
        with pytest.raises((DatabaseError, ParameterError)):
            open_table(tmp_path / "people.sqlite", query=query)
    assert (tmp_path / "people.sqlite").read_bytes() == before


# --- PostgreSQL --------------------------------------------------------------------------------------------------


def test_a_superuser_of_postgresql_is_told_what_a_view_may_read(postgresql_server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", servers.PASSWORD)
    place = f"postgresql://{servers.ADMIN}@127.0.0.1:{postgresql_server.port}/{servers.DATABASE}"
    with pytest.warns(PrivacyWarning, match="may read or write files of the server"):
        open_table(place, query="SELECT 1 AS one")


def test_a_user_without_rights_reads_no_file_of_the_server_through_a_view(postgresql_server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", servers.PASSWORD)
    with writing(postgresql_server.address) as session:
        session.run("CREATE OR REPLACE VIEW peeking AS SELECT pg_read_file('PG_VERSION') AS one")
        session.commit()
    try:
        with pytest.raises(DatabaseError, match="may not do this"):
            open_table(postgresql_server.address, table="peeking")
    finally:
        with writing(postgresql_server.address) as session:
            session.run("DROP VIEW peeking")
            session.commit()


def test_a_refused_query_is_not_repeated():
    with pytest.raises(ParameterError) as fault:
        check_query("SELECT 'Ada Lovelace'; DROP TABLE people")
    assert "Ada" not in str(fault.value)
