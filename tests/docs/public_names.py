"""Writes ``docs/reference/python.md``: every public name, to be filled from its docstring by ``make docs``."""

from __future__ import annotations

import inspect
from pathlib import Path

import shoal
from shoal.methods.base import Method
from shoal.privacy.base import PrivacyModel

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "python.md"
HEAD = """# Python, name by name

`make docs` fills this page from the docstrings; `help(shoal.anonymize)` shows the same. [Python](api.md) is the overview.
"""


def kind(name):
    """Return the heading a public name stands under."""
    value = getattr(shoal, name)
    if inspect.ismodule(value):
        return "Modules"
    if inspect.isclass(value) and issubclass(value, Method):
        return "Methods"
    if inspect.isclass(value) and issubclass(value, PrivacyModel):
        return "Privacy models"
    return "Classes" if inspect.isclass(value) else "Functions"


def text():
    names = [name for name in shoal.__all__ if name != "__version__"]
    parts = [HEAD]
    for heading in ("Functions", "Classes", "Privacy models", "Methods", "Modules"):
        parts.append(f"## {heading}\n")
        parts += [entry(name, heading) for name in sorted(names, key=str.lower) if kind(name) == heading]
    return "\n".join(parts)


def entry(name, heading):
    """Return what Sphinx fills in from a name's docstring."""
    directive = {"Functions": "autofunction", "Modules": "automodule"}.get(heading, "autoclass")
    repeated = "\n   :no-index:" if getattr(getattr(shoal, name), "__module__", "") == "shoal.errors" else ""
    return f"```{{eval-rst}}\n.. {directive}:: shoal.{name}{repeated}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
