"""Databases on the command line."""

from __future__ import annotations

import sqlite3

import pytest

from tests.io.test_databases import PEOPLE, SECRET, tables, writing
from tests.support import servers

ROLES = [
    "-k",
    4,
    "--qi",
    "age,town",
    "--sensitive",
    "ill",
    "--identifier",
    "id",
    "--keep",
    "cost",
    "--method",
    "mondrian",
]


@pytest.fixture
def people(tmp_path):
    sqlite3.connect(tmp_path / "people.sqlite").close()
    place = f"sqlite:///{tmp_path / 'people.sqlite'}"
    with writing(place) as session:
        session.ingest("people", PEOPLE)
        session.commit()
    return place


def test_a_release_goes_from_table_to_table(shoal, people):
    run = shoal("anonymize", people, "--table", "people", *ROLES, "--to-table", "release")
    assert run.code == 0, run.err
    assert tables(people) == ["people", "release"]
    again = shoal("anonymize", people, "--table", "people", *ROLES, "--to-table", "release")
    assert again.code == 2
    assert "exists and is left as it is" in again.sentences
    assert "--force" in again.sentences
    assert shoal("anonymize", people, "--table", "people", *ROLES, "--to-table", "release", "--force").code == 0


def test_a_path_of_a_database_works_like_its_address(shoal, people, tmp_path):
    file = tmp_path / "people.sqlite"
    run = shoal("anonymize", file, "--query", "SELECT * FROM people", *ROLES, "--to-table", "release")
    assert run.code == 0, run.err
    assert shoal("audit", file, "--table", "release", "--qi", "age,town", "--require", "k=4").code == 0
    assert shoal("audit", file, "--table", "people", "--qi", "age,town", "--require", "k=4").code == 1


def test_an_audit_of_a_database_says_what_an_audit_of_rows_says(shoal, people, tmp_path):
    words = ["--qi", "age,town", "--sensitive", "ill", "--json"]
    pushed = shoal("audit", people, "--table", "people", *words)
    whole = shoal("audit", people, "--table", "people", *words, "--unique-columns", 1)
    assert pushed.json["sensitive"] == whole.json["sensitive"]
    assert pushed.json["sizes"] == whole.json["sizes"]


def test_a_file_goes_into_a_database_that_is_named(shoal, people, patients, roles):
    run = shoal("anonymize", patients, "-k", 5, *roles, "--to", people, "--to-table", "release")
    assert run.code == 0, run.err
    assert tables(people) == ["people", "release"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to-table", "release"], "--to-table needs a database"),
        (["--to", "postgresql://host/db"], "--to needs the name of a table"),
        (["--to", "release.csv", "--to-table", "x"], "into a table of a database only"),
        (["--table", "people"], "Only databases and workbooks"),
        (["--to", "postgresql://me:verysecret@h/db", "--to-table", "x"], "holds a password"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_the_work(shoal, patients, roles, words, sentence):
    run = shoal("anonymize", patients, "-k", 5, *roles, *words)
    assert run.code == 2
    assert sentence in run.sentences
    assert "verysecret" not in run.err


def test_a_database_without_table_or_query_is_asked_for_one_in_options(shoal, people):
    run = shoal("anonymize", people, *ROLES)
    assert run.code == 2
    assert "--table patients" in run.sentences


def test_no_password_of_the_environment_reaches_what_is_written(shoal, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    try:
        with servers.postgresql() as server:
            with writing(server.address) as session:
                session.ingest("people", PEOPLE)
                session.commit()
            files = [
                "-o",
                tmp_path / "r.csv",
                "--save-recipe",
                tmp_path / "r.toml",
                "--report",
                tmp_path / "r.md",
            ]
            run = shoal("anonymize", server.address, "--table", "people", *ROLES, *files, "--to-table", "release")
            assert run.code == 0, run.err
            assert tables(server.address) == ["people", "release"]
    except FileNotFoundError as fault:
        pytest.skip(str(fault))
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    for secret in (SECRET, f"{servers.USER}@", str(server.port)):
        assert secret not in written + run.out + run.err
