from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import ColumnError, DataError, MissingExtraError, ParameterError
from shoal.metrics import classification_error

NAMES = ["age", "job"]
JOBS = shoal.Hierarchy.from_dict({"*": {"care": ["nurse", "medic"], "craft": ["baker", "smith"]}})


def people(records=1200, seed=0):
    """Return a table in which the class follows from age and job, with some noise."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 60, records)
    job = random.choice(["nurse", "medic", "baker", "smith"], records)
    rich = (age > 40) & np.isin(job, ["medic", "nurse"])
    wage = np.where(rich ^ (random.random(records) < 0.1), "high", "low")
    return pa.table({"age": age, "job": job, "wage": wage})


def release(method, table=None, k=20, **parameters):
    given = {"hierarchies": {"job": JOBS}, "sensitive": ["wage"]} | parameters
    return shoal.anonymize(people() if table is None else table, k=k, quasi_identifiers=NAMES, method=method, **given)


@pytest.mark.parametrize("learner", ["tree", "boosting"])
def test_new_records_are_classified_as_well_as_the_release_allows(learner):
    result = release(shoal.BottomUpGeneralization(target="wage"))
    found = classification_error(result, "wage", test=people(600, 1), learner=learner)
    assert found.baseline == pytest.approx(0.1, abs=0.04)
    assert found.baseline - 0.02 <= found.error <= found.baseline + 0.05
    assert found.worst == pytest.approx(np.mean(np.array(people(600, 1)["wage"]) == "high"))
    assert found.lost == found.error - found.baseline


def test_a_local_recoding_is_measured_on_its_own_rows():
    found = classification_error(release("mondrian"), "wage")
    assert 0.08 < found.baseline < 0.14
    assert found.baseline <= found.error < found.worst


def test_a_table_generalized_to_the_root_tells_nothing():
    result = release(shoal.BottomUpGeneralization(target="wage"), k=1200)
    found = classification_error(result, "wage", test=people(600, 1))
    assert found.error == found.worst > found.baseline


def test_a_class_that_was_not_kept_is_refused():
    with pytest.raises(ColumnError, match="'pay' is not in the release"):
        classification_error(release("bug"), "pay")


def test_unknown_classes_among_the_test_records_are_refused():
    test = people(600, 1)
    test = test.set_column(2, "wage", pa.array([f"{wage}." for wage in test["wage"].to_pylist()]))
    with pytest.raises(DataError, match="'wage' has 2 classes in the test records"):
        classification_error(release("bug"), "wage", test=test)


def test_records_without_a_class_are_refused():
    test = people(600, 1).set_column(2, "wage", pa.array([None] + ["low"] * 599))
    with pytest.raises(DataError, match="'wage' has no value in 1 records"):
        classification_error(release("bug"), "wage", test=test)


def test_a_local_recoding_cannot_recode_test_records():
    with pytest.raises(ParameterError, match="'mondrian' does not recode a value alike everywhere"):
        classification_error(release("mondrian"), "wage", test=people(600, 1))


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    result = release("bug")
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(MissingExtraError, match=r"shoal-privacy\[ml\]"):
        classification_error(result, "wage")


def test_the_class_metric_counts_minorities_and_withheld_records():
    table = pa.table({"age": [1, 1, 1, 2, 2, 9], "wage": ["a", "a", "b", "b", "b", "a"]})
    result = shoal.anonymize(
        table,
        k=2,
        quasi_identifiers=["age"],
        sensitive=["wage"],
        hierarchies={"age": "flat"},
        method="incognito",
        max_suppression=0.2,
    )
    assert result.metrics["suppressed"] == 1
    assert result.metrics["cm_by_column"] == {"wage": pytest.approx(2 / 6)}
