"""Four-color hands judged the slow way, from the rule text alone: nothing is shared with the engine.

A card is text such as ``Kr`` or ``1j``. A meld is a tuple of cards; the winning card stands in it with a
``*`` behind: ``("Kr", "Kr*")``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np

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
        for chosen in {tuple(alike[:size]), tuple(alike[-size:])}:
            if len(chosen) == size and me[1] != "j":
                seen.add((card, *chosen))
    yield from seen
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
                ways = [(*way, other) for way in ways for other in {o for o in others if plain(o) == wanted}]
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


@cache
def _reachable(soldiers: bool, general: bool, start: tuple[int, ...], most: tuple[int, ...]) -> np.ndarray:
    """Every choice of counts that melds add up to, beside what stands already (`start`)."""
    width = len(most)
    steps = [[size * (kind == at) for kind in range(width)] for at in range(width) for size in (2, 3, 4)]
    if general:
        steps.append([1, 0, 0])
    if soldiers:
        steps += [[int(kind != missing) for kind in range(4)] for missing in (0, 1, 2, 3, 9)]
    else:
        steps.append([1, 1, 1])
    seen = {start}
    open_ends = [start]
    while open_ends:
        counts = open_ends.pop()
        for step in steps:
            more = tuple(a + b for a, b in zip(counts, step, strict=True))
            if more not in seen and all(a <= b for a, b in zip(more, most, strict=True)):
                seen.add(more)
                open_ends.append(more)
    return np.array(sorted(seen), np.int16)


def locked_kinds(dealt: list[str], lock: bool) -> dict[str, int]:
    counts = Counter(dealt)
    return {card: min(count, 4) for card, count in counts.items() if count >= 3} if lock else {}


@lru_cache(100_000)
def _costs(
    group: int, have: tuple[int, ...], most: tuple[int, ...], locked: tuple[int, ...]
) -> dict[int, int]:
    """The fewest cards that come in, by how many cards of the group stand in melds then."""
    starts: list[tuple[int, ...]] = [()]
    for size in locked:
        starts = [(*start, choice) for start in starts for choice in ((3, 4) if size == 3 else (size,))]
    best: dict[int, int] = {}
    for start in starts:
        if any(a > b for a, b in zip(start, most, strict=True)):
            continue
        counts = _reachable(group == 8, group < 4, start, most)
        costs = np.maximum(counts - np.array(have, np.int16), 0).sum(axis=1)
        for size, cost in zip(counts.sum(axis=1).tolist(), costs.tolist(), strict=True):
            best[size] = min(best.get(size, 99), cost)
    return best


def missing(
    cards: list[str], declared: list[Declared], full: int, locked: dict[str, int], copies: int, jokers: bool
) -> int:
    """The fewest cards that come in until so many cards stand in melds; 99 when it cannot be."""
    held, out = Counter(cards), Counter(card for _, text, _ in declared for card in cards_of(text))
    best = {0: 0}
    for at, group in enumerate(GROUPS):
        have = tuple(held[card] for card in group)
        most = tuple(copies - out[card] for card in group)
        best = _plus(best, _costs(at, have, most, tuple(locked.get(card, 0) for card in group)))
    if jokers:
        own = sum(held[joker] for joker in JOKERS)
        room = 5 - sum(out[joker] for joker in JOKERS)
        best = _plus(best, {size: max(size - own, 0) for size in range(room + 1)})
    return best.get(full - sum(out.values()), 99)


def _plus(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    best: dict[int, int] = {}
    for a, cost in one.items():
        for b, more in other.items():
            best[a + b] = min(best.get(a + b, 99), cost + more)
    return best


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
