"""Tables in a database: nothing is lost or doubled, whoever asks at the same time and whatever is killed."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from companion.rules.rounds import Draw, Kong, Win
from companion.table import schema
from companion.table.actions import Action, Conflict, Create, Forbidden, Join, Record, TableError, Undo
from companion.table.export import from_json, to_json
from companion.table.replay import State
from companion.table.store import MOST_TRIES, NoTable, Store, StoreError, _engine
from tests.table.evenings import FLUSH, NAMES, cards, typed

CREATE = Create("sichuan", NAMES, "Friday")
WON = Win({1: typed(FLUSH, "7m")}, 0)


def key() -> str:
    return secrets.token_hex(8)


def make(store: Store) -> tuple[str, str]:
    """A new table and its host."""
    table, state = store.create(key(), CREATE)
    return table, state.host


def test_what_is_done_is_kept(store: Store, url: str) -> None:
    table, host = make(store)
    store.act(table, key(), host, Record(1, WON))
    state = store.act(table, key(), host, Record(1, Kong(0, "concealed")))
    other = Store(url)  # another process, or this one after a restart
    try:
        assert other.state(table) == state
        assert other.version(table) == state.version == 3
        assert other.secret == store.secret
        other.act(table, key(), host, Undo(3))
        assert store.version(table) == 4
        assert store.state(table).points == (-8, 8, 0, 0)
        assert store.state(table) == other.state(table)
    finally:
        other.close()


@pytest.fixture(scope="module")
def evening() -> State:
    return cards("fujian", {}, 5)


def test_a_whole_evening_comes_back_from_the_database(store: Store, url: str, evening: State) -> None:
    table, state, member = store.bring(key(), evening, "Visitor")
    other = Store(url)
    try:
        again = other.state(table)
    finally:
        other.close()
    assert again == state
    assert again.rounds == evening.rounds
    assert again.host == member and again.people[member].name == "Visitor"
    assert from_json(to_json(again)) == again


def test_a_request_that_comes_twice_counts_once(store: Store) -> None:
    once = key()
    table, state = store.create(once, CREATE)
    assert store.create(once, CREATE) == (table, state)
    again, action = key(), Record(1, WON)
    first = store.act(table, again, state.host, action)
    assert store.act(table, again, state.host, action) == first
    for used in (once, again):
        with pytest.raises(Conflict):
            store.act(table, used, state.host, Record(1, Kong(2, "concealed")))
    brought = key()
    assert store.bring(brought, first, "V")[:2] == store.bring(brought, first, "V")[:2]


def test_refused_actions_leave_nothing_behind(store: Store) -> None:
    table, host = make(store)
    for by, action in ((host, Record(2, WON)), (host, Record(1, Draw("x"))), ("eve", Record(1, WON))):
        with pytest.raises(TableError):
            store.act(table, key(), by, action)
    assert store.version(table) == 1
    with pytest.raises(Forbidden):
        store.act(table, key(), "eve", Record(1, WON))
    with pytest.raises(NoTable):
        store.act("none", key(), host, Record(1, WON))
    with pytest.raises(NoTable):
        store.state("none")
    assert store.version("none") is None


def test_codes_find_tables_and_wrong_ones_are_counted(store: Store) -> None:
    table, _ = make(store)
    code = store.evening(table).code
    assert store.by_code(f" {code[:3].lower()}-{code[3:]} ") == table
    address = key()
    assert store.by_code("AAAAAA") is None
    for _ in range(MOST_TRIES):
        assert store.may_try(address)
        store.tried(address)
    assert not store.may_try(address)
    assert store.may_try(key())


def test_past_evenings_and_forgetting_one(store: Store) -> None:
    tables = [make(store)[0] for _ in range(3)]
    store.act(tables[0], key(), store.state(tables[0]).host, Record(1, WON))
    listed = store.evenings([*tables, "none"])
    assert listed[0].id == tables[0]
    assert {each.id for each in listed} == set(tables)
    assert listed[0].name == "Friday" and listed[0].rules == "sichuan" and not listed[0].finished
    photo = store.keep_photo(tables[0], key(), 1, 2, "m", b"jpeg")
    store.forget(tables[0])
    assert store.version(tables[0]) is None
    assert store.photos(tables[0]) == []
    with pytest.raises(NoTable):
        store.photo(tables[0], photo)


def test_photos_are_kept_and_deleted(store: Store) -> None:
    table, other = make(store)[0], make(store)[0]
    keys = [key() for _ in range(3)]
    ids = [store.keep_photo(table, keys[at], at + 1, at, "m", bytes([at + 1])) for at in range(3)]
    assert store.keep_photo(table, keys[0], 1, 0, "m", b"\1") == ids[0]  # its answer was lost on the way
    assert store.keep_photo(other, keys[0], 1, 0, "m", b"\1") != ids[0]
    assert [(each.id, each.round) for each in store.photos(table)] == list(zip(ids, (1, 2, 3), strict=True))
    assert store.photo(table, ids[1]) == b"\2"
    with pytest.raises(NoTable):
        store.photo(other, ids[1])
    store.forget_photos(other, ids[1])
    store.forget_photos(table, ids[1])
    assert [each.id for each in store.photos(table)] == [ids[0], ids[2]]
    store.forget_photos(table)
    assert store.photos(table) == []
    store.forget(table)
    with pytest.raises(NoTable):
        store.keep_photo(table, key(), 1, 0, "m", b"x")


def test_many_at_once_lose_and_double_nothing(store: Store, url: str) -> None:
    """Two stores, as two processes have them, and eight phones that send everything twice."""
    table, _ = make(store)
    other = Store(url)
    faults: list[BaseException] = []
    done: list[str] = []

    def phone(number: int) -> None:
        try:
            member = f"p{number}"
            stores = [store, other]
            stores[0].act(table, f"{member}-join", member, Join(member, f"Name {number}"))
            for step in range(6):
                once = f"{member}-{step}"
                action: Action = Join(member, f"Name {number} {step}")
                for again in range(2):
                    stores[(number + step + again) % 2].act(table, once, member, action)
                done.append(once)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=phone, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = other.state(table)
    other.close()
    assert faults == []
    assert state.version == 1 + 8 + 48 == store.state(table).version
    assert len(state.keys) == state.version


def test_processes_that_open_a_database_together_agree(url: str) -> None:
    stores: list[Store] = []
    faults: list[Exception] = []

    def open_one() -> None:
        try:
            stores.append(Store(url))
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=open_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len({store.secret for store in stores}) == 1
    for store in stores:
        store.close()


def test_the_migrations_make_the_tables_that_the_code_uses(store: Store, url: str) -> None:
    engine = _engine(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    engine.dispose()


WRITER = """
import sys
from companion.rules.rounds import Kong
from companion.table.actions import Record
from companion.table.store import Store
store, table = Store(sys.argv[1]), sys.argv[2]
host = store.state(table).host
for number in range(100_000):
    store.act(table, f"key {number}", host, Record(1, Kong(number % 4, "concealed")))
    print(number, flush=True)
"""


def test_a_killed_process_loses_nothing_that_it_confirmed(store: Store, url: str) -> None:
    table, host = make(store)
    for round_ in range(2):
        command = [sys.executable, "-c", textwrap.dedent(WRITER), url, table]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            confirmed = -1
            for line in writer.stdout:
                confirmed = int(line)
                if confirmed >= 12 * (round_ + 1):
                    writer.send_signal(signal.SIGKILL)
                    break
            confirmed = max([confirmed, *map(int, writer.stdout)])
        state = store.state(table)
        # All that was confirmed, at most one more that was on its way, and each once.
        assert confirmed + 2 <= state.version <= confirmed + 3
        assert [entry.number for entry in state.entries] == list(range(1, state.version + 1))
        assert len(state.rounds[0].events) == state.version - 1
    assert store.act(table, "key 0", host, Record(1, Kong(0, "concealed"))).version == state.version


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql://x", "sqlite or postgresql expected, not mysql"),
        ("no address", "is no database address"),
        ("sqlite:////proc/none/x.sqlite", "/proc/none"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "connection"),
    ],
)
def test_a_database_that_cannot_be_used_is_told(url: str, why: str) -> None:
    with pytest.raises(StoreError, match=why) as caught:
        Store(url)
    assert "secret" not in str(caught.value)


def test_the_default_is_a_file_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPANION_DATABASE_URL", raising=False)
    monkeypatch.setenv("COMPANION_HOME", str(tmp_path / "home"))
    Store().close()
    assert (tmp_path / "home" / "tables.sqlite").is_file()
