"""Scripted evenings, and a ledger that adds up their journals on its own: from the written rules and the
exported file, using nothing of the program but what a hand is worth."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from companion import Hand, Winning, analyse
from companion.commands.bench import won_cards, won_hand
from companion.result import Result, Score
from companion.rules.rounds import Draw, Event, Kong, WallEnd, Win
from companion.table.actions import Action, Create, Deal, Delete, Edit, Entry, Join, Record, Undo
from companion.table.export import to_json
from companion.table.replay import State

ROUNDS = 40
BEGIN = datetime(2026, 11, 30, 19, 0, tzinfo=UTC)
NAMES = ("Anna", "Bo", "Chen", "Dora")


def typed(text: str, win: str = "", source: str = "discard", **context: Any) -> Hand:
    """A Sichuan hand."""
    document: dict[str, Any] = {"rules": "sichuan", "concealed": text, "context": context}
    if win:
        document["winning"] = {"piece": win, "from": source}
    return Hand.from_document(document)


def won(rng: random.Random, rules: str, source: str) -> Hand:
    """A random won hand."""
    while True:
        hand = won_hand(rng) if rules == "sichuan" else won_cards(rng, rules)
        assert hand.winning is not None
        hand = replace(hand, winning=Winning(hand.winning.piece, source))  # type: ignore[arg-type]
        if analyse(hand).status == "won":
            return hand


class Evening:
    """Plays on, and after every step holds the program's totals against the ledger's."""

    def __init__(self, create: Create) -> None:
        self.count = 0
        self.state = State.begin(Entry(1, "k0", create.host, BEGIN, create))
        for seat, name in enumerate(create.players):
            self.do(Join(f"m{seat}", name, seat), f"m{seat}")

    def do(self, action: Action, by: str = "m0") -> None:
        self.count += 1
        self.state = self.state.act(f"k{self.count}", by, BEGIN + timedelta(minutes=self.count), action)
        create = self.state.create
        assert sum(self.state.points) == create.start * len(create.players)
        assert list(self.state.points) == ledger(to_json(self.state))

    def record(self, *events: Event, together: bool = False) -> None:
        for event in events:
            self.do(Record(self.state.next_number, event, together), f"m{self.count % self.state.seats}")

    @property
    def last(self) -> int:
        return self.state.version


READY = "123456m34678p99p"
FAR = "147m258m369m1471p"
NO_FAN = "123456m3467899p"  # won with 2p
FLUSH = "1113335557799m"  # won with 7m


def sichuan(options: dict[str, Any], seed: int) -> State:
    """40 rounds with all that a Sichuan round can be."""
    rng = random.Random(seed)
    evening = Evening(Create("sichuan", NAMES, "Evening", options, stake=2, start=500, dealer=1, host="m0"))
    for number in range(1, ROUNDS + 1):
        a, b, c, d = rng.sample(range(4), 4)
        kind = number % 9
        drawn = [replace(won(rng, "sichuan", "wall"), context={}) for _ in range(2)]
        voids = [_missing(hand) for hand in drawn]
        if kind == 0:  # three winners in turn
            evening.do(Deal(number, facts={"exchange": "left"}, seats={a: {"void": voids[0]}}))
            evening.record(
                Win({a: drawn[0]}), Win({b: typed(FLUSH, "7m")}, c), Win({c: typed(NO_FAN, "2p")}, d)
            )
        elif kind == 1:  # two winners on one discard, then the wall's end
            evening.record(Win({a: typed(NO_FAN, "2p"), b: typed(FLUSH, "7m", last_tile=True)}, c))
            evening.record(WallEnd({c: typed(READY), d: typed(FAR)}))
        elif kind == 2:  # kongs, one given back at the wall's end
            evening.record(Kong(a, "concealed"), Kong(b, "discard", a), Kong(c, "promoted"))
            evening.record(Kong(c, "promoted-later"), Win({d: drawn[1]}))
            evening.record(WallEnd({a: typed(READY), b: Hand("sichuan", ()), c: typed(READY)}))
        elif kind == 3:  # a robbed kong, by two
            evening.record(Kong(a, "concealed"), Kong(b, "promoted"))
            robbing = typed(NO_FAN, "2p", robbed_kong=True)
            evening.record(Win({a: robbing, c: robbing}, b), Win({d: typed(FLUSH, "7m", "wall")}))
        elif kind == 4:  # void tiles left
            evening.do(Deal(number, dealer=d, seats={b: {"void": "s"}}))
            ends = {a: typed(READY), b: typed("55s"), c: typed("1112345678999m"), d: typed(FAR, void="p")}
            evening.record(WallEnd(ends))
        elif kind == 5:  # two phones tell two winners of one discard
            evening.record(Kong(d, "concealed"), Win({a: typed(NO_FAN, "2p")}, d))
            evening.record(Win({b: typed(FLUSH, "7m")}, d), together=True)
            evening.record(Win({c: typed("1122335577889m", "9m")}, d))
        elif kind == 6:  # thrown right after a kong
            evening.record(Kong(a, "concealed"), Kong(a, "promoted"))
            evening.record(Win({b: typed(NO_FAN, "2p", discard_after_kong=True)}, a), Kong(c, "discard", d))
            evening.record(WallEnd({a: typed(READY), c: typed(READY), d: typed(FAR)}))
        elif kind == 7:  # all three on one discard
            evening.record(Win(dict.fromkeys((a, b, c), typed(NO_FAN, "2p")), d))
        else:  # the discarder stays in
            evening.record(Win({a: drawn[0]}), Win({b: drawn[1]}), WallEnd({c: typed(FAR), d: typed(READY)}))
        _regret(
            evening,
            number,
            (Win({a: typed(NO_FAN, "2p")}, b), WallEnd({b: typed(READY), c: typed(FAR), d: typed(FAR)})),
        )
    return evening.state


def cards(rules: str, options: dict[str, Any], seed: int) -> State:
    """40 rounds of a card game."""
    rng = random.Random(seed)
    seats = 3 if rules == "guangshui" else 4
    evening = Evening(Create(rules, NAMES[:seats], "", options, stake=5, start=100, host="m0"))
    for number in range(1, ROUNDS + 1):
        a, b, c = rng.sample(range(seats), 3)
        if number % 7 == 0:
            evening.record(Draw("wall-out"))
        elif number % 7 == 3 and rules == "fujian":
            evening.record(Draw("misdeal"))
        elif number % 7 == 4:
            hand = won(rng, rules, "discard")
            evening.record(Win({a: hand, b: hand}, c))
        elif number % 2:
            evening.record(Win({a: won(rng, rules, "wall")}))
        else:
            evening.record(Win({b: won(rng, rules, "discard")}, a))
        _regret(evening, number, (Win({c: won(rng, rules, "wall")}),))
    return evening.state


def _regret(evening: Evening, number: int, instead: tuple[Event, ...]) -> None:
    """Edits, deletions and undos after some rounds."""
    if number % 10 == 3:
        evening.do(Edit(number - 2, instead, seen=evening.last), "m1")
    elif number % 10 == 5:
        evening.do(Delete(number - 1), "m2")
    elif number % 10 == 6:
        evening.do(Delete(number))
        evening.do(Undo(evening.last), "m1")
    elif number % 10 == 8:
        evening.do(Undo(evening.last), "m1")  # the round's last event
        evening.do(Undo(evening.last), "m1")  # and that undo
    elif number % 10 == 9:
        evening.do(Edit(number - 3, instead), "m1")
        evening.do(Undo(evening.last))


def _missing(hand: Hand) -> str:
    """A suit that the hand holds nothing of."""
    held = {piece.suit for piece in (*hand.held, *(piece for meld in hand.melds for piece in meld.pieces))}
    return next(suit for suit in "spm" if suit not in held)


# ---- the ledger ----


def ledger(text: str) -> list[int]:
    """Everyone's points after an exported journal."""
    entries = json.loads(text)["entries"]
    create = entries[0]["action"]
    points = [create["start"]] * len(create["players"])
    for events in _rounds(entries):
        for payer, payee, amount in _PAID[create["rules"]](events, create["options"], len(points)):
            points[payer] -= amount * create["stake"]
            points[payee] += amount * create["stake"]
    return points


def _rounds(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The events of every round that counts."""

    def counts(number: int) -> bool:
        undos = [entry["number"] for entry in entries if entry["action"].get("entry") == number]
        return not any(counts(undo) for undo in undos)

    told: dict[int, list[dict[str, Any]]] = {}
    deleted: set[int] = set()
    named: dict[tuple[int, str], dict[str, Any]] = {}
    for entry in entries:
        action = entry["action"]
        number = action.get("round")
        if number is None or not counts(entry["number"]):
            continue
        if action["type"] == "edit":
            named = {key: facts for key, facts in named.items() if key[0] != number}
        for seat, facts in action.get("seats", {}).items():
            named.setdefault((number, seat), {}).update(facts)
        if action["type"] == "edit":
            told[number] = list(action["events"])
        elif action["type"] == "delete":
            deleted.add(number)
        elif action["type"] == "record":
            events = told.setdefault(number, [])
            if action["together"]:
                hands = {**events[-1]["hands"], **action["event"]["hands"]}
                events[-1] = {**events[-1], "hands": hands}
            else:
                events.append(action["event"])
    for number, events in told.items():
        for at, event in enumerate(events):
            hands = {
                seat: {**hand, "context": {**named.get((number, seat), {}), **hand.get("context", {})}}
                for seat, hand in event.get("hands", {}).items()
            }
            events[at] = {**event, "hands": hands} if hands else event
    return [events for number, events in sorted(told.items()) if number not in deleted]


Paid = Iterator[tuple[int, int, int]]
KONGS = {"concealed": 2, "discard": 2, "promoted": 1, "promoted-later": 0}
HOUSES: dict[str, dict[str, Any]] = {
    "mahjongo": {"kong_money": "none", "wall_end": "report", "cap": 3, "self_draw": "plus-one-point"},
    "sbr": {"kong_money": "sbr", "wall_end": "sbr", "cap": 3, "self_draw": "plus-one-point"},
    "chengdu": {"kong_money": "sbr", "wall_end": "chengdu", "cap": 4, "self_draw": "plus-one-fan"},
}


def _result(hand: dict[str, Any], options: dict[str, Any]) -> Result:
    return _judged(json.dumps({**hand, "options": options}))


@cache
def _judged(text: str) -> Result:
    return analyse(Hand.from_document(json.loads(text)))


def _value(hand: dict[str, Any], options: dict[str, Any]) -> Score:
    score = _result(hand, options).score
    assert score is not None
    return score


def _sichuan(events: Sequence[dict[str, Any]], options: dict[str, Any], seats: int) -> Paid:
    house = {**HOUSES[options.get("preset", "mahjongo")], **options}
    playing = list(range(seats))
    kongs: list[tuple[int, list[tuple[int, int, int]]]] = []
    for at, event in enumerate(events):
        if event["type"] == "kong":
            amount = KONGS[event["kind"]] if house["kong_money"] == "sbr" else 0
            payers = [seat for seat in playing if seat != event["seat"]]
            if event["kind"] == "discard":
                payers = [event["payer"]]
            paid = [(payer, event["seat"], amount) for payer in payers]
            kongs.append((event["seat"], paid))
            yield from paid
        elif event["type"] == "win":
            winners = [int(seat) for seat in event["hands"]]
            refunded = False
            for seat, hand in event["hands"].items():
                base = 2 ** min(_value(hand, options).total, house["cap"])
                if event["payer"] is None:
                    base += house["self_draw"] == "plus-one-point"
                payers = [each for each in playing if each not in winners]
                for payer in payers if event["payer"] is None else [event["payer"]]:
                    yield payer, int(seat), base
                because = {"robbed_kong", "discard_after_kong"} & set(hand.get("context", {}))
                if because and events[at - 1]["type"] == "kong" and not refunded:
                    refunded = True
                    yield from ((payee, payer, amount) for payer, payee, amount in kongs.pop()[1])
            playing = [seat for seat in playing if seat not in winners]
        else:
            yield from _wall_end(event, options, house, kongs)


def _wall_end(event: dict[str, Any], options: dict[str, Any], house: dict[str, Any], kongs: Any) -> Paid:
    best, void = {}, {}
    for seat, document in event["hands"].items():
        suit = document.get("context", {}).get("void")
        document = {**document, "context": {"void": suit}}
        totals = [wait.total for wait in _result(document, options).waits if wait.status == "won"]
        best[int(seat)] = 2 ** min(max(totals), house["cap"]) if totals else 0
        void[int(seat)] = suit is not None and suit in document["concealed"]
    for owner, paid in kongs:
        if owner in best and not best[owner]:
            yield from ((payee, payer, amount) for payer, payee, amount in paid)
    if house["wall_end"] == "report":
        return
    for seat in best:
        if void[seat] and house["wall_end"] == "chengdu":
            yield from ((seat, other, 8) for other in best if not void[other])
        elif not best[seat]:
            yield from ((seat, other, best[other]) for other in best if best[other])


def _cards(gain: str) -> Any:
    def paid(events: Sequence[dict[str, Any]], options: dict[str, Any], seats: int) -> Paid:
        for event in events:
            if event["type"] != "win":
                continue
            payer = event["payer"]
            winner = int(next(iter(event["hands"])))
            if len(event["hands"]) > 1:  # the next in turn
                turn = [(payer + step) % seats for step in range(1, seats)]
                winner = next(seat for seat in turn if str(seat) in event["hands"])
            score = _value(event["hands"][str(winner)], options)
            amount = score.total if gain == "total" else int(score.extra[gain])
            if payer is not None and options.get("discarder_pays_all"):
                yield payer, winner, amount * (seats - 1)
            else:
                yield from ((seat, winner, amount) for seat in range(seats) if seat != winner)

    return paid


_PAID = {"sichuan": _sichuan, "fujian": _cards("total"), "guangshui": _cards("worth")}
