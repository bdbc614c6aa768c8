"""Small releases for the tests of the reader, as they are published."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd

import shoal
import shoal_reader
from shoal.publication import make_dictionary
from shoal.results.columns import columns_to_write, declared_of


def descriptor(result) -> dict:
    """Return the dictionary of a release as Parquet holds it."""
    columns = columns_to_write(result, Path("release.parquet"))
    return make_dictionary(columns, declared_of(result, "table"), Path("release.parquet"))


def released(original: pd.DataFrame, folder: Path | None = None, **parameters):
    """Release a table of pandas, and read the release: from a file in ``folder``, or as it is in memory."""
    parameters = {"k": 2, "method": "mondrian", "ends": "exact"} | parameters
    keep = [name for name in original if name not in parameters["quasi_identifiers"]]
    result = shoal.anonymize(original, keep=keep, **parameters)
    if folder is None:
        return result, shoal_reader.read(result.released.to_pandas(), descriptor(result))
    with warnings.catch_warnings(action="ignore"):  # the order of the input is kept, to compare
        result.save(folder / "release.csv", shuffle=False)
    return result, shoal_reader.read(folder / "release.csv")
