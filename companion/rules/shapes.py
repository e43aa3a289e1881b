"""How mahjong pieces stand in sets: every split of a complete hand, the best partial one, every meld there
is.

Here a kind is a number: 0-8 the first suit, 9-17 the second, 18-26 the third; a hand is a list of 27 counts.
A block is a kind of meld and its lowest kind: ``("chow", 3)`` is 456 of the first suit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product
from operator import mul

Block = tuple[str, int]
Blocks = tuple[Block, ...]

SUITS = (0, 9, 18)
"""The first kind of each suit."""


def all_sets(counts: list[int], kind: int, end: int) -> list[Blocks]:
    """Every way to stand the pieces of kinds `kind` to `end` (of one suit) in chows and pungs, none left
    over.

    >>> all_sets([3, 3, 3, 0, 0, 0, 0, 0, 0], 0, 9)
    [(('pung', 0), ('pung', 1), ('pung', 2)), (('chow', 0), ('chow', 0), ('chow', 0))]
    """
    while kind < end and not counts[kind]:
        kind += 1
    if kind == end:
        return [()]
    ways: list[Blocks] = []
    held = counts[kind]
    # The lowest kind stands in a pung or opens chows: with the pung chosen, the number of chows is settled.
    for chows in (held - 3, held) if held >= 3 else (held,):
        blocks: Blocks = () if chows == held else (("pung", kind),)
        if chows:
            if kind + 2 >= end or counts[kind + 1] < chows or counts[kind + 2] < chows:
                continue
            blocks += (("chow", kind),) * chows
            counts[kind + 1] -= chows
            counts[kind + 2] -= chows
        ways += [blocks + rest for rest in all_sets(counts, kind + 1, end)]
        if chows:
            counts[kind + 1] += chows
            counts[kind + 2] += chows
    return ways


def sets_and_pair(counts: Sequence[int]) -> list[Blocks]:
    """Every way to stand all pieces in sets and one pair, which stands last, in a fixed order."""
    counts = list(counts)
    of_suits: list[list[Blocks]] = []
    with_pair: list[Blocks] | None = None
    for start in SUITS:
        end = start + 9
        suit = counts[start:end]
        pieces = sum(suit)
        if not pieces:
            continue
        if pieces % 3 == 0:
            of_suits.append(all_sets(counts, start, end))
        elif pieces % 3 == 2 and with_pair is None:
            with_pair = []
            # The ranks of a set add up to a multiple of three, so the pair leaves the same rest as the suit.
            rest = sum(map(mul, suit, range(9))) % 3
            for rank, held in enumerate(suit):
                if held >= 2 and 2 * rank % 3 == rest:
                    kind = start + rank
                    counts[kind] -= 2
                    with_pair += [(*blocks, ("pair", kind)) for blocks in all_sets(counts, start, end)]
                    counts[kind] += 2
        else:
            return []
    if with_pair is None:
        return []
    return [tuple(chain.from_iterable(chosen)) for chosen in product(*of_suits, with_pair)]


def pair_last(block: Block) -> tuple[bool, int, str]:
    """Sorts the blocks of an arrangement: sets by their lowest kind, then pairs."""
    return block[0] == "pair", block[1], block[0]


def all_pairs(counts: Sequence[int]) -> Blocks:
    """The pairs that the pieces hold, four equal ones standing as two.

    >>> all_pairs([4, 1, 3])
    (('pair', 0), ('pair', 0), ('pair', 2))
    """
    return tuple(("pair", kind) for kind, held in enumerate(counts) for _ in range(held // 2))


def most_sets(counts: Sequence[int]) -> Blocks:
    """The blocks of one suit with most sets, then most pairs; any number of pieces may be left over.

    >>> most_sets([1, 1, 1, 0, 2, 1, 1, 0, 0])
    (('chow', 0), ('chow', 4))
    """
    # Best plan so far by chows begun (one kind ago, two kinds ago): (sets, pairs), then the blocks.
    plans: dict[tuple[int, int], tuple[int, int, Blocks]] = {(0, 0): (0, 0, ())}
    for kind, held in enumerate(counts):
        after: dict[tuple[int, int], tuple[int, int, Blocks]] = {}
        for (one_ago, two_ago), (sets, pairs, blocks) in plans.items():
            # Three equal chows are three pungs, so two beginning at one kind are enough.
            for chows in range(3 if kind < len(counts) - 2 else 1):
                free = held - one_ago - two_ago - chows
                if free < 0:
                    break
                pungs, pair = free // 3, free % 3 // 2
                plan = (
                    sets + chows + pungs,
                    pairs + pair,
                    (
                        *blocks,
                        *(("chow", kind),) * chows,
                        *(("pung", kind),) * pungs,
                        *(("pair", kind),) * pair,
                    ),
                )
                key = (chows, one_ago)
                if key not in after or plan[:2] > after[key][:2]:
                    after[key] = plan
        plans = after
    return plans[0, 0][2]


def blocks_within(counts: Sequence[int]) -> list[Block]:
    """Every distinct pair, chow, pung and kong that the pieces of one suit contain."""
    found: list[Block] = []
    for name, size in (("pair", 2), ("pung", 3), ("kong", 4)):
        found += [(name, kind) for kind, held in enumerate(counts) if held >= size]
    found += [("chow", kind) for kind in range(len(counts) - 2) if all(counts[kind : kind + 3])]
    return found
