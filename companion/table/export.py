"""An evening as a file: JSON to keep and bring back, CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from companion.table.actions import (
    MOST_ENTRIES,
    Entry,
    TableError,
    action_from_json,
    action_to_json,
)
from companion.table.replay import State, replay

FORMAT = "table-companion/table-1"

MOST_IMPORT_BYTES = 8 * 1024 * 1024
"""An evening of 40 rounds is below 200 kB."""

COLUMNS = ("round", "dealer", "when", "recorded by", "event", "payer", "payee", "amount", "reason")


def to_json(state: State) -> str:
    """The whole journal."""
    entries = [
        {
            "number": entry.number,
            "key": entry.key,
            "by": entry.by,
            "at": entry.at.isoformat(),
            "action": json.loads(action_to_json(entry.action)),
        }
        for entry in state.entries
    ]
    return json.dumps({"format": FORMAT, "entries": entries}, ensure_ascii=False, indent=1)


def from_json(text: str | bytes) -> State:
    """The state of an exported journal; raises `TableError` for anything else."""
    if len(text) > MOST_IMPORT_BYTES:
        raise TableError(f"This file is too long: at most {MOST_IMPORT_BYTES // 2**20} MB are taken.")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise TableError("This is no JSON file.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TableError("This is no evening that Table Companion has exported.")
    lines = document.get("entries")
    if not isinstance(lines, list) or not 1 <= len(lines) <= MOST_ENTRIES:
        raise TableError(f"An evening has 1 to {MOST_ENTRIES} entries.")
    entries = [_entry(line, f"entries[{index}]") for index, line in enumerate(lines)]
    keys = {entry.key for entry in entries}
    if len(keys) < len(entries):
        raise TableError("Two entries have the same key.", "entries")
    return replay(entries)


def _entry(line: Any, where: str) -> Entry:
    if not isinstance(line, dict) or not isinstance(line.get("action"), dict):
        raise TableError("An entry with an action expected.", where)
    key, by = line.get("key"), line.get("by")
    if not (isinstance(key, str) and 1 <= len(key) <= 64 and isinstance(by, str) and 1 <= len(by) <= 32):
        raise TableError("An entry has a key and somebody it is by.", where)
    try:
        at = datetime.fromisoformat(line.get("at"))  # type: ignore[arg-type]  # no text is refused as well
        action = action_from_json(json.dumps(line["action"]))
    except TableError as error:
        raise TableError(error.message, f"{where}.action.{error.where}".rstrip(".")) from None
    except (TypeError, ValueError):
        raise TableError("An entry has a date and a time.", f"{where}.at") from None
    if at.tzinfo is None:
        raise TableError("An entry's time has a time zone.", f"{where}.at")
    number = line.get("number")
    if type(number) is not int:
        raise TableError("An entry has a number.", where)
    return Entry(number, key, by, at, action)


def to_csv(state: State) -> str:
    """One line for each payment, and one for each round that nobody paid in."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(
        (*COLUMNS, *(_safe(f"{name or seat + 1} after") for seat, name in enumerate(state.names)))
    )
    for line in _lines(state):
        writer.writerow([_safe(cell) if isinstance(cell, str) else cell for cell in line])
    return file.getvalue()


def _lines(state: State) -> Iterator[Sequence[object]]:
    def name(seat: int) -> str:
        return state.names[seat] or f"seat {seat + 1}"

    for round_ in state.counted:
        last = state.entries[round_.entries[-1] - 1]
        told = (round_.number, name(round_.dealer), last.at.isoformat(), state.name_of(last.by))
        paid = False
        for event, outcome in zip(round_.events, round_.outcomes, strict=True):
            for transfer in outcome.transfers:
                if transfer.amount:
                    paid = True
                    amount = transfer.amount * state.create.stake
                    row = (event.type, name(transfer.payer), name(transfer.payee), amount, transfer.reason)
                    yield (*told, *row, *round_.points)
        if not paid:
            yield (*told, round_.events[-1].type if round_.events else "", "", "", 0, "", *round_.points)


def _safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
