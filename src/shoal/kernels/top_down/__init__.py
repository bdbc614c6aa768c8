"""Top-Down local recoding (Xu et al. 2006, section 4.2)."""
