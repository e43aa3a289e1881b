"""The suit of four-color cards, told from their paper, all cards of a photo together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.card_lines import Line
from vision.ends import COLOURS, Floats, Shape

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
        for warm in np.linspace(-0.8, 1.2, 15)
        for tint in (-0.1, 0, 0.1, 0.5, 1.0)
    ]
)
"""Casts that light may have: how it moves both numbers, from bluish to a lamp's yellow, and to the side: a
little to green, further to red and pink, as coloured lamps and cloths make it."""
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
        quad = self.quads[end]
        near = np.flatnonzero(((outlines.min(1) < quad.max(0)) & (outlines.max(1) > quad.min(0))).all(1))
        if len(near):
            # Quads are not exact: a little more may be the other card's.
            wide = outlines[near] * 1.04 - outlines[near].mean(1, keepdims=True) * 0.04
            there = cv2.perspectiveTransform(wide.astype(np.float32), self.warps[end])
            for number, outline in zip(
                near, np.round(np.clip(there, -3000, 3000)).astype(np.int32), strict=True
            ):
                cv2.fillPoly(inside[number], [outline], 1)
        return inside.reshape(len(outlines), PATCH * PATCH) > 0

    def colour(self, end: int, own: NDArray[np.bool_]) -> tuple[Floats, float]:
        """The colour of an end's paper, BGR 0-255, from the pixels that are its own; their share, 0-1."""
        share = float(own.mean())
        asked = own if share > LEAST_OWN else np.ones(len(own), bool)
        light = self.light[end][asked]
        bright = light > 0.5 * _quantile(light, 0.7)
        paper, hue = self.patches[end][asked][bright], self.hues[end][asked][bright]
        # Most of what is no ink is this card's: a neighbour's edge does not count.
        middle, most = _median(hue), np.ones(len(hue), bool)
        for _ in range(2):
            away = np.abs(hue - middle).sum(1)
            most = away <= max(ONE_PAPER, _quantile(away, 0.3))
            middle = _median(hue[most])
        return _median(paper[most]), share

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
        shape = Shape.of(self.quads)
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


def _median(values: Floats | NDArray[np.uint8]) -> Floats:
    """The median along the first axis."""
    half = len(values) // 2
    return np.asarray(np.partition(values, half, axis=0)[half], float)


def _apart(shape: Shape, a: int, b: int) -> float:
    return float(np.linalg.norm(shape.centre[a] - shape.centre[b]))


def _bodies(quads: Floats, cards: Sequence[tuple[int, ...]]) -> Floats:
    """Outlines of whole cards (m, 4, 2); one that shows one end is as long as the others."""
    shape = Shape.of(quads)
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
    centres = expected
    for step in range(BROAD_STEPS):
        # Around where the casts put the colours, at first as far as decks differ.
        width = np.maximum(SPREADS * 0.6**step, ONE_HUE)
        log = _log_chances(points, centres, width) + (hint - np.log(width).sum(1)).T[:, None]
        # Firmly: a colour that gets a little of another's papers would end up in their midst.
        chances = np.exp(FIRM * (log - log.max(0)))
        firm = chances * (weights / chances.sum(0))
        pull, seen = (np.swapaxes(each, 0, 1) for each in (firm @ points, firm.sum(2)))
        centres = _settled(pull, seen, expected, np.full(4, ONE_HUE))
    log = _log_chances(points, centres, np.full_like(SPREADS, ONE_HUE)) + hint.T[:, None]
    # A paper far off tells of a joker or of glare, not of the light.
    score = np.maximum(log.max(0), -FAR_OFF) @ weights + likely - _odd(centres, expected, seen)
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
    """How near points (n, 2) are to the colours' centres (c, 4, 2): (4, c, n). The square of the difference
    is multiplied out, as one product of matrices takes the least time.
    """
    far = np.swapaxes(centres / width**2, 0, 1)
    away = (1 / width**2 @ (points**2).T)[:, None] - 2 * (far @ points.T)
    return np.asarray(-0.5 * (away + (far * np.swapaxes(centres, 0, 1)).sum(2)[..., None]))


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
