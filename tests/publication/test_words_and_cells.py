"""Sentences about released columns, compared with the released cells: examples, ends, counts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import encode
from shoal.ends.columns import ColumnEnds, Rule
from shoal.ends.grids import make_grid
from shoal.frames import to_frame


@pytest.fixture(scope="module")
def result():
    random = np.random.default_rng(3)
    table = pa.table(
        {
            "cost": np.round(random.lognormal(3, 2, 400), 2),
            "seen": pa.array((19_600 + random.integers(0, 365, 400)).astype(np.int32), pa.date32()),
            "PLZ": [f"{code:05}" for code in random.integers(10, 40, 400) * 1000],
            "job": random.choice(["nurse", "cook", "clerk", "judge"], 400),
        }
    )
    return shoal.anonymize(
        table, k=5, quasi_identifiers=table.column_names, method="mondrian", hierarchies={"PLZ": "set", "job": "set"}
    )


def plain(text):
    """Return Markdown without the marks that keep signs as they are."""
    return text.replace("\\", "")


def cells(result, name):
    return result.released.column(name).to_pylist()


def test_every_example_of_the_codebook_and_the_report_is_a_released_cell(result, tmp_path):
    result.codebook(tmp_path / "codebook.md")
    codebook, report = (
        plain((tmp_path / "codebook.md").read_text("utf-8")),
        plain(result.report().text(Path("report.md"))),
    )
    released = {cell for name in result.released.column_names for cell in cells(result, name)}
    for text in (codebook, report):
        examples = re.findall(r"such as ([\[{][^|\n]*?[\]}])", text)
        assert len(examples) >= 4
        assert set(examples) <= released


def test_what_is_said_of_ends_holds_for_so_many_cells(result):
    said = re.fullmatch(
        r"multiples of ([\d.]+)(?: to [\d.]+)?(?: in ([\d,]+) of ([\d,]+) groups with a range)?",
        result.details["ends"]["cost"],
    )
    shown = dict(zip(result.groups.tolist(), cells(result, "cost"), strict=True))
    pairs = [re.fullmatch(r"\[([\d.]+)-([\d.]+)\]", cell) for cell in shown.values()]
    found = [[float(end) / float(said[1]) for end in pair.groups()] for pair in pairs if pair]
    on_step = sum(all(abs(end - round(end)) < 1e-6 for end in pair) for pair in found)
    stated = int((said[2] or str(len(found))).replace(",", ""))
    assert stated <= on_step
    assert said[3] is None or int(said[3].replace(",", "")) == len(found)


def test_steps_that_not_all_ranges_have_are_said_to_be_so():
    column = encode(to_frame(pa.table({"cost": [1, 2, 5, 9, 400, 900]})), ["cost"]).columns[0]
    low, high = np.array([0, 4, 2], np.int32), np.array([1, 5, 5], np.int32)
    ends = ColumnEnds(column, make_grid(column, np.concatenate([low, high])), Rule(share=0.1))
    assert re.fullmatch(r"multiples of .* in 2 of 3 groups with a range", ends.steps_used(low, high))


def test_counts_of_cells_in_the_codebook_are_those_of_the_rows(result, tmp_path):
    result.codebook(tmp_path / "codebook.md")
    text = (tmp_path / "codebook.md").read_text("utf-8").replace("\\", "")
    for name in ("PLZ", "job"):
        for cell in set(cells(result, name)):
            row = re.search(rf"^\| {re.escape(cell)} \| ([\d,]+) \|$", text, re.MULTILINE)
            assert row is None or int(row[1].replace(",", "")) == cells(result, name).count(cell)
