"""How much memory the server takes while it reads photos: the server's part of `companion bench`."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

GOAL_MB = 500.0
"""Megabytes (of a million bytes) that the server's process may take at most."""

VISITORS = 4
"""Photos that are sent at the same time."""

START_S, READ_S = 120.0, 300.0
"""Seconds that the server may take to start and to answer one photo."""


class BenchError(Exception):
    """The server could not be measured; the message is for people."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory of the server's process, in megabytes.

    photos: how many were read, a third of them of 12 megapixels. started: before the first one. peak: the
    most it ever took, None where the system does not tell.
    """

    photos: int
    started: float | None
    peak: float | None

    def to_document(self) -> dict[str, Any]:
        """As JSON-ready data."""
        return {
            "photos": self.photos,
            "started_mb": None if self.started is None else round(self.started, 1),
            "peak_mb": None if self.peak is None else round(self.peak, 1),
            "goal_mb": GOAL_MB,
        }


def measure(photos: int = 24) -> Memory:
    """Start `companion serve` on a free port, have photos read by several visitors at once, and ask the
    system for the most memory it took. Raises `BenchError`."""
    from vision.bench import sizes

    sample = files("web").joinpath("static", "samples", "sichuan-hand.jpg").read_bytes()
    large, small, _ = sizes(sample).values()
    with _server() as (process, address):
        _send(address, small)  # the models are loaded now
        started = _resident(process.pid)["VmRSS"]
        jobs = [large if k % 3 == 0 else small for k in range(photos)]
        with ThreadPoolExecutor(VISITORS) as visitors:
            for _ in visitors.map(lambda photo: _send(address, photo), jobs):
                pass
        return Memory(photos, started, _resident(process.pid)["VmHWM"])


@contextmanager
def _server() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of its own process, that keeps nothing of what is kept here, and its address."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "COMPANION_DATABASE_URL"},
            "COMPANION_HOME": home,
            "PYTHONUNBUFFERED": "1",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "companion", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        try:
            yield process, _address(process)
        finally:
            process.terminate()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _address(process: subprocess.Popen[str]) -> str:
    """The address that the server prints when it listens."""
    lines: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put("")

    threading.Thread(target=listen, daemon=True).start()
    said: list[str] = []
    try:
        while line := lines.get(timeout=START_S):
            said.append(line)
            if found := re.search(r"http://\S+", line):
                return found.group()
    except queue.Empty:
        pass
    raise BenchError("the server did not start: " + ("".join(said).strip() or "it said nothing"))


def _send(address: str, photo: bytes) -> None:
    """Have one photo read."""
    edge = "a-line-that-no-photo-holds"
    body = (
        f'--{edge}\r\nContent-Disposition: form-data; name="photo"; filename="hand.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    ).encode() + photo
    request = urllib.request.Request(
        f"{address}api/readings",
        body + f"\r\n--{edge}--\r\n".encode(),
        {"Content-Type": f"multipart/form-data; boundary={edge}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=READ_S) as answer:
            answer.read()
    except OSError as error:
        raise BenchError(f"the server did not read a photo: {error}") from error


def _resident(pid: int) -> dict[str, float | None]:
    """Resident memory of a process in megabytes: now (`VmRSS`) and at most (`VmHWM`); None where the system
    is no Linux."""
    wanted: Sequence[str] = ("VmRSS", "VmHWM")
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return dict.fromkeys(wanted)
    found = dict(re.findall(r"^(\w+):\s+(\d+) kB$", status, re.MULTILINE))
    return {name: int(found[name]) * 1024 / 1e6 if name in found else None for name in wanted}
