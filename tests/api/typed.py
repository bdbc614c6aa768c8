"""What a type checker sees of the library; ``make lint`` checks this file, nothing runs it."""

from __future__ import annotations

from typing import assert_type

import pandas as pd
import polars as pl

import shoal


def what_came_in_comes_out(frame: pd.DataFrame, table: pl.DataFrame) -> None:
    """The release of a pandas table is a pandas table."""
    assert_type(shoal.anonymize(frame, k=5, quasi_identifiers=["age"]).data, pd.DataFrame)
    assert_type(shoal.anonymize(table, k=5, quasi_identifiers=["age"]).data, pl.DataFrame)
    assert_type(shoal.anonymize(frame, k=5, quasi_identifiers=["age"]).with_originals().data, pd.DataFrame)
    assert_type(shoal.Anonymizer(k=5, quasi_identifiers=["age"]).fit_transform(frame), pd.DataFrame)


def misspelt_and_wrong_parameters_are_seen(frame: pd.DataFrame) -> None:
    """Each call is wrong; an ignored error that is none is an error."""
    shoal.anonymize(frame, kk="x", k=5, quasi_identifiers=["age"])  # type: ignore[call-arg]
    shoal.anonymize(frame, k="5", quasi_identifiers=["age"])  # type: ignore[arg-type]
    shoal.anonymize(frame, k=5)  # type: ignore[call-arg]
    shoal.compare(frame, quasi_identifiers=["age"], methode="mondrian")  # type: ignore[call-arg]
    shoal.audit(frame, quasi_identifiers=["age"], sensitive=3)  # type: ignore[arg-type]
