import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal import datasets
from shoal.errors import ParameterError
from tests.datasets.fingerprints import fingerprint

NUMBERS = {"age", "education-num"}
TEXTS = {"workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"}


@pytest.fixture(scope="module")
def adults():
    return datasets.adult_like(30_000)


def share(table, column, value, *conditions):
    for name, wanted in conditions:
        table = table.filter(pc.equal(table[name], wanted))
    return pc.mean(pc.equal(table[column], value)).as_py()


def test_the_columns_are_numbers_and_texts_as_in_the_census(adults):
    kinds = {field.name: field.type for field in adults.table.schema}
    assert {name for name, kind in kinds.items() if kind == pa.int64()} == NUMBERS
    assert {name for name, kind in kinds.items() if kind == pa.string()} == TEXTS
    assert adults.table.num_rows == 30_000
    assert repr(adults) == "AdultLike(30,000 people)"


def test_numbers_stay_in_the_range_of_the_census(adults):
    assert pc.min_max(adults.table["age"]).as_py() == {"min": 17, "max": 90}
    assert pc.min_max(adults.table["education-num"]).as_py() == {"min": 1, "max": 16}


def test_the_marginals_are_skewed(adults):
    assert share(adults.table, "native-country", "United-States") > 0.85
    assert share(adults.table, "workclass", "Private") > 0.6
    assert 0.15 < share(adults.table, "salary-class", ">50K") < 0.35
    assert len(pc.unique(adults.table["native-country"])) == 41


def test_columns_depend_on_each_other(adults):
    table = adults.table
    assert share(table, "occupation", "Adm-clerical", ("sex", "Female")) > 2 * share(
        table, "occupation", "Adm-clerical", ("sex", "Male")
    )
    assert share(table, "salary-class", ">50K", ("education-num", 13)) > 2 * share(
        table, "salary-class", ">50K", ("education-num", 7)
    )
    assert share(table, "marital-status", "Never-married", ("age", 20)) > 2 * share(
        table, "marital-status", "Never-married", ("age", 45)
    )
    assert share(table, "workclass", "Federal-gov", ("occupation", "Armed-Forces")) == 1.0


def test_the_hierarchies_have_every_value_as_a_leaf(adults):
    assert set(adults.hierarchies) == (NUMBERS | TEXTS) - {"salary-class"}
    for name, hierarchy in adults.hierarchies.items():
        values = {str(value) for value in pc.unique(adults.table[name]).to_pylist()}
        assert values <= set(hierarchy.leaves), name


def test_a_seed_gives_the_same_table_everywhere():
    assert fingerprint(datasets.adult_like(100, seed=1).table) == "165a024576dbdfd8"
    assert fingerprint(datasets.adult_like(100, seed=2).table) != "165a024576dbdfd8"


@pytest.mark.parametrize("n", [0, -3, 1.5, "many", True])
def test_a_size_that_is_no_positive_int_is_refused(n):
    with pytest.raises(ParameterError, match="'n' parameter of adult_like"):
        datasets.adult_like(n)
