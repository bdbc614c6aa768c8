"""The command ``shoal``, also reached as ``python -m shoal``."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
from typing import Any

_OBJECTS = 50_000
"""New objects after which Python looks for garbage: importing makes 150,000, and none of them is garbage."""


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    gc.set_threshold(_OBJECTS, 20, 20)
    # a request to stop cleans up like Ctrl-C does, so no temporary file stays behind
    for name in ("SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores a hang-up
            signal.signal(number, _interrupt)
    if sys.stderr is None:  # closed: nothing can be said, yet nothing may end in a traceback either
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  (open until the end)
    if sys.stdout is None:
        sys.stderr.write("Error: Standard output is closed, so nothing can be printed.\nHint: send it to a file.\n")
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="replace")  # a terminal without "…" must not end the work
    try:
        from shoal.cli.app import app  # noqa: PLC0415  (a signal during this import is handled too)
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app(prog_name="shoal")
    except SystemExit as end:
        gc.freeze()  # or Python looks through all objects again at its end, which takes a fifth of a second
        sys.exit(end.code if _flushed() else end.code or 2)


def _flushed() -> bool:
    """Bring out what was printed; if that fails, say so and keep Python from trying again at the end."""
    try:
        sys.stdout.flush()
    except OSError as fault:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"Error: The output could not be printed: {fault.strerror}.\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
