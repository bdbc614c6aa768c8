from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal.errors import FileError, MissingExtraError

pytestmark = pytest.mark.compiled

EVIL = "<script>alert('x')</script>"
LOADS = re.compile(
    r"""(?:src|href|action|data)\s*=\s*["']?(?!#)|url\((?!#)|@import|<(?:script|link|iframe|img|object)\b"""
)
TEXTS = (
    "What was done",
    "Who could be found",
    "What the release has",
    "What each column pays",
    "Group sizes",
    "before and after",
    "Do columns still go together?",
    "Examples",
    "What this does not promise",
    "Repeat it",
)


@pytest.fixture(scope="module")
def result():
    register = shoal.datasets.hospital(n=1500, seed=0)
    return shoal.anonymize(
        register.patients,
        k=10,
        quasi_identifiers=["birth_date", "sex", "zip", "job"],
        sensitive=["diagnosis"],
        identifiers=["name", "admission_date"],
        keep=["cost"],
        hierarchies={name: register.hierarchies[name] for name in ("zip", "job")},
    )


@pytest.fixture(scope="module")
def report(result):
    return result.report()


@pytest.fixture(scope="module")
def evil_report():
    table = pa.table(
        {
            "age": list(range(40)),
            "a<b>|`x`": [EVIL, "| pipe | [link](x)"] * 20,
            "ill\n& sick": ["*bold* </svg>", EVIL] * 20,
        }
    )
    result = shoal.anonymize(
        table, k=4, quasi_identifiers=["age", "a<b>|`x`"], sensitive=["ill\n& sick"], max_suppression=0.1
    )
    return result.report(examples=True)


@pytest.fixture
def chromium():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed; it is needed to look at the page")

    def dump(page, folder, width=1200):
        command = [found, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        command += ["--enable-logging=stderr", f"--user-data-dir={folder}", f"--window-size={width},900"]
        return subprocess.run([*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, check=True)

    return dump


def test_the_page_loads_nothing(report):
    assert LOADS.findall(report.html) == []
    assert "default-src 'none'" in report.html
    assert LOADS.search('<img src="x.png">')  # the pattern finds what it should


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_every_part_is_there(report, form):
    text = getattr(report, form)
    assert [part for part in TEXTS if part.lower() not in text.lower()] == []


def test_the_page_is_small(report):
    assert len(report.html.encode()) < 400_000


def test_every_picture_says_what_it_shows_and_shares_no_id_with_another(report):
    pictures = re.findall(r"<svg\b.*?</svg>", report.html, re.DOTALL)
    assert len(pictures) == 3 + 6
    assert all('role="img"' in one and "<title id=" in one and "<desc id=" in one for one in pictures)
    ids = re.findall(r'\bid="([^"]+)"', report.html)
    assert len(ids) == len(set(ids))
    used = (
        re.findall(r"url\(#([^)]+)\)", report.html)
        + " ".join(re.findall(r'aria-labelledby="([^"]+)"', report.html)).split()
    )
    assert set(used) <= set(ids)


def test_the_page_names_its_language_and_its_table_heads(report):
    assert '<html lang="en">' in report.html
    assert report.html.count("<table") == report.html.count("<thead")
    assert "<th>" not in report.html


def test_values_from_the_table_are_never_markup_in_the_page(evil_report):
    html = evil_report.html
    assert "<script" not in html
    assert "a<b>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<svg") == html.count("</svg>")


def test_values_from_the_table_are_never_markup_in_markdown(evil_report):
    lines = evil_report.markdown.splitlines()
    assert not [line for line in lines if "<script" in line.replace("\\<", "")]
    start = next(number for number, line in enumerate(lines) if line == "## Examples")
    rows = [line for line in lines[start:] if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


@pytest.mark.parametrize(
    "values",
    [[1, 1, 1], [None, None, None], ["x", "y", "z"], [1.5, 2.5, 3.5], [dt.date(2020, 1, 1)] * 3],
    ids=["equal", "missing", "words", "decimals", "dates"],
)
def test_the_smallest_tables_have_a_report_too(values):
    column = pa.array(values, pa.int64() if values[0] is None else None)
    report = shoal.anonymize(pa.table({"a": column}), k=2, quasi_identifiers=["a"]).report()
    for text in (report.html, report.markdown):
        assert [part for part in TEXTS if part.lower() not in text.lower()] == ["Do columns still go together?"]


def test_withheld_records_are_counted_apart():
    table = pa.table({"zip": ["100"] * 20 + ["200"] * 20 + ["900", "901", "902"], "age": [30] * 40 + [31, 32, 33]})
    report = shoal.anonymize(
        table,
        k=3,
        quasi_identifiers=["zip", "age"],
        hierarchies={"zip": "flat", "age": "flat"},
        method="datafly",
        max_suppression=0.1,
    ).report()
    assert report.summary.withheld == 3
    assert "3 records were withheld" in report.html
    assert "withheld records: 3" in report.html
    assert "3 records were withheld" in report.markdown


def test_no_difference_below_k_is_told_about_withheld_records():
    """Counts before and after must not give away what a single withheld person had."""
    table = pa.table(
        {
            "zip": ["100"] * 20 + ["200"] * 20 + ["900"],
            "ill": ["flu", "cold"] * 20 + ["flu"],
            "cost": [*(100.0 + 5 * (row % 4) for row in range(40)), 105.0],
        }
    )
    given = {"k": 3, "quasi_identifiers": ["zip"], "hierarchies": {"zip": "flat"}, "method": "datafly"}
    result = shoal.anonymize(table, sensitive=["ill"], keep=["cost"], max_suppression=0.1, **given)
    assert result.suppressed == 1
    report = result.report()
    assert (report.summary.withheld, report.summary.records, report.summary.released) == (None, 40, 40)
    for column in report.summary.columns:
        assert column.distribution is not None
        assert sum(one.before for one in column.distribution.bins) == 40
    spread = {one.name: one.distribution for one in report.summary.columns}
    assert [(one.before, one.after) for one in spread["ill"].bins] == [(20, 20), (20, 20)]
    assert all(one.before == one.after for one in spread["cost"].bins)
    assert sum(one.before for one in report.summary.group_sizes) == 40
    assert "Fewer than 3 records were withheld" in report.html
    assert "Fewer than 3 records were withheld" in report.markdown
    assert "41" not in report.markdown.partition("## What it cost")[0]


@pytest.mark.parametrize("models", [[], [shoal.TCloseness(0.9), shoal.BetaLikeness(5)]])
def test_no_figure_of_a_report_depends_on_what_a_withheld_person_had(models):
    reports = []
    for ill, cost in (("flu", 105.0), ("SECRETITIS", 99_999.0)):
        table = pa.table(
            {
                "zip": ["100"] * 20 + ["200"] * 20 + ["900"],
                "ill": [*(["flu", "cold", "flu"] * 14)[:40], ill],
                "cost": [*(100.0 + 5 * (row % 4) for row in range(40)), cost],
            }
        )
        given = {"k": 3, "quasi_identifiers": ["zip"], "hierarchies": {"zip": "flat"}, "method": "datafly"}
        result = shoal.anonymize(
            table, sensitive=["ill"], keep=["cost"], max_suppression=0.1, models=models, derived="warn", **given
        )
        assert result.suppressed == 1
        reports.append(result.report())
    assert reports[0].json == reports[1].json
    summary = reports[0].summary
    assert [one.loss for one in summary.columns if one.name == "zip"] == [0.0]
    assert [one.unique for one in summary.found.by_columns] == [0]


def _zips_released(tmp_path, last, hierarchy):
    """Release 40 records of two known places and one of a third, which is withheld."""
    table = pa.table({"zip": ["10011", "10012"] * 10 + ["20011", "20012"] * 10 + [last]})
    file = tmp_path / "zip.csv"
    shoal.Hierarchy.from_prefixes(["10011", "10012", "20011", "20012", last], [4, 1, 0]).to_csv(file)
    tree = file if hierarchy == "file" else shoal.Hierarchy.from_csv(file)
    given = {"k": 12, "quasi_identifiers": ["zip"], "hierarchies": {"zip": tree}, "method": "datafly"}
    result = shoal.anonymize(table, max_suppression=0.1, **given)
    assert result.suppressed == 1
    return result.report()


@pytest.mark.parametrize(
    ("hierarchy", "lines"),
    [
        ("file", ["*", "├── 1****", "│   └── 1001* · 20 records", "└── 2****", "    └── 2001* · 20 records"]),
        ("object", ["*", "├── 1001* · 20 records", "└── 2001* · 20 records"]),
    ],
)
def test_a_report_draws_of_a_hierarchy_only_what_released_cells_show(tmp_path, hierarchy, lines):
    reports = [_zips_released(tmp_path, last, hierarchy) for last in ("90001", "80099")]
    assert "\n".join(lines) in reports[0].markdown
    assert "├── 1" in reports[0].html
    assert reports[0].summary.columns[0].tree == reports[1].summary.columns[0].tree
    assert "9000" not in reports[0].markdown + reports[0].html


def test_a_large_hierarchy_is_drawn_by_its_first_levels(tmp_path):
    codes = [f"{place}{one}{two}" for place in "12" for one in range(6) for two in range(6)]
    shoal.Hierarchy.from_prefixes(codes, [2, 1, 0]).to_csv(tmp_path / "code.csv")
    table = pa.table({"code": codes * 4})
    given = {"k": 2, "quasi_identifiers": ["code"], "hierarchies": {"code": tmp_path / "code.csv"}}
    report = shoal.anonymize(table, **given).report()
    drawn = report.markdown.partition("```text\n")[2].partition("\n```")[0].splitlines()
    assert len(drawn) == 41
    assert drawn[-1] == "… 47 more"
    assert sum(line.endswith("*") for line in drawn) == 15  # the root, two, and twelve below them


def test_a_report_with_original_rows_says_so_first(result):
    asked = result.report(examples=True)
    assert "This report holds rows of the original table." in asked.html
    assert "holds rows of the original table" in asked.markdown
    assert "holds rows of the original" not in result.report().html


def test_the_ending_decides_the_form(report, tmp_path):
    assert report.save(tmp_path / "a.html").read_text("utf-8").startswith("<!doctype html>")
    assert report.save(tmp_path / "a.md").read_text("utf-8").startswith("# Report on a release")
    assert json.loads(report.save(tmp_path / "a.json").read_text("utf-8"))["version"] == 1
    with pytest.raises(FileError, match="no known ending"):
        report.save(tmp_path / "a.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json", "a.md"]


def test_an_existing_report_is_replaced_only_with_force(report, tmp_path):
    target = tmp_path / "a.json"
    target.write_text("mine", "utf-8")
    with pytest.raises(FileError, match="exists"):
        report.save(target)
    assert target.read_text("utf-8") == "mine"
    report.save(target, force=True)
    assert json.loads(target.read_text("utf-8"))


@pytest.mark.parametrize("package", ["jinja2", "vl_convert"])
def test_a_missing_part_is_named_with_the_command_that_installs_it(result, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r'pip install "shoal-privacy\[report\]"'):
        result.report().save(tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []
    assert result.report().save(tmp_path / "a.md").exists()


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(report):
    shown = report._repr_html_()
    assert shown.startswith("<iframe")
    assert shown.count("<") == 2


def test_a_browser_shows_all_parts_and_complains_of_nothing(report, chromium, tmp_path):
    page = report.save(tmp_path / "report.html")
    shown = chromium(page, tmp_path / "profile")
    assert [part for part in TEXTS if part.lower() not in shown.stdout.lower()] == []
    assert shown.stdout.count("<svg") == report.html.count("<svg")
    assert [line for line in shown.stderr.splitlines() if "CONSOLE" in line] == []


@pytest.mark.parametrize("width", [480, 1200])
def test_the_page_fits_narrow_and_wide_windows(report, chromium, tmp_path, width):
    probe = "<script>document.title = `width ${document.documentElement.scrollWidth} of ${innerWidth}`</script>"
    html = re.sub(r"<meta http-equiv[^>]*>", "", report.html).replace("</body>", probe + "</body>")
    page = tmp_path / "page.html"
    page.write_text(html, "utf-8")
    shown = chromium(page, tmp_path / "profile", width)
    needed, given = map(int, re.search(r"<title>width (\d+) of (\d+)</title>", shown.stdout).groups())
    assert given <= max(width, 500)  # some browsers have a narrowest window of 500
    assert needed <= given


def test_a_browser_complains_of_what_the_page_may_not_load(report, chromium, tmp_path):
    page = Path(tmp_path / "page.html")
    page.write_text(report.html.replace("</body>", '<img src="other.png"></body>'), "utf-8")
    shown = chromium(page, tmp_path / "profile")
    assert [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
