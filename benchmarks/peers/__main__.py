"""shoal beside anonypy, anonypyx, anjana, pycanon and microagg1d: same table, same k, same measure.

python -m benchmarks.peers            samples and the whole of UCI Adult, some minutes
python -m benchmarks.peers --quick    samples only; written to results/quick

The other packages get an environment of their own (``--environment FOLDER`` to keep it elsewhere, or to use one that
is there). Loss is computed by shoal from the tables they release. CPU seconds are those of the work, without imports
and files; memory is the peak of a process that does nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measuring import RESULTS, Table, write_page
from benchmarks.peers.auditing import audit_table
from benchmarks.peers.environment import DEFAULT, prepare, versions
from benchmarks.peers.grouping import range_tables, trees_table
from benchmarks.peers.microaggregation import mdav_tables, univariate_table

RANGES = ("mondrian", "merge-split", "sbca", "optimize")
TREES = ("datafly", "incognito", "bug", "mondrian", "merge-split", "sbca", "optimize")


def parts(python: Path, *, quick: bool, methods: Sequence[str]) -> dict[str, Callable[[], list[Table]]]:
    """Return the comparisons by name; ``methods`` limits shoal's own."""
    sizes = [5_000] if quick else [5_000, 30_162]

    def wanted(names: Sequence[str]) -> list[str]:
        return [name for name in names if not methods or name in methods]

    return {
        "ranges": lambda: range_tables(python, sizes, wanted(RANGES)),
        "trees": lambda: [trees_table(python, sizes, wanted(TREES))],
        "mdav": lambda: mdav_tables(python, quick=quick),
        "univariate": lambda: [univariate_table(python, [100_000] if quick else [100_000, 1_000_000])],
        "audit": lambda: [audit_table(python, [5_000, 30_162])],
    }


def split(names: str) -> list[str]:
    """Return words separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


def main() -> None:
    """Run all, or what was asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="samples only")
    parser.add_argument("--only", type=split, default=[], help="comparisons: ranges, trees, mdav, univariate, audit")
    parser.add_argument("--methods", type=split, default=[], help="limit shoal's own methods to these")
    parser.add_argument("--environment", type=Path, default=DEFAULT, help="folder of the other packages' environment")
    parser.add_argument("--output", type=Path, help="folder for the tables")
    arguments = parser.parse_args()
    python = prepare(arguments.environment)
    chosen = parts(python, quick=arguments.quick, methods=arguments.methods)
    wanted = [make for name, make in chosen.items() if not arguments.only or name in arguments.only]
    tables = [table for make in wanted for table in make()]
    found = ", ".join(f"{name} {number}" for name, number in versions(python).items())
    folder = arguments.output or (RESULTS / "quick" if arguments.quick else RESULTS)
    options = [" --quick"] if arguments.quick else []
    options += [f" --{name} {','.join(given)}" for name in ("only", "methods") if (given := getattr(arguments, name))]
    write_page("peers", f"shoal beside {found}", tables, "python -m benchmarks.peers" + "".join(options), folder)


if __name__ == "__main__":
    main()
