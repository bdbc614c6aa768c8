"""Who may ask, and what every answer carries.

The start address holds a token nobody can guess; the browser changes it for a cookie that no script and no other
site can use. A name that another site made point here (DNS rebinding) fails at the Host check, a form of
another site at the Origin check, and any change without the page's own header is refused.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from shoal.web.jobs.worker import explain_fault

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

MOST_BYTES = 1 << 20
"""Size of a request, unless it brings a file."""
MOST_SECONDS = 300.0
"""Time for an answer, unless it is the stream of events or brings a file."""
CHANGE_HEADER = b"x-shoal-change"
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_log = logging.getLogger("shoal.web")


class RefusedError(Exception):
    """A request that is not answered; its text is safe to show."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Keys:
    """The secrets of one server."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """A part of the start address."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    change: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """A part of the page; every change carries it in a header."""


class Guard:
    """Guards the page: lets in requests that may enter, and lets no internal error out."""

    def __init__(self, app: App, keys: Keys, hosts: Iterable[str], unbounded: Iterable[str] = ()) -> None:
        """``hosts`` are the names (with port) this server answers to; paths that end so (``unbounded``) take files or stream."""
        self._app, self._keys = app, keys
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._unbounded = tuple(unbounded)
        self.cookie_name = "shoal-" + min(self._hosts).rsplit(":", 1)[-1]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        outlet = _Outlet(send)
        try:
            await self._admit(scope, receive, outlet)
        except RefusedError as refusal:
            await outlet.refuse(refusal.status, refusal.message)
        except TimeoutError:
            await outlet.refuse(503, "This took too long and was given up.")
        except Exception as fault:  # noqa: BLE001  (no trace may reach the browser or the log)
            message, hint = explain_fault(fault)
            _log.error("%s", message)
            await outlet.refuse(500, message, hint)

    async def _admit(self, scope: MutableMapping[str, Any], receive: Receive, outlet: _Outlet) -> None:
        headers = dict(scope["headers"])
        self._check_sender(headers)
        if self._brings_token(scope):
            await outlet.welcome(self.cookie_name, self._keys.cookie)
            return
        if not self._has_cookie(headers):
            raise RefusedError(403, "Open the address that shoal serve printed: it lets this browser in.")
        if scope["method"] not in {"GET", "HEAD"}:
            self._check_change(headers)
        if scope["path"].endswith(self._unbounded):
            await self._app(scope, receive, outlet)
        else:
            _check_length(headers)
            await asyncio.wait_for(self._app(scope, _bounded(receive, outlet), outlet), MOST_SECONDS)

    def _check_sender(self, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host not in self._hosts:
            raise RefusedError(403, "This server answers only to its own address.")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() not in self._origins:
            raise RefusedError(403, "Another site may not ask here.")
        if headers.get(b"sec-fetch-site", b"none") == b"cross-site":
            raise RefusedError(403, "Another site may not ask here.")

    def _brings_token(self, scope: MutableMapping[str, Any]) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        return scope["method"] == "GET" and any(_equal(one, self._keys.token) for one in given)

    def _has_cookie(self, headers: dict[bytes, bytes]) -> bool:
        try:
            jar = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
        except CookieError:
            return False
        return self.cookie_name in jar and _equal(jar[self.cookie_name].value, self._keys.cookie)

    def _check_change(self, headers: dict[bytes, bytes]) -> None:
        if not _equal(headers.get(CHANGE_HEADER, b"").decode("latin-1"), self._keys.change):
            raise RefusedError(403, "This page is older than the server. Reload it.")


def _equal(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


def _check_length(headers: dict[bytes, bytes]) -> None:
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > MOST_BYTES:
        raise RefusedError(413, "This request is too large.")


def _bounded(receive: Receive, outlet: _Outlet) -> Receive:
    """Count what comes in, also if no length was announced; refuse at once, whatever the application makes of it."""
    seen = 0

    async def read() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            await outlet.refuse(413, "This request is too large.")
            raise RefusedError(413, "This request is too large.")
        return message

    return read


class _Outlet:
    """Sends answers, each with the headers that all carry."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self._refused = False

    async def __call__(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self._begun = True
            own = {name.lower() for name, _ in message.get("headers", [])}
            more = [pair for pair in HEADERS if pair[0] not in own]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await self._send(message)

    async def refuse(self, status: int, message: str, hint: str | None = None) -> None:
        """Say in one sentence why there is no answer; an answer that has begun just ends."""
        if self._begun:
            return
        body = json.dumps({"message": message, "hint": hint}).encode()
        await self._answer(status, [(b"content-type", b"application/json")], body)
        self._refused = True

    async def welcome(self, name: str, value: str) -> None:
        """Change the token for a cookie and go to the page, so that the token leaves the address."""
        cookie = f"{name}={value}; HttpOnly; SameSite=Strict; Path=/"
        await self._answer(303, [(b"location", b"/"), (b"set-cookie", cookie.encode())], b"")

    async def _answer(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})
