"""Every format in and out, as a whole and in batches."""

from __future__ import annotations

import contextlib
import datetime as dt
import zipfile
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import shoal
from shoal.engines.stream.writing import check_form
from shoal.errors import DataError, ExtensionWarning, FileError, MissingExtraError, ParameterError
from shoal.frames import Frame, to_frame
from shoal.io import location as places
from shoal.io import registry
from shoal.io.files import file_format, gives_text, open_batches, open_table, source_faults_told, write_table
from shoal.io.location import Location, locate
from shoal.io.source import ReadOptions, Source, rows_of
from shoal.notation.labels import code_of_letter

TABLE = pa.table(
    {
        "zip": ["00123", "04567", None],
        "age": [39, 40, 41],
        "cost": [1.5, 2.25, None],
        "born": [dt.date(1990, 1, 2), dt.date(1991, 2, 3), None],
    }
)
TEXT = [".csv", ".tsv", ".csv.gz", ".csv.zst", ".csv.zip", ".tsv.zip"]
TYPED = [".parquet", ".feather", ".arrow", ".xlsx", ".sav", ".dta"]


def as_written(table):
    """Return a table's values as they were before a file without dates of its own or empty text changed them."""
    rows = table.to_pydict()
    rows["born"] = [one.date() if isinstance(one, dt.datetime) else one for one in rows["born"]]
    rows["zip"] = [one or None for one in rows["zip"]]
    return rows


@pytest.mark.parametrize("ending", TEXT)
def test_text_files_come_back_as_they_were_written(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write_table(TABLE, path)
    assert open_table(path).settle().table.to_pydict() == TABLE.to_pydict()


@pytest.mark.parametrize("ending", TYPED)
def test_typed_files_come_back_as_they_were_written(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write_table(TABLE, path)
    assert as_written(open_table(path).table) == TABLE.to_pydict()


@pytest.mark.parametrize("ending", [*TEXT, *TYPED])
def test_batches_hold_the_same_rows_as_the_whole(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write_table(TABLE, path)
    reader = open_batches(path)
    assert isinstance(reader, pa.RecordBatchReader)
    batches = Frame(reader.read_all(), untyped=ending in TEXT)
    assert batches.settle().table.to_pydict() == open_table(path).settle().table.to_pydict()


def test_a_text_release_keeps_separator_and_encoding_of_its_input(tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes("Ort;Zahl\nKöln;1,5\nUlm;2,5\n".encode("cp1252"))
    frame = open_table(source)
    write_table(frame.table, tmp_path / "out.csv", frame)
    assert (tmp_path / "out.csv").read_bytes().decode("cp1252").splitlines()[1].replace('"', "") == "Köln;1,5"


@pytest.mark.parametrize("partitioning", [None, "hive"])
def test_a_folder_of_parquet_files_is_one_table(tmp_path, partitioning):
    table = pa.table({"region": ["a", "a", "b"], "age": [1, 2, 3]})
    options = {"partitioning": ["region"], "partitioning_flavor": "hive"} if partitioning else {}
    ds.write_dataset(table, tmp_path / "parts", format="parquet", **options)
    found = open_table(tmp_path / "parts").table
    assert sorted(zip(found["region"].to_pylist(), found["age"].to_pylist(), strict=True)) == [
        ("a", 1),
        ("a", 2),
        ("b", 3),
    ]
    assert open_batches(tmp_path / "parts").read_all().num_rows == 3


def test_a_folder_of_csv_files_is_one_table(tmp_path):
    (tmp_path / "b.csv").write_text("age;town\n41;c\n")
    (tmp_path / "a.csv").write_text("age,town\n39,a\n40,b\n")
    write_table(pa.table({"age": [42], "town": ["d"]}), tmp_path / "c.csv.gz")
    (tmp_path / ".hidden").write_text("x")
    rows = {"age": [39, 40, 41, 42], "town": ["a", "b", "c", "d"]}
    assert open_table(tmp_path).settle().table.to_pydict() == rows
    assert open_batches(tmp_path).read_all().column("town").to_pylist() == rows["town"]
    (tmp_path / "d.csv").write_text("age,city\n1,a\n")
    with pytest.raises(DataError, match=r"'d.csv' has not those of 'a.csv'"):
        open_table(tmp_path)


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "notes.md").write_text("nothing")
    with pytest.raises(FileError, match="is a folder without Parquet"):
        open_table(tmp_path)


def test_a_delta_table_is_read_in_its_present_version(tmp_path):
    deltalake = pytest.importorskip("deltalake")
    place = tmp_path / "visits"
    deltalake.write_deltalake(str(place), pa.table({"age": [1, 2]}))
    deltalake.write_deltalake(str(place), pa.table({"age": [3]}), mode="append")
    assert sorted(open_table(place).table["age"].to_pylist()) == [1, 2, 3]
    with pytest.raises(FileError, match="cannot be written"):
        write_table(TABLE, tmp_path / "new.delta")


def test_the_sheet_of_a_workbook_can_be_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    second = book.create_sheet("people")
    second.append([None, "age", "mixed"])
    second.append(["1", 39, "x"])
    second.append(["2", 40, 5])
    book.save(tmp_path / "book.xlsx")
    assert open_table(tmp_path / "book.xlsx").names == ["a"]
    frame = open_table(tmp_path / "book.xlsx", table="people")
    assert frame.table.to_pydict() == {"row": ["1", "2"], "age": [39, 40], "mixed": ["x", "5"]}
    assert "no name" in frame.notes[0]
    with pytest.raises(KeyError, match="its sheets are: Sheet, people"):
        open_table(tmp_path / "book.xlsx", table="peopel")


def test_text_that_begins_like_a_formula_is_text_in_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    write_table(pa.table({"a": ["=1+1", "x"]}), tmp_path / "book.xlsx")
    cell = openpyxl.load_workbook(tmp_path / "book.xlsx").active["A2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")


@pytest.fixture
def survey(tmp_path):
    """Return an SPSS file with labels and codes for missing answers."""
    pyreadstat = pytest.importorskip("pyreadstat")
    import pandas as pd

    rows = pd.DataFrame({"religion": [1.0, 2.0, 9.0, 1.0] * 5, "age": [30.0, 40.0, 99.0, 50.0] * 5, "cost": [1.5] * 20})
    labels = {"religion": {1: "none", 2: "other", 9: "refused"}}
    missing = {"religion": [9], "age": [{"lo": 98, "hi": 99}]}
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        rows, path, variable_value_labels=labels, missing_ranges=missing, column_labels={"age": "Age in years"}
    )
    return path


def test_labels_and_missing_codes_of_spss_are_understood(survey):
    frame = open_table(survey)
    assert frame.table["religion"].to_pylist()[:3] == [1, 2, 9]
    assert frame.typed("religion").to_pylist()[:3] == ["none", "other", None]
    assert frame.typed("age").to_pylist()[:3] == [30, 40, None]


def test_labels_and_missing_codes_of_spss_go_out_again(survey, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    result = shoal.anonymize(survey, k=5, quasi_identifiers=["age"], keep=["religion", "cost"], method="mondrian")
    result.save(tmp_path / "release.sav")
    _, meta = pyreadstat.read_sav(tmp_path / "release.sav", user_missing=True)
    assert meta.variable_value_labels == {"religion": {1.0: "none", 2.0: "other", 9.0: "refused"}}
    assert meta.missing_ranges["religion"] == [{"lo": 9.0, "hi": 9.0}]


def test_a_labelled_quasi_identifier_is_a_category(survey):
    result = shoal.anonymize(
        survey, k=5, quasi_identifiers=["religion"], method="mondrian", keep=["cost"], identifiers=["age"]
    )
    assert set(result.data["religion"].to_pylist()) <= {"none", "other", None, "{none, other}", "*"}


def test_stata_labels_go_in_and_out(survey, tmp_path):
    frame = open_table(survey)
    write_table(frame.table, tmp_path / "survey.dta", frame)
    again = open_table(tmp_path / "survey.dta")
    assert dict(again.labels["religion"].labels) == {1: "none", 2: "other", code_of_letter("a"): "refused"}
    assert again.typed("religion").to_pylist() == frame.typed("religion").to_pylist()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv.gz", b"no gzip", "not a whole gz file"),
        ("t.csv.zip", b"no zip", "not a whole zip file"),
        ("t.csv.zst", b"no zst at all", "not a whole zst file"),
        ("t.parquet", b"no parquet", "may be damaged"),
        ("t.feather", b"no feather", "may be damaged"),
        ("t.xlsx", b"no workbook", "not an Excel workbook"),
        ("t.sav", b"no spss", "cannot be read as sav"),
    ],
)
def test_a_damaged_file_is_named_in_one_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        open_table(tmp_path / name)


def test_arrow_files_whose_offsets_point_elsewhere_are_refused(tmp_path):
    """Read as they are, such cells are whatever lies in the memory of the process, if it does not die."""
    feather.write_feather(
        pa.table({"x": ["a" * 71, "b" * 82]}), str(tmp_path / "t.feather"), compression="uncompressed"
    )
    whole = (tmp_path / "t.feather").read_bytes()
    offsets = [np.array([0, 71, last], np.int32).tobytes() for last in (153, 4_000)]
    assert whole.count(offsets[0]) == 1
    (tmp_path / "t.feather").write_bytes(whole.replace(*offsets))
    with pytest.raises(DataError, match="may be damaged"):
        open_table(tmp_path / "t.feather")
    with pytest.raises(DataError, match="may be damaged"), source_faults_told(tmp_path / "t.feather"):
        list(open_batches(tmp_path / "t.feather"))


def test_a_parquet_file_with_a_damaged_schema_is_refused_in_one_sentence(tmp_path):
    pq.write_table(pa.table({"x": range(40), "ill": ["p", "q"] * 20}), tmp_path / "t.parquet")
    whole, told = (tmp_path / "t.parquet").read_bytes(), set()
    for place in range(len(whole) - 700, len(whole) - 8):
        (tmp_path / "t.parquet").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            open_table(tmp_path / "t.parquet")
        except DataError as refusal:
            told.add(str(refusal))
    assert told
    assert all("t.parquet" in one and str(tmp_path) not in one for one in told)


def test_an_archive_must_hold_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(DataError, match=r"exactly one file\. Got 2"):
        open_table(tmp_path / "t.csv.zip")


def test_an_unknown_ending_names_the_known_ones():
    with pytest.raises(FileError, match=r"no known ending[\s\S]*\.csv\.zst"):
        file_format(Path("table.docx"))


def test_a_table_or_query_is_refused_for_a_plain_file(tmp_path):
    write_table(TABLE, tmp_path / "t.csv")
    with pytest.raises(ParameterError, match="Only databases and workbooks"):
        open_table(tmp_path / "t.csv", table="x")


def test_a_missing_package_is_named_with_the_extra(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"shoal-privacy\[excel\]"):
        open_table(tmp_path / "t.xlsx")


class Lines(Source):
    """A format of a third party: one value a line."""

    name = "file of lines"
    endings = (".lines",)

    def read(self, location: Location, options: ReadOptions) -> Frame:
        return Frame(pa.table({"line": location.path.read_text().split()}))


@pytest.fixture
def registered(monkeypatch):
    """Act as if packages had registered sources: one that works, and one that cannot be imported."""
    points = [
        EntryPoint("lines", f"{__name__}:Lines", "shoal.sources"),
        EntryPoint("gone", "no_such:Source", "shoal.sources"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "shoal.sources" else [])
    registry.sources.cache_clear()
    yield
    registry.sources.cache_clear()


def test_a_third_party_adds_a_format_by_an_entry_point_and_a_broken_one_is_left_out(registered, tmp_path):
    (tmp_path / "t.lines").write_text("a\nb\n")
    with pytest.warns(ExtensionWarning, match="'gone' is registered as no_such:Source"):
        assert open_table(tmp_path / "t.lines").table.to_pydict() == {"line": ["a", "b"]}
    assert open_batches(tmp_path / "t.lines").read_all().num_rows == 2


class Bars(Source):
    """A text format of a third party: fields between bars, also in folders and part by part."""

    name = "file of bars"
    endings = (".bars",)
    folder_endings = endings
    is_text = True
    in_parts = True

    def read(self, location: Location, options: ReadOptions) -> Frame:
        files = [[line.split("|") for line in path.read_text("utf-8").splitlines()] for path in location.files()]
        columns = zip(*(row for rows in files for row in rows[1:]), strict=True)
        return Frame(pa.table(dict(zip(files[0][0], map(list, columns), strict=True))), untyped=True)

    def write(self, table: pa.Table, path: Path, like: Frame | None = None) -> None:
        with self.writer(path, table.schema) as writer:
            writer.write_table(table)

    @contextlib.contextmanager
    def writer(self, path: Path, schema: pa.Schema) -> Iterator[SimpleNamespace]:
        with path.open("w", encoding="utf-8") as stream:
            stream.write("|".join(schema.names) + "\n")
            put = lambda table: stream.writelines("|".join(map(str, row)) + "\n" for row in rows_of(table))  # noqa: E731
            yield SimpleNamespace(write_table=put)


PEOPLE = pa.table({"age": [str(20 + 7 * i % 40) for i in range(60)], "zip": [f"00{i % 9}" for i in range(60)]})


@pytest.fixture
def bars(monkeypatch):
    """Act as if a package had registered the format of bars."""
    points = [EntryPoint("bars", f"{__name__}:Bars", "shoal.sources")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == "shoal.sources" else [])
    registry.sources.cache_clear()
    yield
    registry.sources.cache_clear()


@pytest.mark.usefixtures("bars")
def test_a_third_party_text_format_is_text_like_shoals_own(tmp_path):
    write_table(PEOPLE, tmp_path / "people.bars")
    assert gives_text(tmp_path / "people.bars")
    assert file_format(tmp_path / "people.bars") == file_format(tmp_path / "people.csv")


@pytest.mark.usefixtures("bars")
def test_a_folder_of_a_third_party_format_is_one_table(tmp_path):
    for number in range(2):
        write_table(PEOPLE, tmp_path / f"{number}.bars")
    assert open_table(tmp_path).records == open_batches(tmp_path).read_all().num_rows == 120


@pytest.mark.usefixtures("bars")
@pytest.mark.parametrize("target", ["release.bars", "release.parquet"])
def test_a_third_party_text_format_is_streamed_in_and_out(tmp_path, target):
    write_table(PEOPLE, tmp_path / "people.bars")
    recipe = shoal.Anonymizer(k=4, quasi_identifiers=["age"], keep=["zip"], effort="fast")
    made = recipe.stream(tmp_path / "people.bars", tmp_path / target)
    assert made.audit.k >= 4
    expected = recipe.fit(tmp_path / "people.bars").result_.released
    assert sorted(open_table(made.path).table["age"].to_pylist()) == sorted(map(str, expected["age"].to_pylist()))


def test_a_format_that_does_not_say_so_is_written_only_as_a_whole(registered, tmp_path):
    with (
        pytest.warns(ExtensionWarning, match="'gone'"),
        pytest.raises(FileError, match=r"cannot be written as \.lines"),
    ):
        check_form(tmp_path / "release.lines")


@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs"])
def test_stores_that_arrow_opens_are_read_as_files_and_folders(tmp_path, monkeypatch, scheme):
    (tmp_path / "bucket" / "parts").mkdir(parents=True)
    write_table(TABLE, tmp_path / "bucket" / "table.csv")
    write_table(TABLE, tmp_path / "bucket" / "parts" / "one.parquet")
    write_table(TABLE, tmp_path / "bucket" / "table.parquet")
    bucket = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())  # stands for the store
    monkeypatch.setattr(places, "open_store", lambda address: (bucket, address.split("://")[1]))
    for name in ("table.csv", "table.parquet", "parts/one.parquet"):
        found = open_table(f"{scheme}://bucket/{name}")
        assert found.records == TABLE.num_rows
        assert found.names == TABLE.column_names
    with pytest.raises(FileError, match=f"There is no 'absent.parquet' at this {scheme}:// address"):
        open_table(f"{scheme}://bucket/absent.parquet")


def test_an_address_that_the_user_names_is_read_through_fsspec():
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe("/shoal/table.csv", b"age,town\n39,a\n40,b\n")
    with store.open("/shoal/table.parquet", "wb") as stream:
        pa.parquet.write_table(TABLE, stream)
    assert open_table("memory://shoal/table.parquet").table.to_pydict() == TABLE.to_pydict()
    assert open_table("memory://shoal/table.csv").settle().table.to_pydict() == {"age": [39, 40], "town": ["a", "b"]}
    with pytest.raises(FileError, match=r"There is no 'absent.csv'"):
        open_table("memory://shoal/absent.csv")


def test_an_unknown_address_is_refused():
    with pytest.raises(FileError, match="Addresses that begin with klingon://"):
        open_table("klingon://host/table.csv")


@pytest.mark.parametrize(
    ("text", "scheme", "name"),
    [
        ("s3://bucket/a/b.parquet?token=secret", "s3", "b.parquet"),
        ("folder/b.csv", "", "b.csv"),
        ("postgresql://me:secret@host/db", "postgresql", "db"),
        (Path("postgresql://host/db"), "postgresql", "db"),
        ("C:/data/t.csv", "", "t.csv"),
    ],
)
def test_a_location_knows_its_scheme_and_a_name_without_secrets(text, scheme, name):
    location = locate(text)
    assert (location.scheme, location.name) == (scheme, name)
    assert "secret" not in location.name


@pytest.mark.parametrize("into", ["arrow", "pandas", "polars", "duckdb"])
def test_read_table_gives_the_frame_of_the_users_choice(tmp_path, into):
    write_table(TABLE, tmp_path / "t.csv")
    found = shoal.read_table(tmp_path / "t.csv", into=into)
    module = type(found).__module__.split(".")[0].strip("_")
    assert module == {"arrow": "pyarrow"}.get(into, into)
    assert to_frame(found).table["age"].to_pylist() == [39, 40, 41]
