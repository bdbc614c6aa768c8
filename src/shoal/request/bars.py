"""A progress bar in notebooks and terminals."""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from shoal.notebook import card


class Bar:
    """What ``progress=True`` stands for; called with the share done and a short text.

    In a pipeline, where nobody looks, it draws nothing.
    """

    def __init__(self) -> None:
        self._show: Any = None
        self._live: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_show": None, "_live": None}  # a bar on a screen does not travel

    def __call__(self, fraction: float, text: str) -> None:
        """Draw how far the work is."""
        if self._show is None:
            self._show = self._in_notebook() if in_notebook() else self._in_terminal()
        self._show(fraction, text)

    def close(self) -> None:
        """Take the bar away."""
        if hasattr(self._live, "stop"):
            self._live.stop()
        elif self._live is not None:
            self._live.update({"text/html": "", "text/plain": ""}, raw=True)
        self._show = self._live = None

    def _in_notebook(self) -> Any:
        from IPython.display import display  # noqa: PLC0415  (there if a notebook is)

        self._live = live = display({"text/html": "", "text/plain": ""}, raw=True, display_id=True)

        def show(fraction: float, text: str) -> None:
            meter = f'<progress max="1" value="{fraction:.3f}" style="width:16em"></progress> {escape(text)}'
            live.update({"text/html": card("shoal", meter), "text/plain": f"{fraction:.0%} {text}"}, raw=True)

        return show

    def _in_terminal(self) -> Any:
        if not sys.stderr.isatty():
            return lambda _fraction, _text: None
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import Progress  # noqa: PLC0415

        self._live = live = Progress(console=Console(stderr=True), transient=True)
        task = live.add_task("reading", total=1.0)
        live.start()
        return lambda fraction, text: live.update(task, completed=fraction, description=text)


def in_notebook() -> bool:
    """Return whether the code runs in a cell of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")
