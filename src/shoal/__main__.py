"""The command ``shoal``, also reached as ``python -m shoal``."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    # a request to stop cleans up like Ctrl-C does, so no temporary file stays behind
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError):
                stream.reconfigure(errors="replace")  # a terminal without "…" must not end the work
    try:
        from shoal.cli.app import app  # noqa: PLC0415  (a signal during this import is handled too)
    except KeyboardInterrupt:
        sys.exit(130)
    app(prog_name="shoal")


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
