"""The report that may be published: what was promised, what the released cells show, and what that does not promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import FileError
from shoal.io.transaction import replacing
from shoal.publication.codebook import FORMS, about_sections, codebook_text, column_sections
from shoal.publication.dictionary import dictionary_text
from shoal.publication.document import Grid, Section, as_html, as_markdown
from shoal.validation import check_path

_FORMS = (".html", ".htm", ".md", ".json")
_LIMITS = (
    "Only quasi-identifiers were protected. Any other released column that somebody knows works like one.",
    "k hides who a record belongs to, not what it says: if all records of a group share a value, the group gives it away.",
    "Further tables about the same people weaken the protection.",
    "There is no differential privacy guarantee.",
)


@dataclass(frozen=True)
class PublicReport:
    """A report made from the released rows and the recipe alone.

    Anyone who has the release could compute all of it. It says nothing about withheld records, exact values or the original
    table, so that it may go wherever the release goes.
    """

    told: Mapping[str, Any]
    """The dictionary of the release."""
    released: pa.Table

    def text(self, target: Path) -> str:
        """Return what a file of this name holds."""
        form = public_report_form(target)
        if form == ".json":
            return dictionary_text(dict(self.told))
        render = as_markdown if form == ".md" else as_html
        return render("Public report on a release", list(self._sections()))

    def codebook(self, target: Path) -> str:
        """Return the codebook of the same release, in the form of the target's name."""
        return codebook_text(self.told, self.released, target)

    @property
    def html(self) -> str:
        """The report as a page."""
        return self.text(Path("report.html"))

    @property
    def markdown(self) -> str:
        """The report as Markdown."""
        return self.text(Path("report.md"))

    @property
    def json(self) -> str:
        """The dictionary that the report is made from."""
        return self.text(Path("report.json"))

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the report as ``.html``, ``.md`` or ``.json``, by the ending of the name."""
        target = check_path("PublicReport.save", "path", path)
        content = self.text(target)
        with replacing(target, force=force) as temporary:
            temporary.write_text(content, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        own = self.told["shoal"]
        return f"<shoal.PublicReport: {own['records']:,} records, k = {own['k']}; save it as .html, .md or .json>"

    def _sections(self) -> Iterator[Section]:
        yield Section("", ["For the public: everything here follows from the released rows and the declared recipe."])
        yield from about_sections(self.told)
        yield Section("What the released rows show", (), list(_measured(self.told)))
        yield from column_sections(self.told, self.released)
        yield Section("What this does not promise", _LIMITS)


def _measured(told: Mapping[str, Any]) -> Iterator[Grid]:
    """Yield the measures as tables."""
    found = told["shoal"]["measures"]
    rows = [
        ("groups of rows with equal quasi-identifiers", f"{found['groups']:,}"),
        ("rows in the smallest group", f"{found['smallest']:,}"),
        ("rows in a group on average", f"{found['mean_size']:g}"),
        ("rows in the largest group", f"{found['largest']:,}"),
    ]
    rows += [
        (f"different values of {name} in the group with the fewest", f"{count:,}")
        for name, count in found["different_values"].items()
    ]
    yield Grid(("what", "figure"), rows)
    forms = {one["name"]: one["shoal"]["form"] for one in told["resources"][0]["schema"]["fields"]}
    columns = [
        (
            name,
            FORMS[forms[name]],
            f"{one['different_cells']:,}",
            _share(one.get("exact")),
            _share(one.get("suppressed")),
            _share(one.get("width")),
        )
        for name, one in found["columns"].items()
    ]
    yield Grid(("column", "released as", "different cells", "exact", "fully suppressed", "typical width"), columns)


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.3g} %"


def public_report_form(target: Path) -> str:
    """Return the ending of a report, or refuse one that no report has."""
    ending = target.suffix.lower()
    if ending not in _FORMS:
        raise FileError(f"A report is saved as .html, .md or .json. Got {target.suffix or 'no ending'!r}.")
    return ending
