"""What a release reveals besides its quasi-identifiers: by the order of its rows, and by columns that were left in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray
from shoal.attacks.base import Finding, as_frame, rate, typed_table
from shoal.attacks.matching import _covering
from shoal.attacks.representatives import as_numbers, representative_columns
from shoal.audit import column_codes, count_tuples
from shoal.cells.parse import parse_column
from shoal.frames import Frame, encode_dictionary
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import distinct_tuples
from shoal.validation import check_columns

_PAIRS = 20_000
_CERTAIN = 5.0
"""Standard deviations beyond chance from which the order of rows counts as kept."""
_WORDS = 4
"""A text column with this many words a value, most of them different, is taken for free text."""


def row_order(
    original: Any,
    release: Any,
    on: Sequence[str],
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    seed: int = 0,
) -> Finding:
    """Test whether row i of the release still is row i of the original.

    The control compares rows at random. If both have the same number of rows and every row fits its place, the
    order was kept, and an intruder who knows the order of the original knows who is who. Representatives do not cover
    what they stand for; there a row fits its place if it is nearer to the original row there than to one at random.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> shoal.attacks.row_order(patients, result.released, known).verdict
    'Every row is where it was in the input, so the order names everyone whose place is known.'
    """
    own, published = as_frame(original), as_frame(release)
    numbers = representative_columns(own, published, on)
    if numbers:
        return _order_of_representatives(own, published, numbers, seed)
    columns = check_columns("known to the intruder", [name for name in on if name in own.names], published.names)
    rows = min(own.records, published.records)
    rng = np.random.default_rng(seed)
    places = np.sort(rng.permutation(rows)[:_PAIRS])
    known, shown = typed_table(own, columns), published.table.select(columns)
    hits = int(_fit(known, shown, places, places, hierarchies).sum())
    chance = int(_fit(known, shown, rng.permutation(rows)[: len(places)], places, hierarchies).sum())
    label = count_tuples(published.table, columns).label
    runs = 1 + int((label[1:] != label[:-1]).sum()) if len(label) else 0
    kept = rows > 0 and hits == len(places) and own.records == published.records
    sorted_groups = len(label) > 0 and runs == int(label.max()) + 1 and runs < len(label) / 1.5
    verdict = "The rows are not in the order of the input."
    if kept:
        verdict = "Every row is where it was in the input, so the order names everyone whose place is known."
    elif sorted_groups:
        verdict = "The order of the input is gone, but the rows of each group are next to each other. Shuffle them."
    return Finding(
        attack="row order",
        question="Does a row's place reveal whose it is?",
        success=rate(hits, len(places)),
        control=rate(chance, len(places)),
        verdict=verdict,
        figures={"order_kept": float(kept), "groups_stand_together": float(sorted_groups), "runs": runs},
    )


def _order_of_representatives(own: Frame, published: Frame, names: Sequence[str], seed: int) -> Finding:
    """Test the order of rows by distances; those to rows at random are the other half of a tie of two."""
    before, after = (as_numbers(typed_table(frame, names)) for frame in (own, published))
    rows = min(len(before), len(after))
    places = np.random.default_rng(seed).permutation(rows)
    other = np.roll(places, 1)
    spread = np.maximum(before.std(axis=0), np.finfo(float).tiny)
    to_own, to_other = (np.square((after[places] - before[where]) / spread).sum(axis=1) for where in (places, other))
    hits = float((to_own < to_other).sum() + 0.5 * (to_own == to_other).sum())
    kept = own.records == published.records and hits > rows / 2 + _CERTAIN * np.sqrt(rows) / 2
    verdict = "The rows are not in the order of the input."
    if kept:
        verdict = "The rows are where they were in the input, so the order names everyone whose place is known."
    return Finding(
        attack="row order",
        question="Does a row's place reveal whose it is?",
        success=rate(hits, rows),
        control=rate(rows / 2, rows),
        verdict=verdict,
        figures={"order_kept": float(kept)},
    )


def _fit(known: pa.Table, shown: pa.Table, who: Any, where: Any, trees: Mapping[str, Hierarchy] | None) -> BoolArray:
    """Return for pairs of an original and a released row whether the one can be the other."""
    fits = np.ones(len(who), np.bool_)
    for name in shown.column_names:
        form, cells = parse_column(shown.column(name).take(pa.array(where)))
        values = encode_dictionary(known.column(name).take(pa.array(who)))
        table = _covering(cells, pa.chunked_array([values.dictionary]), (trees or {}).get(name))
        index = np.asarray(values.indices.fill_null(0))
        missing = np.asarray(values.indices.is_null())
        open_cells = np.array([cell.form in {"any", "missing"} for cell in cells], np.bool_)
        fits &= np.where(missing, open_cells[form], table[form, index])
    return fits


def leftovers(original: Any, release: Any, quasi_identifiers: Sequence[str]) -> Finding:
    """Look for released columns, besides the quasi-identifiers, that single records out by themselves.

    Success is the share of records that at least one such column singles out; the control is the share that the
    released quasi-identifiers do.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [20, 21, 40, 41], "phone": ["0171", "0172", "0173", "0174"]}
    >>> result = shoal.anonymize(people, k=2, quasi_identifiers=["age"], keep=["phone"])
    >>> shoal.attacks.leftovers(people, result, ["age"]).success.share
    1.0
    """
    own, published = as_frame(original), as_frame(release)
    others = [name for name in published.names if name not in quasi_identifiers]
    alone = np.zeros(published.records, np.bool_)
    figures: dict[str, float] = {}
    telling = []
    for name in others:
        unique = _alone(published.table, [name])
        alone |= unique
        figures[f"unique by {name}"] = float(unique.mean()) if len(unique) else 0.0
        kind = _kind(published, own, name, float(figures[f"unique by {name}"]))
        if kind:
            telling.append(f"{name} ({kind})")
    if len(others) > 1:
        together = _alone(published.table, others)
        figures["unique by all of them"] = float(together.mean()) if len(together) else 0.0
        alone |= together
    known = [name for name in quasi_identifiers if name in published.names]
    by_known = int(_alone(published.table, known).sum()) if known else 0
    return Finding(
        attack="leftovers",
        question="Does an unchanged column single records out?",
        success=rate(int(alone.sum()), published.records),
        control=rate(by_known, published.records),
        verdict=f"Look at: {', '.join(telling)}."
        if telling
        else "No unchanged column looks like an identifier, free text or a fingerprint.",
        figures=figures,
        examples=[int(row) for row in np.flatnonzero(alone)[:5]],
        examples_in="release",
    )


def _alone(table: pa.Table, names: Sequence[str]) -> BoolArray:
    tuples = distinct_tuples(column_codes(table, names))
    return np.asarray(tuples.size[tuples.label] == 1, np.bool_)


def _kind(published: Frame, own: Frame, name: str, unique: float) -> str | None:
    """Return what is wrong with a column, if anything."""
    column = published.typed(name)
    values = encode_dictionary(column).dictionary
    distinct = len(values) / max(published.records, 1)
    if pa.types.is_string(values.type) and len(values):
        words = float(pc.mean(pc.count_substring_regex(values, r"\S+")).as_py() or 0.0)
        if words >= _WORDS and distinct > 0.5:
            return "free text"
        if distinct > 0.9 and published.records >= 20:
            return "an identifier"
        return "singles out some" if unique > 0.01 else None
    if unique > 0.05:
        exact = name in own.names and pa.types.is_floating(values.type)
        return "exact numbers, a fingerprint" if exact else "singles out many"
    return None
