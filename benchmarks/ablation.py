"""Does each part of the optimizer earn its place? Every part is switched off in turn, and what is lost without it is measured.

python -m benchmarks.optimize --ablate             Adult as a whole in the settings X, A, S and made tables; k = 5, 10, 50
python -m benchmarks.optimize --ablate --tables "A;deep hierarchies" --sizes 10 --efforts balanced

A part is compared on the tables and at the efforts that use it. Rows kept before stay, so that a long run can be made in pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import shoal
from benchmarks.adult import coded
from benchmarks.measuring import Row, Table, cpu_seconds, kept_rows, write_page
from benchmarks.optimize import SHAPES, loss_of, made
from shoal.arrays import Effort
from shoal.encoding import CodedTable
from shoal.methods.base import Task
from shoal.methods.optimize.params import EFFORTS, Params

KERNELS = Path(shoal.__file__).parent / "kernels" / "optimize"
PAGE = "optimize_ablation"
TABLES = ("X", "A", "S", *SHAPES)
ALWAYS: tuple[Effort, ...] = ("balanced", "best")
BEST: tuple[Effort, ...] = ("best",)
Uses = Callable[[CodedTable, Params], bool]


def always(_table: CodedTable, _params: Params) -> bool:
    """Tell that every table uses a part."""
    return True


def by_hierarchy(table: CodedTable, params: Params) -> bool:
    """Return whether all cells can be enumerated, and dual prices are worked out for them."""
    return params.pricing.visits > 0 and all(one.hierarchy is not None for one in table.columns)


def not_by_hierarchy(table: CodedTable, params: Params) -> bool:
    """Return whether cells have to be learned from groups."""
    return not by_hierarchy(table, params)


def with_cells(table: CodedTable, params: Params) -> bool:
    """Return whether there are cells to open, enumerated or learned."""
    return by_hierarchy(table, params) or params.learning.first_round > 0


def with_windows(table: CodedTable, _params: Params) -> bool:
    """Return whether a column has windows of numbers."""
    return any(one.kind.ordered for one in table.columns)


def is_small(table: CodedTable, params: Params) -> bool:
    """Return whether there are few enough records for k-member."""
    return table.records <= params.construct.k_member_records


@dataclass(frozen=True)
class Part:
    """Something that can be switched off."""

    name: str
    switch_off: Callable[[Params], Params]
    files: tuple[str, ...] = ()
    """The kernels that would go with it."""
    efforts: tuple[Effort, ...] = ALWAYS
    uses: Uses = always
    """Whether a table uses it at all."""

    @property
    def lines(self) -> int | None:
        """Lines of these kernels."""
        return sum(len((KERNELS / name).read_text("utf-8").splitlines()) for name in self.files) or None


def without(name: str) -> Callable[[Params], Params]:
    """Return a switch that leaves a start or an operator out."""
    return lambda params: replace(params, without=(*params.without, name))


def changed(part: str, **values: float) -> Callable[[Params], Params]:
    """Return a switch that changes parameters of a part."""
    return lambda params: replace(params, **{part: replace(getattr(params, part), **values)})


PARTS = (
    Part("start: cuts", without("cuts")),
    Part("start: cells", without("cells"), ("cells/best_first.py", "cells/levels.py")),
    Part("start: finer cells", without("finer-cells"), uses=with_windows),
    Part("start: grown", without("grown"), ("construct/grow.py",)),
    Part("start: k-member", without("k-member"), uses=is_small),
    Part("start: bottom-up", without("bottom-up"), efforts=BEST),
    Part("start: top-down", without("top-down"), efforts=BEST),
    Part("trial of two starts", changed("annealing", close=1.0)),
    Part("relocate and swap", without("relocate-swap"), ("operators/relocate_swap.py",)),
    Part("dissolve", without("dissolve")),
    Part("evict", without("evict"), ("operators/evict.py",)),
    Part("rebuild", without("rebuild"), ("operators/rebuild.py", "cells/steps.py")),
    Part("noise of rebuilding", changed("local_moves", noise=0.0)),
    Part("temperature of moves", changed("annealing", temperature=0.0)),
    Part("temperature of rebuilding", changed("local_moves", rebuild_temperature=0.0)),
    Part("cooler after a rise", changed("annealing", cooling=1.0), uses=not_by_hierarchy),
    Part("dual prices", without("pricing"), ("cells/depth_first.py", "pricing/dual_ascent.py"), uses=by_hierarchy),
    Part("learned cells", without("learning"), ("cells/variants.py", "cells/neighbourhood.py"), BEST, not_by_hierarchy),
    Part("reopen", without("reopen"), ("operators/reopen.py",), uses=with_cells),
    Part("temperature of reopening", changed("reopen", temperature=0.0), uses=with_cells),
    Part("recombined runs", changed("recombine", later_runs=0), efforts=BEST, uses=by_hierarchy),
    Part("warmer later runs", changed("recombine", reheat=1.0), efforts=BEST, uses=by_hierarchy),
)


def table_of(name: str, records: int) -> CodedTable:
    """Return Adult as a whole in a setting, or a made table of some records."""
    return made(name, records) if name in SHAPES else coded(name)


def measure(table: CodedTable, k: int, effort: Effort, params: Params) -> tuple[float, float]:
    """Return loss and CPU seconds of one run."""
    found, seconds = cpu_seconds(lambda: shoal.Optimize(params=params).run(table, Task(k=k, effort=effort)))
    return loss_of(table, found.labels), seconds


def ablate(name: str, records: int, k: int, effort: Effort) -> Iterator[Row]:
    """Yield what each part gains on a table; a loss of 0 cannot be improved and is left out."""
    table, full = table_of(name, records), EFFORTS[str(effort)]
    loss, seconds = measure(table, k, effort, full)
    for part in PARTS:
        if effort not in part.efforts or loss == 0.0 or not part.uses(table, full):
            continue
        alone, spent = measure(table, k, effort, part.switch_off(full))
        row: Row = {"part": part.name, "table": name, "records": table.records, "k": k, "effort": effort}
        row |= {"loss": loss, "without": alone, "gain %": round(100.0 * (alone / loss - 1.0), 2)}
        row |= {"CPU s": round(seconds, 2), "CPU s without": round(spent, 2)}
        print(row, flush=True)
        yield row


def summed(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each part: its least, mean and largest gain, what it costs in time, and its lines of code."""
    found = []
    for part in PARTS:
        own = [row for row in rows if row["part"] == part.name]
        if own:
            gains = [row["gain %"] for row in own]
            most = max(own, key=lambda row: row["gain %"])
            time = sum(row["CPU s"] for row in own) / sum(row["CPU s without"] for row in own)
            found.append(
                {
                    "part": part.name,
                    "least gain %": min(gains),
                    "mean gain %": round(sum(gains) / len(gains), 2),
                    "largest gain %": most["gain %"],
                    "there": f"{most['table']}, k = {most['k']}, {most['effort']}",
                    "time with / without": round(time, 2),
                    "lines of kernels": part.lines,
                }
            )
    return found


def place_of(row: Row) -> tuple[int, int, int, int, str]:
    """Return where a row stands on the page: one for each part, table, number of records, k and effort."""
    table = TABLES.index(str(row["table"]))
    return table, int(row["records"]), int(row["k"]), ALWAYS.index(row["effort"]), str(row["part"])


def publish_ablation(names: Sequence[str], sizes: Sequence[int], efforts: Sequence[Effort], records: int) -> None:
    """Measure, and add what was measured to the page."""
    kept = {place_of(row): row for row in kept_rows(PAGE) if "records" in row}  # not those of the summary
    for name in names:
        for effort in efforts:
            for k in sizes:
                kept |= {place_of(row): row for row in ablate(name, records, k, effort)}
                write_ablation([kept[place] for place in sorted(kept)])


def write_ablation(rows: Sequence[Row]) -> None:
    """Write the page."""
    note = (
        "Seed 0, on the tables, sizes and efforts of the second table only. The gain is how much more is lost without the part, in per cent. "
        "Single figures vary by a few tenths of a per cent with the seed, for without a part all random numbers after it are others. "
        "A part is left out where a table does not use it."
    )
    parts = [Table("What each part gains", note, summed(rows)), Table("All figures", "", rows)]
    write_page(PAGE, "The optimizer without each of its parts", parts, "python -m benchmarks.optimize --ablate")
