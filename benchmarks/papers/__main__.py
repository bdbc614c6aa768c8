"""Run the experiments of the papers again: tables (JSON, Markdown) and pictures (SVG), beside what the papers state.

python -m benchmarks.papers                           all of them
python -m benchmarks.papers --quick                   fewer sizes, minutes; written to results/quick
python -m benchmarks.papers --only P1,similarity      some of them
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

PAPERS = {
    "P1": "local_recoding",  # Xu et al. 2006
    "P2": "merge_split",  # Zhong 2012
    "P3": "microaggregation",  # Domingo-Ferrer 2006
    "P4": "generalization",  # Wang, Yu, Chakraborty 2004
    "P5": "similarity",  # Sarrafi Aghdam, Sonehara 2016
}
"""Number of the paper → the module beside this one that runs its experiments."""
MORE = ("weights", "companies", "records", "table_1")
"""Experiments that have a module of their own: figure 19 of P1; the companies of P3 and the reference cells; figure 3 of P4 once more."""


def available() -> list[str]:
    """Return the modules that are there."""
    return [name for name in (*PAPERS.values(), *MORE) if find_spec(f"benchmarks.papers.{name}")]


def chosen(only: str | None) -> list[str]:
    """Return the modules a list such as ``P1,similarity`` names; all without one."""
    names = available()
    if only is None:
        return names
    wanted = [PAPERS.get(word.strip().upper(), word.strip()) for word in only.split(",")]
    unknown = [word for word in wanted if word not in names]
    if unknown:
        raise SystemExit(f"No such experiment: {', '.join(unknown)}. There are: {', '.join(names)}.")
    return wanted


def run(name: str, *, quick: bool, output: Path | None) -> int:
    """Run one paper's experiments in a process of their own; return its exit code."""
    options = [*(["--quick"] if quick else []), *(["--output", str(output)] if output else [])]
    return subprocess.run([sys.executable, "-m", f"benchmarks.papers.{name}", *options], check=False).returncode


def main() -> None:
    """Run what was asked for; fail if any of it failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="fewer seeds and sizes")
    extent.add_argument("--full", action="store_true", help="everything, the default")
    parser.add_argument("--only", help="papers or experiments, separated by commas")
    parser.add_argument("--output", type=Path, help="folder for tables and pictures")
    arguments = parser.parse_args()
    names = chosen(arguments.only)
    failed = [name for name in names if run(name, quick=arguments.quick, output=arguments.output)]
    if failed:
        raise SystemExit(f"Failed: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
