"""``shoal demo``: a release of a built-in register from beginning to end, with the attacks before and after."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from shoal.cli.console import make_table, out, progress_bar, share
from shoal.cli.folder import filling
from shoal.cli.options import OUTPUT, force_option
from shoal.cli.warm_up import prepare

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from shoal.api import Anonymizer
    from shoal.arrays import LongArray
    from shoal.attacks.matching import Candidates
    from shoal.datasets import Hospital
    from shoal.results.result import Result

PATIENTS, SEED, K = 10_000, 0, 10
KNOWN = ("birth_date", "sex", "zip")
"""What the voter list and the register have in common."""
QUASI_IDENTIFIERS = (*KNOWN, "job")
SHOWN_ROWS = 4


@dataclass(frozen=True)
class Story:
    """All that the demo prints and writes."""

    register: Hospital
    named: LongArray
    """For each patient the voter a stranger takes them for, -1 for nobody."""
    anonymizer: Anonymizer
    result: Result
    candidates: Candidates

    @property
    def right(self) -> int:
        """The number of patients named correctly."""
        return int(((self.named >= 0) & (self.named == self.register.truth)).sum())

    @property
    def listed(self) -> LongArray:
        """The rows of the voter list that are patients."""
        return self.register.truth[self.register.truth >= 0]

    @property
    def guesses(self) -> float:
        """How many patients a stranger names rightly who picks one candidate for each."""
        return self.candidates.right_guesses(self.listed)

    def figures(self) -> dict[str, Any]:
        """Return the figures of the story."""
        return {
            "patients": self.register.patients.num_rows,
            "voters": self.register.voters.num_rows,
            "patients_on_the_list": len(self.listed),
            "known_columns": list(KNOWN),
            "named_before": int((self.named >= 0).sum()),
            "named_rightly_before": self.right,
            "one_candidate_after": self.candidates.certain,
            "fewest_candidates_after": self.candidates.fewest,
            "right_guesses_after": round(self.guesses, 1),
        }


@click.command("demo")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("shoal-demo"),
    show_default=True,
    metavar="FOLDER",
    help="Where to leave the files.",
    panel=OUTPUT,
)
@force_option
def command(*, output: Path, force: bool) -> None:
    """See the main job done, on an invented hospital register.

    An intruder with a voter list names patients in the register. Then the register is anonymized and the intruder
    tries again. Register, voter list, release, recipe and report are left in a folder to play with.
    """
    with filling(output, force=force) as folder:
        prepare(lambda: ["demo"])
        with progress_bar("inventing a register") as progress:
            story = tell_story(progress)
        write_story(story, folder)
    show_story(story, output)


def tell_story(progress: Any) -> Story:
    """Invent the register, attack it, anonymize it, attack it again."""
    from shoal.api import Anonymizer
    from shoal.attacks.matching import exact_matches, find_candidates
    from shoal.datasets import hospital

    progress(0.0, "inventing a register")
    register = hospital(PATIENTS, SEED)
    named = exact_matches(register.patients, register.voters, KNOWN)
    anonymizer = Anonymizer(
        k=K,
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["diagnosis"],
        identifiers=["name", "admission_date"],
        keep=["cost"],
        hierarchies={"sex": "flat", "zip": register.hierarchies["zip"], "job": register.hierarchies["job"]},
        progress=progress,
    )
    result = anonymizer.result_of(register.patients)
    progress(1.0, "attacking the release")
    candidates = find_candidates(result.released, register.voters, KNOWN, register.hierarchies)
    return Story(register, named, anonymizer, result, candidates)


def write_story(story: Story, folder: Path) -> None:
    """Write register, voter list, release, recipe, report and figures."""
    from shoal.io.files import write_table
    from shoal.io.transaction import replacing

    write_table(story.register.patients, folder / "patients.csv")
    write_table(story.register.voters, folder / "voters.csv")
    story.result.save(folder / "release.csv")
    story.anonymizer.save(folder / "recipe.toml")
    story.result.report().save(folder / report_name())
    facts = story.result.provenance()
    summary = {"audience": facts.pop("audience"), "story": story.figures(), **facts}
    text = json.dumps(summary, indent=2, ensure_ascii=False, default=str)
    with replacing(folder / "summary.json", force=True, private=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def report_name() -> str:
    """Return the name of the report: HTML if the extra for it is installed, otherwise Markdown."""
    from shoal.errors import MissingExtraError
    from shoal.report import report_form

    try:
        report_form(Path("report.html"))
    except MissingExtraError:
        return "report.md"
    return "report.html"


def show_story(story: Story, folder: Path) -> None:
    """Print the story."""
    console = out()
    _show_before(console, story)
    _show_release(console, story)
    _show_after(console, story)
    _show_next(console, folder)


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold cyan")


def _show_before(console: Console, story: Story) -> None:
    told = story.figures()
    _heading(console, "1. A register, and an intruder with a voter list")
    console.print(
        f"A hospital has {told['patients']:,} patients. It removes their names and shares the rest. An intruder has the "
        f"voter list of the region, {told['voters']:,} people, with birth date, sex and zip code. These three match "
        f"exactly one person in both tables for {told['named_before']:,} patients:"
    )
    console.print(
        f"{told['named_rightly_before']:,} patients are named outright, {share(story.right, told['patients'])} of all, "
        f"and their diagnoses with them ({share(story.right, told['named_before'])} of the intruder's claims are right).",
        style="bold red",
    )


def _show_release(console: Console, story: Story) -> None:
    result = story.result
    _heading(console, f"2. The release: k = {K}, method {result.recipe.method}")
    console.print(
        f"shoal puts the {result.released.num_rows:,} records into {result.audit.groups:,} groups of {result.audit.k} or more and "
        "releases each group under common values. Some records of one group, before:"
    )
    rows = _rows_to_show(story)
    columns = [*QUASI_IDENTIFIERS, "diagnosis"]
    console.print(_sample(story.register.patients, rows, ["name", *columns]))
    console.print("The same records after, as everybody sees them:")
    console.print(_sample(result.released, rows, columns))
    table = make_table("column", "loss", numbers=["loss"])
    for name, loss in result.metrics["ncp_by_column"].items():
        table.add_row(name, f"{loss:.3f}")
    console.print(f"What it cost, from 0 (nothing lost) to 1 (all lost): {result.metrics['ncp']:.3f} on average.")
    console.print(table)


def _rows_to_show(story: Story) -> list[int]:
    """Return the first patient who was named rightly, and others of the same group."""
    import numpy as np

    groups = story.result.groups
    first = int(np.flatnonzero((story.named >= 0) & (story.named == story.register.truth))[0])
    others = [int(row) for row in np.flatnonzero(groups == groups[first]) if row != first]
    return [first, *others[: SHOWN_ROWS - 1]]


def _sample(table: pa.Table, rows: list[int], columns: list[str]) -> Any:
    shown = make_table(*(name.replace("_", " ") for name in columns))
    for row in rows:
        shown.add_row(*(str(table.column(name)[row].as_py()) for name in columns))
    return shown


def _show_after(console: Console, story: Story) -> None:
    told = story.figures()
    _heading(console, "3. The intruder tries again")
    console.print(
        f"{told['one_candidate_after']:,} patients are named outright: of the {told['voters']:,} people on the list "
        f"{'none' if not told['one_candidate_after'] else told['one_candidate_after']} fits only one released record.",
        style="bold green",
    )
    console.print(
        f"A person who fits one released record fits at least {told['fewest_candidates_after']}. Picking one of them blindly for each of the "
        f"{told['patients_on_the_list']:,} patients on the list finds about {told['right_guesses_after']:.0f} of them, and "
        "the intruder cannot know which."
    )
    if story.result.audit.l == 1:
        console.print(
            "k does not protect against this: all members of one group have the same diagnosis, so the group gives it away. "
            "Other privacy models ask for several diagnoses in each group. Read the limitations before you publish."
        )


def _show_next(console: Console, folder: Path) -> None:
    _heading(console, "4. Now you")
    known, place = ",".join(QUASI_IDENTIFIERS), shlex.quote(str(folder))
    console.print(
        f"Everything is in {folder}: patients.csv, voters.csv, release.csv and its dictionary; for you alone recipe.toml and summary.json. "
        f"{report_name()} shows what was done, gained and lost. Try:"
    )
    for text in (
        f"inspect {place}/patients.csv",
        f"anonymize {place}/patients.csv --recipe {place}/recipe.toml -k 20",
        f"audit {place}/release.csv --qi {known} --require k={K}",
    ):
        console.print(f"  {_program()} {text}", soft_wrap=True)


def _program() -> str:
    """Return how shoal is called here: by its name, or by the path of the program that runs if the shell does not find it."""
    own = Path(sys.argv[0])
    called = own.name == "shoal" and shutil.which("shoal") is None
    return shlex.quote(str(own)) if called else "shoal"
