"""Where tables are kept: SQLite in the user's data folder, or PostgreSQL.

Several processes may serve one database. Nothing that counts lives in a process: what one keeps in memory is
a copy of a journal's beginning, and journals only grow. An action is confirmed when its entry is on the disk.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, delete, event, func, insert, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError

from companion.home import home
from companion.table import schema
from companion.table.actions import (
    Action,
    Create,
    Entry,
    Host,
    Join,
    TableError,
    action_from_json,
    action_to_json,
)
from companion.table.replay import State, replay

DATABASE_URL = "COMPANION_DATABASE_URL"

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that nobody takes for one another."""

CODE_LENGTH = 6

MOST_CACHED = 512
"""States kept in memory; a club has 50 tables."""

MOST_TRIES = 20
"""Wrong codes from one address within `TRIES_S`; after them even right ones are refused for a while."""

TRIES_S = 600

BUSY_S = 15
"""How long a write waits for those of other processes."""

CONNECT_S = 10
"""How long a PostgreSQL server may take to answer before it counts as away, unless its address says."""


_AUTOCOMMIT = {"isolation_level": "AUTOCOMMIT"}


class NoTable(TableError):
    """There is no such table, or not for this visitor."""


class StoreError(Exception):
    """The database cannot be used; the message, for the owner of the computer, says why."""


@dataclass(frozen=True, slots=True)
class Evening:
    """A table as lists show it."""

    id: str
    code: str
    name: str
    rules: str
    finished: bool
    begun: str
    changed: str


@dataclass(frozen=True, slots=True)
class KeptPhoto:
    """A photo that was kept with a round; its bytes are fetched by `Store.photo`."""

    id: str
    round: int
    seat: int | None
    by: str
    at: str


def default_url() -> str:
    """The database to use: `COMPANION_DATABASE_URL`, or a file in the user's data folder."""
    if url := os.environ.get(DATABASE_URL):
        return url
    return f"sqlite:///{(home() / 'tables.sqlite').as_posix()}"


class Store:
    """All tables of one database. Threads may share it; it brings the database up to date when it opens it.

    url: as SQLAlchemy writes it; None for `default_url`. Raises `StoreError`.
    """

    def __init__(
        self, url: str | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._clock = clock
        self._engine = _engine(default_url() if url is None else url)
        # Reads see what is confirmed at that moment and lock nothing. SQLite needs no transaction for that.
        options = {"reads_only": True} if self._engine.dialect.name == "sqlite" else _AUTOCOMMIT
        self._reading = self._engine.execution_options(**options)
        self._writing = threading.Lock() if self._engine.dialect.name == "sqlite" else None
        self._states: OrderedDict[str, State] = OrderedDict()
        self._codes: dict[str, str] = {}
        self._caching = threading.Lock()
        try:
            migrate(self._engine)
        except Exception as error:
            raise StoreError(f"{self._engine.url.render_as_string()}: {_first_line(error)}") from error
        self.secret = self._shared_secret()

    def close(self) -> None:
        self._engine.dispose()

    # ---- tables ----

    def create(self, key: str, create: Create) -> tuple[str, State]:
        """A new table and its id. The host's member id is derived from the key, as is the table's: a request
        that is sent again makes no second table. Raises `TableError`."""
        table, hashed = self._derived("table", key), self._hashed(key)
        create = replace(create, host=self.member_for(table, key))
        state = State.begin(Entry(1, hashed, create.host, self._clock(), create))
        return table, self._begin(table, state)

    def bring(self, key: str, imported: State, name: str) -> tuple[str, State, str]:
        """A new table with an imported journal; who brings it, called `name`, becomes its host. Gives its id,
        state and the host's member id."""
        table, hashed = self._derived("table", key), self._hashed(key)
        member = self.member_for(table, key)
        now = self._clock()
        state = imported
        if member not in state.people:
            taken = {*state.names, *(person.name for person in state.people.values())}
            name = next(each for each in _variants(name) if each not in taken)
            state = state.act(f"{hashed}-1"[:64], state.host, now, Join(member, name))
        state = state.act(f"{hashed}-2"[:64], state.host, now, Host(member))
        return table, self._begin(table, state), member

    def _begin(self, table: str, state: State) -> State:
        for _ in range(8):  # a code may be taken; there are 900 million
            row = {
                "id": table,
                "code": _new_code(),
                "begun": _written(state.entries[0].at),
                **_summary(state),
            }
            try:
                with self._writes() as connection:
                    connection.execute(insert(schema.evenings), row)
                    connection.execute(
                        insert(schema.entries), [_row(table, entry) for entry in state.entries]
                    )
            except IntegrityError:
                if self.version(table) is not None:
                    return self.state(table)
                continue
            self._remember(table, state)
            return state
        raise StoreError("no free code was found")

    def version(self, table: str) -> int | None:
        """The number of the table's last entry; None when there is no such table."""
        with self._reading.connect() as connection:
            found: int | None = connection.scalar(
                select(schema.evenings.c.version).where(schema.evenings.c.id == table)
            )
        return found

    def state(self, table: str) -> State:
        """How the table stands; raises `NoTable`."""
        with self._reading.connect() as connection:
            version = connection.scalar(
                select(schema.evenings.c.version).where(schema.evenings.c.id == table)
            )
            if version is None:
                raise NoTable("There is no such table.")
            return self._state(connection, table, version)

    def act(self, table: str, key: str, by: str, action: Action) -> State:
        """Does something at the table; when this returns, it is kept. The same key never counts twice.

        Raises what `State.act` raises, and `NoTable`.
        """
        with self._writes() as connection:
            row = select(schema.evenings.c.version).where(schema.evenings.c.id == table).with_for_update()
            version = connection.scalar(row)
            if version is None:
                raise NoTable("There is no such table.")
            before = self._state(connection, table, version)
            state = before.act(self._hashed(key), by, self._clock(), action)
            if state is before:
                return state
            connection.execute(insert(schema.entries), _row(table, state.entries[-1]))
            connection.execute(
                update(schema.evenings).where(schema.evenings.c.id == table).values(**_summary(state))
            )
        self._remember(table, state)
        return state

    def by_code(self, code: str) -> str | None:
        """The id of the table with this code, as people type it; None when there is none."""
        wanted = "".join(code.upper().split()).replace("-", "")
        with self._reading.connect() as connection:
            found: str | None = connection.scalar(
                select(schema.evenings.c.id).where(schema.evenings.c.code == wanted)
            )
        return found

    def evening(self, table: str) -> Evening:
        """The table as lists show it; raises `NoTable`."""
        for evening in self.evenings([table]):
            return evening
        raise NoTable("There is no such table.")

    def code(self, table: str) -> str:
        """The table's code, which never changes; raises `NoTable`."""
        with self._caching:
            known = self._codes.get(table)
        if known is None:
            known = self.evening(table).code
            with self._caching:
                if len(self._codes) >= MOST_CACHED:
                    self._codes.clear()
                self._codes[table] = known
        return known

    def evenings(self, tables: Iterable[str]) -> list[Evening]:
        """These tables, the one changed last first; those that do not exist are left out."""
        columns = [schema.evenings.c[name] for name in Evening.__dataclass_fields__]
        query = select(*columns).where(schema.evenings.c.id.in_(list(tables)))
        with self._reading.connect() as connection:
            rows = connection.execute(query.order_by(schema.evenings.c.changed.desc()))
            return [Evening(*row) for row in rows]

    def forget(self, table: str) -> None:
        """Deletes a table with its journal and photos, for good."""
        with self._writes() as connection:
            connection.execute(delete(schema.evenings).where(schema.evenings.c.id == table))
        with self._caching:
            self._states.pop(table, None)
            self._codes.pop(table, None)

    def member_for(self, table: str, key: str) -> str:
        """The member id of whoever came to the table with this key."""
        return self._derived("member", f"{table} {key}")

    # ---- photos ----

    def keep_photo(self, table: str, key: str, round_: int, seat: int | None, by: str, jpeg: bytes) -> str:
        """Keeps a photo with a round and gives its id. The same key of the same member keeps it once. Raises
        `NoTable`."""
        photo = self._derived("photo", f"{table} {by} {key}")
        row = {"id": photo, "evening": table, "round": round_, "seat": seat, "by": by,
               "at": _written(self._clock()), "jpeg": jpeg}  # fmt: skip
        try:
            with self._writes() as connection:
                connection.execute(insert(schema.photos), row)
        except IntegrityError:  # it came before, or its table is gone
            if self.version(table) is None:
                raise NoTable("There is no such table.") from None
        return photo

    def photos(self, table: str) -> list[KeptPhoto]:
        """The photos of a table, in the order they came."""
        columns = [schema.photos.c[name] for name in KeptPhoto.__dataclass_fields__]
        query = select(*columns).where(schema.photos.c.evening == table).order_by(schema.photos.c.at)
        with self._reading.connect() as connection:
            return [KeptPhoto(*row) for row in connection.execute(query)]

    def photo(self, table: str, photo: str) -> bytes:
        """The bytes of a photo; raises `NoTable`."""
        query = select(schema.photos.c.jpeg).where(
            schema.photos.c.evening == table, schema.photos.c.id == photo
        )
        found: bytes | None = None
        if photo.isalnum():  # PostgreSQL takes no text with a zero byte
            with self._reading.connect() as connection:
                found = connection.scalar(query)
        if found is None:
            raise NoTable("There is no such photo.")
        return found

    def forget_photos(self, table: str, photo: str | None = None) -> None:
        """Deletes one photo of a table, or all of them."""
        query = delete(schema.photos).where(schema.photos.c.evening == table)
        if photo is not None:
            query = query.where(schema.photos.c.id == "".join(filter(str.isalnum, photo)))
        with self._writes() as connection:
            connection.execute(query)

    # ---- what may not be done too often ----

    def may_try(self, who: str, most: int = MOST_TRIES) -> bool:
        """Whether somebody has not done a counted thing too often lately."""
        since = int(time.time()) - TRIES_S
        mine = (schema.tries.c.who == self._hashed(who)) & (schema.tries.c.at > since)
        with self._reading.connect() as connection:
            return (connection.scalar(select(func.count()).where(mine)) or 0) < most

    def tried(self, who: str) -> None:
        """Somebody did a counted thing. who: an address, with what was done if that is no wrong code."""
        now = int(time.time())
        with self._writes() as connection:
            connection.execute(delete(schema.tries).where(schema.tries.c.at <= now - TRIES_S))
            connection.execute(insert(schema.tries), {"who": self._hashed(who), "at": now})

    # ---- inside ----

    @contextmanager
    def _writes(self) -> Iterator[Connection]:
        """A transaction that writes. SQLite takes one at a time and lets others ask again and again: those of
        this process wait here instead, and go on the moment the one before is done."""
        queued = self._writing is not None and self._writing.acquire(timeout=BUSY_S)
        try:
            with self._engine.begin() as connection:
                yield connection
        finally:
            if self._writing is not None and queued:
                self._writing.release()

    def _state(self, connection: Connection, table: str, version: int) -> State:
        """The state at this version or later: what is in memory, and the entries after it."""
        with self._caching:
            known = self._states.get(table)
        if known is not None and known.version >= version:
            return known
        after = known.version if known else 0
        query = select(schema.entries).where(
            schema.entries.c.evening == table, schema.entries.c.number > after
        )
        new = [_entry(row) for row in connection.execute(query.order_by(schema.entries.c.number))]
        state = replay((*known.entries, *new) if known else new)
        self._remember(table, state)
        return state

    def _remember(self, table: str, state: State) -> None:
        with self._caching:
            known = self._states.get(table)
            if known is None or known.version < state.version:
                self._states[table] = state
            self._states.move_to_end(table)
            while len(self._states) > MOST_CACHED:
                self._states.popitem(last=False)

    def _shared_secret(self) -> bytes:
        """Made by whoever opens the database first."""
        query = select(schema.secrets.c.value).where(schema.secrets.c.name == "key")
        with self._reading.connect() as connection:
            if found := connection.scalar(query):
                return bytes.fromhex(found)
        # Somebody else may be faster.
        with suppress(IntegrityError), self._writes() as connection:
            connection.execute(insert(schema.secrets), {"name": "key", "value": secrets.token_hex(32)})
        with self._reading.connect() as connection:
            return bytes.fromhex(str(connection.scalar(query)))

    def _hashed(self, text: str) -> str:
        """What stands for a key or an address in the database, where neither can be read back."""
        return self._derived("hash", text)

    def _derived(self, purpose: str, text: str) -> str:
        made = hmac.new(self.secret, f"{purpose} {text}".encode(), hashlib.sha256)
        return made.hexdigest()[:24]


def migrate(engine: Engine) -> None:
    """Brings the database to the newest shape; processes that start together take turns."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    steps = ScriptDirectory(str(Path(__file__).with_name("migrations")))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(0x7AB1E)))
        with EnvironmentContext(
            Config(), steps, fn=lambda at, _: steps._upgrade_revs("head", at)
        ) as environment:
            environment.configure(connection=connection, target_metadata=schema.metadata)
            environment.run_migrations()


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
        if name in ("postgres", "postgresql"):
            parsed = parsed.set(drivername="postgresql+psycopg")
        elif name != "sqlite":
            raise StoreError(f"{DATABASE_URL}: sqlite or postgresql expected, not {name}")
        if name == "sqlite" and parsed.database not in (None, "", ":memory:"):
            Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
        # A server process has 16 threads, and PostgreSQL 100 connections for all of them.
        options: dict[str, Any] = {"pool_size": 8, "max_overflow": 8, "pool_timeout": 30}
        if name == "sqlite":
            options["connect_args"] = {"timeout": BUSY_S}
        else:
            options["pool_pre_ping"] = True  # the database server may have been restarted
            if "connect_timeout" not in parsed.query:
                options["connect_args"] = {"connect_timeout": CONNECT_S}
        engine = create_engine(parsed, **options)
    except ArgumentError:
        raise StoreError(f"{DATABASE_URL} is no database address") from None
    except (ImportError, NoSuchModuleError):
        raise StoreError(
            "PostgreSQL needs one more package: pip install 'table-companion[postgres]'"
        ) from None
    except OSError as error:
        raise StoreError(f"{url}: {error.strerror}") from None
    if name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where this module begins them
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_S * 1000}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # what is confirmed survives a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    if not connection.get_execution_options().get("reads_only"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _row(table: str, entry: Entry) -> dict[str, Any]:
    return {"evening": table, "number": entry.number, "key": entry.key, "by": entry.by,
            "at": _written(entry.at), "action": action_to_json(entry.action)}  # fmt: skip


def _entry(row: Any) -> Entry:
    return Entry(row.number, row.key, row.by, datetime.fromisoformat(row.at), action_from_json(row.action))


def _summary(state: State) -> dict[str, Any]:
    return {"version": state.version, "name": state.name, "rules": state.create.rules,
            "finished": state.finished, "changed": _written(state.entries[-1].at)}  # fmt: skip


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _new_code() -> str:
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


def _variants(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name[:36]} {count}" for count in range(2, 10_000))


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
