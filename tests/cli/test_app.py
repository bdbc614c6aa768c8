from __future__ import annotations

import warnings
from importlib import import_module

import pytest

from shoal import __version__
from shoal.cli import app as program
from shoal.errors import PrivacyError, PrivacyWarning
from tests.cli.conftest import run_python

HEAVY = ("numba", "pyarrow", "pandas", "polars", "pydantic", "numpy")


@pytest.fixture
def failing(monkeypatch):
    """Return a function that makes ``shoal methods`` raise an error or give a warning."""

    def fail(action):
        def act(*_, **__):
            if isinstance(action, Warning):
                warnings.warn(action, stacklevel=1)
                return []
            raise action

        monkeypatch.setattr(import_module("shoal.methods"), "method_infos", act)

    return fail


@pytest.mark.parametrize(
    "words", [["--help"], ["anonymize", "--help"], ["hierarchy", "make", "dates", "-h"], ["--version"]]
)
def test_help_loads_no_heavy_library(words):
    program = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('loaded', *(name for name in {HEAVY!r} if name in sys.modules)))\n"
        f"sys.argv = ['shoal', *{words!r}]\n"
        "from shoal.__main__ import main\n"
        "main()\n"
    )
    run = run_python("-c", program)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "loaded"


def test_a_heavy_library_would_be_noticed():
    run = run_python("-c", f"import sys, numpy\nprint(*(name for name in {HEAVY!r} if name in sys.modules))")
    assert run.stdout.split() == ["numpy"]


def test_every_command_is_listed_with_its_first_sentence(shoal):
    run = shoal("--help")
    assert run.code == 0
    for name in program.COMMANDS:
        command = program.app.get_command(None, name)
        assert name in run.out
        assert command.get_short_help_str(200).split(".")[0][:30] in " ".join(run.out.split())


def all_commands(command, words=()):
    yield words, command
    for name in getattr(command, "commands", {}) or (program.COMMANDS if command is program.app else ()):
        yield from all_commands(command.get_command(None, name), (*words, name))


@pytest.mark.parametrize(
    ("words", "command"),
    list(all_commands(program.app)),
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_every_command_and_option_has_a_help_text(shoal, words, command):
    assert command.help
    assert shoal(*words, "--help").code == 0
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert getattr(parameter, "help", None), (words, parameter.name)


def test_the_version_is_that_of_the_package(shoal):
    assert shoal("--version").out == f"shoal {__version__}\n"


def test_python_dash_m_runs_it_too():
    assert run_python("-m", "shoal", "--version").stdout == f"shoal {__version__}\n"


def test_a_terminal_without_unicode_gets_an_answer():
    run = run_python("-m", "shoal", "--help", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (run.returncode, run.stderr) == (0, "")


def test_the_shell_completes_commands_and_options():
    for typed, count, expected in (
        ("shoal an", "1", "plain,anonymize"),
        ("shoal anonymize --hier", "2", "plain,--hierarchy"),
    ):
        settings = {"_SHOAL_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": count}
        assert expected in run_python("-m", "shoal", **settings).stdout.split()


def test_an_unknown_command_is_refused(shoal):
    run = shoal("anonymous")
    assert run.code == 2
    assert "No such command" in run.err


def test_a_promise_that_cannot_be_kept_is_exit_code_1(shoal, failing):
    failing(PrivacyError("The release is not 5-anonymous.", hint="lower k."))
    run = shoal("methods")
    assert (run.code, run.out) == (1, "")
    assert run.err == "Error: The release is not 5-anonymous.\nHint: lower k.\n"


def test_a_fault_of_shoal_is_told_without_traceback_and_without_values(shoal, failing):
    failing(RuntimeError("value Ada Lindqvist"))
    run = shoal("methods")
    assert run.code == 3
    assert "an internal error (RuntimeError in act, line" in run.err
    assert "Lindqvist" not in run.err
    assert "Traceback" not in run.err


def test_the_traceback_is_there_for_those_who_ask(shoal, failing, monkeypatch):
    monkeypatch.setenv("SHOAL_TRACEBACK", "1")
    failing(RuntimeError("boom"))
    assert "Traceback" in shoal("methods").err


@pytest.mark.parametrize("fault", [MemoryError(), PermissionError(13, "Permission denied")])
def test_what_the_machine_refuses_is_bad_input(shoal, failing, fault):
    failing(fault)
    run = shoal("methods")
    assert run.code == 2
    assert run.err.startswith("Error: ")
    assert "Traceback" not in run.err


def test_an_interrupt_in_a_command_is_exit_code_130(shoal, failing):
    failing(KeyboardInterrupt())
    run = shoal("methods")
    assert run.code == 130
    assert run.err.endswith("nothing was written.\n")


def test_a_warning_of_shoal_is_one_line_on_standard_error(shoal, failing):
    failing(PrivacyWarning("The rows are\nin order."))
    run = shoal("methods")
    assert run.code == 0
    assert run.err == "Warning: The rows are in order.\n"


def test_a_warning_from_elsewhere_stays_what_it_is(shoal, failing):
    failing(UserWarning("elsewhere"))
    with pytest.warns(UserWarning, match="elsewhere"):
        run = shoal("methods")
    assert (run.code, run.err) == (0, "")
