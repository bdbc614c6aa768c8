"""``python -m tests.hierarchy.pictures`` draws the trees on the page about trees again."""

from __future__ import annotations

import re
from pathlib import Path

from shoal.hierarchy import Hierarchy
from tests.hierarchy.columns import FIFTEEN, OTHERS

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "trees.md"
SHOWN = {
    "age band": "Age bands",
    "answer": "Answers",
    "education": "Levels of schooling",
    "country": "Countries",
    "diagnosis": "Diagnoses (ICD-10)",
    "job": "Occupations",
    "postcode": "Postcodes of the United Kingdom",
    "month": "Months of years",
    "path": "Paths",
    "time": "Times of day",
}
_BLOCK = re.compile(r"<!-- trees -->\n.*<!-- end of trees -->", re.DOTALL)


def drawn() -> str:
    """Return the ten trees as they are drawn now."""
    columns = FIFTEEN | OTHERS
    parts = []
    for name, title in SHOWN.items():
        tree = Hierarchy.suggest(columns[name][0])
        assert tree.reading is not None
        parts.append(f"### {title}\n\nRecognized as {tree.reading.what}.\n\n```text\n{tree.show()}\n```\n")
    return "<!-- trees -->\n\n" + "\n".join(parts) + "\n<!-- end of trees -->"


def page() -> str:
    """Return the page with the trees as they are drawn now."""
    return _BLOCK.sub(lambda _: drawn(), PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
