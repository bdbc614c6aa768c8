from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.audit import AT_MOST
from shoal.encoding import encode
from shoal.errors import ColumnError, HierarchyError, ParameterError, PrivacyError
from shoal.frames import Frame
from shoal.kernels.models import rules as kernels
from shoal.privacy import REGISTRY, make_model, model_name
from shoal.privacy.base import AllOf, refuse_unreachable
from shoal.privacy.histograms import HistogramRequirement, build_rules
from shoal.privacy.k_anonymity import AtLeast
from shoal.privacy.measures import MEASURES
from shoal.privacy.rows import plain_row, tree_row
from tests.privacy import reference
from tests.privacy.pycanon_figures import FILE, QUASI_IDENTIFIERS, SENSITIVE, adult_table

TREE = shoal.Hierarchy.from_dict({"*": {"x": ["a", "b"], "y": {"z": ["c", "d"], "e": None}}})
PYCANON = json.loads(FILE.read_text("utf-8"))
"""Tables and what pycanon finds in them."""
LETTERS = st.sampled_from("abcde")


def coded(values, labels=None, hierarchy=None):
    table = pa.table({"q": list(range(len(values))) if labels is None else labels, "s": values})
    return encode(Frame(table), ["q"], attributes=["s"], hierarchies={"s": hierarchy} if hierarchy else {})


def required(measure, values):
    attribute = coded(values, hierarchy=TREE if measure == "hierarchical" else None).attributes["s"]
    row = tree_row("test", attribute) if measure == "hierarchical" else plain_row(attribute)
    if measure == "weight":
        row = replace(row, value=np.array([ord(value) for value in sorted(set(values))], np.float64))
    return HistogramRequirement(measure, row, 1.0, rank=2)


def measured_by_kernel(requirement, labels):
    rules = build_rules([requirement], len(labels))
    tally = kernels.new_tally(rules)
    found = []
    for label in range(max(labels) + 1):
        kernels.clear(rules, tally)
        for record in np.flatnonzero(np.array(labels) == label):
            kernels.add(rules, tally, record)
        found.append(kernels.measure(rules, 0, tally))
    return found


REFERENCES = {
    "distinct": reference.distinct,
    "entropy": reference.entropy,
    "recursive": reference.recursive(2),
    "equal": reference.equal,
    "ordered": reference.ordered,
    "hierarchical": reference.hierarchical(TREE),
    "alpha": reference.alpha,
    "beta": reference.beta,
    "enhanced": reference.enhanced,
    "delta": reference.delta,
    "weight": lambda group, _: sum(map(ord, group)),
}


def test_every_measure_has_its_row_and_a_number_of_its_own():
    assert set(MEASURES) == {"size", *REFERENCES}
    assert len({one.number for one in MEASURES.values()}) == len(MEASURES)
    assert (
        {one.audited for one in MEASURES.values() if one.sense != kernels.AT_LEAST}
        == AT_MOST
        == {"c", "t", "alpha", "beta", "delta"}
    )


@pytest.mark.parametrize("measure", REFERENCES)
@given(st.lists(st.tuples(LETTERS, st.integers(0, 3)), min_size=1, max_size=40))
def test_a_measure_equals_its_plain_definition(measure, records):
    values = [value for value, _ in records]
    numbers = {label: place for place, label in enumerate(sorted({label for _, label in records}))}
    labels = [numbers[label] for _, label in records]
    requirement = required(measure, values)
    found = requirement.measured(np.array(labels, np.int32), len(numbers))
    for label in set(labels):
        group = [value for value, own in zip(values, labels, strict=True) if own == label]
        assert found[label] == pytest.approx(REFERENCES[measure](group, values), abs=1e-9)
    assert measured_by_kernel(requirement, labels) == pytest.approx(found.tolist(), abs=1e-15)


@pytest.mark.parametrize("case", PYCANON["random"], ids=range(len(PYCANON["random"])))
def test_an_audit_agrees_with_pycanon_on_random_tables(case):
    found = shoal.audit(case["table"], quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
    for column, expected in case["figures"].items():
        mine = found.sensitive[column]
        assert found.k == expected["k"]
        assert int(mine["entropy_l"] + 1e-9) == expected["entropy_l"]
        for name in ("l", "t", "alpha", "beta", "delta"):
            assert mine[name] == pytest.approx(expected[name], abs=1e-9), name


def test_an_audit_agrees_with_pycanon_on_records_of_adult(data_path):
    adult = adult_table(data_path("adult/adult.csv"))
    found = shoal.audit(adult, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
    mine = {name: getattr(found, name) for name in ("k", "l", "t", "alpha", "beta", "delta")}
    assert mine == pytest.approx({name: PYCANON["adult"][name] for name in mine}, abs=1e-9)


def test_a_share_that_is_promised_is_not_rounded():
    assert "more than 62.5 % of" in shoal.AlphaK(0.625).describe()
    people = pa.table({"age": [30, 40]})
    assert "at most 0.5 % are" in shoal.DeltaPresence(0.0, 0.005, population=people).describe()


def test_every_model_is_registered_describes_itself_and_survives_a_recipe():
    made = [
        shoal.KAnonymity(3),
        shoal.LDiversity(3),
        shoal.LDiversity(2.5, "entropy"),
        shoal.LDiversity(3, "recursive", c=2.0, column="s"),
        shoal.TCloseness(0.2, "ordered", order=("a", "b")),
        shoal.AlphaK(0.5),
        shoal.BetaLikeness(2, enhanced=True),
        shoal.DeltaDisclosure(1.5),
        shoal.KMap(5, "people.csv"),
        shoal.DeltaPresence(0.1, 0.5, "people.csv"),
    ]
    assert {model_name(model) for model in made} == set(REGISTRY.own)
    for model in made:
        assert model.describe().endswith(".")
        again = make_model(model_name(model), **model.settings())
        assert again.settings() == model.settings()


@pytest.mark.parametrize(
    "make",
    [
        lambda: shoal.LDiversity(1),
        lambda: shoal.LDiversity(2.5),
        lambda: shoal.LDiversity(2, "recursive"),
        lambda: shoal.LDiversity(2, c=1.0),
        lambda: shoal.LDiversity(2, "many"),
        lambda: shoal.TCloseness(1.5),
        lambda: shoal.TCloseness(float("nan")),
        lambda: shoal.TCloseness(0.1, "far"),
        lambda: shoal.TCloseness(0.1, order=("a",)),
        lambda: shoal.AlphaK(0),
        lambda: shoal.BetaLikeness(0),
        lambda: shoal.DeltaDisclosure(-1),
        lambda: shoal.KMap(1, "people.csv"),
        lambda: shoal.DeltaPresence(0.6, 0.5, "people.csv"),
    ],
)
def test_a_parameter_out_of_range_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_a_model_says_what_it_misses():
    table = coded(["a", "b", "c"])
    with pytest.raises(ColumnError, match="not sensitive"):
        shoal.LDiversity(2, column="other").bind(table)
    with pytest.raises(ParameterError, match="text has none"):
        shoal.TCloseness(0.1, "ordered").bind(table)
    with pytest.raises(ParameterError, match="once"):
        shoal.TCloseness(0.1, "ordered", order=("a", "b")).bind(table)
    with pytest.raises(ParameterError, match="hierarchy"):
        shoal.TCloseness(0.1, "hierarchical").bind(table)
    with pytest.raises(ParameterError, match="none is named"):
        shoal.LDiversity(2).bind(encode(Frame(pa.table({"q": [1, 2]})), ["q"]))
    with pytest.raises(HierarchyError, match="lacks 1"):
        shoal.TCloseness(0.1).bind(coded(["a", "q"], hierarchy=TREE))


def test_what_no_grouping_can_reach_is_refused_with_what_can():
    table = coded(["a"] * 9 + ["b"])
    with pytest.raises(PrivacyError, match="reaches 2, and 3 is asked for"):
        check_reachable(shoal.LDiversity(3), table)
    with pytest.raises(PrivacyError, match=r"reaches 0\.9"):
        check_reachable(shoal.AlphaK(0.5), table)
    with pytest.raises(PrivacyError, match="reaches 2, and 3 is asked for"):  # no withheld record brings a value
        check_reachable(shoal.LDiversity(3), table, max_suppression=0.9)
    check_reachable(shoal.AlphaK(0.5), table, max_suppression=0.8)


def check_reachable(model, table, max_suppression=0.0):
    refuse_unreachable([model], [model.bind(table)], max_suppression)


@pytest.mark.parametrize("method", ["optimize", "incognito", "mondrian", "k-member"])
def test_a_model_that_the_whole_column_misses_is_judged_on_what_is_released(method):
    people = {"age": [20] * 4 + [50] * 6, "ill": ["a", "b", "a", "b"] + ["a"] * 6}
    asked = {
        "k": 2,
        "quasi_identifiers": ["age"],
        "sensitive": ["ill"],
        "hierarchies": {"age": "flat"},
        "method": method,
    }
    asked["models"] = [shoal.AlphaK(0.5)]
    with pytest.raises(PrivacyError, match="'max_suppression'"):
        shoal.anonymize(people, **asked)
    result = shoal.anonymize(people, max_suppression=0.6, **asked)
    assert sorted(result.data["ill"]) == ["a", "a", "b", "b"]
    assert result.audit.alpha == 0.5


def test_an_order_given_for_text_counts_as_one():
    values = ["low", "mid", "high", "mid"]
    labels = np.array([0, 0, 1, 1], np.int32)
    by_text = shoal.TCloseness(1, "ordered", order=("low", "mid", "high")).bind(coded(values))
    by_number = shoal.TCloseness(1, "ordered").bind(coded([1, 2, 3, 2]))
    assert by_text.measured(labels, 2).tolist() == by_number.measured(labels, 2).tolist()


def test_a_missing_value_is_a_value_of_its_own_also_under_a_hierarchy():
    plain = shoal.LDiversity(2).bind(coded(["a", None, "a", "a"]))
    assert plain.failing(np.array([0, 0, 1, 1], np.int32), 2).tolist() == [False, True]
    tree = shoal.TCloseness(0.5).bind(coded(["a", None, "a", None], hierarchy=TREE))
    assert tree.measured(np.array([0, 1, 0, 1], np.int32), 2).tolist() == [0.5, 0.5]


def test_a_group_of_one_record_too_few_fails_and_withheld_records_count_for_none():
    labels = np.array([0, 0, 0, 1, 1, -1], np.int32)
    assert shoal.KAnonymity(3).bind(coded("aaaaaa")).failing(labels, 2).tolist() == [False, True]


def test_a_group_that_falls_short_of_one_requirement_of_several_fails():
    labels = np.array([0, 0, 0, 1, 1], np.int32)
    both = AllOf((AtLeast(2), AtLeast(3)))
    assert both.failing(labels, 2).tolist() == [False, True]
    assert AllOf((AtLeast(3), AtLeast(2))).failing(labels, 2).tolist() == [False, True]
