"""The decoding of the locator's maps, from maps made by hand."""

import numpy as np
import pytest

from vision.locate import decode


def maps_of(*pieces: tuple[float, float, float, float, float, int, float]) -> np.ndarray:
    """Maps (10, 40, 60) of pieces (x, y, half height, half width, turn, kind, score logit) in input pixels
    and radians.
    """
    maps = np.zeros((10, 40, 60), np.float32)
    maps[:2] = -8
    for x, y, tall, wide, turn, kind, logit in pieces:
        col, row = int(x / 4), int(y / 4)
        maps[kind, row, col] = logit
        maps[2:4, row, col] = x / 4 - col - 0.5, y / 4 - row - 0.5
        maps[4:7, row, col] = np.log(tall / 4), np.cos(2 * (turn - np.pi / 2)), np.sin(2 * (turn - np.pi / 2))
        maps[7:10, row, col] = np.log(wide / 4), np.cos(2 * turn), np.sin(2 * turn)
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
    # Which of the two ends is the top is not known yet.
    gaps = [np.abs(np.roll(quads[0], -start, 0) - true).max() for start in (0, 2)]
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
