"""Analyses as a picture and as a page: plain SVG, drawn here, so that neither needs another package."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from shoal.evaluation.analyses import Estimate

_COLOURS = {"original": "#222222", "midpoints": "#b8860b", "expected": "#1f6fb4", "completed": "#2e8b57"}
_ROW, _HEAD, _WIDTH, _VERDICT = 14, 26, 420, 150
_LONGEST, _LETTER = 48, 6
"""So many letters of a name are shown, each about so many points wide."""


def draw(estimates: Sequence[Estimate]) -> str:
    """Return one picture of all figures: intervals below one another, each figure on a scale of its own."""
    figures: dict[tuple[str, str], list[Estimate]] = {}
    for one in estimates:
        figures.setdefault((one.analysis, one.name), []).append(one)
    left = 16 + _LETTER * min(_LONGEST, max((len(name) for _, name in figures), default=0))
    parts, y, analysis = [_legend()], _HEAD + 10, ""
    for (of, name), found in figures.items():
        if of != analysis:
            parts.append(f'<text x="4" y="{y + 12}" font-weight="bold">{escape(of)}</text>')
            analysis, y = of, y + _HEAD
        parts.append(_figure(name, found, left, y))
        y += _ROW * (len(found) + 1) + 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + _WIDTH + _VERDICT}" height="{y + 10}" font-family="sans-serif" font-size="11" fill="#222222">'
    return head + '<rect width="100%" height="100%" fill="white"/>' + "".join(parts) + "</svg>\n"


def _legend() -> str:
    steps = enumerate(_COLOURS.items())
    return "".join(
        f'<circle cx="{10 + 110 * place}" cy="14" r="4" fill="{colour}"/><text x="{18 + 110 * place}" y="18">{way}</text>'
        for place, (way, colour) in steps
    )


def _figure(name: str, found: Sequence[Estimate], left: int, y: int) -> str:
    first = found[0]
    bars = [("original", first.original, first.low, first.high, "")]
    bars += [(one.way, one.found, one.found_low, one.found_high, one.verdict) for one in found]
    ends = [end for bar in bars for end in bar[2:4] if np.isfinite(end)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    low, high = (min(low, 0.0), high) if low <= 2 * (high - low) and low > 0 else (low, high)
    scale = _WIDTH / ((high - low) or 1.0)

    def x(value: float) -> float:
        return left + (value - low) * scale

    parts = [f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">{escape(name[:_LONGEST])}</text>']
    if low <= 0 <= high:
        parts.append(f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{y}" y2="{y + _ROW * len(bars)}" stroke="#cccccc"/>')
    for place, (way, estimate, begin, end, verdict) in enumerate(bars):
        if not np.isfinite([estimate, begin, end]).all():
            continue
        middle, colour = y + _ROW * place + 6, _COLOURS[way]
        faint = ' opacity="0.35"' if verdict == "withheld" else ""
        parts.append(
            f'<g{faint}><line x1="{x(begin):.1f}" x2="{x(end):.1f}" y1="{middle}" y2="{middle}" stroke="{colour}" stroke-width="2"/>'
            f'<circle cx="{x(estimate):.1f}" cy="{middle}" r="3.5" fill="{colour}"/>'
            f'<text x="{left + _WIDTH + 8}" y="{middle + 4}" fill="{colour}">{verdict}</text></g>'
        )
    return "".join(parts)


def section(estimates: Sequence[Estimate], overview: Sequence[dict[str, Any]], note: str) -> str:
    """Return the overview and the picture as part of a page."""
    rows = "".join(
        f"<tr><td><code>{escape(row['analysis'])}</code></td><td>{row['way']}</td><td>{row['overlap']:.2f}</td>"
        f"<td>{row['kept']} of {row['figures']}</td><td>{row['withheld']}</td></tr>"
        for row in overview
    )
    head = "<tr><th>analysis</th><th>way</th><th>overlap</th><th>kept</th><th>withheld</th></tr>"
    return (
        f"<section><h2>Analyses before and after</h2><p>{escape(note)}</p>"
        f"<div class='scroll'><table>{head}{rows}</table></div><div class='scroll'>{draw(estimates)}</div></section>"
    )


def page(estimates: Sequence[Estimate], overview: Sequence[dict[str, Any]], note: str) -> str:
    """Return a page with the overview and the picture."""
    style = "body{font-family:sans-serif;margin:2em}td,th{padding:2px 10px;text-align:left}"
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>Analyses before and after</title><style>{style}</style></head>"
        f"<body>{section(estimates, overview, note)}</body></html>\n"
    )
