"""Sichuan hands judged the slow way, from the rule text alone: nothing is shared with the engine.

A piece is a (suit, rank) pair, a hand a list of them, a meld a (kind, piece) pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

Tile = tuple[str, int]
MeldOf = tuple[str, Tile]
SUITS = "mps"
ALL = [(suit, rank) for suit in SUITS for rank in range(1, 10)]
SETS = [(rank,) * 3 for rank in range(1, 10)] + [(rank, rank + 1, rank + 2) for rank in range(1, 8)]


def used(tiles: list[Tile], melds: list[MeldOf]) -> Counter[Tile]:
    """How many copies of each piece the hand and its melds hold."""
    count = Counter(tiles)
    for kind, tile in melds:
        count[tile] += 4 if kind == "kong" else 3
    return count


def set_readings(tiles: list[Tile]) -> Iterator[list[tuple[Tile, ...]]]:
    """Every way to cut sorted tiles into pungs and chows (some more than once)."""
    if not tiles:
        yield []
        return
    suit, rank = first = tiles[0]
    for group in ([first] * 3, [first, (suit, rank + 1), (suit, rank + 2)]):
        rest = tiles.copy()
        try:
            for tile in group:
                rest.remove(tile)
        except ValueError:
            continue
        for others in set_readings(rest):
            yield [tuple(group), *others]


def readings(tiles: list[Tile], melds: list[MeldOf]) -> Iterator[list[tuple[Tile, ...]]]:
    """Every reading of a full hand: sets then the pair, or seven pairs."""
    for pair in sorted(set(tiles)):
        if tiles.count(pair) >= 2:
            rest = sorted(tiles)
            rest.remove(pair)
            rest.remove(pair)
            for sets in set_readings(rest):
                yield [*sets, (pair, pair)]
    if not melds and all(count % 2 == 0 for count in Counter(tiles).values()):
        yield [(tile, tile) for tile in sorted(tiles)[::2]]


def complete(tiles: list[Tile], melds: list[MeldOf]) -> bool:
    """Whether a full hand is complete, void or not."""
    return next(readings(tiles, melds), None) is not None


@cache
def _targets(sets: int, pairs: int) -> np.ndarray:
    """Every multiset of one suit that stands in so many sets and pairs: counts by rank, (n, 9)."""
    found = set()
    for chosen in combinations_with_replacement(SETS, sets):
        for pair in range(1, 10) if pairs else (0,):
            ranks = [rank for group in chosen for rank in group] + [pair] * (2 * pairs)
            count = tuple(ranks.count(rank) for rank in range(1, 10))
            if max(count) <= 4:
                found.add(count)
    return np.array(sorted(found), np.int8)


@cache
def suit_costs(have: tuple[int, ...], room: tuple[int, ...], most: int) -> dict[tuple[int, int], int]:
    """The fewest pieces missing in one suit for every number of sets up to `most` and pairs (0 or 1)."""
    costs = {}
    for sets in range(most + 1):
        for pairs in range(2):
            targets = _targets(sets, pairs)
            fitting = targets[(targets <= np.array(room, np.int8)).all(axis=1)]
            if len(fitting):
                costs[sets, pairs] = int(np.maximum(fitting - np.array(have, np.int8), 0).sum(axis=1).min())
    return costs


def missing(tiles: list[Tile], melds: list[MeldOf], void: str | None) -> int:
    """The fewest pieces that have to come in until the hand is complete (0: it is).

    Every finished hand that the copies allow is looked at, suit by suit; void melds are not minded.
    """
    held, out = Counter(tiles), used([], melds)
    best = {(0, 0): 0}
    for suit in SUITS.replace(void or "-", ""):
        have = tuple(held[suit, rank] for rank in range(1, 10))
        room = tuple(4 - out[suit, rank] for rank in range(1, 10))
        costs = suit_costs(have, room, 4 - len(melds))
        joined: dict[tuple[int, int], int] = {}
        for (sets, pairs), cost in best.items():
            for (more, pair), extra in costs.items():
                key = (sets + more, pairs + pair)
                joined[key] = min(joined.get(key, 99), cost + extra)
        best = joined
    far = best.get((4 - len(melds), 1), 99)
    if not melds:
        pairs_best = {0: 0}
        for tile in ALL:
            if tile[0] == void:
                continue
            joined_pairs: dict[int, int] = {}
            for pairs, cost in pairs_best.items():
                for more in range(3):
                    total = cost + max(2 * more - held[tile], 0)
                    joined_pairs[pairs + more] = min(joined_pairs.get(pairs + more, 99), total)
            pairs_best = joined_pairs
        far = min(far, pairs_best[7])
    return far


def fan(
    tiles: list[Tile], melds: list[MeldOf], winner: Tile, golden: str = "any"
) -> tuple[int, list[dict[str, int]]]:
    """The most fan of any reading, no situation and no self-draw fan, and every list of items giving it."""
    every = used(tiles, melds)
    common = {"root": sum(count == 4 for count in every.values())}
    common["full-flush"] = 2 * (len({suit for suit, _ in every}) == 1)
    found = []
    for groups in readings(tiles, melds):
        for group in groups:
            if winner not in group:
                continue
            items = dict(common)
            if len(groups) == 7:
                items["seven-pairs"] = 2
            else:
                pungs = all(len(set(each)) == 1 for each in groups)
                items["all-pungs"] = int(pungs)
                allowed = {"any": True, "exposed": len(melds) == 4, "pungs": pungs}[golden]
                items["golden-wait"] = int(len(group) == 2 and allowed)
            found.append({name: value for name, value in items.items() if value})
    most = max(sum(items.values()) for items in found)
    return most, [items for items in found if sum(items.values()) == most]
