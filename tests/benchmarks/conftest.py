"""What tests of benchmarks share: the clock of the methods, which only they move."""

from tests.methods.conftest import clock

__all__ = ["clock"]
