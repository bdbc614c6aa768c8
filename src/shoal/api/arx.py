"""Projects of ARX, read as recipes.

A project (``.deid``) is a zip file. ``input/definition.xml`` gives each column its role and type, ``input/config.xml`` the privacy models, the suppression
limit and the weights, ``input/hierarchies/`` one file a column. The rest (the original table in ``data/``, saved Java objects) is not read.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from shoal.api.anonymizer import Anonymizer
from shoal.errors import FileError, HierarchyError
from shoal.hierarchy import Hierarchy
from shoal.privacy.base import PrivacyModel
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.likeness import BetaLikeness, DeltaDisclosure
from shoal.privacy.t_closeness import TCloseness
from shoal.validation import shown

_LARGEST = {"xml": 20_000_000, "csv": 500_000_000}
"""Bytes of a part that are unpacked; a zip file may claim few and hold many."""
_LEAST_K = 2
_ROLES = {"quasi": "quasi_identifiers", "insensitive": "keep", "sensitive": "sensitive", "identifying": "identifiers"}
"""From a word in the type of a column to its role; the first that fits counts."""
_DATE_SIGNS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


@dataclass
class ArxProject:
    """What a project of ARX asks for, in the words of shoal."""

    anonymizer: Anonymizer
    left: list[str]
    """What has no counterpart, a sentence each."""
    has_data: bool
    """Whether the project holds the original table, which is not read."""


@dataclass
class _Found:
    """Parameters as they are found, and what is left."""

    given: dict[str, Any] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def read_arx_project(path: str | Path) -> ArxProject:
    """Return the recipe in a project of ARX, with its hierarchies and models, and a list of what has no counterpart.

    The original table that a project may hold is neither read nor copied.
    """
    place = Path(path)
    try:
        with zipfile.ZipFile(place) as project:
            return _read(project, place.name)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"The project {shown(place.name)} cannot be read: {error.strerror}.") from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError):
        raise FileError(
            f"The file {shown(place.name)} is not a project of ARX, or it is damaged.",
            hint="give a .deid file that ARX saved.",
        ) from None


def _read(project: zipfile.ZipFile, name: str) -> ArxProject:
    names = set(project.namelist())
    if not {"input/definition.xml", "input/config.xml"} <= names:
        raise FileError(
            f"The file {shown(name)} is not a project of ARX: it lacks input/definition.xml or input/config.xml.",
            hint="give a .deid file that ARX saved.",
        )
    found = _Found({role: [] for role in _ROLES.values()} | {"hierarchies": {}, "weights": {}, "models": []})
    separator = _separator(_tree(project, "project.xml")) if "project.xml" in names else None
    for column in _tree(project, "input/definition.xml").iter("assigment"):
        _read_column(project, names, column, separator, found)
    _read_config(_tree(project, "input/config.xml"), found)
    if not found.given["quasi_identifiers"]:
        raise FileError(f"The project {shown(name)} names no quasi-identifying column. There is nothing to release by.")
    found.given["weights"] = {
        column: weight
        for column, weight in found.given["weights"].items()
        if column in found.given["quasi_identifiers"]
    }
    made = Anonymizer(**{name: value for name, value in found.given.items() if value})
    return ArxProject(made, found.left, any(part.startswith("data/") for part in names))


def _part(project: zipfile.ZipFile, name: str, kind: str) -> bytes:
    """Return one part of the project, of which no more is unpacked than such a part may hold."""
    with project.open(name) as file:
        content = file.read(_LARGEST[kind] + 1)
    if len(content) > _LARGEST[kind]:
        raise FileError(f"The part {name!r} of the project is larger than {_LARGEST[kind] // 1_000_000} MB.")
    return content


def _tree(project: zipfile.ZipFile, name: str) -> ET.Element:
    """Return a part that is XML; a document type, whose entities could unfold without end, is refused."""
    content = _part(project, name, "xml")
    try:
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise ET.ParseError  # noqa: TRY301
        return ET.fromstring(content)  # noqa: S314 - no document type, no entities
    except (ET.ParseError, ValueError):
        raise FileError(f"The part {name!r} of the project is not the XML that ARX writes.") from None


def _text(element: ET.Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _separator(project: ET.Element) -> str | None:
    """Return what separates the columns of the project's files; a blank one is kept, so nothing is stripped."""
    given = project.findtext("separator") or ""
    return given if len(given) == 1 else None


def _read_column(
    project: zipfile.ZipFile, names: set[str], column: ET.Element, separator: str | None, found: _Found
) -> None:
    """Take up the role, the hierarchy and the type of one column."""
    name, kind = column.findtext("name") or "", _text(column, "type").casefold()
    role = next((role for word, role in _ROLES.items() if word in kind), "identifiers")
    found.given[role].append(name)
    if role in {"quasi_identifiers", "sensitive"}:
        _read_hierarchy(project, names, column, name, separator, found)
    _read_type(column, name, found)
    for bound, word in (("min", "least"), ("max", "greatest")):
        level = _text(column, bound)
        if level and level != "All":
            found.left.append(
                f"The {word} level {level} of generalization of {name!r}: shoal uses all levels of a hierarchy."
            )
    function = _text(column, "microAggregationFunction") or _text(column, "microaggregationfunction")
    if function:
        found.left.append(
            f'The microaggregation of {name!r} ({function}): release="representatives" does it for all columns.'
        )


def _read_hierarchy(
    project: zipfile.ZipFile, names: set[str], column: ET.Element, name: str, separator: str | None, found: _Found
) -> None:
    reference = _text(column, "ref")
    if not reference:
        return
    part = reference if reference in names else f"input/{reference}"
    if part not in names:
        found.left.append(f"The hierarchy of {name!r}: its file is not in the project.")
        return
    content = _part(project, part, "csv")
    try:
        found.given["hierarchies"][name] = Hierarchy.from_csv(io.BytesIO(content), separator=separator)
    except HierarchyError as fault:
        reason = str(fault).splitlines()[0].split(": ")[0]
        found.left.append(f"The hierarchy of {name!r}: it is not a tree ({reason}). ARX allows a value in two groups.")


def _read_type(column: ET.Element, name: str, found: _Found) -> None:
    """Take over how dates are written; an order of values is only reported."""
    kind, form = _text(column, "datatype"), _text(column, "format")
    if kind.casefold().startswith("date") and form:
        made = _date_format(form)
        if made is None:
            found.left.append(f"The date format of {name!r}: give date_format= as strptime writes it.")
        elif made not in found.given.setdefault("date_format", []):
            found.given["date_format"].append(made)
    elif kind.casefold() in ("ordinal", "ordered string") and form:
        found.left.append(f"The order of the values of {name!r}: give it with kinds={{{name!r}: [...]}}.")


def _date_format(form: str) -> str | None:
    """Return a format of Java as strptime writes it; None for one with other parts."""
    made = re.sub("|".join(_DATE_SIGNS), lambda match: _DATE_SIGNS[match[0]], form)
    return None if re.search(r"(?<!%)[A-Za-z]", made) else made


# --- models ------------------------------------------------------------------------------------------------------

_NUMBER = r"(\d+(?:\.\d+)?(?:E-?\d+)?)"
_FOR = r" for attribute '(.*)'"
_MODELS: tuple[tuple[str, Callable[[Sequence[str]], PrivacyModel]], ...] = (
    (rf"distinct-{_NUMBER}-diversity{_FOR}", lambda part: LDiversity(int(float(part[0])), column=part[1])),
    (
        rf"(?:\w+-)?entropy-{_NUMBER}-diversity{_FOR}",
        lambda part: LDiversity(float(part[0]), "entropy", column=part[1]),
    ),
    (
        rf"recursive-\({_NUMBER},\s*{_NUMBER}\)-diversity{_FOR}",
        lambda part: LDiversity(int(float(part[1])), "recursive", c=float(part[0]), column=part[2]),
    ),
    (
        rf"{_NUMBER}-closeness with (equal|hierarchical|ordered)[ \-]?\w*(?:-distance)?{_FOR}",
        lambda part: TCloseness(float(part[0]), part[1], column=part[2]),  # type: ignore[arg-type]
    ),
    (rf"{_NUMBER}-disclosure privacy{_FOR}", lambda part: DeltaDisclosure(float(part[0]), column=part[1])),
    (
        rf"(basic|enhanced)-{_NUMBER}-likeness{_FOR}",
        lambda part: BetaLikeness(float(part[1]), enhanced=part[0] == "enhanced", column=part[2]),
    ),
)
"""How ARX writes a model that shoal has, and that model."""


def _read_config(config: ET.Element, found: _Found) -> None:
    """Take up models, the suppression limit and weights."""
    for criterion in config.iter("criterion"):
        _read_criterion((criterion.text or "").strip(), found)
    if "k" not in found.given:
        found.given["k"] = _LEAST_K
        found.left.append(
            f"No k-anonymity is asked for: the recipe takes k = {_LEAST_K}, the least there is. Choose a larger one."
        )
    found.given["max_suppression"] = _share(_text(config, "relativeMaxOutliers"))
    for weight in config.iter("attributeWeight"):
        number = _share(_text(weight, "weight"))
        if number not in (None, 0.5):  # the weight that ARX gives every column
            found.given["weights"][weight.findtext("attribute") or ""] = 2 * number
    metric = _text(config, "metric")
    if metric:
        found.left.append(f"The measure of quality ({metric}): shoal reduces the normalized certainty penalty.")


def _share(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def _read_criterion(text: str, found: _Found) -> None:
    """Take up one privacy model."""
    if match := re.fullmatch(r"(\d+)-anonymity", text, re.IGNORECASE):
        found.given["k"] = max(int(match[1]), _LEAST_K, found.given.get("k", 0))
        return
    for form, make in _MODELS:
        if match := re.fullmatch(form, text, re.IGNORECASE):
            model = make(match.groups())
            if getattr(model, "column", None) in found.given["sensitive"]:
                found.given["models"].append(model)
                return
    found.left.append(f"The privacy model {text!r}: see the page about ARX for what is nearest.")
