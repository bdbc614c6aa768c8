"""What came out: the released table, its groups, its measures, and a safe way to write it."""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal._version import __version__
from shoal.audit import Audit, check_release
from shoal.encoding import CodedTable
from shoal.errors import DataError, PrivacyWarning
from shoal.files import read_table, replacing, write_table
from shoal.frames import Frame
from shoal.kernels.space import Cover
from shoal.recipe import Recipe
from shoal.report import Report
from shoal.summary import Release, summarise
from shoal.typing import IntArray


@dataclass(frozen=True, repr=False)
class Result:
    """A verified release. Made by ``shoal.anonymize``; nothing in it can be changed."""

    released: pa.Table
    """The released rows in input order, without identifiers and withheld records."""
    groups: IntArray
    """The group of each input row, -1 for a withheld one."""
    metrics: Mapping[str, Any]
    """What was lost, by every registered metric."""
    audit: Audit
    """What protection the released rows have, counted again."""
    recipe: Recipe
    """All parameters, to repeat it."""
    coded: CodedTable
    """The quasi-identifiers as integers, for measures that need the original."""
    cover: Cover
    """The box each group is released as."""
    source: Frame
    """The original table."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the method tells beyond its groups."""

    @cached_property
    def data(self) -> Any:
        """The released rows in input order, as the kind of table that came in."""
        return self.source.restore(self.released)

    @property
    def suppressed(self) -> int:
        """The number of records withheld."""
        return int((self.groups < 0).sum())

    def __repr__(self) -> str:
        withheld = f", {self.suppressed:,} withheld" if self.suppressed else ""
        return (
            f"<shoal.Result: {self.released.num_rows:,} records in {self.audit.groups:,} groups of at least "
            f"{self.audit.k}, information loss {self.metrics['ncp']:.4f}{withheld}>"
        )

    def save(self, path: str | Path, *, force: bool = False, shuffle: bool = True, sidecar: bool = False) -> Path:
        """Write the release as CSV or Parquet, verified from disk before it appears under its name.

        Parameters
        ----------
        path
            Target; the ending decides the format (``.csv``, ``.tsv``, ``.csv.gz``, ``.parquet``).
        force
            Replace an existing file.
        shuffle
            Write the rows in a fresh random order. The input order can name people, so ``False`` warns.
        sidecar
            Also write ``<name>.json`` with the recipe, hash of the input, seed, versions and measures.
        """
        target = Path(path)
        rows = self._rows_to_write(shuffle=shuffle)
        with replacing(target, force=force, needs=rows.nbytes) as temporary:
            write_table(rows, temporary)
            self._verify(temporary)
            if sidecar:
                self._save_sidecar(sidecar_path(target), force=force)
        return target

    def _rows_to_write(self, *, shuffle: bool) -> pa.Table:
        if not shuffle:
            warnings.warn(
                "The rows are written in the order of the input, which can help to name people.",
                PrivacyWarning,
                stacklevel=3,
            )
            return self.released
        order = np.random.default_rng(secrets.randbits(128)).permutation(self.released.num_rows)
        return self.released.take(pa.array(order))

    def _verify(self, path: Path) -> None:
        """Read a written file back and count it again."""
        written = read_table(path).table
        if written.column_names != self.released.column_names or written.num_rows != self.released.num_rows:
            raise DataError("The file read back differs from what was written. Nothing was released.")
        check_release(written, self.recipe.quasi_identifiers, self.recipe.k)

    def _save_sidecar(self, path: Path, *, force: bool) -> None:
        with replacing(path, force=force) as temporary:
            temporary.write_text(json.dumps(self.provenance(), indent=2, default=str) + "\n", encoding="utf-8")

    def report(self, *, examples: bool = False) -> Report:
        """Return what was done, gained and lost, to save as ``.html``, ``.md`` or ``.json``.

        It holds no row of the original, unless ``examples`` asks for some beside the released ones.
        """
        release = Release(
            source=self.source,
            coded=self.coded,
            labels=self.groups,
            cover=self.cover,
            released=self.released,
            metrics=self.metrics,
            audit=self.audit,
            recipe=self.recipe,
            details=self.details,
            input_sha256=table_hash(self.source.table),
        )
        return Report(summarise(release, examples=examples))

    def provenance(self) -> dict[str, Any]:
        """Return where the release comes from: input hash, recipe, versions, measures; no rows."""
        return {
            "shoal": __version__,
            "python": platform.python_version(),
            "pyarrow": pa.__version__,
            "numpy": np.__version__,
            "input_sha256": table_hash(self.source.table),
            "recipe": self.recipe.model_dump(exclude_none=True),
            "metrics": dict(self.metrics),
            "audit": self.audit.as_dict(),
        }


def sidecar_path(release: Path) -> Path:
    """Return the file beside a release that says where it comes from."""
    return release.with_name(release.name.split(".")[0] + ".json")


def table_hash(table: pa.Table) -> str:
    """Return a SHA-256 of a table's names, types and values."""
    digest = hashlib.sha256()

    class _Sink:
        closed = False

        def write(self, data: Any) -> int:
            digest.update(data)
            return len(data)

        def flush(self) -> None: ...

        def close(self) -> None: ...

    with pa.ipc.new_stream(pa.PythonFile(_Sink(), mode="w"), table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return digest.hexdigest()
