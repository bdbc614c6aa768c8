"""What the columns of a release look like in a file: their notation, labels or codes, and what may be published about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cells.parse import parse_cell
from shoal.cells.recode import range_text, set_text
from shoal.encoding import value_texts
from shoal.errors import DataError
from shoal.frames import Frame, Layout
from shoal.frames.canonical import encode_dictionary, is_period, is_text
from shoal.frames.compact import compact
from shoal.io.registry import file_source
from shoal.notation import ValueLabels
from shoal.publication import About, Declared, Labelling, labelled, public_trees
from shoal.publication.code_labels import code_text
from shoal.publication.plain_columns import Cells
from shoal.summary import Release

Describing = bool | Mapping[str, Any] | About
"""Whether a release gets a dictionary, or what the publisher says in it."""


class Written(NamedTuple):
    """What the files of a release take from the original table."""

    plain: Mapping[str, pa.ChunkedArray]
    """The released columns of text whose numbers or dates a text file writes otherwise than the original did."""
    own: Mapping[str, pa.ChunkedArray]
    """The released columns that were not changed, in the type that came."""
    trees: Mapping[str, dict[str, Any]]
    """What released cells show of the hierarchies."""


class Shown(NamedTuple):
    """How a file shows what a release holds."""

    cells: Cells = "text"
    labels: Labelling | None = None
    """Labels or codes; without a choice codes if the format holds their labels, and labels elsewhere."""
    missing_codes: bool = False
    """Whether codes that stand for a missing value are written; formats that know such codes have them anyway."""


USUAL = Shown()
"""What a file shows without any choice."""


def columns_to_write(release: Release, target: Path, written: Written | None = None, shown: Shown = USUAL) -> pa.Table:
    """Return a release as a file of this name holds it: text is readable and in one notation, all else has the type that came.

    ``written`` replaces the original table if that is no longer available.
    """
    source, released = file_source(target.name), release.released
    if source.is_text:
        own = written.plain if written else plain_columns(release)
    else:
        own = written.own if written else own_columns(release)
    table = pa.table({name: own.get(name, released.column(name)) for name in released.column_names})
    table = readable(table) if source.is_text else table
    keeps = source.keeps_codes(target.name)
    how: Labelling = shown.labels or ("codes" if keeps else "text")
    labels = release.source.labels
    for name, codes in labelled_codes(release, written).items():
        column = labelled(codes, labels[name], how, missing_codes=shown.missing_codes or keeps)
        table = table.set_column(table.column_names.index(name), name, column)
    for name in release.recipe.quasi_identifiers if shown.labels == "codes" else ():
        if name in labels:
            place = table.column_names.index(name)
            table = table.set_column(place, name, cells_as_codes(name, table.column(name), labels[name]))
    return table


def readable(released: pa.Table) -> pa.Table:
    """Return a table with periods and durations as text, which a text file has no other form for."""
    for place, field in enumerate(released.schema):
        if is_period(field.type) or pa.types.is_duration(field.type):
            encoded = encode_dictionary(released.column(place))
            texts = value_texts(encoded.dictionary).take(encoded.indices)
            released = released.set_column(place, field.name, texts)
    return released


def plain_columns(release: Release) -> dict[str, pa.ChunkedArray]:
    """Return the released columns of text that are not recoded and hold numbers or dates in another notation, in the plain one.

    Ranges are written with decimal points and ISO dates, so one file would otherwise mix two notations. A column that does not show its
    decimal mark has that of the others, as far as they are released: no mark may reveal how a removed column was written.
    """
    rows = release.source.select(release.released.column_names)
    rows = rows if len(release.kept) == rows.records else rows.at(release.kept)
    for name in {*release.treated}.intersection(rows.names):
        place = rows.names.index(name)
        rows = replace(rows, table=rows.table.set_column(place, name, release.released.column(name)))
    left = {*release.recipe.quasi_identifiers, *release.recipe.pseudonymize, *rows.labels}
    return _plain(rows, [name for name in rows.names if name not in left])


def plain_kept(frame: Frame, recoded: pa.Table, names: Collection[str]) -> pa.Table:
    """Return recoded rows of a table with their other columns, ``names`` excepted, in the plain notation."""
    own = _plain(frame, [name for name in recoded.column_names if name not in names and name not in frame.labels])
    return pa.table({name: own.get(name, recoded.column(name)) for name in recoded.column_names})


def _plain(frame: Frame, names: Collection[str]) -> dict[str, pa.ChunkedArray]:
    return {name: frame.plain(name) for name in names if frame.reading(name).form}


def own_columns(release: Release) -> Mapping[str, pa.ChunkedArray]:
    """Return the released columns that were not changed, in the type that came, or that their rows show if the file names none."""
    kept = pa.array(np.flatnonzero(release.groups >= 0))
    names = [name for name in release.released.column_names if name not in release.changed]
    if release.source.untyped:
        shown = replace(release.source, table=release.released.select(names), native=None)
        return {name: compact(shown.typed(name)) for name in names}
    native = release.source.native
    if native is None or isinstance(native.table, pa.Table):
        own = {name: compact(release.source.own(name).take(kept)) for name in names}
        return {name: release.source.as_shown(name, column) for name, column in own.items()}
    return {name: release.source.passed(name, release.kept) for name in names}


# --- labels and codes ------------------------------------------------------------------------------------------------


def without_rows(
    source: Frame,
    released: pa.Table,
    changed: Collection[str] = (),
    codes: Mapping[str, pa.ChunkedArray] | None = None,
) -> Frame:
    """Return how a table is laid out and labelled, as far as the released rows show it: no row, and no label of a code that none of them has.

    ``codes`` are the columns that the rows show as labels. A column that was ``changed`` keeps its title alone.
    """
    schema = pa.schema([(name, source.table.schema.field(name).type) for name in released.column_names])
    labels = {}
    for name, one in source.labels.items():
        if name in changed:
            labels[name] = one.of_cells(ordered=_has_ranges(released.column(name)))
        elif name in released.column_names:
            labels[name] = one.of_values(pc.unique((codes or {}).get(name, released.column(name))))
    return Frame(
        schema.empty_table(), source.kind, source.untyped, source.notation, labels=labels, layout=source.layout
    )


def source_shown(release: Release, written: Written | None = None) -> Frame:
    """Return ``without_rows`` of the table that a release was made from."""
    return without_rows(release.source, release.released, release.changed, labelled_codes(release, written))


def labelled_codes(release: Release, written: Written | None) -> Mapping[str, pa.ChunkedArray]:
    """Return the codes of the released columns that were not changed and have labels."""
    names = [name for name in release.source.labels if name in release.released.column_names]
    own = (written.own if written else own_columns(release)) if names else {}
    return {name: own[name] for name in names if name in own}


def _has_ranges(column: pa.ChunkedArray) -> bool:
    texts = encode_dictionary(column).dictionary
    return is_text(texts.type) and bool(pc.any(pc.starts_with(texts.cast(pa.string()), "[")).as_py())


def cells_as_codes(name: str, column: pa.ChunkedArray, one: ValueLabels) -> pa.ChunkedArray:
    """Return recoded cells with codes instead of labels; labels of a hierarchy that are not values stay."""
    codes: dict[str, str] = {}
    for code, label in one.labels.items():
        if codes.setdefault(label, code_text(code)) != code_text(code):
            raise DataError(
                f"The column {name!r} cannot be written as codes: two codes have one label.",
                hint="write labels='text'.",
            )
    encoded = encode_dictionary(column)
    if not is_text(encoded.dictionary.type):
        return column
    texts = [_as_code(text, codes) for text in encoded.dictionary.cast(pa.string()).to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string()).take(encoded.indices)])


def _as_code(text: str, codes: Mapping[str, str]) -> str:
    cell = parse_cell(text)
    values = [codes.get(value, value) for value in cell.values]
    if cell.form == "range":
        return range_text(*values)
    if cell.form == "set":
        return set_text(values)
    return codes.get(cell.values[0], text) if cell.form == "value" else text


# --- what may be published ---------------------------------------------------------------------------------------


def declared_of(release: Release, form: str, dictionary: Describing = True, written: Written | None = None) -> Declared:
    """Return what may be published about a release besides its rows; nothing of the original gets past this function."""
    source = source_shown(release, written)
    layout = source.layout or Layout(",", "utf-8")
    return Declared(
        recipe=release.recipe,
        trees=written.trees if written else shown_trees(release),
        labels=source.labels,
        separator=layout.separator,
        encoding=layout.encoding,
        untyped=form == "text" and source.untyped,
        about=About() if isinstance(dictionary, bool) else About.of(dictionary),
        counts=release.counts,
    )


def shown_trees(release: Release) -> dict[str, dict[str, Any]]:
    """Return what released cells show of the hierarchies of quasi-identifiers."""
    trees = {one.name: one.hierarchy for one in release.coded.columns if one.hierarchy is not None}
    return public_trees(release.recipe, trees, release.released)
