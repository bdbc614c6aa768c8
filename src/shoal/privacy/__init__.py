"""Privacy models: what must hold of every group."""
