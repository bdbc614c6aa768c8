"""A released file looked at again: what still holds, what was changed, what cannot be told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import EntryPoint

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import extensions
from shoal.encoding import encode
from shoal.errors import FileError, ParameterError
from shoal.frames import Frame
from shoal.io.files import open_table
from shoal.recount import fit as fitting
from shoal.recount.fit import fit_combinations
from shoal.results.verify import promise_of, verify_frame
from tests.test_extensions import AtMost

JOBS = "nurse;care;*\nmedic;care;*\nbaker;craft;*\nsmith;craft;*\n"


def people(n=120):
    random = np.random.default_rng(3)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": random.integers(20, 60, n),
            "job": random.choice(["nurse", "medic", "baker", "smith"], n),
            "town": random.choice(["Aachen", "Bonn", "Kleve"], n),
            "school": random.choice(["low", "middle", "high"], n),
            "ill": random.choice(["flu", "gout", "cold"], n),
        }
    )


@pytest.fixture
def release(tmp_path):
    """Return a function that writes a release of ``people`` with its dictionary and returns its path."""
    (tmp_path / "jobs.csv").write_text(JOBS, "utf-8")

    def make(name="release.csv", **changes):
        given = {
            "k": 5,
            "quasi_identifiers": ["age", "job", "town", "school"],
            "sensitive": ["ill"],
            "identifiers": ["name"],
            "hierarchies": {"job": str(tmp_path / "jobs.csv")},
            "kinds": {"school": ["low", "middle", "high"]},
            "method": "mondrian",
        }
        result = shoal.anonymize(people(), **(given | changes))
        return result.save(tmp_path / name)

    return make


def verdicts(found):
    return {one.name: one.met for one in found.checks}


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_what_was_just_written_holds_with_all_kinds_of_columns(release, name):
    found = shoal.verify(release(name), original=people())
    assert verdicts(found) == {"columns": True, "k": True, "dictionary": True, "rows": True, "cover": True}
    assert found.met


def test_models_are_judged_by_the_released_rows(release):
    path = release(models=[shoal.LDiversity(2), shoal.TCloseness(0.5)])
    assert verdicts(shoal.verify(path)) == {
        "columns": True, "k": True, "l-diversity": True, "t-closeness": True, "dictionary": True,
    }  # fmt: skip
    text = path.read_text("utf-8")
    path.write_text(text.replace("gout", "flu").replace("cold", "flu"), "utf-8")
    assert verdicts(shoal.verify(path))["l-diversity"] is False  # one value is left in the whole column
    head, *rows = text.splitlines()
    cells = [row.rpartition(",")[0] for row in rows]
    spoilt = [f"{cell},flu" if cell == cells[0] else row for cell, row in zip(cells, rows, strict=True)]
    path.write_text("\n".join([head, *spoilt]) + "\n", "utf-8")
    found = shoal.verify(path)
    assert (verdicts(found)["l-diversity"], found.met) == (False, False)
    assert any(one.text.startswith("falls short in 1 of ") for one in found.checks)


def test_a_release_verifies_up_to_its_smallest_group_and_not_a_record_further(release):
    path = release()
    frame, (recipe, told) = open_table(path), promise_of(path, None)
    assert told["k"] >= recipe.k
    for k, met in ((told["k"], True), (told["k"] + 1, False)):
        found = verify_frame(frame, recipe.model_copy(update={"k": k}), {})
        assert verdicts(found)["k"] is met


def test_as_many_original_records_may_fit_no_row_as_may_be_withheld_and_not_one_more(release):
    path = release()
    beyond = people().slice(0, 1).set_column(1, "age", pa.array([88]))
    for max_suppression, met in ((0.0, False), (1 / 121, True)):
        recipe = promise_of(path, None)[0].model_copy(update={"max_suppression": max_suppression})
        found = verify_frame(open_table(path), recipe, {}, Frame(pa.concat_tables([people(), beyond])))
        assert verdicts(found)["cover"] is met


def test_a_row_that_was_changed_is_too_few_and_differs_from_the_dictionary(release):
    path = release()
    head, first, *rest = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([head, "99," + first.split(",", 1)[1], *rest]) + "\n", "utf-8")
    found = verdicts(shoal.verify(path, original=people()))
    assert found == {"columns": True, "k": False, "dictionary": False, "rows": True, "cover": False}


def test_a_group_moved_to_where_nobody_is_covers_nothing(release):
    path = release()
    head, *rows = path.read_text("utf-8").splitlines()
    for text in ("[90-99]", "[90 ... 99]"):
        moved = [f"{text}," + row.split(",", 1)[1] for row in rows]
        path.write_text("\n".join([head, *moved]) + "\n", "utf-8")
        found = verdicts(shoal.verify(path, original=people()))
        assert (found["cover"], found["k"]) == (False, True)


def test_original_records_that_fit_no_row_are_found(release):
    path = release()
    some = people()
    older = some.set_column(1, "age", pa.array(np.r_[np.full(5, 88), some["age"].to_numpy()[5:]]))
    assert verdicts(shoal.verify(path, original=older))["cover"] is False


def test_records_withheld_are_counted_and_models_are_measured_against_the_original(release):
    path = release(models=[shoal.TCloseness(0.45)], max_suppression=0.5, method="bug", quasi_identifiers=["job", "town"],
                   hierarchies={"job": "flat", "town": "flat"}, kinds={}, identifiers=["name", "age", "school"])  # fmt: skip
    without, beside = shoal.verify(path), shoal.verify(path, original=people())
    assert verdicts(without)["t-closeness"] is None
    assert (verdicts(beside)["t-closeness"], verdicts(beside)["rows"]) == (True, True)
    assert shoal.verify(path, original=people(400)).met is False  # more withheld than may be


def test_a_column_that_should_be_gone_ends_the_look(release):
    path = release()
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(["name," + lines[0], *(f"person {i},{row}" for i, row in enumerate(lines[1:]))]), "utf-8")
    found = shoal.verify(path)
    assert verdicts(found) == {"columns": False}
    assert "'name' is there, which the recipe does not release" in found.checks[0].text


def test_what_cannot_be_told_is_said_and_is_no_failure(release, tmp_path):
    path = release(
        person="name", identifiers=["name"], models=[shoal.LDiversity(2), shoal.KMap(5, population=people())],
        hierarchies={"job": shoal.Hierarchy.from_csv(tmp_path / "jobs.csv")},
    )  # fmt: skip
    found = shoal.verify(path, original=people())
    assert found.met
    assert {name for name, met in verdicts(found).items() if met is None} == {"persons", "l-diversity", "k-map"}
    (unknown,) = [one for one in found.checks if "whose hierarchy is not available" in one.text]
    assert (unknown.name, unknown.met, "'job'" in unknown.text) == ("cover", None, True)


def test_persons_are_counted_where_the_release_has_their_tokens(release, tmp_path):
    shoal_key = tmp_path / "key.bin"
    shoal_key.write_bytes(bytes(range(32)))
    shoal_key.chmod(0o600)
    path = release(person="name", identifiers=[], pseudonymize=["name"], key=shoal_key)
    assert verdicts(shoal.verify(path))["persons"] is True
    head, *rows = path.read_text("utf-8").splitlines()
    first = rows[0].split(",")[0]
    path.write_text("\n".join([head, *(",".join([first, *row.split(",")[1:]]) for row in rows)]) + "\n", "utf-8")
    found = verdicts(shoal.verify(path))
    assert (found["k"], found["persons"]) == (True, False)


def test_people_are_not_compared_with_a_release_of_which_some_were_withheld(release, tmp_path):
    key = tmp_path / "key.bin"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    path = release(person="name", identifiers=[], pseudonymize=["name"], key=key, max_suppression=0.1,
                   models=[shoal.TCloseness(0.45)])  # fmt: skip
    assert verdicts(shoal.verify(path, original=people()))["t-closeness"] is None


@dataclass(frozen=True)
class OfGroups(AtMost):
    """A model of another package that says that it looks at groups; ``AtMost`` says nothing."""

    looks_at = "group"


@dataclass(frozen=True)
class OfTable(AtMost):
    """The same, but it says that it compares groups with the whole table."""

    looks_at = "table"


@pytest.mark.parametrize(
    ("model", "withheld", "alone", "beside"),
    [
        (OfGroups(99), 0.5, True, True),
        (OfTable(99), 0.0, True, True),
        (OfTable(99), 0.5, None, True),
        (AtMost(99), 0.0, None, None),
    ],
)
def test_a_model_of_another_package_is_judged_by_what_it_says_it_looks_at(
    release, monkeypatch, model, withheld, alone, beside
):
    point = EntryPoint("theirs", f"{__name__}:{type(model).__name__}", "shoal.models")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [point] if group == "shoal.models" else [])
    path = release(models=[model], max_suppression=withheld)
    assert verdicts(shoal.verify(path))["theirs"] is alone
    assert verdicts(shoal.verify(path, original=people()))["theirs"] is beside


def test_a_dictionary_with_broken_measures_is_read_for_its_promise(release):
    path = release()
    beside = path.with_name("release.datapackage.json")
    told = json.loads(beside.read_text("utf-8"))
    told["shoal"]["measures"] = ["?"]
    beside.write_text(json.dumps(told), "utf-8")
    assert verdicts(shoal.verify(path)) == {"columns": True, "k": True, "dictionary": False}
    beside.write_text(json.dumps(told | {"resources": []}), "utf-8")
    with pytest.raises(ParameterError, match=r"The dictionary of 'release\.csv' is wrong at 'quasi_identifiers'"):
        shoal.verify(path)


def test_representatives_need_not_cover(release):
    path = release(
        method="mdav",
        release="representatives",
        quasi_identifiers=["age"],
        hierarchies={},
        kinds={},
        keep=["job", "town", "school"],
    )
    found = shoal.verify(path, original=people())
    assert (found.met, verdicts(found)["cover"]) == (True, None)


def test_without_a_dictionary_the_recipe_must_be_named(release, tmp_path):
    path = release()
    (tmp_path / "release.datapackage.json").unlink()
    with pytest.raises(FileError, match="has no dictionary that says what it promises"):
        shoal.verify(path)
    shoal.Anonymizer(
        k=5, quasi_identifiers=["age", "job", "town", "school"], sensitive=["ill"], identifiers=["name"],
    ).save(tmp_path / "recipe.toml")  # fmt: skip
    assert verdicts(shoal.verify(path, recipe=tmp_path / "recipe.toml")) == {"columns": True, "k": True}


@pytest.mark.filterwarnings("ignore::shoal.errors.NotationNotice")
def test_decimal_commas_in_a_release_of_an_earlier_version_are_read(tmp_path):
    rows = "".join(f"{i},{i % 10};a\n" for i in range(40))
    (tmp_path / "table.csv").write_text("height;ward\n" + rows, "utf-8")
    made = shoal.anonymize(tmp_path / "table.csv", k=4, quasi_identifiers=["height"], keep=["ward"], decimal=",")
    path = made.save(tmp_path / "release.csv")
    assert verdicts(shoal.verify(path, original=tmp_path / "table.csv"))["cover"] is True
    path.write_text(path.read_text("utf-8").replace(".", ","), "utf-8")
    assert verdicts(shoal.verify(path, original=tmp_path / "table.csv"))["cover"] is True


def test_of_very_many_combinations_some_are_compared():
    table = pa.table({"age": list(range(60))})
    released = pa.table({"age": [f"[{i}-{i + 1}]" for i in range(0, 60, 2) for _ in range(2)]})
    frame = Frame(table)
    coded = encode(frame, ["age"])
    assert fit_combinations(coded, frame, released) == (30, 0, 0)
    assert fit_combinations(coded, frame, released, pairs=600) == (10, 0, 0)
    assert fit_combinations(coded, frame, released.slice(2)) == (29, 0, 2)


@pytest.mark.parametrize("at_once", [1, 7, 2_000_000])
def test_cells_are_compared_with_values_block_by_block(monkeypatch, at_once):
    monkeypatch.setattr(fitting, "_AT_ONCE", at_once)
    frame = Frame(pa.table({"town": ["a", "b", "c", None, "d", None], "age": [1, 2, 3, 4, 5, None]}))
    released = pa.table(
        {"town": ["{a, b}", "{a, b}", "c", None, "*", None], "age": ["[1-2]", "[1-2]", "3", "4", "9", None]}
    )
    assert fit_combinations(encode(frame, ["town", "age"]), frame, released) == (5, 1, 1)
