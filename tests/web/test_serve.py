"""`companion serve`: says where the page is, and why it cannot be there."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from companion.cli import main
from companion.commands.serve import addresses
from companion.table.store import MOST_TRIES

Server = subprocess.Popen[str]


@contextmanager
def serving(*more: str) -> Iterator[Server]:
    """`companion serve` on a free port; ended in the end, whatever happens."""
    command = [sys.executable, "-m", "companion", "serve", "--port", "0", *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def server(heeds_ctrl_c: None) -> Iterator[Server]:
    with serving() as process:
        yield process


def test_the_page_is_where_it_is_said_to_be_and_ctrl_c_ends_it(server: Server) -> None:
    assert server.stdout is not None
    said = re.fullmatch(r"Table Companion is at (http://127\.0\.0\.1:\d+/)\n", server.stdout.readline())
    assert said
    with urllib.request.urlopen(said[1], timeout=60) as answer:
        assert b"<title>Table Companion</title>" in answer.read()
    with urllib.request.urlopen(said[1] + "api/openapi.json", timeout=60) as answer:
        assert answer.headers["Content-Type"] == "application/json"
    server.send_signal(signal.SIGINT)
    assert server.wait(60) == 0


def test_a_database_that_cannot_be_used_is_told_and_the_page_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COMPANION_DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/none")
    with serving() as process:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().split()[-1]
        complaint = process.stderr.readline()
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{address}api/tables", timeout=60)
    assert complaint.startswith("companion serve: tables cannot be kept: postgresql")
    assert "secret" not in complaint
    assert caught.value.code == 503


def test_a_taken_port_is_told_with_a_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 1
    said, complaint = capsys.readouterr()
    assert said == ""
    assert f"port {port} on 127.0.0.1 is taken" in complaint
    assert f"--port {port + 1}" in complaint


@pytest.mark.parametrize("host", ["203.0.113.7", "no such name"])
def test_an_address_of_others_is_told(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", host]) == 1
    assert f"no address {host!r}" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["70000", "http", "-1"])
def test_what_is_no_port_is_told(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", f"--port={port}"])
    assert "a number from 0 to 65535" in capsys.readouterr().err


def test_addresses_for_the_whole_house_begin_with_this_computer() -> None:
    assert addresses("0.0.0.0", 8000)[0] == "http://127.0.0.1:8000/"
    assert addresses("::1", 8000) == ["http://[::1]:8000/"]


def test_a_proxy_tells_who_asks_and_nobody_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPANION_HOME", str(tmp_path))

    def tried(*more: str) -> list[int]:
        """The last answers to wrong codes, most of them from one address, the last from another."""
        with serving(*more) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split()[-1]
            statuses = []
            for asker in ("192.0.2.1",) * (MOST_TRIES + 1) + ("192.0.2.2",):
                headers = {"Content-Type": "application/json", "X-Forwarded-For": asker}
                asked = urllib.request.Request(f"{address}api/tables/look", b'{"code": "AAAAAA"}', headers)
                try:
                    urllib.request.urlopen(asked, timeout=60)
                except urllib.error.HTTPError as error:
                    statuses.append(error.code)
        return statuses[-3:]

    assert tried("--proxy", "127.0.0.1") == [404, 429, 404]
    assert tried() == [404, 429, 429]
