"""Lets ``mkdocs`` build pages that also link to files of the repository: pictures are taken along, other links become text."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_ROOT = Path(__file__).parent.parent


def on_files(files: Any, config: Any) -> Any:
    """Add the pictures of the benchmarks."""
    for picture in sorted((_ROOT / "benchmarks" / "results").rglob("*.svg")):
        place = picture.relative_to(_ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, **_more: Any) -> str:
    """Let links to pictures lead into the site, and turn other links that leave it into their text and the file's name."""
    folder = posixpath.dirname(page.file.src_uri)

    def shown(link: re.Match[str]) -> str:
        mark, text, target = link.groups()
        place = posixpath.normpath(posixpath.join(folder, target.partition("#")[0]))
        if "://" in target or target.startswith(("#", "mailto:")) or not place.startswith(".."):
            return link[0]
        name = place.lstrip("./")
        if mark:
            return f"![{text}]({posixpath.relpath(name, folder or '.')})"
        return text if name in text else f"{text} (`{name}`)"

    return _LINK.sub(shown, markdown)
