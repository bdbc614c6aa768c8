"""Writes ``docs/reference/python.md``: every public name, to be filled from its docstring by ``make docs``."""

from __future__ import annotations

import inspect
from pathlib import Path

import shoal
from shoal.methods.base import Method
from shoal.privacy.base import PrivacyModel

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "python.md"
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
        parts += [f"::: shoal.{name}\n" for name in sorted(names, key=str.lower) if kind(name) == heading]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
