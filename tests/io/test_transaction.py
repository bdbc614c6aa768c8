from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.io import transaction
from shoal.io.targets import check_target
from shoal.io.transaction import Transaction, replacing


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_target_is_replaced_only_when_forced(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(FileError, match="exists"), replacing(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "old"
    with replacing(target, force=True) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert left_in(tmp_path) == ["out.csv"]


def test_a_target_that_appears_meanwhile_is_left_as_it_is(tmp_path):
    target = tmp_path / "out.csv"
    with pytest.raises(FileError, match="exists"):  # noqa: PT012, SIM117  (the file appears within the block)
        with replacing(target) as temporary:
            temporary.write_text("new")
            target.write_text("somebody else's")
    assert target.read_text() == "somebody else's"


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError, SystemExit])
def test_an_interrupted_write_leaves_nothing(tmp_path, fault):
    with pytest.raises(fault):  # noqa: PT012, SIM117  (the fault strikes within the block)
        with replacing(tmp_path / "out.csv") as temporary:
            temporary.write_text("half")
            raise fault
    assert left_in(tmp_path) == []


def test_targets_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    for target, text in [
        (tmp_path / "none" / "out.csv", "does not exist"),
        (tmp_path / "file" / "out.csv", "does not exist"),
        (tmp_path, "is a folder"),
    ]:
        with pytest.raises(FileError, match=text):
            check_target(target)


def test_too_little_disk_space_is_said_before_anything_is_written(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(FileError, match="Not enough disk space"), replacing(tmp_path / "out.csv", needs=11):
        pass
    assert left_in(tmp_path) == []


def test_a_disk_that_fills_up_while_writing_is_said_in_a_sentence(tmp_path):
    with pytest.raises(FileError, match="Not enough disk space"), replacing(tmp_path / "out.csv"):
        raise OSError(28, "No space left on device")
    assert left_in(tmp_path) == []


# --- several files -----------------------------------------------------------------------------------------------


def three_files(folder, **settings):
    files = Transaction(**settings)
    names = [folder / name for name in ("release.csv", "release.csv.json", "report.html")]
    files.add(names[0], last=True)
    for name in names[1:]:
        files.add(name)
    return files, names


def write_all(files, names, text="new"):
    for name in names:
        files.temporary(name).write_text(text)


def test_all_files_appear_together_and_the_release_last(tmp_path, monkeypatch):
    named = []
    usual = transaction._give_name
    monkeypatch.setattr(transaction, "_give_name", lambda *w, **m: (named.append(w[1].name), usual(*w, **m))[1])
    files, names = three_files(tmp_path)
    with files:
        write_all(files, names)
        assert all(name.startswith(".shoal-") for name in left_in(tmp_path))
    assert named == ["release.csv.json", "report.html", "release.csv"]
    assert left_in(tmp_path) == ["release.csv", "release.csv.json", "report.html"]
    assert files.named


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_if_one_file_cannot_have_its_name_none_gets_one(tmp_path, monkeypatch, force, failing):
    if force:
        (tmp_path / "report.html").write_text("old")
    before = {name: (tmp_path / name).read_text() for name in left_in(tmp_path)}
    usual, calls = transaction._give_name, []

    def refusing(temporary, place, *, force):
        calls.append(place)
        if len(calls) == failing + 1:
            raise OSError(errno.EIO, "broken")
        return usual(temporary, place, force=force)

    monkeypatch.setattr(transaction, "_give_name", refusing)
    files, names = three_files(tmp_path, force=force)
    with pytest.raises(OSError, match="broken"), files:
        write_all(files, names)
    assert {name: (tmp_path / name).read_text() for name in left_in(tmp_path)} == before
    assert not files.named


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_between_two_names_waits_for_all_of_them(tmp_path, monkeypatch, request, number):
    def interrupt(*_):
        raise KeyboardInterrupt

    usual = transaction._give_name

    def struck(*words, **more):
        os.kill(os.getpid(), number)
        return usual(*words, **more)

    before = signal.signal(number, interrupt)
    request.addfinalizer(lambda: signal.signal(number, before))
    monkeypatch.setattr(transaction, "_give_name", struck)
    files, names = three_files(tmp_path)
    with pytest.raises(KeyboardInterrupt), files:
        write_all(files, names)
    assert left_in(tmp_path) == ["release.csv", "release.csv.json", "report.html"]
    assert files.named
    assert signal.getsignal(number) is interrupt


def test_a_file_system_without_links_gets_the_same_files(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refused)
    for force, text in ((False, "new"), (True, "newer")):
        files, names = three_files(tmp_path, force=force)
        with files:
            write_all(files, names, text)
        assert {(tmp_path / name).read_text() for name in left_in(tmp_path)} == {text}


def test_a_file_in_a_new_folder_brings_its_folder(tmp_path):
    files = Transaction()
    files.add(tmp_path / "recipe.toml", last=True)
    files.add(tmp_path / "trees" / "zip.csv", make_folder=True)
    with files:
        write_all(files, [tmp_path / "recipe.toml", tmp_path / "trees" / "zip.csv"])
        assert not (tmp_path / "trees").exists()
    assert left_in(tmp_path) == ["recipe.toml", "trees"]
    assert left_in(tmp_path / "trees") == ["zip.csv"]


def test_a_new_folder_gets_its_name_with_all_its_files_in_it(tmp_path, monkeypatch):
    names = [tmp_path / "parts" / f"{number}.csv" for number in range(3)]
    files, seen, give = Transaction(), [], transaction._give_name
    for name in names:
        files.add(name, make_folder=True)

    def look(*given, **named):
        undo = give(*given, **named)
        seen.append(left_in(tmp_path / "parts"))
        return undo

    monkeypatch.setattr(transaction, "_give_name", look)
    with files:
        write_all(files, names)
    assert seen == [["0.csv", "1.csv", "2.csv"]]


def test_a_folder_that_came_meanwhile_is_left_as_it_is(tmp_path):
    files = Transaction()
    files.add(tmp_path / "first.csv")
    files.add(tmp_path / "parts" / "0.csv", make_folder=True)
    with pytest.raises(FileError, match="exists"), files:  # noqa: PT012  (the folder appears within the block)
        write_all(files, [tmp_path / "first.csv", tmp_path / "parts" / "0.csv"])
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "0.csv").write_text("another's")
    assert left_in(tmp_path) == ["parts"]
    assert (tmp_path / "parts" / "0.csv").read_text() == "another's"


# --- leftovers of killed programs --------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from shoal.io.transaction import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print("writing", flush=True)
    {then}
"""


def start(target, then):
    command = [sys.executable, "-c", KILLED.format(then=then), str(target)]
    environment = os.environ | {"PYTHONPATH": str(Path(transaction.__file__).parents[2])}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def test_what_a_killed_program_left_is_removed_by_the_next(tmp_path):
    killed = start(tmp_path / "one.csv", "os.kill(os.getpid(), signal.SIGKILL)")
    killed.communicate()
    assert len(left_in(tmp_path)) == 1
    (tmp_path / ".shoal-empty").mkdir()
    with replacing(tmp_path / "two.csv") as temporary:
        temporary.write_text("whole")
    assert left_in(tmp_path) == ["two.csv"]


def test_what_a_living_program_writes_is_left_alone(tmp_path):
    living = start(tmp_path / "one.csv", "sys.stdin.readline()")
    assert living.stdout.readline() == "writing\n"
    with replacing(tmp_path / "two.csv") as temporary:
        temporary.write_text("whole")
    living.communicate("go on\n")
    assert living.returncode == 0
    assert left_in(tmp_path) == ["one.csv", "two.csv"]


# --- targets that are refused ------------------------------------------------------------------------------------


def test_two_targets_that_are_one_file_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "a.csv").write_text("a")
    os.link(tmp_path / "a.csv", tmp_path / "b.csv")
    for one, other in [
        ("x.csv", "x.csv"),
        ("x.csv", "./link/x.csv"),
        ("x.csv", "X.CSV"),
        ("\u00e9.csv", "e\u0301.csv"),
        ("a.csv", "b.csv"),
    ]:
        files = Transaction(force=True)
        files.add(tmp_path / one)
        with pytest.raises(FileError, match="are one file"):
            files.add(tmp_path / other)


def test_an_input_by_any_path_is_no_target(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(table)
    os.link(table, tmp_path / "second.csv")
    for name in ("table.csv", "link.csv", "second.csv"):
        with pytest.raises(FileError, match="is an input of this call"):
            Transaction(force=True, inputs=[table]).add(tmp_path / name)


def test_links_that_lead_nowhere_are_refused_and_others_followed(tmp_path):
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "gone.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "pool.csv")
    (tmp_path / "pool.csv").symlink_to(tmp_path / "loop.csv")
    for name in ("dangling.csv", "loop.csv"):
        with pytest.raises(FileError, match="a link that leads nowhere"):
            check_target(tmp_path / name, force=True)
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "good.csv").symlink_to(tmp_path / "real.csv")
    with replacing(tmp_path / "good.csv", force=True) as temporary:
        temporary.write_text("new")
    assert (tmp_path / "good.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0b.csv", ".shoal-mine.csv"])
def test_names_that_no_file_can_have_are_refused(tmp_path, name):
    with pytest.raises(FileError, match=r"cannot be the name of a file|temporary files"):
        check_target(tmp_path / name)


def test_the_longest_name_a_file_can_have_is_written(tmp_path):
    target = tmp_path / ("x" * 251 + ".csv")
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_what_is_no_ordinary_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(FileError, match="not an ordinary file"):
        check_target(tmp_path / "pipe.csv", force=True)
