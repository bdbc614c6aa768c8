"""What came out: the released table, its groups, its measures, and a safe way to write it."""

from __future__ import annotations

import hashlib
import json
import platform
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal._version import __version__
from shoal.audit import Audit, audit, check_release, count_tuples
from shoal.encoding import CodedTable
from shoal.errors import DataError, ParameterError, PrivacyError, PrivacyWarning
from shoal.files import read_table, replacing, write_table
from shoal.frames import Frame, to_frame
from shoal.generalization import Generalization, Unseen, make_generalization
from shoal.kernels.space import Cover
from shoal.methods.base import Grouping, Task
from shoal.methods.tradeoff import earliest_grouping
from shoal.metrics import Outcome, measure
from shoal.privacy.base import PrivacyModel, Requirement
from shoal.recipe import Recipe, restore_models
from shoal.recoding import released_cover, render
from shoal.report import Report
from shoal.representatives import representatives
from shoal.summary import Release, summarise
from shoal.typing import IntArray
from shoal.validation import check_choice, check_int
from shoal.widening import widen_where_models_hold


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

    # --- global recodings: bug, datafly, incognito ---------------------------------------------------------------

    @property
    def steps(self) -> tuple[Any, ...]:
        """The generalizations in the order they were taken (bug, datafly)."""
        return tuple(self._detail("steps", "takes no steps that are kept"))

    @property
    def solutions(self) -> tuple[Any, ...]:
        """All minimal combinations of levels, the best first (incognito)."""
        return tuple(self._detail("solutions", "does not list other solutions"))

    @cached_property
    def generalization(self) -> Generalization:
        """What each value of each quasi-identifier is released as: readable, saveable, applicable to new records."""
        lack = "does not recode a value alike everywhere, so there is no mapping of values"
        cuts = self._detail("cuts", f"with 'widen' {lack}" if self.recipe.widen else lack)
        return make_generalization(self.coded, cuts, self.recipe.k, [*self.recipe.sensitive, *self.recipe.keep])

    def transform(self, new_rows: Any, *, unseen: Unseen = "refuse") -> Any:
        """Recode new records as this release was, and warn where they are too few to hide among each other.

        Values that only the hierarchy knows follow it; others are refused, or released as ``*`` with
        ``unseen="suppress"``. Nothing is withheld.
        """
        check_choice("Result.transform", "unseen", unseen, ("refuse", "suppress"))
        frame = read_table(new_rows) if isinstance(new_rows, (str, Path)) else to_frame(new_rows)
        recoded = self.generalization.recode(frame, unseen)
        warn_if_exposed(recoded, self.released, self.recipe.quasi_identifiers, self.recipe.k)
        return frame.restore(recoded)

    def at(self, *, k: int) -> Result:
        """Return the release at the earliest step that holds a smaller k: another point of the trade-off."""
        steps = self._detail("steps", "takes no steps that are kept")
        check_int("Result.at", "k", k, least=2, most=self.recipe.k, hint="for a larger k, anonymize again.")
        models = restore_models(self.recipe.models)
        requirements = tuple(model.bind(self.coded) for model in models)
        task = Task(k=k, requirements=requirements, max_suppression=self.recipe.max_suppression)
        grouping = earliest_grouping(self.coded, steps, task)
        recipe = self.recipe.model_copy(update={"k": k})
        return make_result(self.source, self.coded, grouping, recipe, models, requirements)

    def _detail(self, name: str, lack: str) -> Any:
        found = self.details.get(name)
        if found is None:
            raise ParameterError(
                f"The method {self.recipe.method!r} {lack}.",
                hint="the methods 'bug', 'datafly' and 'incognito' recode globally.",
            )
        return found

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
            groups=self.groups,
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


def warn_if_exposed(recoded: pa.Table, released: pa.Table, names: Sequence[str], k: int) -> None:
    """Warn where recoded new records occur in combinations of fewer than k."""
    alone = count_tuples(recoded, names)
    few = int(alone.size[alone.size < k].sum())
    if not few:
        return
    both = pa.concat_tables([recoded.select(names), released.select(names)], promote_options="default")
    together = count_tuples(both, names)
    still = int((together.size[together.label[: recoded.num_rows]] < k).sum())
    warnings.warn(
        f"{few} of {recoded.num_rows} new records share their values with fewer than {k - 1} others among them, "
        f"{still} also when the earlier release is counted in. Audit what you publish with shoal.audit.",
        PrivacyWarning,
        stacklevel=3,
    )


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


# --- making one --------------------------------------------------------------------------------------------------


def make_result(
    frame: Frame,
    coded: CodedTable,
    grouping: Grouping,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
) -> Result:
    """Render what a method found, count it again, and measure it."""
    cover = released_cover(coded, grouping)
    if recipe.widen:
        cover = widen_where_models_hold(coded, grouping.labels, cover, recipe.widen, recipe.seed, requirements)
    released = _assemble(frame, coded, grouping, cover, recipe)
    _verify(released, grouping.labels, recipe, models, requirements)
    metrics = measure(Outcome(coded, grouping.labels, cover, recipe.k))
    return Result(
        released=released,
        groups=grouping.labels,
        metrics=metrics | _certificate(metrics["ncp"], grouping.details.get("lower_bound")),
        audit=audit(released, quasi_identifiers=recipe.quasi_identifiers, sensitive=recipe.sensitive),
        recipe=recipe,
        coded=coded,
        cover=cover,
        source=frame,
        details=dict(grouping.details) | {"cuts": None if recipe.widen else grouping.cuts},
    )


def _certificate(loss: float, bound: float | None) -> dict[str, float]:
    """Return the least loss any grouping can have, where the method knows one, and the share of the loss above it."""
    if bound is None:
        return {}
    return {"lower_bound": bound, "gap": 1 - bound / loss if loss > 0 else 0.0}


def _assemble(frame: Frame, coded: CodedTable, grouping: Grouping, cover: Cover, recipe: Recipe) -> pa.Table:
    """Put the released table together: recoded, sensitive and kept columns in the order of the input."""
    kept = np.flatnonzero(grouping.labels >= 0)
    recoded = (
        representatives(coded, grouping.labels, grouping.typical)
        if recipe.release == "representatives"
        else render(coded, grouping.labels, cover)
    )
    passed = {*recipe.sensitive, *recipe.keep}
    columns: dict[str, Any] = {}
    for name in frame.names:
        if name in recoded:
            columns[name] = recoded[name]
        elif name in passed:
            column = frame.table.column(name)
            columns[name] = column if len(kept) == frame.records else column.take(pa.array(kept))
    return pa.table(columns)


def _verify(
    released: pa.Table,
    labels: IntArray,
    recipe: Recipe,
    models: Sequence[PrivacyModel],
    requirements: Sequence[Requirement],
) -> None:
    """Count the rendered rows again, independently of the groups, and check every model on that count."""
    check_release(released, recipe.quasi_identifiers, recipe.k)
    withheld = int((labels < 0).sum())
    if withheld > recipe.max_suppression * len(labels):
        raise PrivacyError(
            f"{withheld} records would have to be withheld, more than 'max_suppression' allows "
            f"({recipe.max_suppression:g} of {len(labels)}). Nothing was released.",
            hint="allow more suppression, lower k, or take another method.",
        )
    counted = np.full(len(labels), -1, np.int32)
    counted[labels >= 0] = count_tuples(released, recipe.quasi_identifiers).label
    for model, requirement in zip(models, requirements, strict=True):
        failing = int(requirement.failing(counted, int(counted.max(initial=-1)) + 1).sum())
        if failing:
            raise PrivacyError(
                f"{type(model).__name__} does not hold in {failing} groups. Nothing was released.",
                hint="relax the model, allow suppression, or take another method.",
            )
