"""Cutting pieces out and putting their corners right, with a stand-in for the network."""

import cv2
import numpy as np
import pytest

from vision.classify import CROP, TARGET, Classifier, Pyramid, rectify


class Stand:
    """Says what it was told: the class, the turn of each call, corner residuals."""

    def __init__(self, turns: list[int], residual: np.ndarray | None = None):
        self.manifest = {"labels": ["1m", "2m", "reject"], "temperature": 1.0}
        self.turns, self.residual, self.calls = turns, residual, 0

    def run(self, crops: np.ndarray) -> list[np.ndarray]:
        turn = self.turns[min(self.calls, len(self.turns) - 1)]
        self.calls += 1
        n = len(crops)
        classes = np.tile(np.array([[4.0, 0.0, -4.0]]), (n, 1))
        turns = np.tile(np.where(np.arange(4) == turn, 6.0, -6.0), (n, 1))
        corners = np.zeros((n, 8)) if self.residual is None else np.tile(self.residual, (n, 1))
        return [classes, turns, corners, np.zeros((n, 128))]


QUAD = np.array([[100, 80], [160, 90], [150, 170], [95, 160]], np.float32)


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_the_quad_is_started_at_the_pieces_own_top_left(turn: int) -> None:
    image = np.zeros((300, 400, 3), np.uint8)
    read = Classifier(Stand([turn, 0])).read(image, QUAD[None])  # type: ignore[arg-type]
    assert np.allclose(read.quads[0], np.roll(QUAD, -turn, axis=0), atol=0.1)
    assert read.chances[0].argmax() == 0 and abs(read.chances[0].sum() - 1) < 1e-6


def test_residuals_move_the_corners_towards_the_true_ones() -> None:
    image = np.zeros((300, 400, 3), np.uint8)
    residual = np.array([0.05, 0, 0, 0, 0, 0, 0, 0])
    read = Classifier(Stand([0], residual)).read(image, QUAD[None])  # type: ignore[arg-type]
    assert read.quads[0][0, 0] > QUAD[0, 0] + 3
    assert np.allclose(read.quads[0][2], QUAD[2], atol=0.5)


@pytest.mark.parametrize("size", [1.0, 6.0])
def test_crops_show_the_piece_in_their_middle_at_every_size(size: float) -> None:
    image = np.full((int(300 * size), int(400 * size), 3), 30, np.uint8)
    quad = QUAD * size
    cv2.fillConvexPoly(image, np.round(quad).astype(np.int32), (200, 220, 240))
    crops, warps = rectify(Pyramid(image), quad[None])
    a, b = round(TARGET[0, 0]), round(TARGET[2, 0])
    assert (crops[0, a + 2 : b - 2, a + 2 : b - 2] > 150).all()
    assert (crops[0, : a - 3] < 90).all()
    corner = cv2.perspectiveTransform(quad[None].astype(np.float64), warps[0])[0]
    assert np.allclose(corner, TARGET, atol=0.1) and crops.shape == (1, CROP, CROP, 3)


def test_some_faces_may_be_put_in_the_place_of_others() -> None:
    image, quads = np.zeros((300, 400, 3), np.uint8), np.stack([QUAD, QUAD + 40, QUAD + 80])
    read = Classifier(Stand([0])).read(image, quads)  # type: ignore[arg-type]
    other = Classifier(Stand([0])).read(image, quads[:1] + 9)  # type: ignore[arg-type]
    both = read.put(np.array([1]), other)
    assert np.array_equal(both.quads, np.stack([read.quads[0], other.quads[0], read.quads[2]]))
    assert np.array_equal(read.quads, Classifier(Stand([0])).read(image, quads).quads)  # type: ignore[arg-type]


def test_no_pieces_give_no_readings() -> None:
    read = Classifier(Stand([0])).read(np.zeros((50, 50, 3), np.uint8), np.zeros((0, 4, 2)))  # type: ignore[arg-type]
    assert read.quads.shape == (0, 4, 2) and read.chances.shape == (0, 3)
