"""A record that is withheld leaves no trace in what is logged, printed, warned of or refused."""

from __future__ import annotations

import logging
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import PublicationWarning, ShoalError
from tests.fuzz.interference import listening

HIDDEN = re.compile(r"SECRET|98765|1799")
ROLES = {"quasi_identifiers": ["age", "born", "town"], "sensitive": ["ill"], "keep": ["note"], "identifiers": ["name"]}
TREE = {"*": {"north": ["Kiel", "Bremen"], "south": ["Ulm", "Passau"], "far": ["SECRETTOWN"]}}


def people(n=60):
    """Return a table whose last record is unlike all others in every column."""
    random = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "age": [*random.integers(20, 26, n), 98_765],
            "born": [*(f"19{60 + row % 6}-01-01" for row in range(n)), "1799-01-01"],
            "town": [*random.choice(["Kiel", "Bremen", "Ulm", "Passau"], n), "SECRETTOWN"],
            "ill": [*random.choice(["flu", "gout", "cold"], n), "SECRETITIS"],
            "note": [*(f"note {row % 7}" for row in range(n)), "SECRETNOTE"],
            "name": [*(f"SECRETNAME {row}" for row in range(n)), "SECRETNAME"],
        }
    )


def methods():
    """Return each method, those with a choice so that they withhold."""
    chosen = {"sbca": shoal.SBCA(rest="suppress")}
    return [pytest.param(chosen.get(info.name, info.name), id=info.name) for info in shoal.methods()]


def make(table, method, **changes):
    hierarchies = {"town": shoal.Hierarchy.from_dict(TREE)}
    if method in GLOBAL:
        hierarchies |= {"age": shoal.Hierarchy.from_intervals(table["age"].tolist(), [2, 6]), "born": "flat"}
    given = {"k": 3, "max_suppression": 0.1, "hierarchies": hierarchies, "method": method, "effort": "fast"}
    return shoal.anonymize(table, **ROLES, **given | changes)


GLOBAL = {info.name for info in shoal.methods() if info.family == "global"}
WITHHOLD = {"datafly", "incognito", "sbca"}


@pytest.mark.compiled
@pytest.mark.parametrize("method", methods())
def test_no_cell_of_a_withheld_record_is_logged_warned_of_or_refused_with(method, tmp_path):
    name = method if isinstance(method, str) else method.info.name
    with listening() as said:
        result = make(people(), method)
        result.save(tmp_path / "release.csv")
        result.save(tmp_path / "release.xlsx")
        said.append(repr(result) + repr(result.audit) + repr(result.report(audience="public")))
        said.append(str(shoal.verify(tmp_path / "release.csv").as_dict()))
        for changes in (
            {"max_suppression": 0.0, "models": [shoal.LDiversity(4)]},
            {"models": [shoal.TCloseness(1e-9)]},
        ):
            try:
                make(people(), method, **changes)
            except ShoalError as refusal:
                said.append(str(refusal))
    if name in WITHHOLD:
        assert result.suppressed > 0
        assert result.groups[-1] == -1
        assert not HIDDEN.search((tmp_path / "release.csv").read_text("utf-8"))
    assert not HIDDEN.search("".join(said))


@pytest.mark.compiled
def test_the_command_line_tells_no_cell_of_a_withheld_record(tmp_path):
    def run_command(*words):
        return CliRunner().invoke(app, [str(word) for word in words])

    people().to_csv(tmp_path / "people.csv", index=False)
    words = ["--qi", "age,born,town", "--sensitive", "ill", "--keep", "note", "--identifier", "name", "-k", 3]
    words += ["--hierarchy", "age=flat", "--hierarchy", "born=flat", "--hierarchy", "town=flat", "--method", "datafly"]
    files = [
        "-o",
        tmp_path / "release.csv",
        "--public-report",
        tmp_path / "public.html",
        "--codebook",
        tmp_path / "book.md",
    ]
    run = run_command("anonymize", tmp_path / "people.csv", *words, "--max-suppression", 0.1, *files)
    assert run.exit_code == 0, run.stderr
    assert "withheld" in run.stdout
    refused = run_command(
        "anonymize", tmp_path / "people.csv", *words, "--max-suppression", 0, "--model", "l-diversity:l=4"
    )
    written = "".join(path.read_text("utf-8") for path in tmp_path.iterdir() if path.name != "people.csv")
    assert not HIDDEN.search(run.output + run.stderr + refused.output + refused.stderr + written)


def test_the_search_finds_what_it_looks_for():
    with listening() as said:
        logging.getLogger("shoal").debug("the town %s", "SECRETTOWN")
        warnings.warn("born 1799-01-01", PublicationWarning, stacklevel=1)
    assert [bool(HIDDEN.search(text)) for text in said] == [True, True]
