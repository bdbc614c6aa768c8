from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import FileError, HierarchyError, ParameterError
from shoal.hierarchy import Hierarchy, value_text

NOON = datetime(2024, 3, 1, 12)  # noqa: DTZ001 - a column of local times has no zone
MIDNIGHT = datetime(2024, 2, 29)  # noqa: DTZ001

# Xu et al. (2006), Example 3
EXAMPLE_3 = {"root": ["a", {"N": {"P": ["b", "c", "d"], "Q": [{"R": ["e", "f"]}, "g"]}}]}

ARX_LEAVES = {
    "age": 100,
    "education": 16,
    "marital-status": 7,
    "native-country": 41,
    "occupation": 14,
    "race": 5,
    "salary-class": 2,
    "sex": 2,
    "workclass": 8,
}


def holding_itself(inner):
    """Return a dict that stands below its own label "a", and below ``inner`` in between if that is another."""
    outer = {}
    outer["a"] = outer if inner == "a" else {inner: outer}
    return outer


@pytest.fixture
def tree():
    return Hierarchy.from_dict(EXAMPLE_3)


def read(text, **options):
    return Hierarchy.from_csv(io.StringIO(text), **options)


# ---------------------------------------------------------------------- the tree


def test_the_costs_of_example_3_are_those_of_the_paper(tree):
    def cost(values):
        return tree.cost[tree.node(tree.common_ancestor(values))]

    assert cost(["d", "e"]) == 6 / 7
    assert cost(["a", "d"]) == 1
    assert cost(["b", "c"]) == 3 / 7
    assert cost(["f"]) == 0


def test_leaves_are_numbered_depth_first_and_the_root_is_last(tree):
    assert tree.leaves == ("a", "b", "c", "d", "e", "f", "g")
    assert tree.labels == (*tree.leaves, "P", "R", "Q", "N", "root")
    assert tree.parent.tolist() == [11, 7, 7, 7, 8, 8, 9, 10, 9, 10, 11, 11]
    assert tree.low.tolist() == [0, 1, 2, 3, 4, 5, 6, 1, 4, 4, 1, 0]
    assert tree.high.tolist() == [0, 1, 2, 3, 4, 5, 6, 3, 5, 6, 6, 6]
    assert tree.depth.tolist() == [1, 3, 3, 3, 4, 4, 3, 2, 3, 2, 1, 0]
    assert (tree.root, tree.height, tree.levels, tree.n_nodes) == (11, 4, 5, 12)
    assert {array.dtype for array in (tree.parent, tree.low, tree.high, tree.depth)} == {np.dtype(np.int32)}


def test_a_hierarchy_of_one_leaf_costs_nothing():
    lone = Hierarchy.from_dict({"only": None})
    assert (lone.leaves, lone.root, lone.height, lone.cost.tolist()) == (("only",), 0, 0, [0.0])
    assert lone.common_ancestor(["only"]) == "only"


def test_levels_are_counted_from_the_leaf_and_end_at_the_root(tree):
    assert [tree.level("e", level) for level in range(6)] == ["e", "R", "Q", "N", "root", "root"]
    assert [tree.level("a", level) for level in range(3)] == ["a", "root", "root"]
    for level in range(7):
        labels = [tree.labels[node] for node in tree.ancestors_at(level)]
        assert labels == [tree.level(leaf, level) for leaf in tree.leaves]


def test_a_node_knows_its_leaves_children_and_path(tree):
    assert tree.leaves_below("Q") == ("e", "f", "g")
    assert tree.leaves_below("g") == ("g",)
    assert tree.children("Q") == ("R", "g")
    assert tree.children("g") == ()
    assert tree.path("e") == ("e", "R", "Q", "N", "root")
    assert tree.size("N") == 6


def test_unknown_texts_have_the_code_minus_one(tree):
    assert tree.leaf_codes(["g", "?", "P", "a"]).tolist() == [6, -1, -1, 0]
    assert tree.leaf_codes([]).dtype == np.int32


def test_a_hierarchy_cannot_be_changed(tree):
    with pytest.raises(AttributeError):
        tree.labels = ()
    for array in (tree.parent, tree.low, tree.high, tree.depth, tree.cost):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_equal_trees_are_equal_and_hash_alike(tree):
    twin = Hierarchy.from_dict(EXAMPLE_3)
    assert twin == tree
    assert hash(twin) == hash(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301
    assert not copy.deepcopy(tree).parent.flags.writeable
    assert tree != Hierarchy.flat(tree.leaves)
    assert tree != "root"


def test_a_tree_is_drawn_with_box_characters():
    small = Hierarchy.from_dict({"*": {"North": ["a", "b"], "South": ["c"]}})
    assert small.show().splitlines() == [
        "* (3)",
        "├── North (2)",
        "│   ├── a",
        "│   └── b",
        "└── South (1)",
        "    └── c",
    ]
    assert small.show(max_leaves=1).splitlines() == ["* (3)", "├── North (2)", "│   ├── a", "… 2 more"]
    assert str(small) == small.show()
    assert repr(small) == "<Hierarchy '*': 3 leaves, 6 nodes, 3 levels>"


def test_importing_the_module_loads_neither_numba_nor_arrow():
    code = "import sys, shoal.hierarchy; print({'numba', 'pyarrow', 'pandas', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# ---------------------------------------------------------------------- ARX files


@pytest.mark.parametrize("name", sorted(ARX_LEAVES))
def test_the_arx_files_of_adult_load_with_all_their_leaves(data_path, name):
    loaded = Hierarchy.from_csv(data_path(f"adult/hierarchies/{name}.csv"))
    assert loaded.n_leaves == ARX_LEAVES[name]
    assert loaded.labels[loaded.root] == "*"
    assert set(loaded.depth[: loaded.n_leaves]) == {loaded.height}


def test_an_arx_line_is_the_path_of_its_leaf(data_path):
    path = data_path("adult/hierarchies/education.csv")
    education = Hierarchy.from_csv(path)
    for line in path.read_text(encoding="utf-8").splitlines():
        assert ";".join(education.path(line.split(";")[0])) == line


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_the_separator_is_found(separator):
    lines = [("a", "North", "*"), ("b", "South", "*")]
    assert read("\n".join(map(separator.join, lines))).to_dict() == {"*": {"North": ["a"], "South": ["b"]}}


def test_labels_may_hold_other_separators_and_quotes():
    loaded = read('Smith, J;"North; ""upper""|x";*\nBrown, K;"North; ""upper""|x";*\n', separator=";")
    assert loaded.to_dict() == {"*": {'North; "upper"|x': ["Smith, J", "Brown, K"]}}
    assert read("Smith, J;N;*\nBrown, K;N;*\n").leaves == ("Smith, J", "Brown, K")


def test_marks_blank_lines_and_trailing_separators_are_ignored(tmp_path):
    path = tmp_path / "h.csv"
    path.write_bytes("\ufeffa;N;*\r\n\r\n;;\r\nb;*;\r\n".encode())
    assert Hierarchy.from_csv(path).to_dict() == {"*": [{"N": ["a"]}, "b"]}
    path.write_bytes("a;N;*\nb;N;*".encode("utf-16"))
    assert Hierarchy.from_csv(path).leaves == ("a", "b")
    path.write_bytes("Köln;*\n".encode("cp1252"))
    assert Hierarchy.from_csv(path, encoding="cp1252").leaves == ("Köln",)
    with pytest.raises(HierarchyError, match="cannot be read as 'utf-8-sig'"):
        Hierarchy.from_csv(path)
    with path.open("rb") as file:
        assert Hierarchy.from_csv(file, encoding="cp1252").leaves == ("Köln",)


def test_a_root_is_added_where_lines_end_in_different_groups():
    assert read("a;North\nb;South\nc;North\n").to_dict() == {"*": {"North": ["a", "c"], "South": ["b"]}}
    assert read("a\nb\n").to_dict() == {"*": ["a", "b"]}


def test_labels_repeated_along_a_line_are_one_node():
    assert read("a;a;N;N;*;*\nb;M;N;*\n").to_dict() == {"*": {"N": ["a", {"M": ["b"]}]}}
    assert Hierarchy.from_dict({"*": {"*": {"N": {"N": ["N"]}, "b": None}}}).to_dict() == {"*": ["N", "b"]}


def test_a_line_written_twice_counts_once():
    assert read("a;N;*\na;N;*\n").leaves == ("a",)


def test_leaves_are_grouped_by_the_first_appearance_of_their_parents():
    assert read("c;Y;*\na;X;*\nb;Y;*\n").leaves == ("c", "b", "a")


@pytest.mark.parametrize("label", ["\ufeffa", "a\rb", "a\nb", "a|b", "a\tb", "1,2,x", "a;b", 'say "a"', " a "])
def test_labels_with_special_characters_survive_a_file(tmp_path, label):
    hierarchy = Hierarchy.from_dict({"*": {f"{label} and more": [label, f"{label}2"]}})
    hierarchy.to_csv(tmp_path / "h.csv")
    assert Hierarchy.from_csv(tmp_path / "h.csv") == hierarchy


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"no\.csv"):
        Hierarchy.from_csv(tmp_path / "no.csv")
    with pytest.raises(FileError, match="cannot be written"):
        Hierarchy.flat(["a", "b"]).to_csv(tmp_path / "no" / "h.csv")


# ---------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;N;*\nb;N;*\na;M;*\n", "Line 3: A label has two parents"),
        ("a;N;X;*\nb;N;Y;*\n", "Line 2: A label has two parents"),
        ("a;N;*\n\nN;*\n", "Line 3: A label is a value here and a group of other values elsewhere"),
        ("N;N;*\na;N;*\n", "Line 1: A label is a value here and a group"),
        ("a;N;a;*\n", "Line 1: A label stands above itself"),
        ("a;N;*\nb;N\n", "Line 2: A label is at the top here, but below another label elsewhere"),
        ("a;N;X\nb;N\nc;Y\n", "Line 2: A label is at the top here, but below another label elsewhere"),
        ("a;N;*\nb;M\n", "Line 2: A label is at the top here, but '*' is the root elsewhere"),
        ("x;a;b\ny;b;a\n", "Line 1: A label is at the top here, but below another label elsewhere"),
        ("a;*;X\nb;*;X\nc;Y\n", "'*' is below 'X' but should be the root"),
        ("a;N;*\nb;;*\n", "Line 2: The label of a group is empty"),
        ("\n\n", "The hierarchy has no values"),
        ('a;N;*\n"b;N;*\n', "Line 2: the quotes or fields cannot be read"),
    ],
)
def test_a_faulty_line_is_named(text, message):
    with pytest.raises(HierarchyError) as caught:
        read(text)
    assert message in caught.value.message
    assert caught.value.message.endswith(".")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.from_parents({"a": "b", "b": "a"}), "'a' is its own ancestor"),
        (lambda: Hierarchy.from_parents({"x": "*", "a": "b", "b": "a"}), "is its own ancestor"),
        (lambda: Hierarchy.from_parents({"tail": "a", "a": "b", "b": "a", "x": "*"}), "'a' is its own ancestor"),
        (lambda: Hierarchy.from_parents({"1": None, 1: "M"}), "'1' is at the top here, but below another label"),
        (lambda: Hierarchy.from_parents({"1": "N", 1: "M"}), "'1' has two parents, 'N' and 'M'"),
        (lambda: Hierarchy.from_parents({}), "has no values"),
        (lambda: Hierarchy.from_parents({"a": ""}), "The label of a group is empty"),
        (lambda: Hierarchy.from_parents({"a": "*", "b": "N"}), "'N' is at the top here"),
        (lambda: Hierarchy.from_dict({"*": {"N": ["a"], "M": ["a"]}}), "'a' is in two places"),
        (lambda: Hierarchy.from_dict({"*": {"N": ["N", "a"]}}), "'N' is in two places"),
        (lambda: Hierarchy.from_dict({"*": {"N": ["*"]}}), "'*' is in two places"),
        (lambda: Hierarchy.from_dict({"*": {"N": []}}), "'N' has no values below it"),
        (lambda: Hierarchy.from_dict(holding_itself("a")), "The group 'a' holds itself"),
        (lambda: Hierarchy.from_dict(holding_itself("b")), "'a' is in two places"),
        (lambda: Hierarchy.from_dict({}), "'*' has no values below it"),
        (lambda: Hierarchy.from_dict({"*": "abc"}), "'*' must hold a dict or a list. Got str"),
        (lambda: Hierarchy.from_dict({"*": {" ": ["a"]}}), "The label of a group is empty"),
        (lambda: Hierarchy.flat([]), "has no values"),
        (lambda: Hierarchy.flat(["*", "a"]), "'*' is a value here and a group"),
        (lambda: Hierarchy.flat([None, float("nan")]), "has no values"),
        (lambda: Hierarchy.from_intervals([1, "x"], 5), "1 of the 2 different values are no finite numbers"),
        (lambda: Hierarchy.from_intervals(["1e999999999"], 5), "are no finite numbers"),
        (lambda: Hierarchy.from_intervals([float("inf")], 5), "are no finite numbers"),
        (lambda: Hierarchy.from_intervals([121], cuts=[0, 18, 120]), "A value is outside the cuts 0 to 120"),
        (lambda: Hierarchy.from_dates(["1/2/2024"]), "1 of the 1 different values are no ISO dates"),
        (lambda: Hierarchy.flat(["abc", "b"]).node("abd"), "'abd' is not a node"),
        (lambda: Hierarchy.flat(["abc", "b"]).path("*"), "'*' is not a leaf"),
        (lambda: Hierarchy.flat(["abc", "b"]).common_ancestor([]), "No values have no common ancestor"),
    ],
)
def test_a_fault_is_said_in_one_sentence_with_a_hint(make, message):
    with pytest.raises(HierarchyError) as caught:
        make()
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.from_prefixes(["a"], []), "'lengths' .* at least one"),
        (lambda: Hierarchy.from_prefixes(["a"], [-1]), "'lengths' .* at least 0"),
        (lambda: Hierarchy.flat("Nurse"), "must be a column or a list. Got str"),
        (lambda: Hierarchy.flat(7), "must be a column or a list. Got int"),
        (lambda: Hierarchy.flat({"a": "b"}), "must be a column or a list. Got dict"),
        (lambda: read("a;*", separator="::"), "'separator' .* one character"),
        (lambda: Hierarchy.from_intervals([1], [5, 5]), "each a multiple of the one before and larger"),
        (lambda: Hierarchy.from_intervals([1]), "either 'width' or 'cuts'"),
        (lambda: Hierarchy.from_intervals([1], 5, cuts=[0, 9]), "either 'width' or 'cuts'"),
        (lambda: Hierarchy.from_intervals([1], [5, 12]), "each a multiple of the one before"),
        (lambda: Hierarchy.from_intervals([1], 0), "positive"),
        (lambda: Hierarchy.from_intervals([1], []), "must not be empty"),
        (lambda: Hierarchy.from_intervals([1], cuts=[5, 0]), "rising"),
        (lambda: Hierarchy.from_intervals([1], cuts=[[0, 5, 10], [0, 6, 10]]), "part of the list before"),
        (lambda: Hierarchy.from_dates(["2024-01-01"], levels=("week",)), "'levels'"),
        (lambda: Hierarchy.flat(["a", "b"]).level("a", -1), "'level'"),
        (lambda: Hierarchy.flat(["a", "b"]).show(max_leaves=0), "'max_leaves'"),
    ],
)
def test_a_parameter_out_of_range_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


# ---------------------------------------------------------------------- other ways to make one


def test_parents_may_name_the_root_or_leave_it_to_shoal():
    expected = {"*": {"N": ["a", "b"], "M": ["c"]}}
    links = {"a": "N", "b": "N", "c": "M"}
    assert Hierarchy.from_parents({**links, "N": "*", "M": "*"}).to_dict() == expected
    assert Hierarchy.from_parents({**links, "N": "*", "M": "*", "*": None}).to_dict() == expected
    assert Hierarchy.from_parents(links).to_dict() == expected


def test_prefixes_are_filled_up_with_stars_and_sorted():
    zips = Hierarchy.from_prefixes(["54321", "12399", "12346", "12345", "12345", None], [4, 3, 0])
    assert zips.leaves == ("12345", "12346", "12399", "54321")
    assert zips.path("12346") == ("12346", "1234*", "123**", "*")
    assert zips == Hierarchy.from_prefixes([12345, 12346, 12399, 54321], [3, 4])
    assert Hierarchy.from_prefixes(["12", "13"], 1).to_dict() == {"*": {"1*": ["12", "13"]}}


def test_codes_of_unequal_length_share_their_prefixes():
    codes = Hierarchy.from_prefixes(["E11", "E11.9", "E10"], [5, 3, 1])
    assert codes.path("E11.9") == ("E11.9", "E11**", "E****", "*")
    assert codes.path("E11") == ("E11", "E11**", "E****", "*")


def test_intervals_of_whole_numbers_name_their_first_and_last_number():
    ages = Hierarchy.from_intervals([39, 10, 9, 10.0, 0], width=[5, 10, 20])
    assert ages.leaves == ("0", "9", "10", "39")
    assert ages.path("10") == ("10", "[10-14]", "[10-19]", "[0-19]", "*")
    assert ages.path("9") == ("9", "[5-9]", "[0-9]", "[0-19]", "*")
    assert Hierarchy.from_intervals([-1], 5).path("-1") == ("-1", "[-5--1]", "*")
    assert Hierarchy.from_intervals([3], [1, 2]).path("3") == ("3", "[2-3]", "*")
    assert Hierarchy.from_intervals([3], 10, origin=1).path("3") == ("3", "[1-10]", "*")


def test_intervals_of_decimals_leave_no_number_in_two_of_them():
    doses = Hierarchy.from_intervals([0.1, 0.3, Decimal("2.50"), 9.75], width=[2.5, 5])
    assert doses.path("0.3") == ("0.3", "[0-2.49]", "[0-4.99]", "*")
    assert doses.path(2.5) == ("2.5", "[2.5-4.99]", "[0-4.99]", "*")


def test_cuts_open_the_interval_above_and_the_last_closes():
    ages = Hierarchy.from_intervals([0, 17, 18, 64, 65, 120], cuts=[[0, 18, 65, 120], [0, 65, 120]])
    assert ages.to_dict() == {
        "*": {"[0-64]": {"[0-17]": ["0", "17"], "[18-64]": ["18", "64"]}, "[65-120]": ["65", "120"]}
    }
    assert Hierarchy.from_intervals([17.5, 18], cuts=[0, 18, 65]).path(17.5) == ("17.5", "[0-17.9]", "*")


def test_dates_climb_from_day_to_decade():
    days = Hierarchy.from_dates([date(2024, 3, 1), "2019-12-31", MIDNIGHT])
    assert days.leaves == ("2019-12-31", "2024-02-29", "2024-03-01")
    assert days.path("2024-03-01") == ("2024-03-01", "2024-03", "2024-Q1", "2024", "2020s", "*")
    assert Hierarchy.from_dates([date(2024, 3, 1)], levels=("year", "month")).path("2024-03-01")[1:] == (
        "2024-03",
        "2024",
        "*",
    )
    assert Hierarchy.from_dates([NOON], levels=["day"]).path("2024-03-01T12:00:00")[1] == "2024-03-01"


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
def test_columns_of_any_kind_are_read(kind):
    numbers, days = [1.0, None, 12.0], [date(2024, 3, 1), None]
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        with pytest.raises(ParameterError, match="Got DataFrame"):
            Hierarchy.flat(pandas.DataFrame({"zip": ["1"]}))
        columns = pandas.Series(numbers), pandas.Series(pandas.to_datetime(["2024-03-01", None]))
    elif kind == "polars":
        polars = pytest.importorskip("polars")
        columns = polars.Series(numbers), polars.Series(days)
    elif kind == "pyarrow":
        arrow = pytest.importorskip("pyarrow")
        columns = arrow.array(numbers), arrow.chunked_array([days])
    else:
        columns = np.array([1.0, np.nan, 12.0]), np.array(["2024-03-01", "NaT"], "datetime64[ns]")
    assert Hierarchy.from_intervals(columns[0], 10).leaves == ("1", "12")
    assert Hierarchy.flat(columns[0][::-1]).leaves == ("12", "1")
    assert Hierarchy.from_dates(columns[1]).leaves == ("2024-03-01",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("00123", "00123"),
        (39, "39"),
        (np.int32(39), "39"),
        (39.0, "39"),
        (-0.0, "0"),
        (39.5, "39.5"),
        (np.float32(0.1), "0.1"),
        (Decimal("39.50"), "39.5"),
        (Decimal("1E+2"), "100"),
        (True, "true"),
        (date(2024, 3, 1), "2024-03-01"),
        (np.datetime64("2024-03-01"), "2024-03-01"),
        (MIDNIGHT, "2024-02-29"),
        (NOON, "2024-03-01T12:00:00"),
    ],
)
def test_a_value_has_one_text(value, text):
    assert value_text(value) == text


def test_only_distinct_values_are_turned_into_python_objects():
    arrow = pytest.importorskip("pyarrow")

    class Column:
        """An Arrow column that counts the values turned into Python objects."""

        turned = 0

        def __init__(self, values):
            self.values = values

        def __iter__(self):
            return iter(self.values)

        def unique(self):
            return Column(self.values.unique())

        def to_pylist(self):
            Column.turned += len(self.values)
            return self.values.to_pylist()

    assert Hierarchy.flat(Column(arrow.array(["a", "b"] * 50))).leaves == ("a", "b")
    assert Column.turned == 2


def test_a_path_of_many_thousand_nodes_is_no_trouble():
    chain = Hierarchy.from_parents({str(node): str(node + 1) for node in range(20_000)})
    assert (chain.n_leaves, chain.height) == (1, 20_000)


# ---------------------------------------------------------------------- random trees

LABELS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4).filter(lambda text: not text.isspace())


@st.composite
def random_trees(draw):
    """A parent for each of several labels, drawn from those before it: any rooted tree."""
    labels = draw(st.lists(LABELS, min_size=1, max_size=14, unique=True))
    parents = {labels[node]: labels[draw(st.integers(0, node - 1))] for node in range(1, len(labels))}
    return Hierarchy.from_parents({labels[0]: None, **parents})


@given(random_trees())
def test_a_tree_survives_dict_and_csv(hierarchy):
    file = io.StringIO()
    hierarchy.to_csv(file)
    assert read(file.getvalue()) == hierarchy
    assert Hierarchy.from_dict(hierarchy.to_dict()) == hierarchy


@given(random_trees(), st.data())
def test_the_common_ancestor_is_the_smallest_node_that_holds_all(hierarchy, data):
    values = data.draw(st.lists(st.sampled_from(hierarchy.leaves), min_size=1))
    paths = [hierarchy.path(value) for value in values]
    shared = set(paths[0]).intersection(*paths[1:])
    assert hierarchy.common_ancestor(values) == next(label for label in paths[0] if label in shared)


@given(random_trees())
def test_ranges_of_codes_hold_exactly_the_leaves_below(hierarchy):
    for label in hierarchy.labels:
        below = tuple(leaf for leaf in hierarchy.leaves if label in hierarchy.path(leaf))
        assert hierarchy.leaves_below(label) == below
        node = hierarchy.node(label)
        assert hierarchy.high[node] - hierarchy.low[node] + 1 == len(below) == hierarchy.size(label)
        assert hierarchy.parent[node] > node or node == hierarchy.root


@given(st.sets(st.decimals(0, 100, places=2), min_size=1), st.sampled_from([1, Decimal("2.5"), 7, Decimal("0.3")]))
def test_every_number_lies_within_its_intervals_and_these_do_not_meet(numbers, width):
    hierarchy = Hierarchy.from_intervals(numbers, width=[width, 3 * width])
    for level in (1, 2):
        labels = {hierarchy.level(number, level) for number in numbers} - {"*"}
        bounds = sorted(tuple(map(Decimal, label.strip("[]").split("-"))) for label in labels)
        assert all(before[-1] < after[0] for before, after in pairwise(bounds))
    for number in numbers:
        for label in hierarchy.path(number)[1:-1]:
            low, high = map(Decimal, label.strip("[]").split("-"))
            assert low <= number <= high


# ------------------------------------------------------------------ weights on nodes

FIGURE_3 = Hierarchy.from_dict(EXAMPLE_3)


def plain_cost(tree, label, weights):
    """Return the weights of a node and all below it as a share of those of all nodes, adding them up one by one."""

    def below(node):
        own = weights.get(node, 0.0 if tree.children(node) else 1.0)
        return own + sum(below(child) for child in tree.children(node))

    return below(label) / below(tree.labels[tree.root]) if tree.children(label) else 0.0


@given(st.dictionaries(st.sampled_from(FIGURE_3.labels), st.floats(0, 100), max_size=12))
def test_a_node_costs_the_weights_below_it_as_a_share_of_all(weights):
    weights = {"b": 1.0} | weights if sum(weights.values()) == 0 else weights
    tree = FIGURE_3.weighted(weights)
    for node, label in enumerate(tree.labels):
        assert tree.cost[node] == pytest.approx(plain_cost(FIGURE_3, label, weights))
    for node, parent in enumerate(tree.parent):
        assert tree.cost[node] <= tree.cost[parent]
    assert tree.cost[tree.root] == 1


def test_weights_of_1_on_leaves_and_0_on_inner_nodes_change_nothing():
    same = FIGURE_3.weighted(dict.fromkeys(FIGURE_3.leaves, 1) | {"N": 0})
    assert same == FIGURE_3
    assert FIGURE_3.weighted({"e": 5}) != FIGURE_3
    assert pickle.loads(pickle.dumps(FIGURE_3.weighted({"e": 5}))) == FIGURE_3.weighted({"e": 5})  # noqa: S301


def test_a_heavy_leaf_makes_the_nodes_above_it_dearer_and_a_heavy_node_only_those_from_itself_up():
    leaf, node = FIGURE_3.weighted({"e": 5}), FIGURE_3.weighted({"Q": 4})
    assert leaf.cost[leaf.node("R")] == 6 / 11 > FIGURE_3.cost[FIGURE_3.node("R")]
    assert node.cost[node.node("R")] == 2 / 11 < FIGURE_3.cost[FIGURE_3.node("R")]
    assert node.cost[node.node("Q")] == 7 / 11 > FIGURE_3.cost[FIGURE_3.node("Q")]


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "much"])
def test_a_weight_of_a_node_must_be_a_number_of_at_least_0(weight):
    with pytest.raises(ParameterError, match=r"weights\['a'\]"):
        FIGURE_3.weighted({"a": weight})


def test_a_tree_without_any_weight_is_refused():
    with pytest.raises(HierarchyError, match="at least one node with a weight above 0"):
        FIGURE_3.weighted(dict.fromkeys(FIGURE_3.leaves, 0))


def test_an_unknown_node_is_named_with_the_nearest_one():
    with pytest.raises(HierarchyError, match="'roott' is not a node of this hierarchy") as caught:
        FIGURE_3.weighted({"roott": 2})
    assert "root" in caught.value.hint


@pytest.mark.parametrize(
    "make",
    [
        lambda: read(";N;*\na;N;*\nb;M;*\n"),
        lambda: Hierarchy.from_dict({"*": {"N": ["", "a"], "M": ["b"]}}),
        lambda: Hierarchy.from_parents({"": "N", "a": "N", "b": "M", "N": "*", "M": "*"}),
    ],
)
def test_an_empty_text_is_a_value_like_any_other(make, tmp_path):
    tree = make()
    assert sorted(tree.leaves) == ["", "a", "b"]
    tree.to_csv(tmp_path / "tree.csv")
    assert Hierarchy.from_csv(tmp_path / "tree.csv").leaves == tree.leaves


@pytest.mark.parametrize(
    "choice", ["flat", "auto", "set", Hierarchy.from_dict({"*": {"N": ["", "a"], "M": ["b", "c"]}})]
)
def test_a_table_with_an_empty_text_is_released(choice):
    people = {"age": list(range(40)), "job": ["", "a", "b", "c"] * 10}
    result = shoal.anonymize(
        people,
        k=4,
        quasi_identifiers=["age", "job"],
        hierarchies={"job": choice},
        method="mondrian",
        weights={"job": 100},
    )
    assert set(result.data["job"]) == {'""', "a", "b", "c"}
