"""Metrics: they say what a release has lost."""
