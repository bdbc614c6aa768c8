from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
from shoal.encoding import encode
from shoal.errors import ColumnError, ParameterError, PrivacyError
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.methods import make_method
from shoal.methods.base import Task
from shoal.methods.microaggregation.forest import Forest
from shoal.methods.microaggregation.heuristics import MDAV, VMDAV, Univariate
from shoal.methods.microaggregation.scaling import as_coordinates, as_points
from tests.support import reference_microaggregation as reference

EIA = ["UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "OTHREVENUE"]
EIA += ["OTHRSALES", "TOTREVENUE", "TOTSALES"]
PUBLISHED = {
    "census": {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559},
    "tarragona": {3: 16.9326, 4: 19.5460, 5: 22.4619, 10: 33.1929},
    "eia": {3: 0.4829, 4: 0.6713, 5: 1.6667, 10: 3.8397},
}
VARIABLE = {
    "census": {3: 5.662, 4: 7.514, 5: 9.007, 10: 14.073},
    "tarragona": {3: 16.965, 4: 19.697, 5: 22.887, 10: 33.259},
}
COMPANIES = {
    "surface": [790, 710, 730, 810, 950, 510, 400, 330, 510, 760, 50],
    "employees": [55, 44, 32, 17, 3, 25, 45, 50, 5, 52, 12],
}


@pytest.fixture(scope="module")
def reference_set(data_path):
    def load(name):
        table = pyarrow.csv.read_csv(data_path(f"microaggregation/{name}.csv"))
        return table.select(EIA) if name == "eia" else table

    return load


def il_percent(table, method, k):
    matrix = np.column_stack([table.column(name).to_numpy().astype(float) for name in table.column_names])
    matrix = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    labels = run(table, method, k).labels
    sums = np.zeros((labels.max() + 1, matrix.shape[1]))
    np.add.at(sums, labels, matrix)
    means = sums / np.bincount(labels)[:, None]
    return 100 * ((matrix - means[labels]) ** 2).sum() / matrix.size


def run(table, method, k, **options):
    coded = encode(Frame(table), table.column_names, **options)
    return method.run(coded, Task(k=k))


@pytest.mark.parametrize(("name", "k"), [(name, k) for name in PUBLISHED for k in PUBLISHED[name]])
def test_mdav_loses_what_is_published_for_the_reference_sets_to_four_decimals(reference_set, name, k):
    assert round(il_percent(reference_set(name), MDAV(), k), 4) == PUBLISHED[name][k]


@pytest.mark.parametrize(("name", "k"), [(name, k) for name in VARIABLE for k in VARIABLE[name]])
def test_v_mdav_that_joins_the_rest_to_the_last_group_loses_what_is_published_for_gamma_02(reference_set, name, k):
    assert round(il_percent(reference_set(name), VMDAV(gamma=0.2, rest="last"), k), 3) == VARIABLE[name][k]


def test_the_slides_table_of_eleven_companies_is_the_exact_optimum():
    rows = as_coordinates(encode(Frame(pa.table(COMPANIES)), ["surface", "employees"]), "z").tolist()
    least, groups = reference.optimum(rows, 3)
    assert least == pytest.approx(7.4848, abs=5e-5)
    named = {"".join("ABCDEFGHIJK"[i] for i in group) for group in groups}
    assert named == {"ABCJ", "DEI", "FGHK"}


def company_groups(method, seed=0):
    coded = encode(Frame(pa.table(COMPANIES)), ["surface", "employees"])
    labels = method.run(coded, Task(k=3, seed=seed)).labels
    return {"".join("ABCDEFGHIJK"[i] for i in np.flatnonzero(labels == group)) for group in range(labels.max() + 1)}


def test_a_forest_of_any_neighbours_gives_the_slides_table_and_one_of_nearest_neighbours_another():
    assert company_groups(Forest(neighbour="any", tries=200)) == {"ABCJ", "DEI", "FGHK"}
    assert company_groups(Forest()) == {"ABCJ", "DEF", "GHIK"}


def test_more_tries_never_lose_more():
    random = np.random.default_rng(3)
    table = pa.table({name: random.random(60) for name in "xy"})
    losses = [il_percent(table, Forest(neighbour="any", tries=tries), 4) for tries in (1, 5, 40)]
    assert losses == sorted(losses, reverse=True)
    assert losses[2] < losses[0]
    assert il_percent(table, Forest(tries=10), 4) < il_percent(table, Forest(), 4)


@pytest.mark.parametrize("neighbour", ["nearest", "any"])
@pytest.mark.parametrize("k", [3, 5, 7, 10])
def test_a_forest_splits_groups_of_2k_records_and_loses_less_by_it(k, neighbour):
    random = np.random.default_rng(k)
    table = pa.table({name: random.lognormal(size=400) for name in "xyz"})
    printed, ours = Forest(neighbour=neighbour, large="keep"), Forest(neighbour=neighbour)
    kept, split = run(table, printed, k).labels, run(table, ours, k).labels
    assert np.bincount(split).max() <= 2 * k - 1
    assert np.bincount(split).min() >= k
    assert len({(a, b) for a, b in zip(kept, split, strict=True)}) == split.max() + 1  # only whole groups are split
    if np.bincount(kept).max() > 2 * k - 1:
        assert il_percent(table, ours, k) < il_percent(table, printed, k)
    else:
        assert split.tolist() == kept.tolist()


def test_large_trees_occur_so_that_splitting_them_is_tried():
    random = np.random.default_rng(10)
    table = pa.table({name: random.lognormal(size=400) for name in "xyz"})
    assert np.bincount(run(table, Forest(large="keep"), 10).labels).max() > 19


def test_a_forest_is_grown_at_least_once_and_points_to_a_neighbour_that_there_is():
    with pytest.raises(ParameterError, match=r"'tries' parameter of Forest must be an int of at least 1\. Got 0"):
        Forest(tries=0)
    with pytest.raises(ParameterError, match="'neighbour' parameter of Forest must be one of 'nearest', 'any'"):
        Forest(neighbour="far")
    with pytest.raises(ParameterError, match="'large' parameter of Forest must be one of 'split', 'keep'"):
        Forest(large="halve")


@pytest.mark.parametrize("method", [MDAV(), VMDAV(), Univariate(), Univariate(projection="sum"), Forest()])
def test_every_method_releases_groups_of_at_least_k_with_their_means(method):
    table = pa.table({"x": np.arange(50.0) ** 1.5, "y": np.arange(50) % 7, "kept": [str(i) for i in range(50)]})
    result = shoal.anonymize(table, k=4, quasi_identifiers=["x", "y"], keep=["kept"], method=method)
    assert result.audit.k >= 4
    assert result.data.column("kept").to_pylist() == table.column("kept").to_pylist()
    for group in range(result.groups.max() + 1):
        inside = np.flatnonzero(result.groups == group)
        mean = table.column("x").to_numpy()[inside].mean()
        assert np.allclose(result.data.column("x").to_numpy()[inside], mean)


def test_methods_are_found_by_name():
    assert [make_method(name) for name in ("mdav", "v-mdav", "univariate", "forest")] == [
        MDAV(), VMDAV(), Univariate(), Forest(),
    ]  # fmt: skip


def test_univariate_with_one_column_is_optimal():
    values = [3.0, 1.0, 9.0, 8.0, 2.0, 20.0, 22.0, 9.5, 21.0, 0.5]
    labels = run(pa.table({"x": values}), Univariate(scale="none"), 3).labels
    least, _ = reference.optimum([[value] for value in values], 3)
    assert reference.loss([[value] for value in values], labels.tolist()) == pytest.approx(least)


def test_univariate_orders_by_a_chosen_column():
    table = pa.table({"x": [0, 100, 0, 100, 0, 100], "y": [1, 2, 3, 4, 5, 6]})
    assert run(table, Univariate(projection="y"), 3).labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert run(table, Univariate(projection="x"), 3).labels.tolist() == [0, 1, 0, 1, 0, 1]


def test_an_unknown_projection_is_refused_with_the_nearest_name():
    with pytest.raises(ColumnError, match="did you mean 'surface'"):
        run(pa.table(COMPANIES), Univariate(projection="surfaces"), 3)


def test_scale_decides_which_column_counts():
    table = pa.table({"big": [0, 1000, 0, 1000], "small": [0.0, 0.0, 1.0, 1.0]})
    by_size = run(table, MDAV(scale="none"), 2).labels
    assert by_size.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    outlier = pa.table({"a": [0, 0, 0, 0, 9, 9], "b": [0, 1, 0, 1, 0, 1]})
    assert run(outlier, MDAV(scale="range"), 2).labels.tolist() != run(outlier, MDAV(scale="none"), 2).labels.tolist()


def test_weights_stretch_columns():
    table = pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    heavy_a = run(table, MDAV(), 2, weights={"a": 10}).labels
    heavy_b = run(table, MDAV(), 2, weights={"b": 10}).labels
    assert heavy_a[0] == heavy_a[1] != heavy_a[2]
    assert heavy_b[0] == heavy_b[2] != heavy_b[1]


def test_within_a_column_no_group_mixes_its_values():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=60), "region": rng.choice(["north", "south"], 60)})
    labels = run(table, MDAV(within="region"), 5).labels
    regions = np.array(table.column("region").to_pylist())
    assert all(len(set(regions[labels == group])) == 1 for group in range(labels.max() + 1))
    assert np.bincount(labels).min() >= 5


def test_a_block_below_k_is_withheld_only_where_suppression_is_allowed():
    table = pa.table({"x": list(range(10)), "region": ["a"] * 8 + ["b"] * 2})
    coded = encode(Frame(table), ["x", "region"])
    with pytest.raises(PrivacyError, match="2 records"):
        MDAV(within="region").run(coded, Task(k=3))
    labels = MDAV(within="region").run(coded, Task(k=3, max_suppression=0.2)).labels
    assert labels.tolist()[8:] == [-1, -1]
    assert min(labels.tolist()[:8]) == 0


def test_blocking_by_an_unknown_column_is_refused():
    with pytest.raises(ColumnError, match="'regoin'"):
        run(pa.table(COMPANIES), MDAV(within="regoin"), 3)


def test_wrong_parameters_are_refused():
    for make in (
        lambda: MDAV(scale="zscore"), lambda: VMDAV(gamma=-1.0), lambda: VMDAV(rest="none"), lambda: MDAV(within=3),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            make()


def test_coordinates_of_categories_have_the_distances_of_their_hierarchy():
    tree = Hierarchy.from_dict({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})
    table = encode(Frame(pa.table({"x": ["a", "b", "c", "d"]})), ["x"], hierarchies={"x": tree})
    points = as_coordinates(table, "none")
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    expected = [[0, 0.5, 1, 1], [0.5, 0, 1, 1], [1, 1, 0, 0.5], [1, 1, 0.5, 0]]
    assert np.allclose(squared, expected)


def test_a_standardized_category_has_variance_one_in_both_forms():
    table = encode(Frame(pa.table({"x": ["a"] * 6 + ["b"] * 3 + ["c"]})), ["x"])
    assert as_coordinates(table, "z").var(axis=0).sum() == pytest.approx(1)
    shares = np.array([0.6, 0.3, 0.1])
    assert as_points(table, "z").factor[0] == pytest.approx(2 / (1 - (shares**2).sum()))


def test_missing_numbers_are_kept_apart():
    table = pa.table({"x": pa.array([1.0, None, 9.0, 1.1, None, 9.1, 1.2, None, 9.2])})
    labels = run(table, MDAV(), 3).labels
    assert len({tuple(labels[start::3].tolist()) for start in range(3)}) == 3
    assert all(len(set(labels[start::3].tolist())) == 1 for start in range(3))


def test_mixed_columns_are_grouped_by_both():
    table = pa.table({"x": [1, 1, 1, 1, 9, 9, 9, 9], "job": ["nurse", "cook"] * 4})
    labels = run(table, MDAV(), 2).labels.tolist()
    columns = (table.column("x").to_pylist(), table.column("job").to_pylist())
    groups = {
        label: {(x, job) for x, job, one in zip(*columns, labels, strict=True) if one == label} for label in labels
    }
    assert all(len(records) == 1 for records in groups.values())


def test_a_category_with_too_many_values_is_refused_where_it_needs_coordinates():
    table = pa.table({"x": [f"v{i}" for i in range(600)]})
    with pytest.raises(ParameterError, match="600"):
        run(table, VMDAV(), 3)
    assert np.bincount(run(table, MDAV(), 3).labels).min() >= 3


def test_the_column_of_blocks_need_not_be_a_quasi_identifier():
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.normal(size=40), "region": rng.choice(["north", "south"], 40)})
    result = shoal.anonymize(table, k=4, quasi_identifiers=["x"], keep=["region"], method=MDAV(within="region"))
    regions = np.array(table.column("region").to_pylist())
    assert all(len(set(regions[result.groups == group])) == 1 for group in range(result.groups.max() + 1))
