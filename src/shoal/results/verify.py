"""Verifying a release in a file: whether it still holds what its recipe promises.

Nothing is taken from the run that made it. The rows are read from disk and counted; every model that can be judged by the
released rows is; with the original available, each released combination must fit as many original records as it has rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import IntArray
from shoal.audit import audit_owned
from shoal.encoding import CodedAttribute, CodedTable, encode, encode_attribute, encode_unit, value_texts
from shoal.errors import DataError, FileError, ParameterError, PrivacyError
from shoal.frames import Frame, to_frame
from shoal.hierarchy import WORDS
from shoal.io.files import open_table
from shoal.methods.base import most_withheld
from shoal.notation import Notation
from shoal.privacy.base import PrivacyModel, bind_models
from shoal.recipe import Recipe, read_recipe, recipe_notation, release_notation, restore_models
from shoal.recount.fit import fit_combinations
from shoal.recount.rows import count_owners, recount
from shoal.release.make import released_columns
from shoal.results.counts import read_groups
from shoal.results.save import read_dictionary, recipe_of_dictionary
from shoal.validation import check_path


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    met: bool | None
    """None: it cannot be judged by what is available."""
    text: str


@dataclass(frozen=True)
class Verification:
    """What a look at a released file found.

    Examples
    --------
    >>> import shoal, tempfile, pathlib
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = result.save(pathlib.Path(folder) / "release.csv")
    ...     found = shoal.verify(path, original=patients)
    >>> found.met, [check.name for check in found.checks]
    (True, ['columns', 'k', 'dictionary', 'rows', 'cover'])
    """

    checks: tuple[Check, ...]

    @property
    def met(self) -> bool:
        """Whether nothing that could be judged falls short."""
        return all(one.met is not False for one in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"met": self.met, "checks": [asdict(one) for one in self.checks]}


def verify(release: str | Path, *, recipe: str | Path | None = None, original: Any = None) -> Verification:
    """Look whether a released file still holds what its recipe promises.

    Parameters
    ----------
    release
        The file that is to be published, or was.
    recipe
        The recipe it was made by; by default what its dictionary promises (``release.datapackage.json``, or the metadata of a Parquet file).
    original
        The original table, or its file: cells must then cover the original values, and models are measured against them.

    Returns
    -------
    Verification
        What was looked at, whether it holds, and ``met``: whether nothing falls short.

    Examples
    --------
    >>> import shoal, tempfile, pathlib
    >>> people = {"age": [21, 22, 23, 45, 46, 47], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> result = shoal.anonymize(people, k=3, quasi_identifiers=["age", "sex"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = result.save(pathlib.Path(folder) / "release.csv")
    ...     found = shoal.verify(path)
    >>> found.met
    True
    """
    path = check_path("verify", "release", release)
    chosen, told = promise_of(path, None if recipe is None else check_path("verify", "recipe", recipe))
    rows = original if original is None else _read(original, recipe_notation(chosen))
    return verify_frame(_read(path, release_notation(chosen)), chosen, told, rows, path)


def _read(data: Any, notation: Notation) -> Frame:
    """Read a table in a notation."""
    if isinstance(data, (str, Path)):
        return open_table(data, notation=notation)
    return replace(to_frame(data), notation=notation)


def promise_of(release: Path, recipe: Path | None) -> tuple[Recipe, Mapping[str, Any]]:
    """Return the recipe of a release, and what its dictionary says was counted; raise if there is neither."""
    told = read_dictionary(release)
    if recipe is not None:
        return read_recipe(recipe), {} if told is None else told["shoal"]
    if told is None:
        raise FileError(
            f"The release {release.name!r} has no dictionary that says what it promises.",
            hint="name its recipe, or save releases with their dictionary.",
        )
    return recipe_of_dictionary(told, f"The dictionary of {release.name!r}"), told["shoal"]


def verify_frame(
    release: Frame,
    recipe: Recipe,
    told: Mapping[str, Any],
    original: Frame | None = None,
    path: Path | None = None,
) -> Verification:
    """Check released rows; ``told`` is the content of their dictionary, empty without one, and ``path`` the file they come from."""
    columns = _check_columns(release, recipe)
    if columns.met is False:
        return Verification((columns,))
    label = recount(release.table, recipe.quasi_identifiers)
    checks = [columns, *_check_sizes(release, recipe, label), *_check_models(release, recipe, label, original)]
    if told:
        checks.append(_check_told(release, recipe, told))
    if path is not None and told.get("value_counts") == "groups":
        checks.append(_check_counts(release, path))
    if original is not None:
        checks += _check_original(release, recipe, original)
    return Verification(tuple(checks))


def _check_columns(release: Frame, recipe: Recipe) -> Check:
    expected, there = released_columns(recipe), set(release.names)
    wrong = [f"{name!r} is missing" for name in sorted(expected - there)]
    wrong += [f"{name!r} is there, which the recipe does not release" for name in sorted(there - expected)]
    return Check("columns", not wrong, "; ".join(wrong) or "those that the recipe releases")


def _check_sizes(release: Frame, recipe: Recipe, label: IntArray) -> Iterator[Check]:
    """Count records and, if the release names them, persons and households."""
    smallest = int(np.bincount(label).min(initial=release.records))
    yield Check("k", smallest >= recipe.k, f"the smallest group has {smallest:,} records, {recipe.k:,} are promised")
    for unit, name in (("persons", recipe.person), ("households", recipe.household)):
        if name is None:
            continue
        if name not in release.names:
            yield Check(unit, None, "the release does not name them, so they cannot be counted")
            continue
        fewest = int(count_owners(label, release.table.column(name)).min(initial=release.records))
        yield Check(unit, fewest >= recipe.k, f"the smallest group has {fewest:,} {unit}, {recipe.k:,} are promised")


# --- models ------------------------------------------------------------------------------------------------------


def _check_models(release: Frame, recipe: Recipe, label: IntArray, original: Frame | None) -> Iterator[Check]:
    """Judge each model by the released rows."""
    groups = int(label.max(initial=-1)) + 1
    for settings in recipe.models:
        name = str(settings.get("model", ""))
        reason = _reason_not_to_judge(settings, release, recipe, original)
        if reason is not None:
            yield Check(name, None, reason)
            continue
        (model,) = restore_models([settings])
        try:
            (requirement,) = bind_models([model], _sensitive(release, recipe, original), recipe.sensitive)
        except PrivacyError:
            yield Check(name, met=False, text="not even all rows together meet it")
            continue
        failing = int(requirement.failing(label, groups).sum())
        text = f"falls short in {failing:,} of {groups:,} groups" if failing else model.describe()
        yield Check(name, not failing, text)


def _reason_not_to_judge(
    settings: Mapping[str, Any], release: Frame, recipe: Recipe, original: Frame | None
) -> str | None:
    """Return why the released rows are not enough to judge a model; None if they are."""
    try:
        model: PrivacyModel = restore_models([dict(settings)])[0]
    except ParameterError:
        return "the recipe does not hold all that the model needs"
    if model.looks_at == "more":
        return "it looks at more than groups and their sensitive values, such as a population, which the released rows do not contain"
    if recipe.person is not None and recipe.person not in release.names:
        return "it counts people, whom the release does not name"
    if any(name not in release.names for name in recipe.sensitive):
        return "a sensitive column is not in the release"
    if model.looks_at == "group" or recipe.max_suppression == 0:
        return None
    if original is None:
        return "records may have been withheld, so the original is needed to compare with"
    if recipe.person is not None or any(name in recipe.treat for name in recipe.sensitive):
        return "records may have been withheld, and people or treated columns are not compared with the original"
    return None


def _sensitive(release: Frame, recipe: Recipe, original: Frame | None) -> CodedTable:
    """Return the released sensitive columns as models read them, measured against the original if it is available."""
    person = None if recipe.person is None else encode_unit(release, "person", recipe.person)
    attributes = {}
    for name in recipe.sensitive:
        tree, kind = _tree_of(recipe, name), recipe.kinds.get(name)
        attribute = encode_attribute(release, name, tree, kind)
        if original is not None and person is None and name not in recipe.treat:
            attribute = _against(attribute, encode_attribute(original, name, tree, kind))
        attributes[name] = replace(attribute, person=person)
    units = {} if person is None else {"person": person}
    return CodedTable(np.zeros((0, release.records), np.int32), (), np.zeros(0), attributes, units)  # type: ignore[arg-type]


def _against(part: CodedAttribute, whole: CodedAttribute) -> CodedAttribute:
    """Return the codes of ``part`` as those of ``whole``, with its totals; as it was if it has other values."""
    places = {text: code for code, text in enumerate(value_texts(whole.values).to_pylist())}
    codes = [places.get(text, -1) for text in value_texts(part.values).to_pylist()]
    missing = part.cardinality > len(codes)
    if -1 in codes or (missing and whole.cardinality == len(places)):
        return part
    table = np.array([*codes, len(places)], np.int32)
    total = np.bincount(whole.codes, minlength=whole.cardinality).astype(np.int64)
    return replace(whole, codes=table[part.codes], total=total)


def _tree_of(recipe: Recipe, name: str) -> str | None:
    """Return the hierarchy file of a column, if the recipe names an existing one."""
    choice = recipe.hierarchies.get(name)
    return choice if choice is None or choice in WORDS or Path(choice).is_file() else None


# --- dictionary and original ---------------------------------------------------------------------------------------


def _check_told(release: Frame, recipe: Recipe, told: Mapping[str, Any]) -> Check:
    """Compare the recount with the one in the dictionary: a file that was changed afterwards differs."""
    found = audit_owned(release.table, recipe.quasi_identifiers, {})
    measures = told.get("measures")
    same = found.records == told.get("records") and found.groups == (
        measures.get("groups") if isinstance(measures, dict) else None
    )
    text = f"{found.records:,} records in {found.groups:,} groups"
    return Check("dictionary", same, text if same else f"{text}, the dictionary says otherwise")


def _check_counts(release: Frame, path: Path) -> Check:
    """Count the counts of groups next to a release against its rows."""
    try:
        read_groups(path, release.table)
    except DataError:
        return Check("counts", met=False, text="the counts of groups next to the release are not those of its rows")
    return Check("counts", met=True, text="the counts of each group add up to its rows")


def _check_original(release: Frame, recipe: Recipe, original: Frame) -> Iterator[Check]:
    withheld = original.records - release.records
    allowed = most_withheld(recipe.max_suppression, original.records)
    text = f"{withheld:,} of {original.records:,} records withheld" if withheld >= 0 else "more than the original has"
    yield Check("rows", 0 <= withheld <= allowed, text)
    if recipe.release == "representatives":
        yield Check("cover", None, "representatives stand for a group and need not cover its values")
        return
    unknown = [
        name for name in recipe.quasi_identifiers if name in recipe.hierarchies and _tree_of(recipe, name) is None
    ]
    judged = [name for name in recipe.quasi_identifiers if name not in unknown]
    if unknown:
        yield Check("cover", None, f"not judged for {', '.join(map(repr, unknown))}, whose hierarchy is not available")
    if judged:
        yield _check_cover(release, recipe.model_copy(update={"quasi_identifiers": judged}), original, allowed)


def _check_cover(release: Frame, recipe: Recipe, original: Frame, withheld: int) -> Check:
    """Ask that each released combination fits as many original records as it has rows, and each original record fits one."""
    names = recipe.quasi_identifiers
    coded = encode(
        original,
        names,
        kinds={name: kind for name, kind in recipe.kinds.items() if name in names},
        hierarchies={name: choice for name, choice in recipe.hierarchies.items() if name in names},
    )
    try:
        found = fit_combinations(coded, original, release.table.select(names))
    except DataError as fault:  # a cell that is not a released value
        return Check("cover", met=False, text=str(fault).splitlines()[0])
    if found.lacking:
        text = f"{found.lacking:,} of {found.looked_at:,} combinations fit fewer original records than they have rows"
        return Check("cover", met=False, text=text)
    if found.left_over > withheld:
        return Check("cover", met=False, text=f"{found.left_over:,} original records fit no released row")
    text = f"each of {found.looked_at:,} combinations fits as many original records as it has rows"
    return Check("cover", met=True, text=text)
