"""The report of a streamed release: what the report in memory says, where both see all groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq
import pytest

import shoal
from shoal.engines.stream import excerpts
from shoal.errors import ParameterError, PublicationWarning
from shoal.summary.found_people import GroupSizes, merge_sizes
from tests.engines.tables import people
from tests.engines.test_stream import COMMON
from tests.support.panels import QUASI, panel

pytestmark = pytest.mark.usefixtures("small_batches", "small_fragments")
ALIKE = (
    "records",
    "released",
    "withheld",
    "columns",
    "method",
    "promise",
    "reached",
    "group_sizes",
    "recipe",
    "warnings",
)


def summaries(tmp_path, table, **parameters):
    """Return the summaries of a table's release in memory and streamed."""
    papq.write_table(table, tmp_path / "table.parquet")
    given = COMMON | parameters
    streamed = shoal.anonymize(tmp_path / "table.parquet", **given, engine="stream")
    return shoal.anonymize(table, **given).report().summary, streamed.report().summary


@pytest.mark.parametrize("ends", ["exact", "round"])
def test_a_streamed_report_says_what_one_in_memory_says(tmp_path, ends):
    expected, found = summaries(tmp_path, people(900), ends=ends)
    for name in ALIKE:
        one, other = getattr(found, name), getattr(expected, name)
        if name == "columns":
            one, other = ([column.model_dump() for column in columns] for columns in (one, other))
            assert [column["name"] for column in one] == [column["name"] for column in other]
            for mine, its in zip(one, other, strict=True):
                assert _figures(mine) == pytest.approx(_figures(its), abs=0.02)
                assert (mine["role"], mine["released_as"], mine["ends"]) == (
                    its["role"],
                    its["released_as"],
                    its["ends"],
                )
        elif name != "recipe":
            assert one == other, name
    assert (found.found.before, found.found.after) == (expected.found.before, expected.found.after)
    assert found.loss.ncp == pytest.approx(expected.loss.ncp, rel=1e-9)
    assert {one.attack for one in found.attacks} <= {"downcoding"}
    assert len(found.associations) == len(expected.associations) > 0


def _figures(column):
    """Return all numbers of a column's part of the summary."""
    spread = column["distribution"]
    if spread is None:
        return [column["loss"] or 0.0]
    bins = [one[side] for one in sorted(spread["bins"], key=lambda one: one["label"]) for side in ("before", "after")]
    return [
        column["loss"] or 0.0,
        *bins,
        spread["missing_before"] or 0,
        spread["missing_after"],
        spread["hidden_after"],
    ]


@pytest.mark.parametrize("method", ["datafly", shoal.SBCA(rest="suppress")])
def test_too_few_withheld_records_are_left_out_of_a_streamed_report(tmp_path, method):
    rows = [row for row in range(90) for _ in range(3)]
    table = pa.table(
        {
            "age": [20 + 7 * (row % 3) for row in rows] + [99],
            "zip": ["100" if row % 2 else "200" for row in rows] + ["900"],
            "ill": [["flu", "cold", "gout"][place % 3] for place in range(len(rows))] + ["SECRETITIS"],
        }
    )
    given = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"], "keep": [], "identifiers": [], "k": 4}
    given |= {"hierarchies": {"age": "flat", "zip": "flat"}, "method": method, "max_suppression": 0.1}
    expected, found = summaries(tmp_path, table, **given)
    assert (found.records, found.withheld) == (expected.records, expected.withheld)
    assert found.withheld is None
    assert found.records == found.released < table.num_rows
    assert found.found.before == expected.found.before
    assert found.group_sizes == expected.group_sizes
    assert {one.name: one.loss for one in found.columns} == {one.name: one.loss for one in expected.columns}
    measured = [{one.name: one.value for one in each.loss.metrics} for each in (found, expected)]
    assert measured[0] == pytest.approx({name: measured[1][name] for name in measured[0]})
    assert "SECRETITIS" not in found.model_dump_json()


def test_people_are_counted_in_a_streamed_report(tmp_path):
    table = panel(120, most=3)
    given = {"quasi_identifiers": QUASI, "sensitive": ["ill"], "identifiers": ["hh", "w"], "person": "nr"}
    expected, found = summaries(tmp_path, table, **given, hierarchies={}, k=4)
    assert found.found == expected.found.model_copy(update={"by_columns": []})
    assert found.group_sizes == expected.group_sizes
    assert found.warnings == expected.warnings


def test_a_large_release_tells_some_whole_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(excerpts, "_SHOWN", 300)
    expected, found = summaries(tmp_path, people(900))
    assert found.records == 900
    assert found.group_sizes == expected.group_sizes
    age = next(one.distribution for one in found.columns if one.name == "age")
    assert 150 < sum(one.before for one in age.bins) < 450
    assert sum(one.before for one in age.bins) == pytest.approx(sum(one.after for one in age.bins), abs=25)


def test_whole_groups_are_chosen_and_withheld_records_one_by_one():
    labels, up_to = np.repeat(np.arange(200, dtype=np.int32), 5), int(0.3 * 2.0**64)
    chosen = excerpts.choose_groups(labels, 3, 0, up_to).reshape(200, 5)
    assert (chosen.all(axis=1) == chosen.any(axis=1)).all()
    assert 0.2 < chosen.mean() < 0.4
    assert (chosen.reshape(-1) != excerpts.choose_groups(labels, 4, 0, up_to)).any()
    assert 0.2 < excerpts.choose_groups(np.full(1000, -1, np.int32), 3, 0, up_to).mean() < 0.4


@pytest.mark.parametrize(("groups", "drawn"), [([3], 3), ([1, 0, 2, 1], 4), ([40, 50], 10), ([0], 0)])
def test_of_few_groups_all_are_chosen_and_of_many_some(monkeypatch, groups, drawn):
    monkeypatch.setattr(excerpts, "_SHOWN", 0)
    up_to = excerpts.shown_up_to(10**8, groups, 5)
    chosen = [
        excerpts.choose_groups(np.arange(count, dtype=np.int32), number, 5, up_to)
        for number, count in enumerate(groups)
    ]
    assert sum(int(one.sum()) for one in chosen) == drawn


@pytest.mark.parametrize("method", ["optimize", "datafly"])
def test_a_report_of_few_groups_tells_them_all(tmp_path, monkeypatch, method):
    monkeypatch.setattr(excerpts, "_SHOWN", 0)
    given = {"k": 200, "method": method, "hierarchies": COMMON["hierarchies"] | {"tongue": "flat"}}
    given |= {"quasi_identifiers": ["town", "blood", "tongue"], "identifiers": ["note", "age", "height"]}
    expected, found = summaries(tmp_path, people(900), **given)
    for mine, its in zip(found.columns, expected.columns, strict=True):
        assert (mine.name, mine.loss) == (its.name, its.loss if its.loss is None else pytest.approx(its.loss))
        assert mine.distribution == its.distribution


def test_sizes_of_groups_add_up():
    parts = [GroupSizes.of(np.array(sizes)) for sizes in ([1, 1, 3], [3, 2], [7])]
    merged = merge_sizes(parts)
    assert dict(zip(merged.size.tolist(), merged.groups.tolist(), strict=True)) == {1: 2, 2: 1, 3: 2, 7: 1}
    assert merged.records == 17


@pytest.mark.filterwarnings("ignore::shoal.errors.RepeatedPersonWarning")
def test_what_to_look_at_before_publishing_is_said_of_a_streamed_release_too(tmp_path):
    table = people(600)
    owner = pa.array([f"p{number // 3:05}" for number in range(600)])
    table = table.append_column("patient_id", owner)
    papq.write_table(table, tmp_path / "people.parquet")
    given = COMMON | {"identifiers": ["patient_id"], "keep": ["note"]}
    with pytest.warns(PublicationWarning) as streamed:
        made = shoal.Anonymizer(**given).stream(tmp_path / "people.parquet", tmp_path / "release.parquet", workers=1)
    with pytest.warns(PublicationWarning) as in_memory:
        shoal.anonymize(table, **given)
    said = [str(one.message) for one in in_memory]
    assert any("600 of its values occur only once" in one for one in said)
    assert [str(one.message) for one in streamed if "only once" in str(one.message)] == [
        one for one in said if "only once" in one
    ]
    assert any("“patient_id” seems to name 34 people in the first 100 records" in one for one in made.warnings)


def test_a_report_is_written_beside_the_release(tmp_path):
    papq.write_table(people(400), tmp_path / "people.parquet")
    recipe = shoal.Anonymizer(**COMMON)
    recipe.stream(tmp_path / "people.parquet", tmp_path / "out", report=tmp_path / "report.md", workers=1)
    assert "400 records" in (tmp_path / "report.md").read_text("utf-8")
    with pytest.raises(ParameterError, match="rows of the original"):
        shoal.anonymize(tmp_path / "people.parquet", **COMMON, engine="stream").report(examples=True)
