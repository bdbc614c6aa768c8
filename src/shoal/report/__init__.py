"""Renderings of a summary."""
