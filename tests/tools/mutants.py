"""Are the guards held by tests? ``make mutants`` breaks each of them a little and asks that a test fails.

Each mutation is one small change of the source; the tests named beside it run against a copy that has it. One that
no test notices has survived, and the guard is not held.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent.parent
GUARDS = "tests/release/test_guards.py"
EXTENSIONS = "tests/test_extensions.py"
COVERING = "tests/recount/test_cover.py"
CROWDS = "tests/recount/test_crowds.py"
VERIFYING = "tests/results/test_verify.py"
STREAM_GUARDS = "tests/engines/test_recounting.py"
COUNTS = "tests/engines/test_counts.py"


class Mutation(NamedTuple):
    """A change of the source that takes away or weakens a guard."""

    file: str
    old: str
    new: str
    tests: str = GUARDS


MUTATIONS = (
    # the recount
    Mutation("recount/rows.py", "if smallest < k:", "if smallest < k - 1:"),
    Mutation("recount/rows.py", "if smallest < k:", "if False:"),
    Mutation("release/make.py", "check_release(released, recipe.quasi_identifiers, recipe.k, owners)", "check_release(released, recipe.quasi_identifiers, 2, owners)"),
    Mutation("release/make.py", "check_release(released, recipe.quasi_identifiers, recipe.k, owners)", "check_release(released, recipe.quasi_identifiers, recipe.k)"),
    Mutation("release/make.py", "owners[unit], recipe.k, unit)", "owners[unit], 1, unit)"),
    Mutation("recount/rows.py", "in (owners or {}).items():", "in list((owners or {}).items())[:1]:"),
    Mutation("release/make.py", "for unit, name in named.items() if name is not None}", "for unit, name in list(named.items())[:1] if name is not None}"),
    Mutation("results/verify.py", "smallest >= recipe.k", "smallest >= recipe.k - 1", VERIFYING),
    Mutation("results/verify.py", "if found.left_over > withheld:", "if found.left_over > withheld + 1:", VERIFYING),
    Mutation("engines/stream/checking.py", "min(initial=order.job.k)), order.job.k)", "min(initial=order.job.k)), 2)", STREAM_GUARDS),
    Mutation("engines/stream/writing.py", "count.check(k)", "count.check(2)", STREAM_GUARDS),
    # the counts of streams and of Spark: every model, and whoever is counted
    Mutation("engines/stream/checking.py", "            refuse_failing_model(model, failing)\n", "            pass\n", COUNTS),
    Mutation("engines/stream/checking.py", "counted = verify_rows(staged, owners,", "counted = verify_rows(staged, {},", COUNTS),
    Mutation("engines/stream/checking.py", "rows, order.recipe, order.job.models, requirements)", "rows, order.recipe, (), ())", COUNTS),
    Mutation("engines/stream/checking.py", 'person=units.get("person"),', "person=None,", COUNTS),
    Mutation("engines/spark/counting.py", "        refuse_failing_model(name, groups)", "        pass", COUNTS),
    Mutation("engines/spark/counting.py", "        refuse_small_group(counted.smallest, k)", "        pass", COUNTS),
    Mutation("engines/spark/counting.py", "np.minimum.reduce(counts) if counts else np.bincount(label)", "np.bincount(label)", COUNTS),
    Mutation("engines/spark/counting.py", "codes=codes, person=persons)", "codes=codes)", COUNTS),
    Mutation("engines/spark/counting.py", "pairs.column(OWNERS[unit]), k, unit)", "pairs.column(OWNERS[unit]), 1, unit)", COUNTS),
    Mutation("plan/judged.py", "chosen = [model for model in models if", "chosen = [model for model in models[1:] if", COUNTS),
    # the people of a population
    Mutation("ends/choice.py", "shown.cover.size.shape[0], shown).any()", "shown.cover.size.shape[0]).any()", CROWDS),
    Mutation("recount/crowds.py", "few = self.fits < self.promise.fewest", "few = self.fits < self.promise.fewest - 1", CROWDS),
    Mutation("recount/crowds.py", "(self.share < self.promise.low) |", "", CROWDS),
    Mutation("recount/crowds.py", "| (self.share > self.promise.high)", "", CROWDS),
    Mutation("recount/crowds.py", "if found.promise.everyone and found.left_out:", "if False:", CROWDS),
    Mutation("release/make.py", "            refuse_broken_promise(type(model).__name__, found)\n", "", CROWDS),
    # the cover check, and the count of what models tell apart
    Mutation("recount/cover.py", "covered[open_pairs] = _covers(column, pairs, open_pairs)", "covered[open_pairs] = True", COVERING),
    Mutation("recount/cover.py", "(low[cell] <= own) & (own <= high[cell])", "(low[cell] <= own)", COVERING),
    Mutation("recount/cover.py", "(low[cell] <= own) & (own <= high[cell])", "(own <= high[cell])", COVERING),
    Mutation("recount/cover.py", "(absent_value & absent_cell)", "(absent_value | absent_cell)", COVERING),
    Mutation("recount/cover.py", 'cell.form in {"value", "set"} and own[value] in cell.values', "True", COVERING),
    Mutation("recount/cover.py", "cell.values[0] in path", "True", COVERING),
    Mutation("recount/typical.py", "(low[groups] <= cell) & (cell <= high[groups])", "(low[groups] <= cell)", "tests/recount/test_typical.py"),
    Mutation("recount/typical.py", "np.isin(here + cell, here + own) & (cell >= 0)", "(cell >= 0)", "tests/recount/test_typical.py"),
    Mutation("recount/rows.py", "if len(pairs) > len(np.unique(number)):", "if False:", "tests/recount/test_rows.py"),
    Mutation("release/make.py", "    _check_cover(frame, coded, grouping.labels, released, recipe)\n    owners", "    owners", COVERING),
    # files and parts of a table
    Mutation("results/save.py", "rename_columns(released.column_names), recipe.quasi_identifiers, recipe.k)", "rename_columns(released.column_names), recipe.quasi_identifiers, 1)"),
    Mutation("results/save.py", "written.num_rows != rows.num_rows", "False"),
    Mutation("engines/stream/recounting.py", "min(initial=k)), k)", "min(initial=k)), k - 1)", "tests/engines/test_recounting.py"),
    # models
    Mutation("recount/rows.py", "    if groups:\n", "    if groups > 1:\n"),
    Mutation("release/make.py", "zip(models, requirements, strict=True)", "list(zip(models, requirements, strict=True))[:1]"),
    Mutation("privacy/base.py", "for name in sensitive}", "for name in table.attributes}"),
    Mutation("privacy/k_anonymity.py", "minlength=groups) < self.k", "minlength=groups) < self.k - 1", "tests/privacy/test_models.py"),
    Mutation("privacy/base.py", "failing | one.failing(labels, groups)", "failing & one.failing(labels, groups)", "tests/privacy/test_models.py"),
    # withheld records
    Mutation("release/make.py", "if withheld > most_withheld(", "if withheld > 1 + most_withheld("),
    Mutation("methods/base.py", "math.floor(share * records + 1e-9)", "math.floor(share * records)"),
    Mutation("methods/base.py", "math.floor(share * records + 1e-9)", "math.ceil(share * records)"),
    Mutation("enforcement/dispatch.py", "if lost.sum() > most_withheld(", "if lost.sum() > 1 + most_withheld("),
    # estimates
    Mutation("audit/risk.py", "_log_choose(population - F, records - 1)", "_log_choose(population - F, records)"),
    Mutation("audit/risk.py", "math.log(F) + _log_choose", "math.log(F + 1) + _log_choose"),
    # widening
    Mutation("release/widen.py", "return cover if requirements else wider", "return wider"),
    Mutation("release/widen.py", "return cover if requirements else wider", "return cover"),
    # loops and ties
    Mutation("kernels/k_member.py", "        if rise < best:", "        if rise <= best:", "tests/methods/test_k_member.py"),
    Mutation("encoding/kinds.py", "high - low or 1.0", "high - low", "tests/methods/test_ends.py::test_positions_that_do_not_differ_have_a_width_to_divide_by"),
    Mutation("encoding/kinds.py", "if np.isinf(high - low):", "if False:", "tests/methods/test_ends.py::test_every_range_has_a_finite_cost"),
    Mutation("validation.py", "if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):", "if stat.S_ISCHR(kind):", "tests/test_validation.py"),
    # names
    Mutation("extensions.py", "if name not in self.own}", "}", f"{EXTENSIONS}::test_a_package_that_cannot_be_imported_is_named_and_all_others_are_listed"),
)  # fmt: skip


def occurrences(mutation: Mutation) -> int:
    """Return how often the text to change stands in its file; it must be once."""
    return (REPOSITORY / "src" / "shoal" / mutation.file).read_text("utf-8").count(mutation.old)


def fails(folder: Path, tests: str) -> bool:
    """Return whether a test fails (a hang counts); anything else than tests that pass or fail is an error of this script."""
    # without compilation: a mutated kernel would else make all kernels compile again
    environment = os.environ | {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}", "NUMBA_DISABLE_JIT": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not compiled", tests]
    try:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in {0, 1}:
        raise RuntimeError(done.stdout.decode()[-2000:])
    return done.returncode == 1


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201


def main() -> None:
    """Try all mutations, or those in the files named as arguments; exit code 1 where one survives."""
    chosen = [one for one in MUTATIONS if not sys.argv[1:] or any(word in one.file for word in sys.argv[1:])]
    survived = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("src", "tests", "conftest.py", "pyproject.toml"):
            source = REPOSITORY / part
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / part)
        for tests in sorted({one.tests for one in chosen}):
            if fails(folder, tests):
                sys.exit(f"{tests} fails without any mutation")
        for mutation in chosen:
            path = folder / "src" / "shoal" / mutation.file
            text = path.read_text("utf-8")
            path.write_text(text.replace(mutation.old, mutation.new), "utf-8")
            killed = fails(folder, mutation.tests)
            path.write_text(text, "utf-8")
            survived += not killed
            outcome = "killed" if killed else "SURVIVED"
            say(f"{outcome}: {mutation.file}: {mutation.old.strip()} -> {mutation.new.strip()}")
    say(f"{len(chosen)} mutations, {survived} survived")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
