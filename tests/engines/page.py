"""The page that says which engine keeps which parameter: ``python -m tests.engines.page`` writes it again."""

from __future__ import annotations

from pathlib import Path

from shoal.parameters import ENGINES, PARAMETERS, REQUIRED, Parameter
from tests.engines.agreement import EXCEPTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "engines.md"
_HEAD = """# Engines and parameters

The table `shoal.parameters` as a page; `python -m tests.engines.page` writes it. Each cell is tried by the sweep over engines
(`tests/engines/test_sweep.py`, `tests/engines/spark/test_sweep.py`): the parameter is seen in the release, or refused in one sentence before any work.

- **yes**: honoured, whatever the size of the table.
- **yes; …**: honoured, and for this the work is not cut into fragments.
- **refused: …**: one sentence says so before any work. What is not named there is honoured.

"""
_TAIL = """
## Where groups depend on the engine

The count before a release, the models and k are the same everywhere. The groups of `optimize` are the same in memory, streamed and on Spark,
whatever the order of rows, the size of batches and the number of workers, and so are global recodings. `python -m tests.engines.agreement` tries
generated calls on all three. Exceptions:

| what | memory | stream | Spark |
|---|---|---|---|
"""
_ASIDE = """| kept columns of records that are equal in all that groups depend on (quasi-identifiers, sensitive columns, person, survey weight) | any of these records may be in any of their groups | the same | the same |
| `sse`, `il_percent`, `cm_by_column` in `metrics` | measured | not measured | not measured, except in one task |
| `felt`: exact cells, values of a typical cell, share left to guess | measured | refused in a sentence | refused in a sentence |
| `lower_bound`, `gap` in `metrics`, if the method knows them | up to 65,536 records | up to 65,536 records | up to 65,536 records |
"""


def page() -> str:
    """Return the text of the page."""
    heads = ["parameter", "default", "what it does", "recipe", *ENGINES]
    lines = [heads, ["---"] * len(heads), *map(_row, PARAMETERS)]
    excepted = "".join(f"| {one.what} | {one.memory} | {one.stream} | {one.spark} |\n" for one in EXCEPTIONS)
    return _HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines) + _TAIL + excepted + _ASIDE


def _row(one: Parameter) -> list[str]:
    default = "" if one.default == REQUIRED else f"`{one.default!r}`".replace("'", '"')
    return [
        f"`{one.name}`",
        default,
        one.words,
        "yes" if one.in_recipe else "",
        *(_cell(one, name) for name in ENGINES),
    ]


def _cell(one: Parameter, engine: str) -> str:
    refused, alone = one.refused.get(engine), one.alone.get(engine)
    said = f"yes; {alone}" if alone else "yes"
    if refused == "always":
        return "refused"
    return f"{said}; refused: {refused}" if refused else said


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
