"""New records recoded into a file like an earlier release, counted before the file gets its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, IntArray
from shoal.audit import count_tuples
from shoal.encoding import value_texts
from shoal.errors import DataError, ParameterError, PrivacyError, PrivacyWarning, warn
from shoal.frames import Frame
from shoal.frames.canonical import encode_dictionary
from shoal.io.files import file_format, open_table, write_table
from shoal.recount.rows import count_owners, recount
from shoal.results.columns import plain_kept, readable, without_rows
from shoal.results.generalization import Generalization, Unseen
from shoal.results.save import rows_to_write
from shoal.validation import check_columns


def transform_file(
    frame: Frame,
    mapping: Generalization,
    target: Path,
    *,
    earlier: Frame | None = None,
    unseen: Unseen = "refuse",
    allow_exposed: bool = False,
) -> int:
    """Write recoded new records; return how many share their values with too few others, which is refused unless allowed.

    ``earlier`` is the release the mapping was made for: its records are counted in.
    """
    owners = mapping.owners(frame)
    if owners and earlier is not None:
        raise ParameterError(
            f"New records are counted by {' and '.join(owners)}, which the earlier release does not identify. Got an earlier release.",
            hint="leave it out.",
        )
    recoded = mapping.recode(frame, unseen)
    few, alone = exposed_records(recoded, earlier, mapping, owners), exposed_records(recoded, earlier, mapping)
    if few and not allow_exposed:
        raise PrivacyError(
            f"{few} of {recoded.num_rows} new records share their values with fewer than {mapping.k - 1} {_others(owners)}. "
            "Nothing was written.",
            hint="count the earlier release in with --with, wait for more records, or take --allow-exposed for a file that stays in the house.",
        )
    if few:
        warn(f"{few} of {recoded.num_rows} new records can be recognized. Do not publish them.", PrivacyWarning)
    form = file_format(target)
    recoded = plain_kept(frame, recoded, mapping.columns) if form == "text" else recoded
    rows = rows_to_write(readable(recoded), form, shuffle=True, spreadsheet_safe=False)
    write_table(rows, target, without_rows(frame, recoded))
    written = open_table(target).table
    if exposed_records(written, earlier, mapping) != alone or written.num_rows != rows.num_rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    return few


def _others(owners: Mapping[str, Any]) -> str:
    """Return who is counted, in words."""
    return f"other {' or '.join(owners)}" if owners else "others"


def exposed_records(
    recoded: pa.Table,
    earlier: Frame | None,
    mapping: Generalization,
    owners: Mapping[str, pa.ChunkedArray] | None = None,
) -> int:
    """Return how many recoded records share their values with fewer than k - 1 others; with ``owners`` these are persons or households."""
    names = list(mapping.columns)
    tables = [recoded.select(names)]
    if earlier is not None:
        check_columns("a quasi-identifier of the earlier release", names, earlier.names)
        tables.append(earlier.table.select(names))
    texts = [pa.table({name: table.column(name).cast(pa.string()) for name in names}) for table in tables]
    label = recount(pa.concat_tables(texts), names)
    return int(_exposed(label, owners or {}, mapping.k)[: recoded.num_rows].sum())


def _exposed(label: IntArray, owners: Mapping[str, pa.ChunkedArray], k: int) -> BoolArray:
    """Return which records share their label with too few records, persons or households."""
    few = np.bincount(label)[label] < k
    for column in owners.values():
        few |= count_owners(label, column)[label] < k
    return np.asarray(few, np.bool_)


def warn_if_exposed(
    recoded: pa.Table,
    released: pa.Table,
    names: Sequence[str],
    k: int,
    owners: Mapping[str, pa.ChunkedArray],
    earlier: Mapping[str, pa.ChunkedArray],
) -> None:
    """Warn if recoded new records occur in combinations of fewer than k; ``owners`` and ``earlier`` hold the persons and households of the records."""
    few = int(_exposed(count_tuples(recoded, names).label, owners, k).sum())
    if not few:
        return
    both = pa.concat_tables([recoded.select(names), released.select(names)], promote_options="default")
    everybody = {unit: _joined(column, earlier[unit]) for unit, column in owners.items()}
    together = _exposed(count_tuples(both, names).label, everybody, k)
    still = int(together[: recoded.num_rows].sum())
    warn(
        f"{few} of {recoded.num_rows} new records share their values with fewer than {k - 1} {_others(owners)} among them, "
        f"{still} also when the earlier release is counted in. Audit what you publish with shoal.audit.",
        PrivacyWarning,
    )


def _joined(new: pa.ChunkedArray, earlier: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the owners of new and of earlier records as one column of texts."""
    parts = [_texts(one) for one in (new, earlier)]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], pa.string())


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    encoded = encode_dictionary(column)
    return pa.chunked_array([value_texts(encoded.dictionary).take(encoded.indices)])
