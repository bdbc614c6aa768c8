"""The pictures of README and docs, drawn by shoal from its built-in register.

``python -m benchmarks.pictures`` writes them anew into ``docs/pictures``; they change only with the methods.
"""

from __future__ import annotations

from pathlib import Path

import shoal

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
METHODS = ("mondrian", "merge-split", "optimise")
KS = (2, 5, 10, 20, 50)
RECORDS = 5_000


def draw_frontier() -> shoal.Comparison:
    """Compare three methods on the register and return what was found."""
    register = shoal.datasets.hospital(n=RECORDS, seed=0)
    return shoal.compare(
        register.patients,
        methods=METHODS,
        k=KS,
        efforts="fast",
        quasi_identifiers=["birth_date", "sex", "zip", "job"],
        sensitive=["diagnosis"],
        identifiers=["name", "admission_date"],
        hierarchies={name: register.hierarchies[name] for name in ("zip", "job")},
        on_point=lambda point: print(f"{point.series}, k = {point.k}: loss {point.loss:.4f}"),
    )


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    draw_frontier().save(FOLDER / "frontier.svg", force=True)


if __name__ == "__main__":
    main()
