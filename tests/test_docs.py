from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TAUGHT = [page for page in PAGES if page.name == "README.md" or page.parent.name == "tutorials"]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
MACHINE_PATH = re.compile(r"(?<![\w./>-])/(?:home|root|work|tmp|opt|usr|Users|mnt|var)/")
FETCHED = re.compile(
    r"https?://[^\s)\"'>]*(?:cdn|unpkg|jsdelivr|googleapis|cloudflare)|<(?:script|link|img)\b[^>]*https?:"
)


def name(page):
    return str(page.relative_to(ROOT))


def anchors(page):
    """Return the anchors of a page's headings, as code hosts name them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    """Return the relative links of a page that lead to no file or no heading."""
    for target in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            yield target


def python_blocks(page):
    return [text for language, text in FENCED.findall(page.read_text("utf-8")) if language == "python"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page):
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", TAUGHT, ids=name)
def test_every_python_block_is_python(page):
    blocks = python_blocks(page)
    assert blocks
    for block in blocks:
        compile(block, name(page), "exec")


@pytest.mark.compiled
@pytest.mark.parametrize("page", TAUGHT, ids=name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(python_blocks(page)), name(page), "exec"), {})  # noqa: S102 - the pages are our own
    assert (tmp_path / "release.csv").stat().st_size > 0


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_names_a_path_of_one_machine_or_fetches_from_elsewhere(page):
    text = page.read_text("utf-8")
    assert MACHINE_PATH.findall(text) == []
    assert FETCHED.findall(text) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.is_relative_to(ROOT / "docs")], ids=name)
def test_every_page_can_be_reached_from_the_index(page):
    index = ROOT / "docs" / "index.md"
    reached, waiting = set(), [index]
    while waiting:
        here = waiting.pop()
        reached.add(here)
        links = [target.partition("#")[0] for target in LINK.findall(here.read_text("utf-8"))]
        found = {(here.parent / link).resolve() for link in links if link.endswith(".md") and "://" not in link}
        waiting += [path for path in found if path in PAGES and path not in reached]
    assert page in reached


def test_a_broken_link_and_a_machine_path_would_be_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](gone.md) [b](page.md#one) [c](#two) [d](https://example.org)\n", "utf-8")
    assert list(broken_links(page)) == ["gone.md", "#two"]
    assert MACHINE_PATH.search("see /home/ada/table.csv")
    assert FETCHED.search("https://cdn.example.org/x.js")
