"""The 四色牌 of Guangshui and Yingshan: 31 cards that all stand in melds, bonuses laid over them, and a
least to win.

The numbers that are the rules stand in `MELDS`, the bonus tables below it, `LEVELS` and `COMBINATIONS`; the
code reads them. Bonuses reach over the whole hand, so each way to stand a group is summed up in a tally of
what they look at; tallies add, and of all sums the one that is worth most is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import mul
from types import MappingProxyType
from typing import Any, NamedTuple

from companion.hand import Hand
from companion.pieces import DECKS, Piece
from companion.result import Item, Score
from companion.rules.base import Choice, Setting, flag
from companion.rules.cards import (
    COURT,
    GROUPS,
    KIND,
    KINDS,
    SOLDIERS,
    CardGame,
    Cards,
    Counts,
    Judged,
    Placed,
    Way,
    any_of,
    ways,
)

FAT = "KRP"
"""Ranks whose pungs and kongs count double."""


class MeldHu(NamedTuple):
    """What one kind of meld is worth: its item's name, hu of plain and of fat ranks, the item's label."""

    name: str
    plain: int
    fat: int
    label: str


MELDS = (
    MeldHu("general", 1, 1, "General: a single one"),
    MeldHu("chow", 1, 1, "Chow 圓: K A E or R H C of one colour"),
    MeldHu("soldiers", 1, 1, "Soldiers 圓 of three or four colours"),
    MeldHu("pung-claimed", 1, 2, "Claimed pung 步"),
    MeldHu("pung-in-hand", 3, 6, "Pung in hand 子"),
    MeldHu("kong-claimed", 6, 12, "Claimed kong 樓"),
    MeldHu("kong-dealt", 9, 18, "Dealt kong 鬧"),
)
"""A pair is worth nothing."""

PLAIN_WAGON = (10, 20, 30, 40)
"""Hu of K A E or R H C of one colour, each a block, by blocks out."""

FAT_WAGON = (20, 40, 60, 100)
"""Hu of generals, or soldiers, of exactly three colours, each a block, by blocks out."""

LONG_WAGON = (40, 80, 120, 160, 200)
"""The same of all four colours."""

WAGON_OF = {3: FAT_WAGON, 4: LONG_WAGON}
"""The wagon that generals, or soldiers, of so many colours make."""

CLEAR = {3: 20, 4: 40}
"""Hu of one rank of A E R H C out in so many colours."""

HEAVEN_EARTH = 20
"""Hu of general and soldier of one colour, both out."""

STEPS = {5: 20, 6: 40, 7: 60, 8: 80, 9: 100, 10: 120}
"""Hu by number of claimed pungs."""

IN_WAGON = 1
"""Hu of each general in a pair of a wagon that is out (option `generals_in_out_wagon`)."""

BONUSES = {
    "plain-wagon": "Plain wagon 素車",
    "fat-wagon": "Fat wagon 肥車",
    "long-wagon": "Long wagon 長車",
    "generals-in-wagon": "Generals in pairs of a wagon that is out",
    "clear": "Clear 清",
    "heaven-earth": "Heaven and earth 天地",
    "steps": "Steps 步",
}

HU_OF_PAI = 50
"""Hu of one 牌 in the worth of a hand."""


class Level(NamedTuple):
    """A level a hand may reach: its name, the worth it has at least, its label."""

    name: str
    worth: int
    label: str


LEVELS = (
    Level("none", 0, "none"),
    Level("pai", 1, "一牌"),
    Level("xiao-jia", 5, "小甲"),
    Level("da-jia", 10, "大甲"),
)

COMBINATIONS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("da-jia", {"hu": 500}),
    ("da-jia", {"lou": 1, "hu": 250}),
    ("da-jia", {"lou": 2, "hu": 123}),
    ("da-jia", {"lou": 3, "hu": 61}),
    ("xiao-jia", {"hu": 250}),
    ("xiao-jia", {"lou": 1, "hu": 123}),
    ("xiao-jia", {"lou": 2, "hu": 61}),
    ("xiao-jia", {"lou": 3, "hu": 31}),
    ("xiao-jia", {"plain_wagon": 3, "lou": 2}),
    ("xiao-jia", {"fat_wagon": 1, "lou": 2}),
    ("xiao-jia", {"long_wagon": 2, "lou": 1}),
    ("xiao-jia", {"steps": 6, "long_wagon": 4}),
    ("pai", {"hu": 48}),
    ("pai", {"lou": 1, "hu": 23}),
    ("pai", {"lou": 2}),
    ("pai", {"plain_wagon": 0, "fat_lou": 1}),
    ("pai", {"fat_wagon": 0, "lou": 1}),
    ("pai", {"wagon_out": 1, "steps": 5}),
    ("pai", {"fat_wagon": 2}),
    ("pai", {"long_wagon": 1}),
    ("pai", {"clear": 3, "steps": 5}),
    ("pai", {"heaven_earth": 1, "steps": 5}),
    ("pai", {"clear": 3, "heaven_earth": 1}),
    ("pai", {"clear": 3, "wagon_out": 1}),
    ("pai", {"wagon_out": 1, "heaven_earth": 1}),
    ("pai", {"plain_wagon": 3}),
    ("pai", {"clear": 4}),
    ("pai", {"steps": 6}),
)
"""What reaches a level, the highest first: at least so many hu, 樓 (lou), claimed pungs (steps), colours of a
clear; a wagon with at least so many blocks out, where a long one is a fat one too."""

_TOLD = {
    "hu": "{} hu",
    "lou": "{} 樓",
    "fat_lou": "a fat 樓",
    "steps": "{} 步",
    "clear": "a clear of {} colours",
    "heaven_earth": "heaven and earth",
    "plain_wagon": "a plain wagon with {} blocks out",
    "fat_wagon": "a fat wagon with {} blocks out",
    "long_wagon": "a long wagon with {} blocks out",
    "wagon_out": "a wagon with a block out",
}

OPTIONS = (
    Setting(
        "generals_cap",
        "Single generals that count",
        "How many single generals, in hand and on the table together, count one hu each.",
        (Choice("none", "all"), Choice(3, "at most three")),
        "none",
    ),
    Setting(
        "generals_in_out_wagon",
        "Generals in an out wagon",
        "Generals that stand in pairs in a wagon that is out count one hu each.",
        (Choice(True, "count"), Choice(False, "do not count")),
        True,
    ),
    flag(
        "winning_pair_is_block",
        "Winning pair is a block",
        "A pair that the winning card completes may be part of a wagon.",
    ),
    flag("lou_doubles", "樓 doubles", "Each 樓 doubles the hu that the worth is reckoned from."),
)

CONTEXT = (
    flag("passed_winner", "Passed before 過牌", "The winning card was passed before."),
    flag("unraised_triplet", "Triplet not raised 有子不發", "A fourth card came and was not taken."),
    flag("unplayed_wagon", "Wagon not played 有車子不出車", "A wagon could go out and did not."),
    flag(
        "dead_hand",
        "Dead hand 相公",
        "Only generals in hand and one more drawn while hu are short, or one card left and a general drawn.",
    ),
)
"""Facts that a photo cannot show; each of them forbids the win."""

READINGS = (
    "A chow is of one colour, never across colours.",
    "Bonuses add up, and add to the hu of the melds they use.",
    "A pung or kong, in hand or claimed, is out.",
    "One block may serve several bonuses and several parts of one combination; all of them count.",
    "Steps are claimed pungs only.",
    "One 牌 is 48 hu for the first, then one for every full 50 hu.",
    "A stronger part of a combination stands for a weaker one.",
    "A combination that names no hu reaches its level whatever the hu are.",
    "Each of the two losers pays the worth.",
    "The winner deals the next round; when the stock is out (穿牌) the same dealer deals again.",
)
"""How the written rules are read where they are silent or contradict themselves."""


class Digits:
    """Small numbers by name in one int, so that all are added, or compared, in one step.

    >>> digits = Digits(("hu", "steps"))
    >>> both = digits.pack({"hu": 3}) + digits.pack({"hu": 2, "steps": 1})
    >>> digits.unpack(both), digits.covers(both, digits.pack({"hu": 6}))
    ((5, 1), False)
    """

    _WIDTH = 12
    """Bits of a number, of which the highest stays free: it is lent in a comparison."""
    _MOST = (1 << _WIDTH - 1) - 1

    def __init__(self, names: Iterable[str]) -> None:
        self.one = {name: 1 << at * self._WIDTH for at, name in enumerate(names)}
        self._shifts = tuple(at * self._WIDTH for at in range(len(self.one)))
        self._lent = sum(self.one.values()) << self._WIDTH - 1

    def pack(self, numbers: Mapping[str, int]) -> int:
        """Numbers by name in one; names left out are 0."""
        return sum(self.one[name] * number for name, number in numbers.items())

    def unpack(self, packed: int) -> tuple[int, ...]:
        """The numbers in the order of their names."""
        return tuple([packed >> shift & self._MOST for shift in self._shifts])

    def covers(self, packed: int, other: int) -> bool:
        """Whether each number is at least the other's."""
        return ((packed | self._lent) - other) & self._lent == self._lent


class Tally(NamedTuple):
    """What melds come to, summed over a hand: the more of each the better.

    hu: of melds, single generals left out. singles: single generals. steps, lou, fat_lou: claimed pungs,
    claimed kongs, those of fat ranks. generals, generals_out: colours in which generals are a block, and are
    out; generals_paired: in which the block is a pair, paired_in_wagon: and stands in a plain wagon that is
    out. soldiers, soldiers_out: the same of soldiers. out_a to out_c: colours in which a rank is out. y to g:
    how many of general and soldier of a colour are out. plain_0 to plain_3: plain wagons with at least so
    many blocks out.
    """

    hu: int = 0
    singles: int = 0
    steps: int = 0
    lou: int = 0
    fat_lou: int = 0
    generals: int = 0
    generals_out: int = 0
    generals_paired: int = 0
    paired_in_wagon: int = 0
    soldiers: int = 0
    soldiers_out: int = 0
    out_a: int = 0
    out_e: int = 0
    out_r: int = 0
    out_h: int = 0
    out_c: int = 0
    y: int = 0
    r: int = 0
    w: int = 0
    g: int = 0
    plain_0: int = 0
    plain_1: int = 0
    plain_2: int = 0
    plain_3: int = 0

    @property
    def clear(self) -> tuple[int, ...]:
        """In how many colours each of A E R H C is out."""
        return self.out_a, self.out_e, self.out_r, self.out_h, self.out_c

    @property
    def heaven_earth(self) -> int:
        """Colours of which general and soldier are both out."""
        return (self.y, self.r, self.w, self.g).count(2)

    @property
    def plain_wagons(self) -> tuple[int, ...]:
        """Plain wagons with at least none, one, two, three blocks out."""
        return self.plain_0, self.plain_1, self.plain_2, self.plain_3


_TALLY = Digits(Tally._fields)
_PARTS = Digits(_TOLD)
_WAGONS = ("plain_wagon", "fat_wagon", "long_wagon")


def _wanted(parts: Mapping[str, int]) -> int:
    """The parts of a combination packed; a wagon without a block out is 1 there, no wagon 0."""
    return _PARTS.pack({name: number + (name in _WAGONS) for name, number in parts.items()})


_RANKS = {level.name: at for at, level in enumerate(LEVELS)}
_WANTED = tuple((_RANKS[level], _wanted(parts), parts) for level, parts in COMBINATIONS)
_HU = {meld.name: (meld.plain, meld.fat) for meld in MELDS}

LAID, PAIRED, OUT = 0, 1, 2
"""How a kind stands: in no block, in one that is not out (a pair), or out."""


def item_of(name: str, claimed: bool) -> str | None:
    """The item that a meld scores; None for a pair and a loose card."""
    if name == "pung":
        return "pung-claimed" if claimed else "pung-in-hand"
    if name == "kong":
        return "kong-claimed" if claimed else "kong-dealt"
    return {"single": "general", "chow": "chow", "soldiers": "soldiers"}.get(name)


def _add_meld(tally: dict[str, int], name: str, rank: str, claimed: bool) -> None:
    """Count a meld in a tally, blocks left out."""
    if name == "single":
        tally["singles"] += 1
    elif item := item_of(name, claimed):
        fat = rank in FAT
        tally["hu"] += _HU[item][fat]
        tally["steps"] += item == "pung-claimed"
        tally["lou"] += item == "kong-claimed"
        tally["fat_lou"] += item == "kong-claimed" and fat


def _tally(at: int, way: Way, down: Counts, pair_is_block: bool) -> int:
    """The tally of a group; `down` says how each of its kinds stands among the declared melds."""
    family, start, _ = GROUPS[at]
    tally = dict.fromkeys(Tally._fields, 0)
    stands = list(down)
    for place, (name, kinds) in enumerate(way.blocks):
        claimed = place == way.won
        _add_meld(tally, name, KINDS[start + kinds[0]].rank, claimed)
        if name in ("pung", "kong"):
            stands[kinds[0]] = OUT
        elif name == "pair" and (pair_is_block or not claimed):
            stands[kinds[0]] = max(stands[kinds[0]], PAIRED)
    out = [each == OUT for each in stands]
    if family == SOLDIERS:
        tally["soldiers"] = sum(each != LAID for each in stands)
        tally["soldiers_out"] = sum(out)
        tally |= {KINDS[start + kind].suit: int(each) for kind, each in enumerate(out)}
        return _TALLY.pack(tally)
    wagon = all(stands)
    if wagon:
        tally |= {f"plain_{blocks}": 1 for blocks in range(sum(out) + 1)}
    if family == COURT:
        tally["generals"], tally["generals_out"] = int(stands[0] != LAID), int(out[0])
        tally["generals_paired"] = int(stands[0] == PAIRED)
        tally["paired_in_wagon"] = int(stands[0] == PAIRED and wagon and any(out))
        tally[KINDS[start].suit] = int(out[0])
        tally["out_a"], tally["out_e"] = int(out[1]), int(out[2])
    else:
        tally["out_r"], tally["out_h"], tally["out_c"] = map(int, out)
    return _TALLY.pack(tally)


@lru_cache(1 << 13)
def _options(
    at: int, free: Counts, won: int | None, down: Counts, pair_is_block: bool
) -> tuple[tuple[int, Placed], ...]:
    """The ways to stand a group that may be the best of some hand, with their tallies."""
    family, start, end = GROUPS[at]
    found = [
        (_tally(at, way, down, pair_is_block), Placed(start, way))
        for way in ways(family, free, (0,) * (end - start), won)
    ]
    found.sort(key=lambda each: -_TALLY.unpack(each[0])[0])  # those of most hu rule out most others
    best: list[tuple[int, Placed]] = []
    for tally, placed in found:
        most = _at_most(tally)
        if not any(_TALLY.covers(other, tally) or _TALLY.covers(other, most) for other, _ in best):
            best.append((tally, placed))
    return tuple(best)


def _at_most(packed: int) -> int:
    """A tally that is worth no less, as if single generals and those in pairs counted in any case."""
    tally = Tally(*_TALLY.unpack(packed))
    return _TALLY.pack(
        tally._replace(
            hu=tally.hu + tally.singles * _HU["general"][0] + tally.generals_paired * 2 * IN_WAGON,
            singles=0,
            generals_paired=0,
            paired_in_wagon=0,
        )._asdict()
    )


class _Found(NamedTuple):
    """A tally's value: what arrangements are ordered by, then what the score tells."""

    worth: int
    hu: int
    level: int
    combination: Mapping[str, int]
    tally: Tally
    bonuses: dict[str, tuple[int, int]]


def _value(packed: int, cap: int | str, in_wagon: bool, lou_doubles: bool) -> _Found:
    """All there is to say about the tally of a whole hand."""
    tally = Tally(*_TALLY.unpack(packed))
    bonuses: dict[str, tuple[int, int]] = {}  # count and hu by item

    def add(name: str, count: int, hu: int) -> None:
        if count:
            before = bonuses.get(name, (0, 0))
            bonuses[name] = (before[0] + count, before[1] + hu)

    plain = tally.plain_wagons
    if plain[0]:
        exactly = [wagons - more for wagons, more in zip(plain, (*plain[1:], 0), strict=True)]
        add("plain-wagon", plain[0], sum(map(mul, exactly, PLAIN_WAGON)))
    fat = long = 0  # one more than the most blocks out
    for colours, out in ((tally.generals, tally.generals_out), (tally.soldiers, tally.soldiers_out)):
        if table := WAGON_OF.get(colours):
            add("fat-wagon" if table is FAT_WAGON else "long-wagon", 1, table[out])
            fat = max(fat, out + 1)
            long = max(long, (table is LONG_WAGON) * (out + 1))
    if in_wagon:
        general_wagon_out = tally.generals in WAGON_OF and tally.generals_out
        pairs = tally.generals_paired if general_wagon_out else tally.paired_in_wagon
        add("generals-in-wagon", 2 * pairs, 2 * pairs * IN_WAGON)
    clear = 0
    for colours in tally.clear:
        if colours in CLEAR:
            add("clear", 1, CLEAR[colours])
            clear = max(clear, colours)
    add("heaven-earth", tally.heaven_earth, tally.heaven_earth * HEAVEN_EARTH)
    if tally.steps in STEPS:
        add("steps", 1, STEPS[tally.steps])
    singles = tally.singles if cap == "none" else min(tally.singles, int(cap))
    hu = tally.hu + singles * _HU["general"][0]
    for _, more in bonuses.values():
        hu += more
    parts = _PARTS.pack(
        {
            "hu": hu,
            "lou": tally.lou,
            "fat_lou": tally.fat_lou,
            "steps": tally.steps,
            "clear": clear,
            "heaven_earth": tally.heaven_earth,
            "plain_wagon": sum(map(bool, plain)),
            "fat_wagon": fat,
            "long_wagon": long,
            "wagon_out": int(plain[1] > 0 or fat > 1),
        }
    )
    for level, wanted, combination in _WANTED:
        if _PARTS.covers(parts, wanted):
            worth = max(hu // HU_OF_PAI, LEVELS[level].worth)
            if lou_doubles:
                worth = max(worth, hu * 2**tally.lou // HU_OF_PAI)
            return _Found(worth, hu, level, combination, tally, bonuses)
    return _Found(0, hu, 0, {}, tally, bonuses)


class Guangshui(CardGame):
    name = "guangshui"
    title = "Guangshui four-color cards"
    unit = "hu"
    pieces = tuple(piece for piece in DECKS["four-color"].pieces if piece.suit != "j")
    sizes = (31,)
    seats = 3
    players = (3,)
    draws: Mapping[str, str] = MappingProxyType({"wall-out": "The stock is out 穿牌"})
    meld_kinds = ("single", "pair", "chow", "pung", "kong", "soldiers")
    concealed_kinds = ("pair", "pung", "kong")
    options = OPTIONS
    context = CONTEXT
    readings = READINGS
    keeps = frozenset(kind for kind, piece in enumerate(KINDS) if piece.rank == "K")
    score_fields: Mapping[str, str] = MappingProxyType({"level": "level", "worth": "worth"})
    item_names: Mapping[str, str] = MappingProxyType({meld.name: meld.label for meld in MELDS} | BONUSES)

    def full_size(self, settings: Mapping[str, Any]) -> int:
        return self.sizes[0]

    def deals_jokers(self, facts: Mapping[str, Any]) -> bool:
        return False

    def judge(self, hand: Hand, cards: Cards) -> Judged:
        pair_is_block = self.settings(hand.options)["winning_pair_is_block"]
        declared, down = _declared(hand)
        # By the tally of all ways so far: the last group's way, and what it was added to.
        sums: dict[int, _Chain | None] = {declared: None}
        for at in range(len(GROUPS) - 1):
            stands = down[at]
            _, free, _, won = cards.key(GROUPS[at])
            if any(free) or any(stands):
                options = _options(at, free, won, stands, pair_is_block)
                sums = {
                    total + tally: _Chain(placed, before)
                    for total, before in sums.items()
                    for tally, placed in options
                }
        value = self._valued(hand)
        found = [(value(total), chain) for total, chain in sums.items()]
        best, chain = max(found, key=lambda each: each[0][:3])
        placed: list[Placed] = []
        while chain is not None:
            placed.append(chain.placed)
            chain = chain.before
        return Judged(tuple(reversed(placed)), self._score(hand, best, placed))

    def _valued(self, hand: Hand) -> Callable[[int], _Found]:
        """The value of a tally under the hand's options."""
        settings = self.settings(hand.options)
        return lambda total: _value(
            total, settings["generals_cap"], settings["generals_in_out_wagon"], settings["lou_doubles"]
        )

    def _score(self, hand: Hand, found: _Found, placed: Iterable[Placed]) -> Score:
        items: dict[str, tuple[int, int]] = {}
        melds = [
            (name, KINDS[each.start + kinds[0]].rank, at == each.way.won)
            for each in placed
            for at, (name, kinds) in enumerate(each.way.blocks)
        ]
        melds += [(meld.kind, meld.pieces[0].rank, not meld.concealed) for meld in hand.melds]
        for name, rank, claimed in melds:
            if item := item_of(name, claimed):
                count, hu = items.get(item, (0, 0))
                items[item] = (count + 1, hu + _HU[item][rank in FAT])
        if "general" in items and (cap := self.settings(hand.options)["generals_cap"]) != "none":
            count, hu = items["general"]
            items["general"] = (count, min(hu, cap * _HU["general"][0]))
        items |= found.bonuses
        listed = tuple(Item(name, *items[name]) for name in self.item_names if name in items)
        return Score(self.unit, found.hu, listed, {"level": LEVELS[found.level].name, "worth": found.worth})

    def rank(self, hand: Hand, cards: Cards, placed: Iterable[Placed]) -> tuple[int, ...]:
        return self._found(hand, placed)[:3]

    def _found(self, hand: Hand, placed: Iterable[Placed]) -> _Found:
        """The value of an arrangement."""
        total, down = _declared(hand)
        pair_is_block = self.settings(hand.options)["winning_pair_is_block"]
        ways_of = {each.start: each.way for each in placed}
        for at, group in enumerate(GROUPS[:-1]):
            total += _tally(at, ways_of.get(group.start, _NO_CARDS), down[at], pair_is_block)
        return self._valued(hand)(total)

    def forbidden(self, hand: Hand, score: Score) -> list[str]:
        why = []
        if score.extra["level"] == LEVELS[0].name:
            least = next(parts["hu"] for level, parts in COMBINATIONS if level == LEVELS[1].name)
            why.append(f"{score.total} hu and no combination: a win needs {least} hu or one of the list.")
        facts = self.facts(hand.context)
        why += [f"{each.label}: {each.help} No win." for each in CONTEXT if facts[each.name]]
        return why

    def gain(self, score: Score) -> int:
        return int(score.extra["worth"])

    def notes(self, hand: Hand, cards: Cards | None, judged: Judged, complete: bool) -> Iterator[str]:
        if cards is None or not complete:
            return
        found = self._found(hand, judged.placed)
        if found.level:
            level = LEVELS[found.level]
            lou = f"{found.tally.lou} 樓, " if found.tally.lou else ""
            yield f"{found.hu} hu, {lou}level {level.label}: {_told(found.combination)}. Worth {found.worth}."
        if hand.winning is None:
            yield from self._unnamed(hand, cards, judged.score)

    def _unnamed(self, hand: Hand, cards: Cards, score: Score) -> Iterator[str]:
        """What naming the winning piece would change."""
        yield "No winning piece is named: every meld in the hand counts as dealt."
        changed: dict[tuple[int, int], list[Piece]] = {}
        for kind, won in self.as_won(hand, cards):
            other = self.judge(hand, won).score
            if other.total != score.total:
                changed.setdefault((self.gain(other), other.total), []).append(KINDS[kind])
        for (worth, hu), pieces in sorted(changed.items(), reverse=True):
            yield f"It has {hu} hu, worth {worth}, when it was won with {any_of(pieces)}."


class _Chain(NamedTuple):
    """The ways chosen for some groups, the last one first."""

    placed: Placed
    before: _Chain | None


def _declared(hand: Hand) -> tuple[int, list[Counts]]:
    """The tally of the declared melds, and how each kind of each group stands among them.

    More melds than a hand holds count nothing: that hand is invalid.
    """
    if not hand.melds or sum(len(meld.pieces) for meld in hand.melds) > Guangshui.sizes[0]:
        return 0, _NONE_DOWN
    tally = dict.fromkeys(Tally._fields, 0)
    stands = [LAID] * len(KINDS)
    for meld in hand.melds:
        piece = meld.pieces[0]
        _add_meld(tally, meld.kind, piece.rank, not meld.concealed)
        if meld.kind in ("pung", "kong"):
            stands[KIND[piece]] = OUT
        elif meld.kind == "pair" and meld.concealed:
            stands[KIND[piece]] = max(stands[KIND[piece]], PAIRED)
    return _TALLY.pack(tally), [tuple(stands[group.start : group.end]) for group in GROUPS]


_NO_CARDS = Way((), None, 0)
_NONE_DOWN: list[Counts] = [(LAID,) * (group.end - group.start) for group in GROUPS]


def _told(combination: Mapping[str, int]) -> str:
    return " and ".join(_TOLD[part].format(number) for part, number in combination.items())


GUANGSHUI = Guangshui()
