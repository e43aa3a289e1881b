"""From pieces that were located and read to a hand: roles, groups, melds and the most probable legal reading.

`arrange` is the whole stage. Its steps are of use alone: `vision.rows.find_rows` puts the pieces into rows,
`find_own` picks the own row or rows among walls, discards and the rows of other players, `find_melds` the
groups that were declared, and `vision.legal.legal_choice` the most probable reading that the deck allows.

Lengths are counted in pieces, as in `vision.rows`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.hand import Meld
from companion.pieces import Piece
from companion.reading import BACK, Candidate, Expectation, Role, Sighting
from vision.legal import by_kind, copies_of, legal_choice, plays_as
from vision.rows import ACROSS, DOWN, Floats, Row, Shape, cross, find_rows, line_angle, unit

MELD_PRIOR = 20.0
"""How much more probable it is that a group set apart is a real set than that it is any three pieces."""

BEYOND = 0.6
"""How far before the row, in heights of itself, a single piece may lie that is no discard."""

APART, WIDEST = 0.35, 1.7
"""The gap that sets the winning piece apart: at least so many pieces wide, and so many times wider than any
other gap among the concealed pieces."""

CLEAR, SMALLER, TINY = 0.9, 0.73, 0.18
"""A row of which no piece is read with so much confidence is hardly one of faces if its pieces have less than
that share of the area of the nearest clear ones, or less than the last share of those in the main row.
"""

DIM, SMALLEST = 0.6, 0.45
"""A row of pieces that are all read with less confidence is hardly one of faces. A piece that has less than
that share of the area of the nearest clear one as well is none: of all such places in photos and rendered
scenes 1 in 50 was one.
"""

GUESSED, SMALL = 0.4, 0.68
"""What is read with less confidence is a guess; it is no piece if it has less than that share of the area."""

ROOM = 0.75
"""The free space between two upright pieces that another one needs at least, in pieces: one, but for corners
that are not quite right.
"""

SHARED = 0.2
"""How far the ends of an edge may lie apart that a face and a side of its tile share, in lengths of it."""

LARGEST = 18
"""A hand in two rows may be so large, if need be."""

UPRIGHT = 0.3
"""By how much a row counts for more if its pieces stand upright in the photo; for less if on their heads."""

UNDECIDED = 0.6
"""Length of the mean of unit vectors below which they do not agree on a direction."""

FACE_DOWN = 0.2
"""Weight of lying face down for a piece alone among faces of the own row."""

UNEXPECTED_ODDS = 0.1
"""Weight of a piece that the expectation does not name: it is read all the same when it is seen clearly."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Pieces in their places.

    sightings: the given ones but for doubles, with role, row and group filled in, in reading order (own rows
        as their owner sees them, then groups, then other pieces, then backs); the first candidate of each is
        the one chosen.
    melds: the declared groups; `melds[g]` is made of the sightings whose `group` is g.
    warnings: what people should know, in plain words; empty when all is well.
    winning: index of the sighting that is set apart from a full hand, as the piece that won it is.
    unnamed: concealed kongs that lie face down, four indices each; nothing shows what they are.
    """

    sightings: tuple[Sighting, ...]
    melds: tuple[Meld, ...] = ()
    warnings: tuple[str, ...] = ()
    winning: int | None = None
    unnamed: tuple[tuple[int, ...], ...] = ()


def arrange(
    sightings: Sequence[Sighting],
    width: int,
    height: int,
    expectation: Expectation | None = None,
) -> Arrangement:
    """Give every sighting its role, row and group, and choose the most probable legal reading of the hand.

    width, height: pixels of the photo in which the quads are given.
    """
    if not sightings:
        return Arrangement((), (), ("No tile was found in the photo.",))
    expected = expectation or Expectation()
    pieces = [
        _with_expectation(s, expected)
        for s in without_wedged(without_shadows(without_sides(without_doubles(sightings))))
    ]
    shape = Shape.of([s.quad for s in pieces])
    backs = np.array([s.piece == BACK for s in pieces])
    rows = find_rows(shape)
    own = find_own(shape, rows, pieces, width, height, expected.sizes)
    if own.stands_out:
        for i in lone_backs(own, pieces):
            pieces[i] = _face_up(pieces[i])
            backs[i] = pieces[i].piece == BACK
    groups = find_melds(own, pieces, expected.sizes) if own.stands_out else []
    unnamed = find_unnamed(shape, rows, own, groups, pieces, expected.sizes) if own.stands_out else []
    size = _size(own, groups, pieces) + 3 * len(unnamed)
    winning = find_winning(own, groups, pieces) if size == max(expected.sizes, default=0) else None

    in_own = {i for row in own.rows for i in row.pieces}
    members = {i: g for g, group in enumerate(groups) for i in group.pieces}
    roles: list[Role] = [
        "back" if backs[i] else "meld" if i in members else "hand" if i in in_own else "other"
        for i in range(len(pieces))
    ]
    if own.stands_out:
        for i in flowers_beside(shape, pieces, roles):
            roles[i] = "hand"
    for group in groups:
        for i, candidates in group.readings.items():
            pieces[i] = replace(pieces[i], candidates=candidates)
    if own.stands_out:
        # The melds are settled by their equal neighbours; what they use up is missing in the hand.
        in_melds = Counter(plays_as(pieces[i].piece) for i in members if not backs[i])
        hand = [i for i, role in enumerate(roles) if role == "hand"]
        chosen = legal_choice([pieces[i].candidates for i in hand], expected.copies, in_melds)
        for i, candidates in zip(hand, chosen, strict=True):
            pieces[i] = replace(pieces[i], candidates=candidates)
    melds = tuple(group.meld([pieces[i].piece for i in group.pieces]) for group in groups)
    warnings = _warnings(pieces, roles, own, groups, unnamed, shape, expected, width, height)

    row_numbers = _row_numbers(own, rows)
    order = _reading_order(roles, members, row_numbers, own, rows)
    placed = tuple(
        replace(
            pieces[i],
            role=roles[i],
            row=row_numbers.get(i),
            group=members.get(i),
        )
        for i in order
    )
    place = {i: k for k, i in enumerate(order)}
    return Arrangement(
        placed,
        melds,
        tuple(warnings),
        None if winning is None else place[winning],
        tuple(tuple(sorted(place[i] for i in four)) for four in unnamed),
    )


def lone_backs(own: Own, sightings: Sequence[Sighting]) -> list[int]:
    """Pieces that seem to lie face down, alone among the faces of a long own row."""
    found = []
    for row in own.rows:
        backs = [i for i in row.pieces if sightings[i].piece == BACK]
        if len(backs) == 1 and len(row) >= 8:
            found += backs
    return found


def _face_up(sighting: Sighting) -> Sighting:
    """What seems to lie face down where nobody lays a piece so: a blank face looks much the same."""
    weights = [c.confidence * (FACE_DOWN if c.piece == BACK else 1.0) for c in sighting.candidates]
    scale = sum(c.confidence for c in sighting.candidates) / max(sum(weights), 1e-9)
    ranked = [Candidate(c.piece, w * scale) for c, w in zip(sighting.candidates, weights, strict=True)]
    return replace(sighting, candidates=tuple(sorted(ranked, key=lambda c: -c.confidence)))


def flowers_beside(
    shape: Shape, sightings: Sequence[Sighting], roles: Sequence[Role], reach: float = 2.0
) -> list[int]:
    """Flowers that lie near the own pieces without being in a row with them: their owner laid them aside.

    reach: the farthest a flower may lie from an own piece, or from another such flower, in widths of a piece.
    """
    own = [i for i, role in enumerate(roles) if role in ("hand", "meld")]
    loose = {
        i
        for i, role in enumerate(roles)
        if role == "other" and sightings[i].piece.endswith("f") and sightings[i].confidence >= 0.6
    }
    taken: list[int] = []
    edge = list(own)
    while edge and loose:
        j = edge.pop()
        for i in sorted(loose):
            distance = float(np.linalg.norm(shape.centre[i] - shape.centre[j]))
            alike = 0.6 < shape.size[i] / shape.size[j] < 1.6
            if alike and distance <= reach * max(shape.size[i], shape.size[j]):
                loose.remove(i)
                taken.append(i)
                edge.append(i)
    return taken


def without_sides(sightings: Sequence[Sighting], blank: str = "5z", copies: int = 4) -> list[Sighting]:
    """The sightings without the white sides of tiles that were taken for blank dragons.

    A side looks just like a blank face, but for what may be read into its shade. Yet it ends where the face
    of its tile begins, while faces of two tiles do not lie so close. And a deck holds few blank ones
    (`copies`): where there are more, whole rows of nothing else, and lone ones, are sides of standing or
    stacked tiles.
    """
    blanks = {i for i, s in enumerate(sightings) if _may_be(s, blank)}
    if not blanks:
        return list(sightings)
    shape = Shape.of([s.quad for s in sightings])
    sides = {i for row in find_rows(shape) if blanks.issuperset(row.pieces) for i in row.pieces}
    if len(blanks) <= copies:
        faces = [i for i in sorted(_clear(sightings)) if i not in sides]
        sides = {i for i in sides if _shares_edge(shape.quads[i], shape.quads[faces])}
    return [s for i, s in enumerate(sightings) if i not in sides]


def _shares_edge(quad: Floats, faces: Floats) -> bool:
    """Whether an edge of a quad (4, 2) is the upper or the lower edge of one of the faces (n, 4, 2)."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [2, 3]]])
    own = np.stack([np.roll(quad, -k, axis=0)[[1, 0]] for k in range(4)])
    apart = np.linalg.norm(edges[:, None] - own, axis=3).max(2).min(1, initial=math.inf)
    return bool((apart < SHARED * np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)).any())


def _may_be(sighting: Sighting, piece: str) -> bool:
    """Whether it was read as this piece, or hardly read and may be one."""
    if sighting.piece == piece:
        return True
    return sighting.confidence < DIM and any(other.piece == piece for other in sighting.candidates)


def without_shadows(sightings: Sequence[Sighting]) -> list[Sighting]:
    """The sightings without those that are both hardly read and much smaller than the clear ones around them:
    sides of tiles, letters, pips.
    """
    clear = sorted(_clear(sightings))
    dim = [i for i, s in enumerate(sightings) if s.confidence < DIM]
    if not clear or not dim:
        return list(sightings)
    areas = _against_clear(Shape.of([s.quad for s in sightings]), dim, clear)
    # The less it is read, the more it must look like its neighbours.
    least = np.interp([sightings[i].confidence for i in dim], [GUESSED, DIM], [SMALL, SMALLEST])
    shadows = {i for i, small in zip(dim, areas < least, strict=True) if small}
    return [s for i, s in enumerate(sightings) if i not in shadows]


def without_wedged(sightings: Sequence[Sighting]) -> list[Sighting]:
    """The sightings without what is not read clearly between two clear pieces that stand too close together
    to have another between them: patches of the table.
    """
    clear = _clear(sightings)
    if len(clear) < 2 or len(clear) == len(sightings):
        return list(sightings)
    shape = Shape.of([s.quad for s in sightings])
    wedged: set[int] = set()
    for row in find_rows(shape):
        for k in range(1, len(row) - 1):
            before, piece, after = row.pieces[k - 1 : k + 2]
            # Beside turned pieces an upright one needs less than their length.
            upright = row.axes[k - 1] == row.axes[k + 1] == ACROSS
            if not upright or piece in clear or not clear.issuperset((before, after)):
                continue
            along = (row.along(shape, k - 1) + row.along(shape, k + 1)) / 2
            free = float((shape.centre[after] - shape.centre[before]) @ along / (along @ along)) - 1
            if free < ROOM:
                wedged.add(piece)
    return [s for i, s in enumerate(sightings) if i not in wedged]


def without_doubles(sightings: Sequence[Sighting], most_overlap: float = 0.5) -> list[Sighting]:
    """The sightings without those that another one, read with more confidence, covers for the most part.

    most_overlap: the share of the smaller quad that two pieces may have in common.
    """
    shape = Shape.of([s.quad for s in sightings])
    quads = shape.quads.astype(np.float32)
    areas = np.array([abs(cv2.contourArea(quad)) for quad in quads])
    order = sorted(range(len(sightings)), key=lambda i: -sightings[i].confidence)
    near = np.linalg.norm(shape.centre[:, None] - shape.centre[None], axis=2) < np.maximum(
        shape.size[:, None], shape.size
    )
    kept: list[int] = []
    for i in order:
        rivals = (j for j in kept if near[i, j])
        if all(
            cv2.intersectConvexConvex(quads[i], quads[j])[0] <= most_overlap * min(areas[i], areas[j])
            for j in rivals
        ):
            kept.append(i)
    return [sightings[i] for i in sorted(kept)]


@dataclass(frozen=True, slots=True)
class Own:
    """The own rows, the main one first; `stands_out` is False where none does and all faces are the hand."""

    rows: tuple[Row, ...]
    stands_out: bool


def find_own(
    shape: Shape,
    rows: Sequence[Row],
    sightings: Sequence[Sighting],
    width: int,
    height: int,
    sizes: Sequence[int] = Expectation().sizes,
) -> Own:
    """Which rows are the hand of who took the photo.

    That is the long row of large pieces nearest to its reader, and what stands close above, below or beside
    it as far as a hand of these `sizes` (kongs left out) can hold it.
    """
    backs = np.array([s.piece == BACK for s in sightings])
    faced = [row for row in rows if not all(backs[list(row.pieces)])]
    candidates = [row for row in faced if np.mean(backs[list(row.pieces)]) <= 0.5]
    if not candidates:
        return Own(tuple(faced), False)
    largest = max(_mean_size(shape, row) for row in candidates if len(row) >= min(3, len(candidates[0])))
    score = {row: _own_score(shape, row, backs, largest, width, height) for row in candidates}
    main = max(candidates, key=lambda row: score[row])
    shadows = _shadows(shape, main, faced, sightings)
    faced = [row for row in faced if row not in shadows]
    candidates = [row for row in candidates if row not in shadows]
    everything = Own(tuple(faced), False)
    if _is_grid(shape, main, candidates):
        return everything
    own = _with_neighbours(shape, main, candidates, sightings, sizes or (math.inf,))
    alone = all(row in faced or row in shadows for row in rows)
    if alone and len(faced) > len(own) and _count([main], sightings) < min(sizes, default=0):
        # Nothing lies there but a few rows close together, none a hand by itself: one hand of an odd size.
        clear = all(any(sightings[i].confidence >= CLEAR for i in row.pieces) for row in faced)
        together = _with_neighbours(shape, main, candidates, sightings, (math.inf,)) if clear else own
        own = together if len(together) == len(faced) else own
    rest = [i for row in faced if row not in own for i in row.pieces if not backs[i]]
    if _is_one_block(shape, main, own, rest):
        count = _count(faced, sightings)
        one_hand = bool(sizes) and min(sizes) - 1 <= count <= max(sizes) + _kongs(faced, sightings)
        return Own(tuple(faced), one_hand)
    in_line = sum(len(row) for row in own if len(row) >= 3)
    if not rest or in_line >= 7 or (len(main) >= 4 and _all_beyond(shape, main, own, rest)):
        return Own(tuple(own), True)
    return everything


def _shadows(shape: Shape, main: Row, rows: Sequence[Row], sightings: Sequence[Sighting]) -> set[Row]:
    """Rows that are hardly rows of faces: all in them are hardly read, or none is clear and all are smaller
    than clear ones nearby.

    Sides of tiles, letters and pips look a little like faces.
    """
    clear = _clear(sightings)
    if not clear:
        return set()
    usual = float(np.median(shape.area[list(main.pieces)]))
    found = set()
    for row in rows:
        pieces = list(row.pieces)
        if row is main or not clear.isdisjoint(pieces):
            continue
        if (
            max(sightings[i].confidence for i in pieces if sightings[i].piece != BACK) < DIM
            or np.median(_against_clear(shape, pieces, sorted(clear))) < SMALLER
            or np.median(shape.area[pieces]) < TINY * usual
        ):
            found.add(row)
    return found


def _clear(sightings: Sequence[Sighting]) -> set[int]:
    """The faces that are read clearly."""
    return {i for i, s in enumerate(sightings) if s.confidence >= CLEAR and s.piece != BACK}


def _against_clear(shape: Shape, pieces: Sequence[int], clear: Sequence[int]) -> Floats:
    """Area of each piece against that of the nearest clear one."""
    gaps = np.linalg.norm(shape.centre[clear] - shape.centre[pieces][:, None], axis=2)
    nearest = np.array(clear)[gaps.argmin(1)]
    return np.asarray(shape.area[pieces] / np.maximum(shape.area[nearest], 1e-6))


def _own_score(
    shape: Shape, row: Row, backs: NDArray[np.bool_], largest: float, width: int, height: int
) -> float:
    """How well a row looks like the own hand: its faces, weighted by size and by how near its reader is."""
    faces = min(18, int(np.sum(~backs[list(row.pieces)])))
    down, nearness = _down(shape, row), 0.0
    if down is not None:
        middle = shape.centre[list(row.pieces)].mean(axis=0) - np.array([width, height]) / 2
        nearness = 0.25 * float(middle @ down) / (0.5 * math.hypot(width, height)) + UPRIGHT * float(down[1])
    return faces * (_mean_size(shape, row) / largest) ** 1.5 * (1 + nearness)


def _down(shape: Shape, row: Row) -> Floats | None:
    """Unit vector from the row to who reads it; None in a column.

    Where about as many pieces stand on their heads as do not, it points to the photo's lower edge.
    """
    upright = [i for i, axis in zip(row.pieces, row.axes, strict=True) if axis == ACROSS]
    if not upright:
        return None
    ways = (
        shape.sides[upright, DOWN]
        / np.maximum(np.linalg.norm(shape.sides[upright, DOWN], axis=1), 1e-6)[:, None]
    )
    mean = ways.mean(axis=0)
    if np.linalg.norm(mean) < UNDECIDED:
        mean = np.where(ways[:, 1:] < 0, -ways, ways).mean(axis=0)
    return unit(mean)


def _with_neighbours(
    shape: Shape, main: Row, rows: Sequence[Row], sightings: Sequence[Sighting], sizes: Sequence[float]
) -> list[Row]:
    """The main row and the rows, groups and single pieces beside it that belong to the same hand."""
    own = [main]
    nearest = {row: _offset(shape, main, row) for row in rows if row is not main}
    while nearest:
        close = [row for row, near in nearest.items() if near.fits and near.away < 2.6 and near.beside < 3.6]
        close.sort(key=lambda row: nearest[row].cost)
        taken = next((r for r in close if _belongs(shape, own, r, nearest[r], rows, sightings, sizes)), None)
        if taken is None:
            break
        own.append(taken)
        del nearest[taken]
        for row, near in nearest.items():
            nearest[row] = min(near, _offset(shape, taken, row), key=lambda offset: offset.cost)
    return own


@dataclass(frozen=True, slots=True)
class _Offset:
    """Where a row lies from another: `away` pieces across it, `beside` pieces past its ends; `fits` when it
    runs the same way with pieces of about the same size. beyond: `away` on the far side, in its own pieces,
    and zero on the side of who reads it."""

    away: float
    beside: float
    fits: bool
    beyond: float = 0.0

    @property
    def cost(self) -> float:
        return max(self.away, 0.0) + 0.6 * max(self.beside, 0.0) + (0 if self.fits else 100)


def _offset(shape: Shape, main: Row, row: Row) -> _Offset:
    """Where `row` lies from `main`."""
    line = main.direction(shape)
    # One piece may be turned: then its other side runs along the line.
    ways = shape.sides[row.pieces[0]] if len(row) == 1 else [row.direction(shape)]
    angle = min(line_angle(line, unit(way)) for way in ways)
    best = _Offset(math.inf, math.inf, False)
    mine = shape.centre[list(main.pieces)]
    for i in row.pieces:
        k = int(np.argmin(np.linalg.norm(mine - shape.centre[i], axis=1)))
        along, across = main.along(shape, k), main.across(shape, k)
        det = cross(along, across)
        if abs(det) < 1e-6:
            continue
        d = shape.centre[i] - mine[k]
        # A standing row is shortened, a lying one behind it is not: the gap counts in heights of the higher.
        height = max(abs(cross(along, side) / det) for side in shape.sides[i])
        down = cross(along, d) / det
        free = abs(down) - (1 + height) / 2
        away = free / max(1.0, height)
        # Lying before a row that stands, it is shortened, and so is the way to it.
        beyond = free / max(0.3, height) if down < 0 else 0.0
        step = cross(d, across) / det
        past = (k == len(main) - 1 and step > 0) or (k == 0 and step < 0)
        beside = abs(step) - 1 if past else 0.0
        ratio = max(shape.size[i] / shape.size[main.pieces[k]], shape.size[main.pieces[k]] / shape.size[i])
        # What lies within the line is part of it, even where its corners are uncertain.
        within = len(row) == 1 and away < -0.5 and beside < 0.4
        fits = bool((angle < (15 if len(row) > 1 else 22) or within) and ratio < 1.6)
        here = _Offset(away, beside, fits, beyond)
        if here.cost < best.cost:
            best = here
    return best


def _belongs(
    shape: Shape,
    own: Sequence[Row],
    row: Row,
    near: _Offset,
    rows: Sequence[Row],
    sightings: Sequence[Sighting],
    sizes: Sequence[float],
) -> bool:
    """Whether a row beside the own ones is part of the same hand, by distance and by what a hand can hold."""
    alone = len(row) > 1 or _stands_alone(shape, own, row)
    if all(sightings[i].piece[-1] == "f" for i in row.pieces):
        return near.away < (1.6 if alone else 0.4) and near.beside < 3.0
    before = _count(own, sightings)
    after = _count([*own, row], sightings)
    short = _count(own[:1], sightings) < min(sizes)
    larger = short and before > max(sizes) + _kongs(own, sightings)
    if after > (LARGEST if larger else max(sizes) + _kongs([*own, row], sightings)):
        # Too many for one hand, yet nobody lays foreign tiles edge to edge to the own, but for a block.
        block = any(
            r is not row
            and r not in own
            and len(r) > 1
            and (o := _offset(shape, row, r)).fits
            and o.away < 0.35
            for r in rows
        )
        # Two rows close together that are no hand each may be one of a game with larger hands.
        halves = short and after <= LARGEST
        return len(row) >= 3 and near.away < (0.9 if halves else 0.35) and near.beside < 1.0 and not block
    # Past its ends the middle of the table is not where the row looks: nobody discards there.
    discarded = len(row) == 1 and near.beside <= 0 and near.beyond > BEYOND
    if near.away < (0.5 if alone else 0.25) and near.beside < 1.5 and not discarded:
        return True
    if len(row) == 1:
        # One tile set apart wins the hand: then it stands alone, and the hand lacks just one.
        lacking = (max(sizes) - before) % 3 == 1
        return alone and lacking and near.away < 1.2 and near.beside < 1.5 and not discarded
    if near.away < 1.7:
        return before < min(sizes)
    return before <= min(sizes) - 2 and len(row) in (3, 4) and _best_set(row.pieces, sightings) is not None


def _stands_alone(shape: Shape, own: Sequence[Row], row: Row) -> bool:
    """Whether a lone piece is clearly nearer to the own rows than to any other piece."""
    piece, mine = row.pieces[0], {i for r in own for i in r.pieces}
    distance = np.linalg.norm(shape.centre - shape.centre[piece], axis=1)
    others = [i for i in range(len(shape)) if i not in mine and i != piece]
    return not others or bool(distance[others].min() > 1.3 * distance[list(mine)].min())


def _is_grid(shape: Shape, main: Row, rows: Sequence[Row]) -> bool:
    """Whether the row is one of three or more like it, one above another: a tray, a catalogue, a block."""
    lines = [row for row in rows if len(row) >= max(2, 0.6 * len(main))]
    block, gaps = [main], []
    waiting = [row for row in lines if row is not main]
    while waiting:
        offers = [
            (min((_offset(shape, r, row) for r in block), key=lambda o: o.cost), row) for row in waiting
        ]
        near, nearest = min(offers, key=lambda offer: offer[0].cost)
        if not near.fits or not -0.5 < near.away < 1.3 or near.beside > 1.0:
            break
        block.append(nearest)
        gaps.append(max(near.away, 0.0))
        waiting = [row for row in waiting if row is not nearest]
    if len(block) < 3 or (max(gaps) > 0.6 and max(gaps) > 2 * min(gaps) + 0.2):
        return False
    return sum(len(row) for row in block) > 18 or max(len(row) for row in block) <= 6


def _is_one_block(shape: Shape, main: Row, own: Sequence[Row], rest: Sequence[int]) -> bool:
    """Whether the other pieces continue the own rows, piece by piece and just as straight: a block that badly
    located corners have torn into odd rows."""
    if len(rest) < 3:
        return False
    line = main.direction(shape)
    angles = [line_angle(line, unit(shape.sides[i, ACROSS])) for i in rest]
    straight = sum(min(angle, 90 - angle) < 15 for angle in angles)
    near = np.linalg.norm(shape.centre[:, None] - shape.centre[None], axis=2) < 1.9 * np.minimum(
        shape.size[:, None], shape.size
    )
    reached = {i for row in own for i in row.pieces}
    waiting = set(rest)
    while touching := {i for i in waiting if near[i, list(reached)].any()}:
        reached |= touching
        waiting -= touching
    return not waiting and straight >= 0.8 * len(rest)


def _all_beyond(shape: Shape, main: Row, own: Sequence[Row], rest: Sequence[int]) -> bool:
    """Whether all other pieces lie on the far side of the row, seen from who reads it."""
    down = _down(shape, main)
    if down is None:
        return False
    mine = min(float(shape.centre[i] @ down) for row in own for i in row.pieces)
    edge = mine - 0.5 * float(np.median(shape.size[list(main.pieces)]))
    return all(float(shape.centre[i] @ down) < edge for i in rest)


def _count(rows: Iterable[Row], sightings: Sequence[Sighting]) -> int:
    """Faces in the rows that count for the size of a hand (flowers do not)."""
    return sum(
        sightings[i].piece != BACK and sightings[i].piece[-1] != "f" for row in rows for i in row.pieces
    )


def _kongs(rows: Iterable[Row], sightings: Sequence[Sighting]) -> int:
    """How many pieces stand four times in the rows, side by side, as a kong would."""
    return sum(len(_runs_of_four(row, sightings)) for row in rows)


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces declared together: `pieces` are indices in order, backs included; `readings` are the
    candidates, by index, of those that are read otherwise now that they stand in this set."""

    kind: str
    pieces: tuple[int, ...]
    readings: Mapping[int, tuple[Candidate, ...]]
    concealed: bool = False

    def meld(self, names: Sequence[str]) -> Meld:
        """The meld, its pieces read as `names`; a face-down piece of a kong is what its neighbours are."""
        faces = [name for name in names if name != BACK]
        if self.concealed:
            faces += [plays_as(faces[0])] * (4 - len(faces))
        return Meld(self.kind, tuple(map(Piece.parse, faces)), self.concealed)


def find_melds(
    own: Own, sightings: Sequence[Sighting], sizes: Sequence[int] = Expectation().sizes
) -> list[Group]:
    """The groups of the own rows that were declared, from left to right, row by row.

    A group is declared when it is set apart and is a set of equal pieces; three in sequence only when they
    stand wider apart. A whole row of sets beside another row is declared as well. Gaps that sort a hand (by
    suit, or every set apart) declare nothing. Four equal pieces side by side are a kong when the hand is too
    large without.
    """
    whole = [_parse_sets(row.pieces, sightings) for row in own.rows]
    loose = _count((row for row, sets in zip(own.rows, whole, strict=True) if not sets), sightings)
    groups: list[Group] = []
    for row, sets in zip(own.rows, whole, strict=True):
        # A single tile beside the row may be the winning one; two or more are what is left of the hand.
        if sets and loose >= 2:
            groups += sets
        else:
            others = [other for other in own.rows if other is not row]
            groups += _melds_in_line(row, others, sightings)
    groups = [g for row in own.rows for g in _hidden_kongs(row, sightings) if not _shares(g, groups)] + groups
    total = _count(own.rows, sightings)
    concealed = total - sum(sightings[i].piece != BACK for g in groups for i in g.pieces)
    if groups and concealed < 1:
        groups = [g for g in groups if g.concealed]
    size = _size(own, groups, sightings)
    if sizes and size > max(sizes):
        found = [g for row in own.rows for g in _runs_of_four(row, sightings) if not _shares(g, groups)]
        groups += found[: size - max(sizes)]
    places = {i: (r, k) for r, row in enumerate(own.rows) for k, i in enumerate(row.pieces)}
    return sorted(groups, key=lambda g: places[g.pieces[0]])


def find_winning(own: Own, groups: Sequence[Group], sightings: Sequence[Sighting]) -> int | None:
    """The piece of a full hand that is set apart: alone beside the own rows, or at the end of one, behind a
    gap wider than all others. None when there is no such piece, or more than one.

    Melds and flowers may lie further out in the row.
    """
    declared = {i for group in groups for i in group.pieces}
    found: list[int] = []
    for row in own.rows:
        held = [
            part
            for part in _segments(row)
            if not all(
                row.pieces[k] in declared or sightings[row.pieces[k]].piece[-1] == "f" for k in part.places
            )
        ]
        if any(row.pieces[k] in declared for part in held for k in part.places):
            continue  # a meld that no gap parts from the rest
        gaps = [min(a.after, b.before) for a, b in itertools.pairwise(held)]
        ends = [(held[0], gaps[:1], gaps[1:]), (held[-1], gaps[-1:], gaps[:-1])] if gaps else []
        if len(held) == 1 and len(own.rows) > 1:
            ends = [(held[0], [math.inf], [])]
        found += [
            row.pieces[part.places[0]]
            for part, (gap, *_), others in ends
            if len(part.places) == 1 and gap >= max(APART, WIDEST * max(others, default=0.0))
        ]
    faces = [i for i in found if sightings[i].piece != BACK]
    return faces[0] if len(faces) == 1 else None


def find_unnamed(
    shape: Shape,
    rows: Sequence[Row],
    own: Own,
    groups: Sequence[Group],
    sightings: Sequence[Sighting],
    sizes: Sequence[int],
) -> list[tuple[int, ...]]:
    """Fours of face-down pieces, set apart in the own rows or beside them: concealed kongs of unknown pieces.

    A stump of the wall looks the same. So they are believed only when there are just as many of them as a
    hand of these sizes lacks.
    """
    inside = [
        tuple(row.pieces[k] for k in part.places)
        for row in own.rows
        for part in _segments(row)
        if len(part.places) == 4
    ]
    beside = [
        row.pieces
        for row in rows
        if len(row) == 4
        and row not in own.rows
        and any(
            o.fits and o.away < 1.7 and o.beside < 2.6 for o in (_offset(shape, r, row) for r in own.rows)
        )
    ]
    fours = [four for four in inside + beside if all(sightings[i].piece == BACK for i in four)]
    size = _size(own, groups, sightings)
    return fours if fours and size + 3 * len(fours) in sizes else []


def _size(own: Own, groups: Sequence[Group], sightings: Sequence[Sighting]) -> int:
    """Size of the hand in the own rows: flowers left out, a kong counted as three."""
    hidden = sum(sightings[i].piece == BACK for group in groups for i in group.pieces)
    return _count(own.rows, sightings) + hidden - sum(group.kind == "kong" for group in groups)


def _shares(group: Group, groups: Iterable[Group]) -> bool:
    """Whether a piece of the group is in one of the others."""
    return any(set(group.pieces) & set(other.pieces) for other in groups)


def _runs_of_four(row: Row, sightings: Sequence[Sighting]) -> list[Group]:
    """Four equal pieces side by side, as kongs."""
    names = [plays_as(sightings[i].piece) for i in row.pieces]
    found = []
    for k in range(len(names) - 3):
        alike = len(set(names[k : k + 4])) == 1 and names[k] != BACK and names[k - 1 : k] != [names[k]]
        if alike and names[k + 4 : k + 5] != [names[k]]:
            found.append(Group("kong", row.pieces[k : k + 4], {}))
    return found


def _hidden_kongs(row: Row, sightings: Sequence[Sighting]) -> list[Group]:
    """Two equal faces between two face-down pieces: nothing but a concealed kong is laid like that."""
    fours = [row.pieces[k : k + 4] for k in range(len(row) - 3)]
    around = [[sightings[i].piece == BACK for i in four] == [True, False, False, True] for four in fours]
    found = [_best_set(four, sightings) for four, fits in zip(fours, around, strict=True) if fits]
    return [group for group in found if group is not None]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Part of a row between two clear gaps: places in the row, and the free space before and after it."""

    places: range
    before: float
    after: float


def _segments(row: Row) -> list[_Segment]:
    """Cut a row where a gap is clearly wider than the usual one."""
    if len(row) == 1:
        return [_Segment(range(1), math.inf, math.inf)]
    usual = float(np.median(row.gaps)) if len(row) > 3 else min(row.gaps)
    spread = float(np.median(np.abs(np.array(row.gaps) - usual)))
    cuts = [k for k, gap in enumerate(row.gaps) if gap > max(usual, 0.0) + max(0.18, 5 * spread)]
    starts, stops = [0, *(k + 1 for k in cuts)], [*(k + 1 for k in cuts), len(row)]
    return [
        _Segment(
            range(a, b), row.gaps[a - 1] if a else math.inf, row.gaps[b - 1] if b < len(row) else math.inf
        )
        for a, b in zip(starts, stops, strict=True)
    ]


def _melds_in_line(row: Row, others: Sequence[Row], sightings: Sequence[Sighting]) -> list[Group]:
    """Declared groups among the segments of one row, beside the other own rows."""
    # Flowers laid at an end say nothing on what stands before them.
    parts = [
        part
        for part in _segments(row)
        if not all(sightings[row.pieces[k]].piece[-1] == "f" for k in part.places)
    ]
    if len(parts) < 2:
        return []
    found = [_best_set([row.pieces[k] for k in part.places], sightings) for part in parts]
    if others and all(found) and all(len(_segments(other)) == 1 for other in others):
        return [group for group in found if group is not None]  # sets alone, beside an unbroken row
    turned = [len({row.axes[k] for k in part.places}) > 1 for part in parts]
    sure = [g is not None and (g.concealed or t) for g, t in zip(found, turned, strict=True)]
    rest = [k for k, group in enumerate(found) if group is None and len(parts[k].places) > 1]
    chows = [k for k, group in enumerate(found) if group is not None and group.kind == "chow"]
    if (
        not any(sure)
        and max((len(parts[k].places) for k in rest), default=0) <= 4
        and len(rest) + len(chows) >= 2
    ):
        return []  # every set stands apart: that is how this player sorts a hand
    # The widest gap inside the concealed part.
    inner = max((min(parts[k].after, parts[k + 1].before) for k in rest if k + 1 in rest), default=0.0)
    declared: set[int] = set()
    for side in (range(len(parts)), range(len(parts) - 1, -1, -1)):
        block = list(itertools.takewhile(lambda k: found[k] is not None, side))
        if not others and len(block) == len(parts):
            block.pop()
        apart = [k for k in block if sure[k] or min(parts[k].before, parts[k].after) > max(0.18, 1.7 * inner)]
        # A chow is believed beside a declared pung, or when it stands wide apart.
        pungs = any(sure[k] or _kind_of(found[k]) != "chow" for k in apart)
        declared |= {
            k
            for k in apart
            if pungs or _kind_of(found[k]) != "chow" or min(parts[k].before, parts[k].after) > 0.8
        }
    return [group for k, group in enumerate(found) if group is not None and (k in declared or sure[k])]


def _kind_of(group: Group | None) -> str:
    return "" if group is None else group.kind


def _parse_sets(pieces: Sequence[int], sightings: Sequence[Sighting]) -> list[Group]:
    """The row as equal sets one after another, flowers left out; empty when anything is left over."""
    faces = [i for i in pieces if sightings[i].piece[-1] != "f"]
    groups: list[Group] = []
    start = 0
    while start < len(faces):
        for size in (4, 3):
            group = _best_set(faces[start : start + size], sightings) if start + size <= len(faces) else None
            if group is not None and group.kind != "chow":
                groups.append(group)
                start += size
                break
        else:
            return []
    return groups


def _best_set(pieces: Sequence[int], sightings: Sequence[Sighting]) -> Group | None:
    """The set that three or four pieces are, or None. One doubtful piece does not spoil a set."""
    if len(pieces) not in (3, 4):
        return None
    faces = [i for i in pieces if sightings[i].piece != BACK]
    chances = {i: by_kind(sightings[i].candidates) for i in faces}
    if len(faces) < len(pieces):
        if len(pieces) != 4 or len(faces) != 2:
            return None
        if plays_as(sightings[faces[0]].piece) != plays_as(sightings[faces[1]].piece):
            return None
        return Group("kong", tuple(pieces), {}, concealed=True)
    as_read = math.prod(max(c.values()) for c in chances.values())
    options: list[tuple[float, str, tuple[str, ...]]] = []
    for kind in set().union(*chances.values()):
        if kind[-1] != "f":
            equal = math.prod(c.get(kind, 0.0) for c in chances.values())
            options.append((equal, "pung" if len(pieces) == 3 else "kong", (kind,) * len(pieces)))
    if len(pieces) == 3:
        first = plays_as(sightings[pieces[0]].piece)
        names = sorted(plays_as(sightings[i].piece) for i in pieces)
        suit = first[-1]
        if suit in "mps" and all(name[-1] == suit for name in names):
            low = int(names[0][0])
            if [int(name[0]) for name in names] == [low, low + 1, low + 2]:
                options.append((as_read, "chow", tuple(plays_as(sightings[i].piece) for i in pieces)))
    chance, kind, wanted = max(options, default=(0.0, "", ()))
    if chance * MELD_PRIOR < as_read or chance <= 0:
        return None
    share = MELD_PRIOR * chance / (MELD_PRIOR * chance + max(as_read - chance, 0.0))
    readings = {
        i: _lifted(sightings[i].candidates, name, share)
        for i, name in zip(pieces, wanted, strict=True)
        if plays_as(sightings[i].piece) != name
    }
    return Group(kind, tuple(pieces), readings)


def _lifted(candidates: Sequence[Candidate], kind: str, share: float) -> tuple[Candidate, ...]:
    """Candidates with the given kind first, its probability raised to `share`."""
    wanted = [c for c in candidates if c.piece != BACK and plays_as(c.piece) == kind]
    others = [c for c in candidates if c not in wanted]
    sum_wanted, sum_others = (max(sum(c.confidence for c in part), 1e-9) for part in (wanted, others))
    return tuple(
        [Candidate(c.piece, c.confidence / sum_wanted * share) for c in wanted]
        + [Candidate(c.piece, c.confidence / sum_others * (1 - share)) for c in others]
    )


def _with_expectation(sighting: Sighting, expected: Expectation) -> Sighting:
    """The sighting with pieces that are not expected made less probable."""
    if not expected.pieces or all(c.piece in expected.pieces or c.piece == BACK for c in sighting.candidates):
        return sighting
    weights = [
        c.confidence * (1.0 if c.piece in expected.pieces or c.piece == BACK else UNEXPECTED_ODDS)
        for c in sighting.candidates
    ]
    scale = sum(c.confidence for c in sighting.candidates) / max(sum(weights), 1e-9)
    ranked = [Candidate(c.piece, w * scale) for c, w in zip(sighting.candidates, weights, strict=True)]
    return replace(sighting, candidates=tuple(sorted(ranked, key=lambda c: -c.confidence)))


def _warnings(
    pieces: Sequence[Sighting],
    roles: Sequence[Role],
    own: Own,
    groups: Sequence[Group],
    unnamed: Sequence[Sequence[int]],
    shape: Shape,
    expected: Expectation,
    width: int,
    height: int,
) -> list[str]:
    warnings = []
    mine = [i for i, role in enumerate(roles) if role in ("hand", "meld")]
    kinds = Counter(plays_as(pieces[i].piece) for i in mine)
    count = sum(n for kind, n in kinds.items() if kind[-1] != "f")
    kongs = sum(group.kind == "kong" for group in groups) + len(unnamed)
    hidden = sum(pieces[i].piece == BACK for group in groups for i in group.pieces) + 4 * len(unnamed)
    size = count + hidden - kongs
    if not mine:
        return ["Only backs of tiles are in sight."]
    if expected.sizes and size not in expected.sizes and (own.stands_out or size <= 18):
        sizes = " or ".join(map(str, sorted(expected.sizes)))
        noted = f" ({kongs} kong{'s' if kongs > 1 else ''} counted as three each)" if kongs else ""
        warnings.append(f"{size} tile{'s' if size != 1 else ''} read{noted}; a hand has {sizes}.")
    if not own.stands_out and len(mine) > 18:
        warnings.append(f"No row stands out, so all {len(mine)} tiles are taken for the hand.")
    if own.stands_out or len(mine) <= 18:
        for kind, n in sorted(kinds.items()):
            if n > copies_of(kind, expected.copies):
                limit = copies_of(kind, expected.copies)
                only = "is only one" if limit == 1 else f"are only {limit}"
                warnings.append(f"{n} times {Piece.parse(kind).name} ({kind}) read; there {only} of it.")
    if own.stands_out:
        margin = 2.0
        corners = shape.quads[mine].reshape(-1, 2)
        if np.any(corners < margin) or np.any(corners > np.array([width, height]) - margin):
            warnings.append("The hand reaches the edge of the photo; tiles may be cut off.")
        known = {i for group in groups for i in group.pieces}.union(*unnamed)
        backs_in_row = sum(pieces[i].piece == BACK for row in own.rows for i in row.pieces if i not in known)
        if unnamed:
            what = "a concealed kong" if len(unnamed) == 1 else f"{len(unnamed)} concealed kongs"
            warnings.append(f"Four tiles face down are taken for {what}: name the tile.")
        if backs_in_row:
            lies = "One tile lies" if backs_in_row == 1 else f"{backs_in_row} tiles lie"
            warnings.append(f"{lies} face down in the own row.")
    return warnings


def _row_numbers(own: Own, rows: Sequence[Row]) -> dict[int, int]:
    """Row of each piece, the own rows first; a piece alone that is not the own is in none."""
    mine = {row.pieces for row in own.rows}
    ordered = [*own.rows, *(row for row in rows if row.pieces not in mine and len(row) > 1)]
    numbers = {}
    for r, row in enumerate(r for r in ordered if len(r) > 1 or own.stands_out):
        for i in row.pieces:
            numbers[i] = r
    return numbers


def _reading_order(
    roles: Sequence[Role],
    members: Mapping[int, int],
    numbers: Mapping[int, int],
    own: Own,
    rows: Sequence[Row],
) -> list[int]:
    place: dict[int, tuple[int, int]] = {}
    for r, row in enumerate([*own.rows, *rows]):
        for k, i in enumerate(row.pieces):
            place.setdefault(i, (r, k))
    ranks = {"hand": 0, "meld": 1, "other": 2, "back": 3}
    return sorted(range(len(roles)), key=lambda i: (ranks[roles[i]], members.get(i, -1), place[i]))


def _mean_size(shape: Shape, row: Row) -> float:
    return float(shape.size[list(row.pieces)].mean())
