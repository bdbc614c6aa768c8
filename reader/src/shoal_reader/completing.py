"""Plausible tables inside the cells of a release: the anchored draw.

An optimizer forms groups so that cells stay narrow. Cells are therefore not coarsened at random (Heitjan and Rubin 1991, *Ignorability
and Coarse Data*), and data augmentation that takes them so is far off: of a set with a common and a rare value it hardly ever draws the
rare one, although somebody in the group must have it. Here the shares of the values in a cell stay where they start (the anchor), and
a model of each column given all others only decides which record of a group gets which value:

1. Every cell starts from its anchor: its values by a small power of how frequent they are in the release. The power 0 would take them all
   alike, the power 1 is what data augmentation does.
2. A multinomial model (of numbers: an exponential tilt by the value and its square) is fitted to each coarsened column, given the drawn values
   of the others and the kept columns; groups are drawn with exponential weights, so that tables differ as the estimates do.
3. A record's log-odds move its draw only by their deviation from the mean of its group.
4. Every member of a set stays with somebody in its group; records of a group also exchange values.

Counts that were released next to the cells move or replace the anchor: those of a column move its shares a step, those of groups say which
values a group has, so that its records only exchange them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from shoal_reader.columns import Bools, Column, Floats
from shoal_reader.counts import calibrated
from shoal_reader.errors import ReleaseError

if TYPE_CHECKING:
    from shoal_reader.release import Release

Codes = npt.NDArray[np.intp]
Singles = npt.NDArray[np.float32]

MOST_VALUES = 256
"""The values of a column with more than this many are drawn from the anchor alone, without a model."""
_ROWS_TO_FIT = 8_000
_BURN_IN, _THIN = 5, 1
_STEPS_FIRST, _STEPS = 6, 3
_SWAPS = 3
_RIDGE = 1.0
_ANCHOR_STEPS = 15
"""Shares and frequencies are worked out from one another so many times."""
_CALIBRATIONS = 1
"""Steps from the anchor to released counts of columns. More of them get the counts right and regressions wrong: cells are not coarsened at random."""
_MOST_LEVELS = 24
"""The rarer values of a kept column are one level in the models."""
_REACH = 4.0
"""Standardized numbers are cut off here, so that one outlier does not decide a model."""


def complete(release: Release, m: int, seed: int | None) -> list[pd.DataFrame]:
    """Return ``m`` plausible tables."""
    if m < 1:
        raise ReleaseError(f"The number of completed tables must be at least 1. Got {m}.")
    if any(column.told.form == "representatives" for column in release.coarsened.values()):
        raise ReleaseError(
            "This release shows typical values, which say nothing about the values of their group. Analyse it as it is."
        )
    try:
        import scipy.optimize  # noqa: F401, PLC0415  (an extra)
    except ImportError:
        raise ReleaseError("Completions need scipy. Install it: pip install 'shoal-reader[complete]'.") from None
    draws = AnchoredDraw(release, np.random.default_rng(seed))
    return [draws.table() for _ in draws.run(m)]


class Part:
    """One coarsened column: its values, its cells, and what a model sees of a value."""

    def __init__(self, column: Column, group_size: float) -> None:
        self.column = column
        self.which = column.which
        self.numeric = column.measured
        if self.numeric:
            self.points, inside, self.whole = column.points
        else:
            self.points, inside, self.whole = np.arange(len(column.values), dtype=np.float64), column.members, True
        self.missing = column.missing
        self.inside: Bools = np.where(
            self.missing[:, None], np.arange(inside.shape[1]) == 0, inside
        )  # any value; it is taken out again
        self.counted = column.counted is not None
        """Whether the values of each group are known, and only not who has which."""
        self.covers = not self.numeric and column.told.form == "sets" and not self.counted
        self.open = np.flatnonzero(self.inside.sum(axis=1)[self.which] > 1)
        """The records whose cell leaves a choice."""
        self.share, self.often = self._known() if self.counted else self._anchor(_power(column, group_size))
        """The chance of each value in each cell, and in the whole release."""
        self.features = self._features()
        self.weights: Floats | None = None
        """The coefficients of the model."""

    def _anchor(self, power: float) -> tuple[Singles, Floats]:
        records = np.bincount(self.which, minlength=len(self.inside)).astype(np.float64)
        often = np.ones(self.inside.shape[1])
        for _ in range(_ANCHOR_STEPS):
            share = self.inside * often**power
            share /= share.sum(axis=1, keepdims=True)
            often = np.maximum(records @ share / records.sum(), 1e-9)
        if not self.column.told.counts:
            return self._shares(share)
        values = self.points if self.numeric else self.column.values
        known = np.where(self.missing, 0.0, records)
        return self._shares(calibrated(self.inside, known, self.column.told_often(values), often**power, _CALIBRATIONS))

    def _known(self) -> tuple[Singles, Floats]:
        """Return the shares by the counts of groups."""
        return self._shares(np.where(self.missing[:, None], self.inside, self.column.weights))

    def _shares(self, weights: Floats) -> tuple[Singles, Floats]:
        share = weights / weights.sum(axis=1, keepdims=True)
        records = np.bincount(self.which, minlength=len(self.inside)).astype(np.float64)
        often = np.maximum(records @ share / records.sum(), 1e-9)
        return share.astype(np.float32), often / often.sum()

    def dealt(self, group: Codes, rng: np.random.Generator) -> Codes:
        """Return the values of each group, dealt to its records at random."""
        order = np.lexsort((rng.random(len(group)), group))
        edges = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0, True])
        weights, codes = self.column.weights, np.empty(len(group), np.intp)
        for first, last in pairwise(edges):
            records = order[first:last]
            cell = self.which[records[0]]
            known = np.repeat(np.arange(weights.shape[1]), weights[cell].astype(np.intp))
            missing = _pick(np.repeat(self.share[cell][None], len(records) - len(known), axis=0), rng)
            codes[records] = rng.permutation(np.r_[known, missing])
        return codes

    @property
    def modelled(self) -> bool:
        """Whether values are drawn by a model."""
        return self.inside.shape[1] <= MOST_VALUES or self.numeric

    def _features(self) -> Singles:
        if self.numeric:
            points = (
                np.log1p(self.points)
                if _is_skewed(self.points, self.points[self.often.cumsum().searchsorted(0.5 * self.often.sum())])
                else self.points
            )
            mean = self.often @ points
            deviation = np.sqrt(self.often @ (points - mean) ** 2) or 1.0
            z = np.clip((points - mean) / deviation, -_REACH, _REACH)
            return np.column_stack([z, z**2 - 1]).astype(np.float32)
        if self.inside.shape[1] > MOST_VALUES:
            return np.zeros((self.inside.shape[1], 0), np.float32)
        return np.delete(np.eye(len(self.often), dtype=np.float32), self.often.argmax(), axis=1)

    def values(self, codes: Codes, rng: np.random.Generator) -> pd.Series[Any]:
        """Return the drawn values as the original column would hold them."""
        gone = self.missing[self.which]
        if not self.numeric:
            values = _typed(np.array(self.column.values, object), self.column.told.kind)
            drawn = pd.Series(values[codes])
            return drawn.mask(gone) if gone.any() else drawn.infer_objects()
        numbers = self.points[codes] if self.whole else self._spread(codes, rng)
        drawn = pd.Series(self.column.numbers(numbers))
        if self.column.told.kind == "integer" and not gone.any():
            drawn = drawn.round().astype(np.int64)
        return drawn.mask(gone) if gone.any() else drawn

    def _spread(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Return numbers between a point and its neighbours, inside the cell."""
        middles = (self.points[1:] + self.points[:-1]) / 2
        low = np.maximum(np.r_[self.points[:1], middles][codes], self.column.low[self.which])
        high = np.minimum(np.r_[middles, self.points[-1:]][codes], self.column.high[self.which])
        low, high = np.minimum(low, high), np.maximum(low, high)
        drawn = low + (high - low) * rng.random(len(codes))
        if self.column.told.kind in {"integer", "date", "datetime"}:
            drawn = np.rint(drawn)
        return np.asarray(np.clip(drawn, self.column.low[self.which], self.column.high[self.which]), np.float64)


def _power(column: Column, group_size: float) -> float:
    """Return how much the frequency of a value counts in its cell.

    The optimizer leaves a rare value in a set only if somebody of the group has it, in a range only if it lies between the values of
    others, and in a node whether anybody has it or not; and the larger the groups, the less it chooses. The figures are those with
    which completions of public tables, with k from 5 to 30, came closest to the originals (``benchmarks/recipients.py``).
    """
    size = np.log(max(group_size, 2.0))
    if column.measured:
        return float(np.clip(0.17 * size - 0.07, 0.0, 0.6))
    return float(np.clip(0.2 + 0.06 * size, 0.0, 0.5)) if column.told.form == "sets" else 0.5


class AnchoredDraw:
    """Draws of all coarsened columns, one column after the other."""

    def __init__(self, release: Release, rng: np.random.Generator) -> None:
        self.release, self.rng = release, rng
        self.records = release.records
        self.group = _groups(release)
        size = self.records / (int(self.group.max(initial=0)) + 1)
        self.parts = [Part(column, size) for column in release.coarsened.values()]
        self.group_size: Singles = np.bincount(self.group).astype(np.float32)
        self.kept = _kept_features(release)
        self.codes = [self._first(part) for part in self.parts]
        for number, part in enumerate(self.parts):
            if part.covers and part.open.size:
                self._cover(number, part)

    def _first(self, part: Part) -> Codes:
        """Return values to start from."""
        if not part.open.size:
            return np.asarray(part.inside.argmax(axis=1)[part.which], np.intp)
        return part.dealt(self.group, self.rng) if part.counted else _pick(part.share[part.which], self.rng)

    def run(self, m: int) -> Any:
        """Draw until the model has settled, then stop at ``m`` tables; each is in ``codes`` when it is yielded."""
        for _ in range(_BURN_IN):
            self._round(self._rows(weighted=False), _STEPS_FIRST)
        for _ in range(m):
            for _ in range(_THIN):
                self._round(self._rows(weighted=True), _STEPS)
            yield

    def table(self) -> pd.DataFrame:
        """Return the table drawn last."""
        drawn = {
            part.column.name: part.values(codes, self.rng) for part, codes in zip(self.parts, self.codes, strict=True)
        }
        return pd.DataFrame({name: drawn.get(name, self.release.kept.get(name)) for name in self.release.names})

    def _round(self, rows: Codes, steps: int) -> None:
        for number, part in enumerate(self.parts):
            if part.open.size:
                if part.modelled:
                    self._fit(number, part, rows, steps)
                self._draw(number, part)

    def _rows(self, *, weighted: bool) -> Codes:
        """Return records to fit models to: for each table other groups, as in a Bayesian bootstrap (Rubin 1981)."""
        size = min(_ROWS_TO_FIT, self.records)
        if weighted:
            weights = self.rng.exponential(size=len(self.group_size))[self.group]
            return np.sort(self.rng.choice(self.records, size, p=weights / weights.sum()))
        return np.sort(self.rng.choice(self.records, size, replace=False))

    # --- the model of one column ---------------------------------------------------------------------------------

    def _others(self, number: int, rows: Codes) -> Singles:
        drawn = [
            part.features[codes[rows]]
            for other, (part, codes) in enumerate(zip(self.parts, self.codes, strict=True))
            if other != number
        ]
        return np.concatenate([*drawn, self.kept[rows]], axis=1)

    def _fit(self, number: int, part: Part, rows: Codes, steps: int) -> None:
        """Fit a multinomial model to the records of a sample."""
        from scipy.optimize import minimize  # noqa: PLC0415  (an extra)

        given, share = self._others(number, rows), part.share[part.which[rows]]
        if part.weights is None:
            part.weights = np.zeros((given.shape[1], part.features.shape[1]))
        shape = part.weights.shape
        loss = _loss_of_groups(part, given, share, shape) if part.counted else self._loss(number, part, rows, given)
        found = minimize(
            loss, part.weights.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxfun": steps + 5}
        )
        part.weights = found.x.reshape(shape)

    def _loss(self, number: int, part: Part, rows: Codes, given: Singles) -> Any:
        """Return the loss of a model of what the records are expected to have, by their anchor and the model so far."""
        assert part.weights is not None  # noqa: S101  (set by the fit)
        seen, shape = part.features, part.weights.shape
        expected = part.share[part.which[rows]] * np.exp(np.clip(self._pull(number, part, rows), -20, 20))
        expected /= np.maximum(expected.sum(axis=1, keepdims=True), 1e-30)
        target = given.T @ (expected @ seen)
        base = np.log(part.often + 1e-6).astype(np.float32)
        scale = 1 / len(rows)

        def loss(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(shape)
            score = given @ weights.astype(np.float32)
            odds = score @ seen.T + base
            top = odds.max(axis=1, keepdims=True)
            chance = np.exp(odds - top)
            total = chance.sum(axis=1, keepdims=True)
            likelihood = float((np.log(total) + top).sum() - (target * weights).sum())
            slope = given.T @ ((chance @ seen) / total) - target
            return scale * (likelihood + _RIDGE * float((weights**2).sum())), (
                scale * (slope + 2 * _RIDGE * weights)
            ).ravel()

        return loss

    def _pull(self, number: int, part: Part, rows: Codes) -> Singles:
        """Return how the model moves the log-odds of each value for some records, apart from what it does to their whole group."""
        assert part.weights is not None  # noqa: S101  (set by the fit)
        score = self._others(number, np.arange(self.records)) @ part.weights.astype(np.float32)
        mean = np.column_stack([np.bincount(self.group, one) for one in score.T]) / self.group_size[:, None]
        return (score[rows] - mean[self.group[rows]].astype(np.float32)) @ part.features.T

    # --- draws ---------------------------------------------------------------------------------------------------

    def _draw(self, number: int, part: Part) -> None:
        if part.counted:
            if part.modelled:
                self._exchange(number, part, self._pull(number, part, part.open), 2 * _SWAPS)
            else:
                self.codes[number] = part.dealt(self.group, self.rng)
            return
        inside = part.inside[part.which[part.open]]
        odds = np.log(part.share[part.which[part.open]] + 1e-12)
        if part.modelled:
            odds = odds + self._pull(number, part, part.open)
        odds = np.where(inside, odds, -np.inf)
        chances = np.exp(odds - odds.max(axis=1, keepdims=True))
        chances = np.maximum(chances, np.float32(1e-6) * inside)
        if not part.covers:
            self.codes[number][part.open] = _pick(chances, self.rng)
            return
        self._redraw(number, part, chances)
        self._exchange(number, part, np.log(np.maximum(chances, 1e-30)))

    def _redraw(self, number: int, part: Part, chances: Singles) -> None:
        """Draw one record of each group after the other; the only one with a value keeps it."""
        codes, values = self.codes[number], part.inside.shape[1]
        borne = np.bincount(self.group * values + codes, minlength=len(self.group_size) * values)
        free = np.asarray([cell.form == "any" for cell in part.column.cells], np.bool_)[part.which]
        for places in _turns(self.group[part.open], self.rng):
            records = part.open[places]
            may = (borne[self.group[records] * values + codes[records]] > 1) | free[records]
            records, row = records[may], places[may]
            drawn = _pick(chances[row], self.rng)
            np.subtract.at(borne, self.group[records] * values + codes[records], 1)
            np.add.at(borne, self.group[records] * values + drawn, 1)
            codes[records] = drawn

    def _exchange(self, number: int, part: Part, odds: Singles, times: int = _SWAPS) -> None:
        """Let random pairs of records of a group exchange their values (Metropolis)."""
        codes = self.codes[number]
        for _ in range(times):
            order = np.lexsort((self.rng.random(part.open.size), self.group[part.open]))
            group = self.group[part.open[order]]
            start = np.r_[True, group[1:] != group[:-1]]
            place = np.arange(len(order)) - np.maximum.accumulate(np.where(start, np.arange(len(order)), 0))
            pairs = np.flatnonzero((group[:-1] == group[1:]) & (place[:-1] % 2 == 0))
            one, two = order[pairs], order[pairs + 1]
            own, other = codes[part.open[one]], codes[part.open[two]]
            gain = odds[one, other] + odds[two, own] - odds[one, own] - odds[two, other]
            taken = np.log(self.rng.random(len(pairs)) + 1e-12) < gain
            codes[part.open[one[taken]]], codes[part.open[two[taken]]] = other[taken], own[taken]

    def _cover(self, number: int, part: Part) -> None:
        """Give each member of a set that nobody of its group has to a record whose value others have too."""
        codes, values = self.codes[number], part.inside.shape[1]
        order = np.lexsort((self.rng.random(part.open.size), self.group[part.open]))
        ordered = part.open[order]
        edges = np.flatnonzero(np.r_[True, np.diff(self.group[ordered]) != 0, True])
        for first, last in pairwise(edges):
            records = ordered[first:last]
            cell = part.which[records[0]]
            if part.column.cells[cell].form == "any":
                continue
            counts = np.bincount(codes[records], minlength=values)
            for value in np.flatnonzero(part.inside[cell] & (counts == 0)):
                spare = np.flatnonzero(counts[codes[records]] > 1)
                if not spare.size:
                    break
                record = records[spare[0]]
                counts[codes[record]] -= 1
                counts[value] += 1
                codes[record] = value


def _loss_of_groups(part: Part, given: Singles, share: Singles, shape: tuple[int, ...]) -> Any:
    """Return the loss of a model if the values of each group are known: each record has one of them, in the shares of its group."""
    seen, base, scale = part.features, np.log(part.often + 1e-6).astype(np.float32), 1 / len(given)

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(shape)
        odds = (given @ weights.astype(np.float32)) @ seen.T + base
        chance = np.exp(odds - odds.max(axis=1, keepdims=True))
        total = chance.sum(axis=1, keepdims=True)
        inside = chance * share
        own = np.maximum(inside.sum(axis=1, keepdims=True), 1e-30)
        slope = given.T @ ((chance / total - inside / own) @ seen) + 2 * _RIDGE * weights
        value = float(np.log(total / own).sum()) + _RIDGE * float((weights**2).sum())
        return scale * value, (scale * slope).ravel()

    return loss


def _pick(chances: Singles, rng: np.random.Generator) -> Codes:
    """Return one column of each row, drawn by the weights in it."""
    reached = np.cumsum(chances, axis=1)
    return np.asarray((reached > (rng.random(len(chances)) * reached[:, -1])[:, None]).argmax(axis=1), np.intp)


def _turns(group: Codes, rng: np.random.Generator) -> list[Codes]:
    """Return places in turns: each turn has at most one record of each group, in random order."""
    order = np.lexsort((rng.random(len(group)), group))
    start = np.r_[True, group[order][1:] != group[order][:-1]]
    turn = np.arange(len(order)) - np.maximum.accumulate(np.where(start, np.arange(len(order)), 0))
    by_turn = np.argsort(turn, kind="stable")
    return list(np.split(order[by_turn], np.flatnonzero(np.diff(turn[by_turn])) + 1))


def _groups(release: Release) -> Codes:
    """Return the number of each record's group: the records with the same cells."""
    group = np.zeros(release.records, np.intp)
    for column in release.coarsened.values():
        _, group = np.unique(group * len(column.cells) + column.which, return_inverse=True)
    return group.reshape(-1)


def _kept_features(release: Release) -> Singles:
    """Return the kept columns as numbers: standardized, on a logarithmic scale if skewed, or one for each value."""
    features: list[Floats] = [np.ones(release.records)]
    for values in release.kept.values():
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            features.extend(_number_features(np.asarray(values.to_numpy(np.float64, na_value=np.nan), np.float64)))
        elif pd.api.types.is_datetime64_any_dtype(values):
            days = pd.to_datetime(values, utc=True).dt.tz_localize(None) - pd.Timestamp(0)
            features.extend(_number_features(np.asarray(days / pd.Timedelta(days=1), np.float64)))
        else:
            codes, distinct = pd.factorize(values.astype(str))
            often = np.argsort(-np.bincount(codes, minlength=len(distinct)), kind="stable")
            if len(distinct) <= release.records / 4:  # else a name or a number of a case
                features.extend((codes == one).astype(np.float64) for one in often[1:_MOST_LEVELS])
    return np.column_stack(features).astype(np.float32)


def _is_skewed(values: Floats, median: float) -> bool:
    """Return whether numbers are better looked at on a logarithmic scale."""
    return bool(values.min() >= 0 and values.max() > 20 * (median + 1e-9))


def _number_features(values: Floats) -> list[Floats]:
    known = values[np.isfinite(values)]
    if not known.size or known.min() == known.max():
        return []
    if _is_skewed(known, float(np.median(known))):
        values, known = np.log1p(values), np.log1p(known)
    z = np.clip((values - known.mean()) / known.std(), -_REACH, _REACH)
    gone = ~np.isfinite(z)
    return [np.where(gone, 0.0, z), *([gone.astype(np.float64)] if gone.any() else [])]


def _typed(values: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """Return the texts of values in the type of the original column."""
    if kind in {"integer", "number"}:
        return pd.to_numeric(pd.Series(values)).to_numpy()
    if kind == "boolean":
        return np.array([str(value).lower() == "true" for value in values])
    if kind in {"date", "datetime"}:
        return pd.to_datetime(pd.Series(values), format="ISO8601").to_numpy()
    return values
