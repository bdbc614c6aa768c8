"""Treatments and pseudonyms in releases: what leaves, what is told, and what is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import ColumnError, FileError, ParameterError, PublicationWarning
from shoal.treatments.pseudonyms import make_key, pseudonym, read_key

# two records of each person are what these tests need; that people are not counted is another matter
pytestmark = pytest.mark.filterwarnings("ignore::shoal.errors.RepeatedPersonWarning")


def _table(records: int = 120) -> pa.Table:
    random = np.random.default_rng(5)
    return pa.table(
        {
            "id": [f"p{number % 60:03}" for number in range(records)],
            "age": random.integers(20, 80, records),
            "ill": random.choice(["flu", "cold", "gout", "rash"], records),
            "grade": random.integers(1, 50, records),
            "cost": random.integers(100, 9_999, records),
            "visit": pa.array((np.datetime64("2024-01-01") + random.integers(0, 300, records)).astype(object)),
            "note": [f"note {number}" for number in range(records)],
        }
    )


ROLES: dict[str, Any] = {
    "k": 4,
    "quasi_identifiers": ["age"],
    "sensitive": ["ill", "grade"],
    "keep": ["cost", "visit", "note"],
    "method": "mondrian",
}
TREAT = {"cost": shoal.Round(1000), "grade": shoal.Round(10), "note": shoal.Drop(), "visit": shoal.ShiftDates(20)}


def _release(table: Any = None, **more: Any) -> shoal.Result:
    parameters = ROLES | {"identifiers": ["id"], "treat": TREAT} | more
    return shoal.anonymize(_table() if table is None else table, **parameters)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "key.bin")


def test_treated_columns_leave_treated_in_every_way_out(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for table in (_table(), _table().to_pandas(), _table().to_pydict()):
        result = _release(table)
        frame = pandas.DataFrame(
            result.data
            if isinstance(result.data, dict)
            else result.data.to_pandas()
            if isinstance(result.data, pa.Table)
            else result.data
        )
        assert "note" not in frame.columns
        assert (frame["cost"] % 1000 == 0).all()
        assert (frame["grade"] % 10 == 0).all()
        for name in ("release.csv", "release.parquet"):
            path = result.save(tmp_path / name, force=True)
            again = shoal.read_table(path).to_pandas()
            assert (again["cost"].astype(int) % 1000 == 0).all()
            assert "note" not in again.columns


def test_models_hold_of_the_treated_values() -> None:
    result = _release(models=[shoal.LDiversity(2)])
    sizes: dict[Any, set[Any]] = {}
    for age, grade in zip(*(result.released.column(name).to_pylist() for name in ("age", "grade")), strict=True):
        sizes.setdefault(age, set()).add(grade)
    assert min(map(len, sizes.values())) == result.audit.sensitive["grade"]["l"] >= 2


def test_what_was_done_is_in_the_report_and_the_recipe(tmp_path: Path) -> None:
    result = _release()
    text = result.report().text(Path("report.md"))
    assert "is rounded to multiples of 1000" in text
    assert "ISO/IEC 20889, generalization: rounding" in text
    assert "Treatments of kept columns" in text
    assert "Treatments of kept columns" in result.report().text(Path("report.html"))
    summary = json.loads(result.report().text(Path("report.json")))
    assert {one["column"] for one in summary["treatments"]} == set(TREAT)
    recipe = shoal.Anonymizer(**ROLES, identifiers=["id"], treat=TREAT)
    recipe.save(tmp_path / "recipe.toml")
    assert shoal.Anonymizer.load(tmp_path / "recipe.toml").treat == TREAT
    assert _release(treat={"cost": {"treatment": "round", "to": 1000}}).recipe.treat == {
        "cost": {"treatment": "round", "to": 1000}
    }


def test_the_seed_does_not_repeat_a_secret_shift() -> None:
    one, other = (_release(seed=1).released.column("visit").to_pylist() for _ in range(2))
    assert one != other


def test_a_pickle_and_a_dictionary_hold_no_original(tmp_path: Path, key: Path) -> None:
    import pickle

    result = _release(identifiers=[], pseudonymize=["id"], key=key)
    assert b"p001" not in pickle.dumps(result)
    result.save(tmp_path / "release.csv")
    beside = (tmp_path / "release.datapackage.json").read_text()
    assert "key" not in beside
    assert key.name not in beside


def test_transform_never_passes_a_treated_column_on() -> None:
    table = _table()
    result = _release(
        table,
        method="datafly",
        hierarchies={"age": shoal.Hierarchy.from_intervals(table["age"], width=[10, 20])},
        max_suppression=0.5,
    )
    new = result.transform(table)
    assert set(new.column_names) == {"age", "ill"}


@pytest.mark.parametrize(
    "treat",
    [{"age": shoal.Round(5)}, {"id": shoal.Drop()}, {"costs": shoal.Round(5)}],
)
def test_a_treatment_of_what_is_not_kept_is_refused(treat: dict[str, Any]) -> None:
    with pytest.raises(ColumnError):
        _release(treat=treat)
    with pytest.raises(ParameterError, match="a treatment"):
        _release(treat={"cost": 5})


# --- pseudonyms --------------------------------------------------------------------------------------------------


def test_tokens_are_the_same_under_a_key_and_others_under_another(tmp_path: Path, key: Path) -> None:
    table = _table()
    call: dict[str, Any] = {"identifiers": [], "pseudonymize": ["id"]}
    one = _release(table, **call, key=key).released.column("id").to_pylist()
    two = _release(table.slice(0, 60), **call, key=str(key)).released.column("id").to_pylist()
    assert one[:60] == two
    assert one[60:] == one[:60]
    secret = read_key(key)
    wanted = hmac.new(secret, b"p007", hashlib.sha256).hexdigest()[:32]
    assert one[7] == wanted == pseudonym(secret, "p007")
    other = _release(table, **call, key=make_key(tmp_path / "other.bin")).released.column("id").to_pylist()
    assert not set(one) & set(other)


def test_numbers_and_missing_values_get_one_token_each(key: Path) -> None:
    call: dict[str, Any] = {
        "k": 2,
        "quasi_identifiers": ["a"],
        "pseudonymize": ["who"],
        "key": key,
        "method": "mondrian",
    }
    whole = shoal.anonymize(pa.table({"a": [1, 1, 1], "who": [7, None, 8]}), **call).released.column("who").to_pylist()
    texts = (
        shoal.anonymize(pa.table({"a": [1, 1, 1], "who": [7.0, None, 8.0]}), **call).released.column("who").to_pylist()
    )
    assert whole == texts
    assert whole[1] is None
    assert whole[0] != whole[2]


def test_the_report_says_pseudonymous_not_anonymous(key: Path) -> None:
    with pytest.warns(PublicationWarning, match="pseudonymous there, not anonymous"):
        result = _release(identifiers=[], pseudonymize=["id"], key=key)
    text = result.report().text(Path("report.md"))
    assert "pseudonymous but not anonymous" in text
    assert key.name not in text
    assert key.name not in json.dumps(result.recipe.model_dump())


def test_a_new_key_is_for_its_owner_alone_and_never_replaced(tmp_path: Path, key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    before = key.read_bytes()
    with pytest.raises(FileError, match="never replaced"):
        make_key(key)
    assert key.read_bytes() == before
    with pytest.raises(FileError, match="cannot be written"):
        make_key(tmp_path / "no" / "key.bin")


@pytest.mark.skipif(os.name != "posix", reason="does not apply: rights are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_key_that_others_may_read_or_change_is_refused(key: Path, mode: int) -> None:
    key.chmod(mode)
    with pytest.raises(FileError, match="by others than its owner"):
        _release(identifiers=[], pseudonymize=["id"], key=key)


def test_a_short_key_a_missing_key_and_one_without_use_are_refused(tmp_path: Path, key: Path) -> None:
    short = tmp_path / "short.bin"
    short.write_bytes(b"secret")
    short.chmod(0o600)
    tmp_path.chmod(0o700)
    call: dict[str, Any] = {"identifiers": [], "pseudonymize": ["id"]}
    for path, words in (
        (short, "must have 32"),
        (tmp_path / "none.bin", "does not exist"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(FileError, match=words):
            _release(**call, key=path)
    with pytest.raises(ParameterError, match="needs a key"):
        _release(**call)
    with pytest.raises(ParameterError, match="no column to pseudonymize"):
        _release(key=key)


# --- warnings ----------------------------------------------------------------------------------------------------


def test_what_the_report_says_to_look_at_is_warned_of() -> None:
    with pytest.warns(PublicationWarning) as told:
        result = _release(treat={})
    own = [one for one in told if issubclass(one.category, PublicationWarning)]
    said = [str(one.message).removeprefix("Look at this before you publish: ") for one in own]
    summary = json.loads(result.report().text(Path("report.json")))
    assert said == summary["warnings"]
    assert any("released unchanged and have values that occur only once: “note” (120)" in one for one in said)
    assert {one.filename for one in told} == {__file__}


def test_downcoding_stands_in_the_reports_table_of_attacks() -> None:
    rounded, exact = (_release(ends=ends).report().text(Path("report.json")) for ends in ("round", "exact"))
    for text in (rounded, exact):
        attacks = {one["attack"]: one for one in json.loads(text)["attacks"]}
        assert attacks["downcoding"]["tried"] > 0
