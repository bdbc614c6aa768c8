"""The twelve reference cells of microaggregation: what shoal reaches, and what it proves that nobody can be below.

python -m benchmarks.papers.records            after benchmarks.papers.microaggregation, whose kept losses it takes up
python -m benchmarks.papers.records --quick    two cells with little effort

Each cell is kept as soon as it is there, and one whose linear program is solved is not worked out again: a run may be stopped and begun again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.measuring import RESULTS, Row, kept_rows
from benchmarks.papers.certificate import MOST_RECORDS, certify
from benchmarks.papers.microaggregation import PUBLISHED_MDAV, SIZES, lost_percent, optimized, reference_set
from benchmarks.papers.tables import Table, parse_arguments, write_tables
from shoal.arrays import FloatArray
from shoal.kernels.search import kdtree, nearest
from shoal.methods.microaggregation.scaling import as_coordinates

SECONDS = 400.0
"""How long column generation may take, by the wall clock; with about 1,000 records it ends by itself at k = 3 and 4."""
TRIED = (3, 4, 5)
"""Sizes of k that column generation is tried on."""
SOLVED, STOPPED, NEIGHBOURS = "linear program, solved", "linear program, stopped", "nearest neighbours"
RAISED = "bound of k = {}, raised"


def neighbour_bound(points: FloatArray, k: int) -> float:
    """Return a sum of squares that no grouping is below: every record in a group with its k - 1 nearest.

    The sum of squares of a group of s is Σ|x - y|²/(2s) over its ordered pairs. A record's share of it is least where its s - 1 others are
    its nearest, and, the mean with its own 0 rising with s, where s = k.
    """
    tree = kdtree.build_tree(points, 16)
    near = nearest.nearest_table(tree, points, 0, len(points), k - 1)
    squared = ((points[:, None, :] - points[near]) ** 2).sum(axis=2)
    return float(squared.sum() / (2 * k))


def kept_loss(name: str, k: int, folder: Path) -> float:
    """Return the least loss kept by ``benchmarks.papers.microaggregation``, in per cent."""
    names = ('optimize, effort="best"', "IL% after")
    rows = [row for row in kept_rows("microaggregation", folder) if row.get("set") == name and row.get("k") == k]
    return min(float(row[column]) for row in rows for column in names if column in row)


def prove(name: str, k: int, points: FloatArray, seconds: float) -> tuple[float, float, str]:
    """Return the bound column generation reaches and the loss of the best grouping it met, in per cent, and how it ended."""
    labels, _ = optimized(name, k, "fast")
    proof = certify(points, k, labels, seconds=seconds)
    bound = 100 * proof.bound / float((points**2).sum())
    return bound, lost_percent(points, proof.labels), SOLVED if proof.optimal_relaxation else STOPPED


def cell_row(name: str, k: int, folder: Path, seconds: float) -> Row:
    """Return what is reached and proven for one set and k."""
    points = np.ascontiguousarray(as_coordinates(reference_set(name), "z"))
    loss = kept_loss(name, k, folder)
    bound, how = 100 * neighbour_bound(points, k) / float((points**2).sum()), NEIGHBOURS
    if k in TRIED and len(points) <= MOST_RECORDS:
        found, met, end = prove(name, k, points, seconds)
        loss = min(loss, met)
        if found > bound:
            bound, how = found, end
    return {
        "set": name,
        "n × m": f"{points.shape[0]:,} × {points.shape[1]}",
        "k": k,
        "MDAV, published": f"{PUBLISHED_MDAV[name][SIZES.index(k)]:.4f}",
        "shoal": f"{loss:.4f}",
        "proven lower bound": f"{bound:.4f}",
        "gap %": f"{100 * (1 - bound / loss):.2f}",
        "proof": how,
    }


def raised(bound: float, smaller: int, k: int) -> float:
    """Return what a bound by prices for groups of at least ``smaller`` proves for groups of at least ``k``.

    Cover each group of s records by all its subsets of ``smaller``, each with the same share. The mean sum of squares of such a subset is
    (smaller - 1)/(s - 1) of the group's, and shares of s/smaller in all cover every record once. No fractional cover costs less than the
    prices, so the bound is at most the group's sum times s·(smaller - 1)/((s - 1)·smaller), a factor that is largest where s = k.
    """
    return bound * (k - 1) * smaller / (k * (smaller - 1))


def carry_bounds(rows: list[Row]) -> list[Row]:
    """Let the bound of a smaller k, raised, stand where it is the higher one."""
    carried: list[Row] = []
    for row in rows:
        below = [one for one in rows if one["set"] == row["set"] and one["k"] < row["k"]]
        proven = [(raised(float(one["proven lower bound"]), one["k"], row["k"]), one["k"]) for one in below]
        bound, smaller = max(proven, default=(0.0, 0))
        if bound > float(row["proven lower bound"]):
            changed = {"proven lower bound": f"{bound:.4f}", "gap %": f"{100 * (1 - bound / float(row['shoal'])):.2f}"}
            carried.append({**row, **changed, "proof": RAISED.format(smaller)})
        else:
            carried.append(row)
    return carried


def write(rows: list[Row], folder: Path) -> None:
    """Keep the cells there are, in the order of the literature."""
    order = {(name, k): (place, k) for place, name in enumerate(PUBLISHED_MDAV) for k in SIZES}
    rows = carry_bounds(sorted(rows, key=lambda row: order[row["set"], row["k"]]))
    note = (
        "IL% = 100·SSE/SST on standardized columns (population standard deviation), the columns of the literature. *shoal* is the least of `optimize` "
        'with release="representatives" and effort="best" and, if there is a linear program, the best grouping made of the groups it met. The bound '
        "holds for every grouping into groups of at least k. It is proven by column generation over all groups of k to 2k − 1 "
        "records (`benchmarks.papers.certificate`; a stopped one is valid, and lower than it could be), or, where that is refused (more than "
        f"{MOST_RECORDS:,} records) or reaches less in its time, by the k − 1 nearest neighbours of each record: no grouping costs less than "
        "Σ Σ |x − y|² / 2k over them. A bound for a smaller k′, *raised*, holds times (k − 1)·k′ / (k·(k′ − 1)), because each group can be covered evenly by its subsets of k′ records. The journal records (Aloise et al. 2014; Castro and Gentile 2022) could not be read: no record is "
        "claimed, only what is reached and proven here."
    )
    table = Table("Losses and proven bounds on census, tarragona and eia", note, rows)
    write_tables("records", "Microaggregation: the reference cells", [table], folder)


def main() -> None:
    """Work out the cells that are not kept yet, and keep each as soon as it is there."""
    arguments = parse_arguments(__doc__)
    kept = RESULTS / "papers"
    if arguments.quick:
        write([cell_row(name, 3, kept, 5.0) for name in ("census", "eia")], arguments.output)
        return
    cells = {(row["set"], row["k"]): row for row in kept_rows("records", arguments.output)}
    for name in PUBLISHED_MDAV:
        for k in SIZES:
            if cells.get((name, k), {}).get("proof") != SOLVED:
                cells[name, k] = cell_row(name, k, kept, SECONDS)
                write([*cells.values()], arguments.output)


if __name__ == "__main__":
    main()
