"""New records recoded into a file like an earlier release, counted before the file gets its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.audit import count_tuples
from shoal.audit.recount import recount
from shoal.errors import DataError, PrivacyError, PrivacyWarning, warn
from shoal.frames import Frame
from shoal.generalization import Generalization, Unseen
from shoal.io.files import file_format, open_table, write_table
from shoal.saving import readable, rows_to_write
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
    recoded = mapping.recode(frame, unseen)
    few = exposed_records(recoded, earlier, mapping)
    if few and not allow_exposed:
        raise PrivacyError(
            f"{few} of {recoded.num_rows} new records share their values with fewer than {mapping.k - 1} others. "
            "Nothing was written.",
            hint="count the earlier release in with --with, wait for more records, or take --allow-exposed for a file that stays in the house.",
        )
    if few:
        warn(f"{few} of {recoded.num_rows} new records can be recognised. Do not publish them.", PrivacyWarning)
    rows = rows_to_write(readable(recoded), file_format(target), shuffle=True, spreadsheet_safe=False)
    write_table(rows, target, frame)
    written = open_table(target).table
    if exposed_records(written, earlier, mapping) != few or written.num_rows != rows.num_rows:
        raise DataError("The file read back differs from what was written. Nothing was released.")
    return few


def exposed_records(recoded: pa.Table, earlier: Frame | None, mapping: Generalization) -> int:
    """Return how many recoded records share their values with fewer than k - 1 others."""
    names = list(mapping.columns)
    tables = [recoded.select(names)]
    if earlier is not None:
        check_columns("a quasi-identifier of the earlier release", names, earlier.names)
        tables.append(earlier.table.select(names))
    texts = [pa.table({name: table.column(name).cast(pa.string()) for name in names}) for table in tables]
    label = recount(pa.concat_tables(texts), names)
    size = np.bincount(label)
    return int((size[label[: recoded.num_rows]] < mapping.k).sum())


def warn_if_exposed(recoded: pa.Table, released: pa.Table, names: Sequence[str], k: int) -> None:
    """Warn where recoded new records occur in combinations of fewer than k."""
    alone = count_tuples(recoded, names)
    few = int(alone.size[alone.size < k].sum())
    if not few:
        return
    both = pa.concat_tables([recoded.select(names), released.select(names)], promote_options="default")
    together = count_tuples(both, names)
    still = int((together.size[together.label[: recoded.num_rows]] < k).sum())
    warn(
        f"{few} of {recoded.num_rows} new records share their values with fewer than {k - 1} others among them, "
        f"{still} also when the earlier release is counted in. Audit what you publish with shoal.audit.",
        PrivacyWarning,
    )
