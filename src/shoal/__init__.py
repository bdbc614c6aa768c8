"""Make a table about people safe to publish."""
