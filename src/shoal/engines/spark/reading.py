"""A session of Spark and a table by its name, for the command line; programs have both already."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shoal.engines.spark.staging import is_local
from shoal.errors import DataError, FileError, ParameterError
from shoal.frames import require

_TEXT = {".csv": ",", ".tsv": "\t", ".txt": ","}
_BINARY = {".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}
_PACKED = {".gz", ".bz2", ".zst"}


class Opened(NamedTuple):
    """A table of Spark."""

    data: Any
    untyped: bool
    """It comes from a text file: all columns are text."""


@contextlib.contextmanager
def session(master: str | None) -> Iterator[Any]:
    """Yield a session of Spark: the one that runs, or a new one, which is stopped at the end.

    ``master`` is an address such as ``local[4]``, ``yarn``, ``spark://host:7077``, or ``sc://host`` of a server for Spark Connect; without it
    Spark's own settings decide.
    """
    require("pyspark", "spark", "Spark")
    from pyspark.sql import SparkSession  # noqa: PLC0415

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("shoal")
    quiet = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in quiet.items() if not str(master).startswith("sc://") else ():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    try:
        made = builder.getOrCreate()
    except Exception as fault:  # noqa: BLE001  (whatever Spark raises: no Java, no such host, a wrong address)
        raise ParameterError(
            f"Spark could not be started: {type(fault).__name__}.",
            hint="it needs Java 17, and an address such as --master local[4], yarn or spark://host:7077.",
        ) from None
    try:
        yield made
    finally:
        made.stop()


def open_table(
    spark: Any, place: str, *, separator: str | None, encoding: str | None, table: str | None, query: str | None
) -> Opened:
    """Open a folder or file of Parquet, ORC or CSV, or a table or query of Spark's own catalog, of which ``place`` is ``spark://``."""
    if place.startswith("spark://"):
        if separator or encoding:
            raise ParameterError(
                "Only text files have a separator or an encoding. Got a catalog.", hint="leave it out."
            )
        return Opened(_from_catalog(spark, table, query), untyped=False)
    if table or query:
        raise ParameterError(
            "The options --table and --query need a catalog. Got a file.", hint="name spark:// as the file."
        )
    ending = _ending(place)
    if ending in _BINARY and (separator or encoding):
        raise ParameterError(
            f"Only text files have a separator or an encoding, and {Path(place).name!r} is none.", hint="leave it out."
        )
    try:
        if ending in _BINARY:
            return Opened(spark.read.format(_BINARY[ending]).load(place), untyped=False)
        options = {"header": True, "sep": separator or _TEXT[ending], "quote": '"', "escape": '"', "multiLine": True}
        options |= {"encoding": encoding or "UTF-8", "mode": "FAILFAST"}
        return Opened(spark.read.options(**options).csv(place), untyped=True)
    except Exception as fault:  # noqa: BLE001  (Spark has many, and they name paths of the cluster)
        raise FileError(
            f"Spark cannot read {Path(place).name!r}: {type(fault).__name__}.", hint="check the address and its form."
        ) from None


def _from_catalog(spark: Any, table: str | None, query: str | None) -> Any:
    if (table is None) == (query is None):
        raise ParameterError("A table of Spark's catalog needs either --table or --query.")
    return spark.table(table) if table is not None else spark.sql(query)


def _ending(place: str) -> str:
    """Return the ending that indicates the form of a file, or of the files of a folder; a place of another machine without one holds Parquet."""
    path = Path(place)
    if is_local(place) and path.is_dir():
        endings = {_of_name(one.name) for one in path.rglob("*") if one.is_file() and one.name[0] not in "._"}
        if len(endings) != 1:
            raise DataError(
                f"The folder {path.name!r} holds files of {len(endings) or 'no'} different kinds.",
                hint="name a folder of Parquet, ORC or CSV files alone.",
            )
        ending = endings.pop()
    else:
        ending = _of_name(path.name) or ".parquet"
    if ending not in {*_TEXT, *_BINARY}:
        raise FileError(f"Spark does not read {ending or 'such'} files here.", hint="it reads Parquet, ORC and CSV.")
    return ending


def _of_name(name: str) -> str:
    suffixes = [one.lower() for one in Path(name).suffixes]
    while suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
