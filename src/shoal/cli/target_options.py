"""The options of ``shoal anonymize`` for the files and tables to write, and for the engine."""

from __future__ import annotations

import rich_click as click

from shoal.cli.options import INPUT, OUTPUT, path_option
from shoal.extensions import ENGINES

MEASURES = ("utility", "ncp_total", "dm", "c_avg", "iloss", "md", "il", "pg", "ipg", "sse", "il_percent")
"""Measures that are printed if they are asked for; ``ncp`` always is."""
TARGET_OPTIONS = (
    path_option(
        "-o",
        "--output",
        text="Write the release to this file. Its ending chooses the format, such as .csv, .csv.gz, .parquet, .xlsx, .sav, .sqlite or .duckdb. Default: nothing is written.",
    ),
    click.option(
        "--to-table",
        metavar="NAME",
        help="Write the release into a new table of the database. The database recounts the rows before the table appears under this name.",
        panel=OUTPUT,
    ),
    click.option(
        "--to",
        "database",
        metavar="ADDRESS",
        help="Database for --to-table, if it is not the one the rows come from. A SQLite or DuckDB file that does not exist is created, with a table 'release' if no other name is given: duckdb:///rel.duckdb.",
        panel=OUTPUT,
    ),
    click.option(
        "--keep-order",
        is_flag=True,
        help="Write rows in the order of the input instead of a random one. This can help an intruder to name people.",
        panel=OUTPUT,
    ),
    path_option(
        "--shuffle-key",
        text="A key of [bold]shoal key make[/bold] that decides the order of the rows. The same release and key give the same file again. Recipes do not store it.",
    ),
    click.option(
        "--dictionary/--no-dictionary",
        default=True,
        help="Write the data dictionary that travels with the release: [bold]release.datapackage.json[/bold] next to it, or metadata inside Parquet and Arrow files. It follows from the released rows and the recipe alone. Default: yes.",
        panel=OUTPUT,
    ),
    path_option(
        "--about",
        text="TOML file with texts for the dictionary: title, licenses, citation, and titles, units and labels of columns.",
    ),
    click.option(
        "--cells",
        "shape",
        type=click.Choice(["text", "columns", "midpoints"]),
        default="text",
        show_default=True,
        help="Form of the coarsened cells: text such as [30-39], plain columns (age_low, age_high, age_mid, job_nurse, zip_1) for R, Stata, SPSS and Excel, or the middle of each range.",
        panel=OUTPUT,
    ),
    click.option(
        "--labels",
        type=click.Choice(["text", "codes"]),
        default=None,
        help="Columns of SPSS, Stata and SAS that were not recoded: write their labels or their codes. Default: codes in SPSS and Stata files, which hold their labels, and labels elsewhere.",
        panel=OUTPUT,
    ),
    click.option(
        "--missing-codes",
        is_flag=True,
        help="Keep the codes for missing values, and list them in the dictionary. Default: they become empty, except in SPSS and Stata files.",
        panel=OUTPUT,
    ),
    click.option(
        "--spreadsheet-safe",
        is_flag=True,
        help="Put an apostrophe before text cells of a CSV release that a spreadsheet would run as formulas.",
        panel=OUTPUT,
    ),
    path_option(
        "--report",
        text="Also write what was done, gained and lost compared with the original (.html, .md or .json). It is for you, not for publication.",
    ),
    click.option(
        "--analysis",
        multiple=True,
        metavar="QUESTION",
        help="Compare a result on the original table with the result that recipients get, and add both to the report: [bold]hours ~ age + sex[/bold], [bold]rich ~ age : logistic[/bold], [bold]crosstab(job, sex)[/bold] or [bold]km(time, event, by=arm)[/bold]. It is for you, not for publication. May be repeated.",
        panel=OUTPUT,
    ),
    click.option(
        "--measure",
        multiple=True,
        type=click.Choice(MEASURES),
        metavar="NAME",
        help=f"Print this measure of the release too: {', '.join(MEASURES)}. With --json all are printed. May be repeated.",
        panel=OUTPUT,
    ),
    path_option(
        "--public-report",
        text="Also write a report that may be published (.html, .md or .json): it follows from the released rows and the recipe alone.",
    ),
    path_option(
        "--codebook",
        text="Also write what each released column means and how its cells are spread (.html or .md).",
    ),
    click.option(
        "--report-examples",
        is_flag=True,
        help="Put some rows of the original table into the report. Protect the report as you protect the table.",
        panel=OUTPUT,
    ),
    path_option(
        "--save-recipe",
        text="Write all choices to a recipe file, to repeat the release.",
    ),
    path_option(
        "--save-mapping",
        text="Write how each value is released (.json or .toml), for [bold]shoal transform[/bold]; with bug, datafly and incognito.",
    ),
)
WORK_OPTIONS = (
    click.option(
        "--engine",
        metavar="NAME",
        help=f"Who does the work, of {', '.join(('auto', *ENGINES.own))}: in memory, on disk for tables that do not fit, or on a cluster. Default: [bold]auto[/bold], memory or disk by the size of the file.",
        panel=INPUT,
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="Memory that a streamed release should stay within, such as 4GB. Default: half of the free memory.",
        panel=INPUT,
    ),
    click.option(
        "--master",
        metavar="ADDRESS",
        help="With --engine spark: the cluster, such as [bold]local[4][/bold], [bold]yarn[/bold], [bold]spark://host:7077[/bold] or [bold]sc://host[/bold]; Default: Spark's own settings.",
        panel=INPUT,
    ),
    click.option(
        "--scratch",
        metavar="FOLDER",
        help="Folder for the temporary rows of a streamed or Spark release. shoal works in a private subfolder and removes it at the end. Default: next to the output; for Spark on this machine alone, the folder for temporary files.",
        panel=INPUT,
    ),
)
