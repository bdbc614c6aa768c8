"""What one engine honours another honours too, or refuses in one sentence before any work."""

from __future__ import annotations

import pyarrow.parquet as papq
import pytest

import shoal
from shoal.engines.base import asked
from shoal.engines.spark.engine import SparkEngine
from shoal.errors import CancelledError, ColumnError, ParameterError
from shoal.hierarchy import Hierarchy
from tests.engines.tables import HIERARCHIES, people

GIVEN = {"k": 5, "quasi_identifiers": ["age", "town"], "sensitive": ["illness"], "method": "mondrian"}
TREE = Hierarchy.flat(list("abcdef"))


@pytest.fixture
def path(tmp_path):
    papq.write_table(people(60).select(["age", "town", "illness"]), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


@pytest.mark.parametrize(
    "settings",
    [
        {"hierarchies": {"twon": TREE}},
        {"kinds": {"aeg": "nominal"}},
        {"weights": {"aeg": 2.0}},
        {"weights": {"illness": 2.0}},
    ],
)
def test_settings_of_a_column_that_is_not_coded_are_refused_wherever_the_work_is_done(settings):
    (name,) = next(iter(settings.values()))
    with pytest.raises(ColumnError, match=f"names '{name}', which is not a quasi-identifier"):
        shoal.Anonymizer(**GIVEN, **settings)
    with pytest.raises(ColumnError, match="not a quasi-identifier"):
        shoal.compare(people(60), **{key: GIVEN[key] for key in GIVEN if key not in ("method", "k")}, **settings)


def test_a_kind_or_hierarchy_of_a_sensitive_column_is_taken():
    shoal.Anonymizer(**GIVEN, kinds={"illness": "nominal"}, hierarchies={"town": TREE})


def test_one_word_suggests_a_hierarchy_for_every_column_without_a_kind():
    given = {"k": 5, "quasi_identifiers": ["age", "blood"], "method": "datafly", "max_suppression": 0.2}
    table = people(200).select(["age", "blood"])
    one = shoal.anonymize(table, **given, hierarchies="suggest")
    each = shoal.anonymize(table, **given, hierarchies={"age": "suggest", "blood": "suggest"})
    assert one.data == each.data


def test_values_in_order_need_not_be_texts(tmp_path):
    table = people(60).select(["age", "town"])
    ages = sorted({age for age in table.column("age").to_pylist() if age is not None})
    given = {"k": 5, "quasi_identifiers": ["age", "town"], "method": "mondrian"}
    result = shoal.anonymize(table, **given, kinds={"age": ages})
    assert result.recipe.kinds == {"age": [str(age) for age in ages]}
    shoal.Anonymizer(**given, kinds={"age": ages}).save(tmp_path / "recipe.toml")
    again = shoal.Anonymizer.load(tmp_path / "recipe.toml").fit(table).result_
    assert again.released.equals(result.released)


@pytest.mark.parametrize("named", [{"query": "SELECT * FROM t WHERE age < 30"}, {"table": "people"}])
def test_a_table_or_query_beside_rows_that_are_here_is_refused(named):
    (name,) = named
    with pytest.raises(
        ParameterError, match=f"The '{name}' parameter of anonymize is for a database or a file. Got Table"
    ):
        shoal.anonymize(people(60).select(["age", "town", "illness"]), **GIVEN, **named)


def test_a_query_of_a_file_that_is_no_database_is_refused(path):
    with pytest.raises(shoal.ShoalError, match="query"):
        shoal.anonymize(path, **GIVEN, query="SELECT 1")


def test_streams_and_spark_refuse_the_best_found_so_far(path):
    for engine in ("stream", "spark"):
        recipe = shoal.Anonymizer(**GIVEN, on_interrupt="best", engine=engine)
        with pytest.raises(ParameterError, match="on_interrupt='best'"):
            recipe.fit(path) if engine == "stream" else asked(SparkEngine(), recipe.request)


def test_a_file_too_large_for_memory_is_not_streamed_where_the_best_so_far_is_wanted(path):
    assert not hasattr(shoal.anonymize(path, **GIVEN, memory="1KB", on_interrupt="best"), "files")


def test_spark_refuses_a_bound_of_memory_that_it_does_not_keep():
    with pytest.raises(ParameterError, match=r"spark\.executor\.memory"):
        asked(SparkEngine(), shoal.Anonymizer(**GIVEN, memory="2GB").request)


class SetWhenAsked:
    """A token that is set when it is looked at for the third time."""

    def __init__(self):
        self.looks = 0

    def is_set(self):
        self.looks += 1
        return self.looks >= 3


@pytest.mark.parametrize("method", ["incognito", "datafly"])
def test_a_method_that_recodes_globally_looks_at_cancel_before_each_test(method):
    tables = {"hierarchies": HIERARCHIES | {"age": "auto"}}
    reported = []
    given = GIVEN | {"method": method, "quasi_identifiers": ["age", "town", "blood"], "sensitive": [], **tables}
    shoal.anonymize(people(60).select(["age", "town", "blood"]), **given, progress=lambda *one: reported.append(one))
    assert len([text for _, text in reported if "lattice" in text or "raising" in text]) > 2
    token = SetWhenAsked()
    with pytest.raises(CancelledError):
        shoal.anonymize(people(60).select(["age", "town", "blood"]), **given, cancel=token, on_interrupt="best")
    assert token.looks == 3


def test_a_misspelt_column_of_a_population_is_answered_with_the_nearest_one():
    town = people(90, 1).rename_columns(["aeg", "height", "town", "blood", "tongue", "illness", "note"])
    with pytest.raises(ColumnError, match="has no column 'age'") as caught:
        shoal.anonymize(people(60).select(["age", "town", "illness"]), **GIVEN, models=[shoal.KMap(6, town)])
    assert "did you mean 'aeg'?" in str(caught.value)
