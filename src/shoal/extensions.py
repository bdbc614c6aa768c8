"""Methods, privacy models and engines by name: shoal's own, and those that other packages bring along.

A package names its class in its own ``pyproject.toml``, and shoal knows it by that name from then on, in
recipes and on the command line too::

    [project.entry-points."shoal.models"]
    at-most = "their_package:AtMost"
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from shoal.errors import ExtensionWarning, ParameterError
from shoal.validation import check_choice


class Registry(NamedTuple):
    """Classes by name, imported when they are asked for."""

    group: str
    """The group of entry points under which other packages register theirs."""
    own: dict[str, tuple[str, str]]
    """Name → module and class."""

    def places(self) -> dict[str, tuple[str, str]]:
        """Return module and class of every name; no package takes over a name of shoal's own."""
        others = {entry.name: (entry.module, entry.attr) for entry in entry_points(group=self.group)}
        return self.own | {name: place for name, place in sorted(others.items()) if name not in self.own}

    def load(self, owner: str, parameter: str, name: Any) -> Any:
        """Return the class called ``name``."""
        places = self.own if name in self.own else self.places()
        module, attribute = places[check_choice(owner, parameter, name, tuple(places))]
        found = imported(module, attribute)
        if found is None:
            raise ParameterError(
                f"The {parameter} {name!r} is registered as {module}:{attribute}, which cannot be imported.",
                hint="install the package that brings it again.",
            )
        return found

    def loaded(self) -> dict[str, Any]:
        """Return every class by its name; one that cannot be imported is named in a warning and left out."""
        found = {name: imported(*place) for name, place in self.places().items()}
        for name, (module, attribute) in self.places().items():
            if found[name] is None:
                warn_of(name, f"{module}:{attribute}")
        return {name: kind for name, kind in found.items() if kind is not None}

    def name_of(self, kind: type) -> str | None:
        """Return the name a class is known by, or None."""
        for name, (module, attribute) in self.places().items():
            if attribute == kind.__name__ and imported(module, attribute) is kind:
                return name
        return None


def imported(module: str, attribute: str) -> Any:
    """Return what a package registers, or None if it cannot be imported."""
    try:
        return getattr(import_module(module), attribute)
    except Exception:  # noqa: BLE001  (a package may fail in any way while it is imported)
        return None


def warn_of(name: str, place: str) -> None:
    """Warn that what a package registers is left out."""
    warnings.warn(
        f"{name!r} is registered as {place}, which cannot be imported, and is left out. "
        "Install the package that brings it again, or remove it.",
        ExtensionWarning,
        stacklevel=4,
    )


ENGINES = Registry(
    "shoal.engines",
    {
        "memory": ("shoal.engines.memory", "MemoryEngine"),
        "stream": ("shoal.engines.stream.start", "StreamEngine"),
        "spark": ("shoal.engines.spark.engine", "SparkEngine"),
    },
)
"""Who releases tables, in the order in which ``engine="auto"`` asks them; here, where those who only need the names find them."""
