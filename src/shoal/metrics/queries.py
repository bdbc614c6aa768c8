"""Queries an analyst would ask, in a form that can be read and written.

One query is one line::

    age 30..50, sex = Male, zip in {53711, 53712}
    sum(cost): age 65.., diagnosis = flu

A condition is a range with one or both ends, a value, or a set of values; a value may be the label of a hierarchy
node and then stands for all its leaves. Names and values with signs such as ``,`` are quoted as in JSON. Without
``sum(...)`` the query counts. In a file empty lines and lines that begin with ``#`` are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import FileError, ParameterError
from shoal.validation import refuse_pipe

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_WORD = rf'({_QUOTED}|[^\s,:=(){{}}"]+)'
_VALUE = rf'({_QUOTED}|[^\s,{{}}"][^,{{}}"]*?)'
_SUM = re.compile(rf"\s*sum\(\s*{_WORD}\s*\)\s*:")
_COUNT = re.compile(r"\s*count\s*:")
_RANGE = re.compile(rf"\s*{_WORD}\s+({_QUOTED}|[^\s,\"]*?)\.\.({_QUOTED}|[^\s,\"]*)\s*(,|$)")
_EQUALS = re.compile(rf"\s*{_WORD}\s*=\s*{_VALUE}\s*(,|$)")
_IN = re.compile(rf"\s*{_WORD}\s+in\s*\{{([^}}\"]*(?:{_QUOTED}[^}}\"]*)*)\}}\s*(,|$)")
_ITEM = re.compile(rf"\s*{_VALUE}\s*(,|$)")
_HINT = (
    "a query looks like: age 30..50, sex = Male, zip in {53711, 53712}; put sum(cost): before it to add up a column."
)


@dataclass(frozen=True)
class Condition:
    """What a query asks of one column: a range, or some values."""

    column: str
    low: str = ""
    """Low end of a range, "" when it is open."""
    high: str = ""
    """High end of a range, "" when it is open."""
    values: tuple[str, ...] = ()
    """The values or node labels asked for; empty for a range."""

    def __str__(self) -> str:
        if not self.values:
            return f"{_quote(self.column)} {_quote(self.low)}..{_quote(self.high)}"
        if len(self.values) == 1:
            return f"{_quote(self.column)} = {_quote(self.values[0])}"
        return f"{_quote(self.column)} in {{{', '.join(map(_quote, self.values))}}}"


@dataclass(frozen=True)
class Query:
    """A COUNT, or the SUM of a column, under conditions that must all hold."""

    conditions: tuple[Condition, ...]
    total: str | None = None
    """The column that is added up; None for a count."""

    def __str__(self) -> str:
        start = "" if self.total is None else f"sum({_quote(self.total)}): "
        return start + ", ".join(map(str, self.conditions))


def _quote(text: str) -> str:
    plain = re.fullmatch(r'[^\s,:=(){}"]*', text) and ".." not in text and text.strip(".") == text
    return text if plain else json.dumps(text, ensure_ascii=False)


def _unquote(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text.strip()


def parse_query(text: str) -> Query:
    """Read a query from its text, or raise with the place that cannot be read.

    Examples
    --------
    >>> import shoal
    >>> query = shoal.metrics.parse_query("sum(cost): age 30..40, sex = F")
    >>> query.total, [condition.column for condition in query.conditions]
    ('cost', ['age', 'sex'])
    """
    total, place = None, 0
    if match := _SUM.match(text):
        total, place = _unquote(match[1]), match.end()
    elif match := _COUNT.match(text):
        place = match.end()
    conditions: list[Condition] = []
    more = True
    while more:
        condition, place, more = _parse_condition(text, place)
        if condition.column in {one.column for one in conditions}:
            raise ParameterError(f"A query asks twice of the column {condition.column!r}. Ask once.", hint=_HINT)
        conditions.append(condition)
    return Query(tuple(conditions), total)


def _parse_condition(text: str, place: int) -> tuple[Condition, int, bool]:
    """Return the condition at ``place``, where it ends, and whether another one follows."""
    if match := _IN.match(text, place):
        values = _parse_items(match[2])
        if values:
            return Condition(_unquote(match[1]), values=values), match.end(), match[3] == ","
    if match := _RANGE.match(text, place):
        low, high = _unquote(match[2]), _unquote(match[3])
        if low or high:
            return Condition(_unquote(match[1]), low, high), match.end(), match[4] == ","
    if match := _EQUALS.match(text, place):
        return Condition(_unquote(match[1]), values=(_unquote(match[2]),)), match.end(), match[3] == ","
    raise ParameterError(f"A query cannot be read from {text[place:].strip()!r} on.", hint=_HINT)


def _parse_items(body: str) -> tuple[str, ...]:
    items, place = [], 0
    while match := _ITEM.match(body, place):
        items.append(_unquote(match[1]))
        place = match.end()
        if match[2] != ",":
            return tuple(items)
    return ()


def read_queries(path: str | Path) -> list[Query]:
    r"""Read one query a line from a text file.

    Examples
    --------
    >>> import shoal
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "questions.txt")
    ...     _ = file.write_text("age 30..50, sex = F\n")
    ...     queries = shoal.metrics.read_queries(file)
    >>> len(queries)
    1
    """
    refuse_pipe(Path(path))
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"The queries in {str(path)!r} cannot be read: {error}.") from None
    queries = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                queries.append(parse_query(line))
            except ParameterError as error:
                raise ParameterError(f"Line {number} of {str(path)!r}: {error.message}", hint=error.hint) from None
    if not queries:
        raise ParameterError(f"The file {str(path)!r} holds no query.", hint=_HINT)
    return queries


def as_queries(given: Iterable[str | Query]) -> list[Query]:
    """Return texts and queries as queries."""
    return [parse_query(one) if isinstance(one, str) else one for one in given]
