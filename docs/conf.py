"""Settings of the documentation as a site (``make docs``). Nothing in the site is fetched from elsewhere when it is read.

The source folder is the whole repository, so that pages may link to the architecture, the changelog and the kept
results of the benchmarks as they do in a checkout.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import shoal

_ROOT = Path(__file__).parent.parent
_PICTURE = re.compile(
    r'^( *)<picture><source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"><img src="([^"]+)" alt="([^"]+)"></picture>$',
    re.MULTILINE,
)
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")

project = "shoal"
author = "The shoal developers"
release = shoal.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_external_toc"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "benchmarks/results/**.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = ["benchmarks/results/quick"]
external_toc_path = "docs/_toc.yml"

myst_heading_anchors = 4
myst_links_external_new_tab = False

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_typehints = "none"  # the docstrings say in words what a parameter is; the signature has its type
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}

html_theme = "furo"
html_title = "shoal"
html_copy_source = False
html_extra_path = ["site_root"]  # the page that leads from the site's folder to its first page
templates_path: list[str] = []


def _prepare(app: Any, name: str, source: list[str]) -> None:
    """Turn links to files that are not pages into their text and the file's name; let results stand outside the list of pages."""
    folder = (_ROOT / name).parent

    def shown(link: re.Match[str]) -> str:
        text, target, _ = link.groups()
        if ":" in target or not (folder / target).exists():
            return link[0]  # a missing file stays a link, so that the build reports it
        path = (folder / target).resolve().relative_to(_ROOT).as_posix()
        if target.endswith(".md") and path.removesuffix(".md") in app.env.found_docs:
            return link[0]
        return text if path in text else f"{text} (`{path}`)"

    source[0] = _PICTURE.sub(_in_both_schemes, _LINK.sub(shown, source[0]))
    if name.startswith("benchmarks/"):
        source[0] = "---\norphan: true\n---\n" + source[0]  # reached by links, not by the list of pages


def _in_both_schemes(picture: re.Match[str]) -> str:
    """Return a picture that a code host shows in the reader's colour scheme as two, of which the theme shows one."""
    indent, dark, light, alt = picture.groups()
    both = (("only-light", light), ("only-dark", dark))
    shown = "".join(f"\n```{{image}} {path}\n:alt: {alt}\n:class: {kind}\n```\n" for kind, path in both)
    return textwrap.indent(shown, indent)


def _public_only(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001  (Sphinx calls it with all of these)
    """Leave out what a class inherits from other packages, and members without a docstring of shoal's own."""
    return True if not inspect.getdoc(value) else None


def setup(app: Any) -> None:
    """Connect what this site needs beyond its extensions."""
    app.connect("source-read", _prepare)
    app.connect("autodoc-skip-member", _public_only)
