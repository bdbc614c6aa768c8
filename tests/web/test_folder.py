"""Only files inside the folder can be named."""

from __future__ import annotations

import pytest

from shoal.errors import FileError
from shoal.web.folder import inside, list_tables


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
