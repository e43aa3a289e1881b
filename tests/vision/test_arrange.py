"""Roles, rows, groups and the legal reading, on tables seen by random cameras and on hands set up by hand."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.pieces import parse_pieces
from companion.reading import BACK, Candidate, Expectation, Sighting
from tests.conftest import shared_folder
from tests.vision.layouts import HEIGHT, HIGH, WIDTH, Table, Tile, read
from vision.arrange import arrange
from vision.debug import draw_sightings
from vision.legal import legal_choice
from vision.rows import Shape, find_rows

# Tables: each lays tiles with their true roles.


def one_row(table: Table) -> None:
    table.row(table.deal(table.rng.choice([13, 14])), "hand", x=-7, lean=table.rng.choice([0, 0, 70]))


def game(table: Table) -> None:
    """A hand before walls, a heap of discards and the open rows of other players."""
    one_row(table)
    table.row([BACK] * 14, "back", x=-8, y=3)
    table.row(table.deal(13), "other", x=7, y=20, turn=180)
    table.row(table.deal(13), "other", x=11, y=4, turn=90)
    table.row(table.deal(13), "other", x=-11, y=17, turn=-90)
    table.heap(26 + table.rng.randint(5, 40), -8, 8, 6, 16)


def two_rows(table: Table) -> None:
    longer = table.rng.randint(7, 9)
    table.row(table.deal(longer), "hand", x=-longer / 2)
    table.row(table.deal(14 - longer), "hand", x=-3, y=HIGH + table.rng.uniform(0.05, 1.3))
    table.heap(20, -8, 8, 6, 16)


def melds_beside(table: Table) -> None:
    """Pungs and kongs right of the row, some with a turned tile; the concealed tiles lie or stand."""
    sizes = [table.rng.choice([3, 3, 4]) for _ in range(table.rng.randint(1, 3))]
    melds = [table.equal(size) for size in sizes]
    concealed = table.deal(13 - 3 * len(melds) + table.rng.choice([0, 1]))
    x = table.row(concealed, "hand", lean=table.rng.choice([0, 60]))
    for meld in melds:
        x += table.rng.uniform(0.6, 1.5)
        x += table.row(meld, "meld", x=x, turned=table.rng.choice([None, 0, 1, 2]))
    table.heap(15, 0, 16, 6, 16)


def melds_in_front(table: Table) -> None:
    melds = [table.equal(3) for _ in range(table.rng.randint(1, 3))]
    table.row(table.deal(14 - 3 * len(melds)), "hand")
    x, y = 0.0, HIGH + table.rng.uniform(0.3, 1.5)
    for meld in melds:
        x += table.row(meld, "meld", x=x, y=y) + table.rng.uniform(0.4, 0.9)
    table.heap(15, 0, 16, 6, 16)


def concealed_kong(table: Table) -> None:
    name = table.equal(4)[0]
    x = table.row(table.deal(10), "hand")
    shown = table.rng.choice([[BACK, name, name, BACK], [name, BACK, BACK, name]])
    table.row(shown, "meld", x=x + table.rng.uniform(0.5, 1.5))
    table.heap(15, 0, 16, 6, 16)


def pond(table: Table) -> None:
    """Discards in neat rows, straight before the own row."""
    one_row(table)
    y = HIGH + table.rng.uniform(2, 4)
    for k, count in enumerate((table.rng.randint(1, 6), 6, 6)):
        table.row(table.deal(count), "other", x=-3, y=y + k * 1.4)


def spaced(table: Table) -> None:
    table.row(table.deal(13), "hand", gap=table.rng.uniform(0.2, 0.8))


def sorted_by_suit(table: Table) -> None:
    """Gaps between the suits: they sort the hand and declare nothing."""
    x, names = 0.0, table.deal(14)
    for _, suit in itertools.groupby(names, key=lambda name: name[1]):
        x += table.row(list(suit), "hand", x=x) + table.rng.uniform(0.4, 0.6)


def winning_tile_apart(table: Table) -> None:
    x = table.row(table.deal(13), "hand")
    table.tiles.append(Tile(x + 1.5, 0.1, table.deal(1)[0], "hand"))
    table.heap(12, 0, 16, 6, 16)


def first_discard(table: Table) -> None:
    """The first discard of the game lies before a row that waits for one tile, seen low from behind it."""
    table.row(table.deal(13), "hand", lean=table.rng.choice([0, 70]))
    x, y = table.rng.uniform(2, 10), HIGH + table.rng.uniform(1.1, 2.5)
    table.tiles.append(Tile(x, y, table.deal(1)[0], "other", table.rng.uniform(-12, 12)))
    table.row([BACK] * 14, "back", y=8)


def flowers_apart(table: Table) -> None:
    table.row(table.deal(14), "hand")
    table.row(["1f", "5f"], "hand", y=HIGH + table.rng.uniform(0.2, 1))
    table.heap(12, 0, 16, 6, 16)


def tile_missed(table: Table) -> None:
    """One tile of the row was not located."""
    table.row(table.deal(14), "hand")
    table.tiles.pop(table.rng.randint(4, 9))
    table.heap(12, 0, 16, 6, 16)


def grid(table: Table) -> None:
    across = table.rng.randint(3, 9)
    for k in range(table.rng.randint(3, 5)):
        table.row(table.deal(across), "hand", y=k * (HIGH + 0.05))


def scattered(table: Table) -> None:
    table.heap(25, -6, 6, 0, 9)
    for tile in table.tiles:
        tile.role = "hand"


def upright_column(table: Table) -> None:
    for k in range(8):
        table.row(table.deal(1), "hand", y=k * 1.4)


TABLES = [
    one_row, game, two_rows, melds_beside, melds_in_front, concealed_kong, pond, spaced, sorted_by_suit,
    winning_tile_apart, first_discard, flowers_apart, tile_missed, grid, scattered, upright_column,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lay", TABLES, ids=lambda lay: lay.__name__)
def test_roles_of_tables_seen_by_a_random_camera(lay: Callable[[Table], None], seed: int) -> None:
    table = Table(random.Random(seed))
    lay(table)
    # A crowded table is only photographed upright: turned, another player's row looks just like the own.
    photo = table.photo(quarter_turns=0 if lay is game else seed % 4)
    roles = {sighting.quad: sighting.role for sighting in arrange(photo, WIDTH, HEIGHT).sightings}
    expected = {sighting.quad: tile.role for sighting, tile in zip(photo, table.tiles, strict=True)}
    assert roles == expected


@pytest.mark.parametrize("quarter_turns", range(4))
def test_reading_order_rows_and_groups(quarter_turns: int) -> None:
    table = Table(random.Random(5))
    names = ["1f", "1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z"]
    x = table.row(names, "hand")
    x += 0.8 + table.row(["2z", "2z", "2z"], "meld", x=x + 0.8, turned=0)
    table.row(["3z", "0p", "5p", "5p"], "other", y=9)
    found = arrange(table.photo(quarter_turns), WIDTH, HEIGHT)
    assert [s.piece for s in found.sightings[:11]] == names
    assert [(s.role, s.row, s.group) for s in found.sightings[10:12]] == [("hand", 0, None), ("meld", 0, 0)]
    assert [s.piece for s in found.sightings[14:]] == ["3z", "0p", "5p", "5p"]
    assert {(s.role, s.row) for s in found.sightings[14:]} == {("other", 1)}
    assert [str(meld) for meld in found.melds] == ["pung 222z"]
    assert found.warnings == ()


def test_a_concealed_kong_is_named_by_its_two_faces() -> None:
    table = Table(random.Random(1))
    x = table.row(table.deal(10), "hand")
    table.row([BACK, "7z", "7z", BACK], "meld", x=x + 0.8)
    found = arrange(table.photo(), WIDTH, HEIGHT)
    assert [(str(meld), meld.concealed) for meld in found.melds] == [("kong 7777z", True)]
    assert [(s.piece, s.role) for s in found.sightings if s.group == 0] == [
        ("7z", "meld"), ("7z", "meld"), (BACK, "back"), (BACK, "back"),
    ]  # fmt: skip
    assert found.warnings == ()


def test_a_concealed_kong_may_show_its_outer_faces() -> None:
    table = Table(random.Random(1))
    x = table.row(table.deal(10), "hand")
    table.row(["7z", BACK, BACK, "7z"], "meld", x=x + 0.8)
    found = arrange(table.photo(), WIDTH, HEIGHT)
    assert [(str(meld), meld.concealed) for meld in found.melds] == [("kong 7777z", True)]


WAITING = [str(piece) for piece in parse_pieces("1234m 567p 345s 22z 7z")]
"""Thirteen tiles, as they lie in a row."""


def at_the_end(table: Table, end: float) -> None:
    table.row(["6s"], "hand", x=end + 0.6)


def at_the_start(table: Table, end: float) -> None:
    table.row(["6s"], "hand", x=-1.7)


def before_the_row(table: Table, end: float) -> None:
    table.row(["6s"], "hand", x=end - 3, y=HIGH + 0.3)


def behind_the_row(table: Table, end: float) -> None:
    table.row(["6s"], "hand", x=end / 2, y=-HIGH - 0.6)


def turned_at_the_corner(table: Table, end: float) -> None:
    table.tiles.append(Tile(end + 1.4, 0.5, "6s", "hand", turn=90))


def beyond_the_melds(table: Table, end: float) -> None:
    """Concealed tiles, the winning one, then a declared pung and a flower."""
    del table.tiles[-3:]
    table.row(["6s"], "hand", x=end - 2.4)
    table.row(["5z", "5z", "5z"], "meld", x=end - 0.4)
    table.row(["3f"], "hand", x=end + 4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "lay",
    [at_the_end, at_the_start, before_the_row, behind_the_row, turned_at_the_corner, beyond_the_melds],
    ids=lambda lay: lay.__name__,
)
def test_a_winning_piece_set_apart_is_proposed(lay: Callable[[Table, float], None], seed: int) -> None:
    table = Table(random.Random(seed))
    lay(table, table.row(WAITING, "hand"))
    table.heap(10, 0, 14, 7, 14)
    found = arrange(table.photo(), WIDTH, HEIGHT)
    assert found.winning is not None
    won = found.sightings[found.winning]
    assert (won.piece, won.role) == ("6s", "hand")


@pytest.mark.parametrize("seed", range(4))
def test_no_winning_piece_is_made_up(seed: int) -> None:
    """None in an unbroken row, between sorted suits, in a hand that is one short, nor of two set apart."""
    rng = random.Random(seed)
    unbroken, sorted_, short, two = (Table(rng) for _ in range(4))
    unbroken.row([*WAITING, "7z"], "hand")
    x = 0.0
    for _, suit in itertools.groupby([*WAITING, "7z"], key=lambda name: name[1] + name * (name == "7z")):
        x += sorted_.row(list(suit), "hand", x=x) + rng.uniform(0.4, 0.5)
    short.row(["6s"], "hand", x=0.7 + short.row(WAITING[:-1], "hand"))
    two.row(["6s"], "hand", x=-1.8)
    two.row(["9s"], "hand", x=0.8 + two.row(WAITING[:-1], "hand"))
    for table in (unbroken, sorted_, short, two):
        assert arrange(table.photo(), WIDTH, HEIGHT).winning is None


# Concealed kongs that show nothing


@pytest.mark.parametrize("seed", range(4))
def test_four_backs_set_apart_are_a_concealed_kong_without_a_name(seed: int) -> None:
    """In the row or before it; and a second one, when the hand lacks so much."""
    table = Table(random.Random(seed))
    count = 10 - 3 * (seed % 2)
    x = table.row(table.deal(count), "hand")
    table.row([BACK] * 4, "back", x=x + 0.8)
    if seed % 2:
        table.row([BACK] * 4, "back", x=1, y=HIGH + 0.6)
    table.row([BACK] * 12, "back", y=9)
    found = arrange(table.photo(), WIDTH, HEIGHT)
    assert len(found.unnamed) == 1 + seed % 2
    fours = [found.sightings[i] for four in found.unnamed for i in four]
    assert {(s.piece, s.role, s.group) for s in fours} == {(BACK, "back", None)}
    assert len({s.quad for s in fours}) == 4 * len(found.unnamed) and found.melds == ()
    assert len(found.warnings) == 1 and found.warnings[0].endswith("name the tile.")


def test_four_backs_beside_a_whole_hand_are_a_stump_of_the_wall() -> None:
    table = Table(random.Random(4))
    x = table.row(table.deal(13), "hand")
    table.row([BACK] * 4, "back", x=x + 0.8)
    found = arrange(table.photo(), WIDTH, HEIGHT)
    assert found.unnamed == () and found.warnings == ("4 tiles lie face down in the own row.",)


def test_a_misread_tile_of_a_declared_pung_is_read_like_its_neighbours() -> None:
    table = Table(random.Random(2))
    x = table.row(["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z"], "hand")
    table.row(["6s", "6s", "6s"], "meld", x=x + 1)
    photo = table.photo()
    doubtful = next(k for k, tile in enumerate(table.tiles) if tile.name == "6s")
    photo[doubtful] = Sighting(photo[doubtful].quad, (Candidate("8s", 0.6), Candidate("6s", 0.4)))
    found = arrange(photo, WIDTH, HEIGHT)
    assert [str(meld) for meld in found.melds] == ["pung 666s"]
    again = next(s for s in found.sightings if s.quad == photo[doubtful].quad)
    assert [c.piece for c in again.candidates] == ["6s", "8s"]
    assert 0.95 < again.confidence < 1


def test_the_count_shows_a_kong_in_an_unbroken_row() -> None:
    table = Table(random.Random(3))
    names = [str(piece) for piece in parse_pieces("1235555m 678p 23499s")]
    table.row(names, "hand")
    assert [str(meld) for meld in arrange(table.photo(), WIDTH, HEIGHT).melds] == ["kong 5555m"]
    table = Table(random.Random(3))
    table.row(names[:-1], "hand")
    assert arrange(table.photo(), WIDTH, HEIGHT).melds == ()


def test_a_piece_located_twice_counts_once() -> None:
    table = Table(random.Random(7))
    table.row(table.deal(13), "hand")
    photo = table.photo()
    x, y = np.array(photo[0].quad)[1] - np.array(photo[0].quad)[0]
    moved = tuple((px + 0.2 * x, py + 0.2 * y) for px, py in photo[0].quad)
    again = Sighting(moved, read("8p", 0.6))  # type: ignore[arg-type]
    assert arrange([again, *photo], WIDTH, HEIGHT) == arrange(photo, WIDTH, HEIGHT)


def tile(name: str, x: float, y: float, high: float = 54, confidence: float = 0.97) -> Sighting:
    """One seen square-on, 40 pixels wide."""
    return Sighting(((x, y), (x + 40, y), (x + 40, y + high), (x, y + high)), read(name, confidence))


def test_white_sides_of_tiles_are_no_dragons() -> None:
    hand = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z", "5z", "5z"]
    faces = [tile(name, 100 + 41 * k, 600) for k, name in enumerate(hand)]
    tops = [tile("5z", 100 + 41 * k, 570, 29) for k in range(13)]
    placed = arrange([*faces, *tops], 1200, 900).sightings
    assert sorted(s.piece for s in placed) == sorted(hand)
    assert {s.role for s in placed} == {"hand"}


@pytest.mark.parametrize(("free", "confidence", "count"), [(28, 0.5, 6), (28, 0.95, 7), (40, 0.5, 7)])
def test_between_tiles_that_are_closer_than_one_tile_lies_none(
    free: float, confidence: float, count: int
) -> None:
    """Unless it is read clearly: then one of them is larger than it is."""
    hand = ["1m", "2m", "3m", "7p", "8p", "9p"]
    faces = [tile(name, 100 + 41 * k + free * (k > 2), 600) for k, name in enumerate(hand)]
    x0, x1 = 100 + 41 * 2 + 40, 100 + 41 * 3 + free
    corners = ((x0, 600.0), (x1, 600.0), (x1, 654.0), (x0, 654.0))
    patch = Sighting(corners, (Candidate("8s", confidence),))
    assert len(arrange([*faces, patch], 1200, 900).sightings) == count


@pytest.mark.parametrize(("gap", "count"), [(0, 7), (15, 9)])
def test_what_begins_where_a_face_ends_is_the_side_of_its_tile(gap: float, count: int) -> None:
    """Though there are no more blank faces than a deck holds; a tile that lies by itself stays."""
    hand = ["1m", "2m", "3m", "5z", "5z", "1z", "1z"]
    faces = [tile(name, 100 + 41 * k, 600) for k, name in enumerate(hand)]
    tops = [tile("5z", 100 + 41 * k, 570 - gap, 30) for k in (2, 3)]
    assert len(arrange([*faces, *tops], 1200, 900).sightings) == count


def test_a_shade_that_is_hardly_read_does_not_make_a_dragon_of_the_white_sides_beside_it() -> None:
    hand = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z", "6z", "6z"]
    faces = [tile(name, 100 + 41 * k, 600) for k, name in enumerate(hand)]
    tops = [tile("5z", 100 + 41 * k, 550, 48) for k in range(5)]
    tops[2] = Sighting(tops[2].quad, (Candidate("3p", 0.4), Candidate("5z", 0.3)))
    placed = arrange([*faces, *tops], 1200, 900).sightings
    assert sorted(s.piece for s in placed) == sorted(hand)


@pytest.mark.parametrize(
    ("confidence", "high", "other"), [(0.7, 25, True), (0.5, 54, True), (0.7, 54, False), (0.97, 25, False)]
)
def test_sides_and_letters_read_as_small_doubtful_faces_are_not_the_hand(
    confidence: float, high: float, other: bool
) -> None:
    """What is read clearly, or is as large as a face, stays."""
    hand = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z"]
    faces = [tile(name, 100 + 41 * k, 600, 54, 0.97) for k, name in enumerate(hand)]
    low = [tile(name, 150 + 41 * k, 665, high, confidence) for k, name in enumerate(["4s", "6s", "7p"])]
    placed = arrange([*faces, *low], 1200, 900).sightings
    assert [s.role for s in placed if s.quad[0][1] == 600] == ["hand"] * 11
    assert {s.role == "other" for s in placed if s.quad[0][1] > 600} == {other}


def test_a_few_rows_close_together_and_nothing_else_are_one_hand_of_any_size() -> None:
    table = Table(random.Random(3))
    table.row(table.deal(10), "hand")
    table.row(table.deal(9), "hand", x=1, y=HIGH + 1.5)
    assert {s.role for s in arrange(table.photo(), WIDTH, HEIGHT).sightings} == {"hand"}
    table.row([BACK] * 9, "back", y=9)  # a wall: this is a game, and the rows are those of several players
    roles = Counter(s.role for s in arrange(table.photo(), WIDTH, HEIGHT).sightings)
    assert roles == {"hand": 10, "other": 9, "back": 9}


@pytest.mark.parametrize("seed", range(4))
def test_two_rows_close_together_may_be_a_hand_of_a_game_with_larger_ones(seed: int) -> None:
    table = Table(random.Random(seed))
    table.row(table.deal(9), "hand")
    table.row(table.deal(7), "hand", x=0.5, y=HIGH + 0.4)
    table.tiles.append(Tile(10.3, 0.1, table.deal(1)[0], "hand"))
    table.row([BACK] * 12, "back", y=7)
    table.heap(14, -5, 8, 9, 18)
    photo = table.photo()
    roles = {sighting.quad: sighting.role for sighting in arrange(photo, WIDTH, HEIGHT).sightings}
    assert roles == {sighting.quad: tile.role for sighting, tile in zip(photo, table.tiles, strict=True)}


def test_the_own_row_is_the_upright_one_though_a_longer_one_lies_across_the_table() -> None:
    table = Table(random.Random(2))
    table.row(table.deal(7), "hand")
    table.row(table.deal(9), "other", x=9, y=11, turn=180)
    placed = arrange(table.photo(), WIDTH, HEIGHT).sightings
    assert [s.role for s in placed] == ["hand"] * 7 + ["other"] * 9


def test_parts_of_one_line_are_no_block_of_rows() -> None:
    table, x = Table(random.Random(5)), 0.0
    for size in (4, 6, 6):
        x += 0.8 + table.row(table.deal(size), "hand", x=x, y=0.1 * size)
    table.row(table.deal(4), "other", x=5, y=9, turn=180)
    roles = Counter(s.role for s in arrange(table.photo(), WIDTH, HEIGHT).sightings)
    assert roles["other"] == 4


@pytest.mark.parametrize(("blank", "read_as"), [(0.3, "5z"), (0.04, BACK)])
def test_a_piece_alone_face_down_in_a_long_row_may_be_a_blank_face(blank: float, read_as: str) -> None:
    table = Table(random.Random(6))
    table.row(table.deal(13), "hand")
    photo = table.photo()
    k = next(k for k, tile in enumerate(table.tiles) if 5 < tile.x < 7)
    photo[k] = replace(photo[k], candidates=(Candidate(BACK, 0.99 - blank), Candidate("5z", blank)))
    placed = arrange(photo, WIDTH, HEIGHT).sightings
    assert [s.piece for s in placed if s.quad == photo[k].quad] == [read_as]


@pytest.mark.parametrize(
    ("wide", "confidence", "kept"),
    [(15, 0.5, False), (15, 0.7, True), (25, 0.3, False), (25, 0.55, True), (38, 0.3, True)],
)
def test_small_places_that_are_hardly_read_are_no_pieces(wide: float, confidence: float, kept: bool) -> None:
    def tile(name: str, x: float, wide: float, confidence: float) -> Sighting:
        return Sighting(((x, 600), (x + wide, 600), (x + wide, 654), (x, 654)), read(name, confidence))

    row = [tile(f"{k}m", 100 + 41 * k, 40, 0.97) for k in range(1, 10)]
    candidates = (Candidate("1z", confidence), Candidate("2z", 0.2))
    odd = replace(tile("1z", 520, wide, confidence), candidates=candidates)
    placed = arrange([*row, odd], 1200, 900).sightings
    assert ("1z" in {s.piece for s in placed}) == kept and len(placed) == 9 + kept


@pytest.mark.parametrize("seed", range(4))
def test_a_short_row_stands_out_before_the_others_though_half_of_it_is_upside_down(seed: int) -> None:
    table = Table(random.Random(seed))
    for k, name in enumerate(table.deal(4)):
        table.tiles.append(Tile(1.05 * k, 0, name, "hand", turn=180 * (k % 2)))
    table.heap(14, -5, 8, 5, 14)
    photo = table.photo()
    roles = {sighting.quad: sighting.role for sighting in arrange(photo, WIDTH, HEIGHT).sightings}
    assert roles == {sighting.quad: tile.role for sighting, tile in zip(photo, table.tiles, strict=True)}


def test_flowers_laid_aside_near_the_row_belong_to_the_hand() -> None:
    row = [
        tile(name, 100 + 41 * k, 600)
        for k, name in enumerate(
            ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z", "1z", "5s"]
        )
    ]
    aside = [tile("3f", 720, 560), tile("4f", 800, 530)]
    far = [tile("5f", 300, 100), tile("6m", 420, 120), tile("2p", 700, 90)]
    placed = arrange([*row, *aside, *far], 1200, 900).sightings
    roles = {s.piece: s.role for s in placed}
    assert (roles["3f"], roles["4f"]) == ("hand", "hand")
    assert (roles["5f"], roles["6m"], roles["2p"]) == ("other", "other", "other")


def test_a_badly_located_piece_within_the_row_stays_in_the_hand() -> None:
    table = Table(random.Random(8))
    table.row(table.deal(14), "hand")
    table.heap(12, 0, 14, 6, 12)
    photo = table.photo()
    k = next(k for k, tile in enumerate(table.tiles) if tile.role == "hand" and 5 < tile.x < 9)
    middle = np.mean(photo[k].quad, axis=0)
    turned = tuple(
        (p[0], p[1]) for p in (np.array(photo[k].quad) - middle) @ [[0.6, 0.6], [-0.6, 0.6]] + middle
    )
    photo[k] = replace(photo[k], quad=turned)  # type: ignore[arg-type]
    found = arrange(photo, WIDTH, HEIGHT)
    assert [s.role for s in found.sightings if s.quad == turned] == ["hand"]
    assert sum(s.role == "hand" for s in found.sightings) == 14


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=4),
            st.sampled_from(["1m", "5m", "0m", "1f", "7z", BACK]),
        ),
        max_size=12,
    )
)
def test_any_quads_are_arranged(drawn: list[tuple[list[tuple[int, int]], str]]) -> None:
    """Points, lines, crossed and equal quads: each is placed at most once, and a back is a back."""
    photo = [Sighting(tuple((40.0 * x, 40.0 * y) for x, y in quad), read(name)) for quad, name in drawn]  # type: ignore[arg-type]
    found = arrange(photo, WIDTH, HEIGHT)
    assert not Counter(s.quad for s in found.sightings) - Counter(s.quad for s in photo)
    assert all((s.role == "back") == (s.piece == BACK) for s in found.sightings)


def test_warnings_in_plain_words() -> None:
    def warnings(text: str, **expectation: object) -> tuple[str, ...]:
        table = Table(random.Random(4))
        table.row(text.split(), "hand")
        photo = [replace(s, candidates=read(s.piece, 0.999)) for s in table.photo()]
        return arrange(photo, WIDTH, HEIGHT, Expectation(**expectation)).warnings  # type: ignore[arg-type]

    twelve = "1m 1m 1m 2m 3m 4m 5m 6m 7m 8m 9m 9m"
    assert warnings(twelve) == ("12 tiles read; a hand has 13 or 14.",)
    assert warnings(twelve, sizes=()) == warnings(twelve, sizes=(12,)) == warnings(twelve + " 9m") == ()
    assert warnings("3m 3m 1m 3m 3m 4m 5m 6m 7m 3m 8m 9m 9m") == (
        "5 times 3 of characters (3m) read; there are only 4 of it.",
    )
    assert arrange([], WIDTH, HEIGHT).warnings == ("No tile was found in the photo.",)


def test_unexpected_pieces_need_a_clear_look() -> None:
    table = Table(random.Random(6))
    table.row(["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1p", "2p", "3p", "4p"], "hand")
    photo = table.photo()
    photo[0] = Sighting(photo[0].quad, (Candidate("1z", 0.6), Candidate("9p", 0.4)))
    photo[1] = Sighting(photo[1].quad, (Candidate("2z", 0.99), Candidate("9p", 0.01)))
    suits = frozenset(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10))
    found = {s.quad: s for s in arrange(photo, WIDTH, HEIGHT, Expectation(pieces=suits)).sightings}
    assert [found[photo[k].quad].piece for k in (0, 1)] == ["9p", "2z"]
    assert found[photo[0].quad].confidence == pytest.approx(0.4 / 0.46)


# The legal reading


def _ranked(chances: dict[str, float]) -> tuple[Candidate, ...]:
    return tuple(Candidate(p, c) for p, c in sorted(chances.items(), key=lambda item: -item[1]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 20), min_size=3, max_size=3), min_size=1, max_size=7), st.integers(1, 3)
)
def test_the_legal_choice_is_the_most_probable_of_all(weights: list[list[int]], copies: int) -> None:
    """Against every assignment there is, each copy too many costing its odds."""
    names = ("1m", "2m", "3m")
    chances = [{n: w / sum(row) for n, w in zip(names, row, strict=True)} for row in weights]
    odds = 0.02

    def log_probability(choice: tuple[str, ...]) -> float:
        over = sum(max(0, count - copies) for count in Counter(choice).values())
        return sum(math.log(c[n]) for c, n in zip(chances, choice, strict=True)) + over * math.log(odds)

    best = max(map(log_probability, itertools.product(names, repeat=len(chances))))
    found = legal_choice([_ranked(c) for c in chances], copies, extra_odds=odds)
    assert log_probability(tuple(ranked[0].piece for ranked in found)) == pytest.approx(best)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.5, 0.99), min_size=5, max_size=7))
def test_confidences_are_the_probabilities_given_the_limit(confidences: list[float]) -> None:
    """Against counting all cases: each piece is a 1m or a 2m, and more than four 1m are improbable."""
    found = legal_choice([_ranked({"1m": c, "2m": 1 - c}) for c in confidences], extra_odds=0.02)
    total, share = 0.0, np.zeros(len(confidences))
    for case in itertools.product((True, False), repeat=len(confidences)):
        weight = math.prod(c if is_1m else 1 - c for c, is_1m in zip(confidences, case, strict=True))
        weight *= 0.02 ** max(0, sum(case) - 4)
        total += weight
        share += weight * np.array(case)
    for ranked, expected in zip(found, share / total, strict=True):
        assert sum(c.confidence for c in ranked) == pytest.approx(1)
        assert {c.piece: c.confidence for c in ranked}["1m"] == pytest.approx(expected)


def test_limits_of_red_fives_flowers_and_melds() -> None:
    sure = (Candidate("5p", 0.999),)
    red = (Candidate("0p", 0.5), Candidate("0s", 0.4), Candidate("5p", 0.1))
    assert legal_choice([sure] * 4 + [red])[4][0].piece == "0s"
    flower, doubtful = (Candidate("1f", 0.99),), (Candidate("1f", 0.6), Candidate("5f", 0.3))
    assert [r[0].piece for r in legal_choice([flower, doubtful])] == ["1f", "5f"]
    assert legal_choice([(Candidate("1m", 0.6), Candidate("2m", 0.4))], used={"1m": 4})[0][0].piece == "2m"
    # Seen clearly, it is what it is: the deck may be mixed from two.
    assert [r[0].piece for r in legal_choice([read("5z", 0.999)] * 6)] == ["5z"] * 6


# Rows


@pytest.mark.parametrize("seed", range(5))
def test_rows_do_not_depend_on_which_side_of_a_quad_comes_first(seed: int) -> None:
    """A piece read with its side for its top stays in its row; the row keeps the order of the others."""
    table = Table(random.Random(seed))
    table.row(table.deal(14), "hand")
    quads = np.array([s.quad for s in table.photo(seed % 4)])
    before = find_rows(Shape.of(quads))
    for k in (2, 7, 11):
        quads[k] = np.roll(quads[k], k, axis=0)
    assert len(before) == 1 and len(before[0]) == 14
    assert [row.pieces for row in find_rows(Shape.of(quads))] == [before[0].pieces]


def test_a_bent_row_is_one_row() -> None:
    table = Table(random.Random(0))
    for k in range(14):
        angle = 4.0 * (k - 7)
        x, y = 15 * math.sin(math.radians(angle)), 15 * (1 - math.cos(math.radians(angle)))
        table.tiles.append(Tile(x, y, table.deal(1)[0], "hand", turn=angle))
    rows = find_rows(Shape.of(np.array([s.quad for s in table.photo()])))
    assert [len(row) for row in rows] == [14]


def test_the_debug_picture_shows_roles_by_colour() -> None:
    quad = ((20.0, 20.0), (60.0, 20.0), (60.0, 80.0), (20.0, 80.0))
    blank = np.zeros((100, 100, 3), np.uint8)
    drawn = draw_sightings(blank, [Sighting(quad, read("5m"), "hand")], names=False)
    assert drawn[50, 20].argmax() == 1 and not drawn[50, 40].any() and not blank.any()
    assert draw_sightings(blank, [Sighting(quad, read("5m"), "back")], scale=2.0)[20, 10].argmax() == 2


# Real photos


def test_labelled_hands_come_out_whole() -> None:
    """The labelled boxes of real photos, taken for quads: next to all tiles of the hands are in the hand."""
    folder = shared_folder()
    if folder is None or not (folder / "data/mahjong/groups.json").is_file():
        pytest.skip("the shared photos are not on this computer")
    data = folder / "data/mahjong"
    groups = json.loads((data / "groups.json").read_text())
    scenes = {s["file"]: s for path in (data / "scenes").glob("*.json") for s in json.loads(path.read_text())}
    right, total = 0, 0
    for group in groups["groups"].values():
        for file in set(group["files"]) - set(groups["partly_boxed_discards"]):
            boxes = [(t["bbox"], t["label"]) for t in scenes[file]["tiles"]]
            photo = [
                Sighting(((x, y), (x + w, y), (x + w, y + h), (x, y + h)), read(label))
                for (x, y, w, h), label in boxes
            ]
            found = arrange(photo, scenes[file]["width"], scenes[file]["height"])
            right += all(s.role in ("hand", "meld") for s in found.sightings)
            total += 1
    assert total > 600 and right / total > 0.985
