"""How good a picture is to read, from a few numbers that cost next to nothing beside the reading.

Everything is measured on the pieces, where they are known: a dark wall behind a well lit table is no fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from companion.reading import BACK, Quad, Sighting
from vision.classify import CROP, QUAD, Pyramid, rectify

MOST_CROPS = 20
"""Pieces that are looked at; more would say the same."""
CLIPPED = 250
"""Grey levels from here on are taken for white without any drawing left in it."""
LEAST_CONTRAST = 4.0
"""Variance of grey levels below which a crop is a plain surface."""

# Where a view begins to be at fault. Measured on real hands of the labelled photos (7 read, 13 measured),
# brought to 960 pixels and made worse step by step: up to here 97-100 % of their tiles are named right, fewer
# beyond. They only explain why a reading is not sure: a sure one is believed whatever the light.
DARK = 0.12
"""Mean brightness of the faces; 0.14 still read well, 0.08 lost one tile in seven."""
GLARE = 0.78
"""Share of plain white on a face: 0.76 still read well, 0.80 lost one tile in twelve."""
BLURRED = 0.05
"""Sharpness of the faces (`sharpness`): 98 of 100 ordinary photos have 0.07 and more; a blur of 3 pixels
(0.03) or a smear of 9 (0.05) lost one tile in twelve."""
FAR = {"mahjong": 13.0, "four-color": 18.0}
"""Shorter side of a piece of each deck, pixels of the picture. Of tiles 14 read well, 10 lost one in nine; of
cards' ends 20 read well in rendered and path-traced scenes, 16 lost one in two."""

Fault = Literal["dark", "glare", "far", "blurred"]
REMEDIES: dict[Fault, str] = {
    "dark": "The photo is dark: take it again with more light.",
    "glare": "Light glares on the {pieces}: take the photo again from another side.",
    "far": "The {pieces} are small in the photo: take it again from nearer.",
    "blurred": "The photo is blurred: hold still and take it again.",
}
"""What people are told of a photo that shows a fault."""

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


def fault(quality: Quality | None, side: float | None = None, deck: str = "mahjong") -> Fault | None:
    """What is wrong with a view, the cause before the effect; None where nothing is known to be.

    side: shorter side of its pieces, pixels of the picture.

    >>> fault(Quality(0.05, 0.0, 0.01)), fault(Quality(0.5, 0.0, 0.3), side=9), fault(Quality(0.5, 0.0, 0.3))
    ('dark', 'far', None)
    """
    if quality and quality.brightness < DARK:
        return "dark"
    if quality and quality.clipped > GLARE:
        return "glare"
    if side is not None and side < FAR[deck]:
        return "far"
    if quality and quality.sharpness is not None and quality.sharpness < BLURRED:
        return "blurred"
    return None


def shorter_sides(corners: np.ndarray) -> np.ndarray:
    """Shorter side (n,) of quads (n, 4, 2), opposite sides averaged."""
    edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    return np.asarray(np.minimum(edges[:, 0] + edges[:, 2], edges[:, 1] + edges[:, 3]) / 2)


def remedies(image: np.ndarray, deck: str, sightings: Sequence[Sighting], scale: float) -> tuple[str, ...]:
    """How to take a better photo than the one, (height, width, 3) uint8 BGR, that was read so; nothing where
    all pieces of the hand are sure, or the photo is not to blame. scale: as in `measure`.
    """
    own = [s for s in sightings if s.role in ("hand", "meld") and s.piece != BACK]
    if own and not any(s.doubtful for s in own):
        return ()
    quads = [s.quad for s in own]
    side = float(np.median(shorter_sides(np.array(quads)))) / scale if quads else None
    bad = fault(measure(image, quads, scale), side, deck)
    pieces = "cards" if deck == "four-color" else "tiles"
    return () if bad is None else (REMEDIES[bad].format(pieces=pieces),)


def asks_again(warnings: Iterable[str]) -> bool:
    """Whether one of a reading's warnings asks for a better photo."""
    asking = {text.format(pieces=pieces) for text in REMEDIES.values() for pieces in ("cards", "tiles")}
    return not asking.isdisjoint(warnings)
