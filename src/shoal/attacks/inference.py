"""Learning a sensitive value without naming a row: homogeneity and skewness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray
from shoal.attacks.base import Finding, as_frame, choose_targets, rate, typed_table
from shoal.attacks.matching import covering_groups
from shoal.audit import column_codes, count_tuples
from shoal.hierarchy import Hierarchy
from shoal.kernels.space.tuples import Tuples
from shoal.validation import check_columns

SUSPICION = 2.0
"""A belief counts as a suspicion where it is this many times that in the whole table."""


def homogeneity(
    original: Any,
    release: Any,
    on: Sequence[str],
    sensitive: str,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    targets: int = 2_000,
    seed: int = 0,
) -> Finding:
    """Guess people's sensitive value as the most frequent one among the released rows that fit them.

    The control guesses the most frequent value of the whole release for everybody.
    """
    own, published = as_frame(original), as_frame(release)
    columns = check_columns("known to the intruder", on, published.names)
    check_columns("sensitive", [sensitive], [name for name in published.names if name in own.names])
    chosen = choose_targets(own.records, targets, seed)
    wanted = typed_table(own, columns).take(pa.array(chosen))
    together = pa.concat_tables(
        [pa.table({"s": one.table.column(sensitive).cast(pa.string())}) for one in (published, own)]
    )
    codes = column_codes(together, ["s"])[0]
    shown, truth = codes[: published.records], codes[published.records :][chosen]
    groups = count_tuples(published.table, columns)
    belief = np.zeros((len(chosen), int(codes.max(initial=0)) + 1))
    spread = _spread(groups, shown, belief.shape[1])
    for part, covered in covering_groups(published.table, groups, wanted, columns, hierarchies):
        belief += covered.T.astype(np.float64) @ spread[part]
    return _judge(belief, truth, np.bincount(shown, minlength=belief.shape[1]), chosen, sensitive)


def _spread(groups: Tuples, shown: Any, values: int) -> FloatArray:
    """Return how often each value occurs in each group."""
    pairs = np.bincount(groups.label.astype(np.int64) * values + shown, minlength=len(groups.size) * values)
    return pairs.reshape(len(groups.size), values).astype(np.float64)


def _judge(belief: FloatArray, truth: Any, whole: Any, chosen: Any, sensitive: str) -> Finding:
    size = belief.sum(axis=1)
    fits = size > 0
    share = belief / np.maximum(size, 1)[:, None]
    guess = share.argmax(axis=1)
    right = fits & (guess == truth)
    certain = fits & (share.max(axis=1) == 1.0)
    prior = whole / max(whole.sum(), 1)
    gained = share[np.arange(len(truth)), truth] >= SUSPICION * prior[truth]
    control = int((truth == whole.argmax()).sum())
    sure = int((certain & right).sum())
    return Finding(
        attack="homogeneity",
        question=f"What is this person's {sensitive}?",
        success=rate(int(right.sum()), len(truth)),
        control=rate(control, len(truth)),
        verdict=(
            f"For {sure:,} of {len(truth):,} people all rows that fit have the same {sensitive}; it is known without naming a row."
            if sure
            else f"Nobody's {sensitive} is certain; guesses are right for {int(right.sum()):,} of {len(truth):,} people."
        ),
        figures={
            "certain_and_right": sure,
            "guessed_rightly": int(right.sum()),
            "suspected": int((fits & gained).sum()),
            "mean_belief_in_truth": float(share[np.arange(len(truth)), truth].mean()) if len(truth) else 0.0,
            "mean_prior_of_truth": float(prior[truth].mean()) if len(truth) else 0.0,
        },
        examples=[int(row) for row in chosen[certain & right][:5]],
    )
