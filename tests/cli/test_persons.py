"""``--person``, ``--household`` and ``--together`` on the command line."""

from __future__ import annotations

import pytest
from pyarrow import csv

from tests.support.panels import QUASI, panel

TABLE = panel()


@pytest.fixture
def file(tmp_path):
    """Return a file of a panel."""
    csv.write_csv(TABLE, tmp_path / "panel.csv")
    return tmp_path / "panel.csv"


def test_the_command_line_counts_people(file, tmp_path, shoal):
    target = tmp_path / "release.csv"
    done = shoal(
        "anonymize", file, "-k", 4, "--qi", ",".join(QUASI), "--person", "nr", "--together",
        "--identifier", "hh,w,ill", "--method", "mondrian", "-o", target,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert target.read_text("utf-8").splitlines()[0].replace('"', "") == ",".join(QUASI)


def test_an_audit_counts_people(file, shoal):
    plain = shoal("audit", file, "--qi", "sex,region", "--json").json
    people = shoal("audit", file, "--qi", "sex,region", "--person", "nr", "--household", "hh", "--json").json
    assert people["k"] < plain["k"]
    assert (people["persons"], people["records"]) == (60, TABLE.num_rows)
    assert people["households"] == len(set(TABLE["hh"].to_pylist()))


def test_a_person_column_that_is_not_there_is_told_in_one_sentence(file, tmp_path, shoal):
    target = tmp_path / "release.csv"
    done = shoal("anonymize", file, "-k", 4, "--qi", "age,sex", "--person", "nummer", "-o", target)
    assert (done.code, target.exists()) == (2, False)
    assert "'nummer'" in done.sentences


def test_an_attack_counts_people_where_it_is_known_whose_the_rows_are(file, tmp_path, shoal):
    kept, shuffled = tmp_path / "kept.csv", tmp_path / "release.csv"
    asked = [
        "-k",
        4,
        "--qi",
        "age,sex",
        "--person",
        "nr",
        "--identifier",
        "hh,w,ill,wave,region",
        "--method",
        "mondrian",
    ]
    assert shoal("anonymize", file, *asked, "--keep-order", "-o", kept).code == 0
    assert shoal("anonymize", file, *asked, "-o", shuffled).code == 0
    found = shoal("attack", file, kept, "--qi", "age,sex", "--person", "nr", "--json").json["findings"]
    linkage = next(one for one in found if one["attack"] == "linkage")
    assert linkage["figures"]["people"] == 60
    assert linkage["figures"]["fewest_candidates"] >= 4
    done = shoal("attack", file, shuffled, "--qi", "age,sex", "--person", "nr")
    assert (done.code, done.out) == (2, "")
    assert "the person of each row is unknown" in done.sentences
