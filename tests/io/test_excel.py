"""Workbooks as people open them."""

from __future__ import annotations

import datetime as dt

import openpyxl

import shoal
from shoal.io.files import open_table


def test_a_workbook_shows_its_dates_keeps_its_header_in_view_and_explains_itself(tmp_path):
    table = {
        "age": [20, 21, 22, 23] * 5,
        "zip": ["00123", "01234"] * 10,
        "seen": [dt.date(2024, 1, 1), dt.date(2023, 12, 31)] * 10,
        "at": [dt.datetime(2024, 1, 1, 3, 4, 5)] * 20,  # noqa: DTZ001  (a file has no zones)
    }
    result = shoal.anonymize(table, k=5, quasi_identifiers=["age"], keep=["zip", "seen", "at"], method="mondrian")
    about = {"columns": {"zip": {"title": "Postcode"}}}
    path = result.save(tmp_path / "release.xlsx", dictionary=about)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["release", "codebook"]
    sheet = book["release"]
    assert sheet.freeze_panes == "A2"
    widths = [sheet.column_dimensions[letter].width for letter in "ABCD"]
    assert widths[2] >= len("2024-01-01")
    assert widths[3] >= len("2024-01-01 03:04:05")
    assert {cell.value for cell in sheet["B"][1:]} == {"00123", "01234"}
    assert {cell.number_format for cell in sheet["C"][1:]} == {"yyyy-mm-dd"}
    words = [[cell.value for cell in row] for row in book["codebook"].iter_rows()]
    assert next(row for row in words if row[0] == "zip")[1] == "Postcode"
    assert any(row[0] == "[24-30]" for row in words)
    assert open_table(path).names == list(table)
    bare = result.save(tmp_path / "bare.xlsx", dictionary=False)
    assert openpyxl.load_workbook(bare).sheetnames == ["release"]
