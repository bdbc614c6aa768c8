from __future__ import annotations

import inspect
import re

import pytest

from shoal import errors

CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, (errors.ShoalError, errors.ShoalWarning))
}
TREE = dict(re.findall(r"[├└]── (\w+) +\((\w+)\)", errors.__doc__))


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.ParameterError, ValueError),
        (errors.ColumnError, KeyError),
        (errors.DataError, ValueError),
        (errors.HierarchyError, ValueError),
        (errors.FileError, OSError),
        (errors.PrivacyError, RuntimeError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_each_error_is_a_shoal_error_and_the_builtin_the_docstring_names(kind, builtin):
    assert issubclass(kind, errors.ShoalError)
    assert issubclass(kind, builtin)
    assert TREE[kind.__name__] == builtin.__name__


def test_the_docstring_draws_every_class_and_no_other():
    drawn = set(re.findall(r"\b\w+(?:Error|Warning|Notice)\b", errors.__doc__))
    builtins = {"ValueError", "KeyError", "OSError", "RuntimeError", "ImportError", "UserWarning"}
    assert drawn - builtins == set(CLASSES)


@pytest.mark.parametrize("kind", [kind for kind in CLASSES.values() if kind is not errors.MissingExtraError])
def test_the_text_of_an_error_is_its_message_without_quotes(kind):
    assert str(kind("The column 'a' is unknown.")) == "The column 'a' is unknown."


def test_a_hint_follows_on_its_own_line():
    error = errors.ColumnError("Unknown column.", hint="did you mean 'age'?")
    assert str(error) == "Unknown column.\nHint: did you mean 'age'?"
    assert (error.message, error.hint) == ("Unknown column.", "did you mean 'age'?")


def test_a_missing_extra_names_the_package_and_the_command_that_installs_it():
    assert str(errors.MissingExtraError("polars", "polars", "A polars table")) == (
        "A polars table needs the package 'polars', which is not installed.\nHint: pip install \"shoal-privacy[polars]\""
    )


def test_warnings_are_user_warnings():
    assert issubclass(errors.ColumnLeftOutWarning, errors.ShoalWarning)
    assert issubclass(errors.PrivacyWarning, errors.ShoalWarning)
    assert issubclass(errors.ShoalWarning, UserWarning)
