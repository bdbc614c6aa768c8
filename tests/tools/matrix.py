"""Runs the tests with the oldest and the newest versions of every dependency: ``make matrix``.

``oldest`` installs each dependency at the lower bound that ``pyproject.toml`` states for this Python, so that a bound is a
promise and not a guess; ``newest`` installs what the package index gives today. Each has an environment of its own in ``.matrix/``.
uv installs: pip was seen to look for a set of oldest versions for half an hour without an end, uv finds it in seconds.
Another interpreter: ``make matrix PYTHON=python3.13``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TOOLS = {"pytest", "pytest-xdist", "pytest-timeout", "hypothesis", "hatchling"}
"""Tools of the tests: what they demand is not a promise to users, so they are always the newest."""
BOUND = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)(?:; python_version >= '3\.([0-9]+)')?$")


def lower_bounds(project, python=sys.version_info[:2]):
    """Return the oldest version of each dependency that users of a Python may have: the highest of its bounds that apply."""
    extras = project["optional-dependencies"]
    stated = [
        *project["dependencies"],
        *(one for extra in extras if extra not in {"all", "dev", "docs"} for one in extras[extra]),
    ]
    own = project["name"]
    found = [BOUND.match(one) for one in stated if not one.startswith(f"{own}[")]
    assert all(found), f"each dependency has a lower bound: {stated}"
    oldest = {}
    for name, version, since in (match.groups() for match in found):
        if name not in TOOLS and python >= (3, int(since or 0)):
            oldest[name] = max(oldest.get(name, "0"), version, key=lambda one: [int(part) for part in one.split(".")])
    return oldest


def constraints(project, python=sys.version_info[:2]):
    return "".join(
        f"{name}=={version}.*\n" if version.count(".") < 2 else f"{name}=={version}\n"
        for name, version in lower_bounds(project, python).items()
    )


def run(which, arguments):
    """Install and test; return the exit code."""
    folder = ROOT / ".matrix" / f"{which}-{sys.version_info.major}.{sys.version_info.minor}"
    bin_folder = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not bin_folder.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    limits = folder / "constraints.txt"
    limits.write_text(constraints(project) if which == "oldest" else "", encoding="utf-8")
    python = str(bin_folder / "python")
    print(f"{which}: installing into {folder.relative_to(ROOT)}", flush=True)  # noqa: T201
    uv = [python, "-m", "uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    installs = [
        [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "uv"],
        [*uv, "--constraint", str(limits), "--editable", f"{ROOT}[dev]"],
    ]
    if any(subprocess.run(install, check=False).returncode for install in installs):
        return 1
    test = [python, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", "--max-worker-restart=0", *arguments]
    return subprocess.run(test, cwd=ROOT, check=False).returncode


def main(arguments):
    wanted = [one for one in arguments if one in {"oldest", "newest"}] or ["oldest", "newest"]
    others = [one for one in arguments if one not in {"oldest", "newest"}]
    faults = [which for which in wanted if run(which, others)]
    print(f"failed: {', '.join(faults)}" if faults else "all passed")  # noqa: T201
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
