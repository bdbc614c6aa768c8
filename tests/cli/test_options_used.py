"""No option of ``shoal anonymize`` is taken and not used."""

from __future__ import annotations

import pyarrow.parquet as papq
import pytest

from shoal import Anonymizer
from shoal.errors import ParameterError
from shoal.treatments.pseudonyms import make_key
from tests.engines.tables import people

CALL = ["-k", "5", "--qi", "age,blood", "--method", "mondrian"]


@pytest.fixture
def path(tmp_path):
    papq.write_table(people(60).select(["age", "blood"]), tmp_path / "people.parquet")
    make_key(tmp_path / "key.bin")
    return tmp_path / "people.parquet"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--keep-order"], "The option --keep-order needs --output. Got none."),
        (["--shuffle-key", "key.bin"], "The option --shuffle-key needs --output. Got none."),
        (["--spreadsheet-safe"], "The option --spreadsheet-safe needs --output. Got none."),
        (["--to", "sqlite:///new.db", "--to-table", "t", "--keep-order"], "The option --keep-order needs --output."),
        (["--to", "sqlite:///new.db", "--to-table", "t", "--spreadsheet-safe"], "--spreadsheet-safe needs --output."),
        (["--cells", "columns"], "The option --cells needs --output. Got none."),
        (["--to", "sqlite:///new.db", "--to-table", "t", "--cells", "midpoints"], "The option --cells needs --output."),
        (["--no-dictionary"], "The option --no-dictionary needs --output. Got none."),
        (["--about", "about.toml"], "The option --about needs --output or --public-report or --codebook. Got none."),
        (["--report-examples"], "The option --report-examples needs --report. Got none."),
        (["--force"], "The option --force needs --output or --to-table or --report or"),
        (["--engine", "memory", "--scratch", "."], "The option --scratch is for --engine stream or spark."),
        (["--engine", "memory", "--memory", "4GB"], "does not bound a release in memory"),
        (["--engine", "spark", "--memory", "4GB"], "The option --memory cannot be used with --engine spark."),
        (["--encoding", "cp1252"], "Only text files have an encoding"),
        (["--separator", ";"], "Only text files have a separator"),
        (["--engine", "stream", "--separator", ";", "-o", "out.csv"], "Only text files have a separator"),
        (
            ["--engine", "stream", "--memory", "1KB", "-o", "out.csv"],
            "needs the codes of all records at once, about 0.00 MB",
        ),
        (
            ["--engine", "stream", "--memory", "1KB", "-o", "out.csv", "--method", "optimize"],
            "the codes of one fragment",
        ),
    ],
)
def test_an_option_that_nothing_would_come_of_is_refused(shoal, path, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    before = sorted(one.name for one in tmp_path.iterdir())
    done = shoal("anonymize", path, *CALL, *words)
    assert done.code == 2
    assert sentence in done.sentences
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_force_is_taken_with_whatever_is_written(shoal, path, tmp_path):
    for words in (["--report", tmp_path / "r.md"], ["--save-recipe", tmp_path / "r.toml"]):
        assert shoal("anonymize", path, *CALL, "--force", *words).code == 0


def test_a_bound_of_memory_with_the_engine_for_memory_is_refused_in_the_library_too(path):
    recipe = Anonymizer(k=5, quasi_identifiers=["age", "blood"], method="mondrian", engine="memory", memory="1GB")
    with pytest.raises(ParameterError, match="does not bound a release in memory"):
        recipe.fit(path)


def test_the_separator_of_one_text_file_is_not_asked_of_another_that_is_none(shoal, path, tmp_path):
    (tmp_path / "people.csv").write_text("age;blood\n" + "".join(f"{20 + n % 5};A\n" for n in range(60)), "utf-8")
    done = shoal("attack", tmp_path / "people.csv", path, "--qi", "age,blood", "--separator", ";")
    assert "Only text files" not in done.sentences
