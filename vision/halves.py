"""One tile located as two: the upper and the lower half of a face such as the 4 of dots, each a 2 of dots.

Such halves lie edge to edge, each about half as high as the faces around them, and together as high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.rows import Floats, Shape

NEAR = 6
"""Faces around a piece that it is compared with, at most; two at least."""
HALF = 0.75
"""Share of the height of the faces around it, and of their area, that a half has at most."""
ALIKE = 1.3
"""How much larger or smaller than the faces around it the whole may be, in width and in height."""
APART = 0.35
"""How far the corners of the shared edge may lie apart, in lengths of that edge."""
PARALLEL = 0.9
"""Least cosine between the edges of neighbours that serve for comparison."""


@dataclass(frozen=True, slots=True)
class Halves:
    """Two pieces that are probably one: their indices, and the quad (4, 2) around both."""

    first: int
    second: int
    quad: Floats


def find_halves(quads: Floats) -> list[Halves]:
    """Pairs of pieces, of the faces at quads (n, 4, 2), that look like the two halves of one face.

    Each piece is in one pair at most, the pairs that fit best first.
    """
    if len(quads) < 4:
        return []
    shape = Shape.of(quads)
    distance = np.linalg.norm(shape.centre[:, None] - shape.centre[None], axis=2)
    around = np.argsort(distance, axis=1)[:, 1 : NEAR + 1]
    areas = np.abs(shape.sides[:, 0, 0] * shape.sides[:, 1, 1] - shape.sides[:, 0, 1] * shape.sides[:, 1, 0])
    small = np.flatnonzero(areas < HALF * np.median(areas[around], axis=1))
    found = [
        (apart, int(a), int(b), whole)
        for k, a in enumerate(small)
        for b in small[k + 1 :]
        if distance[a, b] < np.linalg.norm(shape.sides[[a, b]], axis=2).max()
        for apart, whole in _joined(shape, int(a), int(b), distance)
    ]
    taken: set[int] = set()
    pairs = []
    for _, a, b, whole in sorted(found, key=lambda one: one[:3]):
        if not taken & {a, b}:
            taken |= {a, b}
            pairs.append(Halves(a, b, whole))
    return pairs


def _joined(shape: Shape, a: int, b: int, distance: Floats) -> list[tuple[float, Floats]]:
    """How far apart the shared edge's corners are, with the quad around both; empty when they do not fit."""
    options = [
        (max(np.linalg.norm(one[0] - other[1]), np.linalg.norm(one[1] - other[0])), one, other)
        for one in (np.roll(shape.quads[a], -k, axis=0) for k in range(4))
        for other in (np.roll(shape.quads[b], -k, axis=0) for k in range(4))
    ]
    # `one` and `other` begin with the shared edge, each from its own side.
    apart, one, other = min(options, key=lambda option: float(option[0]))
    width = float(np.linalg.norm(one[1] - one[0]) + np.linalg.norm(other[1] - other[0])) / 2
    if apart > APART * width:
        return []
    along = (one[1] - one[0]) / max(float(np.linalg.norm(one[1] - one[0])), 1e-6)
    others = [
        extents
        for k in np.argsort(np.minimum(distance[a], distance[b]))[2 : NEAR + 2]
        if (extents := _extents(shape, int(k), along)) is not None
    ]
    if len(others) < 2:
        return []
    usual_width, usual_height = np.median(others, axis=0)
    whole = np.array([one[2], one[3], other[2], other[3]])
    height = float(np.linalg.norm((whole[0] + whole[1] - whole[2] - whole[3]) / 2))
    halves = [float(np.linalg.norm((q[2] + q[3] - q[0] - q[1]) / 2)) for q in (one, other)]
    fits = (
        1 / ALIKE < width / usual_width < ALIKE
        and 1 / ALIKE < height / usual_height < ALIKE
        and max(halves) < HALF * usual_height
    )
    return [(float(apart) / width, whole)] if fits else []


def _extents(shape: Shape, k: int, along: Floats) -> tuple[float, float] | None:
    """How long a piece is along a direction and across it, pixels; None when it lies askew."""
    lengths = np.maximum(np.linalg.norm(shape.sides[k], axis=1), 1e-6)
    cosines = np.abs(shape.sides[k] @ along) / lengths
    axis = int(np.argmax(cosines))
    return (float(lengths[axis]), float(lengths[1 - axis])) if cosines[axis] > PARALLEL else None
