"""``python -m shoal.compiling.warm_up.worker``: compile each kernel that comes in on standard input, and answer with one line.

The line is 1 if it was compiled and 0 if it was there already. The process ends with its input.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
import sys
from importlib import import_module

from shoal.compiling.decorator import Kernel
from shoal.compiling.disk_cache import COUNTS
from shoal.compiling.signatures import OuterCall


def compile_kernel(call: OuterCall) -> bool:
    """Compile a kernel for these types, or find it on disk; return whether it was compiled."""
    kernel = getattr(import_module(call.module), call.name)
    before = len(COUNTS.compiled)
    if isinstance(kernel, Kernel):
        kernel.outer.compile(call.types)
    return len(COUNTS.compiled) > before


def main() -> None:
    """Serve the process at the other end of standard input."""
    gc.disable()  # the compiler leaves little garbage behind, and the process ends soon: a twentieth of the time
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            call = pickle.load(sys.stdin.buffer)  # noqa: S301  (from the process that started this one)
            sys.stdout.write(f"{int(compile_kernel(call))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
