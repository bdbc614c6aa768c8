"""The dictionary that travels: valid to an independent reader, and a function of rows and recipe alone."""

from __future__ import annotations

import datetime as dt
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as papq
import pytest
from frictionless import Package, validate

import shoal
from shoal import publication
from shoal.cells.parse import parse_cell
from shoal.errors import DataError, FileError, NotationNotice, ParameterError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.publication.cells import read_cells
from shoal.publication.trees import public_tree
from shoal.results.save import read_dictionary, refuse_stowaways
from tests.fuzz.interference import draw_original, draw_parameters, publish

pytestmark = pytest.mark.filterwarnings(  # frictionless leaves files open
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
JOBS = "nurse;care;*\nmedic;care;*\nbaker;craft;*\nsmith;craft;*\n"


def people(n=80):
    random = np.random.default_rng(4)
    return pa.table(
        {
            "name": [f"person {row}" for row in range(n)],
            "age": random.integers(20, 60, n),
            "height": np.round(random.normal(170, 9, n), 1),
            "born": pa.array(
                [dt.date(1960, 1, 1) + dt.timedelta(days=int(one)) for one in random.integers(0, 9000, n)]
            ),
            "job": random.choice(["nurse", "medic", "baker", "smith"], n),
            "town": random.choice(["Aachen", "Bonn", "Kleve", "Köln"], n),
            "school": random.choice(["low", "middle", "high"], n),
            "ill": random.choice(["flu", "gout", "cold"], n),
            "cost": np.round(random.gamma(2, 900, n), 2),
            "seen": pa.array(
                [
                    dt.datetime.fromisoformat("2024-01-01") + dt.timedelta(hours=int(one))
                    for one in random.integers(0, 900, n)
                ]
            ),
            "smokes": random.random(n) < 0.4,
        }
    )


@pytest.fixture
def result(tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS, "utf-8")
    return shoal.anonymize(
        people(),
        k=4,
        quasi_identifiers=["age", "height", "born", "job", "town", "school"],
        sensitive=["ill"],
        keep=["cost", "seen", "smokes"],
        identifiers=["name"],
        kinds={"school": ["low", "middle", "high"]},
        hierarchies={"job": str(tmp_path / "jobs.csv")},
        ends={"age": 5},
        models=[shoal.LDiversity(2)],
        treat={"cost": shoal.Round(100)},
        method="mondrian",
    )


def fields_of(told):
    return {one["name"]: one for one in told["resources"][0]["schema"]["fields"]}


@pytest.mark.parametrize("name", ["release.csv", "release.tsv", "release.csv.gz", "Release of May.csv"])
def test_another_reader_finds_the_dictionary_valid_and_the_rows_as_it_says(tmp_path, result, name):
    path = result.save(tmp_path / name)
    (beside,) = tmp_path.glob("*.datapackage.json")
    report = validate(str(beside))
    assert report.valid, report.flatten(["message"])
    (resource,) = Package(str(beside)).resources
    rows = resource.read_rows()
    assert len(rows) == result.released.num_rows
    assert sorted(float(row["cost"]) for row in rows) == sorted(map(float, result.released["cost"].to_pylist()))
    assert path.exists()


def test_each_column_is_told_as_it_was_released(tmp_path, result):
    result.save(tmp_path / "release.csv")
    told = json.loads((tmp_path / "release.datapackage.json").read_text("utf-8"))
    fields = fields_of(told)
    assert list(fields) == result.released.column_names
    short = {
        name: (one["type"], *(one["shoal"][key] for key in ("role", "form", "kind"))) for name, one in fields.items()
    }
    assert short == {
        "age": ("string", "quasi-identifier", "ranges", "integer"),
        "height": ("string", "quasi-identifier", "ranges", "number"),
        "born": ("string", "quasi-identifier", "ranges", "date"),
        "job": ("string", "quasi-identifier", "nodes", "text"),
        "town": ("string", "quasi-identifier", "sets", "text"),
        "school": ("string", "quasi-identifier", "ranges", "text"),
        "ill": ("string", "sensitive", "exact", "text"),
        "cost": ("number", "kept", "exact", "number"),
        "seen": ("datetime", "kept", "exact", "datetime"),
        "smokes": ("boolean", "kept", "exact", "boolean"),
    }
    ends = [int(one) for text in result.released["age"].to_pylist() for one in parse_cell(text).values]
    assert (fields["age"]["shoal"]["low"], fields["age"]["shoal"]["high"]) == (min(ends), max(ends))
    assert (fields["age"]["shoal"]["step"], fields["height"]["shoal"]["step"]) == (5, None)
    assert fields["school"]["shoal"]["order"] == ["low", "middle", "high"]
    assert fields["ill"]["shoal"]["values"] == ["cold", "flu", "gout"]
    assert fields["cost"]["shoal"]["treatment"] == {"treatment": "round", "to": 100}
    own = told["shoal"]
    assert (own["audience"], own["k"], own["records"], own["method"]) == ("public", 4, 80, "mondrian")
    assert own["measures"]["smallest"] == result.audit.k
    assert own["measures"]["groups"] == result.audit.groups
    assert own["measures"]["different_values"] == {"ill": result.audit.l}


def test_no_path_no_identifier_and_no_seed_is_told(tmp_path, result):
    result.save(tmp_path / "release.csv")
    text = (tmp_path / "release.datapackage.json").read_text("utf-8")
    for hidden in (str(tmp_path), "jobs.csv", "person", '"name": "name"', "seed", "ncp", '"sse', "il_percent"):
        assert hidden not in text.replace('"counts": "records"', "")


def test_measures_follow_from_the_cells_and_have_few_digits(result):
    told = result.report(audience="public").told["shoal"]["measures"]
    widths = [one["width"] for one in told["columns"].values() if one["width"] is not None]
    assert all(len(f"{one:.12g}".replace("0.", "").lstrip("0")) <= 3 for one in widths)
    cells = [parse_cell(text).values for text in result.released["age"].to_pylist()]
    spans = [int(ends[-1]) - int(ends[0]) for ends in cells]
    whole = max(int(ends[-1]) for ends in cells) - min(int(ends[0]) for ends in cells)
    assert told["columns"]["age"]["width"] == float(f"{np.mean(spans) / whole:.3g}")
    assert told["columns"]["town"]["different_cells"] == len(set(result.released["town"].to_pylist()))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_parquet_and_arrow_files_hold_the_same_dictionary(tmp_path, result, ending):
    path = result.save(tmp_path / f"release.{ending}")
    schema = papq.read_schema(path) if ending == "parquet" else pf.read_table(path).schema
    inside = json.loads(schema.metadata[b"datapackage"])
    assert inside == read_dictionary(path)
    assert list(tmp_path.glob("*.json")) == []
    assert fields_of(inside)["cost"]["shoal"]["unit"] is None
    result.save(tmp_path / "bare.parquet", dictionary=False)
    assert read_dictionary(tmp_path / "bare.parquet") is None


def test_a_table_in_another_notation_is_told_as_it_is_written(tmp_path):
    rows = "".join(
        f"{20 + row % 30},5;{1000 + row},25;{row % 28 + 1:02}.03.2024;{'ab'[row % 2]}\n" for row in range(40)
    )
    (tmp_path / "leute.csv").write_text(f"alter;kosten;tag;ort\n{rows}", "utf-8")
    with pytest.warns(NotationNotice):
        result = shoal.anonymize(
            tmp_path / "leute.csv", k=5, quasi_identifiers=["alter"], keep=["kosten", "tag", "ort"], method="mondrian"
        )
    with pytest.warns(NotationNotice, match="kosten, tag are written with decimal points and ISO dates"):
        result.save(tmp_path / "release.csv")
    report = validate(str(tmp_path / "release.datapackage.json"))
    assert report.valid, report.flatten(["message"])
    told = read_dictionary(tmp_path / "release.csv")
    fields = fields_of(told)
    assert told["resources"][0]["dialect"] == {"delimiter": ";"}
    assert fields["kosten"]["type"] == "number"
    assert fields["tag"]["type"] == "date"
    assert fields["alter"]["shoal"]["kind"] == "number"
    assert not {"decimalChar", "format"} & {key for field in fields.values() for key in field}
    assert fields["alter"]["shoal"]["low"] <= 20.5


def test_labels_and_titles_of_a_statistics_file_are_told_for_released_codes(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    table = pd.DataFrame({"age": [20 + row // 4 for row in range(24)], "ill": [1.0 + row % 2 for row in range(24)]})
    labels = {1: "flu", 2: "gout", 7: "never"}
    pyreadstat.write_sav(
        table, tmp_path / "people.sav", column_labels={"ill": "Illness"}, variable_value_labels={"ill": labels}
    )
    result = shoal.anonymize(tmp_path / "people.sav", k=4, quasi_identifiers=["age"], keep=["ill"], method="mondrian")
    told = fields_of(result.report(audience="public").told)["ill"]
    assert told["title"] == "Illness"
    assert told["shoal"]["labels"] == {"1": "flu", "2": "gout"}


def test_what_the_publisher_says_stands_beside_each_column(tmp_path, result):
    said = {
        "title": "Stays", "licenses": [{"name": "CC-BY-4.0"}], "contributors": [{"title": "A hospital"}], "citation": "us",
        "columns": {"cost": {"title": "Cost", "description": "Of the stay.", "unit": "EUR", "labels": {"0": "none"}}},
    }  # fmt: skip
    result.save(tmp_path / "release.csv", dictionary=said)
    assert validate(str(tmp_path / "release.datapackage.json")).valid
    told = read_dictionary(tmp_path / "release.csv")
    cost = fields_of(told)["cost"]
    assert (told["title"], told["citation"], told["licenses"]) == ("Stays", "us", [{"name": "CC-BY-4.0"}])
    assert (cost["title"], cost["description"], cost["shoal"]["unit"]) == ("Cost", "Of the stay.", "EUR")
    assert cost["shoal"]["labels"] == {"0": "none"}
    book = result.codebook(tmp_path / "codebook.md", about=said).read_text("utf-8")
    assert "Of the stay." in book
    assert "in EUR" in book
    with pytest.raises(ParameterError, match="is wrong at 'titel'"):
        result.save(tmp_path / "other.csv", dictionary={"titel": "x"})
    assert not (tmp_path / "other.csv").exists()


# --- trees -------------------------------------------------------------------------------------------------------


def labels_of(tree):
    return {tree["label"], *(label for child in tree.get("children", ()) for label in labels_of(child))}


def tree_of(cells, tree, *, whole):
    return public_tree(tree, read_cells(pa.chunked_array([pa.array(cells)])), whole=whole)


def test_of_a_declared_tree_what_released_cells_can_stand_for_is_published():
    tree = Hierarchy.from_dict({"*": {"care": ["nurse", "medic"], "craft": ["baker", "smith"], "church": ["bishop"]}})
    assert labels_of(tree_of(["care", "baker", "*"], tree, whole=True)) == {
        "*",
        "care",
        "nurse",
        "medic",
        "craft",
        "baker",
    }
    assert tree_of(["*", None], tree, whole=True) == {"label": "*"}


def test_of_a_computed_tree_only_released_labels_are_published_and_it_says_so():
    tree = Hierarchy.from_prefixes(["40213", "40217", "40999", "51107"], [4, 2, 0])
    found = tree_of(["4021*", "40***", "40213"], tree, whole=False)
    assert found == {
        "label": "*",
        "children": [{"label": "40***", "children": [{"label": "4021*", "children": [{"label": "40213"}]}]}],
        "partial": True,
    }


def test_a_computed_tree_says_the_same_whatever_hidden_values_it_was_made_from():
    cells = ["402**", "402**", "51107"]
    trees = [
        Hierarchy.from_prefixes(values, [3, 0]) for values in (["40213", "51107"], ["40299", "51107", "99999"][::-1])
    ]
    assert tree_of(cells, trees[0], whole=False) == tree_of(cells, trees[1], whole=False)


# --- the contract ------------------------------------------------------------------------------------------------


def test_no_function_of_the_package_takes_an_original():
    """The signatures name released tables, recipes and what is declared; none names a frame, coded columns or a release."""
    package = Path(publication.__file__).parent
    for path in package.glob("*.py"):
        text = path.read_text("utf-8")
        for word in ("Frame", "CodedTable", "CodedColumn", "Release", "Result", "Summary", "Audit", "source:"):
            assert f"{word}(" not in text.replace("PublicReport(", "").replace("pd.DataFrame(", "")
            assert f": {word}" not in text
            assert not re.search(rf"import {word}\b", text)
    assert "Frame" not in str(inspect.signature(publication.make_dictionary))
    assert issubclass(Frame, object)


def test_a_file_that_holds_more_than_its_rows_is_refused(tmp_path):
    coded = pa.chunked_array([pa.array(["a", "b", "SECRET"]).dictionary_encode()[:2]])
    papq.write_table(pa.table({"town": coded}), tmp_path / "release.parquet")
    with pytest.raises(DataError, match="would hold more than its rows"):
        refuse_stowaways(tmp_path / "release.parquet")
    plain = pa.table({"town": ["a", "b"]})
    papq.write_table(plain.replace_schema_metadata({"pandas": "SECRET"}), tmp_path / "release.parquet")
    with pytest.raises(DataError, match="would hold more than its rows"):
        refuse_stowaways(tmp_path / "release.parquet")
    papq.write_table(plain, tmp_path / "release.parquet")
    refuse_stowaways(tmp_path / "release.parquet")


# --- codebook and public report ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["codebook.html", "codebook.md"])
def test_a_codebook_tells_each_column_with_its_cells(tmp_path, result, name):
    text = result.codebook(tmp_path / name).read_text("utf-8").replace("\\", "")
    for column in result.released.column_names:
        assert column in text
    assert "[20-" in text
    assert re.search(r"ranges, both ends included, such as \[\d+-\d+\]", text)
    with pytest.raises(FileError, match=r"saved as \.html or \.md"):
        result.codebook(tmp_path / "codebook.pdf")


def test_a_public_report_compares_nothing_with_the_original(tmp_path, result):
    report = result.report(audience="public")
    for name in ("public.html", "public.md", "public.json"):
        text = report.save(tmp_path / name).read_text("utf-8")
        assert "holder" not in text
        assert "original" not in text.replace("original table", "") or "html" in name
        assert "withheld" not in text
    assert json.loads((tmp_path / "public.json").read_text("utf-8"))["shoal"]["audience"] == "public"
    assert "script" not in report.html
    with pytest.raises(ParameterError, match="holds no rows of the original"):
        result.report(audience="public", examples=True)
    with pytest.raises(ParameterError, match="'audience'"):
        result.report(audience="everybody")
    with pytest.raises(FileError, match=r"saved as \.html, \.md or \.json"):
        report.save(tmp_path / "public.pdf")


def test_a_result_read_from_a_pickle_makes_the_same_public_files(tmp_path, result):
    import pickle

    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert again.report(audience="public").html == result.report(audience="public").html
    assert again.codebook(tmp_path / "a.md").read_text() == result.codebook(tmp_path / "b.md").read_text()


def test_the_holders_files_say_so_first_and_nobody_else_may_read_them(tmp_path, result):
    for name in ("report.html", "report.md", "report.json"):
        path = result.report().save(tmp_path / name)
        assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "report.md").read_text("utf-8").splitlines()[0].endswith("for the holder of the original table")
    assert next(iter(json.loads((tmp_path / "report.json").read_text("utf-8")).items())) == ("audience", "holder")
    assert "For the holder of the original table, not for publication" in (tmp_path / "report.html").read_text("utf-8")
    assert str(tmp_path) not in (tmp_path / "report.json").read_text("utf-8")
    maker = shoal.Anonymizer(
        k=4, quasi_identifiers=["age"], hierarchies={"age": Hierarchy.from_intervals(range(90), 5)}
    )
    recipe = maker.save(tmp_path / "recipe.toml")
    assert recipe.read_text("utf-8").startswith("# For the holder of the original table, not for publication.\n")
    assert recipe.stat().st_mode & 0o777 == 0o600
    assert next((tmp_path / "recipe-hierarchies").iterdir()).stat().st_mode & 0o777 == 0o600
    assert shoal.Anonymizer.load(recipe).k == 4


@pytest.mark.parametrize("number", range(12))
def test_another_reader_finds_the_dictionary_of_any_release_valid(number, tmp_path):
    """Over all types of columns, forms and treatments."""
    rng = np.random.default_rng([77, number])
    one = draw_original(rng)
    parameters = draw_parameters(rng, one)
    if parameters["release"] == "representatives":
        parameters.pop("ends")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = publish(one, tmp_path, ["csv"], parameters)
    (tmp_path / "release.csv").write_bytes(files["release.csv"])
    (tmp_path / "release.datapackage.json").write_bytes(
        files["release.datapackage.json"].replace(b"(clock)", b"2026-01-01T00:00:00Z")
    )
    report = validate(str(tmp_path / "release.datapackage.json"))
    assert report.valid, report.flatten(["message"])
