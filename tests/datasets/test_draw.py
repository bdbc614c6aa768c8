import numpy as np
import pytest

from shoal.datasets._draw import Draws, ramp


def test_equal_seeds_and_names_give_equal_streams_and_others_do_not():
    stream = Draws(7).bits("job", 100).tolist()
    assert stream == Draws(7).bits("job", 100).tolist()
    assert stream != Draws(8).bits("job", 100).tolist()
    assert stream != Draws(7).bits("zip", 100).tolist()


def test_integers_reach_both_ends_and_nothing_beyond():
    assert sorted(set(Draws(0).integers("x", 1000, -2, 3).tolist())) == [-2, -1, 0, 1, 2, 3]


def test_choices_follow_the_weights_of_their_own_cell():
    cells = np.repeat([0, 1, 2], 20_000)
    codes = Draws(1).choose_by("x", cells, [(1, 3, 0), (0, 0, 5), (2, 1, 1)])
    shares = np.array([np.bincount(codes[cells == cell], minlength=3) for cell in range(3)]) / 20_000
    expected = [[0.25, 0.75, 0], [0, 0, 1], [0.5, 0.25, 0.25]]
    assert shares == pytest.approx(np.array(expected), abs=0.02)
    assert (shares[np.array(expected) == 0] == 0).all()


def test_the_outermost_bits_never_choose_what_weighs_nothing(monkeypatch):
    edges = np.array([0, 2**31 - 1, 2**31, 2**32 - 1])
    monkeypatch.setattr(Draws, "bits", lambda self, stream, n: edges)
    assert Draws(0).choose("x", 4, (0, 1, 0, 1, 0)).tolist() == [1, 1, 3, 3]
    assert Draws(0).choose_by("x", np.array([0, 1, 1, 0]), [(0, 1, 1, 0), (1, 0, 0, 1)]).tolist() == [1, 0, 3, 2]


def test_an_order_holds_every_place_once():
    order = Draws(3).order("x", 500)
    assert sorted(order.tolist()) == list(range(500))
    assert order.tolist() != list(range(500))


def test_lognormal_factors_have_the_median_one_and_the_spread_asked_for():
    logs = np.log(Draws(2).lognormal_millionths("x", 50_000, 0.5) / 1e6)
    assert np.median(logs) == pytest.approx(0.0, abs=0.02)
    assert logs.std() == pytest.approx(0.5, abs=0.02)


def test_a_ramp_joins_its_knots_with_straight_lines():
    assert ramp({2: 10, 4: 20, 5: 0}, range(8)) == [10, 10, 10, 15, 20, 0, 0, 0]
