"""Whatever a call reads stays as it is: no target of any engine may be an input, even with ``--force``."""

from __future__ import annotations

import os
import sqlite3

import pyarrow.parquet as papq
import pytest

from shoal.treatments.pseudonyms import make_key
from tests.engines.tables import people

ENGINES = ("memory", "stream", "spark")
INPUTS = (
    "people.parquet",
    "parts/part-0.parquet",
    "blood.csv",
    "town.parquet",
    "key.bin",
    "recipe.toml",
    "about.toml",
)
NOT_THERE = {
    "stream": {"--save-recipe", "--save-mapping", "--codebook"},
    "spark": {"--public-report", "--codebook"},
}
"""Files that an engine does not write: refused too."""
TARGETS = {  # an option, and the ending that its files have
    "-o": ".parquet",
    "--report": ".md",
    "--save-recipe": ".toml",
    "--save-mapping": ".json",
    "--public-report": ".md",
    "--codebook": ".md",
    "--dictionary": ".datapackage.json",
}


@pytest.fixture
def files(tmp_path):
    """Return a folder with a file of each kind that a call reads."""
    table = people(60)
    papq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "parts").mkdir()
    papq.write_table(table, tmp_path / "parts" / "part-0.parquet")
    papq.write_table(people(90, 1), tmp_path / "town.parquet")
    (tmp_path / "blood.csv").write_text("A;*\nB;*\n0;*\n", "utf-8")
    make_key(tmp_path / "key.bin")
    known = 'k = 5\nquasi_identifiers = ["age", "blood"]\nmethod = "datafly"\n'
    crowd = 'models = [{model = "k-map", k = 5, population = "town.parquet"}]\n'
    trees = '[hierarchies]\nblood = "blood.csv"\nage = "auto"\n'
    (tmp_path / "recipe.toml").write_text(known + crowd + trees, "utf-8")
    (tmp_path / "about.toml").write_text('title = "People"\n', "utf-8")
    (tmp_path / "streamed.toml").write_text(known + trees, "utf-8")  # a population is not streamed
    return tmp_path


def contents(folder):
    return {one.relative_to(folder): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def call(folder, table, engine):
    recipe = "streamed.toml" if engine == "stream" else "recipe.toml"
    words = ["anonymize", folder / table, "--recipe", folder / recipe, "--engine", engine]
    return [*words, "--pseudonymize", "note", "--key", folder / "key.bin", "--force"]


def output(folder, engine):
    """Return the options that name a release, for an engine that needs one beside the file that is asked for."""
    return ["-o", folder / ("new" if engine == "spark" else "new.csv")]


@pytest.mark.parametrize("option", TARGETS)
@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_target_that_is_an_input_is_refused_before_any_work(shoal, files, engine, given, option):
    if engine == "spark" and (option == "--dictionary" or given == "about.toml"):
        pytest.skip("does not apply: Spark writes no dictionary")
    table = "parts" if given.startswith("parts") else "people.parquet"
    target = files / f"target{TARGETS[option]}"
    if option == "--dictionary":
        target = files / "new.datapackage.json"
    if engine == "stream":
        given = {"recipe.toml": "streamed.toml", "town.parquet": "blood.csv"}.get(given, given)
    if table == "people.parquet":
        os.link(files / given, target)
    elif option in {"-o", "--save-recipe"}:  # a file of a folder is protected by its place
        target = files / given
    else:
        pytest.skip("does not apply: such files have other endings than tables")
    before = contents(files)
    words = [option, target] if option == "-o" else [*output(files, engine), option]
    words += [target] if option not in {"-o", "--dictionary"} else []
    words += ["--about", files / "about.toml"] if engine != "spark" else []
    done = shoal(*call(files, table, engine), "--others", "drop", *words)
    assert done.code == 2
    if option in NOT_THERE.get(engine, ()):
        said = f"{option} cannot be used with --engine {engine}"
    elif engine == "spark" and option == "-o" and table == "people.parquet":
        said = "is a file, and Spark writes folders"
    else:
        said = "is an input of this call"
    assert said in done.sentences
    assert contents(files) == before


@pytest.mark.parametrize("name", ["people.parquet", "parts", "parts/part-0.parquet", "parts/new", ".", "blood.csv"])
def test_a_folder_of_spark_never_takes_the_place_of_an_input_or_of_its_folder(shoal, files, name):
    table = "parts" if name.startswith("parts") else "people.parquet"
    before = contents(files)
    done = shoal(*call(files, table, "spark"), "-o", files / name)
    assert (done.code, contents(files)) == (2, before)
    assert "is an input of this call" in done.sentences


def test_a_folder_that_spark_has_not_written_is_not_replaced(shoal, files):
    (files / "mine").mkdir()
    (files / "mine" / "thesis.txt").write_text("mine", "utf-8")
    before = contents(files)
    done = shoal(*call(files, "people.parquet", "spark"), "-o", files / "mine")
    assert "holds files that Spark did not write" in done.sentences
    assert contents(files) == before


def test_a_file_beside_a_release_of_spark_may_not_lie_in_it(shoal, files):
    (files / "new").mkdir()
    done = shoal(*call(files, "people.parquet", "spark"), "-o", files / "new", "--report", files / "new" / "report.md")
    assert "one is in the other" in done.sentences


def test_the_key_of_a_recipe_is_never_replaced_by_the_recipe(files):
    from shoal import Anonymizer
    from shoal.errors import FileError

    recipe = Anonymizer(k=5, quasi_identifiers=["age"], pseudonymize=["note"], key=files / "key.bin")
    before = contents(files)
    with pytest.raises(FileError, match="is an input of this call"):
        recipe.save(files / "key.bin", force=True)
    assert contents(files) == before


@pytest.fixture
def database(tmp_path):
    """Return the file of a database with one table."""
    table = people(60).select(["age", "blood"])
    with sqlite3.connect(tmp_path / "people.db") as session:
        session.execute("CREATE TABLE people (age INTEGER, blood TEXT)")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        session.executemany("INSERT INTO people VALUES (?, ?)", rows)
    session.close()
    return tmp_path / "people.db"


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
@pytest.mark.parametrize(
    "words",
    [
        ("--to-table", "people", "--table", "people"),
        ("--to-table", "main.people", "--table", "People"),
        ("--to-table", "people", "--query", "SELECT age, blood FROM people"),
        ("--to-table", "people"),
        ("--save-recipe", "DATABASE"),
    ],
)
def test_a_database_is_not_written_over_what_is_read_from_it(shoal, database, form, words):
    words = [database if one == "DATABASE" else one for one in words]
    before = database.read_bytes()
    place = form.format(database)
    if not {"--table", "--query", "--to-table"} & set(map(str, words)):
        words += ["--table", "people"]
    done = shoal("anonymize", place, "-k", 5, "--qi", "age,blood", "--method", "mondrian", "--force", *words)
    assert (done.code, database.read_bytes()) == (2, before)
    assert "is an input of this call" in done.sentences
