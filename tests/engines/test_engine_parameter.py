"""``engine=`` and ``memory=``: who does the work, never what comes out."""

from __future__ import annotations

import json
import pickle
import tempfile
import warnings

import pyarrow.parquet as papq
import pytest

import shoal
from shoal.engines import sizes
from shoal.errors import ParameterError
from shoal.io.files import open_table
from tests.engines.tables import QUASI_IDENTIFIERS, people
from tests.engines.test_stream import COMMON, in_memory, only, rows_of, write

pytestmark = [pytest.mark.usefixtures("small_batches", "small_fragments")]


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return a table in a file; rows of results lie in a folder of their own."""
    (tmp_path / "rooms").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "rooms"))
    return write(people(500), tmp_path / "people.parquet")


def test_a_streamed_result_has_the_rows_of_memory_and_saves_them(path, tmp_path):
    expected = in_memory(people(500))
    result = shoal.anonymize(path, **COMMON, engine="stream", memory="1GB")
    assert rows_of(result.data) == rows_of(expected.released)
    assert result.metrics["ncp"] == pytest.approx(expected.metrics["ncp"])
    assert (result.audit.k, result.suppressed) == (expected.audit.k, 0)
    assert expected.metrics.keys() - result.metrics.keys() == {"sse", "il_percent", "cm_by_column"}
    assert "500 records" in repr(result)
    result.save(tmp_path / "release.csv")
    assert rows_of(open_table(tmp_path / "release.csv").table) == rows_of(expected.released)
    assert json.loads((tmp_path / "release.datapackage.json").read_text())["shoal"]["records"] == 500
    assert result.provenance()["recipe"]["engine"] == "stream"
    result.save(tmp_path / "parts")
    assert rows_of(papq.read_table(tmp_path / "parts")) == rows_of(expected.released)
    assert len(list((tmp_path / "parts").iterdir())) == len(result.files) > 1


def test_the_rows_of_a_streamed_result_are_private_and_go_with_it(path, tmp_path):
    rooms = tmp_path / "rooms"
    result = shoal.anonymize(path, **COMMON, engine="stream")
    (room,) = rooms.iterdir()
    assert room.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in result.files} == {0o600}
    del result
    assert only(rooms)
    shoal.anonymize(path, **COMMON, engine="stream").close()
    assert only(rooms)
    with pytest.raises(ParameterError, match="at most the number of records"):
        shoal.anonymize(path, **COMMON | {"k": 501}, engine="stream")
    assert only(rooms)


def test_auto_streams_a_file_that_does_not_fit_and_nothing_else(path, monkeypatch):
    assert not hasattr(shoal.anonymize(path, **COMMON), "files")
    assert hasattr(shoal.anonymize(path, **COMMON, memory="200KB"), "files")
    assert not hasattr(shoal.anonymize(path, **COMMON, engine="memory"), "files")
    assert not hasattr(shoal.anonymize(people(300), **COMMON, memory="200KB"), "files")
    monkeypatch.setattr(sizes, "free_memory", lambda: 100_000)
    assert hasattr(shoal.anonymize(path, **COMMON), "files")


def test_what_a_streamed_result_lacks_is_said(path, tmp_path):
    result = shoal.anonymize(path, **COMMON, engine="stream")
    for ask in (
        lambda: result.report(examples=True),
        lambda: result.explain(0, "age"),
        lambda: pickle.dumps(result),
        lambda: result.save(tmp_path / "release.csv", shuffle=False),
    ):
        with pytest.raises(ParameterError, match="A streamed release has no"):
            ask()
    with pytest.raises(ParameterError, match="Got Table"):
        shoal.anonymize(people(300), **COMMON, engine="stream")
    for wrong in ({"engine": "cloud"}, {"memory": "much"}):
        with pytest.raises(ParameterError, match="Anonymizer must be"):
            shoal.Anonymizer(**COMMON, **wrong)


@pytest.mark.parametrize("method", ["datafly", "incognito"])
def test_a_streamed_global_recoding_tells_how_it_recodes(path, method):
    given = COMMON | {
        "method": method,
        "hierarchies": dict.fromkeys(QUASI_IDENTIFIERS, "suggest"),
        "max_suppression": 0.1,
    }
    result, expected = (shoal.anonymize(path, **given, engine=engine) for engine in ("stream", "memory"))
    assert result.generalization == expected.generalization
    assert recoded(result) == recoded(expected)
    assert (result.steps if method == "datafly" else result.solutions) == (
        expected.steps if method == "datafly" else expected.solutions
    )
    with pytest.raises(ParameterError, match="A streamed release has no other points"):
        result.at(k=2)


def recoded(result):
    """Return new records recoded like a release, and what is said of them."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = result.transform(people(500).slice(0, 300))
    return rows, [str(one.message) for one in said]


def test_a_recipe_keeps_who_does_the_work(tmp_path):
    recipe = shoal.Anonymizer(k=5, quasi_identifiers=["age"], engine="stream", memory="2GB")
    recipe.save(tmp_path / "recipe.toml")
    again = shoal.Anonymizer.load(tmp_path / "recipe.toml")
    assert (again.engine, again.memory) == ("stream", "2GB")


def test_a_streamed_release_has_a_dictionary_unless_told_otherwise(path, tmp_path):
    maker = shoal.Anonymizer(**COMMON)
    maker.stream(path, tmp_path / "release.parquet", workers=1)
    told = json.loads(papq.read_schema(tmp_path / "release.parquet").metadata[b"datapackage"])
    assert told["shoal"]["measures"]["smallest"] >= 5
    maker.stream(path, tmp_path / "parts", workers=1, public_report=tmp_path / "public.md")
    part = min((tmp_path / "parts").iterdir())
    paths = json.loads(papq.read_schema(part).metadata[b"datapackage"])["resources"][0]["path"]
    assert paths == [f"parts/{one.name}" for one in sorted((tmp_path / "parts").iterdir())]
    maker.stream(path, tmp_path / "release.csv", workers=1)
    maker.stream(path, tmp_path / "bare.csv", workers=1, dictionary=False)
    memory = shoal.anonymize(path, **COMMON)
    memory.save(tmp_path / "memory.csv")
    beside = [json.loads((tmp_path / f"{one}.datapackage.json").read_text()) for one in ("release", "memory")]
    fields = [told["resources"][0]["schema"]["fields"] for told in beside]
    assert fields[0] == fields[1]
    assert (tmp_path / "public.md").read_text("utf-8") == memory.report(audience="public").markdown
    assert only(
        tmp_path, "people.parquet", "release.parquet", "rooms", "parts", "public.md", "release.csv", "bare.csv",
        "release.datapackage.json", "memory.csv", "memory.datapackage.json",
    )  # fmt: skip
