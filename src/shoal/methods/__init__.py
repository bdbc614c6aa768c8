"""Grouping methods: they say who is released together."""
