"""Where a release lies until it has its name. No Spark is needed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyarrow import fs

from shoal.engines.spark import staging
from shoal.engines.spark.result import _take_table_name
from shoal.engines.spark.sessions import usual_tasks
from shoal.engines.spark.staging import written_beside
from shoal.errors import DataError
from shoal.io.folder_guard import remove_for_good


class ObjectStore:
    """A file system of this machine that moves files only, and notes their order."""

    type_name = "s3"

    def __init__(self):
        self.local, self.moved, self.fails_at = fs.LocalFileSystem(), [], None

    def get_file_info(self, place):
        return self.local.get_file_info(place)

    def delete_dir(self, path):
        self.local.delete_dir(path)

    def move(self, source, path):
        assert self.local.get_file_info(source).type == fs.FileType.File, "object stores have no folders to move"
        if source.endswith(self.fails_at or "\0"):
            raise OSError("no connection")
        self.local.create_dir(path.rpartition("/")[0])
        self.local.move(source, path)
        self.moved.append(path.rpartition("/")[2])


@pytest.fixture
def store(monkeypatch):
    """Return a store in which all addresses are."""
    made = ObjectStore()
    monkeypatch.setattr(staging, "open_address", lambda address: (made, address))
    return made


def write(folder, *names):
    made = fs.LocalFileSystem()
    made.create_dir(folder)
    for name in names:
        with made.open_output_stream(f"{folder}/{name}") as file:
            file.write(b"rows")


def test_a_folder_of_an_object_store_moves_file_by_file_and_its_mark_last(store, tmp_path):
    target = tmp_path / "release"
    with written_beside(str(target)) as written:
        write(written, "_SUCCESS", "part-1", "part-0")
    assert store.moved == ["part-0", "part-1", "_SUCCESS"]
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    with written_beside(str(target)) as written:
        write(written, "_SUCCESS", "part-9")
    assert sorted(path.name for path in target.iterdir()) == ["_SUCCESS", "part-9"]
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_move_that_fails_half_way_leaves_nothing(store, tmp_path):
    store.fails_at = "part-1"
    with pytest.raises(OSError, match="no connection"), written_beside(str(tmp_path / "release")) as written:
        write(written, "_SUCCESS", "part-0", "part-1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails_at", ["old-1", "new-1"])
def test_an_earlier_release_is_as_it_was_where_a_new_one_cannot_have_its_name(store, tmp_path, fails_at):
    target = tmp_path / "release"
    write(str(target), "_SUCCESS", "old-0", "old-1")
    store.fails_at = fails_at
    with pytest.raises(OSError, match="no connection"), written_beside(str(target)) as written:
        write(written, "_SUCCESS", "new-0", "new-1")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert sorted(path.name for path in target.iterdir()) == ["_SUCCESS", "old-0", "old-1"]


class Watched:
    """A watcher in whose time a task that has not heard of the fault writes once more."""

    def __init__(self, folder):
        self.folder, self.ended = folder, False

    def end(self):
        self.ended = True

    def remove(self):
        write(str(self.folder), "part-0")
        remove_for_good(str(self.folder), between=0.0)
        self.end()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def fail_in(written, fault):
    write(written, "part-1")
    raise fault


@pytest.mark.parametrize("fault", [RuntimeError("the JVM is gone"), KeyboardInterrupt(), DataError("not as counted")])
def test_after_a_fault_nothing_stays_that_tasks_write_on(tmp_path, monkeypatch, fault):
    watched = []
    monkeypatch.setattr(staging, "Watch", lambda address: watched.append(Watched(address)) or watched[-1])
    with pytest.raises(type(fault)), written_beside(str(tmp_path / "release")) as written:
        fail_in(written, fault)
    assert watched[0].ended
    assert list(tmp_path.iterdir()) == []
    place = staging.Staging(None, str(tmp_path))
    write(place.address, "part-1")
    place.close_after(fault)
    assert watched[1].ended
    assert list(tmp_path.iterdir()) == []


class Catalog:
    """A catalogue of tables that refuses to give a new one its name."""

    def __init__(self, *names):
        self.names, self.catalog = set(names), self

    def tableExists(self, name):
        return name in self.names

    def sql(self, text):
        _, _, old, *_, new = text.split()
        if old == "written":
            raise OSError("no connection")
        self.names = self.names - {old} | {new}


def test_an_earlier_table_has_its_name_again_where_a_new_one_cannot_have_it():
    spark = Catalog("released", "written")
    with pytest.raises(OSError, match="no connection"):
        _take_table_name(spark, "written", "released")
    assert spark.names == {"released", "written"}


@pytest.mark.parametrize(("asked", "tasks"), [("8", 8), ("auto", 200)])
def test_the_number_of_tasks_is_that_of_the_settings_or_of_spark_itself(asked, tasks):
    session = SimpleNamespace(conf={"spark.sql.shuffle.partitions": asked})
    assert usual_tasks(SimpleNamespace(sparkSession=session)) == tasks
