"""Faces of made-up sets show what they are called."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from datasets.lettered import _bamboo, _circles, _Style

PLAIN = _Style(
    font="",
    spare="",
    digits="",
    simple=False,
    weight=0,
    numbers=(0, 0, 0),
    ten_thousand=(0, 0, 0),
    winds=(0, 0, 0),
    flowers=(0, 0, 0),
    seasons=(0, 0, 0),
    figures=None,
    seasons_right=False,
    chinese_seasons=False,
    wordless=False,
    english="",
    latin=0,
    outlined=False,
    other_words=False,
    split=0.5,
    wide=0.7,
    petals=0,
    rings=1,
    solid=True,
    pip=0.7,
    stick=0.12,
    knots=1,
    hollow=False,
    mirrored=False,
    colours=((130, 60, 20), (60, 110, 30), (40, 40, 180)),
)


def parts(picture: np.ndarray) -> int:
    """How many separate marks are printed."""
    return cv2.connectedComponents((picture[..., 3] > 128).astype(np.uint8))[0] - 1


@pytest.mark.parametrize("count", range(2, 10))
@pytest.mark.parametrize("mirrored", [False, True])
def test_circles_are_as_many_as_their_rank(count: int, mirrored: bool) -> None:
    rng = np.random.default_rng(count)
    assert parts(_circles(count, replace(PLAIN, mirrored=mirrored), rng)) == count


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 9])
def test_sticks_are_as_many_as_their_rank(count: int) -> None:
    assert parts(_bamboo(count, PLAIN)) == count


def test_eight_sticks_stand_as_an_m_over_a_w() -> None:
    """The upper half is the lower one upside-down, its inner sticks leaning together at the top."""
    face = _bamboo(8, PLAIN)[..., 3].astype(int)
    assert np.abs(face - face[::-1]).mean() < 8
    middle = face[:, face.shape[1] // 2 - 12 : face.shape[1] // 2 + 12].sum(1)
    assert middle[8:25].sum() > 2 * middle[55:72].sum()


def test_red_fives_are_red() -> None:
    for face in (_circles(5, PLAIN, np.random.default_rng(1), red=True), _bamboo(5, PLAIN, red=True)):
        ink = face[face[..., 3] > 200][:, :3].mean(0)
        assert ink[2] > ink[0] + 80 and ink[2] > ink[1] + 80
