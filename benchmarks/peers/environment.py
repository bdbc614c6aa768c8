"""A Python environment of their own for the other packages, so that their requirements never meet shoal's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = ("anonypy", "anonypyx", "anjana", "pycanon", "microagg1d")
DEFAULT = Path(__file__).parent / ".environment"
_ROOT = Path(__file__).parents[2]


def prepare(folder: Path = DEFAULT) -> Path:
    """Return the interpreter of an environment with all packages; make it, or install what an interrupted run left out."""
    python = folder.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    if not _complete(python):
        print(f"Installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def _complete(python: Path) -> bool:
    check = f"from importlib.metadata import version; [version(name) for name in {PACKAGES!r}]"
    return subprocess.run([str(python), "-c", check], capture_output=True, check=False).returncode == 0


def versions(python: Path) -> dict[str, str]:
    """Return the version of each package."""
    return _answer(python, ["versions", *PACKAGES])


def run(python: Path, job: str, *arguments: object) -> dict[str, Any]:
    """Run one job of ``jobs.py`` in a process of its own and return what it measured."""
    return _answer(python, [job, *map(str, arguments)])


def _answer(python: Path, arguments: list[str]) -> dict[str, Any]:
    """Return the last line a job prints, read as JSON; the packages print lines of their own before it."""
    done = subprocess.run(
        [str(python), "-W", "ignore", "-m", "benchmarks.peers.jobs", *arguments],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The job {arguments[0]!r} of another package failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
