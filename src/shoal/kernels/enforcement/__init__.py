"""Privacy models as rules on groups, and the mending of groups that break them."""
