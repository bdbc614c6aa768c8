"""The public list of checks: each takes a way to run a method and raises AssertionError if it misbehaves."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.api import anonymize
from shoal.cells.parse import Cell, parse_column
from shoal.errors import ParameterError, ShoalError
from shoal.hierarchy import Hierarchy
from shoal.methods import make_method
from shoal.methods.base import Method
from shoal.results.result import Result

Run = Callable[..., Result]
"""Called with a table, k and quasi-identifiers (and further parameters); returns the result."""


def _require(condition: object, message: str) -> None:
    """Raise AssertionError if a promise is broken; unlike ``assert`` it also works with ``python -O``."""
    if not condition:
        raise AssertionError(message)


def _table(records: int = 60, seed: int = 1) -> pa.Table:
    """Return a small mixed table: two numbers, a date, two texts, a column to pass through."""
    random = np.random.default_rng(seed)
    day = np.datetime64("2020-01-01") + random.integers(0, 400, records).astype("timedelta64[D]")
    return pa.table(
        {
            "age": random.integers(18, 80, records),
            "weight": np.round(random.normal(75, 12, records), 1),
            "born": pa.array(day.astype("datetime64[D]").astype(object), pa.date32()),
            "job": random.choice(["nurse", "baker", "smith", "clerk"], records),
            "town": random.choice(["Ulm", "Bonn", "Kiel"], records),
            "secret": random.choice(["a", "b", "c"], records),
            "row": np.arange(records),
        }
    )


_NAMES = ["age", "weight", "born", "job", "town"]
_TREES: dict[str, Any] = {
    "job": Hierarchy.from_dict({"*": {"care": ["nurse"], "craft": ["baker", "smith"], "office": ["clerk"]}}),
    "town": "flat",
}


def check_groups_have_k_records(run: Run) -> None:
    """Every group and every released combination occurs at least k times."""
    for k in (2, 5, 13):
        result = run(_table(), k=k, quasi_identifiers=_NAMES)
        sizes = np.bincount(result.groups[result.groups >= 0])
        _require(sizes.min() >= k, f"a group of {sizes.min()}, but k is {k}")
        _require(result.audit.k >= k, f"the released rows have k = {result.audit.k}, wanted {k}")


def check_labels_have_no_gaps(run: Run) -> None:
    """Groups are numbered from 0 without gaps, one label a record."""
    table = _table()
    labels = run(table, k=3, quasi_identifiers=_NAMES).groups
    _require(labels.dtype == np.int32 and labels.shape == (table.num_rows,), "labels must be int32, one a record")
    used = np.unique(labels[labels >= 0])
    _require(np.array_equal(used, np.arange(len(used))), "labels have gaps")


def _covers(cell: Cell, text: str | None, tree: Any) -> bool:
    if cell.form == "any" or text is None or cell.form == "missing":
        return cell.form == "any" or (text is None and cell.form == "missing")
    if cell.form == "range":
        low, high = cell.values
        return _as_number(low) <= _as_number(text) <= _as_number(high)
    if cell.form == "set" or not isinstance(tree, Hierarchy):
        return text in cell.values
    return text in tree.leaves_below(cell.values[0])


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float(dt.date.fromisoformat(text).toordinal())


def check_released_values_cover_the_original(run: Run) -> None:
    """Every released range, node or set contains the value it stands for."""
    table = _table()
    result = run(table, k=4, quasi_identifiers=_NAMES, hierarchies=_TREES, release="ranges")
    kept = np.flatnonzero(result.groups >= 0)
    for row, column in enumerate(result.coded.columns):
        forms, cells = parse_column(result.released.column(column.name))
        texts = [*column.texts, None]
        for place, record in enumerate(kept):
            text = texts[result.coded.codes[row, record]]
            _require(
                _covers(cells[forms[place]], text, column.hierarchy),
                f"a released value of {column.name} misses its own",
            )


def check_other_columns_are_untouched(run: Run) -> None:
    """Sensitive and kept columns pass unchanged, in input order; identifiers are gone."""
    table = _table().append_column("name", pa.array([f"n{i}" for i in range(60)]))
    result = run(table, k=3, quasi_identifiers=_NAMES, sensitive=["secret"], keep=["row"], identifiers=["name"])
    kept = np.flatnonzero(result.groups >= 0)
    _require("name" not in result.released.column_names, "an identifier was released")
    for name in ("secret", "row"):
        expected = table.column(name).take(pa.array(kept)).to_pylist()
        _require(result.released.column(name).to_pylist() == expected, f"the column {name} was changed")


def check_same_seed_same_release(run: Run) -> None:
    """The same table, recipe and seed give the same groups."""
    first, second = (run(_table(), k=4, quasi_identifiers=_NAMES, seed=7).groups for _ in range(2))
    _require(np.array_equal(first, second), "two runs with one seed differ")


def check_one_and_two_threads_agree(run: Run) -> None:
    """The number of threads does not change the groups."""
    import numba  # noqa: PLC0415

    before = numba.get_num_threads()
    labels = []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            labels.append(run(_table(200), k=5, quasi_identifiers=_NAMES, seed=3).groups)
    finally:
        numba.set_num_threads(before)
    _require(np.array_equal(labels[0], labels[1]), "one and two threads differ")


def check_every_kind_of_table(run: Run) -> None:
    """Pandas, polars and pyarrow tables give the same release, each as the kind that came."""
    table = _table()
    expected = run(table, k=4, quasi_identifiers=_NAMES)
    for kind in _other_kinds(table):
        result = run(kind, k=4, quasi_identifiers=_NAMES)
        _require(type(result.data) is type(kind), f"a {type(kind)} came back as {type(result.data)}")
        _require(np.array_equal(result.groups, expected.groups), f"a {type(kind)} was grouped differently")


def _other_kinds(table: pa.Table) -> list[Any]:
    kinds: list[Any] = []
    try:
        import pandas as pd  # noqa: PLC0415

        shuffled_index = table.to_pandas()
        shuffled_index.index = pd.Index([9] * table.num_rows)  # a doubled index must not matter
        kinds.append(shuffled_index)
    except ImportError:
        pass
    try:
        import polars as pl  # noqa: PLC0415

        kinds.append(pl.from_arrow(table))
    except ImportError:
        pass
    return kinds


def check_duplicate_records(run: Run) -> None:
    """A table of equal records is released as it is."""
    table = pa.table({"age": [40] * 12, "job": ["nurse"] * 12})
    result = run(table, k=5, quasi_identifiers=["age", "job"])
    _require(result.metrics["ncp"] == 0, "equal records lost information")


def check_constant_column(run: Run) -> None:
    """A column with one value is released as it is."""
    table = pa.table({"age": list(range(20)), "one": [1] * 20, "same": ["x"] * 20})
    released = run(table, k=4, quasi_identifiers=["age", "one", "same"]).released
    _require(set(map(str, released.column("one").to_pylist())) == {"1"}, "a constant number was changed")
    _require(set(released.column("same").to_pylist()) == {"x"}, "a constant text was changed")


def check_one_column(run: Run) -> None:
    """One quasi-identifier is enough."""
    _require(run(_table(), k=5, quasi_identifiers=["age"]).audit.k >= 5, "one column is not 5-anonymous")
    _require(run(_table(), k=5, quasi_identifiers=["job"]).audit.k >= 5, "one text column is not 5-anonymous")


def check_k_equal_to_n(run: Run) -> None:
    """With k = n all records form one group."""
    result = run(_table(12), k=12, quasi_identifiers=_NAMES)
    _require(set(result.groups.tolist()) == {0}, "k = n needs one group of all records")


def _refused(run: Run, table: pa.Table, k: int) -> bool:
    try:
        run(table, k=k, quasi_identifiers=["age"])
    except ShoalError as fault:
        return len(str(fault)) > 20
    return False


def check_k_above_n_is_refused(run: Run) -> None:
    """A table smaller than k is refused with a sentence."""
    _require(_refused(run, _table(4), 5), "a table smaller than k must be refused")


def check_empty_table_is_refused(run: Run) -> None:
    """A table without rows is refused with a sentence."""
    _require(_refused(run, _table().slice(0, 0), 2), "an empty table must be refused")


def check_one_row_is_refused(run: Run) -> None:
    """One record cannot hide."""
    _require(_refused(run, _table().slice(0, 1), 2), "a single record must be refused")


def check_missing_values(run: Run) -> None:
    """Missing values are a value of their own; no record is lost."""
    random = np.random.default_rng(5)
    table = _table(80)
    for name in _NAMES:
        holes = pa.array(random.random(80) < 0.2)
        column = table.column(name).combine_chunks()
        table = table.set_column(
            table.column_names.index(name),
            name,
            pa.array(
                [None if hole else value for hole, value in zip(holes.to_pylist(), column.to_pylist(), strict=True)],
                column.type,
            ),
        )
    result = run(table, k=4, quasi_identifiers=_NAMES, hierarchies=_TREES)
    _require(result.released.num_rows + result.suppressed == 80, "records were lost")
    _require(result.audit.k >= 4, "with missing values the release is not 4-anonymous")


def check_unicode(run: Run) -> None:
    """Any text may occur in a column, also the signs the released forms use."""
    words = ["Zoë", "李", "a, b", "{x}", "[1-2]", "*", '"', "née\u200d", "", " x "]
    table = pa.table({"wört": words * 3, "age": list(range(30))})
    result = run(table, k=3, quasi_identifiers=["wört", "age"])
    _require(result.audit.k >= 3, "a table with unusual text is not 3-anonymous")


def check_weights_of_zero(run: Run) -> None:
    """A column that does not count may still be released, and k holds."""
    result = run(_table(), k=4, quasi_identifiers=_NAMES, weights={"age": 0, "weight": 8})
    _require(result.audit.k >= 4, "with weights the release is not 4-anonymous")


CHECKS: tuple[Callable[[Run], None], ...] = (
    check_groups_have_k_records,
    check_labels_have_no_gaps,
    check_released_values_cover_the_original,
    check_other_columns_are_untouched,
    check_same_seed_same_release,
    check_one_and_two_threads_agree,
    check_every_kind_of_table,
    check_duplicate_records,
    check_constant_column,
    check_one_column,
    check_k_equal_to_n,
    check_k_above_n_is_refused,
    check_empty_table_is_refused,
    check_one_row_is_refused,
    check_missing_values,
    check_unicode,
    check_weights_of_zero,
)


def check_method(method: str | Method, *, skip: Sequence[str] = (), **parameters: Any) -> None:
    """Hold a method to every promise in ``CHECKS``; the first broken one raises AssertionError.

    ``skip`` names checks that do not apply (a reason belongs next to it); ``parameters`` are given to every run.

    Examples
    --------
    >>> import shoal
    >>> shoal.testing.check_method("mondrian")
    """
    needs_trees = make_method(method).info.needs_hierarchies  # a wrong name is refused before the first check

    def run(table: Any, **given: Any) -> Result:
        import warnings  # noqa: PLC0415

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if needs_trees:
                flat = dict.fromkeys(given["quasi_identifiers"], "flat")
                given = given | {"hierarchies": flat | given.get("hierarchies", {})}
            return anonymize(table, method=method, **(parameters | given))

    unknown = set(skip) - {check.__name__ for check in CHECKS}
    if unknown:
        raise ParameterError(f"The 'skip' parameter of check_method names unknown checks: {sorted(unknown)}.")
    for check in CHECKS:
        if check.__name__ not in skip:
            check(run)
