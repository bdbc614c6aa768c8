import numpy as np
import pytest

from shoal import datasets
from shoal.errors import ParameterError
from tests.datasets.fingerprints import fingerprint


@pytest.mark.parametrize("make", [datasets.uniform, datasets.gaussian])
def test_the_defaults_are_four_columns_of_ten_thousand_integers_from_1_to_16(make):
    table = make()
    assert table.column_names == ["A1", "A2", "A3", "A4"]
    assert table.num_rows == 10_000
    values = np.array([column.to_numpy() for column in table.columns])
    assert values.min() >= 1
    assert values.max() <= 16


def test_uniform_values_are_equally_frequent_and_columns_differ():
    table = datasets.uniform(32_000, columns=2)
    counts = np.bincount(table["A1"].to_numpy(), minlength=17)[1:]
    assert counts == pytest.approx(np.full(16, 2000), rel=0.1)
    assert table["A1"] != table["A2"]


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_gaussian_values_have_the_middle_as_mean_and_sigma_as_spread(sigma):
    values = datasets.gaussian(50_000, columns=1, sigma=sigma)["A1"].to_numpy()
    assert values.mean() == pytest.approx(8.5, abs=0.03)
    # Rounding to integers adds about a twelfth to the variance.
    assert values.std() == pytest.approx((sigma**2 + 1 / 12) ** 0.5, rel=0.02)


def test_a_very_wide_gaussian_fills_its_whole_domain():
    counts = np.bincount(datasets.gaussian(32_000, columns=1, sigma=1e9)["A1"].to_numpy(), minlength=17)[1:]
    assert counts == pytest.approx(np.full(16, 2000), rel=0.1)


def test_a_very_narrow_gaussian_keeps_to_the_middle():
    assert set(datasets.gaussian(100, columns=1, sigma=1e-6, low=1, high=3)["A1"].to_pylist()) == {2}


@pytest.mark.parametrize(
    ("make", "digest"), [(datasets.uniform, "707e8fc2d71760f3"), (datasets.gaussian, "48367447f60e3d0f")]
)
def test_a_seed_gives_the_same_table_everywhere(make, digest):
    assert fingerprint(make(100, seed=1)) == digest
    assert fingerprint(make(100, seed=2)) != digest


@pytest.mark.parametrize("make", [datasets.uniform, datasets.gaussian])
@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"n": 2.5}, {"columns": 0}, {"low": 5, "high": 4}, {"high": 10**7}, {"seed": -1}]
)
def test_parameters_out_of_range_are_refused_by_name(make, wrong):
    with pytest.raises(ParameterError, match=f"{list(wrong)[-1]!r} parameter of {make.__name__}"):
        make(**wrong)


@pytest.mark.parametrize("sigma", [0, -1.0, float("nan"), "wide"])
def test_a_spread_that_is_not_positive_is_refused(sigma):
    with pytest.raises(ParameterError, match="'sigma' parameter of gaussian"):
        datasets.gaussian(10, sigma=sigma)
