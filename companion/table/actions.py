"""What people do at a table: the content of journal entries, and its document form.

A round is named by its number, from 1. Whoever records something says which round it belongs to, so that two
phones that tell the same round do not make two of it.

>>> action = action_from_json('{"type": "record", "round": 3, "event": {"type": "kong", "seat": 1,'
...                           ' "kind": "concealed"}}')
>>> action.event
Kong(seat=1, kind='concealed', payer=None, type='kong')
>>> action_from_json(action_to_json(action)) == action
True
>>> action_from_json('{"type": "record", "round": 0}')
Traceback (most recent call last):
...
companion.table.actions.TableError: round is not right: Input should be greater than or equal to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from companion.faults import first_fault
from companion.hand import HandError
from companion.rules.base import Value
from companion.rules.rounds import STRICT, Draw, Event, Kong, WallEnd, Win

MOST_ENTRIES = 5000
"""Entries of one table; a long evening has a few hundred."""

MOST_BYTES = 64 * 1024
"""An action as JSON; four hands with their melds are below 4 kB."""

_PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40, pattern=_PRINTABLE)
]
FreeOrName = Annotated[str, StringConstraints(strip_whitespace=True, max_length=40, pattern=_PRINTABLE)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80, pattern=_PRINTABLE)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]
Member = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,32}$")]
Number = Annotated[int, Field(ge=1, le=100_000)]
Version = Annotated[int, Field(ge=0, le=100_000)]
Seat = Annotated[int, Field(ge=0, le=3)]
Facts = Mapping[str, Value]
AnyEvent = Annotated[Win | Kong | WallEnd | Draw, Field(discriminator="type")]


class TableError(ValueError):
    """Something that cannot be at a table: `message` for people, `where` names the part of the action."""

    def __init__(self, message: str, where: str = "") -> None:
        self.message = message
        self.where = where
        super().__init__(message)

    @classmethod
    def of(cls, error: HandError, outer: str = "") -> TableError:
        """What a rule set refused, seen from the action."""
        return cls(error.message, error.within(outer).where if outer else error.where)


class Conflict(TableError):
    """It would have been fine before others did something: look at the table again."""


class Forbidden(TableError):
    """Not for this member to do."""


@dataclass(frozen=True, slots=True)
class Create:
    """The table itself. players: names by seat, in turn order; empty for a free seat. stake: what one point
    is worth; all amounts of the table are points times the stake. start: what everyone begins with. host: the
    member who may do everything."""

    rules: str
    players: Annotated[tuple[FreeOrName, ...], Field(min_length=2, max_length=4)]
    name: Title = ""
    options: Facts = field(default_factory=dict)
    stake: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    start: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    dealer: Seat = 0
    host: Member = "host"
    type: Literal["create"] = "create"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Join:
    """A member comes to the table, or changes name or seat; seat None: to watch."""

    member: Member
    name: Name
    seat: Seat | None = None
    type: Literal["join"] = "join"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Host:
    """The host's rights go to another member."""

    member: Member
    type: Literal["host"] = "host"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Describe:
    """The evening's name and notes."""

    name: Title
    note: Text = ""
    type: Literal["describe"] = "describe"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Deal:
    """What is settled when a round is dealt; told again, it adds to what was told before. dealer: when it is
    not the one whose turn it is. facts: by the rule set's `deal`. seats: facts of single seats, by its
    `seat_facts`."""

    round: Number
    dealer: Seat | None = None
    facts: Facts = field(default_factory=dict)
    seats: Mapping[Seat, Facts] = field(default_factory=dict)
    type: Literal["deal"] = "deal"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Record:
    """Something that money hangs on happened. together: this win is on the same piece as the one before."""

    round: Number
    event: AnyEvent
    together: bool = False
    type: Literal["record"] = "record"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Edit:
    """A round told anew, whole. seen: the version that the editor looked at; what others changed in this
    round since then makes the edit a conflict."""

    round: Number
    events: Annotated[tuple[AnyEvent, ...], Field(max_length=60)]
    dealer: Seat | None = None
    facts: Facts = field(default_factory=dict)
    seats: Mapping[Seat, Facts] = field(default_factory=dict)
    seen: Version | None = None
    type: Literal["edit"] = "edit"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Delete:
    """A round does not count. It keeps its number, and `Undo` of this entry brings it back."""

    round: Number
    seen: Version | None = None
    type: Literal["delete"] = "delete"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Undo:
    """The entry with this number does not count. Undoing an undo brings back what it took away."""

    entry: Number
    type: Literal["undo"] = "undo"
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Finish:
    """The evening is over: no more rounds, until this is undone."""

    type: Literal["finish"] = "finish"
    __pydantic_config__ = STRICT


Action = Create | Join | Host | Describe | Deal | Record | Edit | Delete | Undo | Finish

UNDOABLE = (Describe, Deal, Record, Edit, Delete, Undo, Finish)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal. number: from 1, without gaps. key: chosen by whoever sent it; the same key
    never counts twice. by: the member. at: with time zone."""

    number: int
    key: str
    by: str
    at: datetime
    action: Action


_ACTION: TypeAdapter[Action] = TypeAdapter(Annotated[Action, Field(discriminator="type")])
_EVENT: TypeAdapter[Event] = TypeAdapter(AnyEvent)


def _place(path: list[int | str]) -> list[int | str]:
    """A place in an action without the tags that pydantic puts in for the alternatives of a union."""
    plain = path[1:]
    for index, part in enumerate(plain):
        if part == "event":
            del plain[index + 1 : index + 2]
        elif part == "events":
            del plain[index + 2 : index + 3]
    return plain


def action_from_json(text: str | bytes) -> Action:
    """The action of a JSON document; raises `TableError` that says what is wrong and where."""
    if len(text) > MOST_BYTES:
        raise TableError(f"An action is too long: at most {MOST_BYTES // 1024} kB are taken.")
    try:
        return _ACTION.validate_json(text)
    except ValidationError as error:
        raise TableError(*first_fault(error, "The action", _place)) from None


def action_to_json(action: Action) -> str:
    return _ACTION.dump_json(action).decode()


def event_to_document(event: Event) -> dict[str, Any]:
    document: dict[str, Any] = _EVENT.dump_python(event, mode="json")
    return document
