from __future__ import annotations

import re
import shlex

import pytest

from tests.cli import page

README = page.PAGE.parents[2] / "README.md"


def test_the_reference_page_says_what_the_help_says():
    text = page.PAGE.read_text("utf-8")
    assert text == page.page(text), "write it again with: python -m tests.cli.page"


def test_the_page_has_every_command_and_option():
    text = page.PAGE.read_text("utf-8")
    for words, command in page.commands():
        assert f"### {words}\n" in text
        for parameter in command.params:
            assert parameter.name == "help" or all(name in text for name in parameter.opts)


@pytest.mark.compiled  # the demo alone takes many minutes where kernels are interpreted
def test_the_commands_of_the_readme_work_one_after_the_other(shoal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = re.findall(r"^\$ shoal (.*)$", README.read_text("utf-8"), re.MULTILINE)
    assert len(calls) >= 4
    for call in calls:
        run = shoal(*shlex.split(call, comments=True))
        assert (run.code, run.err) == (0, ""), call
