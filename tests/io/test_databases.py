"""Tables in real databases: read in batches, written whole or not at all, counted where they are."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys

import duckdb
import pyarrow as pa
import pytest

import shoal
from shoal.errors import ColumnError, DatabaseError, FileError, ParameterError, PrivacyError
from shoal.io.databases import Promise, Relation, Session, check_promise, group_sizes, value_counts, write_release
from shoal.io.files import open_batches, open_table
from shoal.io.location import Location
from shoal.io.registry import find_source
from shoal.io.source import ReadOptions
from tests.support import servers

PEOPLE = pa.table(
    {
        "id": list(range(40)),
        "age": [20 + number // 2 for number in range(40)],
        "town": [["Ulm", "ulm", "Köln", None][number % 4] for number in range(40)],
        "ill": ["flu", "cold"] * 20,
        "cost": [number + 0.25 for number in range(40)],
    }
)
SECRET = servers.PASSWORD


@pytest.fixture(scope="module")
def postgresql_server():
    try:
        with servers.postgresql() as server:
            yield server
    except FileNotFoundError as fault:
        pytest.skip(str(fault))


@pytest.fixture(scope="module")
def mariadb_server():
    try:
        with servers.mariadb() as server:
            yield server
    except FileNotFoundError as fault:
        pytest.skip(str(fault))


@pytest.fixture(params=["postgresql", "sqlite", "duckdb", "mariadb"])
def address(request, tmp_path, monkeypatch):
    """Give the address of a database that holds the table people."""
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("SHOAL_DB_PASSWORD", SECRET)
    if request.param == "sqlite":
        sqlite3.connect(tmp_path / "people.sqlite").close()
        place = f"sqlite:///{tmp_path / 'people.sqlite'}"
    elif request.param == "duckdb":
        duckdb.connect(str(tmp_path / "people.duckdb")).close()
        place = f"duckdb:///{tmp_path / 'people.duckdb'}"
    else:
        place = request.getfixturevalue(f"{request.param}_server").address
    with writing(place) as session:
        for name in ("people", "release"):
            if session.exists(name):
                session.drop(name)
        session.ingest("people", PEOPLE)
        session.commit()
    return place


def writing(place):
    location = Location(place)
    return find_source(location).session(location, "a test", read_only=False)


def tables(place):
    """Return the names of all tables in the database that belong to tests or to shoal."""
    with writing(place) as session:
        if place.startswith("sqlite"):
            rows = session.rows("SELECT name FROM sqlite_master")
        else:
            rows = session.rows("SELECT table_name AS name FROM information_schema.tables")
    return sorted(name for (name,) in rows if name in {"people", "release"} or name.startswith("shoal_"))


def sorted_rows(table):
    return sorted(table.to_pylist(), key=lambda row: row["id"])


def test_a_table_comes_as_it_is(address):
    assert sorted_rows(open_table(address, table="people").table) == PEOPLE.to_pylist()


def test_the_tables_of_a_database_are_listed_with_its_views(address):
    location = Location(address)
    with find_source(location).session(location, "a view", read_only=False) as session:
        session.run("CREATE VIEW grown AS SELECT * FROM people")
        session.commit()
    try:
        assert {"grown", "people"} <= set(find_source(location).tables(location))
    finally:  # while there is a view of it, PostgreSQL lets no other test drop the table
        with find_source(location).session(location, "a view", read_only=False) as session:
            session.run("DROP VIEW grown")
            session.commit()


def test_a_query_comes_in_batches(address):
    reader = open_batches(address, ReadOptions(query="SELECT id, age FROM people WHERE id < 10;"))
    assert sorted(row["id"] for batch in reader for row in batch.to_pylist()) == list(range(10))


def test_a_query_may_only_read(address):
    with pytest.raises(ParameterError, match="must read rows"):
        open_table(address, query="DROP TABLE people")
    assert tables(address) == ["people"]


@pytest.mark.parametrize(("table", "query"), [(None, None), ("people", "SELECT 1")])
def test_a_table_or_a_query_must_be_named(address, table, query):
    with pytest.raises(ParameterError, match="table, or a query"):
        open_table(address, table=table, query=query)


def test_a_table_that_is_not_there_is_named(address):
    with pytest.raises(DatabaseError, match="the table 'peopel'"):
        open_table(address, table="peopel")


@contextlib.contextmanager
def held(place):
    """Let another program hold the table people of a database, or all of it."""
    if place.startswith(("postgresql", "mysql")):
        with writing(place) as session:
            session.run(
                "LOCK TABLE people IN ACCESS EXCLUSIVE MODE" if place.startswith("p") else "LOCK TABLES people WRITE"
            )
            yield
        return
    module, begin = ("sqlite3", "BEGIN EXCLUSIVE") if place.startswith("sqlite") else ("duckdb", "BEGIN")
    path = place.partition(":///")[2]
    text = (
        f"import {module}; own = {module}.connect({path!r}); own.execute({begin!r}); print('held', flush=True); input()"
    )
    holder = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        yield
    finally:
        holder.communicate(b"\n")


def test_a_locked_database_is_said_to_be_locked_and_keeps_its_tables(address, monkeypatch):
    monkeypatch.setattr(Session, "patience", 1)
    result = release(address)
    said = "Another program has locked the database at the {}"
    with held(address):
        with pytest.raises(DatabaseError, match=said.format("table 'people'")):
            open_table(address, table="people")
        with pytest.raises(DatabaseError, match=said.format("query")):
            open_table(address, query="SELECT age FROM people")
        with pytest.raises(DatabaseError, match=said.format("table 'people'")):
            result.save_to_database(address, "people", force=True)
    assert tables(address) == ["people"]
    assert sorted_rows(open_table(address, table="people").table) == PEOPLE.to_pylist()


def test_a_misspelt_column_of_a_database_is_not_taken_for_a_lock(address):
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        release(address, quasi_identifiers=["aeg", "town"])
    with pytest.raises(DatabaseError, match="The query names a column that the database does not have"):
        open_table(address, query="SELECT aeg FROM people")
    with pytest.raises(DatabaseError, match="is not SQL the database understands"):
        open_table(address, query="SELECT FROM WHERE people")


def test_a_database_that_the_program_itself_has_open_is_said_to_be(tmp_path):
    """DuckDB opens a file once in a program, and not with other rights."""
    own = duckdb.connect(str(tmp_path / "people.duckdb"))
    own.execute("CREATE TABLE people AS SELECT 1 AS age")
    with pytest.raises(DatabaseError, match="This program itself has the database open at the table 'people'"):
        open_table(f"duckdb:///{tmp_path / 'people.duckdb'}", table="people")
    own.close()
    assert open_table(f"duckdb:///{tmp_path / 'people.duckdb'}", table="people").records == 1


def release(place, **changes):
    choices = {"k": 4, "quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "identifiers": ["id"]}
    return shoal.anonymize(open_table(place, table="people"), method="mondrian", keep=["cost"], **choices | changes)


def test_a_release_is_counted_by_the_database_and_gets_its_name(address):
    result = release(address)
    result.save_to_database(address, "release")
    assert tables(address) == ["people", "release"]
    written = open_table(address, table="release").table
    assert written.column_names == ["age", "town", "ill", "cost"]
    assert sorted(written["cost"].to_pylist()) == PEOPLE["cost"].to_pylist()
    with writing(address) as session:
        assert check_promise(session, "release", ["age", "town"], 4) == (40, 0)


def test_a_table_that_exists_needs_force(address):
    result = release(address)
    result.save_to_database(address, "release")
    with pytest.raises(DatabaseError, match="exists and is left as it is"):
        result.save_to_database(address, "release")
    release(address, k=8).save_to_database(address, "release", force=True)
    assert tables(address) == ["people", "release"]
    with writing(address) as session:
        assert check_promise(session, "release", ["age", "town"], 8) == (40, 0)


def test_what_the_database_counts_too_small_is_not_released(address):
    with writing(address) as session, pytest.raises(PrivacyError, match="the database counts"):
        write_release(session, "release", PEOPLE, Promise(["age"], 3), force=False)
    assert tables(address) == ["people"]


def test_values_that_differ_in_case_or_blanks_are_counted_apart(address):
    alike = pa.table({"town": ["Ulm", "ulm", "Ulm ", "Ulm"]})
    with writing(address) as session, pytest.raises(PrivacyError):
        write_release(session, "release", alike, Promise(["town"], 2), force=False)
    assert tables(address) == ["people"]


def test_a_fault_in_the_middle_leaves_the_old_table_and_nothing_new(address, monkeypatch):
    result = release(address)
    result.save_to_database(address, "release")

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.io.databases.write.check_promise", fail)
    with pytest.raises(KeyboardInterrupt):
        result.save_to_database(address, "release", force=True)
    assert tables(address) == ["people", "release"]


def test_the_database_groups_and_only_counts_travel(address):
    with writing(address) as session:
        assert group_sizes(session, Relation("people"), ["age"]) == {2: 20}
        counts = value_counts(session, Relation("people"), ["town"], "ill")
    assert sum(counts["n"].to_pylist()) == 40
    assert len(set(counts["label"].to_pylist())) == 4


def test_an_audit_in_the_database_is_that_of_the_rows(address):
    there = shoal.audit(address, table="people", quasi_identifiers=["age", "town"], sensitive=["ill"])
    here = shoal.audit(PEOPLE, quasi_identifiers=["age", "town"], sensitive=["ill"])
    assert there.as_dict() == here.as_dict()


@pytest.mark.parametrize(
    "place",
    [
        "postgresql://me:verysecret@host/db",
        "postgresql://host/db?user=me&password=verysecret",
        "mysql+pymysql://me:verysecret@host/db",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(place):
    with pytest.raises(ParameterError, match="holds a password") as told:
        open_table(place, table="people")
    assert "verysecret" not in str(told.value)


def test_a_wrong_password_is_told_without_it(postgresql_server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "quite wrong")
    with pytest.raises(DatabaseError, match="does not accept the user or the password") as told:
        open_table(postgresql_server.address, table="people")
    assert "quite wrong" not in str(told.value)


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(DatabaseError, match="cannot be reached"):
        open_table(f"postgresql://127.0.0.1:{servers.free_port()}/db", table="people")


def test_a_file_of_a_database_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(DatabaseError, match="There is no database"):
        open_table(f"sqlite:///{tmp_path / 'absent.sqlite'}", table="people")
    assert list(tmp_path.iterdir()) == []


def test_a_connection_killed_while_rows_travel_leaves_nothing(postgresql_server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    place = postgresql_server.address
    with writing(place) as session:
        for name in ("people", "release"):
            if session.exists(name):
                session.drop(name)
        session.commit()

    def rows():
        for number in range(50):
            if number == 20:
                with writing(place) as other:
                    killed = other.rows(
                        "SELECT pg_terminate_backend(pid) AS ok FROM pg_stat_activity "
                        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                    )
                assert (True,) in killed
            yield pa.RecordBatch.from_pydict({"age": list(range(10_000))})

    class Table:
        """Rows that come one batch at a time, as those of a large release do."""

        num_rows = 500_000

        def to_reader(self):
            return pa.RecordBatchReader.from_batches(pa.schema({"age": pa.int64()}), rows())

    monkeypatch.setattr("shoal.io.databases.write.decoded_table", lambda table: table)
    with pytest.raises(DatabaseError, match="connection to the database was lost"), writing(place) as session:
        write_release(session, "release", Table(), Promise(["age"], 2), force=False)
    assert tables(place) == []


def test_decimals_of_postgresql_stay_decimals(postgresql_server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    query = "SELECT 1.25::numeric(10, 2) AS exact, 2.5::numeric AS free, 'a'::varchar AS word"
    schema = open_table(postgresql_server.address, query=query).table.schema
    assert [str(kind) for kind in schema.types] == ["decimal128(10, 2)", "double", "string"]


@pytest.mark.parametrize("ending", ["sqlite", "duckdb"])
def test_a_release_is_a_new_database_of_its_own(tmp_path, ending):
    table = {"age": [20, 21, 22, 23] * 5, "note": ["a", None, 'ö, "x"', "b"] * 5}
    result = shoal.anonymize(table, k=5, quasi_identifiers=["age"], keep=["note"], method="mondrian")
    path = result.save(tmp_path / f"release.{ending}")
    again = open_table(path, table="release").table
    assert sorted(map(str, again.to_pylist())) == sorted(map(str, result.released.to_pylist()))
    assert (tmp_path / f"release.{ending}.datapackage.json").is_file()
    with pytest.raises(FileError, match="exists and is left as it is"):
        result.save(path)
    result.save(path, force=True)
    address = f"{ending}:///{tmp_path / 'other.'}{ending}"
    result.save_to_database(address, "people")
    assert open_table(address, table="people").records == 20
    with pytest.raises(DatabaseError, match="'people' exists"):
        result.save_to_database(address, "people")


def test_a_new_database_that_is_not_finished_is_removed(tmp_path, monkeypatch):
    def broken(*_args, **_named):
        raise DatabaseError("Full.")

    result = shoal.anonymize({"age": [20, 21] * 5}, k=5, quasi_identifiers=["age"], method="mondrian")
    monkeypatch.setattr("shoal.results.save.write_release", broken)
    with pytest.raises(DatabaseError):
        result.save_to_database(f"sqlite:///{tmp_path / 'new.sqlite'}", "people")
    assert list(tmp_path.iterdir()) == []
