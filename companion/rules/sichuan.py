"""Sichuan bloody mahjong (血戰到底): three suits, a void suit, play goes on after a win.

The numbers that are the rules stand in `FAN`, `OPTIONS` and `PRESETS`; the code below reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from companion.hand import Hand, HandError, Meld
from companion.pieces import Piece, format_pieces
from companion.result import Advice, Item, Result, Score, Status, Wait
from companion.rules import shapes
from companion.rules.base import Choice, RuleSet, Setting, Value, flag
from companion.rules.rounds import Draw, Event, Kong, Outcome, Played, Standing, Transfer, WallEnd, Win
from companion.rules.shapes import SUITS, Blocks
from companion.rules.tiles import (
    COPIES,
    FULL,
    KIND,
    KINDS,
    PAIRS,
    SETS,
    Tiles,
    lay,
    legal_melds,
    partial,
    pool_of,
    tiles_of,
)

SUIT_NAMES = {"m": "characters", "p": "dots", "s": "bamboo"}


class _Win(NamedTuple):
    """All that the fan of a complete hand hang on; the last three fields are the reading's."""

    roots: int
    suits: int
    melds: int
    facts: Mapping[str, Any]
    self_drawn: bool
    settings: Mapping[str, Any]
    seven_pairs: bool
    all_pungs: bool
    wins_pair: bool


class Fan(NamedTuple):
    """One pattern: its name in results, the fan it is worth each time, its label, how often it counts."""

    name: str
    fan: int
    label: str
    count: Callable[[_Win], int]


GOLDEN_WAIT: Mapping[str, Callable[[_Win], bool]] = {
    "any": lambda win: True,
    "exposed": lambda win: win.melds == SETS,
    "pungs": lambda win: win.all_pungs,
}
"""What a win on the pair needs beside four complete sets, by the option `golden_wait`."""

FAN = (
    Fan("root", 1, "Root: four of a kind", lambda win: win.roots),
    Fan("all-pungs", 1, "All pungs", lambda win: win.all_pungs),
    Fan(
        "golden-wait",
        1,
        "Golden wait: the last tile makes the pair",
        lambda win: win.wins_pair and not win.seven_pairs and GOLDEN_WAIT[win.settings["golden_wait"]](win),
    ),
    Fan("full-flush", 2, "Full flush: one suit only", lambda win: win.suits == 1),
    Fan("seven-pairs", 2, "Seven pairs", lambda win: win.seven_pairs),
    Fan("after-kong", 1, "Self-draw after a kong", lambda win: win.facts["after_kong"]),
    Fan("discard-after-kong", 1, "Discard after a kong", lambda win: win.facts["discard_after_kong"]),
    Fan("robbed-kong", 1, "Robbed kong", lambda win: win.facts["robbed_kong"]),
    Fan("last-tile", 1, "Last tile", lambda win: win.facts["last_tile"]),
    Fan(
        "self-draw",
        1,
        "Self-draw",
        lambda win: win.self_drawn and win.settings["self_draw"] == "plus-one-fan",
    ),
)

SELF_DRAW_POINTS = {"plus-one-point": 1, "plus-one-fan": 0, "nothing": 0}
"""What each player adds to the base of a self-drawn hand, by the option `self_draw`."""

KONG_MONEY: Mapping[str, Mapping[str, int]] = {
    "none": {"concealed": 0, "discard": 0, "promoted": 0, "promoted-later": 0},
    "sbr": {"concealed": 2, "discard": 2, "promoted": 1, "promoted-later": 0},
}
"""What a kong earns at once, by the option `kong_money`: from the discarder, else from all still in."""

WALL_END: Mapping[str, Mapping[str, Any]] = {
    "report": {"void_pays": 0, "not_ready_pays": False},
    "sbr": {"void_pays": 0, "not_ready_pays": True},
    "chengdu": {"void_pays": 8, "not_ready_pays": True},
}
"""Wall's end by the option `wall_end`: what a player with void pieces pays each player without (and then
nothing more), and whether those not ready pay the ready ones their best base."""

PRESETS: Mapping[str, Mapping[str, Value]] = {
    "mahjongo": {},
    "sbr": {"golden_wait": "exposed", "kong_money": "sbr", "wall_end": "sbr"},
    "chengdu": {"cap": 4, "self_draw": "plus-one-fan", "kong_money": "sbr", "wall_end": "chengdu"},
}

OPTIONS = (
    Setting(
        "preset",
        "House rules",
        "A named set of the options below; what is chosen beside it goes first.",
        (
            Choice("mahjongo", "MahJongo table"),
            Choice("sbr", "Sichuan Bloody Rules tournament"),
            Choice("chengdu", "Chengdu"),
        ),
        "mahjongo",
    ),
    Setting(
        "golden_wait",
        "Golden wait",
        "When a win that completes the pair counts one fan.",
        (
            Choice("any", "four complete sets of any kind"),
            Choice("exposed", "four melds down, one tile in hand"),
            Choice("pungs", "four pungs or kongs"),
        ),
        "any",
    ),
    Setting(
        "kong_money",
        "Kong money",
        "What a kong earns at once.",
        (Choice("none", "nothing"), Choice("sbr", "2 or 1 points, as in the tournament book")),
        "none",
    ),
    Setting(
        "wall_end",
        "Wall's end",
        "Who pays whom when the wall is out.",
        (
            Choice("report", "nobody pays"),
            Choice("sbr", "not ready pays ready"),
            Choice("chengdu", "void tiles left pay 8, then not ready pays ready"),
        ),
        "report",
    ),
    Setting(
        "cap",
        "Cap",
        "How many fan count for the base.",
        (Choice(3, "3 fan"), Choice(4, "4 fan"), Choice("none", "no cap")),
        3,
    ),
    Setting(
        "self_draw",
        "Self-draw",
        "What a self-draw adds.",
        (
            Choice("plus-one-point", "one point from each"),
            Choice("plus-one-fan", "one fan, under the cap"),
            Choice("nothing", "nothing"),
        ),
        "plus-one-point",
    ),
    Setting(
        "multi_winner",
        "Several winners",
        "Who wins when several can win on one piece.",
        (Choice("all", "all of them"), Choice("first", "the next in turn after the discarder")),
        "all",
    ),
)

CONTEXT = (
    Setting(
        "void",
        "Void suit",
        "The suit named before play: no win while one of its tiles is in the hand.",
        (Choice(None, "not named"), *(Choice(suit, name) for suit, name in SUIT_NAMES.items())),
        None,
    ),
    flag("after_kong", "After a kong", "Self-drawn on the replacement tile of an own kong."),
    flag(
        "discard_after_kong", "Discard after a kong", "Won on the discard right after another player's kong."
    ),
    flag("robbed_kong", "Robbed kong", "Won on the tile that another player added to a pung."),
    flag("last_tile", "Last tile", "Won on the last tile of the wall, or on the discard that follows it."),
    Setting(
        "active_payers",
        "Players still in",
        "How many other players have not won yet; each pays a self-draw.",
        (Choice(1, "1"), Choice(2, "2"), Choice(3, "3")),
        3,
    ),
)


READINGS = (
    "The first winner deals the next round; of several on one piece, its owner; with none, the same dealer.",
    "A win goes before kong and pung; passing a win has no consequence.",
)
"""How the written rules are read where they are silent, beside the options."""

DEAL = (
    Setting(
        "exchange",
        "Exchange",
        "Where the three tiles of one suit go that each player gives away.",
        (
            Choice(None, "not told"),
            Choice("left", "to the left"),
            Choice("right", "to the right"),
            Choice("across", "across"),
        ),
        None,
    ),
)


class _Reading(NamedTuple):
    """One way to read a complete hand: its blocks, the pair last, and which one the last piece completes."""

    blocks: Blocks
    won: int | None

    @property
    def quads_as_pairs(self) -> int:
        return len(self.blocks) - len(set(self.blocks)) if len(self.blocks) == PAIRS else 0


class _Found(NamedTuple):
    """The fan found in one reading."""

    total: int
    win: _Win
    fan: list[tuple[Fan, int]]
    reading: _Reading


class Sichuan(RuleSet):
    name = "sichuan"
    title = "Sichuan bloody mahjong"
    deck = "mahjong"
    unit = "fan"
    pieces = KINDS
    sizes = (FULL,)
    seats = 4
    players = (4, 3, 2)
    events = ("win", "kong", "wall-end")
    deal = DEAL
    seat_facts = ("void",)
    readings = READINGS
    meld_kinds = ("pung", "kong")
    options = OPTIONS
    context = CONTEXT
    presets = PRESETS
    score_fields: Mapping[str, str] = MappingProxyType(
        {"base": "base", "each_pays": "each pays", "payers": "payers", "winner_gets": "the winner gets"}
    )
    item_names: Mapping[str, str] = MappingProxyType({fan.name: fan.label for fan in FAN})

    def check_context(self, hand: Hand) -> None:
        facts = self.facts(hand.context)
        source = hand.winning.source if hand.winning else None

        def contradiction(name: str, but: str) -> None:
            raise HandError(f"{name} is true, but {but}", f"context.{name}")

        if facts["robbed_kong"]:
            for other in ("after_kong", "discard_after_kong", "last_tile"):
                if facts[other]:
                    contradiction("robbed_kong", f"so is {other}")
            if source == "wall":
                contradiction("robbed_kong", "the winning piece came from the wall")
            if hand.winning:
                robbed = hand.winning.piece.plays_as
                held = (*hand.concealed, *(piece for meld in hand.melds for piece in meld.pieces))
                if any(piece.plays_as is robbed for piece in held):
                    contradiction("robbed_kong", f"another {robbed} is in the hand: the kong held all four")
        if facts["after_kong"]:
            if source == "discard":
                contradiction("after_kong", "the winning piece is a discard")
            if facts["discard_after_kong"]:
                contradiction("after_kong", "so is discard_after_kong")
            if not any(meld.kind == "kong" for meld in hand.melds):
                contradiction("after_kong", "the hand has no kong")
        if facts["discard_after_kong"] and source == "wall":
            contradiction("discard_after_kong", "the winning piece came from the wall")

    # Shapes

    def is_complete(self, hand: Hand) -> bool:
        tiles = tiles_of(hand, hand.context.get("void"))
        return tiles is not None and tiles.full and tiles.distance() < 0

    def shanten(self, hand: Hand) -> int | None:
        tiles = tiles_of(hand, hand.context.get("void"))
        return None if tiles is None else _shanten(tiles)

    def arrangements(self, hand: Hand) -> tuple[tuple[Meld, ...], ...]:
        tiles = tiles_of(hand, hand.context.get("void"))
        if tiles is None or tiles.distance() >= 0:
            return ()
        ranked = self._ranked(tiles, hand, _winner(hand))
        return tuple(dict.fromkeys(lay(hand, found.reading.blocks, found.reading.won) for found in ranked))

    def legal_melds(self, hand: Hand) -> tuple[Meld, ...]:
        return legal_melds(hand)

    # Scoring

    def score(self, hand: Hand) -> Score | None:
        tiles = tiles_of(hand, hand.context.get("void"))
        if tiles is None or tiles.distance() >= 0:
            return None
        return _score(self._ranked(tiles, hand, _winner(hand))[0])

    def waits(self, hand: Hand) -> tuple[Wait, ...]:
        tiles = tiles_of(hand, hand.context.get("void"))
        if tiles is None or tiles.full or tiles.void_meld or tiles.distance():
            return ()
        return tuple(self._wait(tiles, hand, kind) for kind in tiles.completing())

    def _wait(self, tiles: Tiles, hand: Hand, kind: int) -> Wait:
        won = tiles.with_one(kind)
        best = self._ranked(won, hand, kind, as_discard=True)[0]
        return Wait(KINDS[kind], tiles.left(kind), _status_of_complete(won), best.total)

    def _ranked(self, tiles: Tiles, hand: Hand, winner: int | None, as_discard: bool = False) -> list[_Found]:
        """Every reading of a complete hand with the fan found in it, best first."""
        settings = self.settings(hand.options)
        facts = self.facts(hand.context)
        self_drawn = hand.winning is not None and hand.winning.source == "wall" and not as_discard
        if not self_drawn:
            facts["after_kong"] = False
            # The robbed kong held the other three copies.
            facts["robbed_kong"] &= winner is None or tiles.left(winner) == COPIES - 1
        common = (tiles.roots(), tiles.suits_used(), SETS - tiles.sets, facts, self_drawn, settings)
        known: dict[tuple[bool, bool, bool], tuple[int, _Win, list[tuple[Fan, int]]]] = {}
        ranked = []
        for reading in _readings(tiles, winner):
            blocks = reading.blocks
            seven_pairs = len(blocks) == PAIRS
            all_pungs = not seven_pairs and "chow" not in [name for name, _ in blocks]
            key = (seven_pairs, all_pungs, reading.won == len(blocks) - 1)
            if key not in known:
                known[key] = _fan_of(_Win(*common, *key))
            ranked.append(_Found(*known[key], reading))
        if len(ranked) > 1:
            ranked.sort(key=lambda found: (-found.total, found.reading.quads_as_pairs))
        return ranked

    # Advice

    def advice(self, hand: Hand) -> tuple[Advice, ...]:
        tiles = tiles_of(hand, hand.context.get("void"))
        if tiles is None or not tiles.full or tiles.void_meld or tiles.distance() < 0:
            return ()
        pool = pool_of(hand)
        advice = [
            Advice(pool[discard][0], far, tuple((KINDS[kind], left) for kind, left in improving))
            for discard, far, improving in tiles.discards()
        ]
        void = hand.context.get("void")
        # Throwing a void piece keeps most pieces useful; among equals it is still the one to be rid of first.
        advice.sort(
            key=lambda each: (each.shanten, -each.left, each.discard.suit != void, each.discard.order)
        )
        return tuple(advice)

    # The whole answer

    def analyse(self, hand: Hand) -> Result:
        notes: list[str] = []
        if hand.bonus:
            notes.append(
                f"{format_pieces(hand.bonus)} laid aside: sichuan has no flowers, they count nothing."
            )
        legal_melds = self.legal_melds(hand)
        tiles = tiles_of(hand, hand.context.get("void"))
        if tiles is None:
            notes += _faults(hand)
            arrangement = lay(hand, partial(hand, hand.context.get("void"), None))
            return Result("invalid", None, (), (), arrangement, legal_melds, None, tuple(notes))
        distance = _shanten(tiles)
        notes += _void_notes(tiles, hand)
        if distance != -1:
            if tiles.full:
                notes += _incomplete_notes(hand)
            arrangement = lay(hand, partial(hand, hand.context.get("void"), tiles))
            return Result(
                "ready" if distance == 0 else "building", distance, self.waits(hand), self.advice(hand),
                arrangement, legal_melds, None, tuple(notes),
            )  # fmt: skip
        best = self._ranked(tiles, hand, _winner(hand))[0]
        score = _score(best)
        if hand.winning is None:
            notes += self._unnamed_notes(tiles, hand, best)
        counted = _counted(score.total, self.settings(hand.options))
        if counted < score.total:
            notes.append(f"{score.total} fan found, {counted} counted: the cap.")
        arrangement = lay(hand, best.reading.blocks, best.reading.won)
        status = _status_of_complete(tiles)
        return Result(status, -1, (), (), arrangement, legal_melds, score, tuple(notes))

    def _unnamed_notes(self, tiles: Tiles, hand: Hand, judged: _Found) -> Iterator[str]:
        """What naming the winning piece could change."""
        gains: dict[str, list[Piece]] = {}
        for kind, count in enumerate(tiles.counts):
            if count:
                for fan, times in self._ranked(tiles, hand, kind)[0].fan:
                    if times > dict(judged.fan).get(fan, 0):
                        gains.setdefault(fan.name, []).append(KINDS[kind])
        yield "No winning piece is named: judged as won by discard; a self-draw pays differently."
        for name, pieces in gains.items():
            called = self._called(name)
            yield f"{called} depends on naming the winning piece: it counts when that is {_either(pieces)}."
        if hand.context.get("after_kong"):
            yield f"{self._called('after-kong')} is not counted: it needs a winning piece from the wall."

    def _called(self, item: str) -> str:
        """An item's label without its explanation."""
        return self.item_names[item].partition(":")[0]

    # Rounds

    def play(self, events: Sequence[Event], options: Mapping[str, Any], players: int | None = None) -> Played:
        seats = self.seats if players is None else players
        money = _Round(options, seats)
        for index, event in enumerate(events):
            money.add(event, f"events[{index}]")
        return Played(tuple(money.outcomes), tuple(sorted(money.still_in)), money.over, money.next_dealer)

    def standings(self, event: WallEnd, options: Mapping[str, Any]) -> tuple[Standing, ...]:
        """How every player still in stands when the wall is out."""
        standings = []
        for seat, hand in sorted(event.hands.items()):
            void = hand.context.get("void")
            plain = replace(hand, context={"void": void}, options=options)
            totals = [wait.total for wait in self.waits(plain) if wait.status == "won"]
            void_left = tuple(piece for piece in hand.concealed if piece.suit == void)
            base = _base(max(totals), self.settings(options)) if totals else 0
            standings.append(Standing(seat, void_left, bool(totals), base))
        return tuple(standings)


SICHUAN = Sichuan()


class _Round:
    """The money of one round, event by event."""

    def __init__(self, options: Mapping[str, Any], seats: int) -> None:
        self.options = options
        self.seats = seats
        self.settings = SICHUAN.settings(options)
        self.transfers: list[Transfer] = []
        self.outcomes: list[Outcome] = []
        self.still_in = set(range(seats))
        self.kongs: list[tuple[Kong, list[Transfer]]] = []  # what each kong earned
        self.last: tuple[Kong, list[Transfer]] | None = None  # the kong just laid, until others act
        self.next_dealer: int | None = None
        self.over = False

    def add(self, event: Event, where: str) -> None:
        """Raises `HandError` when the event cannot be."""
        if isinstance(event, Draw):
            raise HandError("sichuan rounds end with the third win or with the wall", where)
        involved = [event.seat] if isinstance(event, Kong) else list(event.hands)
        payer = None if isinstance(event, WallEnd) else event.payer
        for seat in involved if payer is None else (*involved, payer):
            if seat not in self.still_in:
                raise HandError(f"seat {seat} is not in the game (any more)", where)
        if payer in involved:
            raise HandError(f"seat {payer} cannot pay itself", where)
        if self.over:
            raise HandError("the round is over", where)
        paid = len(self.transfers)
        results: Mapping[int, Result] = {}
        standings: tuple[Standing, ...] = ()
        if isinstance(event, Kong):
            self._kong(event, where)
        elif isinstance(event, Win):
            results = self._win(event, where)
        else:
            standings = self._wall_end(event, where)
        self.over = isinstance(event, WallEnd) or len(self.still_in) == 1
        self.outcomes.append(Outcome(tuple(self.transfers[paid:]), results, standings))

    def _pay(self, payers: Iterable[int], payee: int, amount: int, reason: str) -> list[Transfer]:
        paid = [Transfer(payer, payee, amount, reason) for payer in sorted(payers) if amount]
        self.transfers += paid
        return paid

    def _give_back(self, earned: list[Transfer], why: str) -> None:
        for paid in earned:
            self._pay([paid.payee], paid.payer, paid.amount, f"kong money back: {why}")
        earned.clear()

    def _kong(self, kong: Kong, where: str) -> None:
        if (kong.kind == "discard") != (kong.payer is not None):
            raise HandError("a kong has a payer exactly when it was made from a discard", where)
        payers = self.still_in - {kong.seat} if kong.payer is None else {kong.payer}
        amount = KONG_MONEY[self.settings["kong_money"]][kong.kind]
        self.last = (kong, self._pay(payers, kong.seat, amount, f"kong ({kong.kind})"))
        self.kongs.append(self.last)

    def _win(self, win: Win, where: str) -> Mapping[int, Result]:
        if not win.hands:
            raise HandError("a win has a winner", where)
        if win.payer is None and len(win.hands) > 1:
            raise HandError("a self-draw has one winner", where)
        # In turn after the payer.
        winners = sorted(win.hands, key=lambda seat: (seat - (win.payer or 0)) % self.seats)
        if self.settings["multi_winner"] == "first":
            winners = winners[:1]
        if self.last and self.last[0].seat != win.payer:
            self.last = None
        if len(self.still_in) == self.seats:
            self.next_dealer = winners[0] if len(winners) == 1 else win.payer
        results = {}
        for seat in winners:
            hand, results[seat], score = self._scored(win, seat, f"{where}.hands[{seat}]")
            if self.last:
                kong, earned = self.last
                if hand.context.get("robbed_kong") and kong.kind.startswith("promoted"):
                    self._give_back(earned, "robbed")
                if hand.context.get("discard_after_kong"):
                    self._give_back(earned, "won on the discard after it")
            payers = self.still_in - {seat} if win.payer is None else {win.payer}
            found = ", ".join(item.name for item in score.items) or "plain hand"
            self._pay(payers, seat, int(score.extra["each_pays"]), f"win: {found}")
        self.still_in -= set(winners)
        return results

    def _scored(self, win: Win, seat: int, where: str) -> tuple[Hand, Result, Score]:
        """The winner's hand under the round's options and with the players still in, and what it is worth."""
        hand = win.hands[seat]
        source = "wall" if win.payer is None else "discard"
        if hand.winning is None or hand.winning.source != source:
            raise HandError(f"a winning piece from the {source} is needed", where)
        context = {**hand.context, "active_payers": len(self.still_in) - 1}
        hand = replace(hand, options=self.options, context=context)
        result = SICHUAN.analyse(hand)
        if result.status != "won" or result.score is None:
            raise HandError("the hand is not won", where)
        return hand, result, result.score

    def _wall_end(self, end: WallEnd, where: str) -> tuple[Standing, ...]:
        if set(end.hands) != self.still_in:
            raise HandError(f"the hands of the seats still in are needed: {sorted(self.still_in)}", where)
        standings = SICHUAN.standings(end, self.options)
        for kong, earned in self.kongs:
            if any(standing.seat == kong.seat and not standing.ready for standing in standings):
                self._give_back(earned, "not ready at the wall's end")
        rule = WALL_END[self.settings["wall_end"]]
        clean = [standing.seat for standing in standings if not standing.void_left]
        for standing in standings:
            if standing.void_left and rule["void_pays"]:
                for seat in clean:
                    self._pay([standing.seat], seat, rule["void_pays"], "void tiles left at the wall's end")
            elif not standing.ready and rule["not_ready_pays"]:
                for payee in standings:
                    if payee.ready:
                        self._pay([standing.seat], payee.seat, payee.best_base, "not ready at the wall's end")
        return standings


def _shanten(tiles: Tiles) -> int | None:
    distance = tiles.distance()
    return None if tiles.void_meld and distance >= 0 else distance


def _winner(hand: Hand) -> int | None:
    """The kind the hand was won with: the one named, or the only one it can be."""
    if hand.winning is not None:
        return KIND[hand.winning.piece]
    kinds = {KIND[piece] for piece in hand.concealed}
    return kinds.pop() if len(kinds) == 1 else None


def _status_of_complete(tiles: Tiles) -> Status:
    """Whether a complete hand may win: no void meld, and where no void suit is named only two suits."""
    missing_one = len(tiles.suits) < len(SUITS) or tiles.suits_used() < len(SUITS)
    return "won" if missing_one and not tiles.void_meld else "not-allowed"


def _readings(tiles: Tiles, winner: int | None) -> Iterator[_Reading]:
    """Every reading of a complete hand, in a fixed order."""
    ways = shapes.sets_and_pair(tiles.counts)
    if tiles.sets == SETS:
        pairs = shapes.all_pairs(tiles.counts)
        if len(pairs) == PAIRS:
            ways.append(pairs)
    for blocks in ways:
        if winner is None:
            yield _Reading(blocks, None)
            continue
        for index, (name, kind) in enumerate(blocks):
            holds = kind == winner or (name == "chow" and kind < winner <= kind + 2)
            # Of equal blocks the first stands for all; they stand side by side.
            if holds and (not index or blocks[index - 1] != blocks[index]):
                yield _Reading(blocks, index)


def _fan_of(win: _Win) -> tuple[int, _Win, list[tuple[Fan, int]]]:
    """The total fan, and each pattern found with how often it counts."""
    found = [(fan, int(count)) for fan in FAN if (count := fan.count(win))]
    return sum([fan.fan * count for fan, count in found]), win, found


def _score(found: _Found) -> Score:
    win = found.win
    base = _base(found.total, win.settings)
    each_pays, payers = base, 1
    if win.self_drawn:
        each_pays += SELF_DRAW_POINTS[win.settings["self_draw"]]
        payers = win.facts["active_payers"]
    items = tuple([Item(fan.name, count, count * fan.fan) for fan, count in found.fan])
    extra = {"base": base, "each_pays": each_pays, "payers": payers, "winner_gets": each_pays * payers}
    return Score("fan", found.total, items, extra)


def _counted(fan: int, settings: Mapping[str, Any]) -> int:
    return fan if settings["cap"] == "none" else min(fan, settings["cap"])


def _base(fan: int, settings: Mapping[str, Any]) -> int:
    return 2 ** _counted(fan, settings)


def _faults(hand: Hand) -> Iterator[str]:
    """Why a hand is invalid."""
    held = [*hand.held, *(piece for meld in hand.melds for piece in meld.pieces)]
    if unknown := [piece for piece in held if piece not in KIND]:
        yield f"sichuan does not use {format_pieces(unknown)}: it plays with the three suits only."
    counts: dict[Piece, int] = {}
    for piece in held:
        counts[piece.plays_as] = counts.get(piece.plays_as, 0) + 1
    for piece, count in sorted(counts.items()):
        if piece in KIND and count > COPIES:
            yield f"{count} times {piece}: there are only {COPIES}."
    kongs = sum(meld.kind == "kong" for meld in hand.melds)
    full = FULL + kongs
    if len(held) not in (full, full - 1):
        why = f" with {kongs} kong{'s' * (kongs > 1)}" if kongs else ""
        yield f"{len(held)} pieces: a hand{why} has {full}, or {full - 1} before the last one."


def _incomplete_notes(hand: Hand) -> Iterator[str]:
    """Why a full-size hand is not complete, where that may surprise."""
    with_void = tiles_of(hand, None)
    if with_void and with_void.distance() < 0:
        yield "Four sets and a pair, or seven pairs, but with void-suit tiles: not complete, no win."
    elif hand.winning:
        yield f"{hand.winning.piece} does not complete the hand: it is judged as it stands."


def _void_notes(tiles: Tiles, hand: Hand) -> Iterator[str]:
    void = hand.context.get("void")
    if tiles.void_meld:
        melds = [str(meld) for meld in hand.melds if meld.pieces[0].suit == void]
        yield f"A meld of the void suit ({', '.join(melds)}): this hand can never win."
    if void is not None and (left := [p for p in hand.held if p.suit == void]):
        yield f"{format_pieces(left)}: void-suit tiles help nothing and must be exchanged before a win."
    if void is None and tiles.suits_used() == len(SUITS):
        yield "Tiles of three suits and no void suit named: no win while a void-suit tile is in the hand."


def _either(pieces: Sequence[Piece]) -> str:
    *most, last = map(str, pieces)
    return f"{', '.join(most)} or {last}" if most else last
