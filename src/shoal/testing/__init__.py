"""Checks that every method must pass; also for methods that others write."""

from __future__ import annotations

from shoal.testing.checks import CHECKS, check_method

__all__ = ["CHECKS", "check_method"]
