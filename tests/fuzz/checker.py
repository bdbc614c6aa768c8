"""Is this release what was promised? Decided from values, with nothing of shoal's coding, counting or parsing."""

from __future__ import annotations

import csv
import json
import math
import re
import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.fuzz.columns import Column
from tests.fuzz.jobs import Job

_MOMENT = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:([+-])(\d\d):(\d\d)|Z)?")
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?")
_MONTH = re.compile(r"(\d{4})-(\d\d)")
_DURATION = re.compile(r"(-?)(\d+) days?(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?")
_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"{}]+?)\s*(?:,|$)', re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBERS = re.compile(r"\[(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)\]")
_ENDS = re.compile(r'\[("(?:[^"\\]|\\.)*"|.+?) to ("(?:[^"\\]|\\.)*"|.+)\]', re.DOTALL)


def violations(job: Job, result: Any) -> list[str]:
    """Return what does not hold, in words without values."""
    released = result.released
    found = _handed_out(result)
    rows = released.column("row").to_pylist()
    n, names = len(job.sensitive.plain), job.parameters["quasi_identifiers"]
    if {"name", "person"} & set(released.column_names):
        found.append("an identifier was released")
    if len(set(rows)) != len(rows) or not set(rows) <= set(range(n)):
        found.append("rows were made up or doubled")
        return found
    if n - len(rows) > math.floor(job.parameters["max_suppression"] * n + 1e-9):
        found.append(f"{n - len(rows)} of {n} rows were withheld")
    cells = {name: _plain_cells(released.column(name)) for name in names}
    groups = defaultdict(list)
    for place, row in enumerate(rows):
        groups[tuple(cells[name][place] for name in names)].append(row)
    least = min((_persons(job, members) for members in groups.values()), default=job.parameters["k"])
    if least < job.parameters["k"]:
        found.append(f"a group of {least}")
    if groups and result.audit.k != least:
        found.append(f"the audit says k = {result.audit.k}, there is a group of {least}")
    found += _apart(job, groups)
    found += _passed(job, released, rows)
    found += _written(job, result)
    ranges = result.recipe.release != "representatives"
    for name in names:
        column = job.columns[name]
        wrong = _uncovered(column, cells[name], rows) if ranges else _untypical(column, cells[name], rows, groups)
        if wrong:
            found.append(f"{wrong} cells of {name} do not stand for their values")
    for model in job.parameters["models"]:
        if type(model).__name__ in {"KMap", "DeltaPresence"}:
            failing = sum(not _fits(model, job, cell, len(members)) for cell, members in groups.items())
            found += _alone(model, job, list(groups), result)
        else:
            failing = sum(not _holds(model, job.sensitive, members) for members in groups.values())
        if failing:
            found.append(f"{type(model).__name__} does not hold in {failing} groups")
    return found


def _persons(job: Job, members: list[int]) -> int:
    return len({job.owners[row] for row in members})


def _apart(job: Job, groups: dict[Any, list[int]]) -> list[str]:
    """Where people are to move together, whoever shares all groups of a person's rows must be k people."""
    if not job.parameters.get("together"):
        return []
    where: dict[int, set[Any]] = defaultdict(set)
    for cell, members in groups.items():
        for row in members:
            where[job.owners[row]].add(cell)
    inside = {cell: {job.owners[row] for row in members} for cell, members in groups.items()}
    alone = sum(
        len(set.intersection(*(inside[cell] for cell in cells))) < job.parameters["k"] for cells in where.values()
    )
    return [f"{alone} people stand out by all their rows"] * (alone > 0)


def _handed_out(result: Any) -> list[str]:
    """The table the user gets has the released rows, and no index of the original."""
    data = result.data
    rows = data.column("row").to_pylist() if isinstance(data, pa.Table) else list(data["row"])
    found = [] if rows == result.released.column("row").to_pylist() else ["the table handed out has other rows"]
    if hasattr(data, "index") and list(data.index) != list(range(len(rows))):
        found.append("the index of the original was handed out")
    return found


def _plain_cells(column: pa.ChunkedArray) -> list[Any]:
    """Return released cells so that equal ones are equal: text, or exact numbers; moments in nanoseconds."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):  # periods, by their number
        return [one for chunk in column.chunks for one in chunk.storage.to_pylist()]
    if pa.types.is_temporal(kind):
        wide = pa.int32() if pa.types.is_date32(kind) or pa.types.is_time32(kind) else pa.int64()
        part = 86_400 * 10**9 if pa.types.is_date32(kind) else {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[kind.unit]
        return [None if one is None else one * part for one in column.cast(wide).to_pylist()]
    values = column.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        return values
    return [None if one is None or one != one else Fraction(one) for one in values]  # noqa: PLR0124  (NaN)


def _passed(job: Job, released: pa.Table, rows: list[int]) -> list[str]:
    """Sensitive values must be those of their rows."""
    column = released.column("sensitive")
    if pa.types.is_boolean(column.type):
        kept = [None if one is None else str(one).lower() for one in column.to_pylist()]
    else:
        kept = _plain_cells(column)
    wanted = [job.sensitive.plain[row] for row in rows]
    return [] if kept == wanted else ["sensitive values were changed"]


def _written(job: Job, result: Any) -> list[str]:
    """Every fifth release is saved, and its file read by another reader: all rows, no identifier, groups of k."""
    if job.parameters["seed"] % 5:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = result.save(Path(folder) / "release.csv")
        if sorted(one.name for one in Path(folder).iterdir()) != ["release.csv", "release.datapackage.json"]:
            return ["other files were written than asked for"]
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    names = job.parameters["quasi_identifiers"]
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(int(row["row"]))
    wrong = len(rows) != result.released.num_rows or any("name" in row for row in rows)
    wrong = wrong or sorted(int(row["row"]) for row in rows) != sorted(result.released.column("row").to_pylist())
    return ["the file holds other rows"] * wrong + [
        f"the file has a group of {least}"
        for least in [min((_persons(job, members) for members in groups.values()), default=99)]
        if least < job.parameters["k"]
    ]


# --- cells -------------------------------------------------------------------------------------------------------


def _uncovered(column: Column, cells: list[Any], rows: list[int]) -> int:
    pairs = Counter((cell, column.plain[row]) for cell, row in zip(cells, rows, strict=True))
    return sum(count for (cell, value), count in pairs.items() if not _covers(column, cell, value))


def _covers(column: Column, cell: str | None, value: Any) -> bool:
    if cell is None or value is None or cell == "*":
        return cell == "*" or (cell is None and value is None)
    if column.hierarchy is not None and cell in column.leaves and cell != value:
        return value in column.leaves[cell]
    if cell.startswith("{"):
        return any(_same(column, one, value) for one in _members(cell))
    ends = _NUMBERS.fullmatch(cell) or _ENDS.fullmatch(cell)
    if ends:
        low, high = (_read(column, _unquote(one)) for one in ends.groups())
        return low is not None and high is not None and low <= _place(column, value) <= high
    label = _unquote(cell)
    return _same(column, label, value) or value in column.leaves.get(label, ())


def _members(cell: str) -> list[str]:
    body, found, place = cell[1:-1], [], 0
    while place < len(body):
        match = _ITEM.match(body, place)
        if match is None:
            return []
        found.append(_unquote(match[1]))
        place = match.end()
    return found


def _unquote(text: str) -> str:
    return json.loads(text) if text.startswith('"') and len(text) > 1 else text


def _same(column: Column, text: str, value: Any) -> bool:
    if column.family in {"text", "order"}:
        return text == value
    return text == column.written.get(value, "") or _read(column, text) == _place(column, value)


def _place(column: Column, value: Any) -> Any:
    return column.kind.index(value) if column.family == "order" else value


def _read(column: Column, text: str) -> Any:
    """Return the exact number behind a text, or None."""
    if column.family == "order":
        return column.kind.index(text) if text in column.kind else None
    if column.family == "moment":
        return _moment(text)
    if column.family == "duration":
        return _duration(text)
    if column.family == "clock":
        match = _CLOCK.fullmatch(text)
        return None if match is None else _nanoseconds(*match.groups())
    if column.family == "month":
        match = _MONTH.fullmatch(text)
        return None if match is None else (int(match[1]) - 1970) * 12 + int(match[2]) - 1
    try:
        return Fraction(float(text) if column.family == "float" else text)
    except ValueError:
        return None


def _moment(text: str) -> int | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    year, month, day, *clock = match.groups()
    hour, minute, second, fraction, sign, hours, minutes = clock
    days = _days(int(year), int(month), int(day))
    seconds = days * 86_400 + int(hour or 0) * 3600 + int(minute or 0) * 60 + int(second or 0)
    if sign:
        seconds -= int(f"{sign}1") * (int(hours) * 3600 + int(minutes) * 60)
    return seconds * 10**9 + int((fraction or "").ljust(9, "0"))


def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 in the Gregorian calendar."""
    years = year - (month <= 2)
    era = years // 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    of_era = (years - era * 400) * 365 + (years - era * 400) // 4 - (years - era * 400) // 100 + of_year
    return era * 146_097 + of_era - 719_468


def _nanoseconds(hours: str, minutes: str, seconds: str, fraction: str | None) -> int:
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * 10**9 + int((fraction or "").ljust(9, "0"))


def _duration(text: str) -> int | None:
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    sign, days, hours, minutes, seconds, fraction = match.groups()
    whole = int(days) * 86_400 + int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    ticks = whole * 10**9 + int((fraction or "").ljust(9, "0"))
    return -ticks if sign else ticks


def _untypical(column: Column, cells: list[Any], rows: list[int], groups: dict[Any, list[int]]) -> int:
    """Return how many cells lie outside the values of the records released alike."""
    cell_of = dict(zip(rows, cells, strict=True))
    wrong = 0
    for members in groups.values():
        values = [column.plain[row] for row in members if column.plain[row] is not None]
        cell = cell_of[members[0]]
        if not values or cell is None:
            wrong += len(members) if bool(values) != (cell is not None) else 0
        elif isinstance(cell, str):
            wrong += 0 if cell == "*" or any(_same(column, cell, value) for value in values) else len(members)
        else:
            if column.family == "text":  # numbers and a mark for a missing one, as text
                values = [Fraction(value) for value in values if _NUMBER.fullmatch(value)]
            rounding = abs(cell) / 2**50 if column.family == "decimal" else 0  # its means are floats
            wrong += 0 if min(values) - rounding <= cell <= max(values) + rounding else len(members)
    return wrong


# --- models ------------------------------------------------------------------------------------------------------


def _holds(model: Any, sensitive: Column, members: list[int]) -> bool:
    group = Counter(sensitive.plain[row] for row in members)
    table = Counter(sensitive.plain)
    size, n = len(members), len(sensitive.plain)
    share = {value: count / size for value, count in group.items()}
    whole = {value: count / n for value, count in table.items()}
    slack = 1e-9
    name = type(model).__name__
    if name == "KAnonymity":
        return size >= model.k
    if name == "AlphaK":
        return max(share.values()) <= model.alpha + slack
    if name == "BetaLikeness":
        return all((share[one] - whole[one]) / whole[one] <= model.beta + slack for one in share)
    if name == "DeltaDisclosure":
        return all(abs(math.log(share[one] / whole[one])) < model.delta + slack for one in share)
    if name == "TCloseness":
        return _distance(model.distance, sensitive, share, whole) <= model.t + slack
    if model.kind == "entropy":
        return math.exp(-sum(p * math.log(p) for p in share.values())) >= model.l - slack
    if model.kind == "recursive":
        counts = sorted(group.values(), reverse=True)
        return len(counts) >= model.l and counts[0] < model.c * sum(counts[int(model.l) - 1 :]) + slack
    return len(group) >= model.l


def _distance(asked: str | None, sensitive: Column, share: dict[Any, float], whole: dict[Any, float]) -> float:
    """Return the earth mover's distance of a group from the table, from its definition."""
    surplus = {value: share.get(value, 0.0) - part for value, part in whole.items()}
    natural = "equal" if sensitive.family == "text" else "ordered"
    chosen = asked or ("hierarchical" if sensitive.tree else natural)
    if chosen == "equal":
        return sum(map(abs, surplus.values())) / 2
    if chosen == "hierarchical":
        root = sensitive.tree["*"]
        extra = {None: None} if None in whole else {}  # a missing value is one more leaf below the root
        moved, _, _ = _moved(root | extra, None, surplus)
        return moved / _height(root)
    ranked = sorted((value for value in whole if value is not None), key=lambda value: _place(sensitive, value))
    order = list(sensitive.kind) if sensitive.kind else ranked
    order += [None] if None in whole else []
    if len(order) < 2:
        return 0.0
    so_far, moved = 0.0, 0.0
    for value in order[:-1]:
        so_far += surplus.get(value, 0.0)
        moved += abs(so_far)
    return moved / (len(order) - 1)


def _height(tree: Any) -> int:
    if isinstance(tree, dict):
        return 1 + max(map(_height, tree.values()))
    return 1 if isinstance(tree, list) else 0


def _moved(tree: Any, label: Any, surplus: dict[Any, float]) -> tuple[float, float, float]:
    """Return what must be moved inside a node times how high, and what is left of surplus and lack (Li et al. 2007)."""
    if tree is None:
        own = surplus.get(label, 0.0)
        return 0.0, max(own, 0.0), max(-own, 0.0)
    below = tree.items() if isinstance(tree, dict) else ((leaf, None) for leaf in tree)
    parts = [_moved(one, child, surplus) for child, one in below]
    moved, more, less = (sum(part[place] for part in parts) for place in range(3))
    here = min(more, less)
    return moved + here * _height(tree), max(more - less, 0.0), max(less - more, 0.0)


def _alone(model: Any, job: Job, groups: list[tuple[Any, ...]], result: Any) -> list[str]:
    """Whoever fits no released group is known not to be in the table: nobody may, where a least share is promised to everyone."""
    if type(model).__name__ == "KMap":
        return []
    names = job.parameters["quasi_identifiers"]
    outside = sum(
        not any(
            all(_covers(job.columns[name], cell, person[name]) for name, cell in zip(names, cells, strict=True))
            for cells in groups
        )
        for person in job.people
    )
    found = [f"the audit says {result.audit.people.get('left_out')} people fit no group, there are {outside}"]
    found *= result.audit.people.get("left_out") != outside
    return found + [f"{outside} people fit no group"] * bool(outside and model.low and model.everyone)


def _fits(model: Any, job: Job, cells: tuple[Any, ...], size: int) -> bool:
    """Count the people of the population whose values a group's cells cover."""
    names = job.parameters["quasi_identifiers"]
    people = sum(
        all(_covers(job.columns[name], cell, person[name]) for name, cell in zip(names, cells, strict=True))
        for person in job.people
    )
    if type(model).__name__ == "KMap":
        return people >= model.k
    return people > 0 and model.low - 1e-9 <= size / people <= model.high + 1e-9
