from __future__ import annotations

import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import shoal
from shoal.errors import ColumnError, DataError, FileError
from shoal.io.delimited import detect_encoding, detect_separator
from shoal.io.files import open_table, write_table
from shoal.io.registry import file_source


def written(tmp_path, content, name="table.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(content.encode(encoding))
    return path


def columns(frame):
    return {name: frame.table.column(name).to_pylist() for name in frame.names}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path, separator):
    lines = ["zip,name", '00123,"a, b"', "00456,c"]
    quoted = [line.replace(",", separator) if '"' not in line else f'00123{separator}"a, b"' for line in lines]
    frame = open_table(written(tmp_path, "\n".join(quoted) + "\n"))
    assert columns(frame) == {"zip": ["00123", "00456"], "name": ["a, b", "c"]}


def test_a_file_of_one_column_is_read(tmp_path):
    assert columns(open_table(written(tmp_path, "age\n39\n40\n"))) == {"age": ["39", "40"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_the_encoding_is_found(tmp_path, encoding):
    frame = open_table(written(tmp_path, "name,town\nZoë,Köln\nJosé,Málaga\n", encoding=encoding))
    assert columns(frame) == {"name": ["Zoë", "José"], "town": ["Köln", "Málaga"]}


def test_a_given_separator_and_encoding_are_obeyed(tmp_path):
    frame = open_table(written(tmp_path, "a;b,c\nž;1,2\n", encoding="cp1250"), separator=",", encoding="cp1250")
    assert columns(frame) == {"a;b": ["ž;1"], "c": ["2"]}


def test_empty_cells_are_missing_and_quoted_empty_text_is_not(tmp_path):
    assert columns(open_table(written(tmp_path, 'a,b\n,""\n1,x\n'))) == {"a": [None, "1"], "b": ["", "x"]}


def test_line_breaks_within_quotes_belong_to_the_value(tmp_path):
    assert columns(open_table(written(tmp_path, 'a,b\n"x\ny",1\n')))["a"] == ["x\ny"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_what_is_written_is_read_back(tmp_path, name):
    table = pa.table({"a": ["x, y", None, '"'], "n": ["1", "2", "3"]})
    write_table(table, tmp_path / name)
    assert columns(open_table(tmp_path / name)) == table.to_pydict()


def test_bad_files_get_one_sentence_without_their_content(tmp_path):
    cases = [
        (tmp_path / "none.csv", FileError, "does not exist"),
        (tmp_path, FileError, "is a folder"),
        (written(tmp_path, "", "empty.csv"), DataError, "is empty"),
        (written(tmp_path, "a,b\n1,2\n3,secret,5\n6\n", "ragged.csv"), DataError, "Row 3 of 'ragged.csv' has 3 fields"),
        (written(tmp_path, "a,a\n1,2\n", "double.csv"), ColumnError, "two columns named 'a'"),
        (written(tmp_path, "a\n1\n", "table.docx"), FileError, "no known ending"),
        (written(tmp_path, "no parquet", "wrong.parquet"), DataError, "cannot be read as parquet"),
        (written(tmp_path, "plain", "wrong.csv.gz"), DataError, "not a whole gz file"),
    ]
    for path, kind, text in cases:
        with pytest.raises(kind, match=text) as fault:
            open_table(path)
        assert "secret" not in str(fault.value)
        assert str(tmp_path) not in str(fault.value)


def test_a_cut_off_gzip_file_is_refused(tmp_path):
    whole = gzip.compress(("a,b\n" + "1,2\n" * 400_000).encode())
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        open_table(path)


def test_an_unknown_encoding_is_refused(tmp_path):
    with pytest.raises(DataError, match="'klingon'"):
        open_table(written(tmp_path, "a\n1\n"), encoding="klingon")


def test_a_character_cut_off_at_the_end_of_the_sample_is_no_fault():
    assert detect_encoding("é".encode()[:1]) == "utf-8"
    assert detect_encoding(b"caf\xe9 in the middle") == "cp1252"


def test_the_separator_that_cuts_evenly_wins():
    assert detect_separator("a;b\n1,5;2\n1,25;3\n") == ";"
    assert detect_separator("plain\n1\n") == ","


@pytest.mark.parametrize("name", ["ages.csv", "ages.tsv", "ages.csv.gz"])
@pytest.mark.parametrize("text", [False, True])
def test_a_missing_value_in_the_only_column_is_no_blank_line(tmp_path, name, text):
    """Readers skip blank lines, and with them a record."""
    ages = pa.array([40, None, 41, None])
    table = pa.table({"age": ages.cast(pa.string()) if text else ages})
    whole, parts = tmp_path / name, tmp_path / f"parts-{name}"
    file_source(name).write(table, whole)
    with file_source(name).writer(parts, table.schema) as writer:
        writer.write_table(table.slice(0, 2))
        writer.write_table(table.slice(2))
    for path in (whole, parts):
        read = pd.read_csv(path, sep="\t" if ".tsv" in name else ",")
        assert read["age"].isna().tolist() == [False, True, False, True]
        assert open_table(path).records == 4


def test_a_release_of_one_column_with_missing_values_is_written_and_streamed(tmp_path):
    people = pa.table({"job": ["nurse", "nurse", None, None]})
    given = {"k": 2, "quasi_identifiers": ["job"], "hierarchies": {"job": "flat"}}
    shoal.anonymize(people, **given).save(tmp_path / "release.csv")
    papq.write_table(people, tmp_path / "people.parquet")
    shoal.Anonymizer(**given).stream(tmp_path / "people.parquet", tmp_path / "streamed.csv")
    for name in ("release.csv", "streamed.csv"):
        assert sorted((tmp_path / name).read_text().split()) == ['""', '""', '"job"', '"nurse"', '"nurse"']
