"""Checks that every grouping method must pass."""
