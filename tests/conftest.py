"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_path() -> Callable[[str], Path]:
    """Return a function from a name such as ``adult/adult.csv`` to its path in the folder SHOAL_DATA.

    The test is skipped where the file is missing; with CI=true it fails, so that no check is lost unseen.
    """
    folder = Path(os.environ.get("SHOAL_DATA") or REPOSITORY.parent / "shared" / "data")

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            reason = f"{name} is not in {folder}; set SHOAL_DATA to the folder with the reference data"
            if os.environ.get("CI", "").lower() == "true":
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return find
