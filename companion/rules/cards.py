"""A hand of four-color cards as numbers, for the games whose hands are complete when every card stands in a
meld.

No meld mixes the groups K A E and R H C of a colour, the soldiers of all colours, and the jokers: each
`GROUPS` entry is judged by itself, and what it can do is remembered. Within a group a kind is its place
there, and a block is a meld of kinds: ``("chow", (0, 1, 2))``. Of the whole hand kinds are numbered group
after group, see `KINDS`.

`CardGame` is what both games share; a game adds what its melds are worth.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from operator import gt
from types import MappingProxyType
from typing import Any, NamedTuple

from companion.hand import LOOSE, Hand, HandError, Meld, shown
from companion.pieces import Piece, format_pieces, parse_pieces
from companion.reading import Expectation
from companion.result import Advice, Result, Score, Status, Wait, amount
from companion.rules.base import RuleSet, Value
from companion.rules.rounds import Draw, Event, Kong, Outcome, Played, Transfer, Win

Block = tuple[str, tuple[int, ...]]
Blocks = tuple[Block, ...]
Counts = tuple[int, ...]

COURT, FIELD, SOLDIERS, JOKERS = "court", "field", "soldiers", "jokers"

FAMILIES: Mapping[str, tuple[str, ...]] = {
    COURT: ("KAEy", "KAEr", "KAEw", "KAEg"),
    FIELD: ("RHCy", "RHCr", "RHCw", "RHCg"),
    SOLDIERS: ("PyPrPwPg",),
    JOKERS: ("12345j",),
}
"""Cards that no meld mixes with others, by what melds they make."""

SEQUENCES: Mapping[str, Blocks] = {
    COURT: (("chow", (0, 1, 2)),),
    FIELD: (("chow", (0, 1, 2)),),
    SOLDIERS: tuple(
        ("soldiers", kinds) for kinds in ((0, 1, 2, 3), (1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))
    ),
    JOKERS: (),
}
"""Melds of different kinds within a group."""

ALIKE = {1: "single", 2: "pair", 3: "pung", 4: "kong"}
"""Melds of equal cards, by their number."""

_PLAIN = ("", "0", "2", "3", "4 22", "32")
_SINGLES = ("", "1", "2 11", "3 21 111", "4 31 22 211 1111", "41 32 311 221 2111 11111")
PARTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    FIELD: (_PLAIN,) * 3,
    COURT: (_SINGLES, _PLAIN, _PLAIN),
    SOLDIERS: (_PLAIN,) * 4,
    JOKERS: (("", "1"),) * 5,
}
"""How so many equal cards, none to five, stand in melds of equal cards, by kind: sizes, 0 a loose card."""

MOST_ALIKE = 5
"""Equal cards that an arrangement looks at; any more are more than a deck holds."""


class Group(NamedTuple):
    """Cards that make melds with each other only: kinds `start` to `end` of the hand."""

    family: str
    start: int
    end: int


def _groups() -> Iterator[tuple[Group, tuple[Piece, ...]]]:
    start = 0
    for family, texts in FAMILIES.items():
        for pieces in map(parse_pieces, texts):
            yield Group(family, start, start + len(pieces)), pieces
            start += len(pieces)


GROUPS = tuple(group for group, _ in _groups())
KINDS = tuple(piece for _, pieces in _groups() for piece in pieces)
"""The 33 kinds by number, group after group."""

KIND = {piece: kind for kind, piece in enumerate(KINDS)}
COPIES = 4
"""Equal cards in the game, where no option says otherwise."""

GROUP_OF = tuple(at for at, group in enumerate(GROUPS) for _ in range(group.start, group.end))
"""The number of each kind's group."""


# Melds of a group


@lru_cache(1 << 13)
def splits(family: str, counts: Counts) -> tuple[Blocks, ...]:
    """Every way to stand the cards of a group in melds with the fewest left loose, in a fixed order.

    >>> splits("field", (2, 2, 2))
    ((('pair', (0, 0)), ('pair', (1, 1)), ('pair', (2, 2))), (('chow', (0, 1, 2)), ('chow', (0, 1, 2))))
    >>> splits("court", (1, 1, 0))
    ((('single', (0,)), ('loose', (1,))),)
    """
    fewest = MOST_ALIKE * len(counts)
    found: list[Blocks] = []
    for sequences, rest in _with_sequences(SEQUENCES[family], counts):
        loose = sum("0" in parts[count] for parts, count in zip(PARTS[family], rest, strict=True))
        if loose > fewest:
            continue
        if loose < fewest:
            fewest, found = loose, []
        alike = [_alike(parts[count], kind) for kind, (parts, count) in _with_parts(family, rest)]
        found += [sum(chosen, sequences) for chosen in product(*alike)]
    return tuple(found)


def _with_parts(family: str, counts: Counts) -> Iterator[tuple[int, tuple[tuple[str, ...], int]]]:
    return ((kind, each) for kind, each in enumerate(zip(PARTS[family], counts, strict=True)) if each[1])


def _with_sequences(sequences: Blocks, counts: Counts) -> Iterator[tuple[Blocks, Counts]]:
    """Every choice of melds of different kinds, and the cards left beside them."""
    if not sequences:
        yield (), counts
        return
    first, *others = sequences
    chosen: Blocks = ()
    while True:
        for more, rest in _with_sequences(tuple(others), counts):
            yield chosen + more, rest
        if not all(counts[kind] for kind in first[1]):
            return
        chosen += (first,)
        counts = tuple(count - (kind in first[1]) for kind, count in enumerate(counts))


@cache
def _alike(parts: str, kind: int) -> tuple[Blocks, ...]:
    return tuple(
        tuple((ALIKE[int(size)], (kind,) * int(size)) if size != "0" else (LOOSE, (kind,)) for size in way)
        for way in parts.split()
    )


class Way(NamedTuple):
    """One way to stand the cards of a group: its blocks, which of them the winning card completes, and how
    many cards are loose."""

    blocks: Blocks
    won: int | None
    loose: int


@lru_cache(1 << 13)
def ways(family: str, free: Counts, locked: Counts, won: int | None) -> tuple[Way, ...]:
    """Every way to stand a group's cards with the fewest loose.

    free: cards of each kind that may stand anywhere, the winning card (of kind `won`) among them. locked:
    beside them, how many of each kind are one pung (3) or kong (4) already.

    >>> for way in ways("field", (1, 1, 1), (3, 0, 0), 0):
    ...     print(way.blocks, way.won, way.loose)
    (('pung', (0, 0, 0)), ('chow', (0, 1, 2))) 1 0
    """
    fixed = tuple((ALIKE[size], (kind,) * size) for kind, size in enumerate(locked) if size)
    found = [
        Way(fixed + blocks, at, _loose(blocks))
        for blocks in splits(family, free)
        for at in _completed(fixed + blocks, len(fixed), won)
    ]
    if won is not None and locked[won] == 3:
        # The winning card makes the locked pung a kong.
        less = tuple(count - (kind == won) for kind, count in enumerate(free))
        raised = fixed.index((ALIKE[3], (won,) * 3))
        fixed = (*fixed[:raised], (ALIKE[4], (won,) * 4), *fixed[raised + 1 :])
        found += [Way(fixed + blocks, raised, _loose(blocks)) for blocks in splits(family, less)]
    fewest = min(way.loose for way in found)
    return tuple(way for way in found if way.loose == fewest)


def _loose(blocks: Blocks) -> int:
    return sum(name == LOOSE for name, _ in blocks)


def _completed(blocks: Blocks, after: int, won: int | None) -> Iterator[int | None]:
    """Which block the winning card may complete; of equal blocks the first stands for all."""
    at: list[int | None] = [
        at
        for at, block in enumerate(blocks)
        if at >= after and won in block[1] and block[0] != LOOSE and block not in blocks[after:at]
    ]
    return iter(at or [None])


# Cards to exchange

Reach = tuple[tuple[int, int, int], ...]
"""What a group can become: for each number of cards the fewest that have to come in, and the kinds (bits)
that then come in, by any of the ways."""


@lru_cache(1 << 13)
def reach(family: str, free: Counts, room: Counts, pungs: Counts) -> Reach:
    """For every number of cards that can stand in melds, how few must come in, and of which kinds.

    free: cards held that may go. room: how many of each there may be. pungs: 1 for each kind with a locked
    pung, which may take one card more.

    >>> reach("field", (2, 1, 0), (2, 1, 1), (0, 0, 0))
    ((0, 0, 0), (2, 0, 0), (3, 1, 4))
    """
    best: dict[int, tuple[int, int]] = {}
    for target in _complete(family, room, pungs):
        cost = kinds = size = 0
        bit = 1
        for wanted, held in zip(target, free, strict=True):
            size += wanted
            if wanted > held:
                cost += wanted - held
                kinds |= bit
            bit += bit
        known = best.get(size)
        if known is None or cost < known[0]:
            best[size] = (cost, kinds)
        elif cost == known[0]:
            best[size] = (cost, known[1] | kinds)
    return tuple((size, *best[size]) for size in sorted(best))


@lru_cache(1 << 9)
def _complete(family: str, room: Counts, pungs: Counts) -> tuple[Counts, ...]:
    """Every choice of cards of a group that stand in melds, none loose."""
    if any(pungs):
        plain = _complete(family, room, (0,) * len(room))
        taken = product(*(range(min(pung, most) + 1) for pung, most in zip(pungs, room, strict=True)))
        raised = (
            tuple(count + more for count, more in zip(counts, extra, strict=True))
            for extra in taken
            for counts in plain
        )
        fitting = (
            counts
            for counts in raised
            if all(count <= most for count, most in zip(counts, room, strict=True))
        )
        return tuple(dict.fromkeys(fitting))
    return tuple(
        counts
        for counts in product(*(range(most + 1) for most in room))
        if not _loose(splits(family, counts)[0])
    )


NOTHING: Mapping[int, tuple[int, int]] = {0: (0, 0)}
"""The reach of no group at all, as `join` takes it: cost and kinds by number of cards."""


def join(reached: Mapping[int, tuple[int, int]], other: Reach, shift: int) -> dict[int, tuple[int, int]]:
    """The reach of several groups and one more, whose first kind is number `shift` of the hand."""
    best: dict[int, tuple[int, int]] = {}
    get = best.get
    for more, extra, kinds in other:
        kinds <<= shift
        for size, (cost, known_kinds) in reached.items():
            size += more
            cost += extra
            known = get(size)
            if known is None or cost < known[0]:
                best[size] = (cost, known_kinds | kinds)
            elif cost == known[0]:
                best[size] = (cost, known[1] | known_kinds | kinds)
    return best


# The hand


@dataclass(slots=True)
class Cards:
    """A valid hand as numbers.

    counts: cards of each of the 33 kinds in the hand, the winning card among them. locked: how many of them
    are one pung or kong that stays together. winner: kind of the winning card. room: how many of each kind
    the hand may hold beside its melds. wanted: cards of the full hand beside its melds. full: whether it is
    that many, else it is one short.
    """

    counts: list[int]
    locked: list[int]
    winner: int | None
    room: list[int]
    wanted: int
    full: bool

    def key(self, group: Group) -> tuple[str, Counts, Counts, int | None]:
        """What `ways` asks about a group."""
        family, start, end = group
        locked = tuple(self.locked[start:end])
        free = tuple(self.counts[start:end])
        if any(locked):
            free = tuple(count - fixed for count, fixed in zip(free, locked, strict=True))
        winner = self.winner
        return family, free, locked, winner - start if winner is not None and start <= winner < end else None

    def loose(self, group: Group) -> int:
        """Cards of a group that stand in no meld."""
        return ways(*self.key(group))[0].loose

    def complete(self) -> bool:
        """Whether it is a full hand and every card stands in a meld."""
        return self.full and not any(self.loose(group) for group in GROUPS)

    def with_one(self, kind: int) -> Cards:
        """The hand won on one more card."""
        counts = self.counts.copy()
        counts[kind] += 1
        return Cards(counts, self.locked, kind, self.room, self.wanted, True)

    def completing(self) -> list[int]:
        """Kinds that complete a hand one short of full."""
        lacking = {at for at, group in enumerate(GROUPS) if self.loose(group)}
        return [
            kind
            for kind, held in enumerate(self.counts)
            if held < self.room[kind]
            and lacking <= {GROUP_OF[kind]}
            and not self.with_one(kind).loose(GROUPS[GROUP_OF[kind]])
        ]

    def _reach(self, at: int, without: int | None = None) -> Reach:
        family, start, end = GROUPS[at]
        free, room, pungs = [], [], []
        for kind in range(start, end):
            fixed = self.locked[kind]
            free.append(self.counts[kind] - fixed - (kind == without))
            room.append(self.room[kind] - fixed)
            pungs.append(int(fixed == 3))
        return reach(family, tuple(free), tuple(room), tuple(pungs))

    @property
    def _free_wanted(self) -> int:
        return self.wanted - sum(self.locked)

    def shanten(self, keep: frozenset[int] = frozenset()) -> int | None:
        """Cards to exchange until one more completes the hand; of a full one after its best discard.

        keep: kinds that are never discarded. None when the cards that are left complete no such hand.
        """
        if self.full:
            if self.complete():
                return -1
            return min((far for _, far, _ in self.discards(keep)), default=None)
        reached = NOTHING
        for at, group in enumerate(GROUPS):
            reached = join(reached, self._reach(at), group.start)
        return reached[self._free_wanted][0] - 1 if self._free_wanted in reached else None

    def discards(self, keep: frozenset[int] = frozenset()) -> Iterator[tuple[int, int, list[int]]]:
        """Every discard of a full hand: its kind, the shanten after it, and the kinds that help then.

        Nothing of a locked meld and of the kinds to `keep` is discarded.
        """
        before = [dict(NOTHING)]
        for at, group in enumerate(GROUPS[:-1]):
            before.append(join(before[-1], self._reach(at), group.start))
        after: dict[int, tuple[int, int]] = dict(NOTHING)
        wanted = self._free_wanted
        for at in range(len(GROUPS) - 1, -1, -1):
            _, start, end = GROUPS[at]
            own = [kind for kind in range(start, end) if self.counts[kind] > self.locked[kind]]
            if own:
                rest = _joined(before[at], after)
                for kind in own:
                    if kind in keep or self.locked[kind] == 3:
                        continue
                    if best := _best_of(rest, self._reach(at, without=kind), start, wanted):
                        yield kind, *best
            after = join(after, self._reach(at), start)


def _joined(
    reached: Mapping[int, tuple[int, int]], other: Mapping[int, tuple[int, int]]
) -> dict[int, tuple[int, int]]:
    return join(reached, tuple((size, cost, kinds) for size, (cost, kinds) in other.items()), 0)


def _best_of(
    rest: Mapping[int, tuple[int, int]], own: Reach, shift: int, wanted: int
) -> tuple[int, list[int]] | None:
    """The shanten of a group beside all others, and the kinds that help."""
    best, kinds = wanted + 1, 0
    for size, cost, more in own:
        if (other := rest.get(wanted - size)) is not None:
            total = cost + other[0]
            if total < best:
                best, kinds = total, 0
            if total == best:
                kinds |= other[1] | more << shift
    return (best - 1, [kind for kind in range(len(KINDS)) if kinds >> kind & 1]) if best <= wanted else None


# Pieces and melds again


@cache
def block_meld(name: str, kinds: tuple[int, ...], concealed: bool) -> Meld:
    """The meld of a block; kinds are the hand's."""
    return Meld(name, tuple(KINDS[kind] for kind in kinds), concealed)


class Placed(NamedTuple):
    """The way a group of the hand stands."""

    start: int
    way: Way


def lay(hand: Hand, placed: Iterable[Placed], surplus: Iterable[Piece] = ()) -> tuple[Meld, ...]:
    """The melds of an arrangement: those declared, the placed ones, then loose pieces and the surplus."""
    melds = []
    for start, way in placed:
        for at, (name, kinds) in enumerate(way.blocks):
            melds.append(block_meld(name, tuple([start + kind for kind in kinds]), at != way.won))
    melds += [block_meld(LOOSE, (KIND[piece],), True) for piece in surplus]
    melds.sort(key=lambda meld: (meld.kind == LOOSE, meld.pieces[0].order))
    return (*hand.melds, *melds)


LEGAL_ORDER = ("single", "pair", "chow", "pung", "kong", "soldiers")


def legal_melds(hand: Hand) -> tuple[Meld, ...]:
    """Every distinct meld within the concealed pieces and the winning one."""
    held = Counter(KIND[piece] for piece in hand.held)
    found = []
    for family, start, end in GROUPS:
        for kind in range(start, end):
            lone = family == JOKERS or (family == COURT and kind == start)
            most = 1 if family == JOKERS else len(ALIKE)
            found += [
                (ALIKE[size], (kind,) * size) for size in range(1 if lone else 2, min(most, held[kind]) + 1)
            ]
        for name, kinds in SEQUENCES[family]:
            own = tuple(start + kind for kind in kinds)
            if all(held[kind] for kind in own):
                found.append((name, own))
    melds = [block_meld(name, kinds, True) for name, kinds in found]
    melds.sort(key=lambda meld: (LEGAL_ORDER.index(meld.kind), [piece.order for piece in meld.pieces]))
    return tuple(melds)


# What both games share


@cache
def _copies(equal: int, jokers: bool) -> tuple[int, ...]:
    return tuple(int(jokers) if piece.suit == "j" else equal for piece in KINDS)


class Judged(NamedTuple):
    """A hand's best arrangement: how each group stands, and its score, the declared melds' included."""

    placed: tuple[Placed, ...]
    score: Score


class CardGame(RuleSet):
    """A game of four-color cards: all but what melds are worth."""

    deck = "four-color"
    presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({})
    keeps: frozenset[int] = frozenset()
    """Kinds that are never discarded."""

    # What differs

    @abstractmethod
    def full_size(self, settings: Mapping[str, Any]) -> int:
        """Cards of a complete hand, every card of a kong counted."""

    @abstractmethod
    def deals_jokers(self, facts: Mapping[str, Any]) -> bool:
        """Whether jokers are in the game."""

    def locked(self, dealt: Sequence[int], settings: Mapping[str, Any]) -> list[int]:
        """How many of the dealt cards of each kind are one meld that stays together."""
        return [0] * len(KINDS)

    @abstractmethod
    def judge(self, hand: Hand, cards: Cards) -> Judged:
        """The best way to stand the cards, the fewest loose."""

    @abstractmethod
    def rank(self, hand: Hand, cards: Cards, placed: Iterable[Placed]) -> tuple[int, ...]:
        """What an arrangement of a complete hand is worth: a higher one goes first."""

    def forbidden(self, hand: Hand, score: Score) -> list[str]:
        """Why a complete hand may not win; empty when it may."""
        return []

    @abstractmethod
    def notes(self, hand: Hand, cards: Cards | None, judged: Judged, complete: bool) -> Iterator[str]:
        """What else there is to say; `cards` is None for an invalid hand."""

    def extra(self, hand: Hand, judged: Judged) -> dict[str, Any]:
        """What the game adds to the result."""
        return {}

    @abstractmethod
    def gain(self, score: Score) -> int:
        """What each loser pays for a won hand."""

    # Shapes

    def check(self, hand: Hand) -> None:
        super().check(hand)
        for index, meld in enumerate(hand.melds):
            piece = meld.pieces[0]
            if meld.kind == "single" and piece.rank != "K" and piece.suit != "j":
                raise HandError(
                    f"{piece} cannot stand alone: a single is a general or a joker", f"melds[{index}].pieces"
                )

    def cards_of(self, hand: Hand) -> Cards | None:
        """The hand as numbers; None when it is invalid."""
        cards, surplus = self._counted(hand)
        if surplus or any(map(gt, cards.counts, cards.room)):
            return None
        return cards if cards.wanted - sum(cards.counts) in (0, 1) else None

    def expectation(self, options: Mapping[str, Any], context: Mapping[str, Any]) -> Expectation:
        """What a photo can show. To say which cards are in the game rids a hand without jokers of those that
        nobody dealt: of 168 scenes 19 of them became 7, and no true card was lost.
        """
        settings = self.settings(options)
        copies = self._copies(options, context)
        pieces = [str(piece) for piece, count in zip(KINDS, copies, strict=True) if count]
        return Expectation.of_full((self.full_size(settings),), self.deck, pieces, max(copies))

    def _copies(self, options: Mapping[str, Any], context: Mapping[str, Any]) -> tuple[int, ...]:
        equal = self.settings(options).get("copies", COPIES)
        return _copies(equal, self.deals_jokers(self.facts(context)))

    def _counted(self, hand: Hand) -> tuple[Cards, list[Piece]]:
        """The hand as numbers, and the concealed pieces that are more than the whole game has, which the
        numbers leave out."""
        settings = self.settings(hand.options)
        most = self._copies(hand.options, hand.context)
        room = list(most)
        wanted = self.full_size(settings)
        for meld in hand.melds:
            wanted -= len(meld.pieces)
            for piece in meld.pieces:
                room[KIND[piece]] -= 1
        counts = [0] * len(KINDS)
        for piece in hand.concealed:
            counts[KIND[piece]] += 1
        dealt = counts
        winner = None
        if hand.winning is not None:
            winner = KIND[hand.winning.piece]
            counts = counts.copy()
            counts[winner] += 1
        surplus: list[Piece] = []
        if any(map(gt, counts, most)):
            for kind, count in enumerate(counts):
                surplus += [KINDS[kind]] * (count - most[kind])
            counts = dealt = list(map(min, counts, most))
            winner = None
        cards = Cards(counts, self.locked(dealt, settings), winner, room, wanted, wanted == sum(counts))
        return cards, surplus

    def is_complete(self, hand: Hand) -> bool:
        cards = self.cards_of(hand)
        return cards is not None and cards.complete()

    def shanten(self, hand: Hand) -> int | None:
        cards = self.cards_of(hand)
        return None if cards is None else cards.shanten(self.keeps)

    def arrangements(self, hand: Hand) -> tuple[tuple[Meld, ...], ...]:
        cards = self.cards_of(hand)
        if cards is None or not cards.complete():
            return ()
        best = self.judge(hand, cards).placed
        groups = [[Placed(group.start, way) for way in ways(*cards.key(group))] for group in GROUPS]
        ranked = sorted(product(*groups), key=lambda placed: self.rank(hand, cards, placed), reverse=True)
        return tuple(dict.fromkeys(lay(hand, placed) for placed in (best, *ranked)))

    def legal_melds(self, hand: Hand) -> tuple[Meld, ...]:
        return legal_melds(hand)

    def score(self, hand: Hand) -> Score | None:
        cards = self.cards_of(hand)
        return self.judge(hand, cards).score if cards is not None and cards.complete() else None

    def waits(self, hand: Hand) -> tuple[Wait, ...]:
        cards = self.cards_of(hand)
        if cards is None or cards.full:
            return ()
        found = []
        for kind in cards.completing():
            score = self.judge(hand, cards.with_one(kind)).score
            status: Status = "not-allowed" if self.forbidden(hand, score) else "won"
            found.append(Wait(KINDS[kind], cards.room[kind] - cards.counts[kind], status, score.total))
        return tuple(sorted(found, key=lambda wait: wait.piece.order))

    def advice(self, hand: Hand) -> tuple[Advice, ...]:
        cards = self.cards_of(hand)
        if cards is None or not cards.full or cards.complete():
            return ()
        advice = []
        for discard, far, kinds in cards.discards(self.keeps):
            left = [
                (KINDS[kind], cards.room[kind] - cards.counts[kind] + (kind == discard)) for kind in kinds
            ]
            left.sort(key=lambda each: each[0].order)
            advice.append(Advice(KINDS[discard], far, tuple(left)))
        return tuple(sorted(advice, key=lambda each: (each.shanten, -each.left, each.discard.order)))

    # The whole answer

    def analyse(self, hand: Hand) -> Result:
        notes: list[str] = []
        if hand.bonus:
            notes.append(
                f"{format_pieces(hand.bonus)} laid aside: {self.name} has no flowers, they count nothing."
            )
        melds = self.legal_melds(hand)
        cards = self.cards_of(hand)
        if cards is None:
            counted, surplus = self._counted(hand)
            notes += self._faults(hand)
            judged = self.judge(hand, counted)
            notes += self.notes(hand, None, judged, False)
            arrangement = lay(hand, judged.placed, surplus)
            extra = self.extra(hand, judged)
            return Result("invalid", None, (), (), arrangement, melds, None, tuple(notes), extra)
        judged = self.judge(hand, cards)
        arrangement = lay(hand, judged.placed)
        extra = self.extra(hand, judged)
        complete = cards.complete()
        notes += self.notes(hand, cards, judged, complete)
        if complete:
            forbidden = self.forbidden(hand, judged.score)
            status: Status = "not-allowed" if forbidden else "won"
            notes = forbidden + notes
            return Result(status, -1, (), (), arrangement, melds, judged.score, tuple(notes), extra)
        if cards.full:
            if hand.winning:
                notes.insert(
                    0, f"{hand.winning.piece} does not complete the hand: it is judged as it stands."
                )
            advice = self.advice(hand)
            distance = advice[0].shanten if advice else None
            waits: tuple[Wait, ...] = ()
        else:
            waits, advice = self.waits(hand), ()
            distance = cards.shanten()
        status = "ready" if distance == 0 else "building"
        return Result(status, distance, waits, advice, arrangement, melds, None, tuple(notes), extra)

    def as_won(self, hand: Hand, cards: Cards) -> Iterator[tuple[int, Cards]]:
        """A full hand without a winning piece, as won with each of its cards."""
        settings = self.settings(hand.options)
        for kind, count in enumerate(cards.counts):
            if count:
                dealt = cards.counts.copy()
                dealt[kind] -= 1
                locked = self.locked(dealt, settings)
                yield kind, Cards(cards.counts, locked, kind, cards.room, cards.wanted, True)

    def _faults(self, hand: Hand) -> Iterator[str]:
        """Why a hand is invalid."""
        most = self._copies(hand.options, hand.context)
        held = [*hand.held, *(piece for meld in hand.melds for piece in meld.pieces)]
        counts = Counter(held)
        if unknown := [piece for piece in counts if not most[KIND[piece]]]:
            yield f"{format_pieces(unknown)} cannot be in the hand: no jokers are in this game."
        for piece, count in sorted(counts.items()):
            if count > most[KIND[piece]] > 0:
                yield f"{count} times {piece}: there {_are(most[KIND[piece]])}."
        full = self.full_size(self.settings(hand.options))
        if len(held) not in (full, full - 1):
            yield f"{len(held)} cards: a hand has {full}, or {full - 1} before the last one."

    # Rounds

    def play(self, events: Sequence[Event], options: Mapping[str, Any], players: int | None = None) -> Played:
        """Only a win is paid for, and it ends the round: of several who can win on one card the next in turn
        after its owner does, and deals the next round."""
        seats = self.seats if players is None else players
        outcomes: list[Outcome] = []
        dealer: int | None = None
        over = False
        for index, event in enumerate(events):
            where = f"events[{index}]"
            if over:
                raise HandError("the round is over", where)
            involved = [event.seat] if isinstance(event, Kong) else list(event.hands)
            payer = event.payer if isinstance(event, Win | Kong) else None
            for seat in involved if payer is None else (*involved, payer):
                if seat not in range(seats):
                    raise HandError(f"seat {seat} is not in the game: {seats} play", where)
            if payer in involved:
                raise HandError(f"seat {payer} cannot pay itself", where)
            over = not isinstance(event, Kong)
            outcome = Outcome()
            if isinstance(event, Win):
                outcome = self._win(event, options, seats, where)
                (dealer,) = outcome.results
            elif isinstance(event, Draw):
                self.check_draw(event, options, where)
            outcomes.append(outcome)
        return Played(tuple(outcomes), tuple(range(seats)), over, dealer)

    def check_draw(self, draw: Draw, options: Mapping[str, Any], where: str) -> None:
        """Raises `HandError` when the round cannot end so."""
        if draw.reason not in self.draws:
            raise HandError(f"unknown reason {shown(draw.reason)}; known: {', '.join(self.draws)}", where)

    def _win(self, win: Win, options: Mapping[str, Any], seats: int, where: str) -> Outcome:
        if not win.hands:
            raise HandError("a win has a winner", where)
        if win.payer is None and len(win.hands) > 1:
            raise HandError("a self-draw has one winner", where)
        seat = min(win.hands, key=lambda seat: (seat - (win.payer or 0)) % seats)
        hand = win.hands[seat]
        where = f"{where}.hands[{seat}]"
        source = "wall" if win.payer is None else "discard"
        if hand.winning is None or hand.winning.source != source:
            raise HandError(f"a winning piece from the {source} is needed", where)
        hand = replace(hand, options=options)
        result = self.analyse(hand)
        if result.status != "won" or result.score is None:
            raise HandError("the hand is not won", where)
        gain = self.gain(result.score)
        losers = [loser for loser in range(seats) if loser != seat]
        if win.payer is not None and self.owner_pays_all(self.settings(options)):
            losers, gain = [win.payer], gain * len(losers)
        reason = f"win: {amount(result.score.total, self.unit)}"
        return Outcome(tuple([Transfer(loser, seat, gain, reason) for loser in losers]), {seat: result})

    def owner_pays_all(self, settings: Mapping[str, Any]) -> bool:
        """Whether the owner of the winning card pays for all."""
        return False


def any_of(pieces: Sequence[Piece]) -> str:
    """Pieces as a sentence lists them: ``Ky, Kr or 1j``."""
    *most, last = map(str, sorted(pieces))
    return f"{', '.join(most)} or {last}" if most else last


def _are(copies: int) -> str:
    return "is only one" if copies == 1 else f"are only {copies}"
