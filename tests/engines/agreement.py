"""Generated calls, each released by every engine: the rows are those of memory, or the call is in the table of exceptions.

``python -m tests.engines.agreement --calls 500`` tries fresh ones; without ``--no-spark`` a Spark of two cores on this machine is started.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as papq

import shoal
from shoal.engines.stream import engine as stream_engine
from shoal.errors import ParameterError, ShoalError
from shoal.plan import steps
from tests.engines.sweep import TOWNS, table_of

SMALL_PLAN = {
    "LARGE": 300,
    "_FRAGMENT": 150,
    "_MIXED_FRAGMENT": 150,
    "_FAST_FRAGMENT": 150,
    "_MANY_GROUPS": 1,
    "_PILOT": 300,
}
"""Tables of more than 300 records are cut into fragments of about 150."""
SIZES = (240, 700)
GLOBAL = ("bug", "datafly", "incognito")
REPRESENTING = ("mdav", "v-mdav", "forest", "univariate")
FIGURES = ("ncp", "dm", "c_avg", "iloss", "suppressed")
PASSED = ("id", "cost")
"""Kept columns of records that may be equal in all that groups can depend on: any of these may be in any of their groups."""
DIGITS = 9
"""To which means of groups are compared: they are summed in the order of rows."""


@dataclass(frozen=True)
class Call:
    """A generated call."""

    number: int
    records: int
    method: str
    given: dict[str, Any]
    shuffled: bool
    """Whether memory gets the rows in another order than streams do."""

    @property
    def cut(self) -> bool:
        """Whether memory works fragment by fragment."""
        return self.records > SMALL_PLAN["LARGE"]

    def __str__(self) -> str:
        said = {name: value for name, value in self.given.items() if name not in {"hierarchies", "key"}}
        return f"call {self.number}: {self.records} records, {said}"


@dataclass(frozen=True)
class Released:
    """What an engine makes of a call: rows and figures, or a refusal."""

    rows: Counter[tuple[str, ...]] = field(default_factory=Counter)
    figures: dict[str, float] = field(default_factory=dict)
    audit: dict[str, Any] = field(default_factory=dict)
    refusal: ShoalError | None = None


def make_call(seed: int, number: int, key: Path) -> Call:
    """Draw a call; the same numbers always make the same one."""
    draw = np.random.default_rng([seed, number])

    def one(*choices: Any) -> Any:
        return choices[int(draw.integers(len(choices)))]

    method = one("optimize", "optimize", "optimize", *(info.name for info in shoal.methods()))
    known = ["age", "blood", *one((), ("town",), ("town", "cost"))]
    given: dict[str, Any] = {
        "k": int(draw.integers(2, 9)),
        "quasi_identifiers": known,
        "hierarchies": {
            name: tree for name, tree in {"town": one(TOWNS, "set"), "blood": "flat"}.items() if name in known
        },
        "method": method,
        "effort": "fast",
        "derived": "warn",
        "keep": ["id"],
        "seed": int(draw.integers(1000)),
        "max_suppression": one(0.0, 0.0, 0.1),
        "ends": one("round", "exact"),
    }
    if method in GLOBAL:
        given["hierarchies"] |= {"town": TOWNS, **({"age": "auto"} if draw.random() < 0.5 else {})}
        given["hierarchies"] = {name: tree for name, tree in given["hierarchies"].items() if name in known}
        given["max_suppression"] = 0.2
    if method in REPRESENTING and draw.random() < 0.7:
        given["release"] = "ranges"
    if "release" not in given and method in REPRESENTING:
        given["ends"] = "round"
    if draw.random() < 0.5:
        given["sensitive"] = ["illness"]
        given["models"] = one(
            [],
            [shoal.LDiversity(2)],
            [shoal.TCloseness(0.5)],
            [shoal.LDiversity(2), shoal.TCloseness(0.6)],
            [shoal.DeltaDisclosure(2.5)],
            [shoal.AlphaK(0.9)],
        )
    owned = draw.random()
    if owned < 0.15:
        given |= {"person": "who", "together": one(False, False, True)}
    elif owned < 0.25:
        given |= {"household": "house"}
    elif owned < 0.35:
        given |= {"survey_weight": "stands_for"}
    if draw.random() < 0.1 and method not in REPRESENTING:
        given["widen"] = 0.3
    if draw.random() < 0.15:
        given["weights"] = {"age": one(0.1, 8.0)}
    if draw.random() < 0.15:
        given |= {"pseudonymize": ["id"], "keep": [], "key": key}
    if "cost" not in known and draw.random() < 0.15:
        given |= {"keep": [*given["keep"], "cost"], "treat": {"cost": shoal.Round(100)}}
    return Call(number, one(*SIZES), method, given, bool(draw.random() < 0.5))


# --- the table of exceptions ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Excepted:
    """Calls of which engines need not give the same rows, and what each of them does."""

    what: str
    memory: str
    stream: str
    spark: str
    applies: Callable[[Call, str], bool]
    """Whether a call on an engine is one of these."""


def _ties_by_place(call: Call, engine: str) -> bool:
    """Return whether equal choices are broken by where records stand, which differs from memory."""
    by_content = call.method == "optimize" or call.method in GLOBAL
    return not by_content and not _fragments(call) and (engine == "spark" or call.shuffled)


def _cut_on_spark(call: Call, engine: str) -> bool:
    return engine == "spark" and call.method == "mondrian" and call.cut


def _people_on_spark(call: Call, engine: str) -> bool:
    """Return whether a table with persons is cut on Spark; with models it goes through one task."""
    asked = call.given
    return engine == "spark" and "person" in asked and not asked.get("models") and _fragments(call)


EXCEPTIONS = (
    Excepted(
        "persons, above 65,536 records",
        "fragments have people enough by the records themselves; ties go by the person",
        "as in memory",
        "fragments have people enough by counts of people in parts of the table; ties go by the content of the rows",
        _people_on_spark,
    ),
    Excepted(
        "`mondrian`, above 65,536 records",
        "grouped as a whole",
        "grouped as a whole",
        "cut into fragments first, which loses less",
        _cut_on_spark,
    ),
    Excepted(
        "methods other than `optimize` and global recodings, if the table is not cut",
        "ties go by the order of rows",
        "as in memory, by the order in the file",
        "rows have no order, so ties go by their content: other groups of the same method",
        _ties_by_place,
    ),
)
"""The first rows of the table in the documentation."""


def exception_of(call: Call, engine: str) -> Excepted | None:
    """Return why an engine need not give the rows of memory; None if it must."""
    return next((one for one in EXCEPTIONS if one.applies(call, engine)), None)


def _fragments(call: Call) -> bool:
    """Return whether memory groups a table of this size fragment by fragment."""
    family = next(info.family for info in shoal.methods() if info.name == call.method)
    kept = call.given.get("together") or call.given.get("household")
    whole = any(not model.by_fragment for model in call.given.get("models", ()))
    typical = call.method in REPRESENTING and "release" not in call.given
    return call.cut and family == "local" and not kept and not whole and not typical


# --- the engines ---------------------------------------------------------------------------------------------------


def _seen(rows: list[dict[str, Any]], metrics: Any, audit: Any) -> Released:
    def text(cell: Any) -> str:
        return repr(round(cell, DIGITS)) if isinstance(cell, float) else repr(cell)

    counted = Counter(tuple(f"{name}={text(row[name])}" for name in sorted(row) if name not in PASSED) for row in rows)
    figures = {name: float(metrics[name]) for name in FIGURES if name in metrics}
    told = {"k": audit.k, "records": audit.records, "groups": audit.groups, "persons": audit.persons}
    return Released(counted, figures, told | {"households": audit.households})


def tried(make: Callable[[], Released]) -> Released:
    """Return what comes out, or the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except ShoalError as fault:
            return Released(refusal=fault)


def in_memory(call: Call, table: pa.Table) -> Released:
    """Release a call in memory."""
    made = shoal.anonymize(table, **call.given, engine="memory")
    metrics = made.metrics | {"groups": made.audit.groups, "suppressed": made.suppressed}
    return _seen(made.released.to_pylist(), metrics, made.audit)


def streamed(call: Call, table: pa.Table, folder: Path, workers: int = 1) -> Released:
    """Release a call from file to file."""
    place, target = folder / "table.parquet", folder / "out.parquet"
    papq.write_table(table, place, row_group_size=90)
    made = shoal.Anonymizer(**call.given).stream(place, target, memory="1GB", workers=workers, force=True)
    return _seen(papq.read_table(target).to_pylist(), made.metrics, made.audit)


def on_spark(call: Call, data: Any) -> Released:
    """Release a call on Spark."""
    import shoal.spark

    with shoal.spark.anonymize(data, **call.given) as made:
        return _seen([row.asDict() for row in made.data.collect()], made.metrics, made.audit)


# --- the comparison ------------------------------------------------------------------------------------------------


def compare(call: Call, engine: str, memory: Released, other: Released) -> tuple[str, str]:
    """Return what a comparison shows ("same", "excepted", "refused", "differs") and words about it."""
    if memory.refusal is not None or other.refusal is not None:
        return _compare_refusals(call, engine, memory.refusal, other.refusal)
    if memory.rows == other.rows and memory.audit == other.audit:
        wrong = [
            one
            for one in memory.figures.keys() & other.figures.keys()
            if not np.isclose(memory.figures[one], other.figures[one], rtol=1e-9)
        ]
        return ("differs", f"{call} | {engine}: figures {wrong}") if wrong else ("same", "")
    why = exception_of(call, engine)
    if (
        why is not None
        and memory.audit["records"] - other.audit["records"]
        == other.figures["suppressed"] - memory.figures["suppressed"]
    ):
        return "excepted", why.what
    away = sum((memory.rows - other.rows).values())
    return "differs", f"{call} | {engine}: {away} rows; {memory.audit} {other.audit} {memory.figures} {other.figures}"


def _compare_refusals(call: Call, engine: str, memory: ShoalError | None, other: ShoalError | None) -> tuple[str, str]:
    words = f"{call} | {engine}: memory {memory!r}, here {other!r}"
    if memory is not None and other is not None:
        return "refused", ""
    if (
        memory is None
        and isinstance(other, ParameterError)
        and engine == "stream"
        and "cannot be streamed with" in str(other)
    ):
        return "refused", ""
    return ("excepted", "") if exception_of(call, engine) else ("differs", words)


@contextmanager
def small() -> Iterator[None]:
    """Cut tables of hundreds of records."""
    with mock.patch.multiple(steps, **SMALL_PLAN), mock.patch.multiple(stream_engine, _ROWS=100, _FEWEST_ROWS=100):
        yield


def release_whole_small(batches: Any, **given: Any) -> Iterator[Any]:
    """Release a table in one task of Spark, where tables of hundreds of records are cut too."""
    from shoal.engines.spark.whole import release_whole

    with small():
        yield from release_whole(batches, **given)


def frames_of(session: Any) -> dict[int, Any]:
    """Return the tables as DataFrames."""
    kinds = {"int64": "long", "double": "double", "string": "string"}
    found = {}
    for records in SIZES:
        table = table_of(records)
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        schema = ", ".join(f"{one.name} {kinds[str(one.type)]}" for one in table.schema)
        found[records] = session.createDataFrame(rows, schema).repartition(2).cache()
    return found


def try_call(call: Call, folder: Path, frames: dict[int, Any] | None) -> Iterator[tuple[str, str, str]]:
    """Release a call by every engine; yield each but memory, what the comparison shows, and words about it."""
    table = table_of(call.records)
    other = (
        table.take(pa.array(np.random.default_rng(call.number).permutation(table.num_rows))) if call.shuffled else table
    )
    with small():
        memory = tried(partial(in_memory, call, other))
        yield "stream", *compare(call, "stream", memory, tried(partial(streamed, call, table, folder)))
        if frames is not None:
            from shoal.engines.spark import whole

            with mock.patch.object(whole, "release_whole", release_whole_small):
                found = tried(partial(on_spark, call, frames[call.records]))
            yield "spark", *compare(call, "spark", memory, found)


def run(seed: int, numbers: range, session: Any, say: Callable[[str], None]) -> Counter[str]:
    """Try calls and count what became of them."""
    from shoal.treatments.pseudonyms import make_key

    tally = Counter[str]()
    frames = None if session is None else frames_of(session)
    with tempfile.TemporaryDirectory() as name:
        make_key(Path(name) / "key.bin")
        for number in numbers:
            call = make_call(seed, number, Path(name) / "key.bin")
            tally["tried"] += 1
            try:
                for engine, what, words in try_call(call, Path(name), frames):
                    tally[f"{engine}: {what}"] += 1
                    if what == "differs":
                        say(words)
            except Exception as fault:  # noqa: BLE001
                tally["crashes"] += 1
                say(f"{call}: {type(fault).__name__}: {str(fault)[:600]}")
            if tally["tried"] % 50 == 0:
                say(str(dict(tally)))
    return tally


def local_session() -> Any:
    """Return a Spark of two cores on this machine."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "3").config("spark.log.level", "ERROR")
    return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()


def main() -> None:
    """Try fresh calls; exit code 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines.agreement", description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--no-spark", action="store_true")
    given = parser.parse_args()
    seed = secrets.randbits(32) if given.seed is None else given.seed
    session = None
    if not given.no_spark:
        session = local_session()
    say = partial(print, flush=True)
    say(f"seed {seed}")
    tally = run(seed, range(given.first, given.first + given.calls), session, say)
    say(dict(tally))
    sys.exit(any(name == "crashes" or "differs" in name for name in tally))


if __name__ == "__main__":
    main()
