"""Places in rows where a piece is probably missing: a blank face, one in the dark, one seen from low aside.

Pieces stand in rows without gaps, or with even ones. Where a row has room for just one piece more, and where
something shows, if but faintly, just where the row would go on, the reader of faces is asked. Most such
places are empty, and it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.rows import ACROSS, PROPORTION, Floats, Row, Shape, cross, find_rows

NOTHING: Floats = np.zeros((0, 4, 2))
"""No quads."""
SHORTEST = 3
"""Rows of fewer pieces are passed over; of clear ones, two make a row."""
NEXT = 0.6
"""The widest gap to a neighbour that tells where a piece has its corners, in pieces."""
MOST = 3
"""So many pieces side by side may be missing in a row."""
FARTHEST = 14
"""So many may be missing at its end."""
UNEVEN = 0.3
"""How much more or less room than so many pieces take there may be, in pieces."""
STEADY = 1.2
"""How much longer or shorter than the one before it the next piece may look at most."""
ASIDE = 0.35
"""How far from its place in the row, in pieces, something may lie that shows faintly."""
BLANK = "5z"
MISSED, MISSED_PAST, BARE = 0.7, 0.9, 0.6
"""A place where a row has just the room for a piece shows one when it is read with at least the first
probability, a place past its end with the second. A blank face takes the third where it lies beside others
and is of their material, and is not believed elsewhere: sides of tiles and much of a table look the same.
"""
OVERLAP, MOSTLY = 0.3, 0.6
"""The share of the smaller quad that two pieces may have in common; from the second on it lies on it."""
ALIKE, FITS = 1.8, 1.35
"""How much larger or smaller than its place what shows faintly may look; and a piece, once it is read, than
the room for it or than its neighbours: tiles of one set are equally large.
"""
LONGEST = 1.9
"""A piece that is so often as long as wide, seen as its neighbours are, is no tile."""
MISFIT = 0.6
"""A piece that does not fit its place is believed so much at most, however it reads."""
SURER = 0.1
"""A piece takes the place of others that it lies on if it is read more surely than these by so much."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece may be missing.

    quad: (4, 2), clockwise. room: (4, 2), where the row has the place; the quad is that, or what shows
    faintly there. between: it lies between two pieces of a row, not past its end. chain: places past the same
    end have the same number, the nearest first: there none is believed that comes after an empty one. None
    for a place by itself. level: it lies to the left or right of its neighbours, as they stand, and they show
    more than a back or a blank face; above and below a face are the sides of its tile.
    """

    quad: Floats
    room: Floats
    between: bool
    chain: int | None = None
    level: bool = False


def find_places(quads: Floats, faint: Floats, telling: NDArray[np.bool_] | None = None) -> list[Place]:
    """Places in the rows of the pieces at quads (n, 4, 2) where others may be missing.

    faint: (m, 4, 2) quads of what may be pieces and may be nothing. telling: (n,) which pieces show more than
    a back or a blank face; in rows without two of these nothing is missed.
    """
    if len(quads) < SHORTEST:
        return []
    shape = Shape.of(quads)
    telling = np.ones(len(quads), bool) if telling is None else telling
    places: list[Place] = []
    for row in find_rows(shape):
        told = int(telling[list(row.pieces)].sum())
        if len(row) >= SHORTEST and told >= 2:
            places += _between(shape, row, faint, telling)
            for way in (row, row.reversed()):
                places += _past(shape, way, faint, telling, chain=len(places))
    return places


def find_neighbours(
    quads: Floats, clear: NDArray[np.bool_], telling: NDArray[np.bool_] | None = None
) -> list[Place]:
    """Places beside the clear pieces (n,) of those at quads (n, 4, 2), in the rows of these alone, which no
    clear piece fills: there others may be missing, or be located amiss.

    telling: (n,) which pieces show more than a back or a blank face.
    """
    shape = Shape.of(quads[clear])
    telling = np.ones(len(shape), bool) if telling is None else telling[clear]
    places: list[Place] = []
    for row in find_rows(shape):
        if len(row) > 1:
            places += _between(shape, row, NOTHING, telling)
            places += [_next(shape, way, telling) for way in (row, row.reversed())]
    return [
        place
        for place in places
        if not any(_fits(quad, place.room) for quad in shape.quads[_covered(place.quad, shape.quads)])
    ]


def _next(shape: Shape, row: Row, telling: NDArray[np.bool_]) -> Place:
    """The place right past the end of a row."""
    inner, last = (_walked(shape, row, k) for k in (len(row) - 2, len(row) - 1))
    quad = _following(inner, last, _usual_gap(row))
    return Place(quad, quad, False, level=_level(row, len(row) - 1, telling))


def _level(row: Row, k: int, telling: NDArray[np.bool_]) -> bool:
    """Whether the row goes on to the left or right of its k-th piece, and that one tells something."""
    return row.axes[k] == ACROSS and bool(telling[row.pieces[k]])


def find_misfits(quads: Floats, clear: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which pieces (n,), of those at quads (n, 4, 2), are much larger or smaller than the clear ones on both
    sides of them, or next to them, in their row, or longer than tiles are: they are parts of a face, more
    than one, or none. And which of them are those longer ones.
    """
    shape = Shape.of(quads)
    odd, longer = np.zeros((2, len(quads)), bool)
    for row in find_rows(shape) if len(quads) >= SHORTEST else ():
        for k, i in enumerate(row.pieces):
            others = [*row.pieces[max(k - 2, 0) : k], *row.pieces[k + 1 : k + 3]]
            near = [j for j in others if clear[j]]
            if len(near) >= 2:
                odd[i] = not 1 / FITS < shape.area[i] / np.median(shape.area[near]) < FITS
                beside = min(near, key=lambda j: float(np.linalg.norm(shape.centre[j] - shape.centre[i])))
                longer[i] = _length(shape, i, beside) > LONGEST
    return odd | longer, longer


def find_parts(quads: Floats, clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which pieces (n,), of those at quads (n, 4, 2), are but parts of a clear one in a row: much smaller,
    and mostly on it.
    """
    shape, numbers = Shape.of(quads[clear]), np.flatnonzero(clear)
    areas = Shape.of(quads).area
    part = np.zeros(len(quads), bool)
    for row in find_rows(shape):
        members = numbers[list(row.pieces)]
        for i in members if len(row) >= SHORTEST else ():
            smaller = (areas * FITS < areas[i]) & ~np.isin(np.arange(len(quads)), members)
            part |= smaller & _covered(quads[i], quads, MOSTLY)
    return part


def _length(shape: Shape, i: int, beside: int) -> float:
    """How often a piece is as long as wide, if the one beside it is a whole face in the same plane."""
    if shape.area[beside] < 1e-6:
        return 1.0
    upright = np.linalg.solve(shape.sides[beside].T, shape.sides[i].T) * [[1], [PROPORTION]]
    sides = np.linalg.norm(upright, axis=0)
    return float(sides.max() / max(sides.min(), 1e-6))


def find_corners(quads: Floats, clear: NDArray[np.bool_], doubtful: NDArray[np.bool_]) -> list[Place]:
    """Where the corners of doubtful pieces should be, as clear neighbours in the row have it.

    quads: (n, 4, 2). clear, doubtful: (n,) which pieces they are. A piece has the corners that its neighbours
    leave free, or those that follow on one of them and the piece beyond it.
    """
    if not (clear.any() and doubtful.any()):
        return []
    shape = Shape.of(quads)
    found = [
        _leaning(shape, row, int(k), clear)
        for row in find_rows(shape)
        if len(row) >= SHORTEST
        for k in np.flatnonzero(doubtful[list(row.pieces)])
    ]
    return [Place(quad, quad, True) for quad in found if quad is not None]


def _leaning(shape: Shape, row: Row, k: int, clear: NDArray[np.bool_]) -> Floats | None:
    """The quad of the k-th piece of a row by its clear neighbours, None where there are none close by."""
    usual = _usual_gap(row)
    close = [0 <= n < len(row) and clear[row.pieces[n]] for n in (k - 1, k + 1)]
    close = [c and row.gaps[g] < NEXT for c, g in zip(close, (k - 1, k), strict=True)]
    if all(close):
        (_, a, d, _), (b, _, _, c) = _walked(shape, row, k - 1), _walked(shape, row, k + 1)
        return np.array([a, b, c, d])
    if close[0] and k >= 2:
        return _following(_walked(shape, row, k - 2), _walked(shape, row, k - 1), usual)
    if close[1] and k + 2 < len(row):
        back = row.reversed()
        at = len(row) - 1 - k
        return _following(_walked(shape, back, at - 2), _walked(shape, back, at - 1), usual)
    return None


def _following(inner: Floats, last: Floats, gap: float) -> Floats:
    """The quad that follows on two others in a row, in the order of `_walked`."""
    along = _along(last)
    grows = np.linalg.norm(along) / max(float(np.linalg.norm(_along(inner))), 1e-6)
    step = along * float(np.clip(grows, 1 / STEADY, STEADY))
    a, d = last[1] + gap * step, last[2] + gap * step
    return np.array([a, a + step, d + step, d])


def _usual_gap(row: Row) -> float:
    """The free space between pieces of the row that have no other between them, in pieces."""
    return float(np.clip(np.median([gap for gap in row.gaps if gap < 0.5] or [0.0]), 0.0, 0.5))


def _between(shape: Shape, row: Row, faint: Floats, telling: NDArray[np.bool_]) -> list[Place]:
    usual = _usual_gap(row)
    places = []
    for k, gap in enumerate(row.gaps):
        count = (gap - usual) / (1 + usual)
        missing = round(count)
        if not 1 <= missing <= MOST or abs(count - missing) > UNEVEN:
            continue
        (_, near, far, _), (start, _, _, end) = _walked(shape, row, k), _walked(shape, row, k + 1)
        before, after = np.array([near, far]), np.array([start, end])
        room = missing * (1 + usual) + usual
        level = _level(row, k, telling) and _level(row, k + 1, telling)
        for j in range(missing):
            at = usual + j * (1 + usual)
            (a, d), (b, c) = (before + (after - before) * t / room for t in (at, at + 1))
            quad = np.array([a, b, c, d])
            seen = _seen_at(quad, faint)
            places.append(Place(quad if seen is None else seen, quad, True, level=level))
    return places


def _past(shape: Shape, row: Row, faint: Floats, telling: NDArray[np.bool_], chain: int) -> list[Place]:
    """Places where something shows faintly as the row goes on past its last piece, the nearest first."""
    usual, level = _usual_gap(row), _level(row, len(row) - 1, telling)
    inner, last = (_walked(shape, row, k) for k in (len(row) - 2, len(row) - 1))
    found: list[Place] = []
    while len(found) < FARTHEST:
        room = _following(inner, last, usual)
        seen = _seen_at(room, faint)
        if seen is None:
            break
        found.append(Place(seen, room, False, chain, level))
        inner, last = last, seen
    return found


def _seen_at(place: Floats, faint: Floats) -> Floats | None:
    """What shows faintly at a place, and is about as large, its corners in the order of the place's."""
    if not len(faint):
        return None
    along, across = _along(place), (place[2] + place[3] - place[0] - place[1]) / 2
    area = cross(along, across)
    if abs(area) < 1e-6:
        return None
    gap = faint.mean(1) - place.mean(0)
    aside = np.abs(
        [gap[:, 0] * across[1] - gap[:, 1] * across[0], along[0] * gap[:, 1] - along[1] * gap[:, 0]]
    )
    aside = aside.max(0) / abs(area)
    best = int(np.argmin(aside))
    if aside[best] > ASIDE:
        return None
    turned = [np.roll(faint[best], -k, axis=0) for k in range(4)]
    quad = min(turned, key=lambda q: float(np.linalg.norm(_along(q) - along)))
    larger = abs(cross(_along(quad), (quad[2] + quad[3] - quad[0] - quad[1]) / 2) / area)
    return quad if 1 / ALIKE < larger < ALIKE else None


def _walked(shape: Shape, row: Row, k: int) -> Floats:
    """The corners (4, 2) of the k-th piece, clockwise, so that the line enters between the last and the first
    and leaves between the second and the third.
    """
    start = (row.axes[k] if row.signs[k] > 0 else row.axes[k] + 2) % 4
    return np.roll(shape.quads[row.pieces[k]], -start, axis=0)


def _along(quad: Floats) -> Floats:
    """Side vector of a piece along the line, its corners in the order of `_walked`."""
    return np.asarray((quad[1] + quad[2] - quad[0] - quad[3]) / 2)


def filled_places(
    places: Sequence[Place],
    faces: Sequence[str | None],
    confidences: Sequence[float] | Floats,
    quads: Floats,
    known: Floats,
    held: Floats,
    bare: NDArray[np.bool_] | None = None,
) -> tuple[list[int], list[int]]:
    """The places that do show a piece, by number, and the pieces there that they replace.

    faces: what is read at each place, None where it is no face. confidences: 0-1. quads: (k, 4, 2) as the
    reader straightened them. known: (n, 4, 2) the pieces that are there already; held: (n,) how surely.
    bare: (k,) which places are of the same material as the faces around them; none, if not given.
    """
    taken: list[int] = []
    replaced: set[int] = set()
    ended: set[int] = set()
    for k, (place, face, confidence) in enumerate(zip(places, faces, confidences, strict=True)):
        if place.chain in ended:
            continue
        under = np.flatnonzero(_covered(quads[k], known))
        if len(under):
            # Where a piece is known to lie, the only question is which reading is better.
            believed = face is not None and (place.between or face != BLANK)
        elif face == BLANK:
            believed = bare is not None and bool(bare[k]) and place.level and confidence >= BARE
        else:
            believed = face is not None and confidence >= (MISSED if place.between else MISSED_PAST)
        amiss = [not _fits(known[i], place.room) for i in under]
        rivals = np.where(amiss, np.minimum(held[under], MISFIT), held[under])
        believed = believed and _fits(quads[k], place.room) and bool((rivals < confidence - SURER).all())
        if believed and not _covered(quads[k], quads[taken]).any():
            taken.append(k)
            replaced |= set(under.tolist())
        elif place.chain is not None:
            ended.add(place.chain)
    return taken, sorted(replaced)


def _fits(quad: Floats, room: Floats) -> bool:
    """Whether a quad (4, 2) is as large as the room for it."""
    areas = Shape.of(np.array([quad, room])).area
    return bool(1 / FITS < areas[0] / max(areas[1], 1e-6) < FITS)


def _covered(quad: Floats, others: Floats, least: float = OVERLAP) -> NDArray[np.bool_]:
    """Which of the others (n, 4, 2) a quad (4, 2) lies on: they share more than that of the smaller one."""
    near = np.abs(quad.mean(0) - others.mean(1)).max(1) < np.ptp(quad, axis=0).max()
    area = abs(cv2.contourArea(quad.astype(np.float32)))
    for i in np.flatnonzero(near):
        other = others[i].astype(np.float32)
        shared = cv2.intersectConvexConvex(quad.astype(np.float32), other)[0]
        near[i] = shared > least * min(area, abs(cv2.contourArea(other)))
    return np.asarray(near)
