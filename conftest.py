"""Settings every test shares."""

from hypothesis import settings

pytest_plugins = ["tests.ci_guard"]

# the first call of a kernel compiles it; no time limit could tell that from a slow test
settings.register_profile("shoal", deadline=None)
settings.load_profile("shoal")
