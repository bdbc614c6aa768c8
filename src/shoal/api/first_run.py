"""Whether a first run has to wait for the compiler."""

from __future__ import annotations

from shoal.compiling.disk_cache import own_store, shipped_store


def compiles_first() -> bool:
    """Return whether no compiled kernels are there yet, so that a first run takes up to a minute longer."""
    store = own_store()
    return shipped_store() is None and (store is None or not any(store.folder.iterdir()))
