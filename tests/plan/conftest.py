"""Small fragments and samples, as the tests of the engines have them."""

from __future__ import annotations

from tests.engines.conftest import small_batches, small_fragments, small_sample

__all__ = ["small_batches", "small_fragments", "small_sample"]
