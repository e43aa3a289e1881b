"""Random evenings against a model that knows nothing but a list of what happened.

Several phones act on what they last saw, send late, twice and in any order. What the table took is told to
the model, which adds it up in its own way after each step.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from companion import Hand, parse_pieces
from companion.rules.rounds import Draw, Event, Win
from companion.table.actions import (
    Action,
    Create,
    Deal,
    Delete,
    Edit,
    Entry,
    Join,
    Record,
    TableError,
    Undo,
)
from companion.table.export import from_json, to_json
from companion.table.replay import State

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SEATS = 3


def _hand(text: str, win: str, source: str) -> Hand:
    return Hand.from_document(
        {"rules": "fujian", "concealed": text, "winning": {"piece": win, "from": source}}
    )


HANDS = (("RRRRr HHHHr CCCCg AAAw EEy HHy Kr", "Ey", 29), ("KKKKr AAAAr EEEEr RRRRr HHHHr", "Ky", 41))
"""Concealed cards, the winning one, points."""
WORTH = {tuple(sorted(parse_pieces(text))): points for text, _, points in HANDS}


def event_of(number: int) -> Event:
    """One of the things that can happen in a round."""
    number, kind = divmod(number, 4)
    if kind == 0:
        return Draw(("misdeal", "wall-out")[number % 2])
    text, win, _ = HANDS[number // SEATS % 2]
    winner, payer = number % SEATS, (number + 1 + number // 6 % 2) % SEATS
    if kind == 1:
        return Win({winner: _hand(text, win, "wall")})
    return Win({winner: _hand(text, win, "discard")}, payer)


@dataclass
class Phone:
    """Somebody who acts on what the phone showed last, and whose messages may wait."""

    member: str
    seen: State
    waiting: list[tuple[str, Action]] = field(default_factory=list)
    sent: list[tuple[str, Action]] = field(default_factory=list)


KINDS = ("record", "record", "edit", "delete", "undo", "undo", "deal", "join", "again", "shuffle", "look")
STEPS = st.lists(
    st.tuples(
        st.sampled_from((*KINDS, "send", "send", "send")), st.integers(0, SEATS - 1), st.integers(0, 999)
    ),
    min_size=20,
    max_size=60,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(STEPS)
def test_the_table_is_what_was_told_to_it(steps: list[tuple[str, int, int]]) -> None:
    state = State.begin(Entry(1, "k", "p0", NOW, Create("fujian", ("A", "B", "C"), start=100, host="p0")))
    for seat in range(SEATS):
        state = state.act(f"j{seat}", f"p{seat}", NOW, Join(f"p{seat}", "ABC"[seat], seat))
    phones = [Phone(f"p{seat}", state) for seat in range(SEATS)]
    taken: list[tuple[str, Action]] = [(entry.key, entry.action) for entry in state.entries]
    for at, (what, who, number) in enumerate(steps):
        phone = phones[who]
        action = _wish(what, phone.seen, number)
        if action is not None:
            phone.waiting.append((f"{who}-{at}", action))
        elif what == "shuffle":
            random.Random(number).shuffle(phone.waiting)
        elif what == "look":
            phone.seen = state
        elif what == "again" and phone.sent:
            phone.waiting.append(phone.sent[number % len(phone.sent)])
        elif what == "send":
            for key, wish in phone.waiting:
                before = state
                try:
                    state = state.act(key, phone.member, NOW, wish)
                except TableError:
                    assert state is before
                    continue
                phone.sent.append((key, wish))
                if key in dict(taken):
                    assert state is before  # a message that comes twice counts once
                else:
                    taken.append((key, wish))
            phone.waiting.clear()
            phone.seen = state
        assert sum(state.points) == 100 * SEATS
        assert list(state.points) == _model([action for _, action in taken])
    assert [(entry.key, entry.action) for entry in state.entries] == taken
    assert from_json(to_json(state)).points == state.points


def _wish(what: str, seen: State, number: int) -> Action | None:
    """What somebody does who sees this state."""
    some_round = 1 + number % max(seen.next_number, 1)
    match what:
        case "record":
            return Record(seen.next_number, event_of(number))
        case "deal":
            return Deal(seen.next_number, dealer=number % SEATS)
        case "edit":
            return Edit(some_round, (event_of(number),), seen=seen.version if number % 2 else None)
        case "delete":
            return Delete(some_round)
        case "undo":
            return Undo(1 + number % seen.version)
        case "join":
            return Join("p1", f"B{number % 3}", 1)
    return None


def _model(actions: list[Action]) -> list[int]:
    """Points by the plainest means: which actions stand, then what each round's last word is."""
    stands = [True] * len(actions)
    for at in reversed(range(len(actions))):
        action = actions[at]
        if isinstance(action, Undo) and stands[at]:
            stands[action.entry - 1] = False
    words: dict[int, Event | None] = {}
    gone = set()
    for action, stand in zip(actions, stands, strict=True):
        if stand and isinstance(action, Record):
            words[action.round] = action.event
        elif stand and isinstance(action, Edit):
            words[action.round] = action.events[0]
        elif stand and isinstance(action, Delete):
            gone.add(action.round)
    points = [100] * SEATS
    for number, event in words.items():
        if isinstance(event, Win) and number not in gone:
            ((winner, hand),) = event.hands.items()
            worth = WORTH[hand.concealed]
            for seat in range(SEATS):
                points[seat] += worth * (SEATS - 1) if seat == winner else -worth
    return points
