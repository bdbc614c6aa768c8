"""Every public name says by an example how it is used, and the example runs."""

from __future__ import annotations

import doctest
import inspect

import pytest

import shoal

MODULES = ["attacks", "datasets", "metrics", "testing"]
COMPLETE = ["Anonymizer", "anonymize", "audit", "compare"]
SECTIONS = ("Parameters\n----------", "Raises\n------", "Examples\n--------")
OF_ANSWERS = {"Condition", "Query", "QueryErrors", "ClassificationError"}
"""Made by functions, whose examples show them."""
OF_EXTENSIONS = {"Outcome", "Metric", "measure", "class_metric"}
"""For those who write a metric; users find the figures in ``result.metrics``."""


def public_names():
    """Return what users call by name: the names of shoal and those of its modules. Spark's are run where Spark is."""
    names = [name for name in shoal.__all__ if name != "__version__" and not inspect.ismodule(getattr(shoal, name))]
    for module in MODULES:
        inside = getattr(shoal, module)
        called = [name for name in inside.__all__ if callable(getattr(inside, name))]
        names += [f"{module}.{name}" for name in called if name not in OF_ANSWERS | OF_EXTENSIONS]
    return names


def find(name):
    value = shoal
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.compiled
@pytest.mark.parametrize("name", public_names())
def test_the_docstring_has_an_example_that_runs(name):
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(find(name)), {}, name, None, 0)
    assert example.examples, f"shoal.{name} has no example"
    assert any(one.want for one in example.examples) or name == "testing.check_method", "an example shows an answer"
    told = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=told.append)
    assert told == []


@pytest.mark.parametrize("name", COMPLETE)
def test_the_docstring_is_complete(name):
    named = find(name)
    text = inspect.getdoc(named)
    assert [section for section in SECTIONS if section not in text] == []
    assert inspect.isclass(named) or "Returns\n-------" in text
