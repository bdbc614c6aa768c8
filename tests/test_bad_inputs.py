"""The list of bad inputs: every one ends in a sentence, none in a foreign error, none in a file, none shows a cell."""

from __future__ import annotations

import warnings

import pytest

from shoal.errors import ShoalError, ShoalWarning
from tests.bad_inputs import SECRET, api_cases, cli_cases, write_people
from tests.cli.conftest import shoal  # noqa: F401  (a fixture)


def test_the_list_is_long_and_every_name_occurs_once():
    names = [case.name for case in [*api_cases(), *cli_cases()]]
    assert len(names) >= 400
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", list(api_cases()), ids=lambda case: case.name)
def test_the_library_refuses_it_in_one_sentence(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        with pytest.raises(ShoalError) as caught:
            case.call()
    text = str(caught.value)
    assert SECRET not in text
    assert len(text) < 1000
    assert caught.value.message.endswith((".", "?"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("case", list(cli_cases()), ids=lambda case: case.name)
def test_the_command_line_refuses_it_with_a_sentence_and_no_file(case, shoal, tmp_path):  # noqa: F811
    write_people(tmp_path)
    case.files(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run = shoal(*(word.replace("{}", str(tmp_path)) for word in case.words))
    assert run.code in {1, 2}, run.err
    assert run.err.count("Error") == 1
    assert SECRET not in run.err
    assert len(run.err) < 20_000  # an option of 5,000 digits is shown as it was given
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
