"""``python -m shoal.compiling.warm_up.shipping WHEEL``: put compiled kernels into a wheel, so that a first run compiles nothing.

The kernels are compiled for any processor of a kind (``keeping.BASELINES``), by this Python and this numba. Both are
in the name of the new wheel, and in the stamp of every kernel: if they differ, kernels are compiled as without it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numba

from shoal.compiling.disk_cache import INNER, SHIPPED, baseline, runs_baseline
from shoal.compiling.warm_up import PART_NAMES
from shoal.compiling.warm_up.processes import compile_all, list_calls, usable_cores
from shoal.errors import ParameterError

_FOLDER = f"shoal/kernels/{SHIPPED.name}"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every added file: the same kernels give the same wheel."""


def main(arguments: list[str] | None = None) -> None:
    """Make a wheel with kernels from one without."""
    parser = argparse.ArgumentParser(prog="python -m shoal.compiling.warm_up.shipping", description=__doc__)
    parser.add_argument("wheel", type=Path, help="a wheel of shoal without kernels")
    parser.add_argument("--output", type=Path, default=Path("dist"), help="the folder for the new wheel")
    parser.add_argument("--part", action="append", choices=PART_NAMES, help="only these parts; all by default")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        kernels = compile_baseline(chosen.part or list(PART_NAMES), Path(folder))
        made = ship(chosen.wheel, kernels, chosen.output)
    sys.stdout.write(f"{made}\n")


def compile_baseline(parts: list[str], folder: Path) -> dict[str, bytes]:
    """Compile the kernels of some parts for any processor like this one; return the files by name."""
    target = baseline()
    if target is None or not runs_baseline():
        raise ParameterError("There is no common ground of processors like this one, so no kernels can be shipped.")
    # numba asks these two in the processes that compile; nobody else's numba sees them
    environment = {"NUMBA_CPU_NAME": target.processor, "NUMBA_CPU_FEATURES": target.features}
    compile_all(list_calls(parts), usable_cores(), _say, environment | {"SHOAL_CACHE_DIR": str(folder)})
    files = sorted(folder.rglob("*.kernel"))
    return {path.name: path.read_bytes() for path in files if not path.name.startswith(INNER)}


def _say(fraction: float, text: str) -> None:
    sys.stderr.write(f"{fraction:4.0%} {text}\n")


def ship(wheel: Path, kernels: Mapping[str, bytes], folder: Path) -> Path:
    """Write a wheel with kernels, named after this Python, numba and platform; return its path."""
    name, version, *_ = wheel.name.split("-")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}{getattr(sys, 'abiflags', '')}-{re.sub(r'[^0-9A-Za-z]', '_', sysconfig.get_platform())}"
    build = f"1numba{numba.__version__}"
    made = folder / f"{name}-{version}-{build}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    information = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel) as old:
        contents = {entry: old.read(entry) for entry in old.namelist() if entry != f"{information}/RECORD"}
    contents[f"{information}/WHEEL"] = _retagged(contents[f"{information}/WHEEL"].decode(), build, tag).encode()
    contents |= {f"{_FOLDER}/{file}": content for file, content in kernels.items()}
    contents[f"{information}/RECORD"] = _record(contents, f"{information}/RECORD").encode()
    temporary = made.with_suffix(".partial")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as new:
        for entry, content in contents.items():
            note = zipfile.ZipInfo(entry, _EPOCH)
            note.external_attr = 0o100644 << 16
            new.writestr(note, content, zipfile.ZIP_DEFLATED)
    os.replace(temporary, made)  # noqa: PTH105  (a wheel is there whole or not at all)
    return made


def _retagged(text: str, build: str, tag: str) -> str:
    """Return the file WHEEL of a wheel that is for one platform."""
    kept = [line for line in text.splitlines() if line and not line.startswith(("Tag:", "Root-Is-Purelib:", "Build:"))]
    return "\n".join([*kept, "Root-Is-Purelib: false", f"Build: {build}", f"Tag: {tag}", ""])


def _record(contents: Mapping[str, bytes], own: str) -> str:
    """Return the file RECORD: digest and length of every other file."""

    def lines() -> Iterator[str]:
        for entry, content in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            yield f"{entry},sha256={digest},{len(content)}"
        yield f"{own},,"

    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    main()
