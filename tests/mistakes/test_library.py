"""Every parameter refuses nonsense in a sentence, and what is wrong in one that says what: no foreign error, no file, no cell."""

from __future__ import annotations

import warnings

import pytest

from shoal.errors import ShoalError, ShoalWarning
from tests.mistakes.library import (
    CALLS,
    FAILS_ITSELF,
    MAKERS,
    PARAMETERS,
    SECRET,
    TAKES_NO,
    nonsense,
    release,
    taken,
)
from tests.mistakes.wrong import wrong_calls

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Run in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        yield


def refusal(call):
    """Return the error of a call, None if it is taken; every error is one sentence of shoal without a cell."""
    try:
        call()
    except ShoalError as fault:
        text = str(fault)
        assert SECRET not in text
        assert 10 < len(text) < 1000
        assert fault.message.endswith((".", "?"))  # noqa: PT017  (a call that is taken is not a failure)
        return text
    return None


@pytest.mark.parametrize(("owner", "parameter"), PARAMETERS, ids=[" ".join(one) for one in PARAMETERS])
def test_nonsense_is_refused_unless_the_parameter_takes_it(owner, parameter):
    call = CALLS[owner][1]
    tried = {
        words: refusal(lambda value=value: call(**{parameter: value}))
        for words, value in nonsense().items()
        if not (parameter in FAILS_ITSELF and callable(value))
    }
    assert sorted(words for words, said in tried.items() if said is None) == sorted(taken(owner, parameter))


@pytest.mark.parametrize("maker", MAKERS)
def test_nonsense_is_taken_or_refused_by_whatever_takes_a_value(maker):
    tried = {words: refusal(lambda value=value: MAKERS[maker](value)) for words, value in nonsense().items()}
    if ("." in maker or "table" in maker) and "width" not in maker:
        assert [words for words in TAKES_NO if tried[words] is None] == []


@pytest.mark.parametrize("wrong", list(wrong_calls()), ids=lambda wrong: wrong.name)
def test_what_is_wrong_is_said(wrong, tmp_path):
    release()
    said = refusal(wrong.call)
    assert said is not None
    assert wrong.says in said
    assert list(tmp_path.iterdir()) == []
