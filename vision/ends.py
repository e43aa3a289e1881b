"""Ends of four-color cards, and which two of them are one card.

An end is the framed glyph of a card, (4, 2) pixels from its own top-left, clockwise, so that its upper edge
looks to the tip of the card. Both ends of a card bear the same glyph: `join_ends` finds which two are one
card. Lengths are counted in widths and heights of the ends, as the photo foreshortens them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RANKS, COLOURS, JOKERS = "KAERHCP", "yrwg", "12345"

NEAREST = 0.6
"""Two ends of a card lie at least so many of their heights apart."""
SIDEWAYS, SIDEWAYS_FAR = 0.12, 0.06
"""How far an end may lie beside the axis of the other one, heights: at once, and for each height away."""
ASKEW = 0.18
"""How much two ends of a card may seem turned against each other, radians."""
STRETCH = 0.1
"""How much the distance between the ends of a card differs within a photo, as a share."""
MISREAD = 1e-4
"""How probable it is at least that two ends show the same card: one of them may be misread."""
TURNED = 2.5
"""How much it speaks against a card that one of its ends must have been seen upside-down: logarithms of how
sure the way up was, so many times, as ends in columns follow each other like those of a card."""
ALONE = 4.5
"""The price of an end that stands for a card by itself; two ends that cost more than twice as much together
are two cards."""
PARALLEL = math.radians(20)
"""What is turned so little looks the same way."""
WORDS = 2
"""So many cards with something in their middle, and all of the photo may have it."""


@dataclass(frozen=True)
class CardEnd:
    """An end as it was read. quad: (4, 2), see above. ranks: probability of each rank (`K` to `P`, jokers `1`
    to `5`), calibrated. colours: of each colour, as the end looks by itself; empty where nobody asked.
    upright, belief: how sure it is that it is this way up, and that an end is there, 0-1."""

    quad: Floats
    ranks: Mapping[str, float]
    colours: Mapping[str, float] = field(default_factory=dict)
    upright: float = 1.0
    belief: float = 1.0


@dataclass(frozen=True)
class Shape:
    """Ends as geometry. centre, up: (n, 2), `up` from lower to upper edge. wide, high: (n,) pixels."""

    centre: Floats
    up: Floats
    wide: Floats
    high: Floats

    @classmethod
    def of(cls, quads: Floats) -> Shape:
        top, bottom = quads[:, :2].mean(1), quads[:, 2:].mean(1)
        left, right = quads[:, [0, 3]].mean(1), quads[:, [1, 2]].mean(1)
        rise = top - bottom
        high = np.maximum(np.linalg.norm(rise, axis=1), 1e-6)
        wide = np.maximum(np.linalg.norm(right - left, axis=1), 1e-6)
        return cls(quads.mean(1), rise / high[:, None], wide, high)


def join_ends(
    quads: Floats, alike: Floats | None = None, upright: Floats | None = None
) -> list[tuple[int, ...]]:
    """Which ends belong to one card: tuples of one or two indices, each end in exactly one, in a fixed order.

    quads: (n, 4, 2). alike: (n, n), the probability that two ends show the same card. upright: (n,) how sure
    it is that the quad has the end the right way up, 1 by default. All cards of a photo are of one deck: the
    distance between the ends of a card, in heights of an end, is the same for all, however the camera
    foreshortens them.
    """
    count = len(quads)
    if count < 2:
        return [(i,) for i in range(count)]
    alike = np.ones((count, count)) if alike is None else alike
    shape = Shape.of(np.asarray(quads, float))
    between = shape.centre[None] - shape.centre[:, None]  # from i to j
    apart = np.linalg.norm(between, axis=2)
    high = (shape.high[:, None] + shape.high[None]) / 2
    ratio = apart / high
    # The other end lies where the card is: below this one, and looks the other way. Else it was turned.
    below = -(between * shape.up[:, None]).sum(2) / high
    sure = np.clip(np.ones(count) if upright is None else upright, 0.5, 1 - 1e-9)
    turned = np.where(below < 0, TURNED * np.log(sure / (1 - sure))[:, None], 0)
    way = np.where(below < 0, -1, 1)
    below = np.abs(below)
    beside = np.abs(between[..., 0] * shape.up[:, None, 1] - between[..., 1] * shape.up[:, None, 0]) / high
    facing = -(shape.up[:, None] * shape.up[None]).sum(2) * way * way.T
    askew = np.arccos(np.clip(facing, -1, 1))
    possible = (below > NEAREST) & (below.T > NEAREST) & (facing > 0.7)
    wobble = SIDEWAYS + SIDEWAYS_FAR * ratio
    cost = (beside**2 + beside.T**2) / (2 * wobble**2) + askew**2 / (2 * ASKEW**2)
    size = np.log(shape.wide[:, None] / shape.wide[None])
    cost += turned + turned.T
    cost += size**2 / (2 * 0.3**2) - np.log(np.maximum(alike, MISREAD))
    cost = np.where(possible, cost, np.inf)
    length = _usual_ratio(ratio, cost)
    if length is None:
        return [(i,) for i in range(count)]
    cost = cost + np.log(np.maximum(ratio, 1e-6) / length) ** 2 / (2 * STRETCH**2)
    return _pairs(cost)


def turn_apart(quads: Floats, cards: Sequence[tuple[int, ...]]) -> Floats:
    """The quads with both ends of each card looking away from each other."""
    quads = quads.copy()
    ups = Shape.of(quads).up
    for one, other in (card for card in cards if len(card) == 2):
        for end, away in ((one, other), (other, one)):
            if (quads[end].mean(0) - quads[away].mean(0)) @ ups[end] < 0:
                quads[end] = np.roll(quads[end], 2, axis=0)
    return quads


def _usual_ratio(ratio: Floats, cost: Floats) -> float | None:
    """The distance between the ends of a card that most pairs agree on; of two the smaller one."""
    pairs = np.argwhere(np.triu(np.isfinite(cost) & (cost < 2 * ALONE), 1))
    if not len(pairs):
        return None
    logs = np.log(ratio[pairs[:, 0], pairs[:, 1]])
    weights = np.exp(-cost[pairs[:, 0], pairs[:, 1]] / 2)
    support = (np.exp(-((logs[:, None] - logs[None]) ** 2) / (2 * STRETCH**2)) * weights[None]).sum(1)
    good = np.flatnonzero(support > 0.6 * support.max())
    first = good[np.argmin(logs[good])]
    near = np.abs(logs - logs[first]) < 2 * STRETCH
    return float(np.exp(np.average(logs[near], weights=weights[near] + 1e-9)))


def _pairs(cost: Floats) -> list[tuple[int, ...]]:
    """The cheapest way to pair ends, where an end may also stay alone."""
    close = np.isfinite(cost) & (cost < 2 * ALONE)
    taken: dict[int, int] = {}
    for part in components(np.where(close | close.T, 0, np.inf)):
        taken |= {part[i]: part[j] for i, j in _pairs_within(cost[np.ix_(part, part)]).items()}
    return [(i, taken[i]) if i in taken else (i,) for i in range(len(cost)) if taken.get(i, i) >= i]


def _pairs_within(cost: Floats) -> dict[int, int]:
    """The same for a few ends that may belong together: partners, both ways."""
    count = len(cost)
    if count < 3:
        return {0: 1, 1: 0} if count == 2 else {}
    table = np.where(np.isfinite(cost), cost / 2, 1e6)
    table[np.arange(count), np.arange(count)] = ALONE
    chosen = _assign(table)
    # The assignment may run in rings; a ring is settled by its cheapest pairs.
    wanted = sorted(
        ((cost[i, j], i, int(j)) for i, j in enumerate(chosen) if i != j and cost[i, j] < 2 * ALONE),
        key=lambda pair: (pair[0], pair[1]),
    )
    taken: dict[int, int] = {}
    for _, i, j in wanted:
        if i not in taken and j not in taken:
            taken[i], taken[j] = j, i
    return taken


def _assign(cost: Floats) -> NDArray[np.int64]:
    """The cheapest assignment of rows to columns of a square table (Hungarian method, exact)."""
    count = len(cost)
    row_price, column_price = np.zeros(count + 1), np.zeros(count + 1)
    owner, way = np.zeros(count + 1, int), np.zeros(count + 1, int)
    for row in range(1, count + 1):
        owner[0], column = row, 0
        least, used = np.full(count + 1, np.inf), np.zeros(count + 1, bool)
        while True:
            used[column] = True
            slack = cost[owner[column] - 1] - row_price[owner[column]] - column_price[1:]
            better = ~used[1:] & (slack < least[1:])
            least[1:][better] = slack[better]
            way[1:][better] = column
            nearest = int(np.argmin(np.where(used[1:], np.inf, least[1:]))) + 1
            step = least[nearest]
            row_price[owner[used]] += step
            column_price[used] -= step
            least[~used] -= step
            column = nearest
            if owner[column] == 0:
                break
        while column:
            owner[column], column = owner[way[column]], way[column]
    result = np.zeros(count, np.int64)
    result[owner[1:] - 1] = np.arange(count)
    return result


def components(near: Floats) -> list[list[int]]:
    """Cards that are neighbours, directly or not."""
    left = set(range(len(near)))
    parts = []
    while left:
        part, border = [], [min(left)]
        left -= set(border)
        while border:
            here = border.pop()
            part.append(here)
            found = sorted(each for each in left if np.isfinite(near[here, each]))
            left -= set(found)
            border += found
        parts.append(sorted(part))
    return parts


def middles(quads: Floats, cards: Sequence[tuple[int, ...]]) -> set[int]:
    """Ends that are none, but a word or an ornament in the middle of a card: they stand right between its two
    ends. In a photo with several of these, also what stands so far below a card's only end.
    """
    pairs = [card for card in cards if len(card) == 2]
    single = [card[0] for card in cards if len(card) == 1]
    if not pairs or not single:
        return set()
    shape = Shape.of(quads)
    first, second = (shape.centre[[card[k] for card in pairs]] for k in (0, 1))
    halves = (first - second) / 2
    found = _standing_at(shape, single, (first + second) / 2, halves)
    if len(found) >= WORDS:
        high = shape.high[[end for card in pairs for end in card]].reshape(-1, 2).mean(1)
        half = float(np.median(np.linalg.norm(halves, axis=1) / high))
        alone = [end for end in single if end not in found]
        below = -shape.up[alone] * (half * shape.high[alone])[:, None]
        found |= _standing_at(shape, alone, shape.centre[alone] + below, below)
    return found


def _standing_at(shape: Shape, ends: Sequence[int], places: Floats, ways: Floats) -> set[int]:
    """Those of the ends that stand at one of the places (m, 2), along the way (m, 2) from there to an end of
    the card.
    """
    length = np.maximum(np.linalg.norm(ways, axis=1), 1e-6)
    way = ways / length[:, None]
    found = set()
    for end in ends:
        off = shape.centre[end] - places
        along, across = np.abs((off * way).sum(1)), np.abs(off[:, 0] * way[:, 1] - off[:, 1] * way[:, 0])
        straight = np.abs(way @ shape.up[end]) > math.cos(PARALLEL)
        room = length > shape.high[end] * NEAREST
        near = (along < 0.2 * shape.high[end]) & (across < 0.2 * shape.wide[end])
        if (near & straight & room).any():
            found.add(end)
    return found
