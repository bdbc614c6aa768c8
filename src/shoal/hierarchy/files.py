"""Hierarchies as CSV files, one line a leaf: ``leaf;parent;…;root``."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeAlias

from shoal.errors import FileError, HierarchyError, ParameterError
from shoal.hierarchy.links import ROOT, Chain
from shoal.validation import refuse_pipe, shown, wrong

Source: TypeAlias = str | PathLike[str] | IO[Any]

SEPARATORS = (";", "\t", "|", ",")
"""In order of preference; the comma comes last because labels hold commas."""
SAMPLE = 1000
"""Lines looked at to find the separator."""
_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def read_text(source: Source, separator: str | None, encoding: str | None) -> tuple[str, str]:
    """Return the text of a file and what separates its labels."""
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'):
        raise ParameterError(
            f"The 'separator' parameter of Hierarchy.from_csv must be one character. Got {separator!r} instead.",
            hint="leave it out to have it found",
        )
    text = _read_text(source, encoding)
    return text, separator or _find_separator(text)


def read_chains(text: str, separator: str) -> Iterator[Chain]:
    """Yield a chain for each line that is not blank."""
    for line, fields in _rows(io.StringIO(text, newline=""), separator):
        yield Chain(fields, f"Line {line}: ")


def write_chains(target: Source, chains: Iterable[Sequence[str]]) -> None:
    """Write one line a chain, so that :func:`read_chains` reads the same labels back."""
    rows = list(chains)
    if not isinstance(target, (str, PathLike)):
        _write_rows(target, rows)
        return
    try:
        with Path(target).open("w", encoding="utf-8", newline="") as file:
            _write_rows(file, rows)
    except OSError as error:
        raise FileError(f"The hierarchy cannot be written to {fspath(target)!r}: {error.strerror}.") from error


def _write_rows(file: IO[str], rows: list[Sequence[str]]) -> None:
    # quotes keep a second separator, a lone carriage return and a byte order mark from being misread
    risky = re.compile("[\t|,\r\ufeff]")
    quote_all = any(risky.search(label) for row in rows for label in row)
    writer = csv.writer(
        file,
        delimiter=SEPARATORS[0],
        quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL,
        lineterminator="\n",
    )
    writer.writerows(rows)


def read_beginning(path: Path, size: int) -> str:
    """Return the whole lines among the first ``size`` bytes of a file: in a hierarchy file they are a hierarchy too."""
    with path.open("rb") as file:
        content = file.read(size)
    decoder = codecs.getincrementaldecoder(_marked_encoding(content))()  # it leaves out half a sign at the end
    text = decoder.decode(content)
    return text if len(content) < size else text[: text.rfind("\n") + 1]


def _read_text(source: Source, encoding: str | None) -> str:
    if isinstance(source, (str, PathLike)):
        refuse_pipe(Path(source))
        try:
            content: str | bytes = Path(source).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no file can have this name"
            raise FileError(f"The hierarchy {shown(Path(source).name)} cannot be read: {reason}.") from None
    elif not hasattr(source, "read"):
        raise wrong("Hierarchy.from_csv", "source", "the path of a file or an open file", source)
    else:
        content = source.read()
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    encoding = encoding or _marked_encoding(content)
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise HierarchyError(
            f"The hierarchy file cannot be read as {encoding!r}.", hint='name its encoding, such as encoding="cp1252"'
        ) from error


def _marked_encoding(content: bytes) -> str:
    """Return the encoding that a byte order mark announces, else UTF-8."""
    return "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _rows(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields; blank lines and the empty fields at a line's end do not count."""
    # strict: a quote that is never closed must not swallow the rest of the file in silence
    reader = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for fields in reader:
            while fields and (not fields[-1] or fields[-1].isspace()):
                fields.pop()
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise HierarchyError(
            f"Line {line}: the quotes or fields cannot be read ({error}).",
            hint='close every quote, write a quote inside a label as "", or give the separator',
        ) from error


def _lines(text: str) -> Iterator[str]:
    """Yield one line after the other, without a copy of a whole file of which a few lines are looked at."""
    return (found.group() for found in _LINE.finditer(text))


def _find_separator(text: str) -> str:
    return max(SEPARATORS, key=lambda separator: _fitness(text, separator))


def _fitness(text: str, separator: str) -> tuple[float, bool, bool]:
    """Return how well a separator explains the lines: all are split, and all end in one root, best in ``*``."""
    try:
        rows = [fields for _, fields in islice(_rows(_lines(text), separator), SAMPLE)]
    except HierarchyError:
        return (-1.0, False, False)
    if not rows:
        return (0.0, False, False)
    split = sum(len(fields) > 1 for fields in rows) / len(rows)
    tops = {fields[-1] for fields in rows}
    return (split, tops == {ROOT}, len(tops) == 1)
