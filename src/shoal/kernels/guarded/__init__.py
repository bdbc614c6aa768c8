"""The search with privacy models in view: groups are built and changed so that every model holds after each step."""
