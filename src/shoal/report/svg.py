"""From a Vega-Lite specification to SVG inside a page."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from shoal.frames import require

_ROOT = re.compile(r"<svg\b([^>]*)>")
_ID = re.compile(r'\bid="([^"]+)"')


def render(spec: dict[str, Any]) -> str:
    """Return a specification as SVG. Needs vl-convert; no browser, no network."""
    convert = require("vl_convert", "report", "Drawing a plot")
    drawn: str = convert.vegalite_to_svg(spec, vl_version="5.20", allowed_base_urls=[])
    return drawn


def inline(spec: dict[str, Any], name: str, title: str, description: str) -> str:
    """Return SVG for a page: with title and description for those who cannot see it, and ids of its own."""
    drawn = render(spec)
    for old in set(_ID.findall(drawn)):  # two pictures must not share a clip path
        drawn = drawn.replace(f'id="{old}"', f'id="{name}-{old}"').replace(f"url(#{old})", f"url(#{name}-{old})")
    head = (
        f'<svg\\1 role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{_literal(title)}</title><desc id="{name}-desc">{_literal(description)}</desc>'
    )
    return _ROOT.sub(head, drawn, count=1)


def _literal(text: str) -> str:
    """Escape text for XML, and for the replacement of a regular expression."""
    return escape(text).replace("\\", "\\\\")
