"""A state as JSON-ready documents: what a page needs to draw a table.

>>> from datetime import UTC, datetime
>>> from companion.table.actions import Create, Entry
>>> create = Create("guangshui", ("Anna", "Bo", "Chen"))
>>> state = State.begin(Entry(1, "k1", "host", datetime(2026, 11, 30, tzinfo=UTC), create))
>>> table_document(state)["names"], table_document(state)["points"], table_document(state)["next"]
(['Anna', 'Bo', 'Chen'], [0, 0, 0], 1)
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from companion.pieces import format_pieces
from companion.rules.rounds import Outcome
from companion.table.actions import UNDOABLE, Entry, Undo, event_to_document
from companion.table.replay import Round, State
from companion.table.settle import settle
from companion.table.statistics import statistics


def table_document(state: State) -> dict[str, Any]:
    """Everything but the rounds and the journal."""
    create = state.create
    current = state.open_round
    seated = {person.seat for person in state.people.values()}
    return {
        "version": state.version,
        "name": state.name,
        "note": state.note,
        "begun": state.entries[0].at.isoformat(),
        "rules": create.rules,
        "options": dict(create.options),
        "settings": state.rule_set.settings(create.options),
        "stake": create.stake,
        "start": create.start,
        "names": list(state.names),
        "seated": [seat in seated for seat in range(state.seats)],
        "watching": [person.name for person in state.people.values() if person.seat is None],
        "host": state.name_of(state.host),
        "points": list(state.points),
        "dealer": state.dealer,
        "next": state.next_number,
        "open": current.number if current else None,
        "finished": state.finished,
        "undo": _undoable(state),
        "redo": _redoable(state),
    }


def _undoable(state: State) -> dict[str, Any] | None:
    """What an undo button takes back: the last thing done that still counts."""
    for entry in reversed(state.entries):
        if entry.number not in state.cancelled and not isinstance(entry.action, Undo):
            return _line(state, entry) if isinstance(entry.action, UNDOABLE) else None
    return None


def _redoable(state: State) -> int | None:
    """The undo that was the last thing done; undoing it brings back what it took."""
    last = state.entries[-1]
    return last.number if isinstance(last.action, Undo) else None


def round_document(state: State, round_: Round) -> dict[str, Any]:
    """One round: its events with what each led to, in the table's amounts."""
    events = [
        {**event_to_document(event), "outcome": _outcome(outcome, state.create.stake)}
        for event, outcome in zip(round_.events, round_.outcomes, strict=True)
    ]
    return {
        "number": round_.number,
        "dealer": round_.dealer,
        "facts": dict(round_.facts),
        "seats": {str(seat): dict(facts) for seat, facts in round_.seats.items()},
        "events": events,
        "still_in": list(round_.still_in),
        "over": round_.over,
        "deleted": round_.deleted,
        "gains": round_.gains(state.seats),
        "points": list(round_.points),
        "entries": list(round_.entries),
        "at": state.entries[round_.entries[-1] - 1].at.isoformat(),
    }


def _outcome(outcome: Outcome, stake: int) -> dict[str, Any]:
    results = {}
    for seat, result in outcome.results.items():
        document = result.to_document()
        results[str(seat)] = {key: document[key] for key in ("score", "arrangement", "notes")}
    return {
        "transfers": [
            {**asdict(transfer), "amount": transfer.amount * stake} for transfer in outcome.transfers
        ],
        "results": results,
        "standings": [
            {
                "seat": each.seat,
                "void_left": format_pieces(each.void_left),
                "ready": each.ready,
                "best_base": each.best_base,
            }
            for each in outcome.standings
        ],
    }


def journal_document(state: State) -> list[dict[str, Any]]:
    """Every entry: who, when, what, about which round, and whether it still counts."""
    return [_line(state, entry) for entry in state.entries]


def _line(state: State, entry: Entry) -> dict[str, Any]:
    action = entry.action
    return {
        "number": entry.number,
        "at": entry.at.isoformat(),
        "by": state.name_of(entry.by),
        "type": action.type,
        "event": action.event.type if action.type == "record" else None,
        "round": state.touched[entry.number - 1],
        "entry": action.entry if isinstance(action, Undo) else None,
        "counts": entry.number not in state.cancelled,
        "undoable": isinstance(action, UNDOABLE),
    }


def evening_document(state: State) -> dict[str, Any]:
    """What the evening came to: standings, settlement and statistics."""
    told = statistics(state)
    balances = [points - state.create.start for points in state.points]
    order = sorted(range(state.seats), key=lambda seat: (-state.points[seat], seat))
    return {
        "standings": [{"seat": seat, "points": state.points[seat], "gain": balances[seat]} for seat in order],
        "settlement": [asdict(each) for each in settle(balances)],
        "statistics": {
            "rounds": told.rounds,
            "unpaid": told.unpaid,
            "seats": [asdict(each) for each in told.seats],
            "biggest": [asdict(each) for each in told.biggest],
            "items": dict(told.items),
        },
    }
