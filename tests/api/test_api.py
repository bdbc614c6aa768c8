from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.api import Anonymizer, anonymize
from shoal.errors import (
    AmbiguousNotationError,
    ColumnError,
    ColumnLeftOutWarning,
    DataError,
    NotationNotice,
    ParameterError,
    PrivacyError,
    ShoalError,
)
from shoal.methods.base import Grouping, Method, MethodInfo

PEOPLE = pd.DataFrame(
    {
        "name": [f"person {number}" for number in range(40)],
        "age": list(range(20, 60)),
        "zip": [f"0{number // 4:02}{number % 4}" for number in range(40)],
        "diagnosis": ["flu", "cold"] * 20,
        "cost": [number * 17 % 41 + 0.25 for number in range(40)],
    }
)
ROLES = {
    "quasi_identifiers": ["age", "zip"],
    "sensitive": ["diagnosis"],
    "identifiers": ["name"],
    "keep": ["cost"],
}


def release(data=PEOPLE, **changes):
    return anonymize(data, **({"k": 4, "method": "mondrian"} | ROLES | changes))


def test_a_release_has_the_columns_of_its_roles_in_input_order():
    result = release()
    assert list(result.data.columns) == ["age", "zip", "diagnosis", "cost"]
    assert result.data["cost"].tolist() == PEOPLE["cost"].tolist()
    assert result.data["age"][0].startswith("[20-")
    assert len(result.groups) == 40
    assert result.audit.k >= 4
    assert 0 < result.metrics["ncp"] < 1


def test_the_function_is_the_class_called_once():
    fitted = Anonymizer(k=4, method="mondrian", **ROLES).fit(PEOPLE)
    assert np.array_equal(fitted.result_.groups, release().groups)


def test_a_column_without_a_role_is_left_out_and_named():
    with pytest.warns(ColumnLeftOutWarning, match="cost"):
        result = release(keep=[])
    assert "cost" not in result.data.columns


def test_a_file_may_be_given_by_its_path(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.to_csv(path, index=False)
    result = anonymize(str(path), k=4, method="mondrian", **ROLES)
    assert np.array_equal(result.groups, release().groups)
    assert result.released.column("zip")[0].as_py().startswith("{0")


def test_progress_rises_from_nothing_to_done():
    heard = []
    release(progress=lambda fraction, text: heard.append((fraction, text)))
    fractions = [fraction for fraction, _ in heard]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0
    assert heard[-1] == (1.0, "done")


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"k": 1}, ParameterError, "must be an int of at least 2. Got 1 instead"),
        ({"k": 2.5}, ParameterError, "must be an int"),
        ({"k": True}, ParameterError, "must be an int"),
        ({"k": 41}, ParameterError, "at most the number of records, 40"),
        ({"quasi_identifiers": []}, ParameterError, "at least one column"),
        ({"quasi_identifiers": ["age", "zpi"]}, ColumnError, "did you mean 'zip'"),
        ({"quasi_identifiers": ["age", "age"]}, ColumnError, "named twice"),
        ({"sensitive": ["age"]}, ColumnError, "two roles"),
        ({"method": "mondrain"}, ParameterError, "did you mean 'mondrian'"),
        ({"effort": "slow"}, ParameterError, "'effort'"),
        ({"effort": 0}, ParameterError, "'effort'"),
        ({"max_suppression": 1.5}, ParameterError, "'max_suppression'"),
        ({"release": "means"}, ParameterError, "'release'"),
        ({"seed": -1}, ParameterError, "'seed'"),
        ({"models": ["l-diversity"]}, ParameterError, "must be a list of privacy models"),
        ({"on_interrupt": "stop"}, ParameterError, "'on_interrupt'"),
        ({"hierarchies": {"zip": "none.csv"}}, ShoalError, "none.csv"),
        ({"weights": {"cost": 2}}, ColumnError, "not a quasi-identifier"),
    ],
)
def test_bad_input_gets_one_sentence(changes, kind, text):
    with pytest.raises(kind) as fault:
        release(**changes)
    assert text in str(fault.value)


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="no rows"):
        release(PEOPLE[:0])


class Careless(Method):
    """A method that breaks its promise: everybody stays alone."""

    info = MethodInfo("careless", "Careless", "local", "none", "O(n)")

    def run(self, table, task):
        return Grouping(np.arange(table.records, dtype=np.int32))


class Stingy(Careless):
    """A method that withholds everything."""

    def run(self, table, task):
        return Grouping(np.full(table.records, -1, np.int32))


def test_a_method_that_breaks_its_promise_releases_nothing():
    with pytest.raises(PrivacyError, match=r"not 4-anonymous.*group of 1"):
        release(method=Careless())


def test_withholding_more_than_allowed_releases_nothing():
    with pytest.raises(PrivacyError, match="40 records would have to be withheld"):
        release(method=Stingy(), max_suppression=0.5)


def test_groups_are_mended_until_a_model_holds():
    assert release(models=[shoal.KAnonymity(15)], k=4).audit.k >= 15


def test_a_model_that_cannot_hold_releases_nothing():
    with pytest.raises(PrivacyError):
        release(models=[shoal.KAnonymity(41)], k=4)


def test_the_checks_catch_a_careless_method():
    with pytest.raises((AssertionError, PrivacyError)):
        shoal.testing.check_method(Careless())


def test_groups_that_look_alike_are_counted_as_one():
    class Pairs(Careless):
        def run(self, table, task):
            return Grouping((np.arange(table.records) // 2).astype(np.int32))

    alike = pa.table({"age": [1, 2] * 4})
    result = anonymize(alike, k=4, quasi_identifiers=["age"], method=Pairs())
    assert result.audit.groups == 1


def test_public_names_are_those_listed():
    assert set(shoal.__all__) == set(dir(shoal))
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'anonymize_all'"):
        _ = shoal.anonymize_all


def test_a_function_is_not_hidden_by_the_module_it_lives_in():
    import_module("shoal.audit")
    import_module("shoal.methods")
    assert callable(shoal.audit)
    assert callable(shoal.methods)


def test_every_method_describes_itself():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        infos = shoal.methods()
    assert "mondrian" in {info.name for info in infos}
    assert all(info.paper and info.complexity for info in infos)


def test_text_in_a_frame_is_released_as_the_dates_and_numbers_it_means():
    days = [f"{1 + number % 28:02}.{1 + number % 12:02}.19{50 + number}" for number in range(40)]
    table = pd.DataFrame({"born": days, "income": [f"{number},5" for number in range(40)]})
    with pytest.warns(NotationNotice, match="income as numbers with decimal comma") as told:
        result = anonymize(table, k=4, quasi_identifiers=["born", "income"], method="mondrian")
    assert len([one for one in told if one.category is NotationNotice]) == 1
    assert all(cell.startswith("[19") for cell in result.data["born"])
    assert all(cell.startswith("[") for cell in result.data["income"])


def test_kinds_override_what_text_looks_like():
    table = pd.DataFrame({"code": [f"{10 + number % 4}" for number in range(40)]})
    result = anonymize(table, k=4, quasi_identifiers=["code"], kinds={"code": "nominal"}, method="mondrian")
    assert set(result.data["code"]) == {"10", "11", "12", "13"}


@pytest.mark.parametrize("changes", [{}, {"kinds": {"born": "date"}}])
def test_dates_that_can_be_read_in_two_ways_are_asked_about(changes):
    table = pd.DataFrame({"born": ["04/05/1992", "05/04/1992"] * 20})
    with pytest.raises(AmbiguousNotationError, match=r"%d/%m/%Y or %m/%d/%Y.*\n.*date_format"):
        anonymize(table, k=4, quasi_identifiers=["born"], method="mondrian", **changes)


def test_what_is_said_about_notations_is_kept_in_the_recipe(tmp_path):
    said = {"decimal": ",", "thousands": ".", "date_format": ["%d.%m.%Y"], "missing": ["NA"]}
    Anonymizer(k=2, quasi_identifiers=["a"], **said).save(tmp_path / "recipe.toml")
    loaded = Anonymizer.load(tmp_path / "recipe.toml")
    assert loaded.notation == Anonymizer(k=2, quasi_identifiers=["a"], **said).notation
    Anonymizer(k=2, quasi_identifiers=["a"], missing=[]).save(tmp_path / "none.toml")
    assert Anonymizer.load(tmp_path / "none.toml").notation.missing == ()


def test_named_marks_are_missing_values_in_a_category_too():
    table = pd.DataFrame({"town": ["x", "?"] * 20})
    result = anonymize(table, k=4, quasi_identifiers=["town"], missing=["?"], hierarchies={"town": "flat"})
    assert "?" not in set(result.data["town"].dropna())


def test_numbers_that_look_like_codes_for_categories_are_told_once_and_settled_by_a_choice():
    table = pa.table(
        {"religion": [1, 2, 3, 4, 5, 6] * 5, "age": list(range(30)), "smoker": [0, 1] * 15, "children": [0, 1, 2] * 10}
    )
    asked = {"k": 20, "quasi_identifiers": list(table.column_names), "method": "mondrian"}
    with pytest.warns(NotationNotice, match="The numbers in religion look like codes for categories") as heard:
        released = shoal.anonymize(table, **asked)
    assert len([one for one in heard if one.category is NotationNotice]) == 1
    assert any(cell.startswith("[") for cell in released.data["religion"].to_pylist())
    settled = shoal.anonymize(table, **asked, kinds={"religion": "nominal"})
    assert not any(cell.startswith("[") for cell in settled.data["religion"].to_pylist())
    shoal.anonymize(table, **asked, kinds={"religion": "numeric"})
    shoal.anonymize(table, **asked, hierarchies={"religion": "flat"})
