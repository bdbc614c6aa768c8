"""Streamed releases of what cannot be done fragment by fragment: codes in memory, rows on disk."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import shoal
from shoal.engines.stream import engine, spool
from shoal.errors import ParameterError
from shoal.treatments.pseudonyms import make_key
from tests.engines.tables import HIERARCHIES, people
from tests.engines.test_stream import COMMON, in_memory, only, rows_of, streamed, write

pytestmark = [
    pytest.mark.usefixtures("small_batches"),
    pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning"),
]

PERSONS = {"person": "who", "quasi_identifiers": ["age", "town"], "hierarchies": {"town": HIERARCHIES["town"]}}


def panel(records):
    """Return a table of people who have about three records each, with a household, a survey weight and a cost."""
    draw = np.random.default_rng(4)
    table = people(records)
    return (
        table.append_column("who", pa.array((draw.permutation(records) // 3).astype(str)))
        .append_column("home", pa.array(draw.permutation(records) // 9))
        .append_column("weight", pa.array(np.round(draw.gamma(3.0, 10.0, records) + 1, 1)))
        .append_column("cost", pa.array(draw.integers(0, 5000, records)))
    )


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(
    "parameters",
    [
        {"method": "mondrian"},
        {"method": "datafly", "quasi_identifiers": ["town"], "hierarchies": {"town": HIERARCHIES["town"]}},
        {"method": "mdav", "release": "ranges", "quasi_identifiers": ["age", "height"], "hierarchies": {}},
        {"models": [shoal.DeltaDisclosure(3.0)]},
        {"widen": 0.3},
        {"ends": "round", "method": "mondrian", "max_suppression": 0.1},
        PERSONS,
        PERSONS | {"models": [shoal.LDiversity(2), shoal.TCloseness(0.5)]},
        PERSONS | {"together": True, "method": "mondrian"},
        PERSONS | {"household": "home", "method": "mondrian"},
        {"survey_weight": "weight"},
        PERSONS | {"survey_weight": "weight", "keep": ["weight"]},
    ],
    ids=str,
)
def test_what_needs_the_whole_table_is_streamed_with_its_codes_in_memory(tmp_path, parameters):
    table = panel(600)
    expected = in_memory(table, **parameters)
    made = streamed(write(table, tmp_path / "people.parquet"), tmp_path / "release.parquet", **parameters)
    assert rows_of(papq.read_table(made.path)) == rows_of(expected.released)
    assert made.metrics["ncp"] == pytest.approx(expected.metrics["ncp"], rel=1e-9)
    assert (made.audit.k, made.audit.persons, made.audit.households) == (
        expected.audit.k,
        expected.audit.persons,
        expected.audit.households,
    )
    assert made.audit.sensitive["illness"] == pytest.approx(expected.audit.sensitive["illness"])
    assert made.audit.represented == pytest.approx(expected.audit.represented)


def test_columns_are_treated_and_released_as_tokens_as_in_memory(tmp_path):
    key = make_key(tmp_path / "key.bin")
    parameters = {
        "keep": ["cost"],
        "treat": {"cost": shoal.Round(500)},
        "pseudonymize": ["who"],
        "key": key,
    }
    table = panel(500)
    expected = in_memory(table, **parameters)
    made = streamed(write(table, tmp_path / "people.parquet"), tmp_path / "release.parquet", **parameters)
    assert rows_of(papq.read_table(made.path)) == rows_of(expected.released)
    assert made.treated == expected.treated


def test_a_table_whose_codes_do_not_fit_is_refused_before_groups_are_sought(tmp_path):
    path = write(people(300), tmp_path / "people.parquet")
    recipe = shoal.Anonymizer(**COMMON | {"method": "mondrian"})
    with pytest.raises(ParameterError, match="needs the codes of all records at once"):
        recipe.stream(path, tmp_path / "release.parquet", memory="10KB", workers=1)
    assert only(tmp_path, "people.parquet")


def test_a_parquet_file_too_large_for_people_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = write(people(300), tmp_path / "people.parquet")
    monkeypatch.setattr(engine, "fill_spool", lambda *_: pytest.fail("the table was read"))
    recipe = shoal.Anonymizer(**COMMON | {"identifiers": [], "person": "note"})
    with pytest.raises(ParameterError, match="needs the codes of all records at once"):
        recipe.stream(path, tmp_path / "release.parquet", memory="10KB", workers=1)
    assert only(tmp_path, "people.parquet")


def test_a_source_that_does_not_tell_its_records_is_read_first(tmp_path):
    (tmp_path / "damaged.parquet").write_bytes(b"no table")
    (tmp_path / "people.csv").write_text("age\n1\n")
    write(people(30), tmp_path / "people.parquet")
    found = [
        spool.known_records(tmp_path / name) for name in ("people.parquet", "damaged.parquet", "people.csv", "none")
    ]
    assert found == [30, 0, 0, 0]
    assert spool.known_records("postgresql://host/db") == 0
