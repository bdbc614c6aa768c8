"""How groups come to meet privacy models: in the search, by mending the groups of any method, or by withholding records. Nothing here is a method by itself."""
