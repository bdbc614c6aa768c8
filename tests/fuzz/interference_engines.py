"""The pairs of originals on other engines: what a release hides leaves no trace in the public files of streams and Spark either.

Streams and Spark find no labels by the place of a row, so groups are given by a column that only the method looks at. The random order of rows is
replaced by that of their content where shoal's own process draws it, so that files of streams are compared byte by byte; Spark draws it
on executors, so that its rows are compared sorted, with the schema and the metadata of each file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

import shoal
from shoal.engines.spark import engine as spark_engine
from shoal.engines.stream import engine as stream_engine
from shoal.methods.base import Grouping, Method, MethodInfo
from tests.fuzz.interference import (
    PUBLIC,
    Original,
    as_data,
    content_of,
    draw_original,
    draw_parameters,
    in_order_of_content,
    pair_of,
    released_by,
    vary,
)

TARGETS = ("release.parquet", "release.csv", "release.csv.gz", "folder")


@dataclass(frozen=True)
class Marked(Method):
    """Groups that a column of the table names."""

    target: str = "part"

    info: ClassVar[MethodInfo] = MethodInfo("marked", "Given groups", "local", "Nobody", "O(1)")

    def run(self, table: Any, task: Any) -> Grouping:
        """Return the groups by their names; records without one are withheld."""
        column = table.attributes[self.target]
        numbers = [-1 if value == "none" else int(value.removeprefix("group ")) for value in column.values.to_pylist()]
        return Grouping(np.array(numbers, np.int32)[column.codes])


@dataclass(frozen=True)
class MarkedWhole(Marked):
    """The same as a method that needs the whole table."""

    info: ClassVar[MethodInfo] = MethodInfo("marked-whole", "Given groups", "multidimensional", "Nobody", "O(1)")


def marked(one: Original) -> Original:
    """Return an original with the column that names the groups."""
    names = ["none" if label < 0 else f"group {label}" for label in one.labels]
    return replace(one, columns=one.columns | {"part": names}, types=one.types | {"part": pa.string()})


def draw_pair(seed: list[int]) -> tuple[str, list[Original], dict[str, Any], str, str]:
    """Draw two originals in files, how they are released, and the names of a target and of a public report."""
    rng = np.random.default_rng(seed)
    one = replace(draw_original(rng), form=str(rng.choice(["csv", "parquet"])), release="ranges")
    words, other = vary(rng, one)
    given = draw_parameters(rng, one) | {"method": [Marked(), MarkedWhole()][int(rng.integers(2))]}
    given.pop("cells")
    return (
        words,
        [one, other],
        given,
        str(rng.choice(TARGETS)),
        str(rng.choice([one for one in PUBLIC if "public" in one])),
    )


# --- streams -------------------------------------------------------------------------------------------------------


def sorted_piles(pieces: Sequence[Path], number: int) -> Iterator[pa.Table]:
    """Yield the rows of each pile in the order of their content; small tables have one pile."""
    for pile in _PILES(pieces, number):
        yield pile.take(pa.array(in_order_of_content(pile))).combine_chunks()


_PILES = stream_engine.piles


def publish_stream(one: Original, folder: Path, given: dict[str, Any], target: str, report: str) -> dict[str, bytes]:
    """Return all that is public of a streamed release, by name."""
    out = folder / "out"
    out.mkdir()
    lies, parameters = released_by(given, one, folder)
    place = as_data(marked(one), lies)
    with mock.patch.object(stream_engine, "piles", sorted_piles):
        made = shoal.Anonymizer(**parameters).stream(
            place, out / target, public_report=out / report, scratch=folder, memory="1GB", workers=1
        )
        made.save(out / "saved.csv")
        codebook = made.codebook(out / "codebook.md")
        assert codebook.exists()
    assert made.metrics["suppressed"] == (np.array(one.labels) < 0).sum()
    written = [path for path in out.rglob("*") if path.is_file()]
    return {path.relative_to(out).as_posix(): content_of(path) for path in written}


# --- Spark ---------------------------------------------------------------------------------------------------------


def publish_spark(one: Original, folder: Path, given: dict[str, Any], session: Any, *, cut: bool) -> dict[str, bytes]:
    """Return all that is public of a release on Spark: rows, their types, and what its files say of themselves.

    ``cut``: by the steps of large tables, in one fragment; otherwise in one task.
    """
    import shoal.spark

    lies, parameters = released_by(given, one, folder)
    place = as_data(marked(replace(one, form="parquet")), lies)
    share = mock.patch.object(spark_engine, "sample_share", return_value=1.0 if cut else None)
    with share, shoal.spark.anonymize(session.read.parquet(str(place)), **parameters) as made:
        made.save(f"{folder}/saved/")
        files = {"schema": made.data.schema.json(), "rows": sorted(map(repr, made.data.collect()))}
        files["measures"] = {"k": made.audit.k, "groups": made.audit.groups, "records": made.audit.records}
    parts = [papq.read_table(path) for path in sorted((folder / "saved").glob("*.parquet"))]
    files["saved"] = sorted(repr(row) for part in parts for row in part.to_pylist())
    files["metadata"] = sorted({repr(part.schema.metadata) + str(part.schema) for part in parts})
    return {name: json.dumps(text).encode() for name, text in files.items()}


# --- pairs ---------------------------------------------------------------------------------------------------------


def stream_differences(seed: list[int]) -> tuple[str, list[str]]:
    """Return how the two originals of a pair differ, and which public files of a stream do."""
    words, pair, given, target, report = draw_pair(seed)
    told = f"stream of {pair[0].form} to {target}, {words}, {given['method'].info.name}"
    return told, pair_of(pair, lambda each, folder: publish_stream(each, folder, given, target, report))


def spark_differences(seed: list[int], session: Any) -> tuple[str, list[str]]:
    """Return how the two originals of a pair differ, and what is public of a release on Spark that does."""
    words, pair, given, _, _ = draw_pair(seed)
    cut = bool(seed[-1] % 2) and not given["treat"]
    told = f"Spark, {'cut' if cut else 'one task'}, {words}, {given['method'].info.name}"
    return told, pair_of(pair, lambda each, folder: publish_spark(each, folder, given, session, cut=cut))
