"""What released ranges, nodes and sets cost, and the distinct tuples of a table."""
