"""How useful a release still is for predicting a class.

``class_metric`` looks at groups alone; ``classification_error`` trains a model, as Wang, Yu & Chakraborty (2004),
section 6.1, do.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import AnyArray, FloatArray, IntArray
from shoal.encoding import is_ordered, positions, value_texts
from shoal.errors import ColumnError, DataError
from shoal.frames import Frame, encode_dictionary, require, to_frame
from shoal.notation import AS_IS
from shoal.validation import check_choice, check_columns, check_int

if TYPE_CHECKING:
    from shoal.metrics.base import Outcome

Learner = Literal["tree", "boosting"]
"""The learners that are known by name; any object with ``fit`` and ``predict`` may take their place."""
FEWEST_IN_LEAF = 100


def class_metric(outcome: Outcome, column: str) -> float:
    """Return the share of records that are withheld or not of their group's most common class.

    CM of Iyengar (2002), in the words of Sarrafi Aghdam & Sonehara (2016), section 4.
    """
    attribute = outcome.table.attributes[column]
    kept = outcome.labels >= 0
    key = outcome.labels[kept].astype(np.int64) * attribute.cardinality + attribute.codes[kept]
    key.sort()  # runs of equal pairs are counted: a table of groups × values could have more cells than there is memory
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(begin, append=len(key))
    group = key[begin] // max(attribute.cardinality, 1)
    of_group = np.flatnonzero(np.diff(group, prepend=-1))
    most_common = int(np.maximum.reduceat(count, of_group).sum()) if len(count) else 0
    return 1.0 - most_common / max(outcome.table.records, 1)


def cm_by_column(outcome: Outcome) -> dict[str, float]:
    """Return the class metric of each sensitive or class column."""
    return {name: class_metric(outcome, name) for name in outcome.table.attributes}


class Release(Protocol):
    """What ``classification_error`` needs of a result."""

    @property
    def source(self) -> Frame:
        """The original table."""

    @property
    def released(self) -> pa.Table:
        """The released rows."""

    @property
    def groups(self) -> IntArray:
        """The group of each original row, -1 for a withheld one."""

    @property
    def recipe(self) -> Any:
        """The parameters; their quasi-identifiers are what a model may learn from."""

    def transform(self, new_rows: Any, *, unseen: Literal["refuse", "suppress"] = "refuse") -> Any:
        """Recode new records as the release was."""


@dataclass(frozen=True)
class ClassificationError:
    """Shares of records classified wrongly."""

    error: float
    """E: trained and tested on recoded records."""
    baseline: float
    """B: trained and tested on the original records."""
    worst: float
    """W: every quasi-identifier generalized to the root, so that everybody gets the most common class."""

    @property
    def lost(self) -> float:
        """What the recoding costs: E − B."""
        return self.error - self.baseline


def classification_error(
    result: Release, target: str, *, test: Any = None, learner: Learner | Any = "tree", folds: int = 5, seed: int = 0
) -> ClassificationError:
    """Train on a release and count the records it classifies wrongly.

    Parameters
    ----------
    result
        A result that kept the column ``target``.
    target
        The class column.
    test
        Records the release has not seen. They are recoded by ``result.transform``, so the release must be of a global
        method. Without them the released rows are split into ``folds`` and each is predicted from the others.
    learner
        ``"tree"``, a decision tree with at least 100 records a leaf, ``"boosting"``, gradient-boosted trees, or a classifier of your own
        that scikit-learn can clone.

    Examples
    --------
    >>> import shoal
    >>> patients = shoal.datasets.hospital(n=300, seed=1).patients.select(["birth_date", "sex", "diagnosis"])
    >>> known = ["birth_date", "sex"]
    >>> result = shoal.anonymize(patients, k=5, quasi_identifiers=known, sensitive=["diagnosis"], method="mondrian")
    >>> found = shoal.metrics.classification_error(result, "diagnosis")
    >>> 0 <= found.error <= 1
    True
    """
    if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        check_choice("classification_error", "learner", learner, ("tree", "boosting"))
    check_int("classification_error", "folds", folds, least=2)
    if target not in result.released.column_names:
        raise ColumnError(
            f"The class column {target!r} is not in the release.", hint="name it as sensitive or to keep."
        )
    names = list(result.recipe.quasi_identifiers)
    kept = np.flatnonzero(result.groups >= 0)
    released = Frame(result.released, notation=AS_IS)
    original = _take(result.source.settle(), kept)
    if test is None:
        return _by_folds(original, released, names, target, learner, folds, seed)
    fresh = replace(to_frame(test), notation=result.source.notation)
    check_columns("a quasi-identifier or class column", [*names, target], fresh.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether the test records hide among each other does not matter here
        recoded = to_frame(result.transform(fresh, unseen="suppress"))
    return _by_test(original, released, fresh, recoded, names, target, learner, seed)


def classification_curve(
    result: Any, target: str, *, k: Sequence[int], learner: Learner | Any = "tree", folds: int = 5, seed: int = 0
) -> list[tuple[int, ClassificationError]]:
    """Return the classification error of a release and of the earlier steps that led to it, on held-out folds.

    Parameters
    ----------
    result
        A result of a method that keeps its steps (``bug``), made for the largest k.
    target, learner, folds, seed
        As in ``classification_error``.
    k
        The sizes of the smallest group, none above that of ``result``.

    Examples
    --------
    >>> import shoal
    >>> register = shoal.datasets.hospital(n=300, seed=1)
    >>> patients = register.patients.select(["zip", "job", "diagnosis"])
    >>> bug = shoal.BottomUpGeneralization(target="diagnosis")
    >>> trees = {name: register.hierarchies[name] for name in ("zip", "job")}
    >>> result = shoal.anonymize(
    ...     patients, k=20, quasi_identifiers=["zip", "job"], sensitive=["diagnosis"], hierarchies=trees, method=bug
    ... )
    >>> curve = shoal.metrics.classification_curve(result, "diagnosis", k=[5, 20])
    >>> [(k, found.worst >= 0) for k, found in curve]
    [(5, True), (20, True)]
    """
    points = sorted(set(k))
    releases = [result if one == result.recipe.k else result.at(k=one) for one in points]
    return [
        (one, classification_error(release, target, learner=learner, folds=folds, seed=seed))
        for one, release in zip(points, releases, strict=True)
    ]


def _by_test(
    original: Frame,
    released: Frame,
    fresh: Frame,
    recoded: Frame,
    names: Sequence[str],
    target: str,
    learner: Learner | Any,
    seed: int,
) -> ClassificationError:
    known, truth = _classes(original, target), _classes(fresh, target)
    unknown = len(set(truth) - set(known))
    if unknown:
        raise DataError(
            f"The class column {target!r} has {unknown} classes in the test records that the release does not have.",
            hint="spell the classes alike in both tables.",
        )
    predicted = _predict(released, recoded, names, known, learner, seed)
    plain = _predict(original, fresh, names, known, learner, seed)
    return ClassificationError(
        error=float(np.mean(predicted != truth)),
        baseline=float(np.mean(plain != truth)),
        worst=float(np.mean(truth != _most_common(known))),
    )


def _by_folds(
    original: Frame, released: Frame, names: Sequence[str], target: str, learner: Learner | Any, folds: int, seed: int
) -> ClassificationError:
    truth = _classes(released, target)
    fold = np.random.default_rng(seed).permutation(len(truth)) % folds
    wrong = np.zeros((3, len(truth)), np.bool_)
    for one in range(folds):
        rest, part = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
        for row, frame in enumerate((released, original)):
            train, test = _take(frame, rest), _take(frame, part)
            wrong[row, part] = _predict(train, test, names, truth[rest], learner, seed) != truth[part]
        wrong[2, part] = truth[part] != _most_common(truth[rest])
    error, baseline, worst = wrong.mean(axis=1).tolist()
    return ClassificationError(error, baseline, worst)


def _take(frame: Frame, rows: AnyArray) -> Frame:
    return replace(frame, table=frame.table.take(pa.array(rows)), native=None)


def _classes(frame: Frame, target: str) -> AnyArray:
    encoded = encode_dictionary(frame.table.column(target))
    if encoded.indices.null_count:
        raise DataError(
            f"The class column {target!r} has no value in {encoded.indices.null_count} records.",
            hint="fill the class in, or leave those records out.",
        )
    texts = np.array(value_texts(encoded.dictionary).to_pylist(), str)
    return np.asarray(texts[np.asarray(encoded.indices)])


def _most_common(classes: AnyArray) -> Any:
    values, counts = np.unique(classes, return_counts=True)
    return values[np.argmax(counts)]


def _predict(
    train: Frame, test: Frame, names: Sequence[str], classes: AnyArray, learner: Learner | Any, seed: int
) -> AnyArray:
    values, codes = np.unique(classes, return_inverse=True)
    pairs = [_features(train, test, name, codes) for name in names]
    model = _model(learner, seed)
    model.fit(np.hstack([known for known, _ in pairs]), codes)
    predicted: AnyArray = values[model.predict(np.hstack([fresh for _, fresh in pairs]))]
    return predicted


def _model(learner: Learner | Any, seed: int) -> Any:
    if not isinstance(learner, str):
        return require("sklearn.base", "ml", "Classification error").clone(learner)
    if learner == "tree":
        tree = require("sklearn.tree", "ml", "Classification error")
        return tree.DecisionTreeClassifier(min_samples_leaf=FEWEST_IN_LEAF, random_state=seed)
    ensemble = require("sklearn.ensemble", "ml", "Classification error")
    return ensemble.HistGradientBoostingClassifier(random_state=seed)


def _features(train: Frame, test: Frame, name: str, classes: AnyArray) -> tuple[FloatArray, FloatArray]:
    """Return a column as features: numbers as they are, categories by the share of each class among them.

    A split of such shares divides the categories as well as any split can (Breiman et al. 1984, for two classes), also
    if a release has many narrow ranges. A category without training records has the shares of the whole table.
    """
    columns = [train.typed(name), test.typed(name)]
    if all(is_ordered(column.type) for column in columns):
        known, fresh = (positions(column)[:, None] for column in columns)
        return known, fresh
    coded = [encode_dictionary(column) for column in columns]
    values = {text: place for place, text in enumerate(value_texts(coded[0].dictionary).to_pylist())}
    places = [_places(one, values) for one in coded]
    shares = _class_shares(places[0], classes, len(values))
    return shares[places[0]], shares[places[1]]


def _places(encoded: pa.DictionaryArray, values: dict[str, int]) -> AnyArray:
    """Return the number of each record's category; missing and unknown ones have numbers of their own."""
    known = [values.get(text, len(values) + 1) for text in value_texts(encoded.dictionary).to_pylist()]
    indices = np.asarray(encoded.indices.fill_null(len(known)))
    return np.asarray(np.array([*known, len(values)], np.int64)[indices])


def _class_shares(places: AnyArray, classes: AnyArray, values: int) -> FloatArray:
    """Return the share of each class but the first in each category, with the whole table counted as one record."""
    kinds = int(classes.max()) + 1
    counts = np.bincount(places * kinds + classes, minlength=(values + 2) * kinds).reshape(values + 2, kinds)
    whole = np.bincount(classes, minlength=kinds) / len(classes)
    shares = (counts + whole) / (counts.sum(axis=1, keepdims=True) + 1)
    return np.asarray(shares[:, 1:] if kinds > 1 else shares, np.float64)
