"""Privacy models: they say what must hold in every group."""
