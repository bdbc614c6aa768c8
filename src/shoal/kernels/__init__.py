"""numba kernels: arrays in, arrays out. Nothing here knows a table."""
