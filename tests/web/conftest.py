"""A real server, and a real browser in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.web.hands import using

PATIENCE = 1000 * int(os.environ.get("SHOAL_PATIENCE", "400"))
"""Milliseconds after which something must have gone wrong; nothing is measured by it. Less than the 600 seconds of pytest-timeout, which would end all tests of the worker."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def run(reading):
    """Run a coroutine in another thread: in this one the browser's own loop may be running."""
    with ThreadPoolExecutor(1) as other_thread:
        return other_thread.submit(asyncio.run, reading).result()


def write_people(path, rows=300, separator=","):
    """Write a CSV of one's own: names, ages, zip codes, jobs, an illness."""
    draw = random.Random(7)
    jobs = ["nurse", "cook", "teacher", "driver"]
    lines = [separator.join(["name", "age", "sex", "zip", "job", "diagnosis"])]
    for number in range(rows):
        cells = [
            f"person {number}",
            str(draw.randrange(18, 90)),
            draw.choice("FM"),
            f"{draw.choice(['08', '11', '40'])}{draw.randrange(100):03d}",
            draw.choice(jobs),
            draw.choice(["asthma", "diabetes", "migraine", "flu"]),
        ]
        lines.append(separator.join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@contextlib.contextmanager
def serving(folder, *options, prefix=()):
    """Run ``shoal serve`` and give its process and the address it printed."""
    command = [*prefix, sys.executable, "-m", "shoal", "serve", str(folder), "--no-browser", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "300"}
    ) as server:
        try:
            yield server, server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.told = server.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                server.kill()  # or leaving the block waits for it without an end
                raise


def workers_of(server):
    """Return the process numbers of the server's workers."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == server.pid and b"spawn_main" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


@pytest.fixture(scope="session")
def chromium():
    """Return a headless browser; if none is installed the test is skipped."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed; it is needed to use the page")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


class Watched:
    """Pages that are watched: no complaint in the console, no request to anywhere else."""

    def __init__(self, browser, address):
        self.address, self.faults = address, []
        self.home = address.split("/?")[0]
        self.context = browser.new_context(viewport={"width": 1400, "height": 900})
        self.context.set_default_timeout(PATIENCE)

    def open(self, path=None):
        page = self.context.new_page()
        page.on("console", lambda told: self.note(told.type, told.text) if told.type in {"error", "warning"} else None)
        page.on("pageerror", lambda fault: self.note("fault", str(fault)))
        page.on("request", lambda sent: None if sent.url.startswith(self.home) else self.note("request", sent.url))
        page.goto(self.home + path if path else self.address)
        return page

    def open_people(self):
        """Open the table of one's own, and wait until everything about it is counted."""
        page = self.open()
        page.goto(self.home + "/open")
        page.click('.files button:has-text("people.csv")')
        page.wait_for_selector("#together strong")
        return page

    def open_release(self):
        """Show a release of that table, made by the quickest method unless there is one already."""
        page = self.open_people()
        page.goto(self.home + "/look")
        if page.locator("#to-make").count():
            page.click("#to-protect")
            page.select_option("#method", "mondrian")
            page.click("#make")
        page.wait_for_selector("#pairs tbody tr")
        return page

    def note(self, *what):
        self.faults.append(what)


def wait_until(page, question, argument=None):
    """Ask a page until it answers yes. Playwright's own ``wait_for_function`` asks again by ``eval``, which the page forbids."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(question, argument):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"The page never said yes to: {question}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("tables")
    write_people(home / "people.csv")
    return home


@pytest.fixture(scope="module")
def server(folder):
    """Return a running server: its process and the address it printed."""
    with serving(folder) as found:
        yield found


@pytest.fixture(scope="module")
def address(server):
    return server[1]


@pytest.fixture
def tabs(chromium, address):
    """Return what opens watched tabs; at the end there must have been no complaint."""
    watched = Watched(chromium, address)
    yield watched
    watched.context.close()
    assert watched.faults == []


@pytest.fixture
def hands(address):
    with using(address) as found:
        yield found
