"""One small experiment from end to end; the full ones are run by hand."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("vl_convert")

from benchmarks.local_recoding import beside_mondrian, best_seconds
from benchmarks.measuring import Table, as_markdown, folded
from benchmarks.papers.__main__ import available, chosen
from benchmarks.papers.local_recoding import figures
from benchmarks.papers.merge_split import points_row
from benchmarks.papers.tables import registered, write_tables
from benchmarks.plots import Plot, curves

from shoal.datasets import uniform
from shoal.frames import to_frame
from shoal.methods.mondrian import Mondrian


@pytest.mark.compiled
def test_an_experiment_leaves_figures_text_and_a_picture(tmp_path):
    rows = [points_row("uniform", k, Mondrian(), seeds=1) for k in (5, 50)]
    plot = Plot("k", ["IPG"], series="method", facet="points", stated=(("best", 1.0),))
    write_tables("tiny", "A tiny experiment", [Table("Points", "Of a square.", rows, plot)], tmp_path)
    kept = json.loads((tmp_path / "tiny.json").read_text("utf-8"))
    assert kept["tables"][0]["rows"] == rows
    assert kept["machine"]["numba"]
    assert "![Points](tiny-1.svg)" in (tmp_path / "tiny.md").read_text("utf-8")
    picture = (tmp_path / "tiny-1.svg").read_text("utf-8")
    assert "IPG" in picture
    assert "best" in picture
    assert len(picture) < 60_000


def test_experiments_are_chosen_by_paper_or_by_name():
    assert chosen(None) == available()
    assert chosen("P2, similarity") == ["merge_split", "similarity"]


def test_an_unknown_experiment_is_named_with_those_there_are():
    with pytest.raises(SystemExit, match=r"No such experiment: P9\. There are: .*merge_split"):
        chosen("P9")


def test_methods_that_are_not_registered_are_left_out():
    assert [method.info.name for method in registered("mondrian", "no such method")] == ["mondrian"]


def test_times_stand_beside_mondrians():
    row = beside_mondrian(5, {"mondrian": 2.0, "top-down": 3.0})
    assert row == {"k": 5, "mondrian": 2.0, "top-down": 3.0, "top-down ÷ mondrian": 1.5}


def test_works_that_are_timed_take_turns_after_a_run_that_is_not_counted():
    calls = []
    taken = best_seconds({name: lambda name=name: calls.append(name) for name in "ab"}, runs=2)
    assert "".join(calls) == "ababab"
    assert set(taken) == {"a", "b"}


def test_a_figure_over_many_tables_stands_with_its_range_in_one_cell():
    rows = [{"k": 2, "DM": 15.4, "DM least": 10, "DM most": 2_000, "the least": 1.0}]
    assert as_markdown(folded(rows)).splitlines()[-1] == "| 2 | 15 (10 to 2,000) | 1 |"


@pytest.mark.compiled
def test_tables_on_which_mondrian_loses_nothing_are_not_compared_with_it():
    def same(seed):
        return to_frame(uniform(40, 1, seed=seed) if seed else {"A1": [1, 2] * 20})

    row = figures([({"k": 2}, same, 2)], range(2))[0]
    assert row["NCP least"] == 0
    assert row["NCP of Mondrian's"] == 1
    assert "NCP of Mondrian's" not in figures([({"k": 2}, same, 2)], [0])[0]


def test_long_names_of_curves_stand_below_each_other():
    def legend(name):
        rows = [{"k": 2, name: 1.0, "other": 2.0}, {"k": 5, name: 1.5, "other": 2.5}]
        layers = curves(rows, Plot("k", [name, "other"]))["layer"]
        return layers[0]["encoding"]["color"]["legend"]["columns"]

    assert legend("short") == 2
    assert legend("Mondrian, median only, alphabetical, by hierarchy") == 1
