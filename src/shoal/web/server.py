"""Starting and ending the server."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from shoal.errors import FileError, ParameterError
from shoal.web.app import create_app
from shoal.web.draft import Draft, from_recipe
from shoal.web.guard import Keys
from shoal.web.private import private_folder
from shoal.web.workshop import Workshop

HOME = "127.0.0.1"


def serve(
    folder: Path,
    *,
    host: str = HOME,
    port: int = 0,
    recipe: Path | None = None,
    browser: bool = True,
    announce: Callable[[str], None],
) -> None:
    """Serve the page until Ctrl-C; ``announce`` gets the address that lets a browser in."""
    if not folder.is_dir():
        raise FileError(f"The folder {folder.name!r} does not exist.", hint="name a folder with tables, or none.")
    draft = from_recipe(recipe) if recipe else Draft()
    keys = Keys()
    # Ctrl-C is how it ends, from the moment the address is told
    with contextlib.suppress(KeyboardInterrupt), private_folder() as private, _listen(host, port) as listening:
        number = listening.getsockname()[1]
        app = create_app(Workshop(folder.resolve(), private, draft), keys, _names(host, number))
        address = f"http://{_shown(host)}:{number}/?token={keys.token}"
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, date_header=False,
            timeout_keep_alive=30, limit_concurrency=200, timeout_graceful_shutdown=2,
        )  # fmt: skip
        server = uvicorn.Server(config)
        with _ended_by_signals(server):
            announce(address)
            if browser:
                webbrowser.open(address)
            if not server.should_exit:
                server.run(sockets=[listening])


@contextlib.contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let signals end a server before it runs too: one that a script starts in the background would ignore Ctrl-C until then."""
    if threading.current_thread() is not threading.main_thread():  # Python hands signals to no other
        yield
        return
    before = {number: signal.signal(number, server.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # before the address is told: who opens it at once waits instead of being refused
    except OSError as fault:
        listening.close()
        raise ParameterError(
            f"The address {host}, port {port}, cannot be used: {fault.strerror}.",
            hint="choose another port, or 0 for any that is free.",
        ) from None
    return listening


def _shown(host: str) -> str:
    """Return the name under which a browser on this machine reaches the host."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104  (any address; asked for by a flag, with a warning)
        return HOME
    return f"[{host}]" if ":" in host else host


def _names(host: str, port: int) -> list[str]:
    names = {_shown(host), HOME, "localhost"} if host in {HOME, "0.0.0.0", "::"} else {_shown(host)}  # noqa: S104
    if host in {"0.0.0.0", "::"}:  # noqa: S104
        names |= {socket.gethostname()}
    return [f"{name}:{port}" for name in sorted(names)]
