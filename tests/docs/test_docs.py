from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal import attacks, errors
from shoal.cli.app import app
from shoal.errors import ShoalWarning
from shoal.summary import Summary
from tests.docs import public_names, recipe_page
from tests.docs.page_files import write_files

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = {"docs/how-to/from-postgresql.md", "docs/how-to/on-spark.md", "docs/how-to/with-the-page.md"}
"""Pages whose commands need a server or a cluster; tests/cli/test_databases.py, tests/engines/spark and tests/web run such commands against one."""
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
MACHINE_PATH = re.compile(r"(?<![\w./>-])/(?:home|root|work|tmp|opt|usr|Users|mnt|var)/")
FETCHED = re.compile(
    r"https?://[^\s)\"'>]*(?:cdn|unpkg|jsdelivr|googleapis|cloudflare)|<(?:script|link|img)\b[^>]*https?:"
)


STEPS = ("open", "columns", "hierarchies", "protect", "compare", "look", "questions", "publish")


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
    return [
        textwrap.dedent(block) for language, block in FENCED.findall(page.read_text("utf-8")) if language == "python"
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page):
    assert list(broken_links(page)) == []


def test_each_step_of_the_web_interface_has_a_small_picture_in_both_colour_schemes():
    page = ROOT / "docs" / "how-to" / "with-the-page.md"
    found = re.findall(
        r'<picture>.*?srcset="([^"]+)"><img src="([^"]+)" alt="([^"]+)"></picture>', page.read_text("utf-8")
    )
    assert [re.findall(r"page-(\w+)\.png$", light) for _, light, _ in found] == [[step] for step in STEPS]
    for dark, light, alt in found:
        assert dark == light.replace(".png", "-dark.png")
        assert alt.startswith(("The step ", "Questions in the step "))
        assert max((page.parent / one).stat().st_size for one in (dark, light)) <= 120_000


def commands(page):
    """Return the commands of a page that call shoal, each with what the page says is printed after it."""
    for language, text in FENCED.findall(page.read_text("utf-8")):
        if language != "console":
            continue
        for command in re.split(r"^ *\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            line, _, told = command.partition("\n")
            words = shlex.split(line, comments=True)
            if words[:1] == ["shoal"]:
                yield words[1:], told


WITH_PYTHON = [page for page in PAGES if python_blocks(page) and name(page) not in ELSEWHERE | {"CONTRIBUTING.md"}]
WITH_COMMANDS = [page for page in PAGES if [*commands(page)] and name(page) not in ELSEWHERE]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the pages speak of."""
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore", ShoalWarning)  # a page may leave columns out
    return tmp_path


@pytest.mark.compiled
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, here):
    exec(compile("\n".join(python_blocks(page)), name(page), "exec", dont_inherit=True), {})  # noqa: S102 - our own
    if page.name == "README.md" or page.parent.name == "tutorials":
        assert (here / "release.csv").stat().st_size > 0


@pytest.mark.compiled
def test_the_rows_at_the_top_of_the_readme_are_what_its_example_makes(here):
    readme = ROOT / "README.md"
    made = {}
    exec(compile("\n".join(python_blocks(readme)), "README.md", "exec", dont_inherit=True), made)  # noqa: S102 - our own
    original, released = made["register"].patients.to_pylist(), made["result"].data.to_pylist()
    rows = [line.strip("| ").split(" | ") for line in readme.read_text("utf-8").splitlines() if line.startswith("| ")]
    before = [row for row in rows if len(row) == 6 and row[1][:2] == "19"]
    after = [row for row in rows if len(row) == 5 and row[0].startswith("[19")]
    assert len(before) == len(after) == 3
    groups = set()
    for shown, coarse in zip(before, after, strict=True):
        place = next(i for i, row in enumerate(original) if row["name"] == shown[0])
        named = ("name", "birth_date", "sex", "zip", "job", "diagnosis")
        assert shown == [str(original[place][name]) for name in named]
        assert coarse == [str(released[place][name]) for name in named[1:]]
        groups.add(int(made["result"].groups[place]))
    women = sum(int(group) in groups for group in made["result"].groups)
    assert (len(groups), women) == (1, 10)


def unfenced(text):
    """Return indented lines of Python outside fences: the tests would not run them."""
    return re.findall(r"^ {4,}[^`\n]*\bshoal\.\w+\([^`\n]*$", FENCED.sub("", text), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_python_of_a_page_stands_where_the_tests_do_not_run_it(page):
    assert unfenced(page.read_text("utf-8")) == []
    assert unfenced("So:\n\n    result = shoal.anonymize(table, k=10)\n")


@pytest.mark.compiled
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_the_commands_of_a_page_run_and_say_what_it_says(page, here):
    for words, told in commands(page):
        run = CliRunner().invoke(app, words, prog_name="shoal")
        said = " ".join(run.stderr.split())
        assert run.exit_code == (2 if "Error:" in told else 0), (words, said)
        for line in told.splitlines():
            if line.startswith(("Error:", "Hint:")):
                assert " ".join(line.split()) in said


def test_the_pages_name_every_public_name_and_nothing_else():
    assert public_names.PAGE.read_text("utf-8") == public_names.text(), (
        "write it again: python -m tests.docs.public_names"
    )


def test_the_page_of_the_recipe_has_every_key():
    assert recipe_page.PAGE.read_text("utf-8") == recipe_page.text(), "write it again: python -m tests.docs.recipe_page"


def test_the_page_of_environment_variables_has_every_one_that_the_code_reads():
    source = "".join(path.read_text("utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    told = (ROOT / "docs" / "reference" / "environment.md").read_text("utf-8")
    assert sorted(name for name in set(re.findall(r"\bSHOAL_[A-Z_]+\b", source)) if f"`{name}`" not in told) == []


def test_the_reference_names_every_error_warning_attack_and_key_of_a_summary():
    api = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
    raised = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception | Warning)]
    told = [one.__name__ for one in raised if one.__module__ == errors.__name__] + attacks.__all__
    unsaid = [name for name in told if f"`{name}`" not in api and name not in {"ShoalError", "Finding", "Rate"}]
    assert unsaid == []
    summary = (ROOT / "docs" / "reference" / "summary.md").read_text("utf-8")
    assert [key for key in Summary.model_fields if f"`{key}`" not in summary] == []


def test_the_documentation_builds_strictly_and_fetches_nothing(tmp_path):
    site = tmp_path / "site"
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-b", "html", ".", str(site)]
    done = subprocess.run(build, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    for page in ("index.html", "docs/index.html", "docs/reference/python.html"):
        html = (site / page).read_text("utf-8")
        assert not re.search(r"<(?:script|img)[^>]*src=\"https?:|<link[^>]*rel=\"stylesheet\"[^>]*https?:", html)
    assert "quasi_identifiers" in (site / "docs" / "reference" / "python.html").read_text("utf-8")
    assert (site / "benchmarks" / "results" / "speed.html").exists()  # linked from the pages


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
