"""Methods and privacy models by name: shoal's own, and those that other packages bring along.

A package names its class in its own ``pyproject.toml``, and shoal knows it by that name from then on, in
recipes and on the command line too::

    [project.entry-points."shoal.models"]
    at-most = "their_package:AtMost"
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from shoal.errors import ParameterError
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
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError):
            raise ParameterError(
                f"The {parameter} {name!r} is registered as {module}:{attribute}, which cannot be imported.",
                hint="install the package that brings it again.",
            ) from None

    def name_of(self, kind: type) -> str | None:
        """Return the name a class is known by, or None."""
        for name, (_, attribute) in self.places().items():
            if attribute == kind.__name__ and self.load("", "name", name) is kind:
                return name
        return None
