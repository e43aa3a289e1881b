"""Sichuan bloody mahjong (血戰到底): three suits, a void suit, play goes on after a win.

The numbers that are the rules stand in `FAN`, `OPTIONS` and `PRESETS`; the code below reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from companion.hand import LOOSE, Hand, HandError, Meld
from companion.pieces import Piece, format_pieces
from companion.result import Advice, Item, Result, Score, Status, Wait
from companion.rules import shapes
from companion.rules.base import Choice, RuleSet, Setting, Value, flag
from companion.rules.rounds import Event, Kong, Standing, Transfer, WallEnd, Win
from companion.rules.shapes import SUITS, Block, Blocks
from companion.rules.suits import KONG, NOTHING, PUNG, join, missing, read

FULL = 14
SETS = 4
PAIRS = 7
COPIES = 4

SUIT_NAMES = {"m": "characters", "p": "dots", "s": "bamboo"}

KINDS = tuple(Piece.parse(f"{rank}{suit}") for suit in SUIT_NAMES for rank in range(1, 10))
"""The 27 kinds by number, as `companion.rules.shapes` counts them."""

_KIND = {piece: kind for kind, piece in enumerate(KINDS)}
_KIND |= {red: _KIND[red.plays_as] for red in map(Piece.parse, ("0m", "0p", "0s"))}
_VOID = dict(zip(SUIT_NAMES, SUITS, strict=True))


class _Win(NamedTuple):
    """All that the fan of a complete hand hang on: the pieces, the facts, and the reading (the last
    three)."""

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
    """One pattern: its name in results, the fan it is worth each time, its English label, and how often it
    counts."""

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
"""What a kong earns at once, by the option `kong_money`: from the discarder, else from each player still
in."""

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


@dataclass(slots=True)
class _Tiles:
    """A valid hand as numbers, the winning piece among the concealed ones.

    counts: concealed pieces of each of the 27 kinds. symbols: the same as `companion.rules.suits` reads them.
    sets: sets still to make beside the melds. suits: first kinds of the suits that may be in a finished hand.
    """

    counts: list[int]
    symbols: list[int]
    sets: int
    suits: tuple[int, ...]
    full: bool
    void_meld: bool

    def distance(self) -> int:
        """Shanten; void melds are not minded."""
        cost = NOTHING
        symbols = self.symbols
        for start in self.suits:
            cost = join(cost, read(symbols[start : start + 9]))
        far = missing(cost, self.sets)
        if self.sets == SETS and far:
            far = min(far, self.pairs_missing())
        return far - 1

    def pairs_missing(self) -> int:
        """Pieces missing for seven pairs, four equal ones being two of them."""
        counts = self.counts
        if len(self.suits) < len(SUITS):
            counts = [count for start in self.suits for count in counts[start : start + 9]]
        threes = counts.count(3)
        return _pairs_missing(counts.count(2) + threes + 2 * counts.count(4), counts.count(1) + threes)

    def completing(self) -> list[int]:
        """Kinds that complete the hand, which is one piece short of full size."""
        found = []
        costs = {start: read(self.symbols[start : start + 9]) for start in self.suits}
        lone_pair = self.sets == SETS and self.pairs_missing() == 1
        for start in self.suits:
            rest = NOTHING
            for other in self.suits:
                if other != start:
                    rest = join(rest, costs[other])
            suit = self.symbols[start : start + 9]
            for rank, symbol in enumerate(suit):
                if not _takes_one_more(symbol):
                    continue
                suit[rank] += 1
                if not missing(join(rest, read(suit)), self.sets) or (lone_pair and symbol % 2):
                    found.append(start + rank)
                suit[rank] = symbol
        return found

    def with_one(self, kind: int) -> _Tiles:
        """The hand with one more piece."""
        counts, symbols = self.counts.copy(), self.symbols.copy()
        counts[kind] += 1
        symbols[kind] += 1
        return _Tiles(counts, symbols, self.sets, self.suits, True, self.void_meld)

    def left(self, kind: int) -> int:
        """Copies of a kind that are not in the hand and its melds."""
        symbol = self.symbols[kind]
        if symbol < PUNG:
            return COPIES - symbol
        return PUNG + 1 - symbol if symbol < KONG else 0

    def roots(self) -> int:
        """Kinds all of whose copies are in the hand and its melds."""
        return self.symbols.count(COPIES) + self.symbols.count(PUNG + 1) + self.symbols.count(KONG)

    def suits_used(self) -> int:
        """How many suits the pieces and melds are of."""
        return sum(any(self.symbols[start : start + 9]) for start in SUITS)


class _Reading(NamedTuple):
    """One way to read a complete hand: its blocks, the pair last, and which one the winning piece
    completes."""

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
        tiles = _tiles(hand)
        return tiles is not None and tiles.full and tiles.distance() < 0

    def shanten(self, hand: Hand) -> int | None:
        tiles = _tiles(hand)
        return None if tiles is None else _shanten(tiles)

    def arrangements(self, hand: Hand) -> tuple[tuple[Meld, ...], ...]:
        tiles = _tiles(hand)
        if tiles is None or tiles.distance() >= 0:
            return ()
        ranked = self._ranked(tiles, hand, _winner(hand))
        return tuple(dict.fromkeys(_lay(hand, found.reading.blocks, found.reading.won) for found in ranked))

    def legal_melds(self, hand: Hand) -> tuple[Meld, ...]:
        pool = _pool(hand)
        counts = [len(pieces) for pieces in pool]
        order = ("pair", "chow", "pung", "kong")
        blocks = [
            (name, start + kind)
            for start in SUITS
            for name, kind in shapes.blocks_within(counts[start : start + 9])
        ]
        return tuple(
            _meld(block, pool, concealed=True, keep=True)
            for block in sorted(blocks, key=lambda block: (order.index(block[0]), block[1]))
        )

    # Scoring

    def score(self, hand: Hand) -> Score | None:
        tiles = _tiles(hand)
        if tiles is None or tiles.distance() >= 0:
            return None
        return _score(self._ranked(tiles, hand, _winner(hand))[0])

    def waits(self, hand: Hand) -> tuple[Wait, ...]:
        tiles = _tiles(hand)
        if tiles is None or tiles.full or tiles.void_meld or tiles.distance():
            return ()
        return tuple(self._wait(tiles, hand, kind) for kind in tiles.completing())

    def _wait(self, tiles: _Tiles, hand: Hand, kind: int) -> Wait:
        won = tiles.with_one(kind)
        best = self._ranked(won, hand, kind, as_discard=True)[0]
        return Wait(KINDS[kind], tiles.left(kind), _status_of_complete(won), best.total)

    def _ranked(
        self, tiles: _Tiles, hand: Hand, winner: int | None, as_discard: bool = False
    ) -> list[_Found]:
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
        tiles = _tiles(hand)
        if tiles is None or not tiles.full or tiles.void_meld or tiles.distance() < 0:
            return ()
        pool = _pool(hand)
        advice = [
            Advice(pool[discard][0], far, tuple((KINDS[kind], left) for kind, left in improving))
            for discard, far, improving in _discards(tiles)
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
        tiles = _tiles(hand)
        if tiles is None:
            notes += _faults(hand)
            arrangement = _lay(hand, _partial(hand))
            return Result("invalid", None, (), (), arrangement, legal_melds, None, tuple(notes))
        distance = _shanten(tiles)
        notes += _void_notes(tiles, hand)
        if distance != -1:
            if hand.winning and tiles.full:
                notes.append(f"{hand.winning.piece} does not complete the hand: it is judged as it stands.")
            arrangement = _lay(hand, _partial(hand, tiles))
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
        arrangement = _lay(hand, best.reading.blocks, best.reading.won)
        status = _status_of_complete(tiles)
        return Result(status, -1, (), (), arrangement, legal_melds, score, tuple(notes))

    def _unnamed_notes(self, tiles: _Tiles, hand: Hand, judged: _Found) -> Iterator[str]:
        """What naming the winning piece could change."""
        gains: dict[str, list[Piece]] = {}
        for kind, count in enumerate(tiles.counts):
            if count:
                for fan, times in self._ranked(tiles, hand, kind)[0].fan:
                    if times > dict(judged.fan).get(fan, 0):
                        gains.setdefault(fan.name, []).append(KINDS[kind])
        yield "No winning piece is named: judged as won by discard; a self-draw pays differently."
        for name, pieces in gains.items():
            yield f"{name} depends on naming the winning piece: it counts when that is {_either(pieces)}."
        if hand.context.get("after_kong"):
            yield "after-kong is not counted: it needs a winning piece from the wall."

    # Payments

    def payments(self, events: Sequence[Event], options: Mapping[str, Any]) -> tuple[Transfer, ...]:
        settings = self.settings(options)
        transfers: list[Transfer] = []
        still_in = set(range(self.seats))
        kongs: list[tuple[Kong, list[Transfer]]] = []  # what each kong earned
        open_to_loss = False  # whether nothing but wins paid by its owner came after the last kong

        def give_back(earned: list[Transfer], why: str) -> None:
            transfers.extend(Transfer(t.payee, t.payer, t.amount, f"kong money back: {why}") for t in earned)
            earned.clear()

        for index, event in enumerate(events):
            where = f"events[{index}]"
            involved = [event.seat] if isinstance(event, Kong) else list(event.hands)
            payer = None if isinstance(event, WallEnd) else event.payer
            for seat in involved + ([] if payer is None else [payer]):
                if seat not in still_in:
                    raise HandError(f"seat {seat} is not in the game (any more)", where)
            if payer in involved:
                raise HandError(f"seat {payer} cannot pay itself", where)
            if isinstance(event, Kong):
                if (event.kind == "discard") != (payer is not None):
                    raise HandError("a kong has a payer exactly when it was made from a discard", where)
                amount = KONG_MONEY[settings["kong_money"]][event.kind]
                payers = still_in - {event.seat} if payer is None else {payer}
                earned = [
                    Transfer(each, event.seat, amount, f"kong ({event.kind})") for each in sorted(payers)
                ]
                earned = [transfer for transfer in earned if transfer.amount]
                transfers += earned
                kongs.append((event, earned))
                open_to_loss = True
            elif isinstance(event, Win):
                winners = self._winners(event, settings)
                open_to_loss = open_to_loss and payer is not None and kongs[-1][0].seat == payer
                for seat in winners:
                    hand = self._won_hand(event, seat, len(still_in) - 1, options, where)
                    score = self.score(hand)
                    assert score is not None
                    if open_to_loss:
                        kong, earned = kongs[-1]
                        if hand.context.get("robbed_kong") and kong.kind.startswith("promoted"):
                            give_back(earned, "robbed")
                        if hand.context.get("discard_after_kong"):
                            give_back(earned, "won on the discard after it")
                    names = ", ".join(item.name for item in score.items) or "plain hand"
                    payers = still_in - {seat} if payer is None else {payer}
                    each_pays = int(score.extra["each_pays"])
                    transfers += [Transfer(each, seat, each_pays, f"win: {names}") for each in sorted(payers)]
                still_in -= set(winners)
            else:
                if set(event.hands) != still_in:
                    raise HandError(f"the hands of the seats still in are needed: {sorted(still_in)}", where)
                standings = self.standings(event, options)
                for standing in standings:
                    if not standing.ready:
                        for kong, earned in kongs:
                            if kong.seat == standing.seat:
                                give_back(earned, "not ready at the wall's end")
                transfers += _wall_end(standings, WALL_END[settings["wall_end"]])
        return tuple(transfers)

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

    def _winners(self, event: Win, settings: Mapping[str, Any]) -> list[int]:
        """The seats that win, in turn after the payer."""
        seats = sorted(event.hands, key=lambda seat: (seat - (event.payer or 0)) % self.seats)
        return seats[:1] if settings["multi_winner"] == "first" else seats

    def _won_hand(self, event: Win, seat: int, payers: int, options: Mapping[str, Any], where: str) -> Hand:
        where = f"{where}.hands[{seat}]"
        hand = event.hands[seat]
        source = "wall" if event.payer is None else "discard"
        if hand.winning is None or hand.winning.source != source:
            raise HandError(f"a winning piece from the {source} is needed", where)
        if event.payer is None and len(event.hands) > 1:
            raise HandError("a self-draw has one winner", where)
        hand = replace(hand, context={**hand.context, "active_payers": payers}, options=options)
        tiles = _tiles(hand)
        if tiles is None or tiles.distance() >= 0 or _status_of_complete(tiles) != "won":
            raise HandError("the hand is not won", where)
        return hand


SICHUAN = Sichuan()


def _tiles(hand: Hand) -> _Tiles | None:
    """The hand as numbers; None when it is invalid."""
    melds = hand.melds
    size = len(hand.concealed) + (hand.winning is not None) + 3 * len(melds)
    if size != FULL and size != FULL - 1:
        return None
    counts = [0] * len(KINDS)
    try:
        for piece in hand.concealed:
            counts[_KIND[piece]] += 1
        if hand.winning is not None:
            counts[_KIND[hand.winning.piece]] += 1
        declared = [(_KIND[meld.pieces[0]], meld.kind) for meld in melds]
    except KeyError:  # a piece sichuan does not use
        return None
    if max(counts) > COPIES:
        return None
    void = _VOID.get(hand.context.get("void"))  # type: ignore[arg-type]
    suits = SUITS if void is None else tuple(start for start in SUITS if start != void)
    symbols = counts
    void_meld = False
    if declared:
        symbols = counts.copy()
        for kind, name in declared:
            # A kind that another meld holds already reads as more than there is room for.
            if symbols[kind] > (name == "pung"):
                return None
            symbols[kind] += PUNG if name == "pung" else KONG
            void_meld |= void is not None and void <= kind < void + 9
    return _Tiles(counts, symbols, SETS - len(melds), suits, size == FULL, void_meld)


def _shanten(tiles: _Tiles) -> int | None:
    distance = tiles.distance()
    return None if tiles.void_meld and distance >= 0 else distance


def _pairs_missing(pairs: int, odd: int) -> int:
    """Pieces missing for seven pairs, given the pairs held and the kinds held once or three times.

    A missing pair takes one piece beside an odd one, else two.
    """
    wanted = max(PAIRS - pairs, 0)
    return wanted + max(wanted - odd, 0)


def _takes_one_more(symbol: int) -> bool:
    return symbol < COPIES or symbol == PUNG


def _winner(hand: Hand) -> int | None:
    """The kind the hand was won with: the one named, or the only one it can be."""
    if hand.winning is not None:
        return _KIND[hand.winning.piece]
    kinds = {_KIND[piece] for piece in hand.concealed}
    return kinds.pop() if len(kinds) == 1 else None


def _status_of_complete(tiles: _Tiles) -> Status:
    """Whether a complete hand may win: no void meld, and with no void suit named one suit is missing
    anyway."""
    missing_one = len(tiles.suits) < len(SUITS) or tiles.suits_used() < len(SUITS)
    return "won" if missing_one and not tiles.void_meld else "not-allowed"


def _readings(tiles: _Tiles, winner: int | None) -> Iterator[_Reading]:
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
        for index, block in enumerate(blocks):
            # Of equal blocks the first stands for all; they stand side by side.
            if shapes.holds(block, winner) and (not index or blocks[index - 1] != block):
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


def _wall_end(standings: Sequence[Standing], rule: Mapping[str, Any]) -> Iterator[Transfer]:
    done = set()
    if fine := rule["void_pays"]:
        for payer in standings:
            if payer.void_left:
                done.add(payer.seat)
                for payee in standings:
                    if not payee.void_left:
                        yield Transfer(payer.seat, payee.seat, fine, "void tiles left at the wall's end")
    if rule["not_ready_pays"]:
        for payer in standings:
            if not payer.ready and payer.seat not in done:
                for payee in standings:
                    if payee.ready:
                        yield Transfer(payer.seat, payee.seat, payee.best_base, "not ready at the wall's end")


def _discards(tiles: _Tiles) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Every discard of a full hand: its kind, the shanten after it, and what then improves (kind, copies
    left)."""
    symbols, suits, sets = tiles.symbols, tiles.suits, tiles.sets
    base = {start: read(symbols[start : start + 9]) for start in suits}
    plus: dict[int, dict[int, int]] = {}  # cost of each suit with one more piece, by kind
    for start in suits:
        plus[start] = dict(_with_one_more(symbols[start : start + 9], start))
    counts = [count for start in suits for count in tiles.counts[start : start + 9]]
    pairs, odd = sum(count // 2 for count in counts), sum(count % 2 for count in counts)
    may_be_pairs = sets == SETS

    def missing_after(cost: int, pairs: int, odd: int) -> int:
        far = missing(cost, sets)
        return min(far, _pairs_missing(pairs, odd)) if may_be_pairs else far

    for discard, held in enumerate(tiles.counts):
        if not held:
            continue
        home = discard // 9 * 9
        own = base.copy()
        extra = plus.copy()
        pairs_now, odd_now = pairs, odd
        if home in suits:
            suit = symbols[home : home + 9]
            suit[discard - home] -= 1
            own[home] = read(suit)
            extra[home] = dict(_with_one_more(suit, home))
            pairs_now, odd_now = (pairs, odd - 1) if held % 2 else (pairs - 1, odd + 1)
        whole = NOTHING
        for start in suits:
            whole = join(whole, own[start])
        far = missing_after(whole, pairs_now, odd_now)
        improving = []
        for start in suits:
            rest = NOTHING
            for other in suits:
                if other != start:
                    rest = join(rest, own[other])
            for kind, cost in extra[start].items():
                count = tiles.counts[kind] - (kind == discard)
                paired = (pairs_now + 1, odd_now - 1) if count % 2 else (pairs_now, odd_now + 1)
                if missing_after(join(rest, cost), *paired) < far:
                    improving.append((kind, tiles.left(kind) + (kind == discard)))
        yield discard, far - 1, improving


def _with_one_more(suit: list[int], start: int) -> Iterator[tuple[int, int]]:
    """For every kind of a suit that there may be one more of: the kind and the cost of the suit then."""
    for rank, symbol in enumerate(suit):
        if _takes_one_more(symbol):
            suit[rank] += 1
            yield start + rank, read(suit)
            suit[rank] = symbol


def _partial(hand: Hand, tiles: _Tiles | None = None) -> Blocks:
    """The best partial arrangement: most sets, then most pairs; all pairs where seven pairs are nearer.

    Pieces of the void suit stand loose, as they help nothing.
    """
    counts = [len(pieces) for pieces in _pool(hand)]
    void = hand.context.get("void")
    if void is not None:
        counts[_VOID[void] : _VOID[void] + 9] = [0] * 9
    if tiles and tiles.sets == SETS:
        cost = NOTHING
        for start in tiles.suits:
            cost = join(cost, read(tiles.symbols[start : start + 9]))
        if tiles.pairs_missing() < missing(cost, SETS):
            return shapes.all_pairs(counts)
    blocks = [
        (name, start + kind) for start in SUITS for name, kind in shapes.most_sets(counts[start : start + 9])
    ]
    return tuple(blocks)


def _pool(hand: Hand) -> list[list[Piece]]:
    """The concealed pieces and the winning one by kind, red fives last; pieces sichuan does not use left
    out."""
    pool: list[list[Piece]] = [[] for _ in KINDS]
    won = (hand.winning.piece,) if hand.winning else ()
    for piece in (*hand.concealed, *won):
        if (kind := _KIND.get(piece)) is not None:
            pool[kind].append(piece)
    for pieces in pool:
        if len(pieces) > 1:
            pieces.sort(key=lambda piece: piece is not piece.plays_as)
    return pool


def _meld(block: Block, pool: list[list[Piece]], concealed: bool, keep: bool = False) -> Meld:
    """The block made of pieces of the pool, which it leaves unless they are to `keep`."""
    name, kind = block
    if name == "chow":
        pieces = [pool[each][0] for each in range(kind, kind + 3)]
    else:
        pieces = pool[kind][: {"pair": 2, "pung": 3, "kong": 4}[name]]
    if not keep:
        for piece in pieces:
            pool[_KIND[piece]].remove(piece)
    return Meld(name, tuple(pieces), concealed)


def _lay(hand: Hand, blocks: Blocks, won: int | None = None) -> tuple[Meld, ...]:
    """The melds of an arrangement: those declared, the blocks (block `won` holds the winning piece), loose
    pieces."""
    pool = _pool(hand)
    laid: dict[int, Meld] = {}
    if won is not None and hand.winning is not None:
        # The winning piece goes first of its kind, so that a red five stands where it won.
        own = pool[_KIND[hand.winning.piece]]
        own.remove(hand.winning.piece)
        own.insert(0, hand.winning.piece)
        laid[won] = _meld(blocks[won], pool, concealed=hand.winning.source == "wall")
    for index, block in enumerate(blocks):
        if index not in laid:
            laid[index] = _meld(block, pool, concealed=True)
    loose = [piece for pieces in pool for piece in pieces]
    loose += [piece for piece in (*hand.concealed, *_won(hand)) if piece not in _KIND]
    ordered = (laid[index] for index in sorted(laid, key=lambda index: shapes.pair_last(blocks[index])))
    return (*hand.melds, *ordered, *(Meld(LOOSE, (piece,), True) for piece in loose))


def _won(hand: Hand) -> Iterable[Piece]:
    return (hand.winning.piece,) if hand.winning else ()


def _faults(hand: Hand) -> Iterator[str]:
    """Why a hand is invalid."""
    held = [*hand.concealed, *_won(hand), *(piece for meld in hand.melds for piece in meld.pieces)]
    if unknown := [piece for piece in held if piece not in _KIND]:
        yield f"sichuan does not use {format_pieces(unknown)}: it plays with the three suits only."
    counts: dict[Piece, int] = {}
    for piece in held:
        counts[piece.plays_as] = counts.get(piece.plays_as, 0) + 1
    for piece, count in sorted(counts.items()):
        if piece in _KIND and count > COPIES:
            yield f"{count} times {piece}: there are only {COPIES}."
    kongs = sum(meld.kind == "kong" for meld in hand.melds)
    full = FULL + kongs
    if len(held) not in (full, full - 1):
        why = f" with {kongs} kong{'s' * (kongs > 1)}" if kongs else ""
        yield f"{len(held)} pieces: a hand{why} has {full}, or {full - 1} before the last one."


def _void_notes(tiles: _Tiles, hand: Hand) -> Iterator[str]:
    void = hand.context.get("void")
    if tiles.void_meld:
        melds = [str(meld) for meld in hand.melds if meld.pieces[0].suit == void]
        yield f"A meld of the void suit ({', '.join(melds)}): this hand can never win."
    if void is not None and (left := [p for p in (*hand.concealed, *_won(hand)) if p.suit == void]):
        yield f"{format_pieces(left)}: void-suit tiles help nothing and must be exchanged before a win."
    if void is None and tiles.suits_used() == len(SUITS):
        yield "Tiles of three suits and no void suit named: no win while a void-suit tile is in the hand."


def _either(pieces: Sequence[Piece]) -> str:
    *most, last = map(str, pieces)
    return f"{', '.join(most)} or {last}" if most else last
