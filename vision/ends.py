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
SKEWED, SKEWED_NEAR, IN_DOUBT = 0.025, 0.012, 0.2
"""How far both ends of a card look past each other to the same side, radians: at least, so much more
divided by the heights between them, and so much more as one of them is surely none. Neighbours in a row
that show the same card, each at one end only, do so by 0.1 and more.
"""
ASKEW = 0.18
"""How much two ends of a card may seem turned against each other, radians."""
BENT = 2.0
"""From how much on it counts less that only one of two ends does not look to the other one."""
STRETCH = 0.1
"""How much the distance between the ends of a card differs within a photo, as a share."""
MISREAD = 0.0003
"""How probable it is at least that two ends show the same card: one of them may be misread."""
TURNED = 1.0
"""How much it speaks against a card that one of its ends must have been seen upside-down: logarithms of how
sure the way up was, so many times."""
LYING, UNKNOWN = 4.0, 0.08
"""How much it speaks against a card that one of its ends must have been seen lying on its side; and how
probable it then is that both show the same card."""
ALONE, IN_COLUMN = 4.5, 1.0
"""The price of an end that stands for a card by itself, elsewhere and in a column; two ends that cost more
together are two cards."""
NEW_LENGTH, TELLING = 2.0, 6.0
"""How much must be gained by joining ends at all; and the price of two ends that stand alone, as far as they
tell how long cards are."""
USUAL_LENGTH, LENGTH_SPREAD = math.log(3.0), 0.9
"""How far apart the ends of decks usually are, and how much decks differ, logarithms of heights."""
WORD = 2.0
"""The price of an end that may be printed in the middle of another one's card."""
LENGTHS = 5
"""How many distances between the ends of a card are tried at most."""
SLOPED, FLAT = 4, 3.0
"""So many cards tell how that distance grows across the photo; and how many it takes that it does at all."""
BETWEEN, MIDDLE, ASTRIDE = 0.9, 0.25, 0.6
"""An end that stands on another card: so many heights from its ends, as near to its middle when it is printed
there, and so many widths beside its axis."""
COLUMN = 0.45, 2.3
"""How far below an end the next one of a column stands, heights."""
VOTE, VOTERS = 2.5, 4.0
"""How much each other end of a column tells which way up one is, logarithms, and how far away it may be,
heights."""
BLOCKED, PRINTED = 4.0, 1.0
"""How much it speaks against a card that an end stands on it and covers neither of its ends, logarithms: so
much more than the odds that the end is one, and in the middle so much less."""
BESIDE, ONE_SIZE, TIP = (0.95, 2.7), 0.3, 0.9
"""How far an end may stand above or below one that it lies beside, heights, and beside it, widths; how much
larger one of them may be, logarithms; and how far a card reaches beyond its ends, heights."""
IN_ROW = (0.6, 0.25, 1.08)
"""How far above or below an end its neighbour in a row or fan stands at most, heights, and beside it, widths,
at least and at most: their cards overlap or touch."""
ON_CARD, ON_AXIS, SEEMS_PRINTED = 0.75, 0.25, 0.8
"""What is printed on a card stands so many heights from its ends at least, so many widths beside its axis at
most; and half of what a photo shows there is believed to be ends no more than this."""
PARALLEL = math.radians(20)
"""What is turned so little looks the same way."""
FOOT, FOOT_BESIDE, FOOT_TURNED = (0.75, 1.4), 0.35, math.radians(30)
"""Where the other end of a card lies of which but a part shows: so many lengths of a card below its only
end, so many widths beside its axis, turned so much from looking the other way. So lie in 272 scenes 21 ends
that are no other card's, and one that is.
"""
MUCH_LESS, ONE_CARD = 0.85, 0.3
"""Such an end shows less than that share of the other, by its belief and width, or both are one card with
this probability."""
IN_MIDDLE = 0.35, 0.2
"""How far along a card, in heights of an end, and beside its axis, in widths, what is printed in its middle
may seem to stand off it: what is nearer looks longer.
"""
WAY_KNOWN = 0.9
"""An end that stands alone looks the way it seems to when that is so sure."""
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

    @property
    def sizes(self) -> Floats:
        """How large they are, (n,): the logarithm of a side of a square as large."""
        return np.asarray(np.log(self.wide * self.high) / 2)


def join_ends(
    quads: Floats,
    alike: Floats | None = None,
    upright: Floats | None = None,
    belief: Floats | None = None,
) -> list[tuple[int, ...]]:
    """Which ends belong to one card: tuples of one or two indices, each end in exactly one, in a fixed order.

    quads: (n, 4, 2). alike: (n, n), the probability that two ends show the same card. upright, belief: (n,)
    how sure it is that the quad has the end the right way up, and that an end is there, 1 by default. All
    cards of a photo are of one deck: the distance between the ends of a card, in heights of an end, is the
    same for all, however the camera foreshortens them, but for a little that grows across the photo.
    """
    count = len(quads)
    if count < 2:
        return [(i,) for i in range(count)]
    shape = Shape.of(np.asarray(quads, float))
    alike = np.ones((count, count)) if alike is None else alike
    upright, belief = (np.ones(count) if each is None else each for each in (upright, belief))
    ratio, cost = _pair_costs(shape, alike, upright, belief)
    cost += _blocked(shape, cost, belief)
    alone = np.where(_in_column(shape), IN_COLUMN, ALONE)
    length = _usual_ratio(shape, ratio, cost, alone, belief)
    if length is None:
        return [(i,) for i in range(count)]
    logs = np.log(np.maximum(ratio, 1e-6))
    cards = _pairs(cost + (logs - math.log(length)) ** 2 / (2 * STRETCH**2), alone)
    pairs = [card for card in cards if len(card) == 2]
    if len(pairs) < SLOPED:
        return cards
    expected = _sloped(shape, logs, pairs)
    return _pairs(cost + (logs - expected) ** 2 / (2 * STRETCH**2), alone)


def _pair_costs(shape: Shape, alike: Floats, upright: Floats, belief: Floats) -> tuple[Floats, Floats]:
    """How far any two ends lie apart in their heights, (n, n), and how much speaks against their being one
    card, (n, n), whatever the length of cards; infinite where they cannot be.
    """
    between = shape.centre[None] - shape.centre[:, None]  # from i to j
    apart = np.linalg.norm(between, axis=2)
    # The other end lies where the card is: below this one. Else this one was turned, by so many quarters.
    below = -(between * shape.up[:, None]).sum(2)
    aside = between[..., 0] * shape.up[:, None, 1] - between[..., 1] * shape.up[:, None, 0]
    angle = np.arctan2(aside, below)
    quarters = np.round(angle / (math.pi / 2)).astype(int)
    off = angle - quarters * (math.pi / 2)
    lying, over = quarters % 2 == 1, np.abs(quarters) == 2
    sides = np.where(lying, shape.wide[:, None], shape.high[:, None])
    high = (sides + sides.T) / 2
    ratio = apart / high
    sure = np.clip(upright, 0.5, 1 - 1e-9)
    turned = np.where(over, TURNED * np.log(sure / (1 - sure))[:, None], 0) + np.where(lying, LYING, 0)
    beside, askew = ratio * np.sin(off), off - off.T
    possible = (ratio * np.cos(off) > NEAREST) & (np.abs(askew) < math.pi / 4) & ~(lying & lying.T)
    possible &= possible.T
    wobble = SIDEWAYS + SIDEWAYS_FAR * ratio
    astray = beside**2 / (2 * wobble**2)
    past = np.where(off * off.T > 0, np.minimum(np.abs(off), np.abs(off.T)), 0)
    doubt = 1 - np.minimum(belief[:, None], belief)
    skewed = past**2 / (2 * (SKEWED + SKEWED_NEAR / np.maximum(ratio, NEAREST) + IN_DOUBT * doubt) ** 2)
    # The corners of one of the two may be off, and its axis with them.
    bent = np.maximum(astray, astray.T) + askew**2 / (2 * ASKEW**2)
    cost = skewed + np.minimum(bent, BENT + np.log1p(np.maximum(bent - BENT, 0)))
    across = np.where(lying, shape.high[:, None], shape.wide[:, None])
    cost += turned + turned.T + np.log(across / across.T) ** 2 / (2 * 0.3**2)
    # What was read of an end that lies on its side tells nothing.
    cost -= np.log(np.maximum(alike, np.where(lying | lying.T, UNKNOWN, MISREAD)))
    return ratio, np.where(possible, cost, np.inf)


def _blocked(shape: Shape, cost: Floats, belief: Floats) -> Floats:
    """How much it speaks against two ends being one card, (n, n), that others stand between them: a card that
    lies on it there, along it and as long, would cover one of the two. Only what is printed in the middle of
    a card may stand in its middle; that is rarely taken for a sure end.
    """
    against = np.zeros_like(cost)
    first, second = np.nonzero(np.triu(cost < 2 * ALONE, 1))
    if not len(first):
        return against
    way = shape.centre[second] - shape.centre[first]
    far = np.linalg.norm(way, axis=1)[:, None]
    way = way / far
    off = shape.centre[None] - shape.centre[first][:, None]
    along = (off * way[:, None]).sum(2)
    across = np.abs(off[..., 0] * way[:, None, 1] - off[..., 1] * way[:, None, 0])
    margin = BETWEEN * shape.high
    within = (along > margin) & (along < far - margin)
    within &= (across < ASTRIDE * shape.wide) & (np.abs(way @ shape.up.T) > math.cos(PARALLEL))
    amid = np.abs(along - far / 2) < MIDDLE * shape.high
    doubt = np.clip(belief, 1e-3, 1 - 1e-3)
    sure = np.log(doubt / (1 - doubt))
    price = np.where(amid, np.maximum(sure - PRINTED, 0), np.maximum(sure + BLOCKED, 0))
    against[first, second] = against[second, first] = (within * price).sum(1)
    return against


def turn_apart(quads: Floats, cards: Sequence[tuple[int, ...]]) -> Floats:
    """The quads with both ends of each card looking away from each other."""
    turns = quarters_off(quads, cards)
    corners = (np.arange(4) - turns[:, None]) % 4
    return np.asarray(np.take_along_axis(quads, corners[..., None], 1))


def quarters_off(quads: Floats, cards: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """How many quarters to the left each end must be turned, (n,), to look away from the other one of its
    card.
    """
    turns = np.zeros(len(quads), np.int64)
    pairs = np.array([card for card in cards if len(card) == 2], np.int64).reshape(-1, 2)
    if len(pairs):
        ends, others = np.concatenate([pairs, pairs[:, ::-1]]).T
        up = Shape.of(quads[ends]).up
        away = quads[ends].mean(1) - quads[others].mean(1)
        left = away[:, 0] * up[:, 1] - away[:, 1] * up[:, 0]
        turns[ends] = np.round(np.arctan2(left, (away * up).sum(1)) / (math.pi / 2)).astype(int) % 4
    return turns


def _usual_ratio(shape: Shape, ratio: Floats, cost: Floats, alone: Floats, belief: Floats) -> float | None:
    """The distance between the ends of a card that explains best what is seen, None where no two ends are to
    be one card. alone: the price of each end (n,) for standing alone.
    """
    first, second = np.nonzero(np.triu(cost < alone[:, None] + alone[None], 1))
    if not len(first):
        return None
    logs = np.log(ratio[first, second])
    weights = np.exp(-cost[first, second] / 2)
    support = (np.exp(-((logs[:, None] - logs[None]) ** 2) / (2 * STRETCH**2)) * weights[None]).sum(1)
    worth = np.minimum(alone[first] + alone[second], TELLING) - cost[first, second]
    both = np.sqrt(belief[first] * belief[second])
    middle = _in_middle(shape, first, second)
    best, found = NEW_LENGTH, None
    for _ in range(LENGTHS):
        peak = int(np.argmax(support))
        if support[peak] <= 0:
            break
        near = np.abs(logs - logs[peak]) < 2 * STRETCH
        length = float(np.average(logs[near], weights=weights[near] + 1e-9))
        gain = np.maximum(worth - (logs - length) ** 2 / (2 * STRETCH**2), 0) * both
        each = np.zeros(len(cost))
        for ends in (first, second):
            np.maximum.at(each, ends, gain / 2)
        word = middle[gain > 0].any(0)
        each = np.maximum(each, np.where(word, (alone - WORD) * belief, 0))
        total = float(each.sum()) - (length - USUAL_LENGTH) ** 2 / (2 * LENGTH_SPREAD**2)
        if total > best:
            best, found = total, math.exp(length)
        support[near] = 0
    return found


def _in_middle(shape: Shape, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which ends, (m, n), stand right between the two of each pair (m,)."""
    way = shape.centre[second] - shape.centre[first]
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-6)
    off = shape.centre[None] - ((shape.centre[first] + shape.centre[second]) / 2)[:, None]
    along = np.abs((off * way[:, None]).sum(2))
    across = np.abs(off[..., 0] * way[:, None, 1] - off[..., 1] * way[:, None, 0])
    straight = np.abs(way @ shape.up.T) > math.cos(PARALLEL)
    return (along < MIDDLE * shape.high) & (across < MIDDLE * shape.wide) & straight


def _in_column(shape: Shape) -> NDArray[np.bool_]:
    """Which ends, (n,), are among three or more that look the same way, each right below another."""
    along, across = seen_from(shape, shape.centre)
    over = (along > COLUMN[0]) & (along < COLUMN[1]) & (across < ASTRIDE)
    over &= shape.up @ shape.up.T > math.cos(PARALLEL)
    amid = over.any(0) & over.any(1)
    return np.asarray(amid | over[amid].any(0) | over[:, amid].any(1))


def seen_from(shape: Shape, places: Floats) -> tuple[Floats, Floats]:
    """How far below each end, in its heights, and beside it, in its widths, places (m, 2) lie: (m, n)."""
    off = shape.centre[None] - places[:, None]
    along = (off * shape.up[None]).sum(2) / shape.high
    across = np.abs(off[..., 0] * shape.up[:, 1] - off[..., 1] * shape.up[:, 0]) / shape.wide
    return along, across


def _sloped(shape: Shape, logs: Floats, pairs: Sequence[tuple[int, ...]]) -> Floats:
    """The logarithm of the distance between the ends of a card, (n, n), that grows across the photo as it
    does for those joined: what lies further away is foreshortened more.
    """
    first, second = np.array(pairs).T
    centre = (shape.centre[:, None] + shape.centre[None]) / 2
    middle, spread = shape.centre.mean(0), max(float(shape.centre.std()), 1e-6)
    there = np.concatenate([np.ones((*logs.shape, 1)), (centre - middle) / spread], 2)
    known, seen = there[first, second], logs[first, second]
    usual = np.median(seen)
    seen = np.clip(seen - usual, -2 * STRETCH, 2 * STRETCH)
    held = np.diag([1e-6, 1, 1]) * FLAT
    return np.asarray(usual + there @ np.linalg.solve(known.T @ known + held, known.T @ seen))


def _pairs(cost: Floats, alone: Floats) -> list[tuple[int, ...]]:
    """The cheapest way to pair ends, where an end may also stay alone, at a price (n,)."""
    close = cost < alone[:, None] + alone[None]
    taken: dict[int, int] = {}
    for part in components(np.where(close | close.T, 0, np.inf)):
        within = _pairs_within(cost[np.ix_(part, part)], alone[part])
        taken |= {part[i]: part[j] for i, j in within.items()}
    return [(i, taken[i]) if i in taken else (i,) for i in range(len(cost)) if taken.get(i, i) >= i]


def _pairs_within(cost: Floats, alone: Floats) -> dict[int, int]:
    """The same for a few ends that may belong together: partners, both ways."""
    count = len(cost)
    if count < 3:
        return {0: 1, 1: 0} if count == 2 else {}
    table = np.where(np.isfinite(cost), cost / 2, 1e6)
    table[np.arange(count), np.arange(count)] = alone
    chosen = _assign(table)
    # The assignment may run in rings; a ring is settled by its cheapest pairs.
    wanted = [(cost[i, j], i, int(j)) for i, j in enumerate(chosen) if i != j]
    wanted = sorted(pair for pair in wanted if pair[0] < alone[pair[1]] + alone[pair[2]])
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
    ends. In a photo with several of these, also what stands so far below a card's only end; but in a column
    there stands the end of another card.
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
        column = _in_column(shape)
        alone = [end for end in single if end not in found and not column[end]]
        below = -shape.up[alone] * (half * shape.high[alone])[:, None]
        found |= _standing_at(shape, alone, shape.centre[alone] + below, below)
    return found


def words_on_cards(
    quads: Floats, cards: Sequence[tuple[int, ...]], belief: Floats, seen: Sequence[int], upright: Floats
) -> set[int]:
    """Ends that are none, but words all along cards that lie in a row or fan: they stand right below an end
    that was `seen`, no further than its card reaches. So do ends in columns that lie side by side, but those
    look like ends: words hardly do. belief, upright: as in `join_ends`.
    """
    shape = Shape.of(quads)
    length = length_of(shape, cards) or math.exp(USUAL_LENGTH)
    below, across = in_own_measure(quads)
    card_of = _card_of(len(quads), cards)
    every, pairs = np.arange(len(quads)), [end for card in cards if len(card) == 2 for end in card]
    known = np.isin(every, seen) & ((upright > WAY_KNOWN) | np.isin(every, pairs))
    other = card_of[:, None] != card_of[None]
    alike = np.abs(np.log(shape.wide[:, None] / shape.wide[None])) < ONE_SIZE
    facing = shape.up @ shape.up.T
    beside = (np.abs(below) < IN_ROW[0]) & (across > IN_ROW[1]) & (across < IN_ROW[2])
    beside &= other & alike & (facing > math.cos(PARALLEL))
    in_row = known & beside[:, known].any(1)
    on = (below > ON_CARD) & (below < length - ON_CARD) & (across < ON_AXIS)
    on &= other & (np.abs(facing) > math.cos(PARALLEL)) & (belief[:, None] > belief)
    words = np.flatnonzero(on[in_row].any(0))
    if len(words) and np.median(belief[words]) > SEEMS_PRINTED:
        return set()
    return set(words.tolist())


def in_own_measure(quads: Floats) -> tuple[Floats, Floats]:
    """How far below each end, in its heights, and beside it, in its widths, the others stand, (n, n), as the
    photo foreshortens it: unlike `seen_from` also aslant.
    """

    def cross(a: Floats, b: Floats) -> Floats:
        return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])

    wide = quads[:, [1, 2]].mean(1) - quads[:, [0, 3]].mean(1)
    down = quads[:, [2, 3]].mean(1) - quads[:, [0, 1]].mean(1)
    area = np.maximum(cross(wide, down), 1e-6)[:, None]
    off = quads.mean(1)[None] - quads.mean(1)[:, None]
    return cross(wide[:, None], off) / area, np.abs(cross(off, down[:, None]) / area)


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
        near = (along < IN_MIDDLE[0] * shape.high[end]) & (across < IN_MIDDLE[1] * shape.wide[end])
        if (near & straight & room).any():
            found.add(end)
    return found


def upside_down(quads: Floats, cards: Sequence[tuple[int, ...]], upright: Floats) -> list[int]:
    """Ends that stand alone in a column and were seen the wrong way up, as others there tell. upright: (n,)
    how sure the way up was.
    """
    shape = Shape.of(quads)
    along, across = seen_from(shape, shape.centre)
    near = (np.abs(along) > COLUMN[0]) & (np.abs(along) < VOTERS) & (across < ASTRIDE)
    alone = np.array([card[0] for card in cards if len(card) == 1], int)
    near = near[np.ix_(alone, alone)]
    sure = np.clip(upright[alone], 0.5, 1 - 1e-9)
    doubt, way = np.log(sure / (1 - sure)), np.ones(len(alone))
    for _ in range(2):  # those that were turned vote anew
        facing = (shape.up[alone] * way[:, None]) @ (shape.up[alone] * way[:, None]).T
        alike = near & (facing > math.cos(PARALLEL))
        # One that has nobody on its side does not vote.
        against = near & (facing < -math.cos(PARALLEL)) & alike.any(1)
        votes = against.sum(1) - alike.sum(1)
        way[(votes > 0) & (votes * VOTE > doubt)] = -1
    return [int(end) for end in alone[way < 0]]


def in_company(quads: Floats, cards: Sequence[tuple[int, ...]], seen: Sequence[int]) -> NDArray[np.int64]:
    """How many of the ends `seen`, of other cards, lie beside, above or below each end, (n,), look the same
    way and are as large.
    """
    shape = Shape.of(quads)
    near = next_to(shape, shape.centre) & (shape.up @ shape.up.T > math.cos(PARALLEL))
    near &= np.abs(np.log(shape.wide[:, None] / shape.wide[None])) < ONE_SIZE
    card_of = _card_of(len(quads), cards)
    near &= card_of[:, None] != card_of[None]
    return np.asarray(near[:, seen].sum(1))


def next_to(shape: Shape, places: Floats) -> NDArray[np.bool_]:
    """Which places (m, 2) lie beside, above or below which ends, (m, n)."""
    along, across = seen_from(shape, places)
    along = np.abs(along)
    return (along < BESIDE[0]) & (across < BESIDE[1]) | (along < COLUMN[1]) & (across < ASTRIDE)


def feet(quads: Floats, cards: Sequence[tuple[int, ...]], belief: Floats, alike: Floats) -> set[int]:
    """Ends of cards of which another end shows better: both stand alone, as little of one is in sight and its
    corners are off, but one lies where the other's card ends, and looks the other way. Either shows much less
    than the other, or both show the same card. belief: (n,) 0-1. alike: as in `join_ends`.
    """
    single = np.array([card[0] for card in cards if len(card) == 1], int)
    length = length_of(Shape.of(quads), cards)
    if length is None or len(single) < 2:
        return set()
    alone = Shape.of(quads[single])
    off = alone.centre[None] - alone.centre[:, None]
    below = -(off * alone.up[:, None]).sum(2) / alone.high[:, None] / length
    beside = off[..., 0] * alone.up[:, None, 1] - off[..., 1] * alone.up[:, None, 0]
    at_foot = (below > FOOT[0]) & (below < FOOT[1]) & (alone.up @ alone.up.T < -math.cos(FOOT_TURNED))
    at_foot &= np.abs(beside) < FOOT_BESIDE * alone.wide[:, None]
    shown = belief[single] * alone.wide
    much_less = shown[None] < MUCH_LESS * shown[:, None]
    worse = much_less | (shown[None] < shown[:, None]) & (alike[np.ix_(single, single)] > ONE_CARD)
    # One may also see only that this one lies at its foot, and not the other way round.
    found = (at_foot & worse).any(0) | (at_foot & worse.T).any(1)
    return set(single[found].tolist())


def length_of(shape: Shape, cards: Sequence[tuple[int, ...]]) -> float | None:
    """How far apart the two ends of a card usually lie, heights of an end; None where no card shows both."""
    pairs = [card for card in cards if len(card) == 2]
    if not pairs:
        return None
    first, second = np.array(pairs).T
    apart = np.linalg.norm(shape.centre[first] - shape.centre[second], axis=1)
    return float(np.median(apart / (shape.high[first] + shape.high[second]) * 2))


def lie_bare(
    quads: Floats, cards: Sequence[tuple[int, ...]], seen: Sequence[int], size: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Of each end, (n,), whether its card lies bare: its other end should show too, as that lies in the photo
    and under no other card whose ends were `seen`. None does where no card tells how long cards are. size:
    height and width of the photo, pixels.
    """
    bare, shape = np.zeros(len(quads), bool), Shape.of(quads)
    length = length_of(shape, cards)
    if length is None:
        return bare
    place = shape.centre - length * shape.high[:, None] * shape.up
    along, across = seen_from(shape, place)
    over = (along > -TIP) & (along < length + TIP) & (across < ASTRIDE)
    card_of = _card_of(len(quads), cards)
    over &= card_of[:, None] != card_of[None]
    within = (place > 0).all(1) & (place < size[1::-1]).all(1)
    return np.asarray(within & ~over[:, seen].any(1))


def _card_of(count: int, cards: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """To which card each end belongs, (count,); below 0 to none."""
    card_of = np.full(count, -1)
    for number, card in enumerate(cards):
        card_of[list(card)] = number
    return card_of
