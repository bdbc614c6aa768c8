"""Settings every test shares."""

from hypothesis import settings

pytest_plugins = ["tests.tools.ci_guard"]

# the first call of a kernel compiles it; no time limit could tell that from a slow test
settings.register_profile("shoal", deadline=None, derandomize=True, database=None)
# fresh seeds and many more examples: make fuzz. What it finds becomes an @example beside the test.
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
# fresh seeds, as many examples as ever: make seeds
settings.register_profile("seeds", deadline=None, database=None, print_blob=True)
settings.load_profile("shoal")
