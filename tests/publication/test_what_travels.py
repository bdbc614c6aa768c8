"""Nothing of withheld rows, unused entries or the order of the input travels in the memory of released columns."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as papq
import pyreadstat
import pytest
from pyarrow import feather

import shoal

KNOWN = {"k": 3, "quasi_identifiers": ["age"], "max_suppression": 0.2, "method": "sbca"}
DISEASES = ["flu", "cold", "asthma"]


def people(n=24):
    """Return a table whose last record is far from all others, is withheld, and has values that nobody else has."""
    return {
        "age": [*(20 + row // 4 for row in range(n)), 99_000],
        "disease": [*(DISEASES[::-1][row % 3] for row in range(n)), "SECRETITIS"],
        "note": [*(f"note {n - row:02}" for row in range(n)), "SECRETNOTE"],
    }


def release_of(table):
    result = shoal.anonymize(
        table, **KNOWN | {"method": shoal.SBCA(rest="suppress")}, sensitive=["disease"], keep=["note"]
    )
    assert result.suppressed == 1
    assert result.groups[-1] == -1
    return result


@pytest.fixture
def from_csv(tmp_path):
    pd.DataFrame(people()).to_csv(tmp_path / "people.csv", index=False)
    return release_of(tmp_path / "people.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "feather", "xlsx", "sav", "dta"])
def test_no_file_holds_a_value_that_only_a_withheld_record_has(tmp_path, from_csv, ending):
    path = from_csv.save(tmp_path / f"release.{ending}")
    content = path.read_bytes()
    assert b"SECRET" not in content
    if ending in {"arrow", "feather"}:
        table = feather.read_table(path)
    elif ending == "parquet":
        table = papq.read_table(path)
    else:
        return
    for name in ("disease", "note"):
        column = table.column(name)
        for chunk in column.chunks:
            listed = (
                chunk.dictionary.to_pylist() if pa.types.is_dictionary(chunk.type) else sorted(set(chunk.to_pylist()))
            )
            assert listed == sorted(set(column.to_pylist())), "a dictionary lists what its rows have, in sorted order"


def test_a_column_of_a_text_file_has_the_type_that_its_released_rows_show(tmp_path):
    ages = [20 + row // 4 for row in range(24)]
    types = []
    for hidden in ("7", "7.5", "none of them"):
        table = pd.DataFrame({"age": [*ages, 99_000], "cost": [*map(str, range(24)), hidden]})
        table.to_csv(tmp_path / "people.csv", index=False)
        result = shoal.anonymize(
            tmp_path / "people.csv", **KNOWN | {"method": shoal.SBCA(rest="suppress")}, keep=["cost"]
        )
        assert result.suppressed == 1
        path = result.save(tmp_path / "release.parquet", force=True)
        types.append(papq.read_schema(path).field("cost").type)
    assert types == [pa.int64()] * 3


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_handed_out_are_those_of_the_released_rows(ordered):
    table = pd.DataFrame(people())
    table["disease"] = pd.Categorical(
        table["disease"], ["never had", "cold", "SECRETITIS", "flu", "asthma"], ordered=ordered
    )
    data = release_of(table).data
    expected = ["cold", "flu", "asthma"] if ordered else ["asthma", "cold", "flu"]
    assert list(data["disease"].cat.categories) == expected
    assert data["disease"].cat.ordered == ordered
    assert b"SECRET" not in pickle.dumps(data)


def test_attributes_of_a_frame_are_not_handed_out():
    table = pd.DataFrame(people())
    table.attrs["source"] = "SECRETPLACE"
    assert release_of(table).data.attrs == {}


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum([*DISEASES, "SECRETITIS", "never had"])])
def test_categories_of_polars_are_those_of_the_released_rows(kind):
    data = release_of(pl.DataFrame(people()).with_columns(pl.col("disease").cast(kind))).data
    held = data.get_column("disease").to_arrow()
    assert b"SECRET" not in pickle.dumps(data)
    assert sorted(pa.chunked_array([held]).cast(pa.string()).unique().to_pylist()) == sorted(DISEASES)
    if isinstance(kind, pl.Enum):
        assert data.schema["disease"].categories.to_list() == DISEASES


def test_an_arrow_table_is_handed_out_without_its_dictionary_slice_and_metadata():
    table = pa.table(people())
    coded = table.set_column(1, "disease", table.column("disease").dictionary_encode())
    whole = pa.concat_tables([coded, coded.slice(0, 3)]).replace_schema_metadata({"source": "SECRETPLACE"})
    data = release_of(whole.slice(0, 25)).data
    assert data.schema.metadata is None
    assert b"SECRET" not in pickle.dumps(data)
    assert data.column("disease").chunk(0).dictionary.to_pylist() == sorted(DISEASES)


@pytest.mark.parametrize("library", ["arrow", "pandas", "polars"])
def test_nothing_lies_below_a_missing_value(library):
    numbers = np.arange(25, dtype=np.int64) + 7_000_000
    numbers[5] = 123_456_789_012
    hidden = pa.Array.from_buffers(
        pa.int64(), 25, [pa.py_buffer(np.packbits(np.arange(25) != 5, bitorder="little")), pa.py_buffer(numbers)]
    )
    secret = numbers[5:6].tobytes()
    table = pa.table(people()).append_column("stay", hidden)
    given = {"arrow": table, "pandas": None, "polars": pl.from_arrow(table)}[library]
    if library == "pandas":
        given = table.to_pandas()
        given["stay"] = pd.arrays.IntegerArray(numbers.copy(), np.arange(25) == 5)
    result = shoal.anonymize(
        given, **KNOWN | {"method": shoal.SBCA(rest="suppress")}, identifiers=["disease", "note"], keep=["stay"]
    )
    assert secret not in pickle.dumps(result)
    data = result.data
    assert secret not in pickle.dumps(data.to_arrow() if library == "polars" else data)


@pytest.mark.parametrize("method", ["mondrian", "mdav"])
def test_no_public_file_tells_how_a_removed_column_writes_its_numbers(tmp_path, method):
    public = []
    for mark in ",.":
        rows = "".join(f"{20 + row // 3};{row % 4};{row}{mark}5\n" for row in range(30))
        (tmp_path / "people.csv").write_text(f"age;children;weight\n{rows}", "utf-8")
        result = shoal.anonymize(
            tmp_path / "people.csv",
            k=4,
            quasi_identifiers=["age", "children"],
            identifiers=["weight"],
            method=method,
        )
        path = result.save(tmp_path / "release.csv", force=True)
        told = (tmp_path / "release.datapackage.json").read_bytes()
        public.append((sorted(path.read_text("utf-8").splitlines()), told))
    assert public[0] == public[1]


def test_a_pickle_holds_no_value_that_a_computed_column_was_found_by():
    towns = [["Kiel", "Ulm", "Bonn"][row % 3] for row in range(60)]
    table = {"town": [*towns, "SECRETTOWN"], "state": [*(town.upper() for town in towns), "SECRETSTATE"]}
    result = shoal.anonymize(
        pa.table(table),
        k=5,
        quasi_identifiers=["town"],
        keep=["state"],
        hierarchies={"town": "flat"},
        method="datafly",
        max_suppression=0.1,
        derived="warn",
    )
    assert [one.formula for one in result.derived] == ["a map of town"]
    assert result.suppressed == 1
    assert b"SECRET" not in pickle.dumps(result)


def test_a_compacted_column_holds_the_same_values_in_the_same_type():
    from shoal.frames.compact import compact

    months = pa.Array.from_pandas(pd.Series(pd.period_range("2024-01", periods=3, freq="M")))
    for values in (
        months,
        pa.array(["b", "a", None, "b", "c"]).dictionary_encode()[:3],
        pa.array([[1], None, [2, 3]]),
        pa.array([True, None]),
        pa.nulls(3),
        pa.nulls(3, pa.dictionary(pa.int8(), pa.string())),
        pa.array(["a", None]).cast(pa.string_view()),
    ):
        column = pa.chunked_array([values, values])
        fresh = compact(column)
        fresh.validate(full=True)
        assert fresh.type == column.type
        assert str(fresh.to_pylist()) == str(column.to_pylist())
    for kind in (pa.int64(), pa.dictionary(pa.int32(), pa.string())):
        assert compact(pa.chunked_array([], kind)).type == kind


def test_a_pickle_holds_no_value_that_the_release_hides(from_csv):
    table = pd.DataFrame(
        {"age": [1_000_003 + 17 * row for row in range(120)], "cost": np.random.default_rng(1).permutation(120)}
    )
    for wrap in (lambda one: one, lambda one: pa.Table.from_pandas(one, preserve_index=False).slice(0, 60)):
        result = shoal.anonymize(wrap(table), k=5, quasi_identifiers=["age"], keep=["cost"], method="mondrian")
        content = pickle.dumps(result)
        shown = {
            int(one) for text in set(result.released.column("age").to_pylist()) for one in text.strip("[]").split("-")
        }
        hidden = [one for one in table["age"] if one not in shown]
        found = [one for one in hidden if np.int64(one).tobytes() in content or np.int32(one).tobytes() in content]
        assert len(hidden) > 80
        assert found == []
    assert b"SECRET" not in pickle.dumps(from_csv)


def test_value_labels_are_those_of_released_codes(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    table = people()
    table["disease"] = [*(1 + row % 3 for row in range(24)), 7]
    labels = {1: "flu", 2: "cold", 3: "asthma", 7: "SECRETITIS", 9: "NEVERHAD"}
    pyreadstat.write_sav(pd.DataFrame(table), tmp_path / "people.sav", variable_value_labels={"disease": labels})
    result = release_of(tmp_path / "people.sav")
    for ending in ("sav", "dta"):
        path = result.save(tmp_path / f"release.{ending}")
        meta = (pyreadstat.read_sav if ending == "sav" else pyreadstat.read_dta)(str(path))[1]
        assert meta.variable_value_labels["disease"] == {1: "flu", 2: "cold", 3: "asthma"}
        assert b"SECRET" not in path.read_bytes()


def test_a_type_found_from_values_is_found_from_released_rows():
    """One withheld record with a half, or with more decimals, must not make all others look different."""
    from decimal import Decimal

    ages = [*(20 + row // 4 for row in range(24)), 99_000]
    roles = {"keep": ["cost", "fee"], "sensitive": []}
    for wrap in (
        dict,
        pd.DataFrame,
        lambda one: [dict(zip(one, row, strict=True)) for row in zip(*one.values(), strict=True)],
    ):
        types = []
        for cost, fee in ((7, Decimal("1.25")), (7.5, Decimal("123456.12345"))):
            columns = {
                "age": ages,
                "cost": pd.array([*range(24), cost], dtype=object).tolist(),
                "fee": [*[Decimal("2.50")] * 24, fee],
            }
            table = wrap(columns)
            if isinstance(table, pd.DataFrame):
                table["cost"] = pd.Series(columns["cost"], dtype=object)
            result = shoal.anonymize(table, **KNOWN | {"method": shoal.SBCA(rest="suppress")}, **roles)
            assert result.suppressed == 1
            types.append([result.released.schema.field(name).type for name in ("cost", "fee")])
        assert types[0] == types[1] == [pa.int64(), pa.decimal128(3, 2)]


@pytest.mark.parametrize(("ending", "odd"), [("sav", 5.25), ("dta", 5.25), ("xlsx", 5.25), ("xlsx", "unknown")])
def test_a_file_that_names_no_types_releases_those_that_its_released_rows_show(tmp_path, ending, odd):
    """Whether a column is whole, or numbers at all, was once found with the rows that are withheld."""

    def released(withheld):
        table = pd.DataFrame(people()).drop(columns="note")
        table["note"] = [*(float(row % 7) for row in range(len(table) - 1)), withheld]
        path = tmp_path / f"{withheld}.{ending}"
        if ending == "xlsx":
            table.to_excel(path, index=False)
        else:
            {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}[ending](table, path)
        result = release_of(path)
        saved = papq.read_schema(result.save(tmp_path / f"{withheld}.parquet")).types
        result.save(tmp_path / f"{withheld}.csv", dictionary=True)
        described = json.loads((tmp_path / f"{withheld}.datapackage.json").read_text("utf-8"))
        fields = described["resources"][0]["schema"]["fields"]
        return result.released.schema.types, result.data.schema.types, saved, fields

    whole, broken = released(5.0), released(odd)
    assert whole == broken
    assert whole[1][-1] == pa.int64()


def test_representatives_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(8)
    heights = rng.normal(170, 12, 60).tolist()
    order = rng.permutation(60)
    found = []
    for rows in (range(60), order):
        table = {"height": [heights[row] for row in rows]}
        result = shoal.anonymize(table, k=20, quasi_identifiers=["height"], method="mdav")
        found.append(sorted(set(result.released["height"].to_pylist())))
    assert found[0] == found[1]
