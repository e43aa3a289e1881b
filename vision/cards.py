"""From the ends of four-color cards to cards, colours, order and melds: all that needs no network.

An end is the framed glyph of a card, (4, 2) pixels from its own top-left, clockwise, so that its upper edge
looks to the tip of the card. Both ends of a card bear the same glyph: `join_ends` finds which two are one
card. `paper_of` and `judge_colours` tell the suit from the paper, all cards of the photo together;
`find_lines` puts cards into fans, rows and columns in the order their owner sees them; `arrange_cards` is the
whole stage.

Lengths are counted in widths and heights of the ends, as the photo foreshortens them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.hand import MELD_KINDS, HandError, Meld
from companion.pieces import Piece
from companion.reading import Candidate, Expectation, Quad, Role, Sighting
from vision.arrange import UNEXPECTED_ODDS, Arrangement
from vision.legal import legal_choice

Floats = NDArray[np.float64]

RANKS, COLOURS, JOKERS = "KAERHCP", "yrwg", "12345"
RANKED = 6
"""How many ways to read a card are kept at most."""
LEAST = 0.001
"""Ways to read a card that are less probable than this are left out."""

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
PARALLEL = math.radians(20)
"""Melds lie that parallel to the hand or to each other."""


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
class _Shape:
    """Ends as geometry. centre, up: (n, 2), `up` from lower to upper edge. wide, high: (n,) pixels."""

    centre: Floats
    up: Floats
    wide: Floats
    high: Floats

    @classmethod
    def of(cls, quads: Floats) -> _Shape:
        top, bottom = quads[:, :2].mean(1), quads[:, 2:].mean(1)
        left, right = quads[:, [0, 3]].mean(1), quads[:, [1, 2]].mean(1)
        rise = top - bottom
        high = np.maximum(np.linalg.norm(rise, axis=1), 1e-6)
        wide = np.maximum(np.linalg.norm(right - left, axis=1), 1e-6)
        return cls(quads.mean(1), rise / high[:, None], wide, high)


# ---- two ends of one card ----


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
    shape = _Shape.of(np.asarray(quads, float))
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
    ups = _Shape.of(quads).up
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
    for part in _components(np.where(close | close.T, 0, np.inf)):
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


# ---- the colour of the paper ----

PATCH = 18
ONE_PAPER = 0.35
"""How far the hues of one paper differ within an end."""
LEAST_OWN = 0.1
"""The share of an end that must be nobody else's for its paper to be taken from there alone."""
USUAL_VOTE = 0.3
"""How much the way in which most cards of a line lie on each other counts for each pair of them."""
OFFSET = 12.0
"""Added to each channel, so that the logarithm of a dark one stays in bounds."""

PAPERS: Mapping[str, tuple[tuple[float, float], tuple[float, float]]] = {
    # log(red/green) and log(blue/green) of the paper in white light: the middle, and how far decks differ.
    "y": ((0.17, -1.45), (0.17, 0.45)),
    "r": ((1.20, -0.30), (0.25, 0.50)),
    "w": ((0.02, -0.03), (0.05, 0.07)),
    "g": ((-1.10, -0.55), (0.42, 0.33)),
}
LIGHTS = np.array(
    [
        (warm * 0.45 + tint * 0.3, -warm + tint * 0.5)
        for warm in np.linspace(-0.5, 0.9, 15)
        for tint in (-0.1, 0, 0.1)
    ]
)
"""Casts that light may have: how it moves both numbers, from bluish to a lamp's yellow, and a little to the
side."""
LIGHT_SPREAD = 0.45
STRENGTHS, STRENGTH_SPREAD = (0.45, 0.65, 0.85, 1.0, 1.2), 0.35
"""How strong colours may be in a photo: haze, glare and a camera's contrast change all alike."""
MIDDLES = np.array([PAPERS[colour][0] for colour in COLOURS])
SPREADS = np.array([PAPERS[colour][1] for colour in COLOURS])
EXPECTED = np.array([strength * MIDDLES + light for strength in STRENGTHS for light in LIGHTS])
"""The colours' papers under every cast with every strength, (c, 4, 2)."""
LIKELY = np.array(
    [
        -(light**2).sum() / LIGHT_SPREAD**2 - math.log(strength) ** 2 / (2 * STRENGTH_SPREAD**2)
        for strength in STRENGTHS
        for light in LIGHTS
    ]
)
"""How likely each of them is, logarithms."""
HAZE = np.array([0, 0.2, 0.4, 0.6, 0.75])
"""Shares of what an end shows that are haze or glare and not its paper."""
HAZE_USUAL = np.array([0.8, 0.09, 0.055, 0.035, 0.02])
"""How often each occurs; a photo may have more of it."""
BRIGHTEST = np.array([1.0, 0.95, 1.0, 0.65])
"""How bright the brightest channel of each colour's paper is beside white."""
COLOURED = [COLOURS.index(colour) for colour in "yrg"]
"""Haze shows on these."""
ONE_HUE = 0.2
"""How much one paper differs within a photo, as long as nothing is known of haze."""
PAPER_SPREAD = np.array([0.09, 0.09, 0.06, 0.09])
"""How much the clear paper of each colour differs within a photo: shade, reflections, noise."""
LONG_LINE, SURELY = 4, 0.5
"""Beside a line of so many cards a single end by itself must be so sure: to be there, and what it is."""
WORDS = 2
"""So many cards with something in their middle, and all of the photo may have it."""
BELIEVED = 0.48
"""A card must be so sure to be there, as its ends say together."""
STRAY, STRAY_SPREAD = 0.05, 0.25
"""So many papers were seen wrongly in part, and differ so much."""
CUE, LEAST_CUE = 0.5, 0.01
"""How much weight has what an end says by itself: ends of one photo err alike."""
BROAD_STEPS, FINE_STEPS, KEPT, FAR_OFF, USUAL, ODD, FIRM = 3, 5, 16, 8.0, 10.0, 2.0, 3.0


class Papers:
    """The paper around the glyphs of a photo's ends: ink, what shines, and whatever may be another card's is
    left out.

    image: (height, width, 3) BGR. quads: (n, 4, 2) pixels.
    """

    def __init__(self, image: NDArray[np.uint8], quads: Floats) -> None:
        target = np.array([[0, 0], [PATCH, 0], [PATCH, PATCH], [0, PATCH]], np.float32) - 0.5
        centres = quads.mean(1, keepdims=True)
        # A little inside the card, so that what lies beside it stays out.
        inner = (centres + (quads - centres) * 0.9).astype(np.float32)
        self.image, self.quads = image, quads
        self.warps = [cv2.getPerspectiveTransform(quad, target) for quad in inner]
        patches = [cv2.warpPerspective(image, warp, (PATCH, PATCH)) for warp in self.warps]
        self.patches = np.array(patches, np.uint8).reshape(-1, PATCH * PATCH, 3)
        self.hues = _hues(self.patches)
        self.light = self.patches.sum(2, dtype=float)

    def under(self, end: int, outlines: Floats) -> NDArray[np.bool_]:
        """Which pixels of an end lie inside outlines (m, 4, 2) of other cards, (m, PATCH * PATCH)."""
        inside = np.zeros((len(outlines), PATCH, PATCH), np.uint8)
        near = (outlines.min(1) < self.quads[end].max(0)) & (outlines.max(1) > self.quads[end].min(0))
        for number in np.flatnonzero(near.all(1)):
            # Quads are not exact: a little more may be the other card's.
            outline = outlines[number] + (outlines[number] - outlines[number].mean(0)) * 0.04
            there = cv2.perspectiveTransform(outline[None].astype(np.float32), self.warps[end])[0]
            cv2.fillPoly(inside[number], [np.round(np.clip(there, -3000, 3000)).astype(np.int32)], 1)
        return inside.reshape(len(outlines), PATCH * PATCH) > 0

    def colour(self, end: int, own: NDArray[np.bool_]) -> tuple[Floats, float]:
        """The colour of an end's paper, BGR 0-255, from the pixels that are its own; their share, 0-1."""
        share = float(own.mean())
        asked = own if share > LEAST_OWN else np.ones(len(own), bool)
        light = self.light[end][asked]
        bright = light > 0.5 * _quantile(light, 0.7)
        paper, hue = self.patches[end][asked][bright], self.hues[end][asked][bright]
        # Most of what is no ink is this card's: a neighbour's edge does not count.
        middle, most = np.median(hue, 0), np.ones(len(hue), bool)
        for _ in range(2):
            away = np.abs(hue - middle).sum(1)
            most = away <= max(ONE_PAPER, _quantile(away, 0.3))
            middle = np.median(hue[most], 0)
        return np.asarray(np.median(paper[most], 0)), share

    def in_piles(self, cards: Sequence[tuple[int, ...]], lines: Sequence[Line]) -> tuple[Floats, Floats]:
        """Colour (n, 3) and share asked (n,) of every end. In a line each card lies on the one before, or
        under it; whatever else overlaps an end may lie on it.
        """
        bodies = _bodies(self.quads, cards)
        colours, shares = np.zeros((len(self.quads), 3)), np.zeros(len(self.quads))
        for line in lines:
            ends = [end for card in line.cards for end in cards[card]]
            elsewhere = sorted(set(range(len(self.quads))) - set(ends))
            others = {end: self.under(end, self.quads[elsewhere]).any(0) for end in ends}
            within = {end: self.under(end, bodies[list(line.cards)]) for end in others}
            later = self._later_on_top(cards, line)
            for place, card in enumerate(line.cards):
                for end in cards[card]:
                    covered = others[end].copy()
                    if place + 1 < len(line.cards) and later[place]:
                        covered |= within[end][place + 1 :].any(0)
                    if place and not later[place - 1]:
                        covered |= within[end][:place].any(0)
                    colours[end], shares[end] = self.colour(end, np.logical_not(covered))
        return colours, shares

    def _later_on_top(self, cards: Sequence[tuple[int, ...]], line: Line) -> list[bool]:
        """Of each two neighbours, whether the later one lies on the other. Then the paper changes at the edge
        of the later one, else at the edge of the earlier one. All of a line mostly lie the same way.
        """
        shape = _Shape.of(self.quads)
        pairs: list[tuple[int, int, int]] = []
        for place, (first, second) in enumerate(pairwise(line.cards)):
            for a in cards[first]:
                same = [b for b in cards[second] if shape.up[a] @ shape.up[b] > 0]
                if same:
                    pairs.append((place, a, min(same, key=lambda b: _apart(shape, a, b))))
        votes = np.zeros(max(0, len(line.cards) - 1))
        if pairs and not line.is_column:
            places, earlier, later = map(list, zip(*pairs, strict=True))
            changes = self._change_at_edges([*later, *earlier], [*earlier, *later])
            np.add.at(votes, places, changes[: len(pairs)] - changes[len(pairs) :])
        usual = float(np.sign(votes.sum())) or 1.0
        return [bool(vote + USUAL_VOTE * usual > 0) for vote in votes]

    def _change_at_edges(self, ends: Sequence[int], towards: Sequence[int]) -> Floats:
        """How much the paper's hue changes at the edge of each end that looks to another end, (n,) 0-1."""
        quads, others = self.quads[ends], self.quads[towards].mean(1)
        left, right = quads[:, [0, 3]], quads[:, [1, 2]]
        to_left, to_right = (np.linalg.norm(edge.mean(1) - others, axis=1) for edge in (left, right))
        nearer = to_left < to_right
        edge = np.where(nearer[:, None, None], left, right)
        across = np.where(nearer[:, None], 1, -1) * (left.mean(1) - right.mean(1))  # outwards, a width long
        along = np.linspace(0.12, 0.88, 9)[:, None]
        on_edge = edge[:, None, 0] + along * (edge[:, None, 1] - edge[:, None, 0])
        off = np.array([0.06, 0.11, 0.16])[:, None, None]
        sides = []
        for sign in (1, -1):
            points = on_edge[:, None] + sign * off * across[:, None, None]  # (n, off, along, 2)
            flat = points.reshape(len(quads), -1, 2).astype(np.float32)
            x, y = flat[..., 0], flat[..., 1]
            seen = cv2.remap(self.image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            light = seen.sum(2, dtype=float)
            paper = light >= np.median(light, 1, keepdims=True)
            sides.append(np.nanmedian(np.where(paper[..., None], _hues(np.asarray(seen, float)), np.nan), 1))
        return np.asarray(np.minimum(np.abs(sides[0] - sides[1]).sum(1), 1))


def _quantile(values: Floats, share: float) -> float:
    """The value that so many of the others lie below, without looking between two."""
    place = int(share * (len(values) - 1))
    return float(np.partition(values, place)[place])


def _apart(shape: _Shape, a: int, b: int) -> float:
    return float(np.linalg.norm(shape.centre[a] - shape.centre[b]))


def _bodies(quads: Floats, cards: Sequence[tuple[int, ...]]) -> Floats:
    """Outlines of whole cards (m, 4, 2); one that shows one end is as long as the others."""
    shape = _Shape.of(quads)
    ratios = [
        float(np.linalg.norm(shape.centre[ends[0]] - shape.centre[ends[1]]) / shape.high[list(ends)].mean())
        for ends in cards
        if len(ends) == 2
    ]
    length = float(np.median(ratios)) if ratios else 1.5
    bodies = []
    for ends in cards:
        tip = quads[ends[0], :2] + 0.15 * (quads[ends[0], :2] - quads[ends[0], [3, 2]])
        if len(ends) == 2:
            foot = quads[ends[1], :2] + 0.15 * (quads[ends[1], :2] - quads[ends[1], [3, 2]])
        else:
            foot = (tip + (length + 1.3) * (quads[ends[0], [3, 2]] - quads[ends[0], :2]))[::-1]
        bodies.append(np.concatenate([tip, foot]))
    return np.array(bodies)


def judge_colours(papers: Floats, weights: Floats | None = None, cue: Floats | None = None) -> Floats:
    """The probability of each colour, (n, 4) in the order of `COLOURS`, for papers (n, 3) BGR of one photo.

    All are judged together: one light falls on them, and each colour is one paper. Of all casts and strengths
    that colours may have in a photo the one under which the papers are most like a deck's is taken. Haze, a
    lamp's glow or glare draws a paper towards white, some more than others; white stays where it is. weights:
    how much each paper tells, 1 by default. cue: what each end says by itself, (n, 4) probabilities.
    """
    if not len(papers):
        return np.zeros((0, len(COLOURS)))
    weights = np.ones(len(papers)) if weights is None else weights
    hint = np.zeros((len(papers), len(COLOURS))) if cue is None else CUE * np.log(np.maximum(cue, LEAST_CUE))
    points = _hues(papers)
    expected, likely = EXPECTED, LIKELY
    centres, score = expected, likely
    for step in range(BROAD_STEPS):
        # Around where the casts put the colours, at first as far as decks differ.
        width = np.maximum(SPREADS * 0.6**step, ONE_HUE)
        log = _log_chances(points, centres, width) - np.log(width).sum(1) + hint
        # Firmly: a colour that gets a little of another's papers would end up in their midst.
        chances = np.exp(FIRM * (log - log.max(2, keepdims=True)))
        share = chances / chances.sum(2, keepdims=True) * weights[:, None]
        centres = _settled(np.swapaxes(share, 1, 2) @ points, share.sum(1), expected, np.full(4, ONE_HUE))
        log = _log_chances(points, centres, np.full_like(SPREADS, ONE_HUE)) + hint
        # A paper far off tells of a joker or of glare, not of the light.
        score = (np.maximum(log.max(2), -FAR_OFF) * weights).sum(1) + likely
        score -= _odd(centres, expected, share.sum(1))
    kept = np.argsort(-score, kind="stable")[:KEPT]
    centres, expected, likely = centres[kept], expected[kept], likely[kept]
    haze = np.tile(HAZE_USUAL, (len(kept), 1))
    for step in range(FINE_STEPS):
        log = _log_hazed(points, centres, haze, PAPER_SPREAD * max(1.0, 2.5 * 0.6**step))
        log += hint[:, :, None]
        chances = np.exp(log - log.max((2, 3), keepdims=True))
        share = chances / chances.sum((2, 3), keepdims=True) * weights[:, None, None]
        # A paper in haze tells less of where the clear one is.
        clear = share * (1 - HAZE)
        pull = np.einsum("cnkh,nd->ckd", clear, points) - np.einsum("cnkh,ckhd->ckd", clear, _hazed(centres))
        seen = clear.sum((1, 3))
        centres = _settled(pull + centres * seen[..., None], seen, expected, PAPER_SPREAD)
        hazed = share[:, :, COLOURED].sum((1, 2))
        haze = (HAZE_USUAL * USUAL + hazed) / (USUAL + hazed.sum(1, keepdims=True))
    log = _log_sum(_log_hazed(points, centres, haze, PAPER_SPREAD)) + hint
    # Each paper counts for one colour: two that mean the same one must not explain it twice.
    score = (np.maximum(log.max(2), -FAR_OFF) * weights).sum(1) + likely
    best = int(np.argmax(score - _odd(centres, expected, share.sum((1, 3)))))
    stray = _log_sum(_log_hazed(points, centres[[best]], HAZE_USUAL[None], np.full(4, STRAY_SPREAD)))
    log = np.logaddexp(log[best], math.log(STRAY) + stray[0] + hint)
    chances = np.exp(np.maximum(log - log.max(1, keepdims=True), -30))
    return np.asarray(chances / chances.sum(1, keepdims=True))


def _hues(colours: Floats | NDArray[np.uint8]) -> Floats:
    """log(red/green) and log(blue/green) (..., 2) of colours (..., 3) BGR."""
    logs = np.log(np.asarray(colours, float) + OFFSET)
    return np.stack([logs[..., 2] - logs[..., 1], logs[..., 0] - logs[..., 1]], -1)


def _log_chances(points: Floats, centres: Floats, width: Floats) -> Floats:
    """How near points (n, 2) are to the colours' centres (c, 4, 2): (c, n, 4)."""
    away = (points[None, :, None] - centres[:, None]) / width
    return np.asarray(-0.5 * (away**2).sum(3))


def _hazed(centres: Floats) -> Floats:
    """Where each colour lies in each haze, (c, 4, hazes, 2), for clear ones at centres (c, 4, 2)."""
    red, blue = np.exp(centres[..., 0]), np.exp(centres[..., 1])
    clear = np.stack([red, np.ones_like(red), blue], -1)
    clear *= (BRIGHTEST / clear.max(-1))[..., None]
    white = clear[:, [COLOURS.index("w")], None]
    mixed = clear[:, :, None] + HAZE[:, None] * (white - clear[:, :, None])
    return np.log(mixed[..., [0, 2]] / mixed[..., [1]])


def _log_hazed(points: Floats, centres: Floats, haze: Floats, spread: Floats) -> Floats:
    """The same as `_log_chances` for each haze, (c, n, 4, hazes), as probable as the hazes (c, hazes) are and
    as the spread (4,) of a paper makes it."""
    away = ((points[:, None, None] - _hazed(centres)[:, None]) ** 2).sum(4)
    near = -away / (2 * spread[:, None] ** 2) - 2 * np.log(spread)[:, None]
    return np.asarray(near + np.log(haze)[:, None, None])


def _log_sum(logs: Floats) -> Floats:
    """The logarithm of the sum along the last axis of what these are the logarithms of."""
    most = logs.max(-1, keepdims=True)
    return np.asarray((most + np.log(np.exp(logs - most).sum(-1, keepdims=True)))[..., 0])


def _settled(pull: Floats, seen: Floats, expected: Floats, spread: Floats) -> Floats:
    """Where a deck's papers are: what was seen, held to what decks are like. pull: (c, 4, 2) sums over so
    much as was `seen` (c, 4)."""
    trust = 1 / spread[:, None] ** 2
    return np.asarray((pull * trust + expected / SPREADS**2) / (seen[..., None] * trust + 1 / SPREADS**2))


def _odd(centres: Floats, expected: Floats, seen: Floats) -> Floats:
    """How much speaks against decks (c,) whose papers are so far from what decks are like."""
    away = (((centres - expected) / SPREADS) ** 2).sum(2) / 2
    return np.asarray(ODD * (away * (seen > 0.5)).sum(1))


# ---- fans, rows, columns ----


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


def find_lines(quads: Floats, cards: Sequence[tuple[int, ...]]) -> list[Line]:
    """The lines in which cards lie, the longest first. cards: indices of each one's ends (`join_ends`)."""
    if not cards:
        return []
    shape = _Shape.of(np.asarray(quads, float))
    near, down = _neighbours(shape, cards)
    lines = [_line(shape, cards, part, near, down) for part in _components(near)]
    return sorted(lines, key=lambda line: (-len(line.cards), line.cards))


def _neighbours(shape: _Shape, cards: Sequence[tuple[int, ...]]) -> tuple[Floats, NDArray[np.bool_]]:
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
    # What stands in a column belongs to it, not to the next one.
    stands = np.zeros(len(cards), bool)
    stands[card_of[column.any(1)]] = True
    beside &= ~(stands[card_of][:, None] & stands[card_of][None])
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


def _components(near: Floats) -> list[list[int]]:
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


def _line(
    shape: _Shape,
    cards: Sequence[tuple[int, ...]],
    part: list[int],
    near: Floats,
    down: NDArray[np.bool_],
) -> Line:
    order = _chain(part, near)
    is_column = sum(down[a, b] for a, b in pairwise(order)) > (len(order) - 1) / 2
    if not is_column:
        order = _along_arc(shape, cards, order)
    sides = _sides(shape, cards, order)
    ups = [_mean_up(shape, side) for side in sides]
    looking = np.array([_looking(shape, sides, place) for place in range(len(order))])
    middles = np.array([shape.centre[list(cards[card])].mean(0) for card in order])
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
    seen = [_place(shape, cards[card], up) for card in order]
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


def _looking(shape: _Shape, sides: tuple[dict[int, int], dict[int, int]], place: int) -> Floats:
    """Where the first side of a line looks at one of its cards."""
    first, second = sides
    return np.asarray(shape.up[first[place]] if place in first else -shape.up[second[place]])


def _along_arc(shape: _Shape, cards: Sequence[tuple[int, ...]], order: list[int]) -> list[int]:
    """Cards of a fan in the order of their angles around the point where they are held, those of a row as
    they follow each other along it: some stick out, and then neighbours are not the nearest.
    """
    sides = _sides(shape, cards, order)
    looking = np.array([_looking(shape, sides, place) for place in range(len(order))])
    middles = np.array([shape.centre[list(cards[card])].mean(0) for card in order])
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
    shape: _Shape, cards: Sequence[tuple[int, ...]], order: list[int]
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


def _mean_up(shape: _Shape, side: Mapping[int, int]) -> Floats:
    ends = [side[place] for place in sorted(side)]
    if not ends:
        return np.array([0.0, 1.0])  # away from the top of the photo
    mean = shape.up[ends].mean(0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0.1 else shape.up[ends[len(ends) // 2]])


def _place(shape: _Shape, ends: tuple[int, ...], up: Floats) -> Floats:
    """Where a card is seen: at the end that looks along `up`, else at its only one."""
    return np.asarray(shape.centre[max(ends, key=lambda end: float(shape.up[end] @ up))])


# ---- melds ----


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


# ---- the whole stage ----


def arrange_cards(
    image: NDArray[np.uint8],
    ends: Sequence[CardEnd],
    expectation: Expectation | None = None,
    scale: float = 1.0,
) -> Arrangement:
    """Cards in their places: ends joined, colours judged, lines ordered, melds set apart, and of all readings
    the most probable one that the deck allows.

    image: the photo, BGR; quads are in its pixels. scale: what quads are multiplied by in the result.
    Sightings come in the order of the hand, then melds, then other cards; a card is outlined at one end.
    """
    ends = _believed(ends)
    if not ends:
        return Arrangement((), (), ("No card was found in the photo.",))
    expected = expectation or Expectation(sizes=())
    quads, ranks, cue = np.array([end.quad for end in ends], float), _ranks(ends), _cue(ends)
    joker = ranks[:, len(RANKS) :].sum(1)
    alike, upright = _likeness(ends)
    cards = join_ends(quads, alike, upright)
    quads = turn_apart(quads, cards)
    upright[[end for card in cards if len(card) == 2 for end in card]] = 1
    # Now that it is known what may lie on what, papers are seen; they tell more of who belongs together.
    colours = _colours_of(*Papers(image, quads).in_piles(cards, find_lines(quads, cards)), joker, cue)
    cards = join_ends(quads, _alike(ranks, colours), upright)
    quads = turn_apart(quads, cards)
    lines = find_lines(quads, cards)
    readings = [_reading(ranks[list(card)], colours[list(card)], expected.pieces) for card in cards]
    belief = np.array([max(ends[end].belief for end in card) for card in cards])
    lines = [line for line in lines if not _stray(line, lines, cards, readings, belief)]
    lines = _in_order(lines, quads, cards)
    kept = [card for line in lines for card in line.cards]
    chosen = dict(zip(kept, legal_choice([readings[card] for card in kept], expected.copies), strict=True))
    names = [chosen.get(card, readings[card])[0].piece for card in range(len(cards))]
    placed: list[tuple[tuple[int, int, int], Sighting]] = []
    found: list[Meld] = []
    rank_of: dict[Role, int] = {"hand": 0, "meld": 1, "other": 2, "back": 3}
    for row, part in enumerate(_parts(lines, names)):
        group = None
        if part.meld is not None:
            group = len(found)
            found.append(part.meld)
        for place, card in enumerate(part.line.cards):
            quad = _shown(quads, cards[card], part.line.up) * scale
            number = row if part.role != "other" else None
            sighting = Sighting(_tuple(quad), chosen[card], part.role, number, group)
            placed.append(((rank_of[part.role], row, place), sighting))
    placed.sort(key=lambda each: each[0])
    return Arrangement(tuple(sighting for _, sighting in placed), tuple(found), ())


def _believed(ends: Sequence[CardEnd]) -> list[CardEnd]:
    """The ends without those that are too doubtful, and without what is printed in the middle of cards: two
    that look like one card vouch for each other.
    """
    if not ends:
        return []
    belief = np.array([end.belief for end in ends])
    quads = np.array([end.quad for end in ends], float)
    cards = join_ends(quads, *_likeness(ends))
    no_ends = middles(turn_apart(quads, cards), cards)
    kept = [
        card for card in cards if 1 - np.prod(1 - belief[list(card)]) >= BELIEVED and no_ends.isdisjoint(card)
    ]
    return [ends[end] for end in sorted(end for card in kept for end in card)]


def _likeness(ends: Sequence[CardEnd]) -> tuple[Floats, Floats]:
    """What is known before papers are seen: how probably two ends show the same card, (n, n), and how sure
    each is the right way up, (n,)."""
    cue = _cue(ends)
    return _alike(_ranks(ends), cue / cue.sum(1, keepdims=True)), np.array([end.upright for end in ends])


def _ranks(ends: Sequence[CardEnd]) -> Floats:
    return np.array([[end.ranks.get(name, 0.0) for name in (*RANKS, *JOKERS)] for end in ends])


def _cue(ends: Sequence[CardEnd]) -> Floats:
    return np.array([[end.colours.get(name, 1.0) for name in COLOURS] for end in ends])


def middles(quads: Floats, cards: Sequence[tuple[int, ...]]) -> set[int]:
    """Ends that are none, but a word or an ornament in the middle of a card: they stand right between its two
    ends. In a photo with several of these, also what stands so far below a card's only end.
    """
    pairs = [card for card in cards if len(card) == 2]
    single = [card[0] for card in cards if len(card) == 1]
    if not pairs or not single:
        return set()
    shape = _Shape.of(quads)
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


def _standing_at(shape: _Shape, ends: Sequence[int], places: Floats, ways: Floats) -> set[int]:
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


def _stray(
    line: Line,
    lines: Sequence[Line],
    cards: Sequence[tuple[int, ...]],
    readings: Sequence[tuple[Candidate, ...]],
    belief: Floats,
) -> bool:
    """Whether a card that lies by itself and shows one end only is rather none: beside a hand, prints on a
    cloth look like that.
    """
    (card, *more) = line.cards
    if more or len(cards[card]) > 1 or max(len(other.cards) for other in lines) < LONG_LINE:
        return False
    return float(belief[card]) * readings[card][0].confidence < SURELY


def _colours_of(papers: Floats, shares: Floats, joker: Floats, cue: Floats) -> Floats:
    """Colours of ends from their papers and the shares asked; a joker's paper tells nothing of the others."""
    return judge_colours(papers, np.maximum((1 - joker) * np.minimum(3 * shares, 1), 0.01), cue)


def _alike(ranks: Floats, colours: Floats) -> Floats:
    """The probability that two ends show the same card, (n, n)."""
    joker = ranks[:, len(RANKS) :].sum(1)
    jokers = np.outer(joker, joker)
    return np.asarray((ranks @ ranks.T) * ((colours @ colours.T) * (1 - jokers) + jokers))


def _reading(ranks: Floats, colours: Floats, expected: frozenset[str]) -> tuple[Candidate, ...]:
    """How a card may be read, from what its ends (one or two) say: the product of both. Cards that are not
    among the `expected`, if any are told, must be seen clearly."""
    rank = np.prod(np.maximum(ranks, 1e-6), 0)
    colour = np.prod(np.maximum(colours, 1e-6), 0)
    rank, colour = rank / rank.sum(), colour / colour.sum()
    chances = {
        letter + suit: float(rank[i] * colour[k])
        for i, letter in enumerate(RANKS)
        for k, suit in enumerate(COLOURS)
    }
    chances |= {f"{number}j": float(rank[len(RANKS) + i]) for i, number in enumerate(JOKERS)}
    if expected:
        chances = {name: p * (1 if name in expected else UNEXPECTED_ODDS) for name, p in chances.items()}
        total = sum(chances.values())
        chances = {name: p / total for name, p in chances.items()}
    best = sorted(chances.items(), key=lambda each: (-each[1], each[0]))[:RANKED]
    return tuple(Candidate(name, chance) for name, chance in best if chance >= LEAST or name == best[0][0])


@dataclass(frozen=True)
class _Part:
    """Cards that lie together, what they are, and the meld they make when they are one."""

    line: Line
    role: Role
    meld: Meld | None = None


def _parts(lines: Sequence[Line], names: Sequence[str]) -> list[_Part]:
    """What lies where: the hand is whatever is too long for a meld; short parts that make one, and lie with
    others or along the hand, are melds; single cards that lie about are no part of the hand."""

    def made(line: Line) -> Meld | None:
        return meld_of([names[card] for card in line.cards])

    split = [split_melds(line, names) for line in lines]
    every = [part for parts in split for part in parts]
    long = [part for part in every if len(part.cards) > MOST_IN_MELD]
    if not long and (len(every) == 1 or 2 * sum(made(part) is not None for part in every) <= len(every)):
        return [_Part(line, "hand") for line in lines]
    found = []
    for parts in split:
        hands = [number for number, part in enumerate(parts) if part in long]
        for number, part in enumerate(parts):
            meld = made(part)
            within = bool(hands) and hands[0] < number < hands[-1]
            if part in long or within or (hands and (meld is None or len(part.cards) == 1)):
                found.append(_Part(part, "hand"))
            elif meld and (len(part.cards) > 1 or not long or any(_parallel(part, each) for each in long)):
                found.append(_Part(part, "meld", meld))
            elif len(part.cards) > 2 and any(_parallel(part, each) for each in long):
                found.append(_Part(part, "hand"))
            else:
                found.append(_Part(part, "other"))
    return found


def _in_order(lines: Sequence[Line], quads: Floats, cards: Sequence[tuple[int, ...]]) -> list[Line]:
    """Lines as they are read: columns from the left, others from the top, as the longest one looks."""
    if len(lines) < 2:
        return list(lines)
    up = np.array(lines[0].up)
    right = np.array([-up[1], up[0]])
    centres = quads.mean(1)

    def place(line: Line) -> float:
        middle = np.mean([centres[list(cards[card])].mean(0) for card in line.cards], 0)
        return float(middle @ right) if lines[0].is_column else -float(middle @ up)

    return sorted(lines, key=place)


def _parallel(a: Line, b: Line) -> bool:
    return abs(a.up[0] * b.up[0] + a.up[1] * b.up[1]) > math.cos(PARALLEL)


def _shown(quads: Floats, ends: tuple[int, ...], up: tuple[float, float]) -> Floats:
    """The quad of the end that a card is known by: the one that looks along its line's tips."""
    shape = _Shape.of(quads[list(ends)])
    return np.asarray(quads[ends[int(np.argmax(shape.up @ np.array(up)))]])


def _tuple(quad: Floats) -> Quad:
    a, b, c, d = ((float(x), float(y)) for x, y in quad)
    return a, b, c, d
