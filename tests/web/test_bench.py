"""The server's part of `companion bench`, with the real server in a process of its own."""

from __future__ import annotations

import json
import os
import sys

import pytest

from companion.cli import main
from web import bench


def test_the_memory_of_a_server_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "server", "--photos", "3", "--json"]) == 0
    server = json.loads(capsys.readouterr().out)["server"]
    assert (server["photos"], server["goal_mb"]) == (3, 500)
    if sys.platform == "linux":
        assert 50 < server["started_mb"] <= server["peak_mb"] < 3000


def test_what_a_process_takes() -> None:
    mine = bench._resident(os.getpid())
    if sys.platform == "linux":
        assert mine["VmRSS"] and mine["VmHWM"] and 10 < mine["VmRSS"] <= mine["VmHWM"]
    assert bench._resident(2**30) == {"VmRSS": None, "VmHWM": None}


def test_a_server_that_does_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "true" if os.name == "posix" else "cmd.exe")
    assert main(["bench", "server", "--photos", "1"]) == 1
    assert "the server did not start: it said nothing" in capsys.readouterr().err
