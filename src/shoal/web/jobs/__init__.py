"""Work that takes long: done in worker processes, watched and ended from the server."""
