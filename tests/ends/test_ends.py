"""Round ends: they move outwards, cost no more than allowed, tell less, and every promise still holds."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks import downcoding
from shoal.cells.parse import parse_cell, read_number
from shoal.encoding import encode
from shoal.ends import MOST_LOSS, released_boxes, round_ends
from shoal.ends.grids import FloatGrid, TimeGrid, WholeGrid, make_grid, number_step, step_names
from shoal.errors import ColumnError, ParameterError
from shoal.frames import to_frame
from shoal.privacy.base import Requirement
from tests.fuzz.interference import Given

NAMES = ["age", "bmi", "born"]


def _table(records: int = 600, seed: int = 3) -> pa.Table:
    random = np.random.default_rng(seed)
    born = np.datetime64("1930-01-01") + random.integers(0, 25_000, records)
    return pa.table(
        {
            "age": random.integers(18, 95, records),
            "bmi": random.normal(26, 5, records),
            "born": pa.array(born.astype("datetime64[D]").astype(object), pa.date32()),
            "ill": random.choice(["a", "b", "c", "d"], records),
        }
    )


def _release(table: pa.Table, names: list[str] | None = None, **more: object) -> shoal.Result:
    given_parameters = {"k": 5, "method": "mondrian", "sensitive": ["ill"], "ends": "round"} | more
    return shoal.anonymize(
        table.select([*(names or NAMES), "ill"]), quasi_identifiers=names or NAMES, **given_parameters
    )


def _grid(values: pa.Array) -> object:
    column = encode(to_frame(pa.table({"x": values})), ["x"]).columns[0]
    return make_grid(column, np.arange(len(column.values), dtype=np.int32))


# --- grids -------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=2, max_size=8, unique=True),
    st.sampled_from([0.001, 0.02, 0.5, 1, 2, 5, 7, 250, 10_000]),
)
def test_floats_move_outwards_to_the_next_multiple_and_no_further(values: list[float], size: float) -> None:
    numbers = np.array(sorted({value + 0.0 for value in values}))
    if len(numbers) < 2:
        return
    grid = _grid(pa.array(numbers))
    assert isinstance(grid, FloatGrid)
    low, high = grid.outwards(numbers, numbers, number_step(size))
    assert (low <= numbers).all()
    assert (high >= numbers).all()
    assert (numbers - low < size * (1 + 1e-9)).all()
    assert (high - numbers < size * (1 + 1e-9)).all()
    for text in grid.texts(low):
        assert Decimal(text) % Decimal(str(size)) == 0


def test_whole_numbers_and_decimals_move_exactly_even_beyond_64_bits() -> None:
    grid = _grid(pa.array([-7, 3, 18]))
    assert isinstance(grid, WholeGrid)
    low, high = grid.outwards(np.array([-7, 3]), np.array([3, 18]), number_step(5))
    assert (low.tolist(), high.tolist()) == ([-10, 0], [4, 19])
    large = _grid(pa.array([2**64 - 3, 5], pa.uint64()))
    low, high = large.outwards(large.exact[:1], large.exact[1:], number_step(10))
    assert large.texts(low) == ["0"]
    assert large.texts(high) == ["18446744073709551619"]
    cents = _grid(pa.array([Decimal("1.23"), Decimal("9.99")], pa.decimal128(6, 2)))
    low, high = cents.outwards(cents.exact[:1], cents.exact[1:], number_step(0.5))
    assert (cents.texts(low), cents.texts(high)) == (["1"], ["10"])
    assert cents.outwards(cents.exact[:1], cents.exact[1:], number_step(0.001))[0] == cents.exact[:1]


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ("day", ("2023-02-14", "2024-02-10")),
        ("month", ("2023-02-01", "2024-02-29")),
        ("quarter", ("2023-01-01", "2024-03-31")),
        ("year", ("2023-01-01", "2024-12-31")),
        ("5 years", ("2020-01-01", "2024-12-31")),
    ],
)
def test_dates_end_with_the_period_they_lie_in(step: str, wanted: tuple[str, str]) -> None:
    days = [dt.date(2023, 2, 14), dt.date(2024, 2, 10)]
    for kind in (pa.date32(), pa.date64()):
        grid = _grid(pa.array(days, kind))
        assert isinstance(grid, TimeGrid)
        low, high = grid.outwards(grid.exact[:1], grid.exact[1:], grid.named(step))
        assert (grid.texts(low)[0], grid.texts(high)[0]) == wanted


def test_moments_times_and_durations_move_by_the_clock() -> None:
    moments = _grid(pa.array(np.array(["2024-01-31T07:45", "2024-02-01"], "datetime64[us]")))
    low, high = moments.outwards(moments.exact[:1], moments.exact[1:], moments.named("month"))
    assert moments.texts(low) + moments.texts(high) == ["2024-01-01", "2024-02-01"]
    times = _grid(pa.array([dt.time(7, 45), dt.time(23, 59, 30)], pa.time32("s")))
    low, high = times.outwards(times.exact[:1], times.exact[1:], times.named("hour"))
    assert times.texts(low) + times.texts(high) == ["07:00:00", "23:59:59"]
    spans = _grid(pa.array([dt.timedelta(days=-3, hours=2), dt.timedelta(days=11)], pa.duration("s")))
    low, high = spans.outwards(spans.exact[:1], spans.exact[1:], spans.named("5 days"))
    assert spans.texts(low) + spans.texts(high) == ["-5 days", "15 days"]


def test_dates_that_cannot_be_written_stay_where_they_are() -> None:
    grid = _grid(pa.array([dt.date(1, 3, 1), dt.date(9999, 3, 1)]))
    low, high = grid.outwards(grid.exact[:1], grid.exact[1:], grid.named("100 years"))
    assert grid.texts(low) + grid.texts(high) == ["0001-03-01", "9999-12-31"]


def test_steps_are_named_as_a_reader_says_them() -> None:
    assert step_names([]) == ""
    assert step_names([number_step(5)]) == "multiples of 5"
    assert step_names([number_step(20), number_step(0.5)]) == "multiples of 0.5 to 20"


# --- releases ----------------------------------------------------------------------------------------------------


def test_round_ends_cost_a_column_at_most_five_percent_more_and_cover_every_value() -> None:
    table = _table()
    for method in ("mondrian", "bottom-up", "top-down"):
        exact, rounded = (_release(table, method=method, ends=ends) for ends in ("exact", "round"))
        assert np.array_equal(exact.groups, rounded.groups)
        for name, loss in exact.metrics["ncp_by_column"].items():
            assert loss <= rounded.metrics["ncp_by_column"][name] <= loss * (1 + MOST_LOSS) + 1e-12
        for name in NAMES:
            kind = table.schema.field(name).type
            for value, text in zip(
                table.column(name).to_pylist(), rounded.released.column(name).to_pylist(), strict=True
            ):
                ends = [read_number(one, kind) for one in parse_cell(text).values]
                own = (value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else value
                assert ends[0] <= own <= ends[-1]


def test_ends_of_continuous_columns_tell_a_members_value_at_most_a_quarter_as_often() -> None:
    table = _table(3_000)
    for method in ("mondrian", "bottom-up"):
        exact, rounded = (_release(table, method=method, ends=ends) for ends in ("exact", "round"))
        before, after = (downcoding(table, one, NAMES).figures for one in (exact, rounded))
        assert before["bmi: ends near one"] == before["bmi: ends at a member"] == 1.0
        assert after["bmi: ends near one"] <= 0.25
        assert after["bmi: ends at a member"] == 0.0
        assert after["born: right"] <= 1.05 * after["born: by chance"]


def test_loss_is_measured_on_the_released_ranges_not_on_the_values_in_them() -> None:
    table = _table()
    result = _release(table, ["bmi"], ends={"bmi": 5})
    values = table.column("bmi").to_numpy()
    width, total = values.max() - values.min(), 0.0
    for text in result.released.column("bmi").to_pylist():
        low, high = (float(one) for one in parse_cell(text).values)
        total += min(high, values.max()) - max(low, values.min())
    assert result.metrics["ncp"] == pytest.approx(total / width / table.num_rows)
    assert all(
        float(one) % 5 == 0 for text in result.released.column("bmi").to_pylist() for one in parse_cell(text).values
    )


def test_groups_whose_round_cells_are_equal_become_one_released_combination() -> None:
    table = _table()
    result = _release(table, ["age"], ends={"age": 50})
    assert result.audit.groups < int(result.groups.max()) + 1
    assert result.audit.k >= 5
    assert set(result.released.column("age").to_pylist()) <= {"[0-49]", "[50-99]", "[0-99]"} | {
        str(age) for age in range(18, 95)
    }


def test_ranges_of_whole_numbers_meet_without_overlapping() -> None:
    cells = set(_release(_table(), ["age"], ends={"age": 5}).released.column("age").to_pylist())
    ends = [tuple(map(int, cell[1:-1].split("-"))) for cell in cells if cell.startswith("[")]
    assert ends
    assert {(low % 5, high % 5) for low, high in ends} == {(0, 4)}
    assert not {low for low, _ in ends} & {high for _, high in ends}


def test_ranges_of_all_values_of_a_short_scale_show_no_value_beyond_it() -> None:
    table = pa.table({"answer": [0, 1, 2, 3, 4] * 10})
    result = shoal.anonymize(table, k=50, quasi_identifiers=["answer"], method="mondrian")
    assert set(result.released.column("answer").to_pylist()) == {"[0-4]"}


def test_models_hold_after_rounding() -> None:
    for model in (shoal.LDiversity(2), shoal.TCloseness(0.3)):
        result = _release(_table(), models=[model])
        assert any(result.details["ends"].values())
        exact = _release(_table(), models=[model], ends="exact")
        assert result.audit.sensitive["ill"]["l"] >= exact.audit.sensitive["ill"]["l"]


class _NoneJoined(Requirement):
    """A model that no joined groups hold."""

    def __init__(self, largest: int) -> None:
        self.largest = largest

    def failing(self, labels: np.ndarray, groups: int) -> np.ndarray:
        return np.bincount(labels, minlength=groups) > self.largest


def test_a_model_that_fails_on_joined_groups_makes_ends_finer_until_it_holds() -> None:
    ages = np.concatenate([np.repeat(np.arange(40, 60), 2), np.arange(100, 1_000, 10)])
    result = shoal.anonymize(pa.table({"age": ages}), k=5, quasi_identifiers=["age"], method="mondrian", ends="exact")
    labels, largest = result.groups.copy(), int(np.bincount(result.groups).max())

    def joined(requirements: list[Requirement]) -> bool:
        ends = round_ends(result.coded, labels, result.cover, "round", requirements)
        boxes = released_boxes(result.coded, result.cover, ends).cover
        sizes = np.bincount(np.unique(np.stack([boxes.low[0], boxes.high[0]]), axis=1, return_inverse=True)[1].ravel())
        return bool(sizes.max() > 1)

    assert not joined([_NoneJoined(largest)])
    assert round_ends(result.coded, labels, result.cover, "round", [_NoneJoined(0)]) == {}


def test_missing_values_single_values_and_nodes_keep_their_cells() -> None:
    ages = [20] * 10 + [None] * 5 + [81, 83, 88, 87, 89, 92]
    table = pa.table({"age": ages, "job": ["a"] * 21})
    result = shoal.anonymize(
        table, k=5, quasi_identifiers=["age", "job"], method="bottom-up", hierarchies={"job": "flat"}, ends={"age": 10}
    )
    cells = result.released.column("age").to_pylist()
    assert cells[:10] == ["20"] * 10
    assert cells[10:15] == [None] * 5
    assert cells[15:] == ["[80-99]"] * 6
    assert set(result.released.column("job").to_pylist()) == {"a"}


def test_representatives_have_no_ends() -> None:
    result = _release(_table(), method="mdav", release="representatives", names=["age", "bmi"])
    assert not result.ends


def test_query_answers_use_the_released_ends() -> None:
    table = _table()
    exact, rounded = (_release(table, ends=ends) for ends in ("exact", {"age": 20, "bmi": 10}))
    errors = [float(shoal.metrics.query_error(table, one, 200)) for one in (exact, rounded)]
    assert errors[0] < errors[1]


def test_a_recipe_keeps_where_ranges_end(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    choice = {"age": 5.0, "born": "month"}
    shoal.Anonymizer(k=5, quasi_identifiers=NAMES, ends=choice).save(path)
    assert shoal.Anonymizer.load(path).ends == choice
    assert shoal.Anonymizer.load(path, ends="exact").ends == "exact"


@pytest.mark.parametrize(
    ("ends", "error", "words"),
    [
        ("coarse", ParameterError, "one of 'round', 'exact'"),
        (5, ParameterError, "a dict with a step"),
        ({"age": 0}, ParameterError, "above 0"),
        ({"age": float("nan")}, ParameterError, "above 0"),
        ({"age": "decade"}, ParameterError, "one of"),
        ({"age": "month"}, ParameterError, "must be a number"),
        ({"born": 3}, ParameterError, "a word such as"),
        ({"born": "hour"}, ParameterError, "a word such as"),
        ({"ill": 3}, ColumnError, "not a quasi-identifier"),
        ({"aged": 3}, ColumnError, "did you mean 'age'"),
    ],
)
def test_wrong_ends_are_refused_in_one_sentence(ends: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        _release(_table(), ends=ends)


def test_a_step_for_a_column_without_ranges_is_refused() -> None:
    with pytest.raises(ParameterError, match="not released as ranges"):
        shoal.anonymize(_table().select(["ill", "age"]), k=5, quasi_identifiers=["ill", "age"], ends={"ill": 5})
    with pytest.raises(ParameterError, match="releases with ranges"):
        shoal.Anonymizer(k=5, quasi_identifiers=["age"], release="representatives", ends={"age": 5})


def test_the_report_and_the_explanation_say_where_ranges_end() -> None:
    result = _release(_table(), ends={"age": 5})
    assert "ends at multiples of 5" in result.report().text(Path("report.md"))
    rounded = next(row for row, text in enumerate(result.released.column("bmi").to_pylist()) if text.startswith("["))
    assert "round values" in str(result.explain(rounded, "bmi"))


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_ends_do_not_tell_where_withheld_records_are(seed: int) -> None:
    """What the wider ranges cost is reckoned within what the release shows."""
    random = np.random.default_rng(seed)
    labels = (*(group for group in range(5) for _ in range(6)), -1)
    near = np.round(random.normal(170, 12, len(labels)), 1)
    cells = []
    for height in (170.0, 999.5):
        table = pa.table({"height": np.append(near[:-1], height)})
        made = shoal.anonymize(table, k=3, quasi_identifiers=["height"], method=Given(labels), max_suppression=0.5)
        cells.append(made.released.column("height").to_pylist())
    assert cells[0] == cells[1]


def test_ends_do_not_tell_how_near_values_inside_of_a_range_are() -> None:
    """A step is chosen by the width of its range alone, however fine the values of the column are."""
    labels = (0, 0, 0, 1, 1, 1)
    cells = []
    for inside in (104.0, 100.001):
        table = pa.table({"height": [13.0, 13.0, 17.0, 100.0, inside, 200.0]})
        made = shoal.anonymize(table, k=3, quasi_identifiers=["height"], method=Given(labels))
        cells.append(made.released.column("height").to_pylist())
    assert cells[0] == cells[1]


@pytest.mark.parametrize("ends", ["round", {"age": 10}, {"age": 2.5}])
@pytest.mark.parametrize(("inside", "withheld"), [(33, 30.5), (33.5, 30)])
def test_ends_do_not_tell_that_a_hidden_value_is_a_fraction(ends: object, inside: float, withheld: float) -> None:
    labels = (0, 0, 0, 1, 1, 1, -1)
    cells = []
    for hidden in ((33, 30), (inside, withheld)):
        ages = pa.array([21, 25, 27, 31, hidden[0], 58, hidden[1]])
        made = shoal.anonymize(
            pa.table({"age": ages}),
            k=3,
            quasi_identifiers=["age"],
            method=Given(labels),
            max_suppression=0.5,
            ends=ends,
        )
        cells.append(made.released.column("age").to_pylist())
    if ends != {"age": 2.5}:  # integers have no ends at fractions
        assert cells[0] == cells[1]
    if ends != "round":
        assert not {"[21-27]", "[31-58]"} & set(cells[1])


def test_numbers_with_gaps_that_a_frame_holds_as_floats_meet_without_overlapping() -> None:
    ages = pa.array([float(age) for age in range(20, 60)] + [None] * 5)
    made = shoal.anonymize(pa.table({"age": ages}), k=5, quasi_identifiers=["age"], method="mondrian", ends={"age": 10})
    cells = set(made.released.column("age").to_pylist())
    assert {"[20-29]", "[30-39]"} <= cells
