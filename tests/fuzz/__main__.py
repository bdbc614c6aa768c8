"""``make fuzz``, or ``python -m tests.fuzz --tables 5000 --signals 300``: prints what was tried and what did not hold."""

from __future__ import annotations

import argparse
import os
import secrets
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.fuzz import bad_inputs, signals, tables

FAULTS = ("violations", "crashes", "hangs")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201


def try_bad_inputs(say: Callable[[str], None]) -> Counter[str]:
    """Try every call and every command line that should be refused; tell of those that are not, nor done."""
    tally = Counter[str]()

    def note(name: str, what: str, words: str) -> None:
        tally["tried"] += 1
        tally[{"done": "kept", "crash": "crashes"}.get(what, what)] += 1
        if words:
            say(f"bad input {name}: {words}")

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as name:
        warnings.simplefilter("ignore")
        folder = Path(name)
        (folder / "bad").mkdir()
        before = Path.cwd()
        os.chdir(folder)
        try:
            for calls in (bad_inputs.wrong_parameters, bad_inputs.wrong_tables, bad_inputs.wrong_methods_and_models):
                for title, call in calls():
                    note(title, *bad_inputs.attempt(call))
            for title, words in bad_inputs.wrong_commands(folder):
                note(title, *bad_inputs.attempt_command(words, folder))
        finally:
            os.chdir(before)
    return tally


def main() -> None:
    """Run the campaign and end with exit code 1 where anything did not hold."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--tables", type=int, default=500, help="generated tables (500; 5000 take some hours)")
    parser.add_argument("--signals", type=int, default=200, help="signals sent to a job at random moments (200)")
    parser.add_argument("--no-bad-input", action="store_true", help="leave out the calls that must be refused")
    parser.add_argument("--seed", type=int, default=None, help="where the drawing begins; a fresh number unless given")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a run that is stopped tells what it has found
    seed = secrets.randbits(32) if given.seed is None else given.seed
    say(f"seed {seed}")
    found = {"tables": tables.run(([seed, number] for number in range(given.tables)), say)}
    if not given.no_bad_input:
        found["bad inputs"] = try_bad_inputs(say)
    found["signals"] = signals.run(given.signals, seed, say)
    for part, tally in found.items():
        figures = ", ".join(f"{name} {tally[name]}" for name in ("tried", "refused", *FAULTS))
        say(f"{part}: {figures}")
    sys.exit(any(tally[fault] for tally in found.values() for fault in FAULTS))


if __name__ == "__main__":
    main()
