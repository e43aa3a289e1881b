"""Fans, rows and columns of four-color cards: which cards lie in a line, in what order, and where melds are
set apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from companion.hand import MELD_KINDS, HandError, Meld
from companion.pieces import Piece
from vision.ends import Floats, Shape, components, length_of

BESIDE, BELOW = 2.7, 2.3
"""How far apart neighbours lie at most: side by side, in widths, and in a column, in heights."""
FAN, CLEARLY = math.radians(20), 2.0
"""Cards that turn so much from the first to the last lie like a fan; so many times as much, and they are one
whatever its gaps."""
GAP, GAP_BLUR = 1.17, 0.06
"""Melds lie so many widths apart, from centre to centre, or more; cards within one, or in a hand, nearer."""
WIDER = 1.18
"""In a long line a gap is so many times wider than usual."""
MELD, NO_MELD, PARTED = 1.5, -4.0, -1.5
"""Logarithms: how much it speaks for a short part that its cards make a meld, or against it that they make
none; and against each gap."""
MOST_IN_MELD = 4


@dataclass(frozen=True)
class Line:
    """Cards that lie in a fan, a row or a column, in order.

    cards: indices, from the left as seen with the tips up, in a column from the uppermost. steps: from each
    to the next, widths. up: where its tips look, pixels of the photo.
    """

    cards: tuple[int, ...]
    steps: tuple[float, ...]
    up: tuple[float, float]
    is_column: bool
    is_fan: bool = False

    def part(self, start: int, end: int) -> Line:
        return Line(self.cards[start:end], self.steps[start : end - 1], self.up, self.is_column)

    def without(self, cards: Set[int]) -> Line:
        """The line of the other cards."""
        left = [place for place, card in enumerate(self.cards) if card not in cards]
        steps = tuple(sum(self.steps[one:other]) for one, other in pairwise(left))
        return replace(self, cards=tuple(self.cards[place] for place in left), steps=steps)


def find_lines(quads: Floats, cards: Sequence[tuple[int, ...]]) -> list[Line]:
    """The lines in which cards lie, the longest first. cards: indices of each one's ends (`join_ends`)."""
    if not cards:
        return []
    shape = Shape.of(np.asarray(quads, float))
    near, down = _neighbours(shape, cards)
    length = length_of(shape, cards)
    lines = [_line(shape, cards, part, near, down, length) for part in components(near)]
    return sorted(lines, key=lambda line: (-len(line.cards), line.cards))


def _neighbours(shape: Shape, cards: Sequence[tuple[int, ...]]) -> tuple[Floats, NDArray[np.bool_]]:
    """How far neighbouring cards lie apart, (n, n), infinite for others; and which pairs lie in a column."""
    way = shape.centre[None] - shape.centre[:, None]  # from i to j
    axis = shape.up[:, None] + shape.up[None]
    length = np.linalg.norm(axis, axis=2)
    axis /= np.maximum(length, 1e-6)[..., None]
    along = (way * axis).sum(2) / ((shape.high[:, None] + shape.high[None]) / 2)
    across = np.abs(way[..., 0] * axis[..., 1] - way[..., 1] * axis[..., 0])
    across /= (shape.wide[:, None] + shape.wide[None]) / 2
    card_of = np.empty(len(shape.centre), int)
    for number, ends in enumerate(cards):
        card_of[list(ends)] = number
    single = np.array([len(ends) == 1 for ends in cards])[card_of]
    # In a column the upper card shows one end only: the next one lies on the other.
    upper_single = np.where(along > 0, single[None], single[:, None])
    column = (across < 0.7) & (np.abs(along) > 0.45) & (np.abs(along) < BELOW) & upper_single
    beside = (np.abs(along) < 0.95) & (across < BESIDE)
    # Ends that look the same way, of two cards.
    usable = (length > 1.86) & (card_of[:, None] != card_of[None])
    column &= usable & (np.abs(along) > across)
    # What stands in a column belongs to it, not to what lies beside it.
    stands = np.zeros(len(cards), bool)
    stands[card_of[column.any(1)]] = True
    beside &= ~(stands[card_of][:, None] | stands[card_of][None])
    usable &= column | beside
    far = np.where(usable, np.hypot(along, across), np.inf)
    count = len(cards)
    near = np.full((count, count), np.inf)
    down = np.zeros((count, count), bool)
    order = np.argsort(-far, axis=None)  # the nearest pair of ends of two cards is written last
    i, j = np.unravel_index(order[np.isfinite(far.ravel()[order])], far.shape)
    near[card_of[i], card_of[j]] = far[i, j]
    down[card_of[i], card_of[j]] = column[i, j]
    return near, down


def _line(
    shape: Shape,
    cards: Sequence[tuple[int, ...]],
    part: list[int],
    near: Floats,
    down: NDArray[np.bool_],
    length: float | None,
) -> Line:
    order = _chain(part, near)
    is_column = sum(down[a, b] for a, b in pairwise(order)) > (len(order) - 1) / 2
    if not is_column:
        order = _along_arc(shape, cards, order, length)
    sides = _sides(shape, cards, order)
    ups = [_mean_up(shape, side) for side in sides]
    looking = np.array([_looking(shape, sides, place) for place in range(len(order))])
    middles = np.array([_middle(shape, cards[card], None if is_column else length) for card in order])
    travel = np.diff(middles, axis=0)
    turn = looking[:-1, 0] * looking[1:, 1] - looking[:-1, 1] * looking[1:, 0]
    # To the right as a card looks that is between the two, in the photo.
    right = np.stack([-(looking[:-1, 1] + looking[1:, 1]), looking[:-1, 0] + looking[1:, 0]], 1)
    ahead = (travel * right).sum(1)
    opening = float((np.arcsin(np.clip(turn, -1, 1)) * np.sign(ahead)).sum())
    if not is_column and abs(opening) > FAN:
        outer = int(opening < 0)  # a fan opens outwards
    elif min(map(len, sides)) == 0 or (is_column and len(sides[0]) != len(sides[1])):
        outer = int(len(sides[1]) > len(sides[0]))
    else:
        outer = int(ups[1][1] < ups[0][1])  # towards the top of the photo
    up = ups[outer]
    seen = [_place(shape, cards[card], up, None if is_column else length) for card in order]
    forward = float((seen[-1] - seen[0]) @ -up) if is_column else float(ahead.sum()) * (1 - 2 * outer)
    if forward < 0:
        order, seen = order[::-1], seen[::-1]
    wide = [float(np.mean([shape.wide[i] for i in cards[card]])) for card in order]
    steps = tuple(
        float(np.linalg.norm(b - a)) / ((wide[k] + wide[k + 1]) / 2)
        for k, (a, b) in enumerate(pairwise(seen))
    )
    fan = len(order) > MOST_IN_MELD and abs(opening) > CLEARLY * FAN
    return Line(tuple(order), steps, (float(up[0]), float(up[1])), bool(is_column), bool(fan))


def _looking(shape: Shape, sides: tuple[dict[int, int], dict[int, int]], place: int) -> Floats:
    """Where the first side of a line looks at one of its cards."""
    first, second = sides
    return np.asarray(shape.up[first[place]] if place in first else -shape.up[second[place]])


def _along_arc(
    shape: Shape, cards: Sequence[tuple[int, ...]], order: list[int], length: float | None
) -> list[int]:
    """Cards of a fan in the order of their angles around the point where they are held, those of a row as
    they follow each other along it: some stick out, and then neighbours are not the nearest.
    """
    sides = _sides(shape, cards, order)
    looking = np.array([_looking(shape, sides, place) for place in range(len(order))])
    middles = np.array([_middle(shape, cards[card], length) for card in order])
    turn = looking[:-1, 0] * looking[1:, 1] - looking[:-1, 1] * looking[1:, 0]
    if abs(float(np.arcsin(np.clip(turn, -1, 1)).sum())) > FAN:
        # The point nearest to the axes of all cards.
        across = np.eye(2) - looking[:, :, None] * looking[:, None]
        pivot = np.linalg.solve(across.sum(0), (across @ middles[:, :, None]).sum(0)[:, 0])
        away = middles - pivot
        up = away.mean(0)
        along = np.arctan2(up[0] * away[:, 1] - up[1] * away[:, 0], away @ up)
    else:
        along = middles @ (middles[-1] - middles[0])
    if along[-1] < along[0]:
        along = -along
    return [order[place] for place in np.argsort(along, kind="stable")]


def _chain(part: list[int], near: Floats) -> list[int]:
    """The order in which neighbours follow each other: along the shortest tree's longest way."""
    if len(part) < 3:
        return part
    tree: dict[int, list[tuple[int, float]]] = {card: [] for card in part}
    reached, border = {part[0]}, {card: (near[part[0], card], part[0]) for card in part[1:]}
    while border:
        card = min(border, key=lambda each: (border[each][0], each))
        far, to = border.pop(card)
        reached.add(card)
        tree[card].append((to, far))
        tree[to].append((card, far))
        for other in border:
            if near[card, other] < border[other][0]:
                border[other] = (near[card, other], card)
    start = max(_ways(tree, part[0]).items(), key=lambda each: (each[1], -each[0]))[0]
    far_from = _ways(tree, start)
    return sorted(part, key=lambda card: (far_from[card], card))


def _ways(tree: Mapping[int, list[tuple[int, float]]], start: int) -> dict[int, float]:
    """How far every card of a tree is from one of them."""
    ways, border = {start: 0.0}, [start]
    while border:
        here = border.pop()
        for other, far in tree[here]:
            if other not in ways:
                ways[other] = ways[here] + far
                border.append(other)
    return ways


def _sides(
    shape: Shape, cards: Sequence[tuple[int, ...]], order: list[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """The ends on either side of a line, followed from card to card: by place in the order."""
    sides: tuple[dict[int, int], dict[int, int]] = ({}, {})
    looking = shape.up[cards[order[0]][0]]
    for place, card in enumerate(order):
        turned = looking
        for end in cards[card]:
            same = float(shape.up[end] @ looking) > 0
            sides[0 if same else 1][place] = end
            turned = shape.up[end] if same else -shape.up[end]
        looking = turned
    return sides


def _mean_up(shape: Shape, side: Mapping[int, int]) -> Floats:
    ends = [side[place] for place in sorted(side)]
    if not ends:
        return np.array([0.0, 1.0])  # away from the top of the photo
    mean = shape.up[ends].mean(0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0.1 else shape.up[ends[len(ends) // 2]])


def _middle(shape: Shape, ends: tuple[int, ...], length: float | None) -> Floats:
    """The middle of a card; of one that shows one end, of a `length` in its heights, where that is known."""
    middle = shape.centre[list(ends)].mean(0)
    if len(ends) > 1 or length is None:
        return np.asarray(middle)
    return np.asarray(middle - shape.up[ends[0]] * shape.high[ends[0]] * length / 2)


def _place(shape: Shape, ends: tuple[int, ...], up: Floats, length: float | None) -> Floats:
    """Where a card is seen: at the end that looks along `up`, else where that end must be, so many heights
    from its only one; there itself where the length is not known.
    """
    end = max(ends, key=lambda end: float(shape.up[end] @ up))
    if length is None or float(shape.up[end] @ up) > 0:
        return np.asarray(shape.centre[end])
    return np.asarray(shape.centre[end] - shape.up[end] * shape.high[end] * length)


def split_melds(line: Line, names: Sequence[str]) -> list[Line]:
    """The parts of a line that gaps set apart: melds, and what is too long for one. names: of all cards.

    Of all ways to part it the most probable one: wide gaps part, and parts that make a meld are likely.
    """
    count = len(line.cards)
    if line.is_column or line.is_fan or count < 2:
        return [line]
    steps = np.array(line.steps)
    gap = max(GAP, WIDER * float(np.median(steps))) if count > 2 * MOST_IN_MELD else GAP
    apart = 1 / (1 + np.exp(-np.clip((steps - gap) / GAP_BLUR, -30, 30)))
    cut, kept = PARTED + np.log(np.maximum(apart, 1e-9)), np.log(np.maximum(1 - apart, 1e-9))
    together = np.concatenate([[0.0], np.cumsum(kept)])
    best, start = [0.0], [0]
    for end in range(1, count + 1):
        ways = []
        for first in range(end):
            worth = cut[first - 1] if first else 0.0
            if end - first <= MOST_IN_MELD:
                made = meld_of([names[card] for card in line.cards[first:end]])
                worth += NO_MELD if made is None else MELD if end - first > 1 else 0.0
            ways.append(best[first] + worth + together[end - 1] - together[first])
        start.append(int(np.argmax(ways)))
        best.append(ways[start[-1]])
    parts, end = [], count
    while end:
        parts.append(line.part(start[end], end))
        end = start[end]
    return parts[::-1]


def meld_of(names: Sequence[str]) -> Meld | None:
    """The meld that cards make, None when they make none."""
    pieces = tuple(map(Piece.parse, names))
    for kind in MELD_KINDS:
        try:
            meld = Meld(kind, pieces)
        except HandError:
            continue
        if kind != "single" or pieces[0].rank == "K" or pieces[0].suit == "j":
            return meld
    return None
