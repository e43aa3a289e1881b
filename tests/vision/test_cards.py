"""Ends of cards become cards, colours, order and melds: on layouts drawn with a deck of blank glyphs, whose
truth is known."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from companion.pieces import Piece
from companion.reading import Expectation
from datasets.card_drawing import draw_scene
from datasets.card_layouts import PlacedCard, SceneCard, _fan, _line, true_cards
from datasets.cards import PIECES, CardDeck
from datasets.render import Camera
from tests.decks import PAPERS, plain_deck
from vision.card_lines import Line, find_lines, meld_of, split_melds
from vision.card_looks import among, gaps_in_columns, turned_from_others
from vision.cards import _odd_sizes, arrange_cards
from vision.classify import Read
from vision.decks import REJECT, CardReader, Seen, ends_of
from vision.ends import (
    COLOURS,
    JOKERS,
    RANKS,
    CardEnd,
    _assign,
    feet,
    in_company,
    join_ends,
    lie_bare,
    middles,
    turn_apart,
    upside_down,
    words_on_cards,
)
from vision.locate import Located
from vision.papers import Papers, judge_colours

SEEN = 0.4
"""An end of which so much is in sight can be located."""


def seen_from(
    cards: list[PlacedCard], deck: CardDeck, elevation: float = 70, azimuth: float = 0.0
) -> tuple[np.ndarray, list[SceneCard]]:
    """A picture of the cards, and the truth."""
    middle = np.mean([(card.x, card.y) for card in cards], 0)
    reach = max(np.hypot(card.x - middle[0], card.y - middle[1]) for card in cards) + deck.length / 2 + 1
    target = (float(middle[0]), float(middle[1]), 0.0)
    camera = Camera.looking(target, 2.9 * reach, np.radians(elevation), azimuth, 0.03, 1.2, 960, 720)
    table = np.full((720, 960, 3), (60, 70, 90), np.uint8)
    image, owner = draw_scene(table, cards, deck, camera, np.random.default_rng(0))
    return image, true_cards(cards, deck, camera, owner)


def located(
    cards: list[SceneCard], rng: np.random.Generator, jitter: float = 0.02
) -> tuple[list[CardEnd], list[int]]:
    """The ends in sight as a network would give them, and which card each belongs to."""
    ends, owners = [], []
    for number, seen in enumerate(cards):
        rank = seen.card.piece[0]
        for end in seen.ends:
            if end.visible >= SEEN:
                size = np.linalg.norm(end.quad[1] - end.quad[0])
                quad = end.quad + rng.normal(0, jitter, (4, 2)) * size
                ranks = dict.fromkeys((*RANKS, *JOKERS), 0.004) | {rank: 0.956}
                ends.append(CardEnd(quad, ranks))
                owners.append(number)
    return ends, owners


def partition(owners: list[int]) -> set[tuple[int, ...]]:
    """What `join_ends` should find."""
    groups: dict[int, list[int]] = {}
    for index, owner in enumerate(owners):
        groups.setdefault(owner, []).append(index)
    return {tuple(group) for group in groups.values()}


def alike(truth: list[SceneCard], owners: list[int]) -> np.ndarray:
    """How probable it is that two ends show the same card, as the glyphs and the papers tell."""
    pieces = np.array([truth[owner].card.piece for owner in owners])
    return np.where(pieces[:, None] == pieces[None], 0.95, 0.01)


def quads_of(ends: list[CardEnd]) -> np.ndarray:
    return np.array([end.quad for end in ends])


HAND = [rank + suit for suit in "yrwg" for rank in "KAERHCP"]


def fan(count: int, deck: CardDeck, seed: int) -> list[PlacedCard]:
    return _fan(HAND[:count], deck, np.random.default_rng(seed))


@pytest.mark.parametrize("length", [2.5, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_ends_of_a_fan_are_joined_and_in_order(length: float, seed: int) -> None:
    deck = plain_deck(length)
    rng = np.random.default_rng(seed)
    _, truth = seen_from(fan(14 + seed, deck, seed), deck, 55 + 10 * seed, azimuth=[0, 0.4, -0.4, 2.0][seed])
    ends, owners = located(truth, rng)
    quads = quads_of(ends)
    joined = join_ends(quads, alike(truth, owners))
    assert set(joined) == partition(owners)
    (line, *others) = find_lines(quads, joined)
    assert not others
    assert not line.is_column
    names = [truth[owners[joined[card][0]]].card.piece for card in line.cards]
    assert names == [seen.card.piece for seen in truth]
    by_card = [truth[owners[card[0]]].card.piece for card in joined]
    assert split_melds(line, by_card) == [line]


def test_equal_cards_side_by_side_are_as_many_as_they_are() -> None:
    deck = plain_deck()
    cards = _line(["Kr"] * 4 + ["Ar"] * 3, 0.8, np.random.default_rng(1))
    _, truth = seen_from(cards, deck)
    ends, owners = located(truth, np.random.default_rng(1))
    assert set(join_ends(quads_of(ends))) == partition(owners)


def test_a_column_shows_its_tops_and_the_last_card_whole() -> None:
    deck = plain_deck(4.0)
    cards = _line(HAND[:9], 1.15, np.random.default_rng(2), along=True)
    _, truth = seen_from(cards, deck)
    ends, owners = located(truth, np.random.default_rng(2))
    assert len(ends) == 10
    quads = quads_of(ends)
    joined = join_ends(quads, alike(truth, owners))
    assert set(joined) == partition(owners)
    (line,) = find_lines(quads, joined)
    assert line.is_column
    assert [truth[owners[joined[card][0]]].card.piece for card in line.cards] == HAND[:9]


def test_rows_one_above_the_other_stay_apart() -> None:
    deck = plain_deck(2.5)
    rng = np.random.default_rng(3)
    cards = _line(HAND[:7], 0.9, rng) + _line(HAND[7:14], 0.9, rng, y=-2.8, row=1)
    _, truth = seen_from(cards, deck)
    ends, owners = located(truth, rng)
    quads = quads_of(ends)
    joined = join_ends(quads)
    assert set(joined) == partition(owners)
    lines = find_lines(quads, joined)
    named = [[truth[owners[joined[card][0]]].card.piece for card in line.cards] for line in lines]
    assert sorted(named) == sorted([HAND[:7], HAND[7:14]])


def test_a_row_beside_a_column_is_a_line_of_its_own() -> None:
    column = [(100.0, 50.0 + 30 * place, 1) for place in range(5)]
    row = [(126.0 + 22 * place, 112.0, 1) for place in range(4)]
    ends = standing(*column, *row)
    lines = find_lines(ends, [(number,) for number in range(len(ends))])
    assert [(line.is_column, set(line.cards)) for line in lines] == [
        (True, set(range(5))),
        (False, {5, 6, 7, 8}),
    ]


def test_no_ends_and_one_end() -> None:
    assert join_ends(np.zeros((0, 4, 2))) == []
    one = np.array([[[0, 0], [10, 0], [10, 12], [0, 12.0]]])
    assert join_ends(one) == [(0,)]
    (line,) = find_lines(one, [(0,)])
    assert (line.cards, line.steps) == ((0,), ())
    assert find_lines(one[:0], []) == []
    nothing = arrange_cards(np.zeros((10, 10, 3), np.uint8), [])
    assert (nothing.sightings, nothing.warnings) == ((), ("No card was found in the photo.",))


def test_the_assignment_is_the_cheapest() -> None:
    rng = np.random.default_rng(4)
    for count in (1, 2, 3, 5, 6):
        for _ in range(5):
            cost = rng.random((count, count)).round(2)
            chosen = _assign(cost)
            assert sorted(chosen) == list(range(count))
            ways = itertools.permutations(range(count))
            best = min(sum(cost[i, j] for i, j in enumerate(way)) for way in ways)
            assert sum(cost[i, j] for i, j in enumerate(chosen)) == pytest.approx(best)


def standing(*places: tuple[float, float, int]) -> np.ndarray:
    """Quads of ends, 20 wide and 24 high, around points (x, y); up is 1 upwards, -1 downwards."""
    corner = np.array([[-10, -12], [10, -12], [10, 12], [-10, 12.0]])
    return np.array([np.array([x, y]) + up * corner for x, y, up in places])


def test_tops_of_a_column_stay_apart_however_alike_and_as_far_apart_as_the_ends_of_a_card() -> None:
    """Equal cards, each pushed down by just the length between two ends; the last one shows both."""
    column = standing(*((100, 50 + 30 * place, 1) for place in range(6)), (100, 230, -1))
    upright = np.array([0.97, 0.9, 0.97, 0.9, 0.97, 0.9, 0.97])
    assert join_ends(column, upright=upright) == [(0,), (1,), (2,), (3,), (4,), (5, 6)]


def test_a_card_between_two_ends_keeps_them_apart_but_not_what_is_printed_in_the_middle() -> None:
    pair = [(100, 50, 1), (100, 150, -1)]
    # Two more tell how long cards are.
    more = [(300, 50, 1), (300, 150, -1), (400, 50, 1), (400, 150, -1)]
    whole = [(2, 3), (4, 5)]
    assert join_ends(standing(*pair, *more)) == [(0, 1), *whole]
    printed = standing(*pair, *more, (101, 100, 1))
    assert join_ends(printed, belief=np.array([0.9] * 6 + [0.7])) == [(0, 1), *whole, (6,)]
    assert join_ends(standing(*pair, *more, (101, 85, 1))) == [(0,), (1,), *whole, (6,)]
    # Beside the card an end may stand anywhere.
    assert join_ends(standing(*pair, *more, (125, 85, 1))) == [(0, 1), *whole, (6,)]


def test_words_in_the_middle_of_all_cards_do_not_halve_them() -> None:
    """Half of the lower ends are covered, all words are in sight."""
    tops, words = ([(40 * k, y, 1) for k in range(8)] for y in (50, 100))
    feet = [(40 * k, 150, -1) for k in range(0, 8, 2)]
    quads = standing(*tops, *words, *feet)
    # What a word is read as has little to do with its card.
    show = np.array([*range(8), *range(10, 18), *range(0, 8, 2)])
    alike = np.where(show[:, None] == show[None], 0.95, 0.05)
    upright = np.array([1.0] * 8 + [0.6] * 8 + [1.0] * 4)
    belief = np.array([0.9] * 8 + [0.7] * 8 + [0.9] * 4)
    joined = join_ends(quads, alike, upright, belief)
    assert [card for card in joined if len(card) == 2] == [(0, 16), (2, 17), (4, 18), (6, 19)]


def test_ends_that_are_not_alike_do_not_tell_how_long_cards_are() -> None:
    """The first and the last card of a wide fan look away from each other."""
    quads = standing((100, 50, 1), (100, 400, -1))
    assert join_ends(quads, np.array([[1, 0.001], [0.001, 1]])) == [(0,), (1,)]
    assert join_ends(quads) == [(0, 1)]


def test_the_length_of_cards_may_grow_across_the_photo() -> None:
    """As in a long row that leads away from the camera."""
    tops = [(40 * k, 50, 1) for k in range(20)]
    feet = [(40 * k, 50 + 40 * 1.6 ** (k / 19), -1) for k in range(20)]
    assert join_ends(standing(*tops, *feet)) == [(k, 20 + k) for k in range(20)]


def test_an_end_seen_upside_down_is_turned_where_its_card_tells_so() -> None:
    deck = plain_deck()
    names = ["Kr", "Ar", "Rr", "Hg", "Cg", "Py"]
    _, truth = seen_from(_line(names, 1.05, np.random.default_rng(5)), deck)
    ends, owners = located(truth, np.random.default_rng(5))
    quads, upright = quads_of(ends), np.full(len(ends), 0.99)
    for wrong in (1, 4):
        quads[wrong], upright[wrong] = np.roll(quads[wrong], 2, axis=0), 0.6
    joined = join_ends(quads, alike(truth, owners), upright)
    assert set(joined) == partition(owners)
    assert np.abs(turn_apart(quads, joined) - quads_of(ends)).max() < 1e-9
    # One that was seen clearly is another card's.
    assert set(join_ends(quads, alike(truth, owners))) != partition(owners)


def test_an_end_seen_lying_on_its_side_finds_its_card() -> None:
    """What is read of it then tells nothing."""
    deck = plain_deck()
    names = ["Kr", "Ar", "Rr", "Hg", "Cg", "Py"]
    image, truth = seen_from(_line(names, 1.05, np.random.default_rng(5)), deck)
    ends, owners = located(truth, np.random.default_rng(5))
    lower = [k for k, owner in enumerate(owners) if owner in owners[:k]]
    misread = dict.fromkeys((*RANKS, *JOKERS), 0.004) | {"E": 0.956}
    for wrong in lower[1:3]:
        ends[wrong] = replace(ends[wrong], quad=np.roll(ends[wrong].quad, 1, axis=0), ranks=misread)
    show = alike(truth, owners)
    show[lower[1:3]] = show[:, lower[1:3]] = 0.01
    quads = quads_of(ends)
    joined = join_ends(quads, show)
    assert set(joined) == partition(owners)
    ups = turn_apart(quads, joined)[:, 0] - turn_apart(quads, joined)[:, 3]
    assert (ups[lower, 1] > 0).all()  # down the photo
    assert [sighting.piece for sighting in arrange_cards(image, ends).sightings] == names


def test_an_end_whose_corners_are_off_is_still_its_cards() -> None:
    quads = standing(*((40 * k, 50, 1) for k in range(6)), *((40 * k, 170, -1) for k in range(6)))
    angle = np.radians(16)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    quads[8] = (quads[8] - quads[8].mean(0)) @ turn + quads[8].mean(0)
    assert join_ends(quads) == [(k, 6 + k) for k in range(6)]


def test_words_in_the_middle_of_cards_are_no_ends() -> None:
    deck = plain_deck()
    names = ["Kr", "Ar", "Rr", "Hg", "Cg", "Py"]
    _, truth = seen_from(_line(names, 1.05, np.random.default_rng(6)), deck)
    ends, owners = located(truth, np.random.default_rng(6))
    words = []
    for number in range(3):
        a, b = (ends[k].quad for k, owner in enumerate(owners) if owner == number)
        words.append((a + np.roll(b, 2, axis=0)) / 2)
    quads = np.concatenate([quads_of(ends), words])
    cards = [*join_ends(quads_of(ends), alike(truth, owners)), *((len(ends) + k,) for k in range(3))]
    assert middles(quads, cards) == {len(ends) + k for k in range(3)}
    # Of a card whose lower end is covered the word is known by those of the others.
    (covered,) = (card for card in cards if len(card) == 2 and owners[card[0]] == 2)
    apart = [card for card in cards if card != covered] + [(covered[0],)]
    assert middles(quads, apart) == {len(ends) + k for k in range(3)}


def test_words_all_along_cards_in_a_row_are_no_ends() -> None:
    """Nor are they where the row is seen aslant; but ends of columns side by side are."""

    def row(step: int) -> np.ndarray:
        words = [(step * k, y, 1) for k in (1, 2, 4) for y in (75, 97)]
        return standing(*((step * k, 50, 1) for k in range(6)), *words)

    cards: list[tuple[int, ...]] = [(k,) for k in range(12)]
    doubtful = np.array([0.95] * 6 + [0.9, 0.3, 0.5, 0.4, 0.6, 0.2])
    surely = np.ones(12)

    def found(places: np.ndarray, belief: np.ndarray) -> set[int]:
        return words_on_cards(places, cards, belief, np.flatnonzero(belief >= 0.6).tolist(), surely)

    assert found(row(20), doubtful) == set(range(6, 12))
    assert found(row(20) @ np.array([[1, 0.4], [0.3, 1]]), doubtful) == set(range(6, 12))
    assert found(row(20), np.array([0.97] * 6 + [0.94] * 6)) == set()
    assert found(row(30), doubtful) == set()  # these lie apart


def test_a_doubtful_end_counts_when_another_one_vouches_for_it() -> None:
    deck = plain_deck()
    names = ["Kr", "Ar", "Rr", "Hg", "Cg", "Py"]
    image, truth = seen_from(_line(names, 1.05, np.random.default_rng(7)), deck)
    ends, _ = located(truth, np.random.default_rng(7))
    both = [replace(end, belief=0.4) for end in ends]
    assert [sighting.piece for sighting in arrange_cards(image, both).sightings] == names
    alone = replace(ends[0], quad=ends[0].quad - np.array([0, 150]), belief=0.45)
    assert len(arrange_cards(image, [*ends, alone]).sightings) == len(names)
    surer = replace(alone, belief=0.97)
    assert len(arrange_cards(image, [*ends, surer]).sightings) == len(names) + 1


def test_a_part_of_a_cards_lower_end_is_no_other_card() -> None:
    """As at the feet of a fan, where little of each card shows."""
    places = [(40 * k, 50, 1) for k in range(4)] + [(40 * k, 170, -1) for k in range(3)]
    quads, belief = standing(*places), np.full(7, 0.95)
    cards = [(0, 4), (1, 5), (2,), (3,), (6,)]
    alike = np.full((7, 7), 0.01)
    assert feet(quads, cards, belief, alike) == set()  # two cards may lie so, end to end
    alike[2, 6] = alike[6, 2] = 0.9
    belief[6] = 0.9
    assert feet(quads, cards, belief, alike) == {6}
    alike[2, 6] = alike[6, 2] = 0.01
    quads[6] = quads[6].mean(0) + (quads[6] - quads[6].mean(0)) * 0.6
    assert feet(quads, cards, belief, alike) == {6}
    # Beside the foot, or looking the same way, it is another card's.
    assert (
        feet(quads + np.where(np.arange(7) == 6, 12, 0)[:, None, None] * [1, 0], cards, belief, alike)
        == set()
    )
    quads[6] = np.roll(quads[6], 2, axis=0)
    assert feet(quads, cards, belief, alike) == set()


def test_neighbours_that_show_the_same_card_at_one_end_each_stay_two_cards() -> None:
    tops, feet_of_others = [(40 * k, 50, 1) for k in range(4)], [(40 * k, 170, -1) for k in range(3)]
    beside = standing(*tops, *feet_of_others, (137, 170, -1))
    assert join_ends(beside) == [(0, 4), (1, 5), (2, 6), (3,), (7,)]
    # What is a little aslant is one card, and so is what is seen so poorly that its axis tells little.
    below = standing(*tops, *feet_of_others, (126, 170, -1))
    assert join_ends(below)[-1] == (3, 7)
    assert join_ends(beside, belief=np.array([1, 1, 1, 1, 1, 1, 1, 0.5]))[-1] == (3, 7)


def test_cards_seen_at_their_lower_ends_lie_where_their_upper_ones_would() -> None:
    """Else the gaps around them are as long as cards are, and part what lies together."""
    places = [(30 * k, 50, 1) for k in range(6) if k not in (2, 3)] + [(30 * k, 170, -1) for k in range(6)]
    cards = [(0, 4), (1, 5), (6,), (7,), (2, 8), (3, 9)]
    (line,) = find_lines(standing(*places), cards)
    assert line.cards == tuple(range(6)) and line.up[1] < -0.9
    assert line.steps == pytest.approx([1.5] * 5, abs=0.05)


def test_a_line_without_some_cards_has_the_same_places() -> None:
    line = Line((4, 2, 7, 1), (1.0, 1.5, 2.0), (0.0, -1.0), False)
    assert line.without({2}) == Line((4, 7, 1), (2.5, 2.0), (0.0, -1.0), False)
    assert line.without({4, 1}) == Line((2, 7), (1.5,), (0.0, -1.0), False)
    assert line.without({1, 2, 4, 7}).cards == line.without({1, 2, 4, 7}).steps == ()


def test_an_end_is_the_surer_the_surer_its_rank_and_its_way_up_are() -> None:
    quads = standing(*((100 + 30 * place, 50, 1) for place in range(4))).astype(np.float32)
    chances = np.array([[0.98, 0.01, 0.01], [0.45, 0.45, 0.1], [0.98, 0.01, 0.01], [0.1, 0.1, 0.8]])
    upright, none = np.array([0.99, 0.5, 0.5, 0.5]), np.zeros((4, 0))
    read = Read(quads, chances, upright, none, none)
    places = [Located(quad, "face", score) for quad, score in zip(quads, (0.7, 0.7, 0.7, 0.35), strict=True)]
    surest, doubtful, turned = ends_of(Seen(places, read, ("K", "A", REJECT), (), {}))
    assert 0.98 > surest.belief > turned.belief > doubtful.belief > 0.3
    assert (surest.ranks, surest.upright) == ({"K": 0.98, "A": 0.01}, 0.99)


def test_an_end_that_was_seen_twice_is_one() -> None:
    quads = standing((100, 50, 1), (104, 52, 1), (112, 50, 1)).astype(np.float32)
    none = np.zeros((3, 0))
    read = Read(quads, np.array([[0.6, 0.4], [0.99, 0.01], [0.98, 0.02]]), np.full(3, 0.9), none, none)
    places = [Located(quad, "face", 0.8) for quad in quads]
    ends = ends_of(Seen(places, read, ("K", REJECT), (), {}))
    # The surer one of two in one place; in tight fans others lie as near as the third.
    assert [round(end.quad.mean(0)[0]) for end in ends] == [104, 112]


def test_doubtful_ends_are_looked_at_again_and_so_are_faint_places_among_sure_ends() -> None:
    quads = standing(*((100 + 22 * place, 50, 1) for place in range(3))).astype(np.float32)
    far, large = standing((400, 50, 1), (166, 50, 1)).astype(np.float32)
    next_one, on_it = standing((166, 50, 1), (146, 50, 1)).astype(np.float32)
    large = large.mean(0) + 2 * (large - large.mean(0))
    asked: list[np.ndarray] = []

    def as_read(quads: np.ndarray, chances: list[float]) -> Read:
        none = np.zeros((len(quads), 0))
        named = np.array([[chance, 0.99 - chance, 0.01] for chance in chances])
        return Read(np.asarray(quads), named, np.full(len(quads), 0.99), none, none)

    class Classifier:
        labels = ("K", "A", REJECT)

        def read(self, image: np.ndarray, quads: np.ndarray) -> Read:
            asked.extend(quads)
            return as_read(quads, [0.9] * len(quads))

    reader = CardReader(None, Classifier())  # type: ignore[arg-type]
    sure = [Located(quad, "face", 0.9) for quad in quads]
    faint = [Located(quad, "face", 0.3, sure=False) for quad in (far, large, next_one, on_it)]
    image = np.zeros((100, 500, 3), np.uint8)
    located, read = reader._settled(image, sure, faint, as_read(quads, [0.98, 0.98, 0.5]), None)
    middles = [quad.mean(0).tolist() for quad in asked]
    assert middles == [[144, 50], pytest.approx([144, 48.56]), [166, 50], [146, 50]]
    assert np.ptp(asked[0][:, 0]) == pytest.approx(24)  # with a little of what lies around it
    assert located == [*sure, faint[2]]
    assert read.chances[:, 0].tolist() == pytest.approx([0.98, 0.98, (0.5 + 0.9 + 0.9) / 3, 0.9])


@pytest.mark.parametrize(("before", "anew", "taken"), [(0.7, 0.95, 0.95), (0.7, 0.6, 0.7), (0.99, 1.0, 0.99)])
def test_a_doubtful_end_is_read_as_its_neighbours_lie_where_that_is_surer(
    before: float, anew: float, taken: float
) -> None:
    quads = standing(*((22 * place, 50, 1) for place in range(3))).astype(np.float32)
    quads[1] = np.roll(quads[1], 1, axis=0)
    none = np.zeros((3, 0))

    def as_read(quads: np.ndarray, chances: list[float]) -> Read:
        named = np.array([[chance, 1 - chance, 0] for chance in chances])
        return Read(quads, named, np.full(len(quads), 0.97), none[: len(quads)], none[: len(quads)])

    class Classifier:
        labels = ("K", "A", REJECT)

        def read(self, image: np.ndarray, quads: np.ndarray, as_they_lie: bool) -> Read:
            assert as_they_lie and quads.shape == (1, 4, 2)
            return as_read(quads, [anew])

    reader = CardReader(None, Classifier())  # type: ignore[arg-type]
    places = [Located(quad, "face", 0.95) for quad in quads]
    read = reader._turned(np.zeros((100, 100, 3), np.uint8), places, as_read(quads, [0.99, before, 0.99]))
    assert read.chances[:, 0].tolist() == pytest.approx([0.99, taken, 0.99])
    upright = read.quads[1][0, 1] < 50 and read.quads[1][0, 0] < 22
    assert upright == (taken == anew)


def test_what_is_larger_or_smaller_than_the_ends_of_cards_must_be_seen_more_clearly() -> None:
    deck = plain_deck()
    names = ["Kr", "Ar", "Rr", "Hg", "Cg", "Py"]
    image, truth = seen_from(_line(names, 1.05, np.random.default_rng(7)), deck)
    ends, _ = located(truth, np.random.default_rng(7))
    ends = [replace(end, belief=0.9) for end in ends]
    first, second = (replace(end, quad=end.quad - np.array([0, 200]), belief=0.85) for end in ends[:2])
    centre = (first.quad.mean(0) + second.quad.mean(0)) / 2
    print_on_cloth = [replace(end, quad=centre + (end.quad - centre) / 3) for end in (first, second)]
    assert len(arrange_cards(image, [*ends, first, second]).sightings) == len(names) + 1
    assert len(arrange_cards(image, [*ends, *print_on_cloth]).sightings) == len(names)


def test_what_lies_further_away_may_be_smaller() -> None:
    """One size is odd where all are alike, and not where they shrink towards it."""
    quads = standing(*((60 * k, 100, 1) for k in range(6)), (400, 100, 1))
    belief = np.array([0.99] * 6 + [0.7])
    shrunk = np.exp(-np.array([0, 0, 0, 0, 0, 0, 6]) * 0.08)[:, None, None]
    slope = np.exp(-np.arange(7) * 0.08)[:, None, None]
    middles = quads.mean(1, keepdims=True)
    alone, among = (_odd_sizes(middles + (quads - middles) * sizes, belief)[6] for sizes in (shrunk, slope))
    assert alone > 0.15 and among < 0.03


@pytest.mark.parametrize(("place", "kept"), [("in the row", True), ("between", False), ("far off", False)])
def test_prints_are_no_cards_where_others_show_both_ends(place: str, kept: bool) -> None:
    """What is as sure as a card's only end that lies in the row, where a card is missing there."""
    names = ["Kr", "Ar", "Rr", "Hg", "Hg", "Cg", "Py"]
    image, truth = seen_from(_line(names, 1.15, np.random.default_rng(7)), plain_deck())
    ends, owners = located(truth, np.random.default_rng(7))
    tops = [next(k for k, owner in enumerate(owners) if owner == card) for card in range(len(names))]
    lone, step = ends[tops[3]], ends[tops[4]].quad.mean(0) - ends[tops[3]].quad.mean(0)
    doubtful = replace(lone, belief=0.45, ranks={**lone.ranks, "H": 0.65, "K": 0.3})
    if place == "in the row":
        ends = [end for end, owner in zip(ends, owners, strict=True) if owner != 3]
    elif place == "between":
        doubtful = replace(doubtful, quad=lone.quad + step / 2)
    else:
        doubtful = replace(doubtful, quad=lone.quad - np.array([0, 160]))
    seen = [sighting.piece for sighting in arrange_cards(image, [*ends, doubtful]).sightings]
    assert seen == names if kept else seen.count("Hg") == 2 and len(seen) == len(names)


def test_a_doubtful_end_counts_in_a_column_of_ends() -> None:
    deck = plain_deck(4.0)
    names = ["Kr", "Ar", "Rr", "Hg", "Cg", "Py"]
    image, truth = seen_from(_line(names, 1.15, np.random.default_rng(8), along=True), deck)
    ends, owners = located(truth, np.random.default_rng(8))
    ends = [
        replace(end, belief=0.3 if owner in (1, 3) else 0.8) for end, owner in zip(ends, owners, strict=True)
    ]
    assert [sighting.piece for sighting in arrange_cards(image, ends).sightings] == names
    # Elsewhere it does not, and where both ends should show it must be the surer.
    aside = ends[1].quad + np.array([150, 0])
    for belief, counts in ((0.3, False), (0.55, False), (0.97, True)):
        more = [*ends, replace(ends[1], quad=aside, belief=belief)]
        assert len(arrange_cards(image, more).sightings) == len(names) + counts


def test_tops_of_a_column_that_were_seen_upside_down_are_turned() -> None:
    quads = standing(*((100, 50 + 30 * place, 1 if place not in (2, 3, 7) else -1) for place in range(8)))
    upright = np.array([0.99, 0.99, 0.8, 0.9, 0.99, 0.99, 0.99, 0.9])
    alone = [(k,) for k in range(8)]
    assert upside_down(quads, alone, upright) == [2, 3, 7]
    assert upside_down(quads, alone, np.full(8, 1 - 1e-7)) == []
    # The lower end of the last card looks down, and two that look at each other say nothing.
    assert upside_down(quads[4:], [(0,), (1,), (2, 3)], upright[4:]) == []
    assert upside_down(quads[6:], [(0,), (1,)], upright[6:]) == []


def test_an_end_that_looks_another_way_than_its_neighbours_is_turned_as_they_lie() -> None:
    true = standing(*((22 * k, 50, 1) for k in range(5)))
    belief = np.array([0.95, 0.95, 0.4, 0.95, 0.95])
    for quarters in (1, 2, 3):
        seen = true.copy()
        seen[2] = np.roll(true[2], quarters, axis=0)
        (turned,) = turned_from_others(seen, belief).items()
        assert turned[0] == 2 and np.array_equal(turned[1], true[2])
    assert turned_from_others(true, belief) == {}
    # Neither one neighbour nor two that do not agree tell anything.
    assert turned_from_others(seen, np.array([0.2, 0.95, 0.4, 0.2, 0.2])) == {}
    seen[3] = np.roll(true[3], 1, axis=0)
    assert 2 not in turned_from_others(seen, belief)


def test_what_keeps_an_end_company_looks_the_same_way_near_by() -> None:
    cards = [(0, 1), (2,), (3,), (4,), (5,)]
    quads = standing((100, 50, 1), (100, 150, -1), (125, 52, 1), (150, 60, 1), (150, 105, 1), (260, 60, 1))
    assert in_company(quads, cards, range(6)).tolist() == [2, 0, 2, 3, 1, 0]
    assert in_company(quads, cards, [0, 1]).tolist() == [0, 0, 1, 1, 0, 0]


def test_places_among_ends_are_as_large_as_these_and_may_look_anywhere() -> None:
    quads = standing((100, 50, 1), (125, 52, 1), (150, 50, 1))
    places = standing((175, 50, -1), (125, 90, 1), (230, 50, 1))
    sideways = np.roll(places[:1], 1, axis=1)
    small = places[:1].mean(1, keepdims=True) + (places[:1] - places[:1].mean(1, keepdims=True)) / 2
    assert among(np.concatenate([places, sideways, small]), quads, 2).tolist() == [0, 3]
    assert among(places, quads, 1).tolist() == [0, 1]
    assert among(places[:0], quads, 1).tolist() == among(places, quads[:0], 1).tolist() == []


def test_ends_are_missed_in_gaps_of_columns_and_where_these_may_go_on() -> None:
    column = standing(*((100 + place, 50 + 20 * place, 1) for place in range(8)))
    around = standing((99, 30, 1), (108, 210, 1))
    for missing in ([], [3], [2, 3], [4, 5, 6]):
        between, beyond = gaps_in_columns(np.delete(column, missing, axis=0)[::-1])
        assert between == pytest.approx(column[missing], abs=0.01)
        assert beyond[np.argsort(beyond[:, 0, 1])] == pytest.approx(around, abs=0.01)
    wider = np.delete(column, [1, 3, 5], axis=0)
    assert not len(gaps_in_columns(wider)[0])  # such steps are usual there
    turned = np.concatenate([column[:3], np.roll(column[4:], 2, axis=1)])
    assert not len(gaps_in_columns(turned)[0])
    rows = standing(*((100, 50 + 60 * place, 1) for place in range(4)))
    row = standing(*((25 * place, 50, 1) for place in (0, 1, 2, 4)))
    for apart in (rows, row, column[:2], column[:0]):
        assert [len(places) for places in gaps_in_columns(apart)] == [0, 0]


@pytest.mark.parametrize(("shown", "taken"), [(0.9, [4, 6]), (0.75, [4]), (0.6, [])])
def test_what_shows_clearly_in_a_gap_or_beyond_a_column_is_taken(shown: float, taken: list[int]) -> None:
    column = standing(*((100, 50 + 20 * place, 1) for place in range(6)))
    seen = np.delete(column, 4, axis=0).astype(np.float32)

    def as_read(quads: np.ndarray, chances: list[float]) -> Read:
        none = np.zeros((len(quads), 0))
        named = np.array([[chance, 0, 1 - chance] for chance in chances])
        return Read(np.asarray(quads), named, np.full(len(quads), 0.99), none, none)

    class Classifier:
        labels = ("K", "A", REJECT)

        def read(self, image: np.ndarray, quads: np.ndarray) -> Read:
            return as_read(quads, [shown if quad[:, 1].mean() > 100 else 0.1 for quad in quads])

    reader = CardReader(None, Classifier())  # type: ignore[arg-type]
    sure = [Located(quad, "face", 0.9) for quad in seen]
    image = np.zeros((300, 300, 3), np.uint8)
    located, read = reader._settled(image, sure, [], as_read(seen, [0.98] * 5), None)
    assert [place.quad.mean(0).tolist() for place in located[5:]] == [[100, 50 + 20 * k] for k in taken]
    assert len(read.quads) == len(located)


def test_a_card_lies_bare_where_nothing_hides_its_other_end() -> None:
    cards = [(0, 1), (2,), (3,), (4,)]
    quads = standing((100, 50, 1), (100, 150, -1), (105, 60, 1), (300, 50, 1), (400, 150, 1))
    size = (200, 500, 3)
    # Under the first card, bare, and beyond the edge of the photo.
    assert lie_bare(quads, cards, range(5), size).tolist()[2:] == [False, True, False]
    assert not lie_bare(quads, [(k,) for k in range(5)], range(5), size).any()


# ---- colours ----

LIGHTS = {
    "white": (1.0, 1.0, 1.0),
    "lamp": (0.55, 0.88, 1.05),
    "candle": (0.42, 0.8, 1.1),
    "window": (1.1, 1.0, 0.85),
    "dim": (0.3, 0.3, 0.32),
}
"""Factors of blue, green and red."""


@pytest.mark.parametrize("light", LIGHTS)
@pytest.mark.parametrize("held", ["yrwg", "yw", "rwg", "yg", "ry"])
def test_papers_are_told_under_any_light(light: str, held: str) -> None:
    rng = np.random.default_rng(5)
    suits = [held[int(k)] for k in rng.integers(len(held), size=20)]
    papers = np.array([PAPERS[suit] for suit in suits]) * LIGHTS[light]
    papers *= np.exp(rng.normal(0, 0.2, (20, 1)))  # shade
    chances = judge_colours(papers + rng.normal(0, 2, papers.shape))
    assert chances.shape == (20, 4)
    assert np.allclose(chances.sum(1), 1)
    assert "".join(COLOURS[k] for k in chances.argmax(1)) == "".join(suits)


@pytest.mark.parametrize("orange", [(40, 165, 250), (23, 212, 245), (53, 207, 213)])
@pytest.mark.parametrize("red", [(17, 85, 255), (38, 52, 214)])
def test_orange_is_yellow_beside_red(orange: tuple[int, ...], red: tuple[int, ...]) -> None:
    papers = np.array([orange] * 6 + [red] * 6 + [(228, 236, 236)] * 3, float)
    assert "".join(COLOURS[k] for k in judge_colours(papers).argmax(1)) == "y" * 6 + "r" * 6 + "w" * 3


def test_blue_green_is_green() -> None:
    papers = np.array([(125, 150, 10)] * 4 + [(96, 170, 0)] * 4 + [(240, 244, 246)] * 4, float)
    assert "".join(COLOURS[k] for k in judge_colours(papers).argmax(1)) == "g" * 8 + "w" * 4


def papers_of(image: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The papers of cards of which each shows one end, as they lie."""
    cards = [(number,) for number in range(len(ends))]
    return Papers(image, ends).in_piles(cards, find_lines(ends, cards))


def test_ink_and_glare_are_no_paper() -> None:
    image = np.full((60, 60, 3), PAPERS["g"], np.uint8)
    image[15:45, 22:38] = 15
    image[5:12, 5:12] = 255
    quad = np.array([[0, 0], [60, 0], [60, 60], [0, 60.0]])
    papers, shares = papers_of(image, quad[None])
    assert np.abs(papers[0] - PAPERS["g"]).max() < 3
    assert shares[0] == 1


def test_what_a_neighbour_may_cover_is_not_asked() -> None:
    image = np.full((60, 100, 3), PAPERS["g"], np.uint8)
    image[:, 25:] = PAPERS["w"]
    ends = np.array([[[0, 0], [60, 0], [60, 60], [0, 60.0]], [[25, 0], [85, 0], [85, 60], [25, 60]]])
    papers, shares = papers_of(image, ends)
    assert np.abs(papers - [PAPERS["g"], PAPERS["w"]]).max() < 3
    assert shares[0] < 0.5 and shares[1] == 1  # the paper changes at the edge of the second


@pytest.mark.parametrize("later_on_top", [True, False])
@pytest.mark.parametrize("step", [0.6, 0.85])
def test_what_lies_on_what_is_seen_at_the_edges(later_on_top: bool, step: float) -> None:
    deck = plain_deck()
    names = ["Kr", "Aw", "Ey", "Rg", "Hw", "Cr", "Py", "Kg"]
    row = [PlacedCard(n, step * k, 0, 0, k if later_on_top else 9 - k) for k, n in enumerate(names)]
    image, truth = seen_from(row, deck)
    ends, _ = located(truth, np.random.default_rng(3))
    placed = arrange_cards(image, ends)
    assert [sighting.piece for sighting in placed.sightings] == names


def test_glare_draws_a_paper_towards_white_and_is_seen_through() -> None:
    suits = "yyyyrrrrrggggwwww"
    papers = np.array([PAPERS[suit] for suit in suits])
    papers[[0, 4, 9]] += 0.6 * (np.array(PAPERS["w"]) - papers[[0, 4, 9]])
    chances = judge_colours(papers)
    assert "".join(COLOURS[k] for k in chances.argmax(1)) == suits


def test_what_an_end_says_by_itself_tips_the_scales() -> None:
    papers = np.array([(60.0, 150.0, 230.0)] * 4)  # orange alone: yellow or red?
    cues = {suit: np.where(np.array(list(COLOURS)) == suit, 0.97, 0.01) for suit in "yr"}
    for suit, cue in cues.items():
        chances = judge_colours(papers, cue=np.tile(cue, (4, 1)))
        assert {COLOURS[k] for k in chances.argmax(1)} == {suit}


# ---- melds, and the whole stage ----


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["Kr"], "single"),
        (["2j"], "single"),
        (["Ar"], None),
        (["Ar", "Ar"], "pair"),
        (["Er", "Kr", "Ar"], "chow"),
        (["Er", "Kr", "Ay"], None),
        (["Hw"] * 3, "pung"),
        (["Hw"] * 4, "kong"),
        (["Pr", "Pw", "Pg"], "soldiers"),
        (["Pr", "Pw", "Pw"], None),
    ],
)
def test_what_is_a_meld(names: list[str], kind: str | None) -> None:
    meld = meld_of(names)
    assert (meld.kind if meld else None) == kind


def test_melds_are_set_apart_by_their_gaps() -> None:
    deck = plain_deck(4.0)
    rng = np.random.default_rng(6)
    groups = [["Kr", "Ar", "Er"], ["Hw"] * 4, ["Py", "Pr", "Pg"], ["Kg"], ["Cy"] * 2]
    cards: list[PlacedCard] = []
    x = 0.0
    for number, names in enumerate(groups):
        part = _line(names, 0.8, rng, x=x)
        cards += [replace(card, role="meld", group=number) for card in part]
        x = part[-1].x + 1.5
    image, truth = seen_from(cards, deck)
    ends, _ = located(truth, rng)
    placed = arrange_cards(image, ends)
    assert [sorted(map(str, meld.pieces)) for meld in placed.melds] == [sorted(names) for names in groups]
    assert {sighting.role for sighting in placed.sightings} == {"meld"}
    for sighting in placed.sightings:
        assert sighting.group is not None
        assert Piece.parse(sighting.piece) in placed.melds[sighting.group].pieces


def test_a_fan_with_melds_beside_it_and_a_card_thrown_away() -> None:
    deck = plain_deck(4.0)
    rng = np.random.default_rng(7)
    hand = ["Ky", "Ky", "Ay", "Ey", "Rr", "Hr", "Cr", "Cr", "Pw", "Pw"]
    cards = _line(hand, 0.8, rng)
    melds = _line(["Hg"] * 3, 0.8, rng, y=5.5) + [
        replace(card, x=card.x + 4) for card in _line(["Kw", "Aw", "Ew"], 0.8, rng, y=5.5)
    ]
    cards += [replace(card, role="meld") for card in melds]
    cards.append(PlacedCard("Ag", 8.5, 8.5, 1.1, 0, role="other"))
    image, truth = seen_from(cards, deck, elevation=80)
    ends, _ = located(truth, rng)
    placed = arrange_cards(image, ends, scale=2.0)
    roles = Counter(sighting.role for sighting in placed.sightings)
    assert roles == {"hand": 10, "meld": 6, "other": 1}
    assert [sighting.piece for sighting in placed.sightings[:10]] == hand
    assert [str(meld) for meld in placed.melds] == ["pung HHHg", "chow KAEw"]
    assert placed.sightings[-1].piece == "Ag"
    high = max(y for sighting in placed.sightings for _, y in sighting.quad)
    assert 720 < high < 1440  # quads in pixels of the full photo


def test_what_lies_close_by_as_the_hand_does_is_the_owners_whatever_it_is_read_as() -> None:
    deck = plain_deck(4.0)
    rng = np.random.default_rng(7)
    hand = ["Ky", "Ky", "Ay", "Ey", "Rr", "Hr", "Cr", "Cr", "Pw", "Pw"]
    no_meld = _line(["Hg", "Cw"], 0.8, rng, y=5.5)
    thrown = [PlacedCard("Ag", 8.5, 8.5, 1.1, 0), PlacedCard("Kg", 5.5, 13.5, 0.0, 0)]
    image, truth = seen_from([*_line(hand, 0.8, rng), *no_meld, *thrown], deck, elevation=80)
    placed = arrange_cards(image, located(truth, rng)[0])
    role = {sighting.piece: sighting.role for sighting in placed.sightings}
    assert (role["Hg"], role["Cw"]) == ("hand", "hand")
    # Another way round, and a general far away, which might have been a meld.
    assert (role["Ag"], role["Kg"]) == ("other", "other")


def test_a_doubtful_fifth_card_becomes_what_the_deck_allows() -> None:
    deck = plain_deck(4.0)
    rng = np.random.default_rng(8)
    names = ["Hw"] * 4 + ["Cw", "Pw", "Kr"]
    image, truth = seen_from(_line(names, 0.9, rng), deck)
    ends, owners = located(truth, rng)
    doubtful = dict.fromkeys((*RANKS, *JOKERS), 0.001) | {"H": 0.5, "C": 0.49}
    ends = [
        replace(end, ranks=doubtful) if names[owner] == "Cw" else end
        for end, owner in zip(ends, owners, strict=True)
    ]
    placed = arrange_cards(image, ends)
    assert Counter(sighting.piece for sighting in placed.sightings) == Counter(names)


def test_a_joker_that_the_game_does_not_have_must_be_seen_clearly() -> None:
    deck = plain_deck(4.0)
    rng = np.random.default_rng(9)
    names = ["Kr", "Ar", "Er", "Rr", "Hr", "Pg"]
    image, truth = seen_from(_line(names, 0.9, rng), deck)
    ends, owners = located(truth, rng)
    doubtful = dict.fromkeys((*RANKS, *JOKERS), 0.001) | {"1": 0.6, "P": 0.39}
    ends = [replace(e, ranks=doubtful) if names[k] == "Pg" else e for e, k in zip(ends, owners, strict=True)]
    assert arrange_cards(image, ends).sightings[-1].piece == "1j"
    no_jokers = Expectation(frozenset(PIECES), sizes=())
    last = arrange_cards(image, ends, no_jokers).sightings[-1]
    assert last.piece == "Pg"
    assert sum(candidate.confidence for candidate in last.candidates) <= 1 + 1e-9
