"""Four-color hands judged the slow way, from the rule text alone: nothing is shared with the engine.

A card is text such as ``Kr`` or ``1j``. A meld is a tuple of cards; the winning card stands in it with a
``*`` behind: ``("Kr", "Kr*")``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import product
from operator import add
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

COLOURS = "yrwg"
ALL = [rank + colour for colour in COLOURS for rank in "KAERHCP"]
JOKERS = [f"{number}j" for number in range(1, 6)]
GROUPS = [[rank + colour for rank in ranks] for ranks in ("KAE", "RHC") for colour in COLOURS]
GROUPS.append(["P" + colour for colour in COLOURS])

Meld = tuple[str, ...]
Declared = tuple[str, str, bool]
"""Kind, cards written out two letters each, concealed."""


def cards_of(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def plain(card: str) -> str:
    return card[:2]


def kind_of(meld: Meld) -> str:
    kinds = {plain(card) for card in meld}
    if len(kinds) == 1:
        return {1: "single", 2: "pair", 3: "pung", 4: "kong"}[len(meld)]
    return "soldiers" if meld[0][0] == "P" else "chow"


def melds_with(card: str, others: list[str]) -> Iterator[Meld]:
    """Every meld of a card and some of the others (each distinct one once)."""
    me = plain(card)
    if me[0] == "K" or me[1] == "j":
        yield (card,)
    alike = sorted(other for other in others if plain(other) == me)
    seen = set()
    for size in (1, 2, 3):
        for chosen in (tuple(alike[:size]), tuple(alike[-size:])):
            if len(chosen) == size and me[1] != "j":
                seen.add((card, *chosen))
    # In order, for whoever draws one of them: sets of texts come in another order in every process.
    yield from sorted(seen)
    kinds: list[list[str]] = []
    if me[0] in "KAE":
        kinds = [[rank + me[1] for rank in "KAE"]]
    elif me[0] in "RHC":
        kinds = [[rank + me[1] for rank in "RHC"]]
    elif me[0] == "P":
        colours = (COLOURS, "yrw", "yrg", "ywg", "rwg")
        kinds = [["P" + colour for colour in each] for each in colours if me[1] in each]
    for kind in kinds:
        ways: list[Meld] = [(card,)]
        for wanted in kind:
            if wanted != me:
                there = sorted({other for other in others if plain(other) == wanted})
                ways = [(*way, other) for way in ways for other in there]
        yield from ways


@lru_cache(100_000)
def arrangements(cards: tuple[str, ...]) -> tuple[tuple[Meld, ...], ...]:
    """Every way to stand sorted cards in melds, none idle."""
    if not cards:
        return ((),)
    first, others = cards[0], list(cards[1:])
    found = {}
    for meld in melds_with(first, others):
        rest = others.copy()
        for card in meld[1:]:
            rest.remove(card)
        for more in arrangements(tuple(rest)):
            found[tuple(sorted([tuple(sorted(meld)), *more]))] = True
    return tuple(found)


def all_arrangements(cards: list[str]) -> list[tuple[Meld, ...]]:
    """Every way to stand a hand in melds, group by group."""
    found: list[tuple[Meld, ...]] = [()]
    for group in [*GROUPS, *([joker] for joker in JOKERS)]:
        own = arrangements(tuple(sorted(card for card in cards if plain(card) in group)))
        found = [(*before, *more) for before in found for more in own]
    return found


# How far a hand is from complete

KINDS = [*ALL, *JOKERS]
NEVER = 99
"""The distance of a hand that cannot be completed."""


def numbers(cards: Iterable[str]) -> np.ndarray:
    """How many cards of each kind there are, (33,), in the order of `KINDS`."""
    held = Counter(cards)
    return np.array([held[card] for card in KINDS], np.int16)


def locked_kinds(dealt: list[str], lock: bool) -> dict[str, int]:
    counts = Counter(dealt)
    return {card: min(count, 4) for card, count in counts.items() if count >= 3} if lock else {}


def room_beside(declared: list[Declared], copies: int, jokers: bool) -> np.ndarray:
    """How many of each kind, (33,), there can be in the hand."""
    deck = np.array([copies] * len(ALL) + [int(jokers)] * len(JOKERS), np.int16)
    return deck - numbers(card for _, text, _ in declared for card in cards_of(text))


def all_melds() -> list[Meld]:
    """Every meld there is."""
    alike = [(card,) * size for card in ALL for size in (2, 3, 4)]
    alone = [(card,) for card in KINDS if card[0] == "K" or card in JOKERS]
    chows = [tuple(rank + colour for rank in ranks) for ranks in ("KAE", "RHC") for colour in COLOURS]
    soldiers = [tuple("P" + c for c in COLOURS if c != missing) for missing in (*COLOURS, "")]
    return [*alike, *alone, *chows, *soldiers]


@cache
def _sums(group: int) -> np.ndarray:
    """Every choice of counts of a group's kinds that melds add up to, at most five of each: (n, kinds)."""
    own = GROUPS[group]
    steps = [tuple(meld.count(card) for card in own) for meld in all_melds() if set(meld) <= {*own}]
    seen = {(0,) * len(own)}
    open_ends = [*seen]
    while open_ends:
        counts = open_ends.pop()
        for step in steps:
            more = tuple(map(add, counts, step))
            if max(more) <= 5 and more not in seen:
                seen.add(more)
                open_ends.append(more)
    return np.array(sorted(seen), np.int16)


def missing(
    hands: np.ndarray, declared: list[Declared], full: int, locked: dict[str, int], copies: int, jokers: bool
) -> np.ndarray:
    """The fewest cards, (n,), that come into each of these hands, (n, 33), until so many stand in melds;
    `NEVER` when it cannot be.

    No meld holds cards of two groups: every way to fill each group is tried, by how many cards it holds.
    """
    wanted = full - sum(len(text) // 2 for _, text, _ in declared)
    room = room_beside(declared, copies, jokers)
    best = np.full((len(hands), wanted + 1), NEVER, np.int16)
    best[:, 0] = 0
    for at, group in enumerate(GROUPS):
        columns = [KINDS.index(card) for card in group]
        starts = product(*({0: (0,), 3: (3, 4), 4: (4,)}[locked.get(card, 0)] for card in group))
        filled = np.concatenate([_sums(at) + np.array(start, np.int16) for start in starts])
        filled = filled[(filled <= room[columns]).all(1)]
        held, which = np.unique(hands[:, columns], axis=0, return_inverse=True)
        costs = np.maximum(filled - held[:, None], 0).sum(2)
        sizes = filled.sum(1)
        best = _with_group(
            best, {size: costs[:, sizes == size].min(1)[which] for size in sorted({*sizes.tolist()})}
        )
    own = hands[:, len(ALL) :].sum(1)
    best = _with_group(best, {size: np.maximum(size - own, 0) for size in range(room[len(ALL) :].sum() + 1)})
    return best[:, wanted]


def _with_group(best: np.ndarray, costs: dict[int, np.ndarray]) -> np.ndarray:
    """The fewest cards by size of the hand, (n, sizes), with those of one more group, by its size."""
    more = np.full_like(best, NEVER)
    width = best.shape[1]
    for size, cost in costs.items():
        if size < width:
            more[:, size:] = np.minimum(more[:, size:], best[:, : width - size] + cost[:, None])
    return np.minimum(more, NEVER)


MELDS = all_melds()
_HOLDS = np.array([[meld.count(card) for meld in MELDS] for card in KINDS])


def missing_by_program(
    held: np.ndarray, declared: list[Declared], full: int, locked: dict[str, int], copies: int, jokers: bool
) -> int:
    """The same of one hand, (33,), by an integer program over the whole deck: how many there are of each meld
    and how many cards of each kind stay, so that most cards stay. It knows no groups."""
    wanted = full - sum(len(text) // 2 for _, text, _ in declared)
    kinds, melds = _HOLDS.shape
    room = room_beside(declared, copies, jokers)
    least = np.zeros(melds)
    rules = [
        # No more cards than there are stand in melds; what stays stands in melds; the hand is full.
        LinearConstraint(np.hstack([_HOLDS, np.zeros((kinds, kinds))]), 0, room),
        LinearConstraint(np.hstack([_HOLDS, -np.eye(kinds)]), 0),
        LinearConstraint(np.hstack([_HOLDS.sum(0), np.zeros(kinds)]), wanted, wanted),
    ]
    for card, size in locked.items():
        if size == 4:
            least[MELDS.index((card,) * 4)] = 1
        else:
            either = [float(meld in ((card,) * 3, (card,) * 4)) for meld in MELDS]
            rules.append(LinearConstraint(np.hstack([either, np.zeros(kinds)]), 1))
    found = milp(
        np.repeat([0, -1], [melds, kinds]),
        integrality=np.repeat([1, 0], [melds, kinds]),
        bounds=Bounds(np.hstack([least, np.zeros(kinds)]), np.hstack([np.full(melds, wanted), held])),
        constraints=rules,
    )
    return NEVER if found.x is None else wanted + round(found.fun)


# Fujian

FUJIAN = {"joker": 3, "chow": 1, "three": 1, "four": 2}


def fujian_points(meld: Meld, claimed: bool) -> int:
    kind, rank = kind_of(meld), meld[0][0]
    if kind == "single":
        return 3 if meld[0][1] == "j" else 1
    if kind == "soldiers":
        return 1 if len(meld) == 3 else 2
    if kind == "kong":
        return 8 if rank == "K" or not claimed else 6
    if kind == "pung":
        return 1 if claimed else 3
    return 1 if kind == "chow" else 0


def fujian_best(dealt: list[str], declared: list[Declared], winner: str | None, lock: bool) -> int | None:
    """The most points of any arrangement that the locks allow; None when there is none."""
    cards = dealt + ([winner + "*"] if winner else [])
    locked = locked_kinds(dealt, lock)
    best = None
    for melds in all_arrangements(cards):
        allowed = True
        for card, size in locked.items():
            # One meld holds so many of the dealt ones, perhaps with the winning card.
            alike = [meld for meld in melds if kind_of(meld) in ("pung", "kong")]
            allowed &= size in [meld.count(card) for meld in alike]
        if not allowed:
            continue
        points = sum(fujian_points(meld, any("*" in card for card in meld)) for meld in melds)
        best = points if best is None else max(best, points)
    if best is None:
        return None
    for kind, text, concealed in declared:
        cards_down = tuple(cards_of(text))
        if kind == "pair" and text[0] == "K":
            best += 2
        else:
            best += fujian_points(cards_down, not concealed)
    return best


# Guangshui

HU = {"pung": ((1, 2), (3, 6)), "kong": ((6, 12), (9, 18))}
STEPS = {5: 20, 6: 40, 7: 60, 8: 80, 9: 100, 10: 120}


def guangshui_value(
    melds: tuple[Meld, ...],
    declared: list[Declared],
    cap: int | None = None,
    in_out_wagon: bool = True,
    winning_pair: bool = False,
    doubles: bool = False,
) -> tuple[int, int, str]:
    """Worth, hu and level of one arrangement."""
    stands: list[tuple[str, Meld, bool]] = []  # kind, cards, made of own cards alone
    for meld in melds:
        stands.append((kind_of(meld), meld, not any("*" in card for card in meld)))
    for kind, text, own in declared:
        stands.append((kind, tuple(cards_of(text)), own))
    block: dict[str, str] = {}
    hu = lou = fat_lou = steps = singles = 0
    for kind, meld, own in stands:
        card = plain(meld[0])
        fat = card[0] in "KRP"
        if kind == "single":
            singles += 1
        elif kind in ("chow", "soldiers"):
            hu += 1
        elif kind == "pair":
            in_hand = own or (winning_pair and any("*" in each for each in meld))
            if in_hand and block.get(card) != "out":
                block[card] = "pair"
        else:
            hu += HU[kind][own][fat]
            block[card] = "out"
            if not own:
                steps += kind == "pung"
                lou += kind == "kong"
                fat_lou += kind == "kong" and fat
    hu += singles if cap is None else min(singles, cap)

    def blocks(cards: list[str]) -> tuple[int, int]:
        return sum(card in block for card in cards), sum(block.get(card) == "out" for card in cards)

    plain_wagons = [-1]
    in_wagons: set[str] = set()
    for group in GROUPS[:8]:
        number, out = blocks(group)
        if number == 3:
            plain_wagons.append(out)
            hu += 10 * (out + 1)
            if out:
                in_wagons.update(group)
    fat_wagons, long_wagons = [-1], [-1]
    for rank in "KP":
        cards = [rank + colour for colour in COLOURS]
        number, out = blocks(cards)
        if number == 3:
            hu += [20, 40, 60, 100][out]
            fat_wagons.append(out)
        if number == 4:
            hu += [40, 80, 120, 160, 200][out]
            long_wagons.append(out)
            fat_wagons.append(out)
        if number >= 3 and out:
            in_wagons.update(cards)
    if in_out_wagon:
        hu += 2 * sum(card[0] == "K" and block.get(card) == "pair" for card in in_wagons)
    clears = [blocks([rank + colour for colour in COLOURS])[1] for rank in "AERHC"]
    hu += 20 * clears.count(3) + 40 * clears.count(4)
    heaven = sum(block.get("K" + c) == "out" and block.get("P" + c) == "out" for c in COLOURS)
    hu += 20 * heaven + STEPS.get(steps, 0)
    most_plain, most_fat, most_long = max(plain_wagons), max(fat_wagons), max(long_wagons)
    out_wagon = max(most_plain, most_fat) > 0
    clear = max(clears)
    great = hu >= 500 or (lou >= 1 and hu >= 250) or (lou >= 2 and hu >= 123) or (lou >= 3 and hu >= 61)
    small = hu >= 250 or (lou >= 1 and hu >= 123) or (lou >= 2 and hu >= 61) or (lou >= 3 and hu >= 31)
    small |= (most_plain == 3 and lou >= 2) or (most_fat >= 1 and lou >= 2) or (most_long >= 2 and lou >= 1)
    small |= steps >= 6 and most_long == 4
    pai = hu >= 48 or (lou >= 1 and hu >= 23) or lou >= 2 or (most_plain >= 0 and fat_lou >= 1)
    pai |= (most_fat >= 0 and lou >= 1) or (out_wagon and steps >= 5) or most_fat >= 2 or most_long >= 1
    pai |= (clear >= 3 and steps >= 5) or (heaven > 0 and steps >= 5) or (clear >= 3 and heaven > 0)
    pai |= (clear >= 3 and out_wagon) or (out_wagon and heaven > 0) or most_plain == 3 or clear == 4
    pai |= steps >= 6
    level = "da-jia" if great else "xiao-jia" if small else "pai" if pai else "none"
    least = {"none": 0, "pai": 1, "xiao-jia": 5, "da-jia": 10}[level]
    worth = max(hu // 50, least) if least else 0
    if least and doubles:
        worth = max(worth, hu * 2**lou // 50)
    return worth, hu, level


def guangshui_best(
    dealt: list[str], declared: list[Declared], winner: str | None, **options: Any
) -> tuple[int, int, str] | None:
    """The arrangement worth most, of those the one with most hu; None when a card stays idle."""
    ways = all_arrangements(dealt + ([winner + "*"] if winner else []))
    return max((guangshui_value(melds, declared, **options) for melds in ways), default=None)
