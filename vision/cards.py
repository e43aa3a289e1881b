"""From the ends of four-color cards to cards, colours, order and melds: all that needs no network.

`vision.ends` finds which two ends are one card; `vision.papers` tells the suit from the paper;
`vision.card_lines` puts cards into fans, rows and columns in the order their owner sees them;
`arrange_cards` is the whole stage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from companion.hand import Meld
from companion.reading import Candidate, Expectation, Quad, Role, Sighting
from vision.arrange import UNEXPECTED_ODDS, Arrangement
from vision.card_lines import MOST_IN_MELD, Line, find_lines, meld_of, split_melds
from vision.ends import (
    COLOURS,
    JOKERS,
    PARALLEL,
    RANKS,
    CardEnd,
    Floats,
    Shape,
    feet,
    in_company,
    join_ends,
    lie_bare,
    middles,
    quarters_off,
    turn_apart,
    upside_down,
    words_on_cards,
)
from vision.legal import legal_choice
from vision.papers import Papers, judge_colours

RANKED = 6
"""How many ways to read a card are kept at most."""
LEAST = 0.001
"""Ways to read a card that are less probable than this are left out."""
SHORT, LONG = 3, 4
"""Lines of so many cards at most lie apart where others have so many or more."""
UNREAD = dict.fromkeys((*RANKS, *JOKERS), 1 / 12)
"""What an end that was read lying on its side tells of its rank."""
CLOSE_BY = 3.5
"""What lies no more heights of an end from the owner's cards, and as they do, is the owner's too. So do in
147 scenes 92 of 171 short parts of hands and melds, most of those misread among them, and no discard of 99.
"""
SEEN = 0.6
"""An end so sure to be there, or one of two that are together, may lie on others and keeps them company."""
SURE, ENOUGH = 0.8, 3
"""How large ends are in a photo is known from so many that are so sure."""
ODD_SIZE, LEVEL = 0.3, 3.0
"""The square by which the logarithms of sizes differ counts up to this; and how many sure ends it takes that
sizes slope across the photo at all.
"""


@dataclass(frozen=True)
class Odds:
    """What tells whether cards that show one end, or two, are there, in log odds.

    usual: beforehand. belief: for each of the log odds of the ends. bare: where the other end should show and
    does not. beside, company: with one neighbour and with more (`in_company`). size: for the square by which
    the logarithm of its size differs from that of the photo's ends.
    """

    usual: float
    belief: float
    bare: float
    beside: float
    company: float
    size: float


ONE_END = Odds(usual=-0.95, belief=0.75, bare=-0.75, beside=1.0, company=1.1, size=-1.9)
TWO_ENDS = Odds(usual=-1.75, belief=0.95, bare=0.0, beside=4.5, company=0.0, size=-17.0)
"""Found by logistic regression over 1,700 cards of either kind in 147 scenes."""

SINGLE_USUALLY = 2.8
SINGLE = {
    "belief": 0.69,
    "reading": 0.26,
    "company": 0.97,
    "size": -21.7,
    "pairs": -3.3,
    "bare": -1.0,
    "apart": -2.5,
    "squeezed": -3.5,
}
"""What tells, once cards lie in lines, whether one that shows a single end is there, in log odds; see
`_single_odds`. Found by logistic regression over 3,900 of them in 600 scenes, 87 of them none.
"""


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
    ends, cards = _believed(ends, image.shape)
    if not ends:
        return Arrangement((), (), ("No card was found in the photo.",))
    expected = expectation or Expectation(sizes=())
    quads, ranks, cue = np.array([end.quad for end in ends], float), _ranks(ends), _cue(ends)
    joker = ranks[:, len(RANKS) :].sum(1)
    belief = np.array([end.belief for end in ends])
    upright = np.array([end.upright for end in ends])
    quads = turn_apart(quads, cards)
    upright[[end for card in cards if len(card) == 2 for end in card]] = 1
    # Now that it is known what may lie on what, papers are seen; they tell more of who belongs together.
    colours = _colours_of(*Papers(image, quads).in_piles(cards, find_lines(quads, cards)), joker, cue)
    cards = join_ends(quads, _alike(ranks, colours), upright, belief)
    quads = turn_apart(quads, cards)
    lines = find_lines(quads, cards)
    readings = [_reading(ranks[list(card)], colours[list(card)], expected.pieces) for card in cards]
    odds = _single_odds(quads, cards, lines, readings, belief, image.shape)
    gone = {card for card in range(len(cards)) if len(cards[card]) == 1 and odds[card] < 0}
    lines = [line for each in lines if (line := each.without(gone)).cards]
    lines = _in_order(lines, quads, cards)
    kept = [card for line in lines for card in line.cards]
    chosen = dict(zip(kept, legal_choice([readings[card] for card in kept], expected.copies), strict=True))
    names = [chosen.get(card, readings[card])[0].piece for card in range(len(cards))]
    placed: list[tuple[tuple[int, int, int], Sighting]] = []
    found: list[Meld] = []
    rank_of: dict[Role, int] = {"hand": 0, "meld": 1, "other": 2, "back": 3}
    for row, part in enumerate(_parts(lines, names, Shape.of(quads), cards)):
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


def _believed(ends: Sequence[CardEnd], size: tuple[int, ...]) -> tuple[list[CardEnd], list[tuple[int, ...]]]:
    """The ends without those that are too doubtful, and without what is printed in the middle of cards; and
    which of them are one card. Two that look like one card vouch for each other, and so do cards that lie
    together; one that shows no other end, though nothing hides it, must be seen the more clearly.

    size: height and width of the photo, pixels.
    """
    if not ends:
        return [], []
    belief = np.array([end.belief for end in ends])
    quads = np.array([end.quad for end in ends], float)
    cards = join_ends(quads, *_likeness(ends), belief)
    lying = quarters_off(quads, cards) % 2 == 1
    quads = turn_apart(quads, cards)
    ends, upright = list(ends), np.array([end.upright for end in ends])
    for end in np.flatnonzero(lying).tolist():
        ends[end] = replace(ends[end], quad=quads[end], ranks=UNREAD)
    for end in upside_down(quads, cards, upright):
        quads[end] = np.roll(quads[end], 2, axis=0)
        ends[end] = replace(ends[end], quad=quads[end])
    no_ends = middles(quads, cards)
    cards = [card for card in cards if no_ends.isdisjoint(card)]
    seen = sorted(end for card in cards if 1 - np.prod(1 - belief[list(card)]) >= SEEN for end in card)
    words = words_on_cards(quads, cards, belief, seen, upright)
    cards = [card for card in cards if not words.issuperset(card)]
    bare, company = lie_bare(quads, cards, seen, size), in_company(quads, cards, seen)
    odd = _odd_sizes(quads, belief)
    logs = _log_odds(belief)
    kept = []
    for card in cards:
        told, each = (ONE_END if len(card) == 1 else TWO_ENDS), list(card)
        odds = told.usual + told.belief * logs[each].sum() + told.size * odd[each].mean()
        odds += told.bare * bare[card[0]] + told.beside * (company[each].max() >= 1)
        odds += told.company * (company[each].max() >= 2)
        if odds > 0:
            kept.append(card)
    ends_at_feet = feet(quads, kept, belief, _likeness(ends)[0])
    kept = [card for card in kept if ends_at_feet.isdisjoint(card)]
    number = {end: k for k, end in enumerate(sorted(end for card in kept for end in card))}
    return [ends[end] for end in number], [tuple(number[end] for end in card) for card in kept]


def _odd_sizes(quads: Floats, belief: Floats) -> Floats:
    """How odd the size of each end is in the photo, (n,), see `ODD_SIZE`; 0 where too few are sure. What lies
    further away is smaller: sizes are held against what sure ends tell of the place.
    """
    shape = Shape.of(quads)
    sure = belief > SURE
    if sure.sum() < ENOUGH:
        return np.zeros(len(quads))
    middle, spread = shape.centre[sure].mean(0), max(float(shape.centre[sure].std()), 1e-6)
    there, usual = (shape.centre - middle) / spread, float(np.median(shape.sizes[sure]))
    off = np.clip(shape.sizes - usual, -ODD_SIZE, ODD_SIZE)
    known = there[sure]
    slope = np.linalg.solve(known.T @ known + LEVEL * np.eye(2), known.T @ off[sure])
    return np.asarray(np.minimum((shape.sizes - usual - there @ slope) ** 2, ODD_SIZE))


def _likeness(ends: Sequence[CardEnd]) -> tuple[Floats, Floats]:
    """What is known before papers are seen: how probably two ends show the same card, (n, n), and how sure
    each is the right way up, (n,)."""
    cue = _cue(ends)
    return _alike(_ranks(ends), cue / cue.sum(1, keepdims=True)), np.array([end.upright for end in ends])


def _ranks(ends: Sequence[CardEnd]) -> Floats:
    return np.array([[end.ranks.get(name, 0.0) for name in (*RANKS, *JOKERS)] for end in ends])


def _cue(ends: Sequence[CardEnd]) -> Floats:
    return np.array([[end.colours.get(name, 1.0) for name in COLOURS] for end in ends])


def _single_odds(
    quads: Floats,
    cards: Sequence[tuple[int, ...]],
    lines: Sequence[Line],
    readings: Sequence[tuple[Candidate, ...]],
    belief: Floats,
    size: tuple[int, ...],
) -> Floats:
    """How much speaks for each card, (n,), where it shows a single end: prints on a cloth, words on cards and
    the feet of a fan look like that. size: height and width of the photo, pixels.
    """
    every = range(len(quads))
    sure = np.array([readings[card][0].confidence for card in range(len(cards))])
    first = [card[0] for card in cards]
    tells = {name: np.zeros(len(cards)) for name in SINGLE}
    tells["belief"] = _log_odds(belief)[first]
    tells["reading"] = _log_odds(np.clip(sure, LEAST, 1 - LEAST))
    tells["company"] += in_company(quads, cards, every)[first] >= 2
    tells["size"] = _odd_sizes(quads, belief)[first]
    # Where most cards show both ends, few show one, and hardly any whose other end is not hidden.
    tells["pairs"] += np.mean([len(card) == 2 for card in cards])
    tells["bare"] = tells["pairs"] * lie_bare(quads, cards, every, size)[first]
    for line in lines:
        here = list(line.cards)
        tells["apart"][here] = len(here) <= SHORT and len(lines[0].cards) >= LONG  # the longest is first
        if len(here) >= LONG:
            # Between two neighbours that lie no further apart than usual there is no room for another card.
            room = np.array([before + after for before, after in pairwise(line.steps)])
            tells["squeezed"][here[1:-1]] = np.maximum(1 - room / 2 / np.median(line.steps), 0)
    return np.asarray(SINGLE_USUALLY + sum(weight * tells[name] for name, weight in SINGLE.items()))


def _log_odds(chance: Floats) -> Floats:
    chance = np.clip(chance, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(chance / (1 - chance)))


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


def _parts(
    lines: Sequence[Line], names: Sequence[str], shape: Shape, cards: Sequence[tuple[int, ...]]
) -> list[_Part]:
    """What lies where: the hand is whatever is too long for a meld; short parts that make one are melds, and
    whatever lies close by, as the owner's cards lie, is the owner's too; other cards that lie about are not.
    """

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
            elif meld and (len(part.cards) > 1 or not long):
                found.append(_Part(part, "meld", meld))
            elif len(part.cards) > 2 and any(_parallel(part, each) for each in long):
                found.append(_Part(part, "hand"))
            else:
                found.append(_Part(part, "other"))
    border = [part.line for part in found if part.role != "other"]
    while border:
        near = border.pop()
        for number, beside in enumerate(found):
            if beside.role == "other" and _close_by(beside.line, near, shape, cards):
                meld = made(beside.line)
                found[number] = _Part(beside.line, "meld" if meld else "hand", meld)
                border.append(beside.line)
    return found


def _close_by(a: Line, b: Line, shape: Shape, cards: Sequence[tuple[int, ...]]) -> bool:
    """Whether the nearest ends of two lines lie close by each other and along each other."""
    here, there = ([end for card in line.cards for end in cards[card]] for line in (a, b))
    far = np.linalg.norm(shape.centre[here][:, None] - shape.centre[there], axis=2)
    far /= (shape.high[here][:, None] + shape.high[there]) / 2
    one, other = np.unravel_index(int(np.argmin(far)), far.shape)
    along = abs(float(shape.up[here[one]] @ shape.up[there[other]]))
    return bool(far[one, other] < CLOSE_BY) and along > math.cos(PARALLEL)


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
    shape = Shape.of(quads[list(ends)])
    return np.asarray(quads[ends[int(np.argmax(shape.up @ np.array(up)))]])


def _tuple(quad: Floats) -> Quad:
    a, b, c, d = ((float(x), float(y)) for x, y in quad)
    return a, b, c, d
