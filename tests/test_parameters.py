"""A parameter is the same in the function, the class, the recipe and on the command line."""

from __future__ import annotations

import inspect
import re
import typing

import pytest

import shoal
from shoal.cli.anonymize import command
from shoal.compare import SHARED
from shoal.parameters import PARAMETERS
from shoal.recipe import Recipe
from shoal.request import Request
from shoal.request.checks import CHECKS

OF_ONE_RUN = {"progress", "on_interrupt", "cancel"}
"""About the run, not about the release: no recipe and no command line names them."""
OF_LARGE_TABLES = {"engine", "memory"}
"""A comparison has its table in memory."""
OF_THE_TABLE = {"data", "table", "query"}
"""Where the table lies: ``fit`` takes it, a recipe holds no table."""
SECRET = {"key"}
"""Named again for each release: a recipe may be published, and must not lead to a key."""
OF_THE_FILE_FORMAT = {"version", "method_options"}
"""What a recipe file says beyond the parameters; a method object brings its own options."""
OF_THE_COMMAND = {
    "measure",
    "file", "recipe", "separator", "encoding", "output", "to_table", "database", "keep_order", "shuffle_key", "dictionary",
    "about", "public_report", "codebook", "shape", "analysis", "notation", "labels", "missing_codes",
    "spreadsheet_safe", "report", "report_examples", "save_recipe", "save_mapping", "force", "show_values", "as_json",
    "scratch", "master",
}  # fmt: skip
"""Where files lie and what is printed."""


def parameters(call):
    return {
        name: (one.annotation, one.default)
        for name, one in inspect.signature(call).parameters.items()
        if name not in OF_THE_TABLE | {"self"}
    }


def documented(call):
    """Return the description of each parameter in a docstring; several names may share one."""
    found, names = {}, []
    section = inspect.getdoc(call).partition("Parameters\n----------\n")[2]
    for line in section.splitlines():
        if re.fullmatch(r"[a-z_0-9]+(, [a-z_0-9]+)*", line):
            names = line.split(", ")
            found |= dict.fromkeys(names, "")
        elif line.startswith("    ") and names:
            found |= {name: " ".join([found[name], line.strip()]).strip() for name in names}
        elif line.strip():
            break
    return found


def test_the_function_takes_what_the_class_takes():
    assert parameters(shoal.anonymize) == parameters(shoal.Anonymizer.__init__)


def test_the_function_says_of_each_parameter_what_the_class_says():
    own = documented(shoal.Anonymizer)
    shared = {name: text for name, text in documented(shoal.anonymize).items() if name not in OF_THE_TABLE}
    assert set(own) == set(parameters(shoal.Anonymizer.__init__))
    assert shared == own


def test_a_recipe_holds_every_parameter_that_is_not_about_one_run():
    assert set(Recipe.model_fields) - OF_THE_FILE_FORMAT == set(parameters(shoal.Anonymizer)) - OF_ONE_RUN - SECRET


def test_the_command_line_has_an_option_for_every_parameter_that_is_not_about_one_run():
    options = {one.name for one in command.params} - OF_THE_COMMAND - OF_THE_TABLE
    assert options == set(parameters(shoal.Anonymizer)) - OF_ONE_RUN


def test_a_comparison_takes_what_holds_for_all_its_releases():
    taken = parameters(shoal.compare)
    assert {name: taken[name] for name in SHARED} == {
        name: one for name, one in parameters(shoal.Anonymizer).items() if name in SHARED
    }
    assert (
        set(parameters(shoal.Anonymizer)) - set(SHARED)
        == {"k", "counts", "method", "effort"} | OF_ONE_RUN | OF_LARGE_TABLES
    )
    assert set(documented(shoal.compare)) == set(taken) | {"data"}


@pytest.mark.parametrize("call", [shoal.anonymize, shoal.compare, shoal.audit, shoal.Anonymizer.__init__])
def test_no_parameter_hides_behind_others_or_lacks_a_type(call):
    kinds = {one.kind for one in inspect.signature(call).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert set(inspect.signature(call).parameters) - {"self"} <= set(typing.get_type_hints(call))


@pytest.mark.parametrize("call", [shoal.anonymize, shoal.compare])
def test_a_misspelt_keyword_is_answered_with_the_nearest_one(call):
    with pytest.raises(shoal.errors.ParameterError, match="has no parameter 'quasi_identifier'") as caught:
        call({"a": [1, 1]}, quasi_identifier=["a"])
    assert "did you mean 'quasi_identifiers'?" in str(caught.value)


def test_a_missing_keyword_is_named():
    with pytest.raises(shoal.errors.ParameterError, match="The 'k' parameter of anonymize is not given"):
        shoal.anonymize({"a": [1, 1]}, quasi_identifiers=["a"])


def test_parameters_come_back_as_they_were_given():
    names = ["age", "sex"]
    anonymizer = shoal.Anonymizer(k=3, quasi_identifiers=names, method="mondrian")
    given = anonymizer.get_params()
    assert given["quasi_identifiers"] is names
    assert given["method"] == "mondrian"
    assert set(given) == set(parameters(shoal.Anonymizer))


def test_changed_parameters_are_checked_and_a_wrong_one_changes_nothing():
    anonymizer = shoal.Anonymizer(k=3, quasi_identifiers=["age"])
    assert anonymizer.set_params(k=4, seed=2) is anonymizer
    assert (anonymizer.k, anonymizer.seed, anonymizer.recipe().k) == (4, 2, 4)
    with pytest.raises(shoal.errors.ParameterError, match="must be an int of at least 2"):
        anonymizer.set_params(k=1, seed=5)
    with pytest.raises(shoal.errors.ParameterError, match="did you mean 'seed'"):
        anonymizer.set_params(sed=5)
    assert (anonymizer.k, anonymizer.seed) == (4, 2)


def test_a_warning_points_at_the_line_that_called_shoal():
    table = {"age": [30, 31, 40, 41], "name": ["a", "b", "c", "d"]}
    with pytest.warns(shoal.errors.ColumnLeftOutWarning) as told:
        shoal.anonymize(table, k=2, quasi_identifiers=["age"], method="mondrian")
    with pytest.warns(shoal.errors.ColumnLeftOutWarning) as told_again:
        shoal.Anonymizer(k=2, quasi_identifiers=["age"], method="mondrian").fit(table)
    assert {warning.filename for warning in (*told, *told_again)} == {__file__}


def test_warnings_about_files_point_there_too(tmp_path):
    table = {"age": ["30,5", "31,5", "40,5", "41,5"]}
    with pytest.warns(shoal.errors.NotationNotice) as told:
        result = shoal.anonymize(table, k=2, quasi_identifiers=["age"], method="mondrian")
    with pytest.warns(shoal.errors.PrivacyWarning) as written:
        result.save(tmp_path / "release.csv", shuffle=False)
    assert {warning.filename for warning in (*told, *written)} == {__file__}


def test_a_request_checks_every_parameter_of_the_table_and_holds_it():
    names = {one.name for one in PARAMETERS} - OF_THE_TABLE
    assert set(CHECKS) <= names
    assert names == {name for name in names if hasattr(Request, name) or name in Request.__dataclass_fields__}
    assert (
        shoal.Anonymizer(k=3, quasi_identifiers=["age"]).request
        == shoal.Anonymizer(k=3, quasi_identifiers=["age"]).request
    )
