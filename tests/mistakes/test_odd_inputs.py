"""Rare inputs that once ended outside the tree of errors, or took very long."""

from __future__ import annotations

import gzip
import signal
import zipfile

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, ParameterError, ShoalError
from shoal.inspection import inspect_table
from shoal.io import packed, workroom
from shoal.io.files import open_table
from shoal.io.workroom import Workroom
from shoal.results.generalization import Generalization

N = 40
AGES = list(range(N))
FAST = {"k": 4, "method": "mondrian"}


@pytest.mark.parametrize("method", ["mondrian", "optimize"])
@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.float64(), pa.date32(), pa.timestamp("s"), pa.decimal128(5, 2)], ids=str
)
def test_a_quasi_identifier_without_any_value_is_released(kind, method):
    table = pa.table({"age": AGES, "gone": pa.nulls(N, kind)})
    result = shoal.anonymize(table, k=4, method=method, effort="fast", quasi_identifiers=["age", "gone"])
    assert result.released.column("gone").null_count == N
    assert result.audit.k >= 4


def test_a_column_of_a_global_recoding_without_any_value_is_mapped():
    table = pa.table({"job": ["a", "b"] * 20, "gone": pa.nulls(N, pa.int64())})
    trees = {"job": "flat", "gone": "auto"}
    mapping = shoal.anonymize(
        table, k=4, method="datafly", quasi_identifiers=["job", "gone"], hierarchies=trees
    ).generalization
    assert mapping.apply(table, unseen="suppress").num_rows == N


# --- layouts of Arrow --------------------------------------------------------------------------------------------

LAYOUTS = {
    "string_view": pa.array(["x", "y"] * 20).cast(pa.string_view()),
    "binary_view": pa.array([b"x", b"y"] * 20).cast(pa.binary_view()),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays(pa.array([20, N], pa.int32()), pa.array([1, 2])),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_of_arrow_is_kept_and_looked_at(layout):
    table = pa.table({"age": AGES, "x": LAYOUTS[layout]})
    released = shoal.anonymize(table, **FAST, quasi_identifiers=["age"], keep=["x"]).data
    assert released.column("x").to_pylist() == LAYOUTS[layout].to_pylist()
    assert len(inspect_table(table).columns) == 2


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive"])
def test_spans_of_months_are_no_single_values(role):
    spans = pa.array([pa.MonthDayNano([1, 2, 3])] * N, pa.month_day_nano_interval())
    roles = {"quasi_identifiers": ["age"]} | {role: ["age", "x"] if role == "quasi_identifiers" else ["x"]}
    with pytest.raises(DataError, match="not single readable values"):
        shoal.anonymize(pa.table({"age": AGES, "x": spans}), **FAST, **roles)


# --- workbooks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "cell"), [("x", "a\x01b"), ("x\x02", "ab"), ("x", [1])])
def test_what_a_sheet_cannot_hold_is_refused_without_a_file(tmp_path, name, cell):
    result = shoal.anonymize({"age": AGES, name: [cell] * N}, **FAST, quasi_identifiers=["age"], keep=[name])
    with pytest.raises(DataError, match="An Excel sheet cannot hold"):
        result.save(tmp_path / "release.xlsx")
    assert list(tmp_path.iterdir()) == []


DAMAGE = (
    b"",
    b"<",
    b"<a/>",
    b"\0\xff",
    b"<worksheet><sheetData><row><c t='s'><v>99</v></c></row></sheetData></worksheet>",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_workbook_is_told_in_a_sentence_wherever_it_is_damaged(tmp_path, damage):
    shoal.anonymize({"age": AGES, "sex": ["m", "f"] * 20}, **FAST, quasi_identifiers=["age", "sex"]).save(
        tmp_path / "whole.xlsx"
    )
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole:
        members = {one: whole.read(one) for one in whole.namelist()}
    for broken in members:
        with zipfile.ZipFile(tmp_path / "broken.xlsx", "w") as archive:
            for one, content in members.items():
                archive.writestr(one, damage if one == broken else content)
        try:
            open_table(tmp_path / "broken.xlsx")
        except DataError as fault:
            assert "damaged" in fault.message or "empty" in fault.message  # noqa: PT017  (some damage does no harm)


# --- packed files ------------------------------------------------------------------------------------------------


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".csv.zip", ".xlsx"])
def test_a_file_that_unpacks_to_far_more_than_a_table_is_refused_early(tmp_path, ending):
    bomb, content = tmp_path / f"bomb{ending}", b"a,b\n" + b"0,0\n" * (1 << 24)
    if ending == ".csv.gz":
        bomb.write_bytes(gzip.compress(content, 9))
    elif ending == ".csv.zst":
        bomb.write_bytes(pa.compress(content, "zstd", asbytes=True))
    else:
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb.csv", content)
    with pytest.raises(DataError, match="unpacks to more than 300 times its size"):
        open_table(bomb)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".csv.zip"])
def test_a_packed_table_is_read_whatever_its_size(tmp_path, ending):
    random = np.random.default_rng(0)
    table = pa.table({"age": random.integers(0, 100, 400_000), "zip": random.integers(0, 99_999, 400_000)})
    shoal.Anonymizer  # noqa: B018  (loads nothing heavy)
    from shoal.io.delimited import Delimited

    Delimited().write(table, tmp_path / f"people{ending}")
    assert open_table(tmp_path / f"people{ending}").records == 400_000


@pytest.mark.parametrize("encoding", ["punycode", "idna", "unicode_escape", "undefined", "rot13", "no such", "a\0b"])
def test_what_is_no_encoding_of_tables_is_refused(tmp_path, encoding):
    (tmp_path / "people.csv").write_text("age,sex\n30,m\n")
    with pytest.raises(DataError, match=r"The encoding of 'people\.csv' is unknown"):
        open_table(tmp_path / "people.csv", encoding=encoding)


# --- recipes and mappings ----------------------------------------------------------------------------------------

HEAD = 'k = 5\nquasi_identifiers = ["age"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + '[[models]]\nmodel = "k-map"\nk = 3\npopulation = 5\n', "'population' parameter of The recipe"),
        (HEAD + "[[models]]\nk = 3\n", "has a model without a name"),
        (HEAD + "[[models]]\nmodel = 5\n", "has a model without a name"),
        (HEAD + "models = 5\n", "is wrong at 'models'"),
        ("a = " + "[" * 5000 + "]" * 5000, "cannot be read as TOML"),
        ("k = " + "9" * 5000, "cannot be read as TOML"),
    ],
)
def test_an_odd_recipe_is_told_in_a_sentence(tmp_path, text, message):
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(ParameterError, match=message):
        shoal.Anonymizer.load(tmp_path / "recipe.toml")


@pytest.mark.parametrize("memory", ["9" * 400, "9" * 400 + "GB", 10**400, "9" * 5000])
def test_memory_beyond_all_machines_is_refused(memory):
    with pytest.raises(ParameterError, match="must be a size such as '4GB'"):
        shoal.Anonymizer(k=2, quasi_identifiers=["age"], memory=memory)


@pytest.mark.parametrize("column", ["{}", '{"values": {"a": "b"}, "ranges": []}'])
def test_a_mapping_says_of_each_column_values_or_ranges(tmp_path, column):
    (tmp_path / "mapping.json").write_text('{"k": 3, "columns": {"age": ' + column + "}}")
    with pytest.raises(DataError, match="is not a generalization"):
        Generalization.load(tmp_path / "mapping.json")


def test_a_mapping_without_a_range_knows_no_value(tmp_path):
    (tmp_path / "mapping.json").write_text('{"k": 3, "columns": {"age": {"ranges": [], "type": "int64"}}}')
    with pytest.raises(ShoalError, match="values the generalization does not know"):
        Generalization.load(tmp_path / "mapping.json").apply({"age": [1, 2]})


# --- interrupts --------------------------------------------------------------------------------------------------


def struck(function):
    """Return a function that an interrupt strikes as soon as it is done."""

    def done(*given, **named):
        found = function(*given, **named)
        signal.raise_signal(signal.SIGINT)
        return found

    return done


@pytest.mark.parametrize("step", ["_make_locked", "_lock"])
def test_an_interrupt_while_a_folder_is_made_leaves_none(tmp_path, monkeypatch, step):
    monkeypatch.setattr(workroom, step, struck(getattr(workroom, step)))
    with pytest.raises(KeyboardInterrupt):
        Workroom(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nobody_holds_any_more_is_removed(tmp_path):
    Workroom(tmp_path)
    assert list(tmp_path.iterdir()) == []
