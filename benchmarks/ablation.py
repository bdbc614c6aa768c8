"""Does each part of the optimiser earn its place? Every part is switched off in turn, and what is lost without it is measured.

python -m benchmarks.optimise --ablate             all tables, k = 5, 10, 50, at efforts balanced and best
python -m benchmarks.optimise --ablate --sizes 10 --efforts balanced --records 2000

Tables are samples of Adult in the settings X, A and S and tables of other shapes. A part is compared at the efforts that use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import shoal
from benchmarks.adult import coded, sample
from benchmarks.measuring import Row, Table, cpu_seconds, write_page
from benchmarks.optimise import SHAPES, loss_of, made
from shoal.arrays import Effort
from shoal.encoding import CodedTable
from shoal.methods.base import Task
from shoal.methods.optimise.params import EFFORTS, Params

KERNELS = Path(shoal.__file__).parent / "kernels" / "optimise"
ALWAYS: tuple[Effort, ...] = ("balanced", "best")
BEST: tuple[Effort, ...] = ("best",)


@dataclass(frozen=True)
class Part:
    """Something that can be switched off."""

    name: str
    switch_off: Callable[[Params], Params]
    files: tuple[str, ...] = ()
    """The kernels that would go with it."""
    efforts: tuple[Effort, ...] = ALWAYS

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
    Part("start: finer cells", without("finer-cells")),
    Part("start: grown", without("grown"), ("construct/grow.py",)),
    Part("start: k-member", without("k-member")),
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
    Part("cooler after a rise", changed("annealing", cooling=1.0)),
    Part("dual prices", without("pricing"), ("cells/depth_first.py", "pricing/dual_ascent.py")),
    Part("learned cells", without("learning"), ("cells/variants.py", "cells/neighbourhood.py"), BEST),
    Part(
        "exchange",
        without("exchange"),
        ("operators/exchange.py", "operators/chains.py", "operators/exchange_estimate.py"),
    ),
    Part("reopen", without("reopen"), ("operators/reopen.py",)),
    Part("temperature of exchange", changed("exchange", temperature=0.0)),
    Part("temperature of reopening", changed("reopen", temperature=0.0)),
    Part("recombined runs", changed("recombine", later_runs=0), efforts=BEST),
    Part("warmer later runs", changed("recombine", reheat=1.0), efforts=BEST),
)


def tables(records: int) -> Iterator[tuple[str, CodedTable]]:
    """Yield samples of Adult and tables of other shapes."""
    frame = sample(records)
    for setting in "XAS":
        yield f"Adult, {setting}", coded(setting, frame)
    for shape in SHAPES:
        yield shape, made(shape, records)


def measure(table: CodedTable, k: int, effort: Effort, params: Params) -> tuple[float, float]:
    """Return loss and CPU seconds of one run."""
    found, seconds = cpu_seconds(lambda: shoal.Optimise(params=params).run(table, Task(k=k, effort=effort)))
    return loss_of(table, found.labels), seconds


def ablate(sizes: Sequence[int], efforts: Sequence[Effort], records: int) -> Iterator[Row]:
    """Yield what each part gains on each table; a loss of 0 cannot be improved and is left out."""
    for name, table in tables(records):
        for effort in efforts:
            for k in sizes:
                full = EFFORTS[str(effort)]
                loss, seconds = measure(table, k, effort, full)
                for part in PARTS:
                    if effort not in part.efforts or loss == 0.0:
                        continue
                    alone, spent = measure(table, k, effort, part.switch_off(full))
                    row: Row = {
                        "part": part.name,
                        "table": name,
                        "k": k,
                        "effort": effort,
                        "loss": loss,
                        "without": alone,
                    }
                    row |= {"gain %": round(100.0 * (alone / loss - 1.0), 2), "CPU s": round(seconds, 2)}
                    row |= {"CPU s without": round(spent, 2)}
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


def publish_ablation(sizes: Sequence[int], efforts: Sequence[Effort], records: int) -> None:
    """Measure and publish."""
    rows = list(ablate(sizes, efforts, records))
    note = (
        f"Samples of {records:,} records, seed 0. The gain is how much more is lost without the part, in per cent. "
        "Single figures vary by a few tenths of a per cent with the seed, for without a part all random numbers after it are others."
    )
    command = f"python -m benchmarks.optimise --ablate --records {records} --sizes {','.join(map(str, sizes))} --efforts {','.join(map(str, efforts))}"
    parts = [Table("What each part gains", note, summed(rows)), Table("All figures", "", rows)]
    write_page("optimise_ablation", "The optimiser without each of its parts", parts, command)
