"""Rooms for temporary files, and what becomes of them when a program is killed."""

from __future__ import annotations

import os

import pytest

from shoal.io.workroom import Workroom, remove_leftovers

FILES = ("a.rows", "b.rows", "c.rows", "inner/d.rows")


class KilledError(BaseException):
    """What a killed program does: nothing more."""


def filled_room(folder):
    room = Workroom(folder)
    (room.path / "inner").mkdir()
    for name in FILES:
        (room.path / name).write_text("confidential")
    return room


def killed_after(count, monkeypatch):
    """Let a program be killed when it has removed so many files and folders."""
    left = [count]

    def watched(remove):
        def removing(*arguments, **named):
            if left[0] == 0:
                raise KilledError
            left[0] -= 1
            return remove(*arguments, **named)

        return removing

    for name in ("unlink", "rmdir", "remove"):
        monkeypatch.setattr(os, name, watched(getattr(os, name)))


@pytest.mark.parametrize("count", range(len(FILES) + 2))
def test_a_room_whose_owner_is_killed_while_it_removes_it_is_removed_by_the_next(count, tmp_path, monkeypatch):
    room = filled_room(tmp_path)
    with monkeypatch.context() as patched:
        killed_after(count, patched)
        with pytest.raises(KilledError):
            room.close()
    os.close(room._handle)  # as the system does
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_room_that_is_closed_is_gone_and_one_in_use_stays(tmp_path):
    room, other = filled_room(tmp_path), filled_room(tmp_path)
    room.close()
    room.close()
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == [other.path]
    other.close()
    assert list(tmp_path.iterdir()) == []
