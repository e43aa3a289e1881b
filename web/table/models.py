"""The documents of the table's calls: what they take, checked, and what they answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from companion.table import actions
from web.api.models import ArrangedMeld, Document, Pieces, Score, Setting

LEAST_KEY, MOST_KEY = 16, 64
"""Characters of a key."""

Key = Annotated[
    str,
    StringConstraints(min_length=LEAST_KEY, max_length=MOST_KEY, pattern=r"^[\x21-\x7e]+$"),
    Field(description="Made by the sender at random: the same key never counts twice."),
]
Seat = Annotated[int, Field(ge=0, le=3, description="In turn order, from 0.")]
Action = Annotated[
    dict[str, Any],
    Field(description="By its `type`: deal, record, edit, delete, undo, join, host, describe, finish."),
]
Time = Annotated[str, Field(description="ISO 8601.")]


class Newcomer(Document):
    name: actions.Name
    seat: actions.Seat | None = Field(default=None, description="null: to watch.")


class Request(Document):
    key: Key


class NewTable(Request):
    create: dict[str, Any] = Field(
        description="rules, players (names by seat, empty for a free one), name, options, stake, start."
    )
    me: Newcomer


class Looking(Document):
    code: Annotated[str, StringConstraints(max_length=20)]


class Joining(Request):
    code: Annotated[str, StringConstraints(max_length=20)]
    me: Newcomer


class Doing(Request):
    action: Action
    since: Annotated[int, Field(ge=0)] = Field(default=0, description="The version that the sender knows.")


class Trying(Document):
    action: Action


class Exported(Document):
    format: str
    entries: list[dict[str, Any]] = Field(description="The whole journal.")


# ---- what goes out ----


class Payment(Document):
    payer: Seat
    payee: Seat
    amount: int
    reason: str


class Judged(Document):
    score: Score | None
    arrangement: list[ArrangedMeld]
    notes: list[str]


class AtTheEnd(Document):
    seat: Seat
    void_left: Pieces
    ready: bool
    best_base: int


class Outcome(Document):
    transfers: list[Payment]
    results: dict[str, Judged] = Field(description="The winners' hands by seat.")
    standings: list[AtTheEnd] = Field(description="At the wall's end: everyone still in.")


class Event(Document):
    model_config = ConfigDict(extra="allow", strict=True)

    type: Literal["win", "kong", "wall-end", "draw"]
    outcome: Outcome


class Round(Document):
    number: int
    dealer: Seat
    facts: dict[str, Setting]
    seats: dict[str, dict[str, Setting]] = Field(description="What each seat named when it was dealt.")
    events: list[Event]
    still_in: list[Seat]
    over: bool
    deleted: bool
    gains: list[int]
    points: list[int] = Field(description="Everyone's total after it.")
    entries: list[int] = Field(description="The journal's entries that made it what it is.")
    at: Time


class Line(Document):
    number: int
    at: Time
    by: str
    type: str
    event: str | None = Field(description="What kind of event was recorded.")
    round: int | None
    entry: int | None = Field(description="The entry that an undo takes back.")
    counts: bool
    undoable: bool


class Me(Document):
    name: str
    seat: Seat | None
    host: bool


class Somebody(Document):
    member: str
    name: str
    seat: Seat | None


class Table(Document):
    """How a table stands. When it is at the version that was named, `version` is all that is answered."""

    version: int = Field(description="Grows with everything that happens.")
    id: str = ""
    code: str = ""
    join: str = Field(default="", description="The address to join at.")
    name: str = ""
    note: str = ""
    begun: Time = ""
    rules: str = ""
    options: dict[str, Setting] = Field(default={})
    settings: dict[str, Setting] = Field(default={}, description="Every option's value in force.")
    stake: int = 1
    start: int = 0
    names: list[str] = Field(default=[])
    seated: list[bool] = Field(default=[], description="Whether somebody's phone sits at the seat.")
    watching: list[str] = Field(default=[])
    host: str = ""
    points: list[int] = Field(default=[])
    dealer: Seat = 0
    next: int = Field(default=1, description="The round that whatever happens now belongs to.")
    open: int | None = Field(default=None, description="The round that is being played.")
    finished: bool = False
    undo: Line | None = Field(default=None, description="What an undo button takes back.")
    redo: int | None = Field(default=None, description="The undo to undo, if that was the last thing done.")
    me: Me | None = None
    people: list[Somebody] = Field(default=[], description="Told to the host: everyone at the table.")
    rounds_from: int | None = Field(
        default=None, description="Rounds from this one on are as in `rounds`; those before are unchanged."
    )
    rounds: list[Round] = Field(default=[])


class Found(Document):
    id: str
    joined: bool
    name: str
    rules: str
    names: list[str]
    seated: list[bool]
    begun: Time


class Evening(Document):
    id: str
    code: str
    name: str
    rules: str
    finished: bool
    begun: Time
    changed: Time


class Evenings(Document):
    evenings: list[Evening]


class Preview(Document):
    round: Round
    points: list[int]


class Journal(Document):
    version: int
    entries: list[Line]


class Standing(Document):
    seat: Seat
    points: int
    gain: int


class Settling(Document):
    payer: Seat
    payee: Seat
    amount: int


class SeatStatistics(Document):
    wins: int
    self_draws: int
    paid_for: int = Field(description="Wins of others on this player's piece.")
    kongs: int
    ready: int = Field(description="Wall's ends reached ready.")
    best: int
    worst: int


class BigHand(Document):
    round: int
    seat: Seat
    total: int
    earned: int


class Statistics(Document):
    rounds: int
    unpaid: int
    seats: list[SeatStatistics]
    biggest: list[BigHand]
    items: dict[str, int]


class Summary(Document):
    standings: list[Standing]
    settlement: list[Settling] = Field(
        description="The fewest payments that bring everyone back to the start."
    )
    statistics: Statistics


class Photo(Document):
    id: str
    round: int
    seat: Seat | None


class Photos(Document):
    photos: list[Photo]


class Kept(Document):
    id: str


class Gone(Document):
    pass
