"""What may happen at a table, what may not, and what undoing, editing and deleting mean."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from companion import Hand
from companion.rules.rounds import Draw, Kong, Transfer, WallEnd, Win
from companion.table.actions import (
    Action,
    Conflict,
    Create,
    Deal,
    Delete,
    Describe,
    Edit,
    Entry,
    Finish,
    Forbidden,
    Host,
    Join,
    Record,
    TableError,
    Undo,
    action_from_json,
    action_to_json,
)
from companion.table.export import to_csv
from companion.table.replay import State
from companion.table.settle import settle
from tests.table.evenings import FAR, FLUSH, NO_FAN, READY, typed

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ON_DISCARD = typed(NO_FAN, "2p")
DRAWN = typed(NO_FAN, "2p", "wall")
WORTH_8 = typed(FLUSH, "7m")


class Table:
    """A table that four players sit at; `anna` is its host."""

    def __init__(self, **more: Any) -> None:
        create = Create("sichuan", ("", "", "", ""), **{"host": "anna", **more})
        self.state = State.begin(Entry(1, "create", "anna", NOW, create))
        for seat, name in enumerate(("Anna", "Bo", "Chen", "Dora")):
            self.do(Join(name.lower(), name, seat), name.lower())

    def do(self, action: Action, by: str = "bo", key: str = "") -> int:
        """Does it, and gives the entry's number."""
        self.state = self.state.act(key or f"k{self.state.version}", by, NOW, action)
        return self.state.version

    def refuses(self, action: Action, why: str, kind: type[TableError] = TableError, by: str = "bo") -> None:
        before = self.state
        with pytest.raises(kind, match=why) as caught:
            self.do(action, by)
        assert type(caught.value) is kind
        assert self.state is before

    def win(self, seat: int, payer: int | None, hand: Hand = ON_DISCARD, **more: Any) -> int:
        if payer is None:
            hand = DRAWN
        return self.do(Record(self.state.next_number, Win({seat: hand}, payer), **more))

    @property
    def points(self) -> tuple[int, ...]:
        return self.state.points


@pytest.fixture
def table() -> Table:
    return Table()


# ---- rounds ----


def test_a_round_ends_with_the_third_winner_and_the_first_deals_next(table: Table) -> None:
    assert (table.state.dealer, table.state.next_number, table.state.rounds) == (0, 1, ())
    table.win(2, 0)
    assert table.state.rounds[0].still_in == (0, 1, 3)
    assert table.state.dealer == 0
    table.win(1, 0)
    table.win(3, None)
    assert all(round_.over for round_ in table.state.rounds)
    assert (table.state.dealer, table.state.next_number) == (2, 2)
    assert table.points == (-1 - 1 - 2, 1, 1, 2)


def test_two_phones_that_tell_the_same_round_do_not_make_two(table: Table) -> None:
    end = Record(1, WallEnd(dict.fromkeys(range(4), typed(READY))))
    table.do(end, "bo")
    table.refuses(end, "Round 1 is over already, by Bo", Conflict, "chen")
    table.refuses(Record(3, Kong(0, "concealed")), "Round 2 comes first", Conflict)


def test_the_same_key_never_counts_twice(table: Table) -> None:
    table.do(Record(1, Win({1: WORTH_8}, 0)), "bo", "once")
    before = table.state
    table.do(Record(1, Win({1: WORTH_8}, 0)), "bo", "once")
    assert table.state is before
    with pytest.raises(Conflict, match="used for something else"):
        table.do(Record(1, Win({2: WORTH_8}, 0)), "bo", "once")
    with pytest.raises(Conflict, match="used for something else"):
        table.do(Record(1, Win({1: WORTH_8}, 0)), "chen", "once")


def test_winners_on_one_piece_may_be_told_by_two_phones(table: Table) -> None:
    table.win(1, 0)
    table.win(2, 0, WORTH_8, together=True)
    assert [sorted(event.hands) for event in table.state.rounds[0].events if isinstance(event, Win)] == [
        [1, 2]
    ]
    assert table.points == (-9, 1, 8, 0)
    table.refuses(Record(1, Win({2: WORTH_8}, 0), True), "has won on this piece already")
    table.refuses(Record(1, Win({3: WORTH_8}, 1), True), "no win on the same piece")
    table.win(3, 0)
    assert table.state.dealer == 0  # of several first winners the owner of the piece deals next


def test_what_a_seat_named_at_the_deal_counts_in_its_hands(table: Table) -> None:
    table.do(Deal(1, facts={"exchange": "across"}, seats={1: {"void": "s"}}))
    table.do(Deal(1, dealer=3, seats={2: {"void": "p"}}))
    assert table.state.rounds[0].seats == {1: {"void": "s"}, 2: {"void": "p"}}
    assert table.state.dealer == 3
    table.refuses(Record(1, Win({2: ON_DISCARD}, 0)), "Round 1: the hand is not won")
    table.refuses(Record(1, Win({1: typed(NO_FAN, "2p", void="m")}, 0)), "named another void")
    table.win(1, 0)
    (event,) = table.state.rounds[0].events
    assert isinstance(event, Win) and event.hands[1].context["void"] == "s"
    table.refuses(Deal(1, seats={1: {"void": "p"}}), "the hand is not won")
    table.refuses(Deal(1, seats={1: {"cap": 3}}), "unknown fact 'cap'; known: void")
    table.refuses(Deal(1, facts={"exchange": "up"}), "unknown value 'up'")


def test_payments_are_points_times_the_stake() -> None:
    table = Table(stake=5, start=100)
    table.win(1, 0, WORTH_8)
    assert table.points == (60, 140, 100, 100)
    assert table.state.rounds[0].transfers == (Transfer(0, 1, 40, "win: all-pungs, full-flush"),)


def test_other_games_have_other_rounds() -> None:
    create = Create("fujian", ("A", "B"), host="a")
    state = State.begin(Entry(1, "k1", "a", NOW, create))
    for number, reason in enumerate(("misdeal", "wall-out"), 1):
        state = state.act(f"d{number}", "a", NOW, Record(number, Draw(reason)))
    assert (state.points, state.dealer, [each.over for each in state.rounds]) == ((0, 0), 0, [True, True])
    for event, why in (
        (Draw("tired"), "unknown reason 'tired'; known: misdeal, wall-out"),
        (Kong(0, "concealed"), "fujian knows no kong"),
        (Win({0: ON_DISCARD}, 1), "a hand of sichuan at a table of fujian"),
    ):
        with pytest.raises(TableError, match=why):
            state.act("x", "a", NOW, Record(3, event))


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"rules": "poker"}, "no rules 'poker'"),
        ({"rules": "guangshui"}, "is played by 3"),
        ({"options": {"cap": 5}}, "unknown value 5"),
        ({"dealer": 4}, "There is no seat 5"),
        ({"players": ("A", "A", "", "")}, "two names"),
    ],
)
def test_a_table_that_cannot_be_is_refused(more: dict[str, Any], why: str) -> None:
    create = replace(Create("sichuan", ("A", "B", "", "")), **more)
    with pytest.raises(TableError, match=why):
        State.begin(Entry(1, "k1", "host", NOW, create))


# ---- undo, edit, delete ----


def test_undo_and_undo_of_undo(table: Table) -> None:
    won = table.win(1, 0, WORTH_8)
    undone = table.do(Undo(won), "chen")
    assert (table.points, table.state.next_number, table.state.rounds) == ((0, 0, 0, 0), 1, ())
    table.refuses(Undo(won), "undone already", Conflict)
    table.do(Undo(undone))
    assert table.points == (-8, 8, 0, 0)
    table.refuses(Undo(1), "cannot be undone", by="anna")
    table.refuses(Undo(99), "no entry 99")
    assert [entry.by for entry in table.state.entries][-3:] == ["bo", "chen", "bo"]


def test_undos_of_undos_may_go_on_for_long(table: Table) -> None:
    last = table.win(1, 0, WORTH_8)
    for _ in range(300):
        last = table.do(Undo(last))
    assert table.points == (-8, 8, 0, 0)
    assert table.state.touched[-1] == 1 == table.state.changed_since(last - 1)


def test_a_round_told_anew(table: Table) -> None:
    table.win(1, 0)
    table.do(Record(1, WallEnd({seat: typed(FAR) for seat in (0, 2, 3)})))
    table.win(3, None)
    end = WallEnd({seat: typed(FAR) for seat in (0, 1, 3)})
    seen = table.state.version
    edited = table.do(Edit(1, (Win({2: WORTH_8}, 0), end), seen=seen), "chen")
    assert table.points == (-8 - 2, -2, 8 - 2, 6)
    assert table.state.rounds[1].dealer == 2
    table.refuses(Edit(1, (), seen=seen), "Chen changed round 1 meanwhile", Conflict)
    table.refuses(Edit(1, (Win({2: WORTH_8}, 2),)), "cannot pay itself")
    table.refuses(Edit(9, ()), "no round 9")
    seen = table.state.version
    table.do(Undo(edited))
    assert table.points == (-1 - 2, 1 - 2, -2, 6)
    table.refuses(Delete(1, seen), "Bo changed round 1 meanwhile", Conflict)  # an undo changes it, too


def test_a_deleted_round_does_not_count_and_comes_back(table: Table) -> None:
    table.win(1, 0, WORTH_8)
    deleted = table.do(Delete(1))
    assert table.points == (0, 0, 0, 0)
    assert table.state.rounds[0].deleted
    assert table.state.next_number == 2  # numbers are never used twice
    table.refuses(Record(1, Kong(2, "concealed")), "Round 1 is deleted already", Conflict)
    table.refuses(Edit(1, ()), "undo that first", Conflict)
    table.refuses(Delete(1), "undo that first", Conflict)
    table.win(2, 0)
    table.do(Undo(deleted))
    assert table.points == (-9, 8, 1, 0)


def test_nothing_that_later_entries_need_can_be_undone(table: Table) -> None:
    first = table.win(1, 0)
    table.win(2, 0, together=True)
    table.refuses(Undo(first), "no win on the same piece")


def test_a_finished_evening_is_read_only_until_it_is_opened_again(table: Table) -> None:
    won = table.win(1, 0)
    mistaken = table.do(Undo(table.win(2, 0)))
    table.refuses(Finish(), "Round 1 is still being played", Conflict, "anna")
    table.do(Delete(1))
    finished = table.do(Finish(), "anna")
    assert table.state.finished
    for action in (Record(2, Kong(0, "concealed")), Edit(1, ()), Delete(1), Undo(won), Undo(mistaken)):
        table.refuses(action, "The evening is finished", Conflict)
    table.refuses(Undo(finished), "Only the table's host", Forbidden)
    table.do(Undo(finished), "anna")
    table.win(1, 0)


# ---- people ----


def test_who_may_do_what(table: Table) -> None:
    table.do(Join("eve", "Eve"), "eve")
    table.refuses(Record(1, Kong(0, "concealed")), "who watches only looks on", Forbidden, "eve")
    table.refuses(Record(1, Kong(0, "concealed")), "Join the table first", Forbidden, "stranger")
    table.refuses(Join("bo", "Bert", 1), "Only the table's host", Forbidden, "eve")
    for action in (Describe("Friday"), Finish(), Host("bo")):
        table.refuses(action, "Only the table's host", Forbidden)
    table.refuses(Host("stranger"), "Only somebody at the table", by="anna")
    finished = table.do(Finish(), "anna")
    undone = table.do(Undo(finished), "anna")
    table.refuses(Undo(undone), "Only the table's host", Forbidden)  # it would finish the evening
    table.do(Host("bo"), "anna")
    table.do(Describe("Friday", "snow"), "bo")
    assert (table.state.name, table.state.note, table.state.host) == ("Friday", "snow", "bo")
    table.refuses(Finish(), "Only the table's host", Forbidden, "anna")


def test_seats_and_names(table: Table) -> None:
    table.refuses(Join("eve", "Eve", 1), "Bo sits there", Conflict, "eve")
    table.refuses(Join("eve", "Anna", 1), "Anna sits at seat 1", by="eve")
    table.do(Join("phone2", "Bo", 1), "phone2")  # the same player with another phone
    table.do(Join("bo", "Robert", 1), "anna")  # the host may rename
    assert table.state.names[1] == "Robert"
    table.do(Join("dora", "Dora"), "dora")
    assert table.state.names[3] == ""
    table.do(Join("eve", "Eve", 3), "eve")
    table.win(1, 0)
    table.do(Join("eve", "Eve"), "eve")
    assert table.state.names[3] == "Eve"  # points stay with the seat, and so does the name that made them


def test_actions_survive_json() -> None:
    actions: list[Action] = [
        Create("sichuan", ("A", "B", "C", "D"), "x", {"cap": 4}, 2, 100, 3, "h"),
        Join("m", "Anna", 2),
        Host("m"),
        Describe("Friday", "two\nlines"),
        Deal(4, 2, {"exchange": None}, {0: {"void": "m"}}),
        Record(4, Win({0: typed(NO_FAN, "2p", last_tile=True)}, 1), True),
        Record(4, Kong(0, "discard", 2)),
        Record(4, WallEnd({0: typed(READY), 1: Hand("sichuan", ())})),
        Record(4, Draw("misdeal")),
        Edit(4, (Kong(0, "concealed"), Draw("x")), 1, {}, {1: {"void": "p"}}, 12),
        Delete(4, 12),
        Undo(7),
        Finish(),
    ]
    for action in actions:
        assert action_from_json(action_to_json(action)) == action


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("{", "This is no JSON", ""),
        ("[]", "The action must be an object.", ""),
        ('{"type": "bribe"}', "The action is not right", ""),
        ('{"type": "join", "member": "a", "name": " "}', "name must not be empty.", "name"),
        ('{"type": "join", "member": "a", "name": "a\\u0000"}', "name holds a character", "name"),
        ('{"type": "join", "member": "../a", "name": "a"}', "member holds a character", "member"),
        ('{"type": "join", "member": "a", "name": "a", "seat": 4}', "seat is not right", "seat"),
        ('{"type": "undo", "entry": "1"}', "entry must be a whole number.", "entry"),
        ('{"type": "undo", "entry": 1, "x": 1}', "x is no known key.", "x"),
        (
            '{"type": "record", "round": 1, "event": {"type": "kong", "seat": 1, "kind": "big"}}',
            "event.kind is not right", "event.kind",
        ),
        (
            '{"type": "edit", "round": 1, "events": [{"type": "draw", "reason": "x", "hands": {"0": []}}]}',
            "an object expected", "events[0].hands[0]",
        ),
        (
            '{"type": "record", "round": 1, "event": {"type": "win", "hands": {"0": {"rules": "sichuan"}}}}',
            "concealed is missing", "event.hands[0]",
        ),
        (f'{{"type": "describe", "name": "", "note": "{"x" * 70_000}"}}', "too long", ""),
    ],
)  # fmt: skip
def test_documents_that_are_no_actions_are_told_why(text: str, message: str, where: str) -> None:
    with pytest.raises(TableError) as caught:
        action_from_json(text)
    assert caught.value.message.startswith(message) or message in caught.value.message
    assert caught.value.where == where


# ---- settlement and export ----


@pytest.mark.parametrize(
    ("balances", "count"),
    [
        ([0, 0, 0], 0),
        ([-3, 3], 1),
        ([5, -3, 3, -5], 2),
        ([-6, 1, 2, 3], 3),
        ([4, -1, -1, -2], 3),
        ([1, -1, 0, 0], 1),
    ],
)
def test_settlement_in_the_fewest_transfers(balances: list[int], count: int) -> None:
    settled = settle(balances)
    assert len(settled) == count
    for each in settled:
        assert each.amount > 0
        balances[each.payer] += each.amount
        balances[each.payee] -= each.amount
    assert not any(balances)
    with pytest.raises(ValueError, match="sum to 1"):
        settle([1, 0])


def test_no_cell_of_a_spreadsheet_is_a_formula() -> None:
    create = Create("guangshui", ("=1+1", "-2", "@x"), host="h")
    state = State.begin(Entry(1, "k", "h", NOW, create)).act("d", "h", NOW, Record(1, Draw("wall-out")))
    cells = [cell for line in to_csv(state).splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell[:1] in "=-@+" and cell not in ("",) and not cell.isdecimal()]
