"""Settings every test shares."""

from hypothesis import settings

# the first call of a kernel compiles it; no time limit could tell that from a slow test
settings.register_profile("shoal", deadline=None)
settings.load_profile("shoal")
