"""Kernels of the engines: where the rows of large tables go."""
