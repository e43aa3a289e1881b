"""Databases for tests: a SQLite file, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GIVEN = "COMPANION_TEST_DATABASE_URL"
"""Names an empty PostgreSQL database to use instead of one that the tests start."""


def _binaries() -> Path | None:
    """The folder of PostgreSQL's programs, if this computer has them."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    return folders[-1] if folders else None


def _owner() -> list[str] | None:
    """What runs a program as somebody whom PostgreSQL accepts: it refuses to run as root."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return []
    runuser = shutil.which("runuser")
    return [runuser, "-u", "postgres", "--"] if runuser else None


def why_no_postgres() -> str:
    """Empty when PostgreSQL can be tested, else the reason."""
    if os.environ.get(GIVEN):
        return ""
    if _binaries() is None:
        return f"no PostgreSQL on this computer ({GIVEN} names a server; apt install postgresql)"
    if _owner() is None:
        return "PostgreSQL does not run as root, and there is no runuser to run it as somebody else"
    return ""


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty PostgreSQL database; the server is stopped and deleted afterwards."""
    if given := os.environ.get(GIVEN):
        yield given
        return
    binaries, owner = _binaries(), _owner()
    assert binaries is not None and owner is not None
    # Short: the path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if owner:
            shutil.chown(folder, "postgres")
        data, log = f"{folder}/data", f"{folder}/log"

        def run(program: str, *arguments: str) -> None:
            command = [*owner, str(binaries / program), *arguments]
            done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stdout + done.stderr

        run("initdb", "-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=300"
        run("pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")
        try:
            yield f"postgresql://tests@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
