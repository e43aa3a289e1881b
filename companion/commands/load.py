"""`companion load`: many phones at many tables, to see whether a computer carries a club's evening."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

FOLLOW_S = 1.5
"""How often a phone looks at its table, as the page does."""

ACT_S = 12.0
"""How often a phone tells a round, on average."""

GOAL_MS = 100.0
"""What 95 of 100 looks may take at most."""

SEATS = 4
PATIENCE_S = 30.0
"""How long a phone goes on sending what it has told, when the time is up."""

READY = {"rules": "sichuan", "concealed": "123456m34678p99p"}
NOTHING = {"rules": "sichuan", "concealed": ""}


def add_parser(subparsers: Any) -> None:
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "load",
        help="measure how many phones and tables this computer carries",
        description="Start servers of its own and let many phones play at many tables. "
        "Afterwards every journal is compared with what the phones were told.",
    )
    parser.add_argument(
        "--tables", type=_count, default=50, help="tables of four phones (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=_count, default=60, help="how long they play (default: %(default)s)"
    )
    parser.add_argument("--processes", type=_count, default=1, help="server processes (default: %(default)s)")
    parser.add_argument(
        "--database", metavar="URL", help="database to use (default: a SQLite file of its own)"
    )
    parser.add_argument(
        "--photos", type=int, help="photos always being read (default: one for each server process)"
    )
    parser.add_argument(
        "--kill", action="store_true", help="kill the servers (-9) halfway, and start them again"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"a number from 1 to 10000 expected, not {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="companion-load-") as folder:
        servers = Servers(args.processes, args.database or f"sqlite:///{folder}/tables.sqlite", Path(folder))
        with servers.running():
            photos = args.processes if args.photos is None else args.photos
            told = play(servers, args.tables, args.seconds, photos, args.kill)
    print(json.dumps(told) if args.json else "\n".join(f"{name}: {value}" for name, value in told.items()))
    wrong = told["errors"] or told["lost_or_doubled"] or told["poll_p95_ms"] > GOAL_MS
    return 1 if wrong else 0


class Servers:
    """`companion serve` processes on one database."""

    def __init__(self, count: int, database: str, home: Path) -> None:
        self.ports = [_free_port() for _ in range(count)]
        self._environment = os.environ | {"COMPANION_DATABASE_URL": database, "COMPANION_HOME": str(home)}
        self._processes: list[subprocess.Popen[bytes]] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        self.start()
        try:
            yield
        finally:
            self.kill()

    def start(self) -> None:
        """Start them and wait until they answer."""
        for port in self.ports:
            command = [sys.executable, "-m", "companion", "serve", "--port", str(port)]
            self._processes.append(
                subprocess.Popen(command, stdout=subprocess.DEVNULL, env=self._environment)
            )
        for port, process in zip(self.ports, self._processes, strict=True):
            deadline = time.monotonic() + 60
            while True:
                try:
                    Client(port).ask("GET", "/api/tables")
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise RuntimeError(f"the server on port {port} did not start") from None
                    time.sleep(0.1)

    def kill(self) -> None:
        """End them as a power cut does."""
        for process in self._processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self._processes.clear()


class Client:
    """One connection to a server, with cookies; made anew when it breaks."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._cookie = ""
        self._connection: http.client.HTTPConnection | None = None

    def ask(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """Status and JSON of an answer; raises `OSError` when none comes."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        headers = {"Cookie": self._cookie} if self._cookie else {}
        if body is not None:
            headers["Content-Type"] = kind
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self._connection = None
            raise OSError(str(error)) from error
        if set_cookie := answer.getheader("Set-Cookie"):
            self._cookie = set_cookie.split(";")[0]
        return answer.status, json.loads(content)


@dataclass
class Tally:
    """What the phones of all tables saw."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    polls_ms: list[float] = field(default_factory=list)
    acts_ms: list[float] = field(default_factory=list)
    more_ms: list[float] = field(default_factory=list)
    photos_ms: list[float] = field(default_factory=list)
    confirmed: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: int = 0
    broken: int = 0
    errors: list[str] = field(default_factory=list)


class Phone(threading.Thread):
    """A player who follows a table, and now and then tells a round.

    It asks for what the page asks for: what a round comes to before it is told, and how the evening stands
    after each change.
    """

    def __init__(self, name: str, table: str, client: Client, until: float, tally: Tally, seed: int) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._name = name
        self._table = table
        self._path = f"/api/tables/{table}"
        self._until = until
        self._tally = tally
        self._rng = random.Random(seed)  # of its own: phones at two tables do nothing in step
        self._version = 0
        self._next = 1

    def run(self) -> None:
        try:
            time.sleep(self._rng.random() * FOLLOW_S)
            waiting: dict[str, Any] | None = None
            while time.monotonic() < self._until or (waiting and time.monotonic() < self._until + PATIENCE_S):
                if waiting is None and self._rng.random() < FOLLOW_S / ACT_S:
                    shown = self._rng.randrange(SEATS)
                    hands = {str(seat): READY if seat == shown else NOTHING for seat in range(SEATS)}
                    action = {
                        "type": "record",
                        "round": self._next,
                        "event": {"type": "wall-end", "hands": hands},
                    }
                    waiting = {"key": secrets.token_hex(12), "action": action}
                    self._ask("POST", "previews", {"action": action})
                if waiting is not None and self._act(waiting):
                    waiting = None
                self._poll()
                time.sleep(FOLLOW_S * self._rng.uniform(0.8, 1.2))
            if waiting is not None:
                self._failed("a told round was never answered")
        except Exception as error:
            self._failed(f"{type(error).__name__}: {error}")

    def _act(self, waiting: dict[str, Any]) -> bool:
        """Send what was told; whether an answer came."""
        answer = self._timed("POST", f"{self._path}/actions", waiting, self._tally.acts_ms)
        if answer is None:
            return False
        status, document = answer
        with self._tally.lock:
            if status == 200:
                self._tally.confirmed[self._table, self._name] += 1
            elif status == 409:  # another phone told this round first
                self._tally.refused += 1
            else:
                self._tally.errors.append(f"{status}: {document}"[:200])
        return True

    def _poll(self) -> None:
        path = f"{self._path}?since={self._version}"
        answer = self._timed("GET", path, None, self._tally.polls_ms)
        if answer is None:
            return
        status, document = answer
        if status != 200:
            self._failed(f"{status}: {document}")
            return
        self._version = document["version"]
        self._next = document.get("next", self._next)
        if document.get("rounds"):
            self._ask("GET", "evening")

    def _ask(self, method: str, path: str, body: Any = None) -> None:
        """What else the page asks for. 409: another phone told this round first."""
        answer = self._timed(method, f"{self._path}/{path}", body, self._tally.more_ms)
        if answer is not None and answer[0] not in (200, 409):
            self._failed(f"{answer[0]}: {answer[1]}")

    def _timed(self, method: str, path: str, body: Any, times: list[float]) -> tuple[int, Any] | None:
        started = time.perf_counter()
        try:
            answer = self._client.ask(method, path, body)
        except OSError:
            with self._tally.lock:
                self._tally.broken += 1
            return None
        with self._tally.lock:
            times.append((time.perf_counter() - started) * 1000)
        return answer

    def _failed(self, why: str) -> None:
        with self._tally.lock:
            self._tally.errors.append(why[:200])


def play(servers: Servers, tables: int, seconds: int, photos: int, kill: bool) -> dict[str, Any]:
    """Let phones play, and compare every journal with what they were told."""
    tally = Tally()
    hosts = [_open(servers.ports[number % len(servers.ports)], number) for number in range(tables)]
    seated = []
    for number, (table, code, host) in enumerate(hosts):
        seated.append((table, "Seat 0", host))
        for seat in range(1, SEATS):
            client = Client(servers.ports[(number + seat) % len(servers.ports)])
            joining = {
                "key": secrets.token_hex(12),
                "code": code,
                "me": {"name": f"Seat {seat}", "seat": seat},
            }
            _expect(client.ask("POST", "/api/tables/join", joining))
            seated.append((table, f"Seat {seat}", client))
    until = time.monotonic() + seconds
    phones = [
        Phone(name, table, client, until, tally, seed) for seed, (table, name, client) in enumerate(seated)
    ]
    for phone in phones:
        phone.start()
    for number in range(photos):
        threading.Thread(
            target=_read_photos, args=(servers.ports[number % len(servers.ports)], until, tally)
        ).start()
    if kill:
        time.sleep(seconds / 2)
        servers.kill()
        servers.start()
    for phone in phones:
        phone.join(seconds + 2 * PATIENCE_S)
    wrong = sum(_differs(table, host, tally) for table, _, host in hosts)
    for table, _, host in hosts:
        _expect(host.ask("DELETE", f"/api/tables/{table}"))
    polls = sorted(tally.polls_ms)
    return {
        "phones": len(phones),
        "tables": tables,
        "processes": len(servers.ports),
        "polls": len(polls),
        "poll_median_ms": _part(polls, 0.5),
        "poll_p95_ms": _part(polls, 0.95),
        "poll_worst_ms": _part(polls, 1),
        "rounds": sum(tally.confirmed.values()),
        "told_by_another_first": tally.refused,
        "action_p95_ms": _part(sorted(tally.acts_ms), 0.95),
        "other_requests": len(tally.more_ms),
        "other_p95_ms": _part(sorted(tally.more_ms), 0.95),
        "photos_read": len(tally.photos_ms),
        "photo_median_ms": _part(sorted(tally.photos_ms), 0.5),
        "photo_p95_ms": _part(sorted(tally.photos_ms), 0.95),
        "broken_connections": tally.broken,
        "errors": len(tally.errors),
        "first_errors": tally.errors[:3],
        "lost_or_doubled": wrong,
    }


def _open(port: int, number: int) -> tuple[str, str, Client]:
    """A new table: its id, its code, its host."""
    client = Client(port)
    create = {
        "rules": "sichuan",
        "players": [""] * SEATS,
        "name": f"Table {number}",
        "options": {"preset": "sbr"},
    }
    opening = {"key": secrets.token_hex(12), "create": create, "me": {"name": "Seat 0", "seat": 0}}
    document = _expect(client.ask("POST", "/api/tables", opening))
    return document["id"], document["code"], client


def _differs(table: str, host: Client, tally: Tally) -> int:
    """How many rounds the table has that nobody was told it has, or lacks that somebody was told it has."""
    document = _expect(host.ask("GET", f"/api/tables/{table}"))
    lines = _expect(host.ask("GET", f"/api/tables/{table}/journal"))["entries"]
    kept = Counter(line["by"] for line in lines if line["type"] == "record")
    told = Counter({name: count for (where, name), count in tally.confirmed.items() if where == table})
    off = sum(((kept - told) + (told - kept)).values())
    rounds = [each for each in document["rounds"] if each["over"] and len(each["events"]) == 1]
    whole = [each["number"] for each in rounds] == list(range(1, kept.total() + 1)) and not sum(
        document["points"]
    )
    return off + (not whole)


def _read_photos(port: int, until: float, tally: Tally) -> None:
    """Have the sample photo read, again and again."""
    sample = files("web").joinpath("static", "samples", "sichuan-hand.jpg").read_bytes()
    edge = "edge-of-a-part"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="photo"; filename="hand.jpg"\r\n\r\n'
    body = head.encode() + sample + f"\r\n--{edge}--\r\n".encode()
    client = Client(port)
    while time.monotonic() < until:
        started = time.perf_counter()
        try:
            status, document = client.ask(
                "POST", "/api/readings", body, f"multipart/form-data; boundary={edge}"
            )
        except OSError:
            time.sleep(0.5)
            continue
        with tally.lock:
            if status == 200:
                tally.photos_ms.append((time.perf_counter() - started) * 1000)
            elif status != 503:  # busy
                tally.errors.append(f"photo {status}: {document}"[:200])


def _expect(answer: tuple[int, Any]) -> Any:
    status, document = answer
    if status != 200:
        raise RuntimeError(f"{status}: {document}")
    return document


def _part(ordered: list[float], part: float) -> float:
    return round(ordered[min(int(len(ordered) * part), len(ordered) - 1)], 1) if ordered else 0.0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port
