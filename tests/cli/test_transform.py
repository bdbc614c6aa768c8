"""``shoal transform``: new records recoded like an earlier release, counted before they are written."""

from __future__ import annotations

import csv

import pytest

JOBS = "nurse;care;*\nmedic;care;*\nbaker;craft;*\nsmith;craft;*\n"


@pytest.fixture
def january(tmp_path):
    """Return a folder with a table, a hierarchy and new records that hide among each other."""
    (tmp_path / "jobs.csv").write_text(JOBS, "utf-8")
    jobs = ["nurse"] * 6 + ["baker"] + ["smith"] * 5
    (tmp_path / "january.csv").write_text("job,cost\n" + "".join(f"{job},{i}\n" for i, job in enumerate(jobs)), "utf-8")
    (tmp_path / "february.csv").write_text("job,cost\nmedic,3\nsmith,1\nnurse,4\nbaker,1\n", "utf-8")
    return tmp_path


def save_mapping(shoal, folder, *more):
    words = ["anonymize", folder / "january.csv", "-k", 2, "--qi", "job", "--keep", "cost", "--method", "incognito"]
    given = ["--hierarchy", f"job={folder / 'jobs.csv'}", "-o", folder / "release.csv"]
    return shoal(*words, *given, "--save-mapping", folder / "mapping.toml", *more)


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(tuple(row) for row in csv.reader(file))


def test_new_records_are_recoded_like_the_release(shoal, january):
    assert save_mapping(shoal, january).code == 0
    told = shoal("transform", january / "february.csv", january / "mapping.toml", "-o", january / "new.csv")
    assert told.code == 0, told.err
    assert read(january / "new.csv") == [("care", "3"), ("care", "4"), ("craft", "1"), ("craft", "1"), ("job", "cost")]


def test_records_that_nobody_hides_are_refused_and_nothing_is_written(shoal, january):
    save_mapping(shoal, january)
    (january / "february.csv").write_text("job,cost\nmedic,3\nsmith,1\nnurse,4\n", "utf-8")
    words = ["transform", january / "february.csv", january / "mapping.toml", "-o", january / "new.csv"]
    told = shoal(*words)
    assert told.code == 1
    assert "1 of 3 new records share their values with fewer than 1 others" in told.sentences
    assert not (january / "new.csv").exists()
    assert shoal(*words, "--with", january / "release.csv").code == 0


def test_exposed_records_are_written_only_where_that_is_asked_for_and_said(shoal, january):
    save_mapping(shoal, january)
    (january / "february.csv").write_text("job,cost\nmedic,3\n", "utf-8")
    words = ["transform", january / "february.csv", january / "mapping.toml", "-o", january / "new.csv"]
    told = shoal(*words, "--allow-exposed")
    assert told.code == 0
    assert "can be recognized" in told.sentences
    assert read(january / "new.csv") == [("care", "3"), ("job", "cost")]


def test_values_that_the_mapping_does_not_know_are_refused_or_suppressed(shoal, january):
    save_mapping(shoal, january)
    (january / "february.csv").write_text("job,cost\npilot,3\npilot,1\n", "utf-8")
    words = ["transform", january / "february.csv", january / "mapping.toml", "-o", january / "new.csv"]
    told = shoal(*words)
    assert (told.code, "pilot" in told.err) == (2, False)
    assert not (january / "new.csv").exists()
    assert shoal(*words, "--unseen", "suppress").code == 0
    assert read(january / "new.csv") == [("*", "1"), ("*", "3"), ("job", "cost")]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--method", "mondrian"], "recodes a value alike everywhere"),
        (["--save-mapping", "mapping.txt"], ".json or .toml"),
    ],
)
def test_a_mapping_that_cannot_be_saved_is_refused_before_the_work(shoal, january, more, says):
    more = [january / word if str(word).endswith(".txt") else word for word in more]
    told = save_mapping(shoal, january, *more)
    assert told.code == 2
    assert says in told.sentences
    assert not (january / "release.csv").exists()


def test_a_file_that_is_no_mapping_is_refused(shoal, january):
    told = shoal("transform", january / "february.csv", january / "jobs.csv", "-o", january / "new.csv")
    assert (told.code, "is not a generalization" in told.sentences) == (2, True)


def test_the_target_may_not_be_an_input(shoal, january):
    save_mapping(shoal, january)
    told = shoal(
        "transform", january / "february.csv", january / "mapping.toml", "-o", january / "february.csv", "--force"
    )
    assert told.code == 2
    assert (january / "february.csv").read_text("utf-8").startswith("job,cost")
