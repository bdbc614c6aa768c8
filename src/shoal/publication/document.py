"""Text and tables, as Markdown and as one self-contained page without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$-])")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .6rem }
table { border-collapse: collapse; margin: .8rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #ccc; padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181b } th, td { border-color: #444 } }
"""


class Grid(NamedTuple):
    """A table of texts."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


class Section(NamedTuple):
    """A heading, sentences below it, and tables."""

    title: str
    sentences: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    level: int = 2


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """Return a document as Markdown; nothing in it is taken for markup."""
    return "\n\n".join([f"# {plain(title)}", *_markdown_blocks(sections)]) + "\n"


def _markdown_blocks(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        if section.title:
            yield f"{'#' * section.level} {plain(section.title)}"
        yield from map(plain, section.sentences)
        yield from (markdown_table(*grid) for grid in section.grids)


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    lines = ["| " + " | ".join(map(plain, row)) + " |" for row in (headings, *rows)]
    return "\n".join([lines[0], "|" + " --- |" * len(headings), *lines[1:]])


def plain(text: str) -> str:
    """Return a text so that no Markdown reader takes it for markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def as_html(title: str, sections: Sequence[Section]) -> str:
    """Return a document as a page that loads nothing and runs nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n'
    )
    body = "\n".join([f"<h1>{escape(title)}</h1>", *_html_lines(sections)])
    return f"{head}{body}\n</body>\n</html>\n"


def _html_lines(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        if section.title:
            yield f"<h{section.level}>{escape(section.title)}</h{section.level}>"
        yield from (f"<p>{escape(sentence)}</p>" for sentence in section.sentences)
        for grid in section.grids:
            yield "<table>"
            yield "<tr>" + "".join(f'<th scope="col">{escape(one)}</th>' for one in grid.headings) + "</tr>"
            yield from ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in grid.rows)
            yield "</table>"
