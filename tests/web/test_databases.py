"""Databases on the page: which may be named, and tables read from them and written into them."""

from __future__ import annotations

import duckdb
import pytest

import shoal
from shoal.errors import FileError, ParameterError
from shoal.io.files import open_table
from shoal.web.databases import database_address
from shoal.web.jobs import tasks
from tests.support import servers
from tests.web.conftest import write_people

pytestmark = pytest.mark.compiled


def test_a_server_is_named_by_its_address_and_a_file_by_its_name(tmp_path):
    assert database_address(tmp_path, " postgresql://host/db ") == "postgresql://host/db"
    for name in ("people.db", "sqlite:///people.db", "people.sqlite", "duckdb:///deep/people.duckdb"):
        assert database_address(tmp_path, name) == str(tmp_path / name.split("///")[-1])


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://ann:secret@host/db", "holds a password"),
        ("postgresql://host/db?password=secret", "holds a password"),
        ("sqlite:////etc/people.db", "inside the folder"),
        ("../people.db", "inside the folder"),
        ("people.csv", "not a database"),
        ("s3://bucket/people.parquet", "not a database"),
        ("no idea", "no known ending"),
    ],
)
def test_what_is_no_database_of_ours_is_refused_without_showing_a_secret(tmp_path, address, words):
    with pytest.raises((ParameterError, FileError), match=words) as told:
        database_address(tmp_path, address)
    assert "secret" not in str(told.value)


@pytest.fixture(scope="module")
def server():
    try:
        with servers.postgresql() as found:
            yield found
    except FileNotFoundError as fault:
        pytest.skip(str(fault))


@pytest.fixture(params=["postgresql", "duckdb"])
def address(request, tmp_path, monkeypatch):
    """Return a database with the table people in it."""
    monkeypatch.setenv("PGPASSWORD", servers.PASSWORD)
    people = open_table(write_people(tmp_path / "people.csv")).table
    if request.param == "postgresql":
        found = request.getfixturevalue("server").address
    else:
        found = str(tmp_path / "people.duckdb")
        duckdb.connect(found).close()
    doubled = shoal.anonymize(
        people,
        k=2,
        quasi_identifiers=["sex"],
        keep=["zip", "job", "diagnosis"],
        identifiers=["name", "age"],
        method="mondrian",
    )
    doubled.save_to_database(found, "people", force=True)
    return found


def test_a_table_goes_from_a_database_through_the_page_into_it(address, tmp_path):
    private = tmp_path / "private"
    private.mkdir()

    def tell(*_):
        """Nobody listens."""

    found = tasks.open_table(
        tell, place="database", path=address, options={"table": "people"}, files=[], folder=str(private), name="table",
        salt=b"salt",
    )  # fmt: skip
    assert found["records"] == 300
    recipe = {"k": 5, "quasi_identifiers": ["sex", "zip", "job"], "sensitive": ["diagnosis"], "method": "mondrian"}
    made = tasks.make_release(tell, table=found["stored"], recipe=recipe, folder=str(private / "release"))
    written = tasks.publish(
        tell,
        table=found["stored"],
        folder=str(private / "release"),
        targets={what: str(tmp_path / name) for what, name in _NAMES.items()},
        place={"database": address, "table": "safe"},
        recipe_made=recipe,
        summary=made["summary"],
        inputs=[],
        own=[],
        force=True,
    )
    assert written["k"] >= 5
    assert shoal.audit(open_table(address, table="safe"), quasi_identifiers=["sex", "zip", "job"]).k >= 5


_NAMES = {"release": "release.csv", "report": "report.html", "recipe": "recipe.toml"}
