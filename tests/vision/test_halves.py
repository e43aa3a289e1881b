"""A tile located as its two halves is put together; tiles that merely touch are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision.halves import find_halves

WIDE, HIGH = 40.0, 54.0


def tile(x: float, y: float, wide: float = WIDE, high: float = HIGH) -> list[tuple[float, float]]:
    return [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]


def row(count: int, y: float = 100, high: float = HIGH) -> list[list[tuple[float, float]]]:
    return [tile(100 + 42 * k, y, high=high) for k in range(count)]


@pytest.mark.parametrize("angle", [0, 20, 90, 200])
@pytest.mark.parametrize("starts", [(0, 0), (1, 2)])
def test_halves_of_a_tile_in_a_row_are_one(angle: float, starts: tuple[int, int]) -> None:
    """Whichever way the row runs, and whichever corner each half begins with."""
    upper, lower = tile(310, 100, high=0.5 * HIGH), tile(311, 98 + HIGH / 2, high=0.52 * HIGH)
    quads = np.array([*row(5), upper, lower, *[tile(352 + 42 * k, 100) for k in range(3)]])
    quads[5:7] = [np.roll(quad, start, axis=0) for quad, start in zip(quads[5:7], starts, strict=True)]
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    turn = np.array([[c, -s], [s, c]])
    (found,) = find_halves(quads @ turn.T)
    assert {found.first, found.second} == {5, 6}
    corners = {(round(x), round(y)) for x, y in found.quad @ turn}
    assert corners == {(310, 100), (350, 100), (351, 153), (311, 153)}


def test_rows_that_touch_are_no_halves() -> None:
    lying = row(6, 100) + row(6, 100 + HIGH)
    seen_low = row(6, 100, HIGH / 2) + row(6, 100 + HIGH / 2, HIGH / 2)
    for quads in (lying, seen_low, row(3), []):
        assert find_halves(np.array(quads, float).reshape(-1, 4, 2)) == []


def test_one_half_alone_stays() -> None:
    quads = np.array([*row(5), tile(310, 100, high=HIGH / 2), *[tile(352 + 42 * k, 100) for k in range(3)]])
    assert find_halves(quads) == []
