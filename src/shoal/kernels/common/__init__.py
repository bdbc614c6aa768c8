"""What kernels of every kind share: random state, hashing, sorting, heap, lists, journal, copying, sums."""
