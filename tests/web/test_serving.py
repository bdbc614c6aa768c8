"""Where the page can be reached, and what it prints."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import serving, write_people
from tests.web.hands import Hands

HERE, ANYWHERE = "0100007F", "00000000"
"""127.0.0.1 and 0.0.0.0 as Linux lists them."""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="does not apply: only Linux lists who listens where")


def listening_on(port):
    """Return the addresses on which somebody listens at a port."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    places = [line[1].split(":") for line in lines if line[3] == "0A"]  # 0A: listening
    return [place for place, number in places if int(number, 16) == port]


def port_of(address):
    return int(re.findall(r":(\d+)/", address)[0])


@on_linux
def test_only_this_machine_reaches_the_page(tmp_path):
    with serving(tmp_path) as (server, address):
        assert listening_on(port_of(address)) == [HERE]
        assert httpx.get(address, timeout=120).status_code == 303  # it has started
    assert server.told == ("", "")


@on_linux
def test_another_address_is_asked_for_and_warned_about(tmp_path):
    with serving(tmp_path, "--host", "0.0.0.0") as (server, address):  # noqa: S104
        assert listening_on(port_of(address)) == [ANYWHERE]
        assert address.startswith("http://127.0.0.1:")
    assert "others on the network can reach it" in server.told[1]


IGNORES = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
"""Starts a command as a script does in its background."""


@pytest.mark.skipif(sys.platform == "win32", reason="does not apply: Windows has no such signal")
def test_a_server_ends_by_a_signal_from_the_moment_its_address_is_told(tmp_path):
    with serving(tmp_path, prefix=[sys.executable, "-c", IGNORES]) as (server, address):
        assert address.startswith("http://")
    assert server.returncode == 0


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with serving(tmp_path, "--port", str(taken.getsockname()[1])) as (server, address):
            assert address == ""
            server.wait(timeout=60)
    assert server.returncode != 0
    assert "cannot be used" in server.told[1]
    assert "Traceback" not in server.told[1]


def test_nothing_of_the_table_is_printed_and_a_forged_request_changes_nothing(tmp_path):
    write_people(tmp_path / "people.csv")
    with serving(tmp_path) as (server, address):
        home = address.split("/?")[0]
        with httpx.Client(base_url=home, follow_redirects=True, timeout=120) as client:
            key = re.findall(r'name="change-key" content="([^"]+)"', client.get(address).text)[0]
            wanted = {"place": "folder", "name": "people.csv"}
            assert client.post("/open", json=wanted).status_code == 403
            forged = {"x-shoal-change": key, "origin": "http://evil.example"}
            assert client.post("/open", json=wanted, headers=forged).status_code == 403
            hands = Hands(client, address)
            assert hands.open("people.csv") == "done"
            assert "person 0" in hands.show("columns")
    assert "person" not in "".join(server.told)
    assert server.told[1] == ""
