"""The original table and its release as the reader sees them, with categories in one order so that estimates can be compared."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.publication import make_dictionary
from shoal.results.columns import columns_to_write, declared_of

if TYPE_CHECKING:
    import pandas as pd

    from shoal.results.result import Result
    from shoal_reader import Release


def released_table(result: Result[Any]) -> Release:
    """Return the release as recipients read it."""
    from shoal_reader.dictionary import read_dictionary  # noqa: PLC0415  (an extra)
    from shoal_reader.reading import make_release  # noqa: PLC0415

    columns = columns_to_write(result, Path("release.parquet"))
    told = make_dictionary(columns, declared_of(result, "table"), Path("release.parquet"))
    plain = result.released.to_pandas()
    kept = {name: columns.column(name).to_pandas() for name in columns.column_names if name not in result.changed}
    return make_release(plain.assign(**kept), read_dictionary(told))


def original_frame(result: Result[Any], release: Release) -> pd.DataFrame:
    """Return the released columns of all records of the original table, typed as the reader types completed ones."""
    import pandas as pd  # noqa: PLC0415  (an extra)

    frame: dict[str, Any] = {}
    codes = dict(zip((column.name for column in result.coded.columns), result.coded.codes, strict=True))
    coded = {column.name: column for column in result.coded.columns}
    for name in release.names:
        if name in coded and not release.column(name).measured:
            texts = np.array([*coded[name].texts[: len(coded[name].values)], None], object)
            frame[name] = pd.Series(texts[np.minimum(codes[name], len(texts) - 1)], dtype=object)
        else:
            frame[name] = _pandas(result.source.typed(name).to_pandas())
    return pd.DataFrame(frame)


def _pandas(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return dates of Python as moments of pandas, as the reader has them."""
    import datetime as dt  # noqa: PLC0415

    import pandas as pd  # noqa: PLC0415  (an extra)

    known = values.dropna()
    return pd.to_datetime(values) if len(known) and isinstance(known.iloc[0], dt.date) else values


def exact_release(table: pd.DataFrame, orders: dict[str, list[str]]) -> Release:
    """Return a table without cells as the reader sees it, its categories in the given orders."""
    import pandas as pd  # noqa: PLC0415  (an extra)

    from shoal_reader.release import Release  # noqa: PLC0415

    kept = {}
    for name in table:
        values = table[name]
        if str(name) in orders:
            values = values.astype(str).str.lower() if values.dtype == bool else values
            values = pd.Series(pd.Categorical(values, categories=pd.Index(np.array(orders[str(name)], object))))
        kept[str(name)] = values
    return Release(tuple(kept), {}, kept, None, len(table))


def orders_of(release: Release, original: pd.DataFrame) -> dict[str, list[str]]:
    """Return for each column of categories the values that the original table has, in the order of the release."""
    orders = {}
    for name in release.names:
        column = release.column(name)
        if not column.measured and (name in release.coarsened or column.told.kind != "boolean"):
            seen = set(original[name].dropna().astype(str))
            orders[name] = [*(one for one in column.values if one in seen), *sorted(seen.difference(column.values))]
    return orders


def aligned(release: Release, orders: dict[str, list[str]]) -> Release:
    """Return a release whose categories are those of the original table, in their order."""
    columns = {}
    for name, column in release.coarsened.items():
        if name not in orders:
            columns[name] = column
            continue
        place = {value: code for code, value in enumerate(column.values)}
        members = np.zeros((len(column.cells), len(orders[name])), np.bool_)
        for code, value in enumerate(orders[name]):
            if value in place:
                members[:, code] = column.members[:, place[value]]
        whole = np.array([cell.form == "any" for cell in column.cells], np.bool_)
        members[whole | ~(members.any(axis=1) | column.missing)] = True
        columns[name] = replace(column, values=tuple(orders[name]), members=members)
    kept = exact_release(_frame(release.kept), {name: order for name, order in orders.items() if name in release.kept})
    return replace(release, coarsened=columns, kept=kept.kept)


def middle_release(release: Release, orders: dict[str, list[str]]) -> Release:
    """Return what people do without help: the middle of each range, the first value of each set or node."""
    table = release.midpoints()
    for name, column in release.coarsened.items():
        if not column.measured:
            first = np.array([*column.values, None], object)[
                np.where(column.missing, len(column.values), column.members.argmax(axis=1))
            ]
            table[name] = first[column.which]
    return exact_release(table, orders)


def completed_releases(release: Release, orders: dict[str, list[str]], m: int, seed: int) -> list[Release]:
    """Return completed tables as the reader sees them."""
    with warnings.catch_warnings(action="ignore"):
        return [exact_release(table, orders) for table in release.complete(m, seed)]


def _frame(columns: Any) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415  (an extra)

    return pd.DataFrame(dict(columns))
