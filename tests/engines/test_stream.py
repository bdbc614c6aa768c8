"""Releases from file to file: the same groups as in memory, and nothing left behind."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as papq
import pytest

import shoal
from shoal.engines.stream import batches, engine, spool, tasks
from shoal.errors import CancelledError, ColumnError, DataError, FileError, ParameterError, PrivacyError
from shoal.io.files import open_table
from shoal.privacy import PrivacyModel, Requirement
from tests.engines.tables import HIERARCHIES, QUASI_IDENTIFIERS, people

MODELS = (shoal.LDiversity(2), shoal.TCloseness(0.4))
COMMON = {
    "k": 5,
    "quasi_identifiers": QUASI_IDENTIFIERS,
    "sensitive": ["illness"],
    "identifiers": ["note"],
    "hierarchies": HIERARCHIES,
    "effort": "fast",
}


pytestmark = pytest.mark.usefixtures("small_batches")


def rows_of(table):
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=repr)


def in_memory(table, **parameters):
    return shoal.anonymize(table, **COMMON | parameters)


def streamed(source, target, workers=1, **parameters):
    return shoal.Anonymizer(**COMMON | parameters).stream(source, target, workers=workers)


def write(table, path):
    papq.write_table(table, path)
    return path


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize("models", [(), MODELS])
@pytest.mark.parametrize("ends", ["exact", "round", {"age": 7}])
def test_streamed_groups_are_those_in_memory_whatever_the_order_of_rows(tmp_path, models, ends):
    table = people(900)
    mixed = table.take(pa.array(np.random.default_rng(2).permutation(900)))
    expected = in_memory(table, models=models, ends=ends)
    made = streamed(write(mixed, tmp_path / "people.parquet"), tmp_path / "release.parquet", models=models, ends=ends)
    assert made.fragments == expected.details["fragments"] > 3
    assert rows_of(papq.read_table(made.path)) == rows_of(expected.released)
    assert made.metrics["ncp"] == pytest.approx(expected.metrics["ncp"], rel=1e-9)
    assert made.audit.k == expected.audit.k
    assert made.audit.sensitive["illness"] == pytest.approx(expected.audit.sensitive["illness"])


def test_a_small_table_has_the_groups_of_memory_in_the_order_of_its_rows(tmp_path):
    table = people(250)
    made = streamed(write(table, tmp_path / "people.parquet"), tmp_path / "release.csv")
    assert made.fragments == 1
    found = open_table(tmp_path / "release.csv").table
    assert rows_of(found) == rows_of(in_memory(table).released)


@pytest.mark.usefixtures("small_fragments")
def test_any_number_of_workers_gives_the_same_groups(tmp_path):
    path = write(people(700), tmp_path / "people.parquet")
    one = streamed(path, tmp_path / "one.parquet")
    two = streamed(path, tmp_path / "two.parquet", workers=2)
    assert rows_of(papq.read_table(one.path)) == rows_of(papq.read_table(two.path))
    assert one.metrics == two.metrics


@pytest.mark.usefixtures("small_fragments")
def test_text_files_and_folders_come_in_and_folders_of_parts_go_out(tmp_path):
    table = people(600)
    pacsv.write_csv(table, tmp_path / "people.csv")
    expected = in_memory(open_table(tmp_path / "people.csv"))
    made = streamed(tmp_path / "people.csv", tmp_path / "release")
    assert len(made.files) == 3
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [path.name for path in made.files]
    assert rows_of(papq.read_table(tmp_path / "release")) == rows_of(expected.released)
    (tmp_path / "parts").mkdir()
    for number in range(3):
        write(table[200 * number : 200 * number + 200], tmp_path / "parts" / f"{number}.parquet")
    again = streamed(tmp_path / "parts", tmp_path / "again.parquet")
    assert rows_of(papq.read_table(again.path)) == rows_of(in_memory(table).released)


@pytest.mark.usefixtures("small_fragments")
def test_rows_are_scattered_over_the_whole_release(tmp_path):
    made = streamed(
        write(people(900), tmp_path / "people.parquet"), tmp_path / "release", keep=["note"], identifiers=[]
    )
    first = papq.read_table(made.files[0]).column("note").to_pylist()
    assert len({int(one) // 100 for one in first}) > 5
    assert first != sorted(first, key=int)


def only(folder, *names):
    """Return whether a folder holds these names and nothing else, hidden ones included."""
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


@pytest.mark.usefixtures("small_fragments")
def test_scratch_is_private_and_removed(tmp_path, monkeypatch):
    seen = []

    def look(setting, stretches, target):
        room = target.parent
        seen.append((room.stat().st_mode & 0o777, {path.stat().st_mode & 0o777 for path in room.iterdir()}))
        return tasks.group_fragment(setting, stretches, target)

    monkeypatch.setattr(engine, "group_fragment", look)
    streamed(write(people(600), tmp_path / "people.parquet"), tmp_path / "release.parquet")
    assert {mode for mode, _ in seen} == {0o700}
    assert set.union(*(modes for _, modes in seen)) == {0o600}
    assert only(tmp_path, "people.parquet", "release.parquet")


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize("step", ["code_batch", "sort_batch", "group_fragment", "write_piece", "check_written"])
@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_whatever_goes_wrong_leaves_nothing(tmp_path, monkeypatch, step, fault):
    def fail(*_):
        raise fault

    monkeypatch.setattr(batches if step == "sort_batch" else engine, step, fail)
    with pytest.raises((KeyboardInterrupt, FileError)):
        streamed(write(people(600), tmp_path / "people.parquet"), tmp_path / "release.parquet")
    assert only(tmp_path, "people.parquet")


def test_a_cancelled_run_leaves_nothing(tmp_path):
    event = threading.Event()
    event.set()
    with pytest.raises(CancelledError):
        streamed(write(people(300), tmp_path / "people.parquet"), tmp_path / "release.parquet", cancel=event)
    assert only(tmp_path, "people.parquet")


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = write(people(300), tmp_path / "people.parquet")

    def touch(table, target):
        os.utime(path, ns=(1, 1))
        return spool_write(table, target)

    spool_write = spool.write_rows
    monkeypatch.setattr(spool, "write_rows", touch)
    with pytest.raises(DataError, match="changed while it was read"):
        streamed(path, tmp_path / "release.parquet")
    assert only(tmp_path, "people.parquet")


def test_a_damaged_part_and_parts_that_differ_are_refused(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    write(people(200), parts / "0.parquet")
    (parts / "1.parquet").write_bytes(b"no table")
    with pytest.raises(DataError, match="damaged"):
        streamed(parts, tmp_path / "release.parquet")
    write(people(200).drop_columns(["blood"]), parts / "1.parquet")
    with pytest.raises(DataError, match="different columns"):
        streamed(parts, tmp_path / "release.parquet")
    assert only(tmp_path, "parts")


def test_a_group_below_k_in_the_staged_rows_stops_the_release(tmp_path, monkeypatch):
    deal = tasks._deal

    def spoil(released, piles, target):
        cells = released.column("blood").to_pylist()
        deal(
            released.set_column(released.column_names.index("blood"), "blood", pa.array(["other", *cells[1:]])),
            piles,
            target,
        )

    monkeypatch.setattr(tasks, "_deal", spoil)
    with pytest.raises(PrivacyError, match="a group of 1"):
        streamed(write(people(300), tmp_path / "people.parquet"), tmp_path / "release.parquet")
    assert only(tmp_path, "people.parquet")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "mdav", "hierarchies": {}, "quasi_identifiers": ["age"]}, "representatives"),
        ({"models": [shoal.KMap(5, people(50))]}, "KMap"),
        ({"treat": {"illness": shoal.Drop()}}, "illness"),
    ],
)
def test_what_cannot_be_streamed_is_refused_before_any_work(tmp_path, parameters, words):
    with pytest.raises(ParameterError, match=f"cannot be streamed with .*{words}"):
        streamed(tmp_path / "not there.parquet", tmp_path / "release.parquet", **parameters)


@dataclass(frozen=True)
class Unknown(PrivacyModel):
    """A model of another package that says nothing of what it looks at: no group bears one illness alone."""

    def bind(self, table):
        return Several(table.attributes["illness"].codes)

    def describe(self):
        return "No group bears one illness alone."


@dataclass(frozen=True)
class Told(Unknown):
    """The same, and it says what it looks at."""

    looks_at = "group"


@dataclass(frozen=True)
class Separate(Told):
    """The same, and it says that fragments can keep it by themselves."""

    by_fragment = True


@dataclass(frozen=True)
class Several(Requirement):
    codes: np.ndarray

    def failing(self, labels, groups):
        least, most = np.full(groups, 99), np.full(groups, -1)
        np.minimum.at(least, labels[labels >= 0], self.codes[labels >= 0])
        np.maximum.at(most, labels[labels >= 0], self.codes[labels >= 0])
        return least == most


@pytest.mark.usefixtures("small_fragments")
@pytest.mark.parametrize(("model", "fragments"), [(Told(), 1), (Separate(), 4)])
def test_a_model_of_another_package_is_streamed_once_it_says_what_it_looks_at(tmp_path, model, fragments):
    path = write(people(600), tmp_path / "people.parquet")
    made = streamed(path, tmp_path / "release.parquet", models=[model])
    expected = in_memory(people(600), models=[model])
    assert made.fragments == expected.details.get("fragments", 1) >= fragments
    assert (made.fragments > 1) == model.by_fragment
    assert made.audit.k == expected.audit.k >= 5
    assert made.audit.sensitive["illness"]["l"] >= 2


def test_a_model_of_another_package_that_says_nothing_is_not_streamed(tmp_path):
    with pytest.raises(ParameterError, match="cannot be streamed with Unknown, which looks at more than the table"):
        streamed(tmp_path / "not there.parquet", tmp_path / "release.parquet", models=[Unknown()])


def test_targets_and_columns_are_checked_first(tmp_path):
    path = write(people(100), tmp_path / "people.parquet")
    with pytest.raises(FileError, match="is an input"):
        shoal.Anonymizer(**COMMON).stream(path, path, force=True)
    with pytest.raises(FileError, match=r"cannot be written as \.xlsx"):
        streamed(path, tmp_path / "release.xlsx")
    with pytest.raises(ColumnError, match="'nobody'"):
        streamed(path, tmp_path / "release.parquet", keep=["nobody"])
    with pytest.raises(ParameterError, match="'memory'"):
        shoal.Anonymizer(**COMMON).stream(path, tmp_path / "release.parquet", memory="much")
    with pytest.raises(ParameterError, match="gives a step for 'blood'"):
        streamed(path, tmp_path / "release.parquet", ends={"blood": 5})
    with pytest.raises(ParameterError, match="at most the number of records"):
        streamed(path, tmp_path / "release.parquet", k=101)
    assert only(tmp_path, "people.parquet")


def test_what_a_reader_feels_of_the_loss_is_missing_in_a_sentence(tmp_path):
    table = pa.table({"age": [20 + row % 30 for row in range(200)]})
    papq.write_table(table, tmp_path / "people.parquet")
    result = shoal.anonymize(tmp_path / "people.parquet", k=5, quasi_identifiers=["age"], engine="stream")
    with pytest.raises(ParameterError, match=r"A streamed release has no figures of what a reader feels of the loss"):
        _ = result.felt
