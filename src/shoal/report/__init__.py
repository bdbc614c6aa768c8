"""Renderings of a summary for the holder: a page, Markdown, JSON.

``words`` holds the sentences of all renderings, ``html`` and ``markdown`` lay them out, ``plots`` and ``frontier`` draw. Called by the results, the
command line and the web interface. It knows a ``Summary`` and nothing that it was made from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Protocol

from shoal.errors import FileError, MissingExtraError
from shoal.frames import require
from shoal.io.transaction import replacing
from shoal.notebook import safely, text_card
from shoal.summary import Summary
from shoal.validation import check_path

__all__ = ["Report", "report_form"]


_FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


def report_form(path: Path) -> str:
    """Return the form a report's name stands for, or say what is missing to make it."""
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise FileError(f"The report {path.name!r} has no known ending.", hint="use .html, .md or .json.")
    if form == "html":
        for package in ("jinja2", "vl_convert"):
            require(package, "report", "An HTML report")
    return form


class ShownAnalyses(Protocol):
    """Analyses before and after a release, as ``shoal.analyses`` gives them."""

    def markdown(self) -> str:
        """Return them as Markdown."""
        ...

    def section(self) -> str:
        """Return them as part of a page."""
        ...


@dataclass(frozen=True, repr=False)
class Report:
    """What was done to a table, what was gained and what was lost, for people to read."""

    summary: Summary
    """The plain values everything is rendered from."""
    analyses: ShownAnalyses | None = None
    """Figures of the original table that recipients may look for, at the end of the page and of the Markdown."""

    def with_analyses(self, analyses: ShownAnalyses) -> Report:
        """Return the report with what ``shoal.analyses`` found."""
        return replace(self, analyses=analyses)

    @cached_property
    def html(self) -> str:
        """One page that needs nothing else. Needs the extra ``report``."""
        from shoal.report.html import render_html  # noqa: PLC0415  (its parts are imported when first needed)

        page = render_html(self.summary)
        return page if self.analyses is None else page.replace("</main>", f"{self.analyses.section()}</main>")

    @cached_property
    def markdown(self) -> str:
        """The report as Markdown, without pictures."""
        from shoal.report.markdown import render_markdown  # noqa: PLC0415

        told = render_markdown(self.summary)
        return told if self.analyses is None else f"{told}\n{self.analyses.markdown()}"

    @property
    def json(self) -> str:
        """The summary as JSON; its schema is published and versioned."""
        return self.summary.model_dump_json(indent=2) + "\n"

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the report, readable by nobody but you; the ending decides the form: ``.html``, ``.md`` or ``.json``."""
        target = check_path("Report.save", "path", path)
        text = self.text(target)
        with replacing(target, force=force, needs=len(text), private=True) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return target

    def text(self, target: Path) -> str:
        """Return the report in the form a file's name stands for."""
        return str(getattr(self, report_form(target)))

    @safely
    def _repr_html_(self) -> str:
        try:
            page = self.html
        except MissingExtraError:
            return text_card(self.markdown)
        # a notebook shows the page in a frame of its own, so that the styles of the two do not mix
        return (
            f'<iframe title="shoal report" style="width:100%;height:640px;border:0" srcdoc="{escape(page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<shoal.Report: {self.summary.released:,} records, k = {self.summary.reached.k}; save it as .html, .md or .json>"
