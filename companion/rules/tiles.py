"""A mahjong hand as numbers, for the games that play with sets of the three numbered suits.

`tiles_of` counts a hand's pieces, a `Tiles` answers what they lack, `lay` makes melds of pieces again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from companion.hand import LOOSE, Hand, Meld
from companion.pieces import Piece
from companion.rules import shapes
from companion.rules.shapes import SUITS, Block, Blocks
from companion.rules.suits import KONG, NOTHING, PUNG, join, missing, read

FULL = 14
"""Pieces of a complete hand, kongs counted as three."""

SETS = 4
"""Sets of a regular hand, beside its pair."""

PAIRS = 7
"""Pairs of a hand of seven pairs."""

COPIES = 4
"""Pieces of each kind in the game."""

KINDS = tuple(Piece.parse(f"{rank}{suit}") for suit in "mps" for rank in range(1, 10))
"""The 27 kinds by number, as `companion.rules.shapes` counts them."""

KIND = {piece: kind for kind, piece in enumerate(KINDS)}
KIND |= {red: KIND[red.plays_as] for red in map(Piece.parse, ("0m", "0p", "0s"))}
"""The number of each piece; a red five's is the five's."""

FIRST = dict(zip("mps", SUITS, strict=True))
"""The number of each suit's first kind."""

_ALLOWED = {void: tuple(start for suit, start in FIRST.items() if suit != void) for void in (None, *FIRST)}
"""First kinds of the suits that a finished hand may hold, by void suit."""


@dataclass(slots=True)
class Tiles:
    """A valid hand as numbers, the winning piece among the concealed ones.

    counts: concealed pieces of each of the 27 kinds. symbols: the same as `companion.rules.suits` reads them.
    sets: sets still to make beside the melds. suits: first kinds of the suits that may be in a finished hand.
    full: whether it has full size, else it is one piece short. void_meld: whether a meld is of the void suit.
    """

    counts: list[int]
    symbols: list[int]
    sets: int
    suits: tuple[int, ...]
    full: bool
    void_meld: bool

    def distance(self) -> int:
        """Shanten; void melds are not minded."""
        far = self.sets_missing()
        if self.sets == SETS and far:
            far = min(far, self.pairs_missing())
        return far - 1

    def sets_missing(self) -> int:
        """Pieces missing for the sets and a pair."""
        cost = NOTHING
        symbols = self.symbols
        for start in self.suits:
            cost = join(cost, read(symbols[start : start + 9]))
        return missing(cost, self.sets)

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
            rest = _sum(costs[other] for other in self.suits if other != start)
            for kind, cost in _with_one_more(self.symbols[start : start + 9], start):
                if not missing(join(rest, cost), self.sets) or (lone_pair and self.symbols[kind] % 2):
                    found.append(kind)
        return found

    def with_one(self, kind: int) -> Tiles:
        """The hand with one more piece."""
        counts, symbols = self.counts.copy(), self.symbols.copy()
        counts[kind] += 1
        symbols[kind] += 1
        return Tiles(counts, symbols, self.sets, self.suits, True, self.void_meld)

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
        symbols = self.symbols
        return any(symbols[:9]) + any(symbols[9:18]) + any(symbols[18:])

    def discards(self) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
        """Every discard of a full hand: its kind, the shanten after it, the kinds that help then and their
        copies left."""
        symbols, suits, sets = self.symbols, self.suits, self.sets
        base = {start: read(symbols[start : start + 9]) for start in suits}
        # Cost of each suit with one more piece, by kind.
        plus = {start: dict(_with_one_more(symbols[start : start + 9], start)) for start in suits}
        counts = [count for start in suits for count in self.counts[start : start + 9]]
        pairs, odd = sum(count // 2 for count in counts), sum(count % 2 for count in counts)
        may_be_pairs = sets == SETS

        def missing_after(cost: int, pairs: int, odd: int) -> int:
            far = missing(cost, sets)
            return min(far, _pairs_missing(pairs, odd)) if may_be_pairs else far

        for discard, held in enumerate(self.counts):
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
            far = missing_after(_sum(own.values()), pairs_now, odd_now)
            improving = []
            for start in suits:
                rest = _sum(own[other] for other in suits if other != start)
                for kind, cost in extra[start].items():
                    count = self.counts[kind] - (kind == discard)
                    paired = (pairs_now + 1, odd_now - 1) if count % 2 else (pairs_now, odd_now + 1)
                    if missing_after(join(rest, cost), *paired) < far:
                        improving.append((kind, self.left(kind) + (kind == discard)))
            yield discard, far - 1, improving


_kind_of = KIND.__getitem__  # the count of pieces is most of a win test, and this is the quickest way to it


def tiles_of(hand: Hand, void: str | None) -> Tiles | None:
    """The hand as numbers; None when it is invalid. `void`: the suit that no finished hand may hold."""
    melds = hand.melds
    size = len(hand.concealed) + (hand.winning is not None) + 3 * len(melds)
    if size != FULL and size != FULL - 1:
        return None
    counts = [0] * len(KINDS)
    try:
        for kind in map(_kind_of, hand.concealed):
            counts[kind] += 1
        if hand.winning is not None:
            counts[_kind_of(hand.winning.piece)] += 1
    except KeyError:  # a piece of no numbered suit
        return None
    if max(counts) > COPIES:
        return None
    symbols = counts
    void_meld = False
    if melds:
        symbols = counts.copy()
        for meld in melds:
            known, pung = KIND.get(meld.pieces[0]), meld.kind == "pung"
            # A kind that another meld holds already reads as more than there is room for.
            if known is None or symbols[known] > pung:
                return None
            symbols[known] += PUNG if pung else KONG
            void_meld |= meld.pieces[0].suit == void
    return Tiles(counts, symbols, SETS - len(melds), _ALLOWED[void], size == FULL, void_meld)


def _pairs_missing(pairs: int, odd: int) -> int:
    """Pieces missing for seven pairs, given the pairs held and the kinds held once or three times.

    A missing pair takes one piece beside an odd one, else two.
    """
    wanted = max(PAIRS - pairs, 0)
    return wanted + max(wanted - odd, 0)


def _sum(costs: Iterable[int]) -> int:
    """The cost of several suits together."""
    total = NOTHING
    for cost in costs:
        total = join(total, cost)
    return total


def _with_one_more(suit: list[int], start: int) -> Iterator[tuple[int, int]]:
    """For every kind of a suit that there may be one more of: the kind and the cost of the suit then."""
    for rank, symbol in enumerate(suit):
        if symbol < COPIES or symbol == PUNG:
            suit[rank] += 1
            yield start + rank, read(suit)
            suit[rank] = symbol


def partial(hand: Hand, void: str | None, tiles: Tiles | None) -> Blocks:
    """The best partial arrangement: most sets, then most pairs; all pairs where seven pairs are nearer.

    Pieces of the void suit stand loose, as they help nothing.
    """
    counts = [len(pieces) for pieces in pool_of(hand)]
    if void is not None:
        counts[FIRST[void] : FIRST[void] + 9] = [0] * 9
    if tiles and tiles.sets == SETS and tiles.pairs_missing() < tiles.sets_missing():
        return shapes.all_pairs(counts)
    blocks = [
        (name, start + kind) for start in SUITS for name, kind in shapes.most_sets(counts[start : start + 9])
    ]
    return tuple(blocks)


def pool_of(hand: Hand) -> list[list[Piece]]:
    """The concealed pieces and the winning one by kind, red fives last; other than the 27 kinds left out."""
    pool: list[list[Piece]] = [[] for _ in KINDS]
    for piece in hand.held:
        if (kind := KIND.get(piece)) is not None:
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
            pool[KIND[piece]].remove(piece)
    return Meld(name, tuple(pieces), concealed)


def lay(hand: Hand, blocks: Blocks, won: int | None = None) -> tuple[Meld, ...]:
    """The melds of an arrangement: those declared, the blocks, then loose pieces.

    won: which block holds the winning piece, None when none is named.
    """
    pool = pool_of(hand)
    laid: dict[int, Meld] = {}
    if won is not None and hand.winning is not None:
        # The winning piece goes first of its kind, so that a red five stands where it won.
        own = pool[KIND[hand.winning.piece]]
        own.remove(hand.winning.piece)
        own.insert(0, hand.winning.piece)
        laid[won] = _meld(blocks[won], pool, concealed=hand.winning.source == "wall")
    for index, block in enumerate(blocks):
        if index not in laid:
            laid[index] = _meld(block, pool, concealed=True)
    loose = [piece for pieces in pool for piece in pieces]
    loose += [piece for piece in hand.held if piece not in KIND]
    ordered = (laid[index] for index in sorted(laid, key=lambda index: shapes.pair_last(blocks[index])))
    return (*hand.melds, *ordered, *(Meld(LOOSE, (piece,), True) for piece in loose))


def legal_melds(hand: Hand) -> tuple[Meld, ...]:
    """Every distinct pair, chow, pung and kong within the concealed pieces and the winning one."""
    pool = pool_of(hand)
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
