"""Find every piece of a photo: its four corners, and whether it shows its face or its back.

The network marks the centre of each piece and gives its two half axes; a parallelogram through them is the
quad. The reader of faces straightens it further (see `vision.classify`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np

from vision.model import Model

SIDE = 768
"""Longer side of the network's input for a first look, pixels."""
SMALL, WANTED, LARGE = 32.0, 34.0, 72.0
"""Shorter sides of a piece in the network's input, pixels: below SMALL or above LARGE a second look is taken
at WANTED. Between 28 and 44 as many pieces are found; the larger, the longer it takes.
"""
AFAR, HUGE, WITHIN = 3.0, 100.0, 0.5
"""From afar a photo is seen so many times smaller. What then is larger than HUGE pixels in a first look was
too large for it, and what that look saw on such a piece, smaller than this share, is no piece.
"""
EDGE, MARGIN, MOST_LOOKS = 2.0, 8.0, 3
"""Where a part of a photo that is looked at again ends so near to a piece, in shorter sides, more may lie
beyond: so much more is looked at, in so many looks at most.
"""
MOST_PIXELS = 1_400_000
"""The largest input of a second look, pixels."""
THRESHOLD = 0.35
"""Lowest score of a centre."""
FAINT = 0.12
"""Lowest score of what may be a centre, if whoever asks has other means to tell."""
SAME = 0.4
"""Centres nearer to each other than this, in shorter sides of the larger piece, are those of one piece."""


@dataclass(frozen=True)
class Located:
    """A piece that was found.

    quad: (4, 2) float32, pixels of the image, clockwise; where it starts is settled when the face is read.
    kind: which side it shows. score: 0-1, how sure the network is that a piece's centre lies here. sure:
    whether it says so clearly; a place that is not sure is worth a try where others lie around it.
    """

    quad: np.ndarray
    kind: Literal["face", "back"]
    score: float
    sure: bool = True

    @property
    def short_side(self) -> float:
        """Mean length of the shorter pair of sides, pixels."""
        return float(np.sort(_sides(self.quad[None])[0])[0])


def _sides(quads: np.ndarray) -> np.ndarray:
    """Mean width and height (n, 2) of quads (n, 4, 2)."""
    edges = np.linalg.norm(np.roll(quads, -1, axis=1) - quads, axis=2)
    return np.stack([(edges[:, 0] + edges[:, 2]) / 2, (edges[:, 1] + edges[:, 3]) / 2], 1)


def axes_of_shape(shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two half axes, each (n, 2), of parallelograms given as shapes (5, n): log size, stretch (2), turn (2).

    With half axes u and v, the matrix u uT + v vT does not change when the axes trade places or signs.
    Its root is the size times the exponential of half the stretch [[a, b], [b, -a]]; what the root leaves
    open is a turn by an angle that counts only up to a quarter, given as cosine and sine of four times it.
    """
    size = np.exp(np.clip(shape[0], -3, 6))
    a, b = shape[1], shape[2]
    stretch = np.maximum(np.hypot(a, b), 1e-6)
    grow, lean = np.cosh(stretch / 2), np.sinh(stretch / 2) / stretch
    root = size * np.array([[grow + lean * a, lean * b], [lean * b, grow - lean * a]])
    turn = np.arctan2(shape[4], shape[3]) / 4
    cos, sin = np.cos(turn), np.sin(turn)
    first = np.stack([root[0, 0] * cos + root[0, 1] * sin, root[1, 0] * cos + root[1, 1] * sin], 1)
    second = np.stack([root[0, 1] * cos - root[0, 0] * sin, root[1, 1] * cos - root[1, 0] * sin], 1)
    return first, second


def shape_of_axes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The shape (5,) of one parallelogram with half axes (2,) and (2,): the inverse of `axes_of_shape`."""
    axes = np.stack([first, second], 1).astype(np.float64)
    values, vectors = np.linalg.eigh(axes @ axes.T)
    values = np.maximum(values, 1e-9)
    logarithm = (vectors * np.log(values)) @ vectors.T
    straight = (vectors / np.sqrt(values)) @ vectors.T @ axes
    turn = np.arctan2(straight[1, 0], straight[0, 0]) * 4
    size = (logarithm[0, 0] + logarithm[1, 1]) / 4
    stretch = (logarithm[0, 0] - logarithm[1, 1]) / 2
    return np.array([size, stretch, logarithm[0, 1], np.cos(turn), np.sin(turn)])


def decode(maps: np.ndarray, threshold: float = THRESHOLD) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces of a network output (9, h, w), cells of four pixels: quads (n, 4, 2) in input pixels, kinds
    (n,), scores (n,).

    Best first. A peak too near to a better one is the same piece (`SAME`), whatever side it shows.
    """
    # Scores beside which the exponential would overflow are settled anyway.
    heat = 1 / (1 + np.exp(-np.clip(maps[:2], -30, 30)))
    peaks = []
    for kind in (0, 1):
        local = heat[kind] >= cv2.dilate(heat[kind], np.ones((3, 3), np.uint8))
        rows, cols = np.nonzero(local & (heat[kind] > threshold))
        peaks.append(np.stack([np.full(len(rows), kind), rows, cols], 1))
    kinds, rows, cols = np.concatenate(peaks).T
    scores = heat[kinds, rows, cols]
    order = np.argsort(-scores, kind="stable")
    kinds, rows, cols, scores = kinds[order], rows[order], cols[order], scores[order]
    values = maps[2:, rows, cols]
    centres = np.stack([cols + 0.5 + values[0], rows + 0.5 + values[1]], 1)
    first, second = axes_of_shape(values[2:])
    # Which axis points to the piece's top is read from its face later; upwards is the best guess.
    steep = (np.abs(first[:, 1]) > np.abs(second[:, 1]))[:, None]
    top, right = np.where(steep, first, second), np.where(steep, second, first)
    top = np.where(top[:, 1:] > 0, -top, top)
    right = np.where((top[:, :1] * right[:, 1:] - top[:, 1:] * right[:, :1]) < 0, -right, right)
    corners = (centres + top - right, centres + top + right, centres - top + right, centres - top - right)
    quads = np.stack(corners, 1) * 4
    short = _sides(quads).min(1) if len(quads) else np.zeros(0)
    kept: list[int] = []
    for i in range(len(quads)):
        near = np.linalg.norm(centres[kept] - centres[i], axis=1) * 4
        if not (near < SAME * np.maximum(short[kept], short[i])).any():
            kept.append(i)
    return quads[kept].astype(np.float32), kinds[kept], scores[kept]


class Locator:
    """The locator network, ready to run."""

    def __init__(self, model: Model):
        self.model = model

    def _look(self, image: np.ndarray, scale: float) -> list[Located]:
        height, width = (max(32, round(side * scale)) for side in image.shape[:2])
        method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        small = image if scale == 1 else cv2.resize(image, (width, height), interpolation=method)
        padded = np.full((-(-height // 32) * 32, -(-width // 32) * 32, 3), 114, np.uint8)
        padded[:height, :width] = small
        (maps,) = self.model.run(padded[None])
        quads, kinds, scores = decode(maps[0], FAINT)
        ratio = np.array([image.shape[1] / width, image.shape[0] / height], np.float32)
        found = []
        for quad, kind, score in zip(quads * ratio, kinds, scores, strict=True):
            found.append(Located(quad, "back" if kind else "face", float(score), bool(score > THRESHOLD)))
        return found

    def first_look(self, image: np.ndarray) -> list[Located]:
        """Every piece of an upright photo, (height, width, 3) uint8 BGR, that shows at one scale, and places
        that are not sure; best first.
        """
        return self._look(image, SIDE / max(image.shape[:2]))

    def from_afar(self, image: np.ndarray, first: list[Located]) -> list[Located]:
        """A first look at a photo, with the pieces that are too large for it."""
        scale = SIDE / max(image.shape[:2])
        afar = [p for p in self._look(image, scale / AFAR) if p.sure and p.short_side * scale > HUGE]
        if not afar:
            return first
        kept = []
        for piece in first:
            centre = tuple(map(float, piece.quad.mean(0)))
            on = [
                large
                for large in afar
                if piece.short_side < WITHIN * large.short_side
                and cv2.pointPolygonTest(large.quad, centre, False) >= 0
            ]
            kept.append(replace(piece, sure=False) if on else piece)
        known = [piece for piece in kept if piece.sure]
        new = [large for large in afar if not any(_same(large, piece) for piece in known)]
        return sorted(new + kept, key=lambda piece: -piece.score)

    def locate(
        self, image: np.ndarray, first: list[Located] | None = None, faint: bool = False
    ) -> list[Located]:
        """Every piece of an upright photo, (height, width, 3) uint8 BGR; best first.

        A first look at the whole photo, if that was not taken yet; pieces too small or too large for it are
        looked at again at a better scale, and where none shows, the whole photo from nearer. faint: places
        that are not sure as well, after the others.
        """
        found = self._found(image, self.first_look(image) if first is None else first)
        return [p for p in found if p.sure] + [p for p in found if faint and not p.sure]

    def _found(self, image: np.ndarray, first: list[Located]) -> list[Located]:
        scale = SIDE / max(image.shape[:2])
        sure = [piece for piece in first if piece.sure]
        faces = [piece for piece in sure if piece.kind == "face"]
        if not faces:
            # Too small for a first look, maybe: as near as the whole photo can be seen.
            nearer = min(1.0, float(np.sqrt(MOST_PIXELS / (image.shape[0] * image.shape[1]))))
            again = self._look(image, nearer) if nearer >= 1.2 * scale else []
            return again if any(p.sure and p.kind == "face" for p in again) else first
        typical = float(np.median([piece.short_side for piece in faces])) * scale
        if SMALL <= typical <= LARGE:
            return first
        if typical > LARGE:
            again = self._look(image, scale * WANTED / typical)
            return _together(again, first) if any(piece.sure for piece in again) else first
        box, best = _around(first, faces, typical / scale, image.shape), first
        for _ in range(MOST_LOOKS):
            x0, y0, x1, y1 = box
            nearest = float(np.sqrt(MOST_PIXELS / ((x1 - x0) * (y1 - y0))))
            better = min(scale * WANTED / typical, 1.5, nearest)
            if better < 1.2 * scale:
                break
            shift = np.array([x0, y0], np.float32)
            again = [replace(p, quad=p.quad + shift) for p in self._look(image[y0:y1, x0:x1], better)]
            if sum(p.sure for p in again) < len(sure) * 0.5:
                break
            best = _together(again, first, box)
            if (wider := _beyond(box, again, typical / scale, image.shape)) == box:
                break
            box = wider
        return best


def _same(a: Located, b: Located) -> bool:
    """Whether two are one piece."""
    apart = float(np.linalg.norm(a.quad.mean(0) - b.quad.mean(0)))
    return apart < SAME * max(a.short_side, b.short_side)


def _beyond(
    box: tuple[int, int, int, int], pieces: list[Located], typical: float, shape: tuple[int, ...]
) -> tuple[int, int, int, int]:
    """A part of an image of this shape, grown where pieces lie at its edges. typical: as in `_around`."""
    centres = np.array([piece.quad.mean(0) for piece in pieces if piece.sure])
    (left, upper), (right, lower) = centres.min(0) - EDGE * typical, centres.max(0) + EDGE * typical
    (height, width), more = shape[:2], MARGIN * typical
    x0, y0, x1, y1 = box
    return (
        x0 if left >= x0 else max(0, int(x0 - more)),
        y0 if upper >= y0 else max(0, int(y0 - more)),
        x1 if right <= x1 else min(width, int(x1 + more)),
        y1 if lower <= y1 else min(height, int(y1 + more)),
    )


def _around(
    pieces: list[Located], faces: list[Located], typical: float, shape: tuple[int, ...]
) -> tuple[int, int, int, int]:
    """The part of an image of this shape, x0, y0, x1, y1, to look at again for the faces: with a margin, and
    with what shows but faintly next to them and to each other, for rows go on there.

    typical: shorter side of a face in the image, pixels.
    """
    short = _sides(np.array([piece.quad for piece in pieces])).min(1) / typical
    faint = [
        piece
        for piece, size in zip(pieces, short, strict=True)
        if piece.kind == "face" and not piece.sure and 0.5 < size < 2
    ]
    centres = np.array([piece.quad.mean(0) for piece in faint]).reshape(-1, 2)
    inside, count = faces, 0
    while len(inside) > count:
        count = len(inside)
        x0, y0, x1, y1 = _box(inside, 1.5 * typical, shape)
        near = np.all((centres >= (x0, y0)) & (centres < (x1, y1)), axis=1)
        inside = faces + [faint[k] for k in np.flatnonzero(near)]
    return _box(inside, 3 * typical, shape)


def _box(pieces: list[Located], margin: float, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """The part of an image of this shape, x0, y0, x1, y1, that holds the pieces and a margin of so many
    pixels.
    """
    corners = np.concatenate([piece.quad for piece in pieces])
    x0, y0 = np.maximum(corners.min(0) - margin, 0).astype(int)
    x1, y1 = np.minimum(corners.max(0) + margin, shape[1::-1]).astype(int)
    return int(x0), int(y0), int(x1), int(y1)


def _together(
    second: list[Located], first: list[Located], box: tuple[int, int, int, int] | None = None
) -> list[Located]:
    """What a second, better look shows, of a part of the image or all of it. What the first look alone shows
    is as sure as before outside this part, and not sure in it.
    """
    if not first or not second:
        return second + first
    quads = [np.array([piece.quad for piece in pieces]) for pieces in (second, first)]
    centres, before = (part.mean(1) for part in quads)
    sides, short = (_sides(part).min(1) for part in quads)
    gaps = np.linalg.norm(before[:, None] - centres, axis=2)
    again = (gaps < SAME * np.maximum(short[:, None], sides)).any(1)
    missed = []
    for piece, centre, seen in zip(first, before, again, strict=True):
        if box is not None and not _within(centre, box):
            missed.append(piece)
        elif not seen:
            missed.append(replace(piece, sure=False))
    return second + missed


def _within(point: np.ndarray, box: tuple[int, int, int, int]) -> bool:
    return bool(box[0] <= point[0] < box[2] and box[1] <= point[1] < box[3])
