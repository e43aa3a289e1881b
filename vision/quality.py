"""How good a picture is to read, from a few numbers that cost next to nothing beside the reading.

Everything is measured on the pieces, where they are known: a dark wall behind a well lit table is no fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from companion.reading import Quad
from vision.classify import CROP, QUAD, Pyramid, rectify

MOST_CROPS = 20
"""Pieces that are looked at; more would say the same."""
CLIPPED = 250
"""Grey levels from here on are taken for white without any drawing left in it."""
LEAST_CONTRAST = 4.0
"""Variance of grey levels below which a crop is a plain surface."""


_SECOND = np.array([[0, 0, 0], [1, -2, 1], [0, 0, 0]], np.float32)
_SLANT = np.array([[1, 0, 0], [0, -2, 0], [0, 0, 1]], np.float32) / 2
DIRECTIONS = (_SECOND, _SECOND.T, _SLANT, np.fliplr(_SLANT))
"""Second differences across, down and along both diagonals: parts of the Laplacian, each by itself."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What a picture, or its pieces, look like.

    brightness: mean grey, 0-1. clipped: share of a face that is plain white, the worst tenth of the pieces
    left out. sharpness: how much of the contrast is in fine detail (see `sharpness`); None where no piece is
    known.
    """

    brightness: float
    clipped: float
    sharpness: float | None = None


def brightness(greys: np.ndarray) -> float:
    """Mean of grey pictures, (..., height, width) uint8, as a share of white."""
    return float(greys.mean()) / 255


def clipped(greys: np.ndarray) -> float:
    """Share of plain white pixels in grey pictures (n, height, width) uint8, the worst tenth left out."""
    return float(np.quantile((greys >= CLIPPED).mean((1, 2)), 0.9))


def sharpness(greys: np.ndarray) -> float:
    """How sharp faces (n, height, width) uint8 are, whatever their contrast.

    For each direction the variance of the second difference over the variance of the grey levels, of the
    median face (a face without drawing does not spoil it); then the least of the directions, because a camera
    that moves smears along one only. Faces are halved first, which spares their strokes and does not take a
    sensor's noise for detail. 0 means a plain surface.
    """
    shares = np.zeros((len(greys), len(DIRECTIONS)))
    for share, face in zip(shares, greys, strict=True):
        grey = cv2.resize(face, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        contrast = float(grey.var())
        if contrast >= LEAST_CONTRAST:
            share[:] = [cv2.filter2D(grey, cv2.CV_32F, kernel).var() / contrast for kernel in DIRECTIONS]
    return float(np.median(shares, axis=0).min())


def measure(image: np.ndarray, quads: Sequence[Quad], scale: float = 1.0) -> Quality:
    """Measure an upright picture, (height, width, 3) uint8 BGR, on the pieces at `quads`.

    scale: pixels of the quads for one pixel of the picture (`Photo.scale`). Without quads the whole picture
    is measured.
    """
    if not quads:
        small = cv2.resize(image, (160, 120), interpolation=cv2.INTER_AREA)
        whole = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)[None]
        return Quality(brightness(whole), clipped(whole))
    step = -(-len(quads) // MOST_CROPS)
    crops, _ = rectify(Pyramid(image), np.array(quads[::step], np.float32) / scale)
    rim = (CROP - QUAD) // 2
    greys = np.stack([cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY) for crop in crops])
    faces = np.ascontiguousarray(greys[:, rim:-rim, rim:-rim])
    return Quality(brightness(faces), clipped(faces), sharpness(faces))
