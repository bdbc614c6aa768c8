"""``engine=`` and ``memory=``: who does the work, never what comes out."""

from __future__ import annotations

import json
import pickle
import tempfile

import pyarrow.parquet as papq
import pytest

import shoal
from shoal.api import streaming
from shoal.errors import ParameterError
from shoal.io.files import open_table
from tests.engines.tables import people
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
    assert "500 records" in repr(result)
    result.save(tmp_path / "release.csv", sidecar=True)
    assert rows_of(open_table(tmp_path / "release.csv").table) == rows_of(expected.released)
    assert json.loads((tmp_path / "release.csv.json").read_text())["recipe"]["engine"] == "stream"
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
    assert not hasattr(shoal.anonymize(path, **COMMON, memory="200KB", engine="memory"), "files")
    assert not hasattr(shoal.anonymize(people(300), **COMMON, memory="200KB"), "files")
    monkeypatch.setattr(streaming, "free_memory", lambda: 1)
    assert hasattr(shoal.anonymize(path, **COMMON), "files")


def test_what_a_streamed_result_lacks_is_said(path, tmp_path):
    result = shoal.anonymize(path, **COMMON, engine="stream")
    for ask in (
        lambda: result.report(examples=True),
        lambda: result.explain(0, "age"),
        lambda: result.transform(people(10)),
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


def test_a_recipe_keeps_who_does_the_work(tmp_path):
    recipe = shoal.Anonymizer(k=5, quasi_identifiers=["age"], engine="stream", memory="2GB")
    recipe.save(tmp_path / "recipe.toml")
    again = shoal.Anonymizer.load(tmp_path / "recipe.toml")
    assert (again.engine, again.memory) == ("stream", "2GB")


def test_a_streamed_release_has_a_sidecar_where_asked(path, tmp_path):
    shoal.Anonymizer(**COMMON).stream(path, tmp_path / "release.parquet", sidecar=True, workers=1)
    assert json.loads((tmp_path / "release.parquet.json").read_text())["audit"]["k"] >= 5
    assert only(tmp_path, "people.parquet", "release.parquet", "release.parquet.json", "rooms")
