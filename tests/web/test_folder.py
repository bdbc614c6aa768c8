"""Only files inside the folder can be named."""

from __future__ import annotations

import pytest

from shoal.errors import FileError
from shoal.web.folder import inside, list_hierarchies, list_tables


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "home"
    (home / "below").mkdir(parents=True)
    (home / "a.csv").write_text("x\n1\n")
    (home / "below" / "b.parquet").write_text("")
    (home / "c.xlsx").write_text("")
    (home / "register.sqlite").write_text("")
    (home / "notes.md").write_text("")
    (home / ".hidden.csv").write_text("")
    (tmp_path / "secret.csv").write_text("x\n1\n")
    (home / "out.csv").symlink_to(tmp_path / "secret.csv")
    (home / "away").symlink_to(tmp_path)
    return home


def test_a_file_inside_is_found(folder):
    assert inside(folder, "below/b.parquet") == folder / "below" / "b.parquet"


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "below/../../secret.csv", "out.csv", "away/secret.csv", "", "a\0b"]
)
def test_nothing_outside_can_be_named(folder, name):
    with pytest.raises(FileError):
        inside(folder, name)


def test_tables_are_listed_without_links_that_lead_out_and_without_hidden_files(folder):
    assert [one.name for one in list_tables(folder)] == ["a.csv", "c.xlsx", "below/b.parquet"]


def test_of_text_files_those_are_offered_as_hierarchies_that_begin_as_one(tmp_path):
    leaves = "".join(f"{number};{number // 10}x;{number // 100}xx;*\n" for number in range(1000))
    (tmp_path / "zip.csv").write_text(leaves, "utf-8")
    (tmp_path / "wide.txt").write_text(leaves.replace("x", "ü"), "utf-16")
    (tmp_path / "people.csv").write_text("name;sex;zip\nAda;F;40213\nRuth;F;40217\n", "utf-8")
    (tmp_path / "old.csv").write_bytes("Köln;West;*\n".encode("cp1252"))  # it could not be loaded
    (tmp_path / "picture.csv").write_bytes(bytes(range(256)))
    (tmp_path / "empty.csv").write_text("", "utf-8")
    assert [one.name for one in list_hierarchies(tmp_path)] == ["wide.txt", "zip.csv"]
