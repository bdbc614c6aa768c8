"""What privacy costs: loss by model, wider cells, attacks, unique sets of columns, and how mending grows.

python -m benchmarks.privacy                      everything (about ten minutes)
python -m benchmarks.privacy --only widening      one part: models, strict, widening, attacks, uniques or growth

Times are CPU seconds of all threads.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.adult import setting, train
from benchmarks.measuring import Row, Table, cpu_seconds, write_page
from benchmarks.optimize import loss_of
from benchmarks.scale import QUASI_IDENTIFIERS
from shoal import attacks
from shoal.arrays import Effort
from shoal.audit.uniques import unique_sets
from shoal.datasets import adult_like, hospital
from shoal.encoding import CodedTable, encode, load_hierarchy
from shoal.enforcement.dispatch import group_records, mend_and_polish
from shoal.frames import Frame
from shoal.hierarchy import Hierarchy
from shoal.methods import make_method
from shoal.methods.base import Task
from shoal.methods.optimize import Optimize
from shoal.privacy.base import PrivacyModel, failing_groups

K = 10


def _trees(name: str) -> dict[str, Hierarchy]:
    """Return the hierarchies of a setting that come from files."""
    chosen = setting(name)["hierarchies"]
    return {column: load_hierarchy(column, path) for column, path in chosen.items() if path not in {"flat", "set"}}


def widening() -> Iterator[Table]:
    """Tight cells and guesses at the ends of ranges, by how many cells are released wider than needed."""
    frame = train()
    for name in ("X", "S"):
        rows: list[Row] = []
        for method in ("optimize", "mondrian"):
            for share in (0.0, 0.25, 0.5, 1.0):
                result = shoal.anonymize(
                    frame, k=K, method=method, effort="fast", widen=share, ends="exact", **setting(name)
                )
                found = attacks.downcoding(frame, result, setting(name)["quasi_identifiers"], hierarchies=_trees(name))
                row: Row = {"method": method, "widen": share, "loss": result.metrics["ncp"]}
                row |= {"tight cells": found.figures["tight"], "an end guessed rightly": found.success.share}
                rows.append(row | {"any value of the range": found.control.share if found.control else None})
        note = f"UCI Adult, {frame.records:,} records, k = {K}, effort fast. Tight: as narrow as the group allows."
        yield Table(f"Setting {name}", note, rows)


def models() -> Iterator[Table]:
    """Loss with and without a model: the optimizer, which searches with models, beside methods whose groups are mended."""
    frame = train()
    hours = np.digitize(np.asarray(frame.typed("hours-per-week"), np.int64), [20, 35, 40, 41, 50, 60])
    column = pa.array(hours.astype(str))
    coded = encode(
        replace(frame, table=frame.table.append_column("hours", column)),
        setting("X")["quasi_identifiers"],
        hierarchies=setting("X")["hierarchies"],
        attributes=["salary-class", "hours"],
    )
    asked: dict[str, PrivacyModel] = {
        "salary-class, 2-diversity": shoal.LDiversity(2, column="salary-class"),
        "salary-class, 0.3-closeness": shoal.TCloseness(0.3, column="salary-class"),
        "salary-class, 0.2-closeness": shoal.TCloseness(0.2, column="salary-class"),
        "hours-per-week in 7 bins, 3-diversity": shoal.LDiversity(3, column="hours"),
        "hours-per-week in 7 bins, 0.2-closeness (ordered)": shoal.TCloseness(0.2, column="hours", distance="ordered"),
    }
    rows: list[Row] = []
    for name in METHODS:
        method = make_method(name)
        plain, seconds = cpu_seconds(partial(method.run, coded, Task(k=K, effort="fast")))
        labels = plain.labels
        rows.append({"method": name, "model": "k only", "loss": loss_of(coded, labels), "CPU s": seconds})
        for title, model in asked.items():
            task = Task(k=K, requirements=(model.bind(coded),), effort="fast")
            failing = int(failing_groups(task.requirements, labels, int(labels.max()) + 1).sum())
            found, seconds = cpu_seconds(partial(group_records, method, coded, task))
            row: Row = {"method": name, "model": title, "loss": loss_of(coded, found.labels)}
            rows.append(row | {"CPU s": seconds, "groups that fail with k only": failing})
    note = f"UCI Adult, setting X, {coded.records:,} records, k = {K}, effort fast."
    yield Table("", note + " The first rows include the compilation of kernels.", rows)


METHODS = ("optimize", "mondrian", "bottom-up", "top-down", "merge-split", "k-member")
"""Methods compared with models."""


STRICT: dict[str, tuple[int, PrivacyModel, float, float]] = {
    "k = 5, distinct l = 3": (5, shoal.LDiversity(3), 0.0354, 11),
    "k = 10, distinct l = 5": (10, shoal.LDiversity(5), 0.0571, 14),
    "k = 10, entropy l = 4": (10, shoal.LDiversity(4, "entropy"), 0.0996, 44),
    "k = 10, t = 0.3": (10, shoal.TCloseness(0.3), 0.2880, 148),
    "k = 5, t = 0.2": (5, shoal.TCloseness(0.2), 0.4393, 166),
}
"""Requirements on occupation, with the loss and the CPU seconds of ARX's local recoding at its finest setting (0.001)."""


def strict_models(efforts: Sequence[Effort] = ("fast", "balanced", "best")) -> Iterator[Table]:
    """Loss and CPU with strict models: eight columns of Adult by hierarchy beside what ARX reaches, and two other tables."""
    columns = [name for name in setting("A")["quasi_identifiers"] if name != "occupation"]
    trees = {name: setting("A")["hierarchies"][name] for name in columns}
    coded = encode(train(), columns, hierarchies=trees, attributes=["occupation"])
    strict_row(coded.take(np.arange(500, dtype=np.int32)), 5, shoal.TCloseness(0.2), ["fast"])  # compiles
    rows: list[Row] = []
    for name, (k, model, rival, rival_seconds) in STRICT.items():
        row: Row = {"requirement": name, "ARX": rival, "ARX CPU s": rival_seconds}
        rows.append(row | strict_row(coded, k, model, efforts))
    yield Table("UCI Adult", f"Eight columns by hierarchy, sensitive occupation, {coded.records:,} records.", rows)
    for title, table in (("Hospital register", hospital_table()), ("Numbers", numbers_table())):
        found = [{"requirement": name} | strict_row(table, one[0], one[1], efforts) for name, one in STRICT.items()]
        yield Table(title, f"{table.records:,} invented records, {len(table.columns)} columns.", found)


def strict_row(coded: CodedTable, k: int, model: PrivacyModel, efforts: Sequence[Effort]) -> Row:
    """Measure the optimizer with one model at each effort."""
    row: Row = {}
    for effort in efforts:
        task = Task(k=k, requirements=(model.bind(coded),), effort=effort)
        found, seconds = cpu_seconds(partial(group_records, Optimize(), coded, task))
        failing = failing_groups(task.requirements, found.labels, int(found.labels.max()) + 1).sum()
        row |= {
            str(effort): loss_of(coded, found.labels),
            f"{effort} CPU s": seconds,
            f"{effort}, groups that fail": int(failing),
        }
    return row


def hospital_table(records: int = 8_000) -> CodedTable:
    """Return the invented register: dates, a flat column and two hierarchies, 41 diagnoses."""
    register = hospital(n=records, seed=0)
    known = ["birth_date", "sex", "zip", "job"]
    trees = {name: register.hierarchies[name] for name in ("zip", "job")}
    return encode(Frame(register.patients), known, hierarchies=trees, attributes=["diagnosis"])


def numbers_table(records: int = 8_000) -> CodedTable:
    """Return three normal numbers and a set, with a sensitive value of seven that follows the first number."""
    random = np.random.default_rng(1)
    normal = random.normal(size=(3, records))
    value = np.digitize(normal[0] + random.normal(size=records), [-1.5, -0.5, 0.0, 0.4, 1.0, 2.0])
    table = {f"x{place}": np.round(row * 10).astype(np.int64) for place, row in enumerate(normal)}
    kinds = random.choice(list("uvwxyz"), records, p=[0.4, 0.2, 0.15, 0.1, 0.1, 0.05])
    text = [f"s{one}" for one in value]
    return encode(Frame(pa.table(table | {"kind": kinds, "s": text})), [*table, "kind"], attributes=["s"])


def attacking(records: int = 100_000) -> Iterator[Table]:
    """CPU of each attack on a large release."""
    register = hospital(n=records, seed=0)
    known = ["birth_date", "sex", "zip", "job"]
    trees = {name: register.hierarchies[name] for name in ("zip", "job")}
    patients = register.patients.select([*known, "diagnosis"])
    call: dict[str, Any] = {
        "quasi_identifiers": known,
        "sensitive": ["diagnosis"],
        "hierarchies": trees,
        "method": "mondrian",
    }
    first, second = (shoal.anonymize(patients, k=k, **call).released for k in (K, 2 * K))
    numbers = pa.table(
        {f"x{place}": column for place, column in enumerate(np.random.default_rng(0).normal(size=(5, records)))}
    )
    means = shoal.anonymize(numbers, k=K, quasi_identifiers=numbers.column_names, method="mdav").released
    tries: dict[str, Callable[[], attacks.Finding]] = {
        "linkage": lambda: attacks.linkage(patients, first, known, known=register.voters, hierarchies=trees),
        "homogeneity": lambda: attacks.homogeneity(patients, first, known, "diagnosis", hierarchies=trees),
        "two releases": lambda: attacks.two_releases(patients, first, second, known, k=K, hierarchies=trees),
        "row order": lambda: attacks.row_order(patients, first, known, hierarchies=trees),
        "leftovers": lambda: attacks.leftovers(patients, first, known),
        "downcoding": lambda: attacks.downcoding(patients, first, known, hierarchies=trees),
        "distance linkage": lambda: attacks.distance_linkage(numbers, means, numbers.column_names),
    }
    rows = []
    for name, attack in tries.items():
        found, seconds = cpu_seconds(attack)
        control = found.control.share if found.control else None
        rows.append({"attack": name, "CPU s": seconds, "works for": found.success.share, "a guesser": control})
    note = (
        f"Invented hospital register, {records:,} records, method mondrian, k = {K}, rows in the order of the input; "
    )
    yield Table("", note + "distance linkage: as many records of five normal numbers, method mdav.", rows)


def uniques(records: int = 1_000_000, columns: int = 15) -> Iterator[Table]:
    """CPU of finding all columns, pairs and triples that single records out."""
    random = np.random.default_rng(0)
    spans = np.geomspace(2, 1_000, columns).astype(int)
    table = pa.table({f"c{place}": random.integers(0, span, records) for place, span in enumerate(spans)})
    unique_sets(table.slice(0, 1_000), largest=3)
    rows = []
    for largest in (1, 2, 3):
        found, seconds = cpu_seconds(partial(unique_sets, table, largest=largest))
        rows.append({"sets of up to": largest, "found": len(found), "CPU s": seconds})
    yield Table("", f"{records:,} records, {columns} columns of {spans[0]} to {spans[-1]:,} values.", rows)


def mending_row(records: int) -> Row:
    """Measure what mending costs at one size."""
    data = adult_like(records)
    coded = encode(Frame(data.table), QUASI_IDENTIFIERS, hierarchies=data.hierarchies, attributes=["salary-class"])
    labels = make_method("mondrian").run(coded, Task(k=K)).labels
    row: Row = {"records": records, "groups": int(labels.max()) + 1, "loss": loss_of(coded, labels)}
    for name, model in (("l = 2", shoal.LDiversity(2)), ("t = 0.3", shoal.TCloseness(0.3))):
        task = Task(k=K, requirements=(model.bind(coded),))
        failing = int(failing_groups(task.requirements, labels, int(labels.max()) + 1).sum())
        mended, seconds = cpu_seconds(partial(mend_and_polish, coded, labels, task))
        row |= {f"{name}, failed": failing, f"{name}, CPU s": seconds, f"{name}, loss": loss_of(coded, mended)}
    return row


def growth() -> Iterator[Table]:
    """CPU of mending as a table grows."""
    mending_row(1_000)  # compiles
    rows = [mending_row(records) for records in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    yield Table("", f"Records like those of Adult, method mondrian, k = {K}, models on salary-class.", rows)


PARTS: dict[str, tuple[str, Callable[[], Iterator[Table]]]] = {
    "models": ("Loss with privacy models beyond k", models),
    "strict": ("Loss with models kept inside the search", strict_models),
    "attacks": ("CPU of the attacks", attacking),
    "uniques": ("CPU of finding the columns by which records are alone", uniques),
    "growth": ("CPU of mending as a table grows", growth),
    "widening": ("Cells wider than needed: what an intruder still reads out of them, and what is lost", widening),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(PARTS))
    chosen = parser.parse_args(arguments).only
    for name, (title, tables) in PARTS.items():
        if chosen in {None, name}:
            write_page(f"privacy_{name}", title, list(tables()), f"python -m benchmarks.privacy --only {name}")


if __name__ == "__main__":
    main()
