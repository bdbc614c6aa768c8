from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.api import anonymize
from shoal.errors import FileError, NotationNotice, ParameterError, PrivacyError, PrivacyWarning
from shoal.frames.canonical import table_hash
from shoal.io.files import open_table
from shoal.methods.base import Grouping
from shoal.results import result as result_module
from shoal.results.save import shuffled_order
from shoal.treatments.pseudonyms import make_key, read_key

TABLE = pa.table(
    {"zip": [f"0{n:03}" for n in range(60)], "age": list(range(60)), "cost": [n * 17 % 61 / 4 for n in range(60)]}
)


@pytest.fixture
def release():
    return anonymize(TABLE, k=5, quasi_identifiers=["zip", "age"], keep=["cost"], method="mondrian")


@pytest.mark.parametrize("name", ["release.csv", "release.csv.gz", "release.tsv", "release.parquet"])
def test_a_saved_release_holds_the_same_rows_in_another_order(tmp_path, release, name):
    release.save(tmp_path / name)
    written = open_table(tmp_path / name)
    rows = [tuple(map(str, row.values())) for row in written.table.to_pylist()]
    expected = [tuple(map(str, row.values())) for row in release.released.to_pylist()]
    assert [float(row[2]) for row in rows] != [float(row[2]) for row in expected]
    assert sorted((a, b, float(c)) for a, b, c in rows) == sorted((a, b, float(c)) for a, b, c in expected)
    assert shoal.audit(written, quasi_identifiers=["zip", "age"]).k >= 5


def test_two_saves_have_two_orders(tmp_path, release):
    release.save(tmp_path / "one.csv")
    release.save(tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_text() != (tmp_path / "two.csv").read_text()


def test_keeping_the_order_warns(tmp_path, release):
    with pytest.warns(PrivacyWarning, match="order of the input"):
        release.save(tmp_path / "release.csv", shuffle=False)
    assert open_table(tmp_path / "release.csv").typed("cost").to_pylist() == TABLE.column("cost").to_pylist()


def test_an_existing_file_is_left_as_it_is(tmp_path, release):
    (tmp_path / "release.csv").write_text("mine")
    with pytest.raises(FileError, match="exists"):
        release.save(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").read_text() == "mine"


def test_a_file_that_fails_the_count_from_disk_never_appears(tmp_path, release, monkeypatch):
    def spoil(table, path, source):
        ages = ["alone", *table.column("age").to_pylist()[1:]]
        original(table.set_column(1, "age", pa.array(ages)), path, source)

    original = result_module.write_table
    monkeypatch.setattr(result_module, "write_table", spoil)
    with pytest.raises(PrivacyError, match="group of 1"):
        release.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_signal_while_writing_leaves_no_file(tmp_path, release, monkeypatch, request):
    def interrupted(table, path, source):
        path.write_text("half a rel")
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(result_module, "write_table", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


def test_provenance_tells_the_holder_how_it_was_made_and_holds_no_row(release):
    told = release.provenance()
    assert next(iter(told.items())) == ("audience", "holder")
    assert told["recipe"]["k"] == 5
    assert told["recipe"]["seed"] == 0
    assert told["shoal"] == shoal.__version__
    assert table_hash(TABLE) not in json.dumps(told)
    assert told["metrics"]["ncp"] == release.metrics["ncp"]
    assert told["audit"]["k"] == release.audit.k
    assert "0001" not in json.dumps(told)


def test_the_hash_of_a_table_follows_its_values_and_names():
    changed = TABLE.set_column(1, "age", pa.array([1, *range(1, 60)]))
    renamed = TABLE.rename_columns(["zip", "old", "cost"])
    chunked = pa.concat_tables([TABLE.slice(0, 10), TABLE.slice(10)])
    assert table_hash(TABLE) == table_hash(chunked)
    assert len({table_hash(table) for table in (TABLE, changed, renamed)}) == 3


def test_a_result_tells_its_main_figures(release):
    assert "60 records" in repr(release)
    assert f"at least {release.audit.k}" in repr(release)


def test_a_result_cannot_be_changed(release):
    with pytest.raises(AttributeError):
        release.groups = None
    with pytest.raises(ValueError, match="read-only"):
        release.groups[0] = 7
    assert copy.deepcopy(release) is release


def test_releases_of_one_name_have_a_dictionary_each(tmp_path, release):
    for name in ("a.v1.csv", "a.v2.csv", "a.v1.parquet", "a.v1.sav", "a.v1.dta"):
        release.save(tmp_path / name)
    names = {path.name for path in tmp_path.glob("*.json")}
    assert names == {f"a.{one}.datapackage.json" for one in ("v1", "v2", "v1.sav", "v1.dta")}
    assert b"datapackage" in pq.read_schema(tmp_path / "a.v1.parquet").metadata


def test_files_a_release_was_made_from_are_never_replaced(tmp_path):
    table, tree = tmp_path / "table.csv", tmp_path / "tree.csv"
    table.write_text("town\n" + "a\nb\n" * 5)
    tree.write_text("a;*\nb;*\n")
    made = anonymize(table, k=5, quasi_identifiers=["town"], hierarchies={"town": str(tree)})
    for target in (table, tree):
        with pytest.raises(FileError, match="is an input"):
            made.save(target, force=True)


# --- pickles -----------------------------------------------------------------------------------------------------

NAMED = TABLE.append_column("name", pa.array([f"Person {n}" for n in range(60)]))


def named(**more):
    given = {"k": 5, "quasi_identifiers": ["zip", "age"], "keep": ["cost"], "identifiers": ["name"]}
    return shoal.Anonymizer(**given, method="mondrian", **more)


def test_a_pickle_holds_no_original_unless_asked():
    fitted = named().fit(NAMED)
    for thing in (fitted.result_, fitted):
        content = pickle.dumps(thing)
        assert b"Person 7" not in content
    assert b"Person 7" in pickle.dumps(fitted.result_.with_originals())


def test_a_result_read_from_a_pickle_tells_all_but_what_needs_the_original(tmp_path):
    result = named().fit(NAMED).result_
    again = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert again.data.equals(result.data)
    assert again.metrics == result.metrics
    assert (again.groups == result.groups).all()
    with pytest.raises(ValueError, match="read-only"):
        again.groups[0] = 7
    again.save(tmp_path / "release.csv")
    with pytest.raises(ParameterError, match="holds no original table"):
        again.report()
    whole = pickle.loads(pickle.dumps(result.with_originals()))  # noqa: S301
    assert whole.report().markdown == result.report().markdown


def test_a_lower_bound_the_method_proves_stands_among_the_metrics_with_the_gap():
    class Proving(shoal.Mondrian):
        def run(self, table, task):
            return Grouping(super().run(table, task).labels, details={"lower_bound": 0.01})

    given = {"k": 5, "quasi_identifiers": ["zip", "age"], "keep": ["cost"]}
    proved = anonymize(TABLE, method=Proving(), **given).metrics
    assert proved["lower_bound"] == 0.01
    assert proved["gap"] == pytest.approx(1 - 0.01 / proved["ncp"])
    assert "gap" not in anonymize(TABLE, method="mondrian", **given).metrics


# --- the same file twice --------------------------------------------------------------------------------------------


@pytest.fixture
def key(tmp_path):
    return make_key(tmp_path / "order.bin")


def test_a_key_gives_the_same_file_again_and_without_one_no_two_are_alike(tmp_path, release, key):
    files = [release.save(tmp_path / f"{name}.csv", shuffle_key=key) for name in "ab"]
    fresh = release.save(tmp_path / "c.csv")
    same = {file.read_bytes() for file in files}
    assert len(same) == 1
    assert fresh.read_bytes() not in same
    assert sorted(fresh.read_text().splitlines()) == sorted(files[0].read_text().splitlines())


def test_the_order_is_none_of_the_input_and_depends_on_the_key_and_on_every_cell(tmp_path, key):
    other = make_key(tmp_path / "other.bin")
    changed = TABLE.set_column(2, "cost", pa.array([*TABLE.column("cost").to_pylist()[:-1], 77]))
    secrets = [read_key(key), read_key(other)]
    orders = [tuple(shuffled_order(TABLE, secrets[0])), tuple(shuffled_order(TABLE, secrets[1]))]
    orders.append(tuple(shuffled_order(changed, secrets[0])))
    assert len({*orders, tuple(range(TABLE.num_rows))}) == 4
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(TABLE.num_rows))}


def test_recipe_and_dictionary_do_not_name_the_key(tmp_path, release, key):
    release.save(tmp_path / "release.csv", shuffle_key=key)
    told = (tmp_path / "release.datapackage.json").read_text() + json.dumps(release.recipe.model_dump())
    assert "order.bin" not in told
    assert "shuffle_key" not in told


def test_a_key_and_the_order_of_the_input_do_not_go_together(tmp_path, release, key):
    with pytest.raises(ParameterError, match="cannot keep the order of the input and be shuffled by a key"):
        release.save(tmp_path / "release.csv", shuffle=False, shuffle_key=key)


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"short", "must have 32 to 4096 bytes. Got 5"), (None, "does not exist")]
)
def test_a_bad_key_is_one_sentence_and_no_file(tmp_path, release, content, sentence):
    place = tmp_path / "bad.bin"
    if content is not None:
        place.write_bytes(content)
        place.chmod(0o600)
    with pytest.raises(FileError, match=sentence):
        release.save(tmp_path / "release.csv", shuffle_key=place)
    with pytest.raises(ParameterError, match="The 'shuffle_key' parameter of"):
        release.save(tmp_path / "release.csv", shuffle_key=5)
    assert not (tmp_path / "release.csv").exists()


def test_a_key_is_never_replaced_by_the_release_it_orders(tmp_path, release):
    key = make_key(tmp_path / "key.csv")
    with pytest.raises(FileError):
        release.save(key, shuffle_key=key, force=True)


def test_the_hash_of_a_table_reads_all_kinds_of_cells():
    cells = {
        "lists": pa.array([[1, 2], None]),
        "far": pa.array([2**62, None], pa.timestamp("s")),
        "bytes": pa.array([b"\xff", b""]),
        "floats": pa.array([float("nan"), -0.0]),
        "words": pa.array(["a", None]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
    hashes = {table_hash(pa.table({"x": column})) for column in cells.values()}
    assert len(hashes) == len(cells)
    swapped = {name: table_hash(pa.table({"x": column.take(pa.array([1, 0]))})) for name, column in cells.items()}
    alike = {name for name, column in cells.items() if swapped[name] == table_hash(pa.table({"x": column}))}
    assert alike == {"nothing"}


def test_files_of_a_result_read_from_a_pickle_are_those_of_the_result(tmp_path):
    rows = "".join(f"{20 + row % 30},5;{1000 + row},25;{'ab'[row % 2]};Person {row}\n" for row in range(40))
    (tmp_path / "leute.csv").write_text(f"alter;kosten;ort;name\n{rows}", "utf-8")
    with pytest.warns(NotationNotice):
        result = shoal.anonymize(
            tmp_path / "leute.csv",
            k=5,
            quasi_identifiers=["alter"],
            sensitive=["ort"],
            keep=["kosten"],
            identifiers=["name"],
            method="mondrian",
        )
    content = pickle.dumps(result)
    assert b"Person 7" not in content
    again = pickle.loads(pickle.dumps(pickle.loads(content)))  # noqa: S301
    for ending in ("csv", "parquet"):
        with warnings.catch_warnings(action="ignore", category=NotationNotice):
            one, other = (
                sorted_rows(kept.save(tmp_path / f"{name}.{ending}"))
                for name, kept in (("one", result), ("other", again))
            )
        assert one == other
    assert '"[20.5-' in (tmp_path / "other.csv").read_text("utf-8")
    assert pq.read_schema(tmp_path / "other.parquet").field("kosten").type == pa.float64()


def sorted_rows(path):
    if path.suffix == ".csv":
        return sorted(path.read_text("utf-8").splitlines())
    table = pq.read_table(path)
    return table.schema, sorted(map(str, table.to_pylist()))
