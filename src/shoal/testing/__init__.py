"""Checks that every method must pass, also those that others write.

``check_method`` runs a method on small tables and asks for what shoal relies on. Called by tests, here and in other packages. It does not know
any method by its name.
"""

from __future__ import annotations

from shoal.testing.checks import CHECKS, check_method

__all__ = ["CHECKS", "check_method"]
