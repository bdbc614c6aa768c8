"""What a search changes: groups with their boxes and costs, regions of near groups, and what an operator reports."""
