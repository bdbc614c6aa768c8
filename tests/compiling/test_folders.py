from __future__ import annotations

import os
import stat

import pytest

from shoal.compiling import folders
from shoal.compiling.folders import Key, open_store, others_may_write
from shoal.errors import ShoalWarning

KEY = Key("mondrian.run", ("int64", "x86-64-v3", "numba 0.0"))
posix = pytest.mark.skipif(os.name != "posix", reason="rights of owner, group and others are POSIX's")


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path / "deep" / "kernels")


def the_file(store):
    (path,) = store.folder.iterdir()
    return path


def test_what_was_written_is_read(store):
    store.write(KEY, b"machine code")
    assert store.read(KEY) == b"machine code"
    assert store.holds(KEY)


def test_nothing_is_read_where_nothing_was_written(store):
    assert store.read(KEY) is None
    assert not store.holds(KEY)


@posix
def test_a_folder_is_made_for_its_owner_alone(store):
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    store.write(KEY, b"code")
    assert stat.S_IMODE(the_file(store).stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("rights", [0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_refused(tmp_path, rights):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(rights)
    with pytest.warns(ShoalWarning, match="can be written by others"):
        assert open_store(folder) is None


@posix
def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    if folder.stat().st_uid == 0:  # what the administrator owns may be trusted; nobody else's
        assert not others_may_write(folder.stat())
        os.chown(folder, 12345, -1)
    with pytest.warns(ShoalWarning, match="can be written by others"):
        assert open_store(folder) is None


@posix
def test_a_group_of_its_own_may_write_and_another_may_not(tmp_path, monkeypatch):
    folder = tmp_path / "group"
    folder.mkdir()
    folder.chmod(0o770)
    for own in (True, False):
        monkeypatch.setattr(folders, "_is_own_group", lambda _number, own=own: own)
        assert others_may_write(folder.stat()) is not own


@posix
def test_a_file_that_others_may_write_is_no_kernel(store):
    store.write(KEY, b"machine code")
    the_file(store).chmod(0o606)
    assert store.read(KEY) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content[:10],
        lambda _content: b"",
        lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
        lambda content: content + b"\0",
    ],
    ids=["cut short", "cut very short", "empty", "one bit flipped", "something appended"],
)
def test_a_damaged_file_is_thrown_away(store, damage):
    store.write(KEY, b"machine code")
    path = the_file(store)
    path.write_bytes(damage(path.read_bytes()))
    assert store.read(KEY) is None
    assert not path.exists()


def test_a_file_under_another_key_s_name_is_no_kernel(store):
    store.write(KEY, b"machine code")
    other = Key(KEY.name, (*KEY.stamp[:-1], "numba 1.0"))
    the_file(store).rename(store.folder / other.file_name)
    assert store.read(other) is None


def test_a_key_s_parts_cannot_be_shifted():
    assert len({Key("a", ("bc", "d")).file_name, Key("a", ("b", "cd")).file_name, Key("ab", ("c", "d")).file_name}) == 3


def test_a_folder_that_cannot_be_made_gives_no_store(tmp_path):
    (tmp_path / "file").write_text("")
    assert open_store(tmp_path / "file" / "kernels") is None


def test_a_folder_that_cannot_be_written_is_still_read(store, monkeypatch):
    store.write(KEY, b"machine code")
    monkeypatch.setattr(folders, "_may_write", lambda _folder: False)
    read_only = open_store(store.folder)
    assert not read_only.writable
    assert read_only.read(KEY) == b"machine code"
    path = the_file(store)
    path.write_bytes(b"damaged")
    assert read_only.read(KEY) is None
    assert path.exists()
    read_only.write(KEY, b"new")
    assert path.read_bytes() == b"damaged"


def test_a_full_disk_leaves_no_file_and_no_error(store, monkeypatch):
    def refuse(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.Path, "replace", refuse)
    store.write(KEY, b"machine code")
    assert not any(store.folder.iterdir())


def test_the_folder_named_by_the_user_is_the_only_one(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_CACHE_DIR", str(tmp_path))
    assert list(folders.user_folders()) == [tmp_path]


def test_the_cache_folder_of_the_system_comes_before_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SHOAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
    monkeypatch.setattr(folders.Path, "home", lambda: tmp_path / "home")
    assert list(folders.user_folders()) == [tmp_path / "system" / "shoal", tmp_path / "home" / ".cache" / "shoal"]
