"""Photos of a set's own tiles laid out in order, and what they teach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from companion.reading import BACK, Reading, Sighting
from vision.adapt import FRAME
from vision.classify import Pyramid, rectify
from vision.load import Photo
from vision.rows import ACROSS, DOWN, Shape, find_rows
from vision.sets import Taught

SUITS = tuple(tuple(f"{rank}{suit}" for rank in range(1, 10)) for suit in "mps")
FACES = tuple(face for suit in SUITS for face in suit) + tuple(f"{rank}z" for rank in range(1, 8))
FLOWERS = tuple(f"{rank}f" for rank in range(1, 9))
ORDERS = (FACES, FACES + FLOWERS, *SUITS, FACES[27:], FACES[:27], FLOWERS)
"""What a photo without labels may show: the whole set, with flowers or without, or a part of it."""


class LessonError(ValueError):
    """A photo and its labels do not go together; the message is for people."""


def laid_out(reading: Reading) -> list[list[Sighting]]:
    """The faces of a photo in rows, as they are read: the top row first, each from left to right.

    All tiles of a lesson lie the same way up, so quads that were taken to be turned are put right.
    """
    faces = [s for s in reading.sightings if s.piece != BACK]
    if not faces:
        return []
    shape = Shape.of([s.quad for s in faces])
    rows = [list(row.pieces) for row in find_rows(shape)]
    # "Down" is where the feet of most tiles are; single tiles may be read upside-down.
    feet = shape.sides[:, DOWN]
    down = np.median(feet / np.linalg.norm(feet, axis=1, keepdims=True), axis=0)
    across = np.array([down[1], -down[0]])
    if np.linalg.norm(down) < 0.5:  # no two agree: the photo's own way up
        down, across = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    for row in rows:
        row.sort(key=lambda i: float(shape.centre[i] @ across))
    rows.sort(key=lambda row: float(np.median(shape.centre[row] @ down)))
    upright = [_upright(face, down) for face in faces]
    return [[upright[i] for i in row] for row in _joined(rows, shape, down)]


def _upright(sighting: Sighting, down: np.ndarray) -> Sighting:
    """The sighting with its quad started so that its own way down is the given one, as nearly as can be."""
    corners = np.array(sighting.quad)
    turns = [np.roll(corners, -turn, axis=0) for turn in range(4)]
    best = max(turns, key=lambda quad: float((quad[2] + quad[3] - quad[0] - quad[1]) @ down))
    a, b, c, d = ((float(x), float(y)) for x, y in best)
    return replace(sighting, quad=(a, b, c, d))


def _joined(rows: list[list[int]], shape: Shape, down: np.ndarray) -> list[list[int]]:
    """Pieces of one line that lie apart are one row."""
    across = np.array([down[1], -down[0]])
    joined: list[list[int]] = []
    height = float(np.median(np.linalg.norm(shape.sides[:, DOWN], axis=1)))
    for row in rows:
        if joined and _same_line(shape, joined[-1], row, down, across, height):
            joined[-1] = sorted(joined[-1] + row, key=lambda i: float(shape.centre[i] @ across))
        else:
            joined.append(row)
    return joined


def _same_line(
    shape: Shape, a: list[int], b: list[int], down: np.ndarray, across: np.ndarray, height: float
) -> bool:
    """Whether two rows continue one another: where their ends face each other they are level."""
    left, right = (a, b) if shape.centre[a[0]] @ across < shape.centre[b[0]] @ across else (b, a)
    end, start = shape.centre[left[-1]], shape.centre[right[0]]
    if (start - end) @ across <= 0:
        return False
    line = shape.sides[left[-1], ACROSS]
    drop = (start - end) - line * ((start - end) @ line) / max(float(line @ line), 1e-6)
    return abs(float(drop @ down)) < 0.5 * height


def guess(rows: Sequence[Sequence[Sighting]]) -> tuple[str, ...]:
    """What tiles laid out without labels most probably are: the standard order of so many tiles (for a single
    suit, the one that was read), else what was read.
    """
    said = [s.piece for row in rows for s in row]
    fits = [order for order in ORDERS if len(order) == len(said)]
    if not fits:
        return tuple(said)
    return max(fits, key=lambda order: sum(a == b for a, b in zip(order, said, strict=True)))


def lesson(photo: Photo, sightings: Sequence[Sighting], labels: Sequence[str]) -> list[Taught]:
    """Labelled crops of the sightings of a photo, to be kept. One label a sighting, in the same order."""
    if len(labels) != len(sightings):
        raise LessonError(f"{len(sightings)} tiles, but {len(labels)} labels")
    quads = np.array([s.quad for s in sightings], np.float32).reshape(-1, 4, 2)
    return cut(photo, quads, labels)


def cut(photo: Photo, quads: np.ndarray, labels: Sequence[str]) -> list[Taught]:
    """Labelled crops at quads (n, 4, 2), in pixels of the full photo, each from the piece's own top-left."""
    if not len(quads):
        return []
    crops, _ = rectify(Pyramid(photo.image), (quads / photo.scale).astype(np.float32), FRAME)
    return [Taught(crop, label, photo.name) for crop, label in zip(crops, labels, strict=True)]
