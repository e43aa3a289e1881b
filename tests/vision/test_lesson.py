"""Tiles laid out in order are read row by row and cut out upright."""

from __future__ import annotations

import numpy as np
import pytest

from companion.reading import Candidate, Quad, Reading, Sighting
from vision.adapt import FRAME
from vision.lesson import FACES, LessonError, guess, laid_out, lesson
from vision.load import Photo

SUITS = [FACES[:9], FACES[9:18], FACES[18:27], FACES[27:]]


def table(rows: list[tuple[str, ...]], degrees: float = 0.0, turned: frozenset[str] = frozenset()) -> Reading:
    """Rows of 60 x 80 tiles on a photo that is turned, shuffled; the quads of some pieces start elsewhere."""
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    sightings = []
    for r, row in enumerate(rows):
        for c, piece in enumerate(row):
            x, y = 200 + 66 * c, 200 + 95 * r
            corners = np.array([(x, y), (x + 60, y), (x + 60, y + 80), (x, y + 80)]) - 500
            corners = np.roll(corners @ turn.T + 500, 2 if piece in turned else 0, axis=0)
            a, b, c4, d = ((float(px), float(py)) for px, py in corners)
            quad: Quad = (a, b, c4, d)
            sightings.append(Sighting(quad, (Candidate(piece, 0.9),)))
    order = np.random.default_rng(1).permutation(len(sightings))
    return Reading("a.jpg", "mahjong", 1000, 1000, tuple(sightings[i] for i in order))


def names(rows: list[list[Sighting]]) -> list[tuple[str, ...]]:
    return [tuple(s.piece for s in row) for row in rows]


@pytest.mark.parametrize("degrees", [0, -12, 12, 90, 180])
def test_rows_are_read_as_who_laid_them_out_does(degrees: float) -> None:
    assert names(laid_out(table(SUITS, degrees))) == SUITS


def test_tiles_taken_to_lie_upside_down_are_put_right() -> None:
    rows = laid_out(table(SUITS, 5, frozenset({"1m", "5p", "9s", "3z"})))
    assert names(rows) == SUITS
    for row in rows:
        for sighting in row:
            quad = np.array(sighting.quad)
            assert (quad[2] + quad[3] - quad[0] - quad[1])[1] > 0


def test_backs_and_empty_tables_are_no_tiles_of_a_lesson() -> None:
    assert laid_out(Reading("a.jpg", None, 10, 10)) == []
    assert names(laid_out(table([("1m", "back", "2m")]))) == [("1m", "2m")]


def test_the_standard_order_is_taken_where_the_number_fits() -> None:
    unsure = [("7z",) * 9, FACES[9:18], FACES[18:27], FACES[27:]]
    assert guess(laid_out(table(unsure))) == FACES
    assert guess(laid_out(table([("1p", "2p", "7z", "4p", "5p", "6p", "7p", "1z", "9p")]))) == SUITS[1]
    assert guess(laid_out(table([("5p", "5p")]))) == ("5p", "5p")


def test_each_tile_is_cut_out_with_its_label() -> None:
    image = np.random.default_rng(0).integers(0, 255, (500, 500, 3), dtype=np.uint8)
    photo = Photo("a.jpg", image, 1000, 1000)
    tiles = [s for row in laid_out(table([("1m", "2m")])) for s in row]
    taught = lesson(photo, tiles, ["1m", "9p"])
    assert [(one.piece, one.photo, one.crop.shape) for one in taught] == [
        ("1m", "a.jpg", (FRAME, FRAME, 3)),
        ("9p", "a.jpg", (FRAME, FRAME, 3)),
    ]
    with pytest.raises(LessonError, match="2 tiles, but 1 labels"):
        lesson(photo, tiles, ["1m"])
