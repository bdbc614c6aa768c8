"""``make fuzz``, or ``python -m tests.fuzz --tables 5000 --signals 300``: prints what was tried and what did not hold."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
from functools import partial

from tests.engines.agreement import local_session
from tests.fuzz import interference, interference_engines, signals, tables

FAULTS = ("violations", "crashes", "hangs")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201


def main() -> None:
    """Run the campaign and end with exit code 1 where anything did not hold."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--tables", type=int, default=500, help="generated tables (500; 5000 take some hours)")
    parser.add_argument("--pairs", type=int, default=500, help="pairs that differ in what a release hides (500)")
    parser.add_argument("--stream-pairs", type=int, default=200, help="such pairs, streamed (200)")
    parser.add_argument(
        "--spark-pairs", type=int, default=20, help="such pairs on Spark (20; about 10 s each; 0: no Java is started)"
    )
    parser.add_argument("--signals", type=int, default=200, help="signals sent to a job at random moments (200)")
    parser.add_argument("--seed", type=int, default=None, help="where the drawing begins; a fresh number unless given")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a run that is stopped tells what it has found
    seed = secrets.randbits(32) if given.seed is None else given.seed
    say(f"seed {seed}")
    found = {"tables": tables.run(([seed, number] for number in range(given.tables)), say)}
    found["pairs"] = interference.run(given.pairs, seed, say)
    found["stream pairs"] = interference.run(given.stream_pairs, seed, say, interference_engines.stream_differences)
    if given.spark_pairs:
        differ = partial(interference_engines.spark_differences, session=local_session())
        found["Spark pairs"] = interference.run(given.spark_pairs, seed, say, differ)
    found["signals"] = signals.run(given.signals, seed, say)
    for part, tally in found.items():
        figures = ", ".join(f"{name} {tally[name]}" for name in ("tried", "refused", *FAULTS))
        say(f"{part}: {figures}")
    sys.exit(any(tally[fault] for tally in found.values() for fault in FAULTS))


if __name__ == "__main__":
    main()
