"""The experiments of the papers shoal's methods come from, run again."""
