"""Tables made here, to try shoal on."""
