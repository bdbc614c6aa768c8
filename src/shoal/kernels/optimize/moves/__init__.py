"""Changes to a grouping that may lower its loss, one file each."""
