"""Phrases that stop a reader who has not seen the code: they are not used in documentation, docstrings, comments or messages."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RULED_OUT = {
    "instead of": r"\b[Ii]n (?:the )?place of\b",
    "again": r"\b(?:anew|afresh)\b",
    "has, had by": r"\b(?:bears?|borne)\b",
    "expensive": r"\bdear(?:er|est)?\b",
    "on average": r"\b[Ii]n the mean\b",
    "ties go to": r"\b[Oo]f equals\b",
    "available": r"\bat hand\b",
    "except": r", but for\b",
    "is not a": r"(?<!here )\b(?:is|are) no (?!longer|more|less|larger|smaller|better|further|wider|such|need|room|use|reason|way|answer|other|different)[a-z]",
    "Return whether": r"\b(?:Tell (?:which|whether|whose|where|for each)|; tell (?:which|whether|how))\b",
    "if": r"\b(?:[Dd]etected|Raise|asked) where\b|\bwhere (?:not given|asked for)\b",
    "anyone who, an intruder who": r"\b[Ww]hoever\b",
    "represents": r"\bfor how many people\b.*\bstands?\b",
    "identifies the person": r"\b(?:says?|tells?) (?:whose|which (?:person|household))\b",
    "besides, next to, compared with": r"\bbeside (?:the|it|them|its|an?|what|each|those|other)\b",
    "is": r"\b(?:lies?|stands?) (?:beside|meanwhile|side by side|in (?:a|the) (?:file|folder|table|database|row|place))\b",
    "seed": r"\bStart of the random\b",
    "internal error": r"\bfault of its own\b|\bfault in (?:shoal|the method)\b",
    "shown, published, left out": r"\b(?:is|are) (?:not|never|to be) told\b(?! apart)|\bmay be told\b",
    "detected": r"\bfound by itself\b",
    "%": r"\d per cent\b",
    "stored results": r"\b[Kk]ept (?:page|run)s?\b",
    "recount": r"\b(?:fresh count|re-count)",
    "sidecar": r"\bside-car",
    "k-d tree": r"\bkd-tree",
}
ALLOWED = {
    "src/shoal/inspection/words.py",  # words of column names
    "docs/explanation/papers.md",  # quotes the papers
}
"""Where such a phrase is a quotation or data."""


def texts():
    """Yield the name and the prose of each file that people read: whole pages, and the comments and strings of code."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    templates = [*(ROOT / "src").rglob("*.j2")]
    for path in [*pages, *templates]:
        yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "reader").rglob("*.py")]:
        read = tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
        prose = [
            token.string for token in read if tokenize.tok_name[token.type] in {"STRING", "COMMENT", "FSTRING_MIDDLE"}
        ]
        yield path.relative_to(ROOT).as_posix(), "\n".join(prose)


TEXTS = {name: text for name, text in texts() if name not in ALLOWED}


@pytest.mark.parametrize(("better", "phrase"), RULED_OUT.items(), ids=list(RULED_OUT))
def test_a_phrase_that_is_ruled_out_is_used_nowhere(better, phrase):
    found = [(name, hit) for name, text in TEXTS.items() for hit in re.findall(f".{{0,30}}{phrase}.{{0,20}}", text)]
    assert found == [], f"say {better!r}"


def test_such_a_phrase_would_be_found():
    for better, phrase in RULED_OUT.items():
        seen = "in place of anew bears dearer in the mean Of equals at hand, but for is no tree Tell whether 5 per cent kept page re-count side-car kd-tree"
        seen += (
            " detected where whoever, for how many people a record stands, that says whose a record is beside the file, it lies in a folder,"
            " Start of the random numbers, a fault in shoal is not told, found by itself"
        )
        assert re.search(phrase, seen), better
