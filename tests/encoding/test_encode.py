from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode, encode_attribute
from shoal.errors import ColumnError, DataError, HierarchyError, ParameterError
from shoal.frames import Frame, to_frame
from shoal.hierarchy import Hierarchy
from shoal.kernels.measuring.matching import release_column
from shoal.kernels.measuring.query_answers import released_codes
from shoal.kernels.space.space import cover_groups, range_cost


def one(values, **parameters):
    """Code a single column; return its description, its codes and the whole table."""
    array = values if isinstance(values, pa.Array) else pa.array(values)
    table = encode(Frame(pa.table({"x": array})), ["x"], **parameters)
    return table.columns[0], table.codes[0].tolist(), table


def test_numbers_are_coded_by_the_rank_of_their_distinct_values():
    column, codes, table = one([30, 10, 30, 20])
    assert column.kind.ordered
    assert codes == [2, 0, 2, 1]
    assert column.texts == ["10", "20", "30"]
    assert range_cost(table.space, 0, 0, 1) == 0.5


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([2.5, 1.0, float("nan")], ["1", "2.5"]),
        ([Decimal("2.50"), Decimal("1.25"), None], ["1.25", "2.5"]),
        ([dt.date(2024, 2, 1), dt.date(2023, 5, 6), None], ["2023-05-06", "2024-02-01"]),
        ([dt.datetime(2024, 2, 1, 12), dt.datetime(2023, 5, 6), None], ["2023-05-06", "2024-02-01T12:00:00"]),  # noqa: DTZ001
        ([dt.time(12, 30), dt.time(8), None], ["08:00:00", "12:30:00"]),
    ],
)
def test_every_ordered_type_is_an_interval_and_a_missing_value_a_code_of_its_own(values, texts):
    column, codes, table = one(values)
    assert column.kind.ordered
    assert column.texts == texts
    assert codes == [1, 0, 2]
    assert column.missing == 2
    assert range_cost(table.space, 0, 0, 1) == 1.0
    assert range_cost(table.space, 0, 1, 2) == 1.0
    assert range_cost(table.space, 0, 2, 2) == 0.0


def test_text_is_a_set_by_default_and_flat_or_a_tree_by_choice():
    assert one(["b", "a", "b"])[0].kind.name == "set"
    assert one([True, False])[0].texts == ["false", "true"]
    column, codes, table = one(["b", "a", None], hierarchies={"x": "flat"})
    assert column.kind.name == "node"
    assert codes == [1, 0, 2]
    assert range_cost(table.space, 0, 0, 1) == 1.0
    assert range_cost(table.space, 0, 1, 2) == 1.0
    assert one([3, 1], hierarchies={"x": "set"})[0].texts == ["1", "3"]


def test_a_missing_value_in_a_hierarchy_is_a_leaf_below_the_root_and_changes_no_cost():
    tree = Hierarchy.from_dict({"*": {"A": ["a", "b"], "C": ["c", "d"]}})
    _, codes, plain = one(["a", "d"], hierarchies={"x": tree})
    column, holey_codes, holey = one(["a", "d", None], hierarchies={"x": tree})
    assert codes == [0, 3]
    assert holey_codes == [0, 3, 4]
    for low, high in [(0, 1), (2, 3), (0, 3)]:
        assert range_cost(plain.space, 0, low, high) == range_cost(holey.space, 0, low, high)
    assert range_cost(holey.space, 0, 3, 4) == 1.0
    assert column.node_labels[:5] == ["a", "b", "c", "d", ""]


def test_a_hierarchy_for_numbers_is_matched_by_the_text_of_the_value():
    tree = Hierarchy.from_dict({"*": {"low": ["1", "2"], "high": ["39.5"]}})
    assert one([1.0, 39.5, 2.0], hierarchies={"x": tree})[1] == [0, 2, 1]


def test_a_hierarchy_file_is_named_by_its_path(tmp_path):
    (tmp_path / "x.csv").write_text("a;A;*\nb;A;*\nc;C;*\n")
    assert one(["c", "a"], hierarchies={"x": str(tmp_path / "x.csv")})[1] == [2, 0]


def test_values_without_a_leaf_are_counted_and_one_is_named():
    tree = Hierarchy.flat(["a", "b"])
    with pytest.raises(HierarchyError, match=r"'x'.*it lacks 2 of its values \(3 rows, the first is row"):
        one(["a", "z", "y", "z"], hierarchies={"x": tree})


def test_a_given_order_makes_ranks():
    column, codes, table = one(["mid", "low", None], kinds={"x": ["low", "mid", "top"]})
    assert column.ordinal
    assert codes == [1, 0, 3]
    assert range_cost(table.space, 0, 0, 1) == 0.5
    with pytest.raises(HierarchyError, match="it lacks 1 of its values"):
        one(["mid", "other"], kinds={"x": ["low", "mid"]})
    with pytest.raises(ParameterError, match="twice"):
        one(["mid"], kinds={"x": ["mid", "mid"]})


def test_text_becomes_numbers_or_dates_where_the_user_says_so():
    assert one(["007", "12"], kinds={"x": "numeric"})[0].texts == ["7", "12"]
    assert one(["2024-02-01", "2023-01-01"], kinds={"x": "date"})[1] == [1, 0]
    assert one([5, 7], kinds={"x": "nominal"})[0].kind.name == "set"


def test_text_in_a_numeric_column_is_counted_and_not_shown():
    with pytest.raises(DataError, match="other text in 2 rows") as fault:
        one(["1", "hidden", "hidden"], kinds={"x": "numeric"})
    assert "hidden" not in str(fault.value)


def test_wrong_kinds_hierarchies_and_weights_get_a_sentence():
    for parameters, kind, text in [
        ({"kinds": {"x": "numerik"}}, ParameterError, "did you mean 'numeric'"),
        ({"kinds": {"y": "numeric"}}, ColumnError, "not a quasi-identifier"),
        ({"kinds": {"x": "numeric"}, "hierarchies": {"x": "flat"}}, ParameterError, "both a kind and a hierarchy"),
        ({"hierarchies": {"x": 3}}, ParameterError, "must be a Hierarchy"),
        ({"weights": {"x": -1}}, ParameterError, "at least 0"),
        ({"weights": {"x": float("nan")}}, ParameterError, "finite"),
        ({"weights": {"x": float("inf")}}, ParameterError, "finite"),
        ({"weights": {"x": 0}}, ParameterError, "all 0"),
        ({"weights": {"z": 1}}, ColumnError, "not a quasi-identifier"),
    ]:
        with pytest.raises(kind, match=text):
            one([1, 2], **parameters)


def test_infinite_numbers_are_refused():
    with pytest.raises(DataError, match="infinite"):
        one([1.0, float("inf")])


def test_columns_of_missing_values_only_are_coded():
    for kind in (pa.int64(), pa.string()):
        column, codes, _ = one(pa.array([None, None], kind))
        assert codes == [0, 0]
        assert column.cardinality == 1
    assert one(pa.array([None, None], pa.string()), hierarchies={"x": "flat"})[1] == [1, 1]


def test_many_distinct_texts_and_many_chunks_are_coded_right():
    random = np.random.default_rng(0)
    texts = [f"t{number:06}" for number in random.integers(0, 100_000, 300_000)]
    chunked = pa.chunked_array([pa.array(texts[:100_000]), pa.array(texts[100_000:])])
    table = encode(Frame(pa.table({"x": chunked})), ["x"])
    decoded = np.array(table.columns[0].texts)[table.codes[0]]
    assert decoded.tolist() == texts


def test_attributes_are_coded_in_their_order_with_missing_last():
    frame = to_frame(pa.table({"d": ["b", None, "a"], "n": [30, 5, 30]}))
    text, number = encode_attribute(frame, "d"), encode_attribute(frame, "n")
    assert text.codes.tolist() == [1, 2, 0]
    assert text.cardinality == 3
    assert number.codes.tolist() == [1, 0, 1]
    assert number.values.to_pylist() == [5, 30]


def test_a_part_of_a_table_keeps_the_costs_of_the_whole():
    table = one([10, 20, 30, 40])[2]
    part = table.take(np.array([0, 1], np.int32))
    assert part.codes.tolist() == [[0, 1]]
    assert part.space is table.space


def test_weights_of_nodes_change_what_a_cell_costs_and_survive_a_recipe(tmp_path):
    table = pa.table({"zip": ["a", "b", "c", "d"] * 5, "age": list(range(20))})
    tree = shoal.Hierarchy.from_dict({"*": {"North": ["a", "b"], "South": ["c", "d"]}})
    common = {"k": 5, "quasi_identifiers": ["zip", "age"], "hierarchies": {"zip": tree}, "method": "mondrian"}
    plain = shoal.anonymize(table, **common)
    anonymizer = shoal.Anonymizer(**common, weights={"zip": {"North": 3.0}})
    heavy = anonymizer.fit(table).result_
    column = heavy.coded.columns[0].hierarchy
    assert column.cost[column.node("North")] == 5 / 7
    assert column.cost[column.node("South")] == 2 / 7
    assert plain.metrics["iloss"] == pytest.approx(heavy.metrics["iloss"])  # counts values, whatever they weigh
    anonymizer.save(tmp_path / "recipe.toml")
    again = shoal.Anonymizer.load(tmp_path / "recipe.toml").fit(table).result_
    assert again.metrics["ncp"] == heavy.metrics["ncp"]


def test_weights_of_nodes_need_a_hierarchy():
    table = pa.table({"age": list(range(20))})
    with pytest.raises(shoal.ShoalError, match="weights of nodes for 'age', which has no hierarchy"):
        shoal.anonymize(table, k=5, quasi_identifiers=["age"], weights={"age": {"x": 2}})


def test_queries_and_attacks_count_the_leaves_of_a_node_whatever_they_weigh():
    table = pa.table({"zip": ["a", "b", "c", "d"] * 5})
    tree = shoal.Hierarchy.from_dict({"*": {"North": ["a", "b"], "South": ["c", "d"]}})
    coded = [
        encode(Frame(table), ["zip"], hierarchies={"zip": tree}, weights=weights)
        for weights in ({}, {"zip": {"North": 3, "d": 4}})
    ]
    for one in coded:
        cover = cover_groups(one.space, one.codes, np.array([0, 0, 1, 1] * 5, np.int32), 2)
        first, last = released_codes(one.space, cover)
        assert (first.tolist(), last.tolist()) == ([[0, 2]], [[1, 3]])
        assert release_column(one.space, 0, 2, 3) == (4, 6)


@pytest.mark.parametrize("choice", ["auto", "suggest"])
def test_numbers_that_are_codes_get_the_hierarchy_of_codes_on_every_engine(choice, tmp_path):
    zips = [50601, 50602, 50611, 50612, 50699, 53201, 53202, 10115, 10117, 80331, 80333] * 12
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["zip,age", *(f"{zips[row]},{20 + row * 7 % 50}" for row in range(len(zips)))]) + "\n")
    cells = []
    for engine in ("memory", "stream"):
        made = shoal.anonymize(
            path, k=8, quasi_identifiers=["zip", "age"], kinds={"zip": "nominal"}, hierarchies={"zip": choice},
            effort="fast", engine=engine,
        )  # fmt: skip
        made.save(tmp_path / f"{engine}.csv")
        rows = (tmp_path / f"{engine}.csv").read_text().splitlines()[1:]
        cells.append(sorted(row.split(",")[0].strip('"') for row in rows))
    assert cells[0] == cells[1]
    assert {"1011*", "8033*"} & set(cells[0])
    assert all(re.fullmatch(r"\d{1,5}\*{0,4}|\*", cell) for cell in cells[0])
