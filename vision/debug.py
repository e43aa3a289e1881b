"""Pictures of what a stage saw: every piece outlined in the colour of its role, with its name and row."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.reading import Sighting

ROLE_COLOURS: dict[str, tuple[int, int, int]] = {
    "hand": (60, 200, 40),
    "meld": (240, 140, 30),
    "other": (150, 150, 150),
    "back": (60, 60, 220),
}
"""BGR colour of each role."""


def draw_sightings(
    image: NDArray[np.uint8], sightings: Sequence[Sighting], scale: float = 1.0, names: bool = True
) -> NDArray[np.uint8]:
    """A copy of the photo with its sightings drawn in.

    image: (h, w, 3) BGR. scale: pixels of the upright photo, in which quads are given, for one pixel of the
    image, as in `Photo.scale`. A doubtful piece has a question mark; the tick marks its own top.
    """
    picture = image.copy()
    for sighting in sightings:
        quad = np.array(sighting.quad, dtype=np.float64) / scale
        colour = ROLE_COLOURS[sighting.role]
        side = float(np.linalg.norm(quad[1] - quad[0]))
        line = max(1, round(side / 25))
        cv2.polylines(picture, [np.round(quad).astype(np.int32)], True, colour, line, cv2.LINE_AA)
        middle, top = quad.mean(axis=0), (quad[0] + quad[1]) / 2
        tick = top + 0.2 * (middle - top)
        cv2.line(picture, _pixel(top), _pixel(tick), colour, line, cv2.LINE_AA)
        if names:
            text = sighting.piece + ("?" if sighting.doubtful else "")
            text += "" if sighting.row is None else f"/{sighting.row}"
            text += "" if sighting.group is None else f"g{sighting.group}"
            size = max(0.3, side / 70)
            at = _pixel(middle - np.array([0.4 * side, 0.0]))
            cv2.putText(
                picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, (255, 255, 255), line + 2, cv2.LINE_AA
            )
            cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, (0, 0, 0), line, cv2.LINE_AA)
    return picture


def draw_crops(crops: NDArray[np.uint8], captions: Sequence[str], columns: int = 10) -> NDArray[np.uint8]:
    """A sheet of rectified pieces, (n, side, side, 3) BGR, each with what it was read as below it."""
    rows = max(1, -(-len(crops) // columns))
    cell, line = 2 * crops.shape[1], 18
    sheet = np.full((rows * (cell + line), columns * cell, 3), 255, np.uint8)
    for number, (crop, caption) in enumerate(zip(crops, captions, strict=True)):
        y, x = (number // columns) * (cell + line), (number % columns) * cell
        sheet[y : y + cell, x : x + cell] = cv2.resize(crop, (cell, cell))
        at = (x + 2, y + cell + line - 5)
        cv2.putText(sheet, caption, at, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
    return sheet


def _pixel(point: NDArray[np.float64]) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
