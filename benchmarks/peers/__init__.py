"""shoal beside other Python packages: same table, same k, same measure."""
