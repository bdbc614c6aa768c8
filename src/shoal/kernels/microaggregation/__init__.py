"""Groups of near points with small sums of squares."""
