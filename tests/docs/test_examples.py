"""The example notebooks run from top to bottom, in a kernel of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

BOOKS = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.ipynb"))
# a process of its own: warnings of the notebooks' machinery are not ours. The kernel is this interpreter, reached without a port.
RUN = """
import sys
import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

class Here(AsyncKernelManager):
    def format_kernel_cmd(self, extra_arguments=None):
        return [sys.executable, "-m", "ipykernel_launcher", "-f", self.connection_file]

book = nbformat.read(sys.argv[1], as_version=4)
manager = Here(transport="ipc") if sys.platform == "linux" else Here()
NotebookClient(book, km=manager, timeout=800, startup_timeout=600).execute()
nbformat.write(book, sys.argv[2])
"""


@pytest.mark.compiled
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_an_example_notebook_runs_and_shows_pictures(book, tmp_path):
    done = tmp_path / book.name
    run = subprocess.run(
        [sys.executable, "-c", RUN, str(book), str(done)], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-3000:]
    cells = [cell for cell in nbformat.read(done, as_version=4).cells if cell.cell_type == "code"]
    pictures = [one for cell in cells for one in cell.outputs if "text/html" in one.get("data", {})]
    assert pictures


def test_there_are_three_examples_and_one_for_each_paper_and_none_carries_outputs():
    assert len(BOOKS) == 3 + 5
    assert len([book for book in BOOKS if book.stem.startswith("paper-")]) == 5
    for book in BOOKS:
        assert not any(cell.get("outputs") for cell in nbformat.read(book, as_version=4).cells)
