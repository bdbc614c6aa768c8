"""Only files inside the folder can be named."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pyarrow as pa
import pytest

from shoal.errors import FileError
from shoal.frames import Frame, Layout
from shoal.io import registry
from shoal.io.files import open_table, write_table
from shoal.io.source import Source
from shoal.web.folder import inside, list_hierarchies, list_tables, release_endings, table_endings
from shoal.web.jobs.reading import describe_reading


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


class Bars(Source):
    """A format of another package, of text but not of separators; ``Sums`` is one that cannot be written."""

    name = "file of bars"
    endings = (".bars",)
    is_text = True

    def read(self, location, options):
        return Frame(pa.table({"age": ["1", "2"]}), untyped=True)

    def write(self, table, path, like=None):
        raise NotImplementedError


class Sums(Source):
    name = "file of sums"
    endings = (".sums",)

    def read(self, location, options):
        raise NotImplementedError


@pytest.fixture
def foreign(monkeypatch):
    """Act as if a package had registered both formats."""
    points = [EntryPoint(kind, f"{__name__}:{kind}", "shoal.sources") for kind in ("Bars", "Sums")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "shoal.sources" else [])
    caches = (registry.sources, table_endings, release_endings)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


@pytest.mark.usefixtures("foreign")
def test_a_format_of_another_package_is_listed_and_may_be_published_where_it_can_be_written(folder):
    assert {".bars", ".sums"} <= set(table_endings())
    assert {".csv", ".csv.gz", ".parquet", ".bars"} <= set(release_endings())
    assert not {".sums", ".delta", ".sqlite"} & set(release_endings())


@pytest.mark.usefixtures("foreign")
def test_a_text_of_another_format_is_described_by_its_name_and_not_by_a_separator(tmp_path):
    path = tmp_path / "people.bars"
    path.write_text("anything", "utf-8")
    assert describe_reading(str(path), open_table(path))["form"] == "file of bars"


@pytest.mark.parametrize(
    ("name", "form"), [("a.csv", "text"), ("a.csv.gz", "text, compressed"), ("a.parquet", "Parquet file")]
)
def test_a_text_file_is_described_by_how_it_was_read(tmp_path, name, form):
    write_table(
        pa.table({"a": ["x", "y"], "b": ["1", "2"]}), tmp_path / name, Frame(pa.table({}), layout=Layout(";", "utf-8"))
    )
    told = describe_reading(str(tmp_path / name), open_table(tmp_path / name))
    assert told["form"] == form
    assert (told.get("separator"), told.get("encoding")) == ((";", "utf-8") if form == "text" else (None, None))


def test_of_text_files_those_are_offered_as_hierarchies_that_begin_as_one(tmp_path):
    leaves = "".join(f"{number};{number // 10}x;{number // 100}xx;*\n" for number in range(1000))
    (tmp_path / "zip.csv").write_text(leaves, "utf-8")
    (tmp_path / "wide.txt").write_text(leaves.replace("x", "ü"), "utf-16")
    (tmp_path / "people.csv").write_text("name;sex;zip\nAda;F;40213\nRuth;F;40217\n", "utf-8")
    (tmp_path / "old.csv").write_bytes("Köln;West;*\n".encode("cp1252"))  # it could not be loaded
    (tmp_path / "picture.csv").write_bytes(bytes(range(256)))
    (tmp_path / "empty.csv").write_text("", "utf-8")
    (tmp_path / "blank.csv").write_text("\n \n", "utf-8")
    assert [one.name for one in list_hierarchies(tmp_path)] == ["wide.txt", "zip.csv"]
