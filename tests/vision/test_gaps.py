"""Places where pieces are missing in rows, and which of them show one after all."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.layouts import Table
from vision.blanks import find_bare
from vision.classify import Read
from vision.decks import REJECT, TileReader
from vision.gaps import (
    NOTHING,
    Place,
    filled_places,
    find_corners,
    find_misfits,
    find_neighbours,
    find_parts,
    find_places,
)
from vision.locate import Located


def quads_of(table: Table, quarter_turns: int = 0) -> NDArray[np.float64]:
    """Corners of the tiles seen by a random camera, in the order of the table's tiles."""
    return np.array([sighting.quad for sighting in table.photo(quarter_turns)])


def lies_on(quad: NDArray[np.float64], tile: NDArray[np.float64]) -> bool:
    """Whether a quad is about where a tile is, whichever corner it begins with."""
    size = float(np.linalg.norm(tile[1] - tile[0]))
    return min(float(np.abs(np.roll(quad, -k, axis=0) - tile).max()) for k in range(4)) < 0.3 * size


@pytest.mark.parametrize("quarter_turns", range(4))
@pytest.mark.parametrize("missing", [1, 2])
def test_tiles_missed_in_a_row_have_their_places(quarter_turns: int, missing: int) -> None:
    table = Table(random.Random(quarter_turns))
    table.row(table.deal(13), "hand")
    quads = quads_of(table, quarter_turns)
    row = sorted(range(13), key=lambda i: table.tiles[i].x)
    gone = row[5 : 5 + missing]
    places = find_places(np.delete(quads, gone, axis=0), NOTHING)
    assert len(places) == missing and all(place.between for place in places)
    assert all(any(lies_on(place.quad, quads[i]) for place in places) for i in gone)


def test_gaps_that_hold_no_tile_are_no_places() -> None:
    """Between melds, and between sorted suits."""
    table, x = Table(random.Random(1)), 0.0
    for count in (5, 3, 3):
        x += 0.5 + table.row(table.deal(count), "hand", x=x)
    assert find_places(quads_of(table), NOTHING) == []


def test_where_a_row_goes_on_faintly_the_reader_is_asked() -> None:
    """Only where something shows; and all tiles along, however many there are."""
    table = Table(random.Random(2))
    table.row(table.deal(13), "hand")
    table.row(table.deal(1), "other", x=4, y=9)
    quads = quads_of(table)
    row = sorted(range(14), key=lambda i: (table.tiles[i].role, table.tiles[i].x))
    sure, faint, far = quads[row[:9]], quads[row[9:13]], quads[row[13:]]
    places = find_places(sure, np.concatenate([far, faint[::-1]]))
    assert [place.between for place in places] == [False] * 4 and len({p.chain for p in places}) == 1
    assert all(lies_on(place.quad, tile) for place, tile in zip(places, faint, strict=True))
    assert find_places(sure, far) == []
    assert find_places(sure, faint, np.arange(9) < 1) == []  # a wall of backs or of sides


@pytest.mark.parametrize("quarter_turns", range(4))
def test_clear_neighbours_tell_where_a_doubtful_piece_has_its_corners(quarter_turns: int) -> None:
    """Between two, and at either end; beside others that are not clear nothing is told."""
    table = Table(random.Random(quarter_turns))
    table.row(table.deal(13), "hand")
    quads = quads_of(table, quarter_turns)
    row = sorted(range(13), key=lambda i: table.tiles[i].x)
    wrong, numbers = quads.copy(), np.arange(13)
    for i in (row[0], row[5], row[12]):  # only a part of the face was located
        wrong[i] = quads[i].mean(0) + 0.7 * (quads[i] - quads[i].mean(0))
    doubtful = np.isin(numbers, [row[0], row[5], row[8], row[9], row[12]])
    found = find_corners(wrong, ~doubtful, doubtful)
    assert all(any(lies_on(place.quad, quads[i]) for place in found) for i in (row[0], row[5], row[12]))
    found = find_corners(wrong, doubtful, ~doubtful)
    assert not any(lies_on(place.quad, quads[i]) for place in found for i in (row[2], row[3]))
    assert find_corners(wrong, np.zeros(13, bool), doubtful) == []


@pytest.mark.parametrize("quarter_turns", range(4))
def test_beside_clear_pieces_is_looked_whatever_lies_there(quarter_turns: int) -> None:
    """Between them and past both ends, not where they are; a part of a face is told by its size."""
    table = Table(random.Random(10 + quarter_turns))
    table.row(table.deal(8), "hand")
    quads = quads_of(table, quarter_turns)
    row = sorted(range(8), key=lambda i: table.tiles[i].x)
    located = quads.copy()
    left, right = quads[row[3], [0, 3]], quads[row[3], [1, 2]]
    located[row[3], [1, 2]] = (left + right) / 2
    odd, _ = find_misfits(located, np.ones(8, bool))
    assert np.flatnonzero(odd).tolist() == [row[3]] and not np.any(find_misfits(quads, np.ones(8, bool)))
    clear = ~odd
    clear[row[7]] = False
    places = find_neighbours(located, clear)
    assert [place.between for place in places] == [True, False, False]
    assert all(any(lies_on(place.quad, quads[i]) for place in places) for i in (row[3], row[7]))
    assert find_neighbours(located, np.arange(8) == row[0]) == []


@pytest.mark.parametrize("quarter_turns", range(4))
def test_a_half_of_a_face_that_was_found_as_well_is_told_by_its_neighbours(quarter_turns: int) -> None:
    table = Table(random.Random(20 + quarter_turns))
    table.row(table.deal(6), "hand")
    quads = quads_of(table, quarter_turns)
    half = quads[2].copy()
    half[[2, 3]] = (quads[2][[0, 1]] + quads[2][[3, 2]]) / 2
    assert find_parts(np.array([*quads, half]), np.ones(7, bool)).tolist() == [False] * 6 + [True]
    assert not find_parts(np.array([*quads, half]), np.arange(7) == 6).any()


def test_what_is_longer_than_any_tile_fits_no_row() -> None:
    """A patch of the rack that fills a gap between the suits; a tile lying across does fit."""
    upright = np.array([SQUARE * [1, 1.35] + [10.5 * k, 0.0] for k in range(8)])
    gap = np.array([[43.0, 2.0], [61.5, 2.0], [61.5, 10.0], [43.0, 10.0]])
    across = np.array([[42.5, 1.5], [56.0, 1.5], [56.0, 11.5], [42.5, 11.5]])
    for odd, between in ((True, gap), (False, across)):
        row = np.array([*upright[:4], between, *(upright[4:] + np.array([22.0, 0.0]))])
        found, longer = find_misfits(row, np.arange(9) != 4)
        assert found.tolist() == longer.tolist() == [odd and k == 4 for k in range(9)]


SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])


NONE = np.zeros(0)


def places_of(*chains: int | None) -> tuple[list[Place], NDArray[np.float64]]:
    """Places side by side, past the ends with these numbers, or between others (None)."""
    quads = np.array([SQUARE + np.array([11.0 * k, 0.0]) for k in range(len(chains))])
    return [Place(quad, quad, chain is None, chain) for quad, chain in zip(quads, chains, strict=True)], quads


def test_what_is_read_surely_is_believed_and_past_an_end_nothing_beyond_an_empty_place() -> None:
    places, quads = places_of(None, None, None, 0, 0, 0, 1)
    faces = ["1m", None, "2m", "3m", "4m", "5m", "6m"]
    sure = [0.8, 0.99, 0.6, 0.95, 0.8, 0.99, 0.95]
    assert filled_places(places, faces, sure, quads, NOTHING, NONE) == ([0, 3, 6], [])


def test_blank_faces_are_believed_beside_others_of_their_material_alone() -> None:
    places, quads = places_of(None, None, None, 0)
    level = [replace(place, level=k != 1) for k, place in enumerate(places)]
    faces, sure = ["5z"] * 4, [0.95, 0.95, 0.5, 0.7]
    bare = np.array([True, True, True, True])
    assert filled_places(level, faces, sure, quads, NOTHING, NONE, bare) == ([0, 3], [])
    assert filled_places(level, faces, sure, quads, NOTHING, NONE, ~bare) == ([], [])
    assert filled_places(level, faces, sure, quads, NOTHING, NONE) == ([], [])


def test_bare_is_what_looks_as_the_rims_of_faces_do() -> None:
    """A blank face beside two with drawings, cloth in another colour, a darker side, and past the edge."""
    image = np.full((200, 400, 3), (60, 110, 40), np.uint8)
    quads = np.array([SQUARE * [4, 5.4] + [20 + 44.0 * k, 60] for k in range(5)])
    for k in range(3):
        (x, y), (far, low) = quads[k, 0].astype(int), quads[k, 2].astype(int)
        image[y:low, x:far] = (205, 225, 235)
        if k < 2:
            image[y + 16 : low - 16, x + 12 : far - 12] = (30, 30, 160)
    x, y = quads[3, 0].astype(int)
    image[y : y + 54, x : x + 40] = (150, 165, 172)
    outside = quads[0] - [45, 0]
    asked = np.array([quads[2], quads[3], quads[4], outside])
    assert find_bare(image, asked, quads[:2]).tolist() == [True, False, False, False]
    assert not find_bare(image, asked, NOTHING).any()


def test_no_piece_is_found_twice() -> None:
    places, quads = places_of(None, 0)
    moved = quads.copy()
    moved[1] = quads[0] + 3
    sure = np.array([0.95])
    assert filled_places(places, ["1m", "1m"], [0.99, 0.98], moved, NOTHING, NONE) == ([0], [])
    assert filled_places(places, ["1m", "1m"], [0.99, 0.98], quads, quads[:1] + 2, sure) == ([1], [])


def test_what_is_read_more_surely_in_its_place_replaces_what_was_located_amiss() -> None:
    """Two halves of neighbours, say; between them less certainty does, for something does lie there."""
    places, quads = places_of(None, None)
    amiss = np.array([quads[0] + [4, 0], quads[1] + [4, 0]])
    held = np.array([0.3, 0.5])
    assert filled_places(places, ["1m", "2m"], [0.5, 0.55], quads, amiss, held) == ([0], [0])


def test_a_patch_between_two_tiles_that_is_smaller_than_they_are_is_none() -> None:
    places, quads = places_of(None)
    patch = quads.mean(1, keepdims=True) + (quads - quads.mean(1, keepdims=True)) * [0.65, 0.9]
    assert filled_places(places, ["2s"], [0.99], patch, NOTHING, NONE) == ([], [])


class FakeLocator:
    """Finds the pieces that it is given."""

    def __init__(self, quads: NDArray[np.float64]) -> None:
        self.found = [Located(quad.astype(np.float32), "face", 0.9) for quad in quads]

    def locate(self, image: object, first: object, faint: bool) -> list[Located]:
        return self.found


class FakeClassifier:
    """Knows the tiles of a row: reads a quad the more surely the better it lies on one of them."""

    labels, colours = ("1m", "2m", "reject"), ()

    def __init__(self, tiles: NDArray[np.float64]) -> None:
        self.tiles, self.calls = tiles, 0

    def read(self, image: object, quads: NDArray[np.float32], adaptation: object) -> Read:
        self.calls += 1
        chances, size = np.zeros((len(quads), 3)), float(np.linalg.norm(self.tiles[0, 1] - self.tiles[0, 0]))
        for chance, quad in zip(chances, quads, strict=True):
            off = np.abs(self.tiles - quad).max((1, 2)) / size
            chance[int(off.argmin()) % 2] = max(0.99 - 2 * float(off.min()), 0.0)
            chance[2] = 1 - chance.sum()
        none = np.zeros((len(quads), 0))
        return Read(quads.astype(np.float32), chances, np.ones(len(quads)), none, none)


def test_one_more_look_mends_what_is_badly_located_and_finds_what_is_missed() -> None:
    """And where all is clear, only the ends are looked beyond."""
    tiles = np.array([SQUARE * [4, 5.4] + [100 + 41.0 * k, 300] for k in range(9)])
    located = np.delete(tiles, 6, axis=0)
    located[2] = tiles[2].mean(0) + 0.6 * (tiles[2] - tiles[2].mean(0))
    image, classifier = np.zeros((600, 600, 3), np.uint8), FakeClassifier(tiles)
    seen = TileReader(FakeLocator(located), classifier).see(image)  # type: ignore[arg-type]
    read = seen.read.take(np.flatnonzero(seen.read.chances.argmax(1) != seen.labels.index(REJECT)))
    assert classifier.calls == 2 and len(read.quads) == 9
    order = np.argsort(read.quads[:, 0, 0])
    assert [seen.labels[k] for k in read.chances[order].argmax(1)] == ["1m", "2m"] * 4 + ["1m"]
    assert np.abs(read.quads[order] - tiles).max() < 3 and read.chances.max(1).min() > 0.85
    assert len(TileReader(FakeLocator(tiles), classifier).see(image).located) == 9  # type: ignore[arg-type]


def test_beside_what_one_look_finds_another_one_looks_on() -> None:
    tiles = np.array([SQUARE * [4, 5.4] + [100 + 41.0 * k, 300] for k in range(9)])
    image, classifier = np.zeros((600, 600, 3), np.uint8), FakeClassifier(tiles)
    seen = TileReader(FakeLocator(tiles[:5]), classifier).see(image)  # type: ignore[arg-type]
    read = seen.read.take(np.flatnonzero(seen.read.chances.argmax(1) != seen.labels.index(REJECT)))
    assert len(read.quads) == 9
    assert np.abs(read.quads[np.argsort(read.quads[:, 0, 0])] - tiles).max() < 3
