"""Model, audit, report and sidecar state one number for each measure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.cells.parse import parse_cell
from shoal.errors import ColumnError, HierarchyError, ParameterError
from shoal.privacy.base import bind_models
from shoal.privacy.histograms import HistogramRequirement

GRADES = ["poor", "fair", "good", "best"]
TREE = shoal.Hierarchy.from_dict({"*": {"low": ["poor", "fair"], "high": ["good", "best"]}})
FIGURE = {
    "distinct": "l",
    "entropy": "entropy_l",
    "recursive": "c",
    "equal": "t",
    "ordered": "t",
    "hierarchical": "t",
    "alpha": "alpha",
    "beta": "beta",
    "enhanced": "beta",
    "delta": "delta",
}
MODELS = [
    shoal.LDiversity(2),
    shoal.LDiversity(1.5, "entropy"),
    shoal.LDiversity(2, "recursive", c=9.0),
    shoal.TCloseness(0.6),
    shoal.TCloseness(0.6, distance="equal"),
    shoal.TCloseness(0.6, distance="ordered"),
    shoal.TCloseness(0.6, distance="hierarchical"),
    shoal.AlphaK(0.9),
    shoal.BetaLikeness(3.0),
    shoal.BetaLikeness(3.0, enhanced=True),
    shoal.DeltaDisclosure(2.5),
]


def patients():
    random = np.random.default_rng(3)
    grade = random.integers(0, 4, 60)
    return pa.table(
        {
            "age": random.integers(20, 60, 60),
            "grade": [GRADES[one] for one in grade],
            "cost": [str(one * 10) for one in grade],
        }
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "patients.csv"
    table = patients()
    rows = zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)
    path.write_text("age,grade,cost\n" + "".join(f"{a},{g},{c}\n" for a, g, c in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("withheld", [0.0, 0.3])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__} {model.settings()}")
def test_model_audit_report_and_provenance_show_one_number(file, model, withheld):
    needs_tree = getattr(model, "distance", None) == "hierarchical"
    result = shoal.anonymize(
        file,
        k=4,
        quasi_identifiers=["age"],
        sensitive=["grade"],
        identifiers=["cost"],
        kinds={"grade": GRADES},
        hierarchies={"grade": TREE} if needs_tree else {},
        models=[model],
        method="mondrian",
        max_suppression=withheld,
    )
    (requirement,) = bind_models([model], result.coded, ["grade"])
    assert isinstance(requirement, HistogramRequirement)
    measured = requirement.measured(result.groups, int(result.groups.max()) + 1)
    figure = FIGURE[requirement.measure]
    number = measured.min() if figure in {"l", "entropy_l"} else measured.max()
    told = result.provenance()["audit"]["sensitive"]["grade"][figure]
    assert result.audit.sensitive["grade"][figure] == number
    assert result.report().summary.reached.sensitive["grade"][figure] == number
    assert told == number


@pytest.mark.parametrize("withheld", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["k-map", "presence"])
def test_people_of_the_population_are_one_number_too(file, kind, withheld):
    people = pa.concat_tables([patients()] * 3)
    model = shoal.KMap(12, people) if kind == "k-map" else shoal.DeltaPresence(0.1, 0.5, people)
    result = shoal.anonymize(
        file,
        k=4,
        quasi_identifiers=["age"],
        sensitive=["grade"],
        identifiers=["cost"],
        models=[model],
        method="mondrian",
        max_suppression=withheld,
    )
    ages = np.array(patients().column("age"))
    cells = result.released.column("age").to_pylist()
    ends = {cell: parse_cell(cell).values for cell in set(cells)}
    inside = {cell: (ages >= int(end[0])) & (ages <= int(end[-1])) for cell, end in ends.items()}
    fits = {cell: 3 * int(one.sum()) for cell, one in inside.items()}
    shares = [cells.count(cell) / fits[cell] for cell in fits]
    outside = 3 * int((~np.any(list(inside.values()), axis=0)).sum())
    figures = (
        {"k_map": min(fits.values())}
        if kind == "k-map"
        else {"presence_least": min(shares), "presence_most": max(shares), "left_out": outside}
    )
    assert result.provenance()["audit"]["people"] == figures
    assert result.audit.people == result.report().summary.reached.people == figures
    assert outside == 0


def test_an_ordered_column_of_a_file_is_measured_by_its_order(file):
    given = {"quasi_identifiers": ["age"], "sensitive": ["cost"]}
    result = shoal.anonymize(
        file, k=4, identifiers=["grade"], models=[shoal.TCloseness(0.9)], method="mondrian", **given
    )
    numbers = result.released.set_column(1, "cost", result.released.column("cost").cast(pa.int64()))
    assert result.audit.t == shoal.audit(numbers, **given).t
    assert result.audit.t != shoal.audit(numbers, kinds={"cost": "nominal"}, **given).t


def test_kinds_say_how_a_sensitive_column_is_measured():
    table = patients()
    given = {"quasi_identifiers": ["age"], "sensitive": ["grade"]}
    ordered = shoal.audit(table, kinds={"grade": GRADES}, **given)
    tree = shoal.audit(table, hierarchies={"grade": TREE}, **given)
    assert len({shoal.audit(table, **given).t, ordered.t, tree.t}) == 3
    with pytest.raises(HierarchyError, match="does not cover the data"):
        shoal.audit(table, kinds={"grade": ["poor"]}, **given)
    with pytest.raises(ParameterError, match="kind of column 'grade'"):
        shoal.audit(table, kinds={"grade": "nominals"}, **given)


def test_kinds_of_a_column_without_such_a_role_are_refused():
    with pytest.raises(ColumnError, match="'kinds' parameter names 'cost'"):
        shoal.anonymize(
            patients(), k=2, quasi_identifiers=["age"], sensitive=["grade"], keep=["cost"], kinds={"cost": "nominal"}
        )
