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

REPOSITORY = Path(__file__).resolve().parent.parent
GUARDS = "tests/test_guards.py"
EXTENSIONS = "tests/test_extensions.py"
COVERING = "tests/audit/test_covering.py"


class Mutation(NamedTuple):
    """A change of the source that takes away or weakens a guard."""

    file: str
    old: str
    new: str
    tests: str = GUARDS


MUTATIONS = (
    # the fresh count
    Mutation("audit/recount.py", "if smallest < k:", "if smallest < k - 1:"),
    Mutation("audit/recount.py", "if smallest < k:", "if False:"),
    Mutation("release.py", "check_release(released, recipe.quasi_identifiers, recipe.k, owners)", "check_release(released, recipe.quasi_identifiers, 2, owners)"),
    Mutation("release.py", "check_release(released, recipe.quasi_identifiers, recipe.k, owners)", "check_release(released, recipe.quasi_identifiers, recipe.k)"),
    Mutation("release.py", "owners[unit], recipe.k, unit)", "owners[unit], 1, unit)"),
    # the cover check, and the count of what models tell apart
    Mutation("audit/covering.py", "covered[open_pairs] = _covers(column, pairs, open_pairs)", "covered[open_pairs] = True", COVERING),
    Mutation("audit/covering.py", "(low[cell] <= own) & (own <= high[cell])", "(low[cell] <= own)", COVERING),
    Mutation("audit/covering.py", "(low[cell] <= own) & (own <= high[cell])", "(own <= high[cell])", COVERING),
    Mutation("audit/covering.py", "(absent_value & absent_cell)", "(absent_value | absent_cell)", COVERING),
    Mutation("audit/covering.py", "own[value] in cell.values", "True", COVERING),
    Mutation("audit/covering.py", "cell.values[0] in path", "True", COVERING),
    Mutation("audit/typical.py", "(low[groups] <= cell) & (cell <= high[groups])", "(low[groups] <= cell)", "tests/audit/test_typical.py"),
    Mutation("audit/typical.py", "np.isin(here + cell, here + own) & (cell >= 0)", "(cell >= 0)", "tests/audit/test_typical.py"),
    Mutation("audit/recount.py", "if len(pairs) > len(np.unique(number)):", "if False:", "tests/audit/test_recount.py"),
    Mutation("release.py", "    _check_cover(frame, coded, grouping.labels, released, recipe)\n    owners", "    owners", COVERING),
    # files and parts of a table
    Mutation("saving.py", "rename_columns(released.column_names), recipe.quasi_identifiers, recipe.k)", "rename_columns(released.column_names), recipe.quasi_identifiers, 1)"),
    Mutation("saving.py", "written.num_rows != rows.num_rows", "False"),
    Mutation("engines/stream/recounting.py", "min(initial=k)), k)", "min(initial=k)), k - 1)", "tests/engines/test_recounting.py"),
    # models
    Mutation("audit/recount.py", "    if groups:\n", "    if groups > 1:\n"),
    Mutation("release.py", "zip(models, requirements, strict=True)", "list(zip(models, requirements, strict=True))[:1]"),
    Mutation("privacy/base.py", "for name in sensitive}", "for name in table.attributes}"),
    Mutation("privacy/k_anonymity.py", "minlength=groups) < self.k", "minlength=groups) < self.k - 1", "tests/privacy/test_models.py"),
    Mutation("privacy/base.py", "failing | one.failing(labels, groups)", "failing & one.failing(labels, groups)", "tests/privacy/test_models.py"),
    # withheld records
    Mutation("release.py", "if withheld > most_withheld(", "if withheld > 1 + most_withheld("),
    Mutation("methods/base.py", "math.floor(share * records + 1e-9)", "math.floor(share * records)"),
    Mutation("methods/base.py", "math.floor(share * records + 1e-9)", "math.ceil(share * records)"),
    Mutation("enforcement/keeping.py", "if lost.sum() > most_withheld(", "if lost.sum() > 1 + most_withheld("),
    # estimates
    Mutation("audit/risk.py", "_log_choose(population - F, records - 1)", "_log_choose(population - F, records)"),
    Mutation("audit/risk.py", "math.log(F) + _log_choose", "math.log(F + 1) + _log_choose"),
    # widening
    Mutation("widening.py", "return cover if requirements else wider", "return wider"),
    Mutation("widening.py", "return cover if requirements else wider", "return cover"),
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
    """Tell whether a test fails (a hang counts); anything else than tests that pass or fail is an error of this script."""
    # without compilation: a mutated kernel would else make all kernels compile anew
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
