"""A release as an analyst uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from shoal_reader import statistics
from shoal_reader.cells import Cell, write
from shoal_reader.columns import Column, categorical, exact_column
from shoal_reader.design import Design, expected
from shoal_reader.dictionary import Dictionary
from shoal_reader.errors import ReleaseError
from shoal_reader.pooling import pool
from shoal_reader.shaping import shape


@dataclass(frozen=True)
class Release:
    """A released table and what its cells stand for. Made by ``read``; nothing in it can be changed."""

    names: tuple[str, ...]
    coarsened: Mapping[str, Column] = field(repr=False)
    """The quasi-identifiers, as cells."""
    kept: Mapping[str, pd.Series[Any]] = field(repr=False)
    """All other columns, in their own types."""
    dictionary: Dictionary | None
    records: int

    def __repr__(self) -> str:
        told = "with its dictionary" if self.dictionary else "without a dictionary"
        return (
            f"<Release: {self.records:,} records, {len(self.coarsened)} of {len(self.names)} columns coarsened, {told}>"
        )

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """What cannot be known about the columns, one sentence each."""
        notes = [note for column in self.coarsened.values() for note in column.notes]
        if self.dictionary is None:
            notes.append("Columns without a coarsened cell are taken to be released as they were.")
            notes.append("The privacy models, the method and the value labels are unknown.")
        return tuple(notes)

    def column(self, name: str) -> Column:
        """Return a column as its distinct cells and what they stand for."""
        if name in self.coarsened:
            return self.coarsened[name]
        if name in self.kept:
            if name not in self._exact:
                told = self.dictionary.fields.get(name) if self.dictionary else None
                self._exact[name] = exact_column(name, self.kept[name], told)
            return self._exact[name]
        raise ReleaseError(f"The release has no column {name!r}. Its columns are: {', '.join(self.names)}.")

    @cached_property
    def _exact(self) -> dict[str, Column]:
        return {}

    def cells(self, name: str) -> list[Cell]:
        """Return the parsed cell of each record of a coarsened column."""
        column = self._coarsened(name)
        return [column.cells[code] for code in column.which]

    def text(self) -> pd.DataFrame:
        """Return the table with its cells as they were released."""
        parts = {}
        for name in self.names:
            if name in self.coarsened:
                column = self.coarsened[name]
                parts[name] = pd.Series(
                    np.array([write(cell) for cell in column.cells], object)[column.which], dtype=object
                )
            else:
                parts[name] = self.kept[name]
        return pd.DataFrame(parts)

    # --- typed tables --------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> pd.DataFrame:
        """The release with types: intervals for ranges, ordered categories for nodes, tuples for sets, dates as dates.

        A coarsened column in which every cell is exact has plain values.
        """
        return pd.DataFrame(
            {name: self.coarsened[name].typed() if name in self.coarsened else self.kept[name] for name in self.names}
        )

    def bounds(self, name: str) -> pd.DataFrame:
        """Return the lowest and the highest value that each record can have in a column of numbers or dates."""
        column = self._measured(name)
        return pd.DataFrame({"low": column.series(column.low), "high": column.series(column.high)})

    def midpoints(self) -> pd.DataFrame:
        """Return the table with the middle of each range of numbers or dates; other columns are as in ``table``.

        The middle of a wide range is far from most values in it. ``expected`` and ``complete`` take the width into account.
        """
        return pd.DataFrame(
            {
                name: column.series(column.midpoints)
                if (column := self.coarsened.get(name)) and column.measured
                else self.table[name]
                for name in self.names
            }
        )

    def shares(self, name: str) -> pd.DataFrame:
        """Return the chance of each value for each record of a column of categories, all values of a cell alike."""
        column = self.column(name)
        if column.measured:
            raise ReleaseError(f"The column {name!r} holds numbers or dates. Ask for its bounds or midpoints.")
        return pd.DataFrame(column.shares[column.which], columns=list(column.values))

    def level(self, name: str, level: int | None = None) -> pd.DataFrame | pd.Series[Any]:
        """Return the labels of a column with a tree, ``level`` steps below the root, or all levels as one table.

        A record whose cell is coarser than the level has no label there.
        """
        column = self._coarsened(name)
        if column.tree is None:
            raise ReleaseError(
                f"The column {name!r} has no tree. The dictionary of a release carries trees; shares() needs none."
            )
        if level is not None:
            return self._level(column, level)
        return pd.DataFrame({f"{name}_{step}": self._level(column, step) for step in range(1, column.tree.depth + 1)})

    def _level(self, column: Column, level: int) -> pd.Series[Any]:
        tree = column.tree
        assert tree is not None  # noqa: S101  (asked before)
        if not 0 <= level <= tree.depth:
            raise ReleaseError(f"The tree of {column.name!r} has levels 0 to {tree.depth}. Got {level}.")
        labels = [
            tree.at(label, level) if label is not None and label in tree.paths else None
            for label in column._labels  # noqa: SLF001
        ]
        order = list(dict.fromkeys(one for label in tree.paths if (one := tree.at(label, level)) is not None))
        place = {label: code for code, label in enumerate(order)}
        codes = np.array([-1 if label is None else place[label] for label in labels], np.intp)
        return pd.Series(categorical(codes[column.which], order, ordered=True), name=column.name)

    def dummies(self, *names: str, drop_first: bool = False) -> pd.DataFrame:
        """Return the columns as numbers for a model: shares of each value, ``job[courier]``, and midpoints of ranges.

        Without names, all coarsened columns.
        """
        parts = []
        for name in names or tuple(self.coarsened):
            column = self.column(name)
            if column.measured:
                parts.append(pd.DataFrame({name: self._numbers(column)}))
            else:
                shares = self.shares(name).iloc[:, int(drop_first) :]
                parts.append(shares.set_axis([f"{name}[{value}]" for value in shares.columns], axis=1))
        return pd.concat(parts, axis=1)

    def _numbers(self, column: Column) -> pd.Series[Any]:
        middle = np.where(column.missing, np.nan, column.midpoints)
        return pd.Series(middle[column.which], name=column.name)

    def columns(self) -> pd.DataFrame:
        """Return the release in plain columns: ``age_low``, ``age_high``, ``age_mid``, ``job_courier``, ``zip_1``.

        Ends and middles of ranges, the share of each value of a set, and one column for each level of a tree: for programs that know no
        cells, such as R, Stata, SPSS and Excel.
        """
        return pd.DataFrame({one.name: one.values for one in shape(self, "columns")})

    # --- statistics ----------------------------------------------------------------------------------------------

    def mean(self, name: str, *, by: str | None = None, bounds: bool = False) -> Any:
        """Return the mean of a column of numbers, for each value of ``by`` if given.

        Records that may belong to several groups count with their shares. With ``bounds``, also the lowest and the highest mean that
        any table inside the cells can have.
        """
        return statistics.mean(self._measured(name), self.column(by) if by else None, bounds=bounds)

    def quantile(self, name: str, q: float = 0.5, *, by: str | None = None, bounds: bool = False) -> Any:
        """Return a quantile of a column of numbers or dates (the median by default); see ``mean``."""
        if not 0 <= q <= 1:
            raise ReleaseError(f"A quantile is between 0 and 1. Got {q}.")
        return statistics.quantile(self._measured(name), q, self.column(by) if by else None, bounds=bounds)

    def crosstab(self, row: str, column: str, *, bounds: bool = False) -> pd.DataFrame:
        """Return how many records are expected in each combination of two columns of categories.

        With ``bounds``, one row for each combination with the expected, the certain and the possible number.
        """
        parts = self.column(row), self.column(column)
        for part in parts:
            if part.measured and part.coarsened:
                raise ReleaseError(f"The column {part.name!r} holds ranges of numbers. A cross table needs categories.")
        return statistics.crosstab(*parts, bounds=bounds)

    def expected(self, formula: str) -> Design:
        """Return outcome and design matrix of a formula, each regressor averaged over what the cell allows.

        A regression on averaged regressors is nearly unbiased if the outcome was kept exact and the values inside a cell do not depend on
        it; a regression on midpoints is not. Terms: ``a + b``, ``a:b``, ``a*b``, ``C(a)``, ``I(a**2)``, ``log(a)``, ``-1``;
        other names in backticks.
        """
        return expected(formula, self.column)

    # --- completions ---------------------------------------------------------------------------------------------

    def complete(self, m: int = 20, seed: int | None = None) -> list[pd.DataFrame]:
        """Return ``m`` plausible tables inside the cells, to analyse one by one and pool.

        They are drawn from a model of the release, not from people: no record of them says anything about the person behind
        it beyond the cell. Every value is in its cell, and every member of a set occurs in its group.
        """
        from shoal_reader.completing import complete  # noqa: PLC0415  (needs scipy)

        return complete(self, m, seed)

    def pool(self, fits: Iterable[Any], *, most_missing: float = 0.2) -> pd.DataFrame:
        """Combine the results of one analysis on each completed table by Rubin's rules; see ``pool``."""
        return pool(fits, most_missing=most_missing)

    # --- refusals ------------------------------------------------------------------------------------------------

    def _coarsened(self, name: str) -> Column:
        self.column(name)
        if name not in self.coarsened:
            raise ReleaseError(
                f"The column {name!r} is not coarsened. Coarsened columns are: {', '.join(self.coarsened)}."
            )
        return self.coarsened[name]

    def _measured(self, name: str) -> Column:
        column = self.column(name)
        if not column.measured:
            raise ReleaseError(f"The column {name!r} holds categories, not numbers or dates. Ask for its shares.")
        if column.told.form == "representatives":
            raise ReleaseError(f"The column {name!r} was released as typical values, which have no bounds.")
        return column
