"""Who may ask, and what every answer carries."""

from __future__ import annotations

import asyncio
import logging

import httpx
import pytest

from shoal.web.app import ROUTED, create_app
from shoal.web.guard import MOST_BYTES, Guard, Keys
from shoal.web.workshop import Workshop
from tests.web.conftest import run

HOST = "127.0.0.1:8123"
ADDRESS = f"http://{HOST}"


@pytest.fixture
def keys():
    return Keys()


@pytest.fixture
def app(tmp_path, keys):
    (tmp_path / "private").mkdir()
    (tmp_path / "people.csv").write_text("age\n1\n")
    return create_app(Workshop(tmp_path, tmp_path / "private"), keys, [HOST, "localhost:8123"])


@pytest.fixture
def ask(app, keys):
    """Return a function that sends one request, by default as the page itself would."""

    def send(method, path, *, admitted=True, address=ADDRESS, headers=None, **more):
        async def go():
            page = {"x-shoal-change": keys.change, "x-shoal-edition": "0"}
            given = {"cookie": f"{app.cookie_name}={keys.cookie}"} | page if admitted else {}
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=address) as client:
                return await client.request(method, path, headers=given | (headers or {}), **more)

        return run(go())

    return send


def test_nobody_gets_in_without_the_cookie(ask):
    for path in ("/", "/open", "/static/page.js", "/events", "/recipe.toml"):
        answer = ask("GET", path, admitted=False)
        assert answer.status_code == 403
        assert "address that shoal serve printed" in answer.json()["message"]


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(ask, keys, app):
    answer = ask("GET", f"/?token={keys.token}", admitted=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{app.cookie_name}={keys.cookie}")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert keys.token not in cookie


def test_a_wrong_token_or_cookie_is_refused(ask, keys, app):
    assert ask("GET", "/?token=guess", admitted=False).status_code == 403
    assert ask("GET", "/open", admitted=False, headers={"cookie": f"{app.cookie_name}=guess"}).status_code == 403
    assert ask("GET", "/open", admitted=False, headers={"cookie": f"{app.cookie_name}={keys.token}"}).status_code == 403


def test_keys_are_unguessable_and_never_printed(keys):
    assert len({keys.token, keys.cookie, keys.change, Keys().token}) == 4
    assert len(keys.token) >= 43
    assert keys.token not in repr(keys)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:9"])
def test_a_foreign_host_is_refused_even_with_the_cookie(ask, host):
    assert ask("GET", "/open", address=f"http://{host}").status_code == 403


def test_the_page_answers_to_localhost_too(ask):
    assert ask("GET", "/1/open", address="http://localhost:8123").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8123"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_another_site_is_refused_even_with_the_cookie(ask, headers):
    assert ask("GET", "/open", headers=headers).status_code == 403
    assert ask("POST", "/1/history/undo", headers=headers).status_code == 403


def test_every_change_needs_the_header_of_the_page(ask):
    paths = {
        route.path.replace("{kind}", "open")
        for module in ROUTED
        for route in module.router.routes
        if "POST" in route.methods
    }
    assert len(paths) >= 10
    for path in paths:
        assert ask("POST", f"/1{path}", headers={"x-shoal-change": "guess"}, json={}).status_code == 403, path


def test_its_own_origin_may_change_things(ask):
    assert ask("POST", "/1/history/undo", headers={"origin": ADDRESS}).status_code == 200


def test_every_answer_is_private_and_strict(ask, keys):
    answers = [
        ask("GET", "/1/open"),
        ask("GET", "/static/style.css"),
        ask("GET", "/nowhere"),
        ask("GET", "/open", admitted=False),
        ask("GET", f"/?token={keys.token}", admitted=False),
        ask("POST", "/1/history/undo"),
    ]
    for answer in answers:
        assert answer.headers["cache-control"] == "no-store"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_the_page_has_no_inline_script_or_style(ask):
    text = ask("GET", "/1/open").text
    assert "<style" not in text
    assert " style=" not in text
    assert text.count("<script") == text.count('<script type="module" src="/static/page.js"></script>') == 1
    assert "http://" not in text
    assert "https://" not in text


def test_a_large_request_is_refused_announced_or_not(ask):
    assert ask("POST", "/1/history/load", content=b"x" * (MOST_BYTES + 1)).status_code == 413

    async def pieces():
        for _ in range(MOST_BYTES // 65536 + 2):
            yield b"x" * 65536

    assert ask("POST", "/1/history/load", content=pieces()).status_code == 413


def test_a_path_out_of_the_folder_is_refused(ask):
    for name in ("../secret.csv", "/etc/passwd", "a/../../secret.csv"):
        answer = ask("POST", "/1/open", json={"place": "folder", "name": name})
        assert "inside the folder" in answer.json()["refused"]["message"]
    assert ask("GET", "/static/../guard.py").status_code in {403, 404}
    assert ask("GET", "/static/%2e%2e/guard.py").status_code in {403, 404}


def test_what_is_sent_wrongly_is_named_without_its_value(ask):
    answer = ask("POST", "/1/columns/role", json={"column": "age", "role": "secret-40213"})
    assert answer.status_code == 422
    assert "'role'" in answer.json()["message"]
    assert "40213" not in answer.text


def test_a_fault_reaches_neither_browser_nor_log_with_its_text(keys, caplog):
    async def broken(_scope, _receive, _send):
        raise ValueError("secret cell 40213")

    async def go():
        guard = Guard(broken, keys, [HOST])
        cookie = {"cookie": f"{guard.cookie_name}={keys.cookie}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=ADDRESS) as client:
            return await client.get("/open", headers=cookie)

    with caplog.at_level(logging.DEBUG):
        answer = run(go())
    assert answer.status_code == 500
    assert "an internal error (ValueError" in answer.json()["message"]
    assert "40213" not in answer.text + caplog.text
    assert "Traceback" not in answer.text + caplog.text


def test_an_answer_that_takes_too_long_is_given_up_with_a_sentence(keys, monkeypatch):
    async def slow(_scope, _receive, _send):
        await asyncio.Event().wait()

    async def go():
        guard = Guard(slow, keys, [HOST])
        cookie = {"cookie": f"{guard.cookie_name}={keys.cookie}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=ADDRESS) as client:
            return await client.get("/open", headers=cookie)

    monkeypatch.setattr("shoal.web.guard.MOST_SECONDS", 0.01)
    answer = run(go())
    assert (answer.status_code, answer.json()["message"]) == (503, "This took too long and was given up.")
