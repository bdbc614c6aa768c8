"""The short form of the campaign: the same draws in every run, and a checker that is seen to find faults."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import shoal
from tests.fuzz import signals
from tests.fuzz.checker import violations
from tests.fuzz.jobs import GLOBAL, make_job
from tests.fuzz.tables import try_table


@pytest.mark.parametrize("block", range(8))
def test_generated_tables_are_released_as_promised_or_refused(block):
    found = [try_table([7, number]) for number in range(12 * block, 12 * (block + 1))]
    assert [words for what, words in found if what in {"violations", "crashes"}] == []
    assert any(what == "kept" for what, _ in found)


@pytest.mark.parametrize("method", [*GLOBAL, "optimize", "mondrian", "k-member", "bottom-up"])
def test_models_of_a_population_hold_by_the_released_cells_alone(method):
    found = [try_table([13, number], [method], counting=True) for number in range(40)]
    assert [words for what, words in found if what in {"violations", "crashes"}] == []
    assert sum(what == "kept" for what, _ in found) >= 4


def released(number=0):
    """Return a generated job and its release, ranges and no models, in which something can be spoilt."""
    for place in range(number, 200):
        job = make_job([11, place], ["mondrian"])
        job.parameters |= {"release": "ranges", "models": [shoal.LDiversity(2)], "k": 2}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = shoal.anonymize(job.data, **job.parameters)
            except shoal.errors.ShoalError:
                continue
        if result.released.num_rows > 10 and not violations(job, result):
            return job, result
    raise AssertionError


def spoil(result, name, change):
    table = result.released
    column = change(table.column(name).to_pylist())
    place = table.column_names.index(name)
    object.__setattr__(result, "released", table.set_column(place, name, pa.array(column, table.column(name).type)))


def test_the_checker_sees_a_record_that_stands_alone():
    job, result = released()
    spoil(result, job.parameters["quasi_identifiers"][0], lambda cells: ["*" if cells[0] != "*" else "x", *cells[1:]])
    assert any("a group of 1" in one for one in violations(job, result))


def test_the_checker_sees_sensitive_values_that_moved():
    job, result = released()
    rows = result.released.column("row").to_pylist()
    spoil(result, "row", lambda _: np.roll(rows, 1).tolist())
    assert violations(job, result)


def test_the_checker_sees_a_doubled_row():
    job, result = released()
    spoil(result, "row", lambda rows: [rows[1], *rows[1:]])
    assert "rows were made up or doubled" in violations(job, result)


def test_the_checker_sees_a_model_that_does_not_hold():
    job, result = released()
    job.parameters["models"] = [shoal.LDiversity(50)]
    assert any("LDiversity does not hold" in one for one in violations(job, result))


def test_the_checker_sees_cells_that_do_not_stand_for_their_values():
    job, result = released()
    for name in job.parameters["quasi_identifiers"]:
        spoil(result, name, lambda cells: ["no such value"] * len(cells))
    assert any("do not stand for their values" in one for one in violations(job, result))


def test_files_that_are_not_whole_are_seen(tmp_path):
    assert signals.fault_in(tmp_path) is None
    (tmp_path / ".shoal-left-by-a-kill").write_text("half")
    assert signals.fault_in(tmp_path) is None
    (tmp_path / "recipe.toml").write_text("k = 3")
    assert "without a release" in signals.fault_in(tmp_path)
    (tmp_path / "release.csv").write_text("age,job,ill\n1,a,x\n")
    assert "a release with only" in signals.fault_in(tmp_path)
    (tmp_path / "release.datapackage.json").write_text("{}")
    (tmp_path / "report.html").write_text("")
    assert "not whole or not anonymous" in signals.fault_in(tmp_path)
