"""From a journal to how things stand: replayed whole each time, so that no total can drift from its entries.

`State.act` is the one way to go on: it says no to whatever cannot be, and gives the next state otherwise.
Nothing here knows the rules of a game; a rule set's `play` says what a round comes to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache

from companion import rules
from companion.hand import Hand, HandError
from companion.rules.base import RuleSet, Value
from companion.rules.rounds import Draw, Event, Outcome, Played, Transfer, WallEnd, Win
from companion.table.actions import (
    MOST_ENTRIES,
    UNDOABLE,
    Action,
    Conflict,
    Create,
    Deal,
    Delete,
    Describe,
    Edit,
    Entry,
    Facts,
    Finish,
    Forbidden,
    Host,
    Join,
    Record,
    TableError,
    Undo,
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at the table; seat None: watches."""

    member: str
    name: str
    seat: int | None


@dataclass(frozen=True, slots=True)
class Round:
    """A round as it counts now.

    facts, seats: what was settled when it was dealt. outcomes: of each event, in points. transfers: all its
    payments, in the table's amounts. points: everyone's total after it. entries: the numbers of the journal
    entries that made it what it is. deleted: it is shown, but does not count.
    """

    number: int
    dealer: int
    facts: Facts
    seats: Mapping[int, Facts]
    events: tuple[Event, ...]
    outcomes: tuple[Outcome, ...]
    transfers: tuple[Transfer, ...]
    still_in: tuple[int, ...]
    over: bool
    deleted: bool
    points: tuple[int, ...]
    entries: tuple[int, ...]

    def gains(self, seats: int) -> list[int]:
        """What each seat gained in it, in the table's amounts; sums to zero."""
        gains = [0] * seats
        for transfer in self.transfers:
            gains[transfer.payer] -= transfer.amount
            gains[transfer.payee] += transfer.amount
        return gains


@dataclass(frozen=True)
class State:
    """How a table stands after its journal.

    names: by seat, empty for a free one. people: by member. cancelled: numbers of the entries that were
    undone. rounds: by number; the last may still be played. dealer: whose deal it is, in the open round or
    the next one.
    """

    entries: tuple[Entry, ...]
    create: Create
    name: str
    note: str
    names: tuple[str, ...]
    people: Mapping[str, Person]
    host: str
    rounds: tuple[Round, ...]
    dealer: int
    finished: bool
    cancelled: frozenset[int]

    @staticmethod
    def begin(entry: Entry) -> State:
        """The table that a journal's first entry makes; raises `TableError`."""
        return replay((entry,))

    @property
    def version(self) -> int:
        """The number of the last entry: grows with everything that happens."""
        return len(self.entries)

    @property
    def rule_set(self) -> RuleSet:
        return rules.get(self.create.rules)

    @property
    def seats(self) -> int:
        return len(self.create.players)

    @property
    def points(self) -> tuple[int, ...]:
        """Everyone's points now, by seat."""
        return self.rounds[-1].points if self.rounds else (self.create.start,) * self.seats

    @property
    def open_round(self) -> Round | None:
        """The round that is being played; None before it is dealt."""
        if self.rounds and not (self.rounds[-1].over or self.rounds[-1].deleted):
            return self.rounds[-1]
        return None

    @property
    def next_number(self) -> int:
        """The round that whatever happens now belongs to."""
        if (current := self.open_round) is not None:
            return current.number
        return self.rounds[-1].number + 1 if self.rounds else 1

    @cached_property
    def keys(self) -> Mapping[str, Entry]:
        """Every entry by its key."""
        return {entry.key: entry for entry in self.entries}

    @cached_property
    def counted(self) -> tuple[Round, ...]:
        """The rounds that count."""
        return tuple(round_ for round_ in self.rounds if not round_.deleted)

    def round(self, number: int) -> Round:
        """The round with this number; raises `TableError`."""
        for round_ in self.rounds:
            if round_.number == number:
                return round_
        raise TableError(f"There is no round {number}.", "round")

    def act(self, key: str, by: str, at: datetime, action: Action) -> State:
        """The state after one more action; the same state when its key says that it was done before.

        Raises `TableError` when the action cannot be, `Conflict` when others were faster, `Forbidden` when
        the member may not do that.
        """
        if (done := self.keys.get(key)) is not None:
            if (done.by, done.action) != (by, action):
                raise Conflict("This key was used for something else.", "key")
            return self
        entry = Entry(self.version + 1, key, by, at, action)
        if self.version >= MOST_ENTRIES:
            raise TableError(f"A table has at most {MOST_ENTRIES} entries: start a new one.")
        self._allow(entry)
        self._check(entry)
        return replay((*self.entries, entry))

    def _allow(self, entry: Entry) -> None:
        action = entry.action
        if entry.by == self.host:
            return
        if isinstance(action, Join) and action.member == entry.by:
            return
        person = self.people.get(entry.by)
        if person is None:
            raise Forbidden("Join the table first.")
        if isinstance(action, Undo):
            action = self._meant(action)
        if isinstance(action, Join | Host | Describe | Finish):
            raise Forbidden("Only the table's host can do that.")
        if person.seat is None:
            raise Forbidden("Take a seat to record something; who watches only looks on.")

    def _check(self, entry: Entry) -> None:
        """What can be done only now, and is no fault of a journal that holds it already."""
        action = entry.action
        if isinstance(action, Join):
            self._check_join(action, entry.by)
        elif isinstance(action, Host) and action.member not in self.people:
            raise TableError("Only somebody at the table can be its host.", "member")
        elif isinstance(action, Undo):
            self._check_undo(action)
        elif isinstance(action, Deal | Record | Edit | Delete | Finish):
            if self.finished:
                raise Conflict("The evening is finished: its host can open it again.")
            if isinstance(action, Deal | Record):
                self._check_round(action.round)
            elif isinstance(action, Edit | Delete):
                self._check_edit(action)
            elif (current := self.open_round) is not None:
                raise Conflict(f"Round {current.number} is still being played: end it or delete it first.")

    def _check_join(self, action: Join, by: str) -> None:
        own = self.people.get(action.member)
        for seat, name in enumerate(self.names):
            if name == action.name and seat != action.seat and not (own and own.seat == seat):
                raise TableError(f"{name} sits at seat {seat + 1}.", "name")
        sitting = [person for person in self.people.values() if person.seat == action.seat is not None]
        others = [person for person in sitting if person.member != action.member]
        if by != self.host and any(person.name != action.name for person in others):
            raise Conflict(f"{others[0].name} sits there.", "seat")

    def _check_round(self, number: int) -> None:
        now = self.next_number
        if number < now:
            known = self.round(number)
            done = "deleted" if known.deleted else "over"
            name = self.name_of(self._entry(known.entries[-1]).by)
            raise Conflict(
                f"Round {number} is {done} already, by {name}. Look at it, and edit it there.", "round"
            )
        if number > now:
            raise Conflict(f"Round {now} comes first.", "round")

    def _check_edit(self, action: Edit | Delete) -> None:
        known = self.round(action.round)
        if known.deleted:
            raise Conflict(f"Round {action.round} is deleted; undo that first.", "round")
        for entry in self.entries[self.version if action.seen is None else action.seen :]:
            if self.touched[entry.number - 1] == action.round:
                name = self.name_of(entry.by)
                raise Conflict(f"{name} changed round {action.round} meanwhile: look at it again.", "seen")

    def _check_undo(self, action: Undo) -> None:
        target = self._entry(action.entry)
        if not isinstance(target.action, UNDOABLE):
            raise TableError("This cannot be undone.", "entry")
        if target.number in self.cancelled:
            raise Conflict("This was undone already.", "entry")
        if self.finished and not isinstance(self._meant(action), Finish | Describe):
            raise Conflict("The evening is finished: its host can open it again.")

    def _entry(self, number: int) -> Entry:
        if number > len(self.entries):
            raise TableError(f"There is no entry {number}.", "entry")
        return self.entries[number - 1]

    def name_of(self, member: str) -> str:
        """What people call a member."""
        person = self.people.get(member)
        return person.name if person else "the host" if member == self.host else "somebody"

    def _meant(self, undo: Undo) -> Action:
        """What an undo is about in the end, through all undos of undos."""
        action: Action = undo
        while isinstance(action, Undo):
            action = self._entry(action.entry).action
        return action

    @cached_property
    def touched(self) -> tuple[int | None, ...]:
        """For each entry the round that it changed, or took away; None when it is about the whole table."""
        touched: list[int | None] = []
        for entry in self.entries:
            action = entry.action
            if isinstance(action, Undo):
                touched.append(touched[action.entry - 1])
            else:
                touched.append(action.round if isinstance(action, Deal | Record | Edit | Delete) else None)
        return tuple(touched)

    def changed_since(self, version: int) -> int | None:
        """The number of the first round that may differ from what it was at `version`, if any."""
        return min((number for number in self.touched[version:] if number is not None), default=None)


@dataclass(slots=True)
class _Draft:
    """A round while the journal is read."""

    dealer: int | None = None
    facts: dict[str, Value] = field(default_factory=dict)
    seats: dict[int, dict[str, Value]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    deleted: bool = False

    def deal(self, action: Deal | Edit) -> None:
        self.dealer = self.dealer if action.dealer is None else action.dealer
        self.facts.update(action.facts)
        for seat, facts in action.seats.items():
            self.seats.setdefault(seat, {}).update(facts)

    def record(self, action: Record) -> None:
        event = action.event
        if action.together:
            before = self.events[-1] if self.events else None
            if not (isinstance(event, Win) and isinstance(before, Win) and before.payer == event.payer):
                raise TableError("There is no win on the same piece before this one.", "together")
            if twice := sorted(set(event.hands) & set(before.hands)):
                raise TableError(f"Seat {twice[0] + 1} has won on this piece already.", "event.hands")
            event = Win({**before.hands, **event.hands}, before.payer)
            self.events.pop()
        self.events.append(event)


def replay(entries: Sequence[Entry]) -> State:
    """How things stand after these entries; raises `TableError` when they make no journal."""
    if not entries or not isinstance(entries[0].action, Create):
        raise TableError("A journal begins with the making of its table.")
    create = entries[0].action
    _check_create(create)
    cancelled = _cancelled(entries)
    name, note, finished, host = create.name, "", False, create.host
    people: dict[str, Person] = {}
    names = list(create.players)
    drafts: dict[int, _Draft] = {}
    for index, entry in enumerate(entries):
        if entry.number != index + 1:
            raise TableError(f"Entry {index + 1} of the journal has number {entry.number}.")
        if entry.number in cancelled:
            continue
        match action := entry.action:
            case Create() if index:
                raise TableError("A journal makes one table only.")
            case Join():
                _join(action, people, names, bool(drafts))
            case Host():
                host = action.member
            case Describe():
                name, note = action.name, action.note
            case Finish():
                finished = True
            case Deal() | Record() | Edit() | Delete():
                if isinstance(action, Edit):
                    before = drafts.get(action.round, _Draft())
                    drafts[action.round] = _Draft(entries=before.entries, deleted=before.deleted)
                draft = drafts.setdefault(action.round, _Draft())
                draft.entries.append(entry.number)
                if isinstance(action, Record):
                    draft.record(action)
                elif isinstance(action, Delete):
                    draft.deleted = True
                else:
                    draft.deal(action)
                    if isinstance(action, Edit):
                        draft.events = list(action.events)
    rounds, dealer = _rounds(create, drafts)
    return State(
        tuple(entries), create, name, note, tuple(names), people, host, rounds, dealer, finished, cancelled
    )


def _cancelled(entries: Sequence[Entry]) -> frozenset[int]:
    """Numbers of the entries that do not count. An undo that was itself undone takes nothing away."""
    cancelled: set[int] = set()
    for entry in reversed(entries):
        if isinstance(entry.action, Undo) and entry.number not in cancelled:
            if entry.action.entry >= entry.number:
                raise TableError("Only what went before can be undone.", "entry")
            cancelled.add(entry.action.entry)
    return frozenset(cancelled)


def _check_create(create: Create) -> None:
    try:
        rule_set = rules.get(create.rules)
        Hand(create.rules, (), options=create.options)  # checks the options
    except HandError as error:
        raise TableError.of(error) from None
    if len(create.players) not in rule_set.players:
        known = " or ".join(map(str, sorted(rule_set.players)))
        raise TableError(f"{rule_set.title} is played by {known}.", "players")
    if create.dealer >= len(create.players):
        raise TableError(f"There is no seat {create.dealer + 1}.", "dealer")
    taken = [name for name in create.players if name]
    if len(set(taken)) < len(taken):
        raise TableError("Two players of one table need two names.", "players")


def _join(action: Join, people: dict[str, Person], names: list[str], played: bool) -> None:
    """played: whether there are rounds; points stay with their seat, and so does the name that made them."""
    if action.seat is not None and action.seat >= len(names):
        raise TableError(f"There is no seat {action.seat + 1}.", "seat")
    old = people.get(action.member)
    if old and old.seat is not None and old.seat != action.seat and not played:
        names[old.seat] = ""
    if action.seat is not None:
        names[action.seat] = action.name
    people[action.member] = Person(action.member, action.name, action.seat)


def _rounds(create: Create, drafts: Mapping[int, _Draft]) -> tuple[tuple[Round, ...], int]:
    """The rounds by number, and who deals after them (or in the last one, while it is open)."""
    seats = len(create.players)
    points = [create.start] * seats
    dealer = create.dealer
    rounds = []
    for number, draft in sorted(drafts.items()):
        try:
            round_, next_dealer = _round(create, number, draft, dealer)
        except HandError as error:
            raise TableError(f"Round {number}: {error.message}", error.where) from None
        if not draft.deleted:
            points = [before + gain for before, gain in zip(points, round_.gains(seats), strict=True)]
            dealer = next_dealer
        rounds.append(replace(round_, points=tuple(points)))
    if rounds and not (rounds[-1].over or rounds[-1].deleted):
        dealer = rounds[-1].dealer
    return tuple(rounds), dealer


def _round(create: Create, number: int, draft: _Draft, dealer: int) -> tuple[Round, int]:
    """One round without its totals, and who deals after it; raises `HandError`."""
    rule_set = rules.get(create.rules)
    seats = len(create.players)
    if draft.dealer is not None:
        if draft.dealer >= seats:
            raise HandError(f"there is no seat {draft.dealer + 1}", "dealer")
        dealer = draft.dealer
    deal = {setting.name: setting for setting in rule_set.deal}
    for name, value in draft.facts.items():
        if name not in deal:
            raise HandError(f"unknown fact {name!r}; known: {', '.join(deal) or 'none'}", "facts")
        deal[name].check(value, f"facts.{name}")
    context = {setting.name: setting for setting in rule_set.context}
    for seat, facts in draft.seats.items():
        if seat >= seats:
            raise HandError(f"there is no seat {seat + 1}", "seats")
        for name, value in facts.items():
            if name not in rule_set.seat_facts:
                raise HandError(f"unknown fact {name!r}; known: {', '.join(rule_set.seat_facts)}", "seats")
            context[name].check(value, f"seats[{seat}].{name}")
    for index, event in enumerate(draft.events):
        if event.type not in rule_set.events:
            raise HandError(f"{rule_set.name} knows no {event.type}", f"events[{index}]")
    events = tuple(_known(create, event, draft.seats, index) for index, event in enumerate(draft.events))
    played = _play(create.rules, tuple(sorted(create.options.items())), seats, events)
    transfers = tuple(
        replace(transfer, amount=transfer.amount * create.stake)
        for outcome in played.outcomes
        for transfer in outcome.transfers
        if transfer.amount
    )
    made = Round(
        number, dealer, dict(draft.facts), {seat: dict(facts) for seat, facts in draft.seats.items()}, events,
        played.outcomes, () if draft.deleted else transfers, played.still_in, played.over, draft.deleted, (),
        tuple(draft.entries),
    )  # fmt: skip
    return made, dealer if played.next_dealer is None else played.next_dealer


def _known(create: Create, event: Event, seats: Mapping[int, Facts], index: int) -> Event:
    """The event with hands under the table's rules and options, and with what their seats named before."""
    if not isinstance(event, Win | WallEnd | Draw):
        return event
    hands = {}
    for seat, hand in event.hands.items():
        where = f"events[{index}].hands[{seat}]"
        if hand.rules != create.rules:
            raise HandError(f"a hand of {hand.rules} at a table of {create.rules}", f"{where}.rules")
        context = dict(hand.context)
        for name, value in seats.get(seat, {}).items():
            if context.setdefault(name, value) != value and value is not None:
                raise HandError(
                    f"this seat named another {name} when the round was dealt", f"{where}.context"
                )
        try:
            hands[seat] = replace(hand, context=context, options=create.options)
        except HandError as error:
            raise error.within(where) from None
    return replace(event, hands=hands)


@lru_cache(2048)
def _play(
    name: str, options: tuple[tuple[str, object], ...], seats: int, events: tuple[Event, ...]
) -> Played:
    """The rule set's answer, remembered: a replay meets the same rounds again and again."""
    return rules.get(name).play(events, dict(options), seats)
