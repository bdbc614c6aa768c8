"""``shoal serve``: the web interface on this machine."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from shoal.cli.console import out, tell_warning
from shoal.cli.options import INPUT, path_option

_HERE = "127.0.0.1"
NETWORK = "Where it can be reached"


@click.command("serve")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[FOLDER]")
@path_option("--recipe", text="Start from the choices of a recipe file.", panel=INPUT)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="NUMBER",
    help="Port to listen on. Default: a free one.",
    panel=NETWORK,
)
@click.option(
    "--host",
    default=_HERE,
    metavar="ADDRESS",
    help="Listen on another address than 127.0.0.1. Anyone who can reach it and learns the token sees your table.",
    panel=NETWORK,
)
@click.option("--no-browser", is_flag=True, help="Only print the address; open no browser.", panel=NETWORK)
def command(*, folder: Path, recipe: Path | None, port: int, host: str, no_browser: bool) -> None:
    """Make a release in the browser, on this machine only.

    The web interface opens the tables in FOLDER (default: the current one). The command prints one line: the address
    that lets your browser in. End it with Ctrl-C; its private copies of your rows are then removed.
    """
    from shoal.frames import require

    for package in ("fastapi", "uvicorn", "jinja2", "vl_convert"):
        require(package, "web", "The page")
    from shoal.web.server import serve

    if host not in {_HERE, "localhost", "::1"}:
        tell_warning(f"The page listens on {host}: others on the network can reach it, and nothing is encrypted.")
    serve(
        folder,
        host=host,
        port=port,
        recipe=recipe,
        browser=not no_browser,
        announce=lambda address: out().print(address, soft_wrap=True),
    )
