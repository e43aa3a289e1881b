"""The decoding of the locator's maps, from maps made by hand."""

from typing import Any

import numpy as np
import pytest

from vision.locate import Locator, axes_of_shape, decode, shape_of_axes


def maps_of(*pieces: tuple[float, float, float, float, float, int, float]) -> np.ndarray:
    """Maps (9, 40, 120) of pieces (x, y, half height, half width, turn, kind, score logit) in input pixels
    and radians.
    """
    maps = np.zeros((9, 40, 120), np.float32)
    maps[:2] = -8
    for x, y, tall, wide, turn, kind, logit in pieces:
        col, row = int(x / 4), int(y / 4)
        maps[kind, row, col] = logit
        maps[2:4, row, col] = x / 4 - col - 0.5, y / 4 - row - 0.5
        cos, sin = np.cos(turn), np.sin(turn)
        maps[4:9, row, col] = shape_of_axes(np.array([-sin, cos]) * tall / 4, np.array([cos, sin]) * wide / 4)
    return maps


@pytest.mark.parametrize("turn", np.linspace(-3, 3, 13))
def test_a_piece_comes_back_with_its_corners(turn: float) -> None:
    quads, kinds, scores = decode(maps_of((101.0, 77.0, 26.0, 20.0, turn, 0, 5.0)))
    assert kinds.tolist() == [0] and scores[0] > 0.99
    cos, sin = np.cos(turn), np.sin(turn)
    true = np.array([[-20, -26], [20, -26], [20, 26], [-20, 26]]) @ np.array([[cos, sin], [-sin, cos]]) + (
        101,
        77,
    )
    # Which side is the top is not known yet.
    gaps = [np.abs(np.roll(quads[0], -start, 0) - true).max() for start in range(4)]
    assert min(gaps) < 0.05
    x, y = quads[0].T
    assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0  # clockwise in image coordinates


def test_neighbours_stay_two_and_a_double_becomes_one() -> None:
    _, kinds, _ = decode(
        maps_of((60, 60, 24, 18, 0, 0, 4.0), (96, 60, 24, 18, 0, 0, 4.0), (67, 60, 24, 18, 0, 1, 1.0))
    )
    assert kinds.tolist() == [0, 0]


def test_nothing_gives_nothing() -> None:
    quads, kinds, scores = decode(maps_of())
    assert quads.shape == (0, 4, 2) and not len(kinds) and not len(scores)


def test_shapes_and_axes_are_each_others_inverse() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        first, second = rng.normal(0, 5, (2, 2))
        if abs(first[0] * second[1] - first[1] * second[0]) < 2:
            continue
        shape = shape_of_axes(first, second)
        # Nothing changes when the axes trade places or signs: it is the same quad.
        assert np.allclose(shape, shape_of_axes(-second, first))
        a, b = (axis[0] for axis in axes_of_shape(shape[:, None]))
        ours = sorted(map(tuple, np.round(np.stack([a, -a, b, -b]), 6) + 0.0))
        theirs = sorted(map(tuple, np.round(np.stack([first, -first, second, -second]), 6) + 0.0))
        assert np.allclose(ours, theirs, atol=1e-4)


class FakeModel:
    """Gives prepared maps, one after another, and keeps the sizes of the pictures it was shown."""

    def __init__(self, *maps: np.ndarray) -> None:
        self.maps = list(maps)
        self.shown: list[tuple[int, ...]] = []

    def run(self, batch: np.ndarray) -> list[Any]:
        self.shown.append(batch.shape[1:3])
        return [self.maps.pop(0)[None]]


def test_places_that_are_not_sure_are_given_to_who_asks_for_them() -> None:
    sure, faint = (100, 80, 26, 20, 0, 0, 3.0), (200, 80, 26, 20, 0, 0, -1.2)
    image = np.zeros((160, 768, 3), np.uint8)
    both = Locator(FakeModel(maps_of(sure, faint))).locate(image, faint=True)  # type: ignore[arg-type]
    assert [(round(piece.quad.mean(0)[0]), piece.sure) for piece in both] == [(100, True), (200, False)]
    (one,) = Locator(FakeModel(maps_of(sure, faint))).locate(image)  # type: ignore[arg-type]
    assert one.sure


def test_a_second_look_holds_what_adjoins_small_pieces_but_faintly() -> None:
    """And what the first look alone saw in it is no more than faint."""
    row = [(40 + 22 * k, 80, 14, 10, 0, 0, 3.0 if k < 3 else -1.2) for k in range(6)]
    far = (230, 20, 14, 10, 0, 0, -1.2)
    model = FakeModel(maps_of(*row, far), maps_of((60, 60, 30, 22, 0, 0, 3.0), (120, 60, 30, 22, 0, 0, 3.0)))
    found = Locator(model).locate(np.zeros((160, 768, 3), np.uint8), faint=True)  # type: ignore[arg-type]
    # From the photo's edge to three pieces past the last of the row, half as large again; not to the far one.
    assert model.shown[1] == (224, 352)
    assert [piece.sure for piece in found].count(True) == 2


def test_where_nothing_shows_the_whole_photo_is_looked_at_from_nearer() -> None:
    faint, near = (100, 80, 10, 8, 0, 0, -1.2), (200, 60, 20, 16, 0, 0, 3.0)
    image = np.zeros((640, 1536, 3), np.uint8)
    model = FakeModel(maps_of(faint), maps_of(near))
    (one,) = Locator(model).locate(image)  # type: ignore[arg-type]
    assert model.shown == [(320, 768), (640, 1536)]
    assert np.allclose(one.quad.mean(0), (200, 60), atol=1)
    # No larger than the network may be asked, and only where that is nearer.
    model = FakeModel(maps_of(faint), maps_of(faint))
    assert Locator(model).locate(np.zeros((3000, 4000, 3), np.uint8)) == []  # type: ignore[arg-type]
    assert model.shown[1] == (1056, 1376)
    model = FakeModel(maps_of(faint))
    assert Locator(model).locate(np.zeros((600, 768, 3), np.uint8)) == []  # type: ignore[arg-type]


def test_where_small_pieces_go_on_beyond_what_was_looked_at_more_of_the_photo_is() -> None:
    image = np.zeros((160, 768, 3), np.uint8)
    row = maps_of(*((40 + 22 * k, 80, 14, 10, 0, 0, 3.0) for k in range(3)))
    here, at_the_edge = (maps_of(*((x, 80, 21, 15, 0, 0, 3.0) for x in (60, 93, end))) for end in (126, 200))
    model = FakeModel(row, here)
    Locator(model).locate(image)  # type: ignore[arg-type]
    assert len(model.shown) == 2
    model = FakeModel(row, at_the_edge, at_the_edge)
    Locator(model).locate(image)  # type: ignore[arg-type]
    (_, _), (_, before), (_, after) = model.shown
    assert after > before


def test_what_is_too_large_for_a_first_look_shows_from_afar_and_its_parts_are_no_pieces() -> None:
    part, beside = (100, 80, 26, 20, 0, 0, 3.0), (220, 30, 26, 20, 0, 0, 3.0)
    image = np.zeros((160, 768, 3), np.uint8)
    model = FakeModel(maps_of(part, beside), maps_of((34, 27, 26, 22, 0, 0, 4.0)))
    locator = Locator(model)  # type: ignore[arg-type]
    first = locator.first_look(image)
    found = locator.from_afar(image, first)
    assert model.shown[1] == (64, 256)
    large, *rest = found
    assert np.allclose(large.quad.mean(0), (102, 81), atol=2) and large.short_side > 100
    assert {round(piece.quad.mean(0)[0]): piece.sure for piece in rest} == {100: False, 220: True}
    # What is as small in both looks is left as it was.
    locator = Locator(FakeModel(maps_of((34, 27, 8, 6, 0, 0, 4.0))))  # type: ignore[arg-type]
    assert locator.from_afar(image, first) == first
