"""Examples in docstrings run."""

from __future__ import annotations

import doctest
import inspect

import pytest

import shoal

WITH_EXAMPLES = ["Anonymizer", "anonymize", "audit", "compare"]
SECTIONS = ("Parameters\n----------", "Raises\n------", "Examples\n--------")


@pytest.mark.compiled
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_docstring_is_complete_and_its_example_runs(name):
    named = getattr(shoal, name)
    text = inspect.getdoc(named)
    assert [section for section in SECTIONS if section not in text] == []
    assert inspect.isclass(named) or "Returns\n-------" in text
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert example.examples
    told = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=told.append)
    assert told == []
