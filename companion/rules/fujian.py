"""Si Se Pai (四色牌) of the Fujian family: 21 cards that all stand in melds; any such hand wins its points.

The numbers that are the rules stand in `POINTS`, `LOCKS` and `OPTIONS`; the code below reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from companion.hand import Hand, HandError, Meld
from companion.pieces import DECKS, Piece, format_pieces
from companion.result import Item, Score
from companion.rules.base import Choice, Setting, flag
from companion.rules.cards import (
    COURT,
    GROUPS,
    JOKERS,
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
from companion.rules.rounds import Draw


class Points(NamedTuple):
    """What one kind of meld is worth: its item's name, its points, the item's label."""

    name: str
    points: int
    label: str


POINTS = (
    Points("general", 1, "General: a single one"),
    Points("joker", 3, "Joker"),
    Points("chow", 1, "Chow: K A E or R H C of one colour"),
    Points("three-soldiers", 1, "Soldiers of three colours"),
    Points("four-soldiers", 2, "Soldiers of four colours"),
    Points("pung-claimed", 1, "Pung, claimed"),
    Points("pung-dealt", 3, "Pung, dealt"),
    Points("kong-claimed", 6, "Kong, claimed"),
    Points("kong-dealt", 8, "Kong, dealt"),
    Points("kong-generals", 8, "Kong of generals"),
)
"""A pair is worth nothing."""

LOCKS = (0, 0, 0, 3, 4, 4)
"""How many of so many equal dealt cards are one pung or kong that is never split (option `lock_dealt`)."""

PARITY = {21: 1, 26: 0}
"""What every complete hand's score leaves when halved, by the size of the hand: in each kind of meld points
and cards are both odd or both even."""

MISCOUNT = 2
"""By so many cards at most a hand that looks complete is thought to be misread."""

OPTIONS = (
    Setting(
        "lock_dealt",
        "Dealt triplets locked",
        "Three or four equal cards of the deal stay together as pung or kong.",
        (Choice(True, "yes"), Choice(False, "no")),
        True,
    ),
    Setting(
        "hand_size",
        "Cards of a hand",
        "How many cards a complete hand has.",
        (Choice(21, "21"), Choice(26, "26, for two or three players")),
        21,
    ),
    Setting(
        "copies",
        "Equal cards",
        "How many equal cards the deck holds.",
        (Choice(4, "4"), Choice(5, "5, for the four-player game of 26 cards")),
        4,
    ),
    flag(
        "discarder_pays_all",
        "The card's owner pays for all",
        "Who gave the winning card, discarded or drawn and shown, pays for every loser.",
    ),
)

CONTEXT = (
    flag("dealt", "As dealt", "The hand as it was dealt: tells whether the deal is void."),
    Setting(
        "jokers",
        "Jokers in the game",
        "Whether the five jokers are in the deck.",
        (Choice(True, "yes"), Choice(False, "no")),
        True,
        lasting=True,
    ),
)

READINGS = (
    "A chow is of one colour, never across colours.",
    "Three soldiers of different colours count 1; the written list leaves them out.",
    "Four generals of one colour count 8, dealt or claimed.",
    "A joker counts 3 and never stands for another card.",
    "The winning card, drawn or taken, opens its meld: a pung or kong it completes is claimed.",
    "Soldiers are claimed with the priority of a chow, and from anyone.",
    "Of equal claims the next in turn after the card's owner goes first.",
    "A deal is void when a player's cards hold no general, no triplet, no quad and no four soldiers.",
    "The winner deals the next round; after a misdeal or with the stock out the same dealer deals again.",
)
"""How the written rules are read where they are silent or contradict themselves."""

_POINTS = {each.name: each.points for each in POINTS}


def item_of(name: str, size: int, family: str, general: bool, claimed: bool) -> str | None:
    """The item that a meld scores; None for a pair."""
    if name == "single":
        return "joker" if family == JOKERS else "general"
    if name == "soldiers":
        return "four-soldiers" if size == 4 else "three-soldiers"
    if name == "kong" and general:
        return "kong-generals"
    if name in ("pung", "kong"):
        return f"{name}-claimed" if claimed else f"{name}-dealt"
    return "chow" if name == "chow" else None


def _way_items(family: str, way: Way) -> list[str]:
    items = []
    for at, (name, kinds) in enumerate(way.blocks):
        general = family == COURT and kinds[0] == 0
        if item := item_of(name, len(kinds), family, general, at == way.won):
            items.append(item)
    return items


def _meld_items(meld: Meld) -> list[str]:
    """The items of a declared meld; a pair of generals counts as two singles."""
    piece = meld.pieces[0]
    if meld.kind == "pair" and piece.rank == "K":
        return ["general", "general"]
    family = JOKERS if piece.suit == "j" else SOLDIERS if piece.rank == "P" else COURT
    item = item_of(meld.kind, len(meld.pieces), family, piece.rank == "K", not meld.concealed)
    return [item] if item else []


class _Best(NamedTuple):
    """The best way for a group: its points, the way, the items it scores."""

    points: int
    way: Way
    items: tuple[str, ...]


def _judge(family: str, way: Way) -> _Best:
    items = _way_items(family, way)
    return _Best(sum(_POINTS[item] for item in items), way, tuple(items))


@lru_cache(1 << 13)
def _best(family: str, free: Counts, locked: Counts, won: int | None) -> _Best:
    return max(
        (_judge(family, way) for way in ways(family, free, locked, won)),
        # Among equals the winning card is seen to complete something.
        key=lambda best: (best.points, best.way.won is not None),
    )


class Fujian(CardGame):
    name = "fujian"
    title = "Si Se Pai (Fujian)"
    unit = "point"
    pieces = DECKS["four-color"].pieces
    sizes = (21, 26)
    seats = 4
    players = (4, 3, 2)
    draws: Mapping[str, str] = MappingProxyType(
        {"misdeal": "Misdeal: the deal is void", "wall-out": "The stock is out"}
    )
    meld_kinds = ("single", "pair", "chow", "pung", "kong", "soldiers")
    concealed_kinds = meld_kinds
    options = OPTIONS
    context = CONTEXT
    readings = READINGS
    score_fields: Mapping[str, str] = MappingProxyType({})
    item_names: Mapping[str, str] = MappingProxyType({each.name: each.label for each in POINTS})

    def copies(self, piece: Piece, options: Mapping[str, Any]) -> int:
        equal: int = self.settings(options)["copies"]
        return super().copies(piece, options) and (1 if piece.suit == "j" else equal)

    def check_context(self, hand: Hand) -> None:
        if hand.context.get("dealt"):
            for index, meld in enumerate(hand.melds):
                if not meld.concealed:
                    raise HandError(f"dealt is true, but melds[{index}] was claimed", "context.dealt")

    def full_size(self, settings: Mapping[str, Any]) -> int:
        return int(settings["hand_size"])

    def deals_jokers(self, facts: Mapping[str, Any]) -> bool:
        return bool(facts["jokers"])

    def locked(self, dealt: Sequence[int], settings: Mapping[str, Any]) -> list[int]:
        if not settings["lock_dealt"]:
            return super().locked(dealt, settings)
        return [LOCKS[count] for count in dealt]

    def judge(self, hand: Hand, cards: Cards) -> Judged:
        placed = []
        found: dict[str, int] = {}
        counts = cards.counts
        for group in GROUPS:
            if any(counts[group.start : group.end]):
                best = _best(*cards.key(group))
                placed.append(Placed(group.start, best.way))
                for item in best.items:
                    found[item] = found.get(item, 0) + 1
        for meld in hand.melds:
            for item in _meld_items(meld):
                found[item] = found.get(item, 0) + 1
        items = tuple(
            [Item(name, found[name], found[name] * points) for name, points, _ in POINTS if name in found]
        )
        return Judged(tuple(placed), Score(self.unit, sum([item.value for item in items]), items))

    def rank(self, hand: Hand, cards: Cards, placed: Iterable[Placed]) -> tuple[int, ...]:
        family = {group.start: group.family for group in GROUPS}
        return (sum(_judge(family[each.start], each.way).points for each in placed),)

    def gain(self, score: Score) -> int:
        return score.total

    def owner_pays_all(self, settings: Mapping[str, Any]) -> bool:
        return bool(settings["discarder_pays_all"])

    def check_draw(self, draw: Draw, options: Mapping[str, Any], where: str) -> None:
        super().check_draw(draw, options, where)
        if draw.reason == "misdeal" and draw.hands:
            dealt = [replace(hand, options=options) for hand in draw.hands.values()]
            if not any(misdeal(hand) for hand in dealt):
                raise HandError("the cards shown make no misdeal", where)

    def extra(self, hand: Hand, judged: Judged) -> dict[str, Any]:
        extra: dict[str, Any] = {"misdeal": misdeal(hand)} if hand.context.get("dealt") else {}
        if off := self._miscounted(hand, judged):
            extra["miscounted"] = off
        return extra

    # Notes

    def notes(self, hand: Hand, cards: Cards | None, judged: Judged, complete: bool) -> Iterator[str]:
        if hand.context.get("dealt") and misdeal(hand):
            yield "Misdeal: no general, dealt triplet, dealt quad or four soldiers: the deal is void."
        if cards is None or not cards.full:
            yield from self._checksum(hand, judged)
            return
        if complete and hand.winning is None:
            yield from self._unnamed_complete(hand, cards, judged)
        elif not complete:
            yield from self._lock_notes(hand, cards)

    def _miscounted(self, hand: Hand, judged: Judged) -> int:
        """Cards too few (below 0) or too many in a hand that else looks complete: by as many a photo of a
        finished hand was misread, or cards miscounted. 0 when it does not look so, or is a hand as dealt."""
        if hand.context.get("dealt"):
            return 0
        size = len(hand.held) + sum(len(meld.pieces) for meld in hand.melds)
        off = size - self.full_size(self.settings(hand.options))
        loose = any(placed.way.loose for placed in judged.placed)
        return 0 if loose or abs(off) > MISCOUNT else off

    def _checksum(self, hand: Hand, judged: Judged) -> Iterator[str]:
        """Whether a hand that is not full but looks complete was misread by a card or two."""
        off = self._miscounted(hand, judged)
        if not off:
            return
        full = self.full_size(self.settings(hand.options))
        parity = PARITY[full]
        told = f"All {full + off} cards stand in melds"
        if judged.score.total % 2 != parity:
            what = ("even", "odd")
            told += (
                f" and count {judged.score.total}: a complete hand of {full} counts {what[parity]}, never "
                f"{what[1 - parity]}."
            )
        else:
            told += f": a complete hand has {full}."
        cards = "a card was" if abs(off) == 1 else f"{abs(off)} cards were"
        yield f"{told} If this is one, {cards} {'missed' if off < 0 else 'read twice'}."

    def _unnamed_complete(self, hand: Hand, cards: Cards, judged: Judged) -> Iterator[str]:
        """What naming the winning piece would change."""
        totals: dict[int, list[Piece]] = {}
        for kind, won in self.as_won(hand, cards):
            total = self.judge(hand, won).score.total
            if won.complete() and total != judged.score.total:
                totals.setdefault(total, []).append(KINDS[kind])
        yield "No winning piece is named: every pung and kong counts as dealt."
        for total, pieces in sorted(totals.items(), reverse=True):
            yield f"The hand counts {total} when it was won with {any_of(pieces)}."

    def _lock_notes(self, hand: Hand, cards: Cards) -> Iterator[str]:
        """Whether only a lock keeps a full hand from being complete."""
        if not any(cards.locked):
            return
        won_with = [] if hand.winning else [kind for kind, won in self.as_won(hand, cards) if won.complete()]
        if won_with:
            pieces = any_of([KINDS[kind] for kind in won_with])
            yield f"Complete if it was won with {pieces}: the winning card is never locked."
            return
        free = Cards(cards.counts, [0] * len(KINDS), cards.winner, cards.room, cards.wanted, True)
        if free.complete():
            kinds = format_pieces(KINDS[kind] for kind, size in enumerate(cards.locked) if size)
            yield f"Only the lock on dealt triplets and quads ({kinds}) keeps the hand from being complete."


def misdeal(hand: Hand) -> bool:
    """Whether the cards as dealt hold no general, triplet, quad or four soldiers of four colours."""
    dealt = [*hand.concealed, *(piece for meld in hand.melds for piece in meld.pieces)]
    counts = [0] * len(KINDS)
    for piece in dealt:
        counts[KIND[piece]] += 1
    soldiers = next(group for group in GROUPS if group.family == SOLDIERS)
    return not (
        any(piece.rank == "K" for piece in dealt)
        or max(counts) >= 3
        or all(counts[soldiers.start : soldiers.end])
    )


FUJIAN = Fujian()
