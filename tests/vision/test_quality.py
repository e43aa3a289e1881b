"""What makes a picture hard to read, and what people are told of it."""

import cv2
import numpy as np
import pytest

from companion.reading import Candidate, Sighting
from vision.quality import brightness, clipped, measure, remedies, sharpness


def blank(level: int) -> np.ndarray:
    return np.full((1, 60, 60), level, np.uint8)


def test_light_is_measured() -> None:
    assert brightness(blank(51)) == pytest.approx(0.2)
    assert clipped(blank(255)) == 1 and clipped(blank(200)) == 0
    assert sharpness(blank(120)) == 0
    rng = np.random.default_rng(1)
    drawing = cv2.resize(
        rng.integers(0, 2, (12, 12)).astype(np.uint8) * 200, (60, 60), interpolation=cv2.INTER_NEAREST
    )
    smeared = cv2.blur(drawing, (17, 1))
    blurred = cv2.GaussianBlur(drawing, (0, 0), 3)
    sharp = sharpness(drawing[None])
    assert sharpness(smeared[None]) < sharp / 5 and sharpness(blurred[None]) < sharp / 5
    noisy = np.clip(blurred + rng.normal(0, 4, blurred.shape), 0, 255).astype(np.uint8)
    assert sharpness(noisy[None]) < sharp / 4
    assert sharpness((drawing // 4)[None]) == pytest.approx(sharp, rel=0.05)


def test_pieces_are_measured_and_not_what_lies_around() -> None:
    image = np.zeros((200, 200, 3), np.uint8)
    image[50:120, 50:100] = 200
    quad = ((50.0, 50.0), (100.0, 50.0), (100.0, 120.0), (50.0, 120.0))
    assert measure(image, [quad]).brightness > 0.7
    assert measure(image, []).brightness < 0.2 and measure(image, []).sharpness is None


def told(image: np.ndarray, certainty: float, deck: str = "mahjong", size: float = 60) -> tuple[str, ...]:
    """What people are told of a photo with one piece of so many pixels, read with this certainty."""
    quad = ((50.0, 50.0), (50 + size, 50.0), (50 + size, 50 + size * 1.3), (50.0, 50 + size * 1.3))
    ranked = (Candidate("1m", certainty), Candidate("2m", 1 - certainty))
    return remedies(image, deck, [Sighting(quad, ranked)], 1.0)


def test_a_doubtful_photo_is_told_how_to_be_better() -> None:
    rng = np.random.default_rng(2)
    sharp = cv2.resize(
        rng.integers(60, 200, (50, 50, 3)).astype(np.uint8), (200, 200), interpolation=cv2.INTER_NEAREST
    )
    assert told(sharp, 0.6) == ()
    assert "more light" in told(sharp // 10, 0.6)[0]
    assert "glares on the tiles" in told(np.full_like(sharp, 255), 0.6)[0]
    assert "hold still" in told(cv2.GaussianBlur(sharp, (0, 0), 9), 0.6)[0]
    assert told(sharp, 0.6, size=15) == () and "nearer" in told(sharp, 0.6, size=11)[0]
    # Glyphs of cards have more strokes.
    assert "The cards are small" in told(sharp, 0.6, "four-color", size=15)[0]


def test_a_sure_reading_needs_no_better_photo() -> None:
    assert told(np.full((200, 200, 3), 10, np.uint8), 0.999) == ()
    assert "more light" in remedies(np.full((200, 200, 3), 10, np.uint8), "mahjong", [], 1.0)[0]
