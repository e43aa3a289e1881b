"""From pieces that were located and read to a hand: rows, roles, groups, melds and the most probable legal reading.

`arrange` is the whole stage. Its steps are plain functions, each of use alone:

- `Shape.of` turns quads into centres and side vectors,
- `find_links` says which pieces stand side by side (edge against edge, so slant, perspective and a photo that was
  turned do not matter), `find_rows` chains them into rows and joins what only a gap separates,
- `find_own` picks the own row or rows among walls, discards and the rows of other players,
- `find_melds` picks the groups that were declared,
- `legal_choice` chooses the most probable reading in which no piece occurs more often than the deck holds it.

Lengths are counted in pieces: a gap of 1.0 is as wide as one piece along the row, or as high as one across it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from companion.hand import Meld
from companion.pieces import DECKS, Piece
from companion.reading import BACK, Candidate, Expectation, Role, Sighting

Floats = NDArray[np.float64]
T = TypeVar("T")

ACROSS, DOWN = 0, 1
"""The two axes of a piece: from its left to its right, and from its top to its bottom."""

EXTRA_COPY_ODDS = 0.02
"""How probable one copy too many is (two sets mixed, one tile located twice), before the pictures are asked."""

MELD_PRIOR = 20.0
"""How much more probable it is that a group set apart is a real set than that it is any three pieces."""

UNEXPECTED_ODDS = 0.1
"""Weight of a piece that the expectation does not name: it is read all the same when it is seen clearly."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Pieces in their places.

    sightings: the given ones with role, row and group filled in, in reading order (own rows as their owner sees
        them, then groups, then other pieces, then backs); candidates re-ranked so that the first is the one chosen.
    melds: the declared groups; `melds[g]` is made of the sightings whose `group` is g.
    warnings: what people should know, in plain words; empty when all is well.
    """

    sightings: tuple[Sighting, ...]
    melds: tuple[Meld, ...] = ()
    warnings: tuple[str, ...] = ()


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
    pieces = [_with_expectation(s, expected) for s in sightings]
    shape = Shape.of([s.quad for s in pieces])
    backs = np.array([s.piece == BACK for s in pieces])
    rows = find_rows(shape)
    own = find_own(shape, rows, pieces, width, height, expected.sizes)
    groups = find_melds(own, pieces, expected.sizes) if own.stands_out else []

    in_own = {i for row in own.rows for i in row.pieces}
    members = {i: g for g, group in enumerate(groups) for i in group.pieces}
    roles: list[Role] = [
        "back" if backs[i] else "meld" if i in members else "hand" if i in in_own else "other"
        for i in range(len(pieces))
    ]
    for group in groups:
        for i, candidates in group.readings.items():
            pieces[i] = replace(pieces[i], candidates=candidates)
    if own.stands_out:
        # The melds are settled by their equal neighbours; what they use up is missing in the hand.
        in_melds = Counter(_plays_as(pieces[i].piece) for i in members if not backs[i])
        hand = [i for i, role in enumerate(roles) if role == "hand"]
        chosen = legal_choice([pieces[i].candidates for i in hand], expected.copies, in_melds)
        for i, candidates in zip(hand, chosen, strict=True):
            pieces[i] = replace(pieces[i], candidates=candidates)
    melds = tuple(group.meld([pieces[i].piece for i in group.pieces]) for group in groups)
    warnings = _warnings(pieces, roles, own, groups, shape, expected, width, height)

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
    return Arrangement(placed, melds, tuple(warnings))


# ---------------------------------------------------------------------------------------------------------------
# Shapes


@dataclass(frozen=True, slots=True)
class Shape:
    """The geometry of n pieces.

    quads: (n, 4, 2) corners, from the piece's own top-left, clockwise.
    centre: (n, 2). sides: (n, 2, 2), `sides[i, ACROSS]` runs from the middle of the left edge to the middle of the
    right one, `sides[i, DOWN]` from top to bottom. size: (n,) square root of the area. All in pixels.
    """

    quads: Floats
    centre: Floats
    sides: Floats
    size: Floats

    @classmethod
    def of(cls, quads: Sequence[Sequence[Sequence[float]]] | Floats) -> Shape:
        """The shape of quads (n, 4, 2).

        >>> shape = Shape.of([[(0, 0), (2, 0), (2, 3), (0, 3)]])
        >>> shape.centre.tolist(), shape.sides.tolist(), round(float(shape.size[0]), 2)
        ([[1.0, 1.5]], [[[2.0, 0.0], [0.0, 3.0]]], 2.45)
        """
        corners = np.asarray(quads, dtype=np.float64).reshape(-1, 4, 2)
        top, right, bottom, left = (
            (corners[:, a] + corners[:, b]) / 2 for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))
        )
        across, down = right - left, bottom - top
        area = np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])
        return cls(
            corners, corners.mean(axis=1), np.stack([across, down], axis=1), np.sqrt(np.maximum(area, 1e-9))
        )

    def __len__(self) -> int:
        return len(self.centre)


@dataclass(frozen=True, slots=True)
class Link:
    """Two pieces edge against edge: piece `a` is left at the `sign_a` end of its `axis_a`, and so on; `gap` in pieces."""

    a: int
    axis_a: int
    sign_a: int
    b: int
    axis_b: int
    sign_b: int
    gap: float


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces in a line, in order.

    axes, signs: how each piece lies in the line: the line leaves it along `signs[k] * sides[piece, axes[k]]`.
    gaps: the free space before each piece but the first, in pieces; below zero where quads overlap.
    """

    pieces: tuple[int, ...]
    axes: tuple[int, ...]
    signs: tuple[int, ...]
    gaps: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.pieces)

    def reversed(self) -> Row:
        return Row(self.pieces[::-1], self.axes[::-1], tuple(-s for s in self.signs[::-1]), self.gaps[::-1])

    def along(self, shape: Shape, k: int) -> Floats:
        """Side vector of the k-th piece along the line."""
        return self.signs[k] * shape.sides[self.pieces[k], self.axes[k]]

    def across(self, shape: Shape, k: int) -> Floats:
        """Side vector of the k-th piece across the line, to the right hand of who walks along it."""
        along, other = self.along(shape, k), shape.sides[self.pieces[k], 1 - self.axes[k]]
        return other if _cross(along, other) > 0 else -other

    def direction(self, shape: Shape) -> Floats:
        """Unit vector along the line."""
        if len(self) == 1:
            return _unit(self.along(shape, 0))
        return _unit(shape.centre[self.pieces[-1]] - shape.centre[self.pieces[0]])


def find_links(
    shape: Shape, max_gap: float = 0.45, max_shift: float = 0.42, max_angle: float = 25.0
) -> list[Link]:
    """Pairs of pieces that touch, or nearly, edge against edge; each edge is in one link at most, best links first.

    max_gap: free space between the edges, in pieces. max_shift: how far the edges may be shifted against each other,
    in edge lengths. max_angle: degrees between the edges. All edges are tried, for a turned piece or one whose top
    was taken for its side still stands in the row.
    """
    n = len(shape)
    if n < 2:
        return []
    ends = _Ends.of_pieces(shape)
    reach = 0.5 * np.linalg.norm(shape.sides, axis=2).max(axis=1)
    near = np.linalg.norm(shape.centre[:, None] - shape.centre[None], axis=2) < 2.2 * np.maximum(
        reach[:, None], reach
    )
    first, second = np.nonzero(np.triu(near, 1))
    four = np.arange(4)
    a = (first[:, None] * 4 + np.repeat(four, 4)).ravel()
    b = (second[:, None] * 4 + np.tile(four, 4)).ravel()
    gap, shift, angle, turn, ratio = ends.compare(a, b)
    good = (
        (gap > -0.4)
        & (gap < max_gap)
        & (shift < max_shift)
        & (angle < max_angle)
        & (turn < max_angle)
        & (ratio < 1.9)
    )
    a, b, gap, cost = a[good], b[good], gap[good], (np.abs(gap) + shift + turn / 90)[good]
    links: list[Link] = []
    taken: set[int] = set()
    joined = _Sets()
    for k in np.argsort(cost, kind="stable"):
        ea, eb = int(a[k]), int(b[k])
        pa, pb = ea // 4, eb // 4
        # An end is `piece * 4 + axis * 2 + (0 at the start, 1 at the end)`; a line is told by piece and axis.
        if ea in taken or eb in taken or not joined.join(ea // 2, eb // 2):
            continue
        taken |= {ea, eb}
        links.append(
            Link(pa, ea % 4 // 2, 2 * (ea % 2) - 1, pb, eb % 4 // 2, 2 * (eb % 2) - 1, float(gap[k]))
        )
    return links


def find_rows(shape: Shape, links: Sequence[Link] | None = None) -> list[Row]:
    """All pieces in rows, the longest first; a piece that stands alone is a row of one.

    Each row runs the way most of its pieces are read: from their left to their right (or from their tops down, in a
    column).
    """
    if len(shape) == 0:
        return []
    rows = _chain(len(shape), find_links(shape) if links is None else links)
    rows = _join_over_gaps(shape, rows)
    return sorted((_oriented(row) for row in rows), key=lambda row: (-len(row), row.pieces))


def _chain(n: int, links: Iterable[Link]) -> list[Row]:
    """Chain links into rows so that every piece is in exactly one.

    A piece may be linked across and down (in a grid). Its neighbours to the left and right win, unless it has none.
    """
    at: dict[tuple[int, int, int], Link] = {}
    for link in links:
        at[link.a, link.axis_a, link.sign_a] = link
        at[link.b, link.axis_b, link.sign_b] = link
    has_sides = {i for i, axis, _ in at if axis == ACROSS}

    def walk(piece: int, axis: int, sign: int) -> list[tuple[int, int, int, float]]:
        steps = []
        while (link := at.get((piece, axis, sign))) is not None:
            if (piece, axis, sign) == (link.a, link.axis_a, link.sign_a):
                piece, axis, sign = link.b, link.axis_b, -link.sign_b
            else:
                piece, axis, sign = link.a, link.axis_a, -link.sign_a
            steps.append((piece, axis, sign, link.gap))
        return steps

    seen: set[tuple[int, int]] = set()
    lines: list[list[tuple[int, int, int, float]]] = []
    for piece in range(n):
        for axis in (ACROSS, DOWN):
            if (piece, axis) in seen:
                continue
            back = walk(piece, axis, -1)
            start, start_axis, start_sign = (
                (back[-1][0], back[-1][1], -back[-1][2]) if back else (piece, axis, 1)
            )
            line = [(start, start_axis, start_sign, 0.0), *walk(start, start_axis, start_sign)]
            seen |= {(i, ax) for i, ax, _, _ in line}
            lines.append(line)

    def weight(line: Sequence[tuple[int, int, int, float]]) -> float:
        return sum(1.0 if ax == ACROSS else 0.4 if i in has_sides else 0.85 for i, ax, _, _ in line)

    rows: list[Row] = []
    used: set[int] = set()
    waiting = sorted(lines, key=weight)
    while waiting:
        line = waiting.pop()
        parts = _split([step for step in line], lambda step: step[0] in used)
        if len(parts) != 1 or len(parts[0]) != len(line):
            waiting = sorted([*waiting, *parts], key=weight)
            continue
        used |= {step[0] for step in line}
        pieces, axes, signs, gaps = zip(*line, strict=True)
        rows.append(Row(pieces, axes, signs, gaps[1:]))
    return rows


def _join_over_gaps(shape: Shape, rows: Sequence[Row]) -> list[Row]:
    """Join rows that lie on one line with a gap between them."""
    if len(rows) < 2:
        return list(rows)
    ends, owners = _Ends.of_rows(shape, rows)
    lengths = np.array([len(row) for row in rows])
    near = np.linalg.norm(ends.point[:, None] - ends.point[None], axis=2)
    a, b = np.nonzero(np.triu(near < 4.5 * np.maximum(ends.extent[:, None], ends.extent), 1))
    a, b = a[owners[a] != owners[b]], b[owners[a] != owners[b]]
    gap, shift, angle, turn, ratio = ends.compare(a, b)
    longer = np.maximum(lengths[owners[a]], lengths[owners[b]])
    # A long row may be parted by a wide gap (melds pushed to its side); two loose tiles only make a row when close.
    reach = np.select([longer >= 6, longer >= 3], [3.6, 2.0], 1.3)
    slack = np.where(longer >= 3, 12.0, 10.0)
    good = (
        (gap > -0.4)
        & (gap < reach)
        & (shift < 0.3 + 0.06 * gap)
        & (angle < slack)
        & (turn < 1.5 * slack)
        & (ratio < 1.5)
    )
    a, b, gap = a[good], b[good], gap[good]
    cost = gap + 2 * shift[good] + angle[good] / 20
    taken: set[int] = set()
    axis_of: dict[int, int] = {}
    joined = _Sets()
    after: dict[tuple[int, int], tuple[int, int, float]] = {}
    for k in np.argsort(cost, kind="stable"):
        ea, eb = int(a[k]), int(b[k])
        ra, rb = int(owners[ea]), int(owners[eb])
        # A tile alone has four ends; once it is joined along one axis, the other axis is out.
        if (
            ea in taken
            or eb in taken
            or any(axis_of.get(r, ends.axis[e]) != ends.axis[e] for r, e in ((ra, ea), (rb, eb)))
        ):
            continue
        if not joined.join(ra, rb):
            continue
        taken |= {ea, eb}
        axis_of[ra], axis_of[rb] = int(ends.axis[ea]), int(ends.axis[eb])
        after[ra, int(ends.sign[ea])] = (rb, int(ends.sign[eb]), float(gap[k]))
        after[rb, int(ends.sign[eb])] = (ra, int(ends.sign[ea]), float(gap[k]))
    result: list[Row] = []
    seen: set[int] = set()
    for r, row in enumerate(rows):
        if r in seen:
            continue
        start, sign = r, 1
        walked = {r}
        while (step := after.get((start, -sign))) is not None and step[0] not in walked:
            start, sign = step[0], step[1]
            walked.add(start)
        line = _along_axis(rows[start], axis_of.get(start), sign)
        seen.add(start)
        while (step := after.get((start, sign))) is not None and step[0] not in seen:
            start, sign = step[0], -step[1]
            seen.add(start)
            part = _along_axis(rows[start], axis_of.get(start), sign)
            line = Row(
                line.pieces + part.pieces,
                line.axes + part.axes,
                line.signs + part.signs,
                (*line.gaps, step[2], *part.gaps),
            )
        result.append(line)
    return result


def _along_axis(row: Row, axis: int | None, sign: int) -> Row:
    """The row walked forwards or backwards; a lone piece is laid along the given axis."""
    if len(row) == 1 and axis is not None:
        return Row(row.pieces, (axis,), (sign,), ())
    return row if sign > 0 else row.reversed()


def _oriented(row: Row) -> Row:
    """The row from left to right as most of its upright pieces are read, a column from top to bottom."""
    votes = sum(s for s, axis in zip(row.signs, row.axes, strict=True) if axis == ACROSS)
    if not votes:
        votes = sum(row.signs)
    return row.reversed() if votes < 0 else row


@dataclass(frozen=True, slots=True)
class _Ends:
    """Ends of pieces or rows as arrays: where a line may go on.

    point: (k, 2) middle of the end's edge. out: (k, 2) unit vector out of it. edge: (k, 2) the edge as a vector.
    extent: (k,) length of a piece along the line. axis, sign: which end of the piece or row it is.
    """

    point: Floats
    out: Floats
    edge: Floats
    extent: Floats
    axis: NDArray[np.int64]
    sign: NDArray[np.int64]

    @classmethod
    def of_pieces(cls, shape: Shape) -> _Ends:
        """Four ends a piece, at index `piece * 4 + axis * 2 + (0 at the start, 1 at the end)`."""
        n = len(shape)
        axis, sign = np.tile([0, 0, 1, 1], n), np.tile([-1, 1, -1, 1], n)
        piece = np.repeat(np.arange(n), 4)
        side = shape.sides[piece, axis] * sign[:, None]
        corners = shape.quads
        edges = np.stack(
            [corners[:, 3] - corners[:, 0], corners[:, 2] - corners[:, 1], corners[:, 1] - corners[:, 0],
             corners[:, 2] - corners[:, 3]], axis=1,
        )  # fmt: skip
        middles = np.stack(
            [
                corners[:, [0, 3]].mean(1),
                corners[:, [1, 2]].mean(1),
                corners[:, [0, 1]].mean(1),
                corners[:, [2, 3]].mean(1),
            ],
            axis=1,
        )
        extent = np.maximum(np.linalg.norm(side, axis=1), 1e-6)
        return cls(middles.reshape(-1, 2), side / extent[:, None], edges.reshape(-1, 2), extent, axis, sign)

    @classmethod
    def of_rows(cls, shape: Shape, rows: Sequence[Row]) -> tuple[_Ends, NDArray[np.int64]]:
        """Two ends a row, four a lone piece, with the index of the row that owns each."""
        all_ends = cls.of_pieces(shape)
        chosen: list[int] = []
        owner: list[int] = []
        outs: dict[int, Floats] = {}
        signs: list[int] = []
        for r, row in enumerate(rows):
            if len(row) == 1:
                chosen += [row.pieces[0] * 4 + k for k in range(4)]
                signs += [-1, 1, -1, 1]
                owner += [r] * 4
                continue
            for sign in (-1, 1):
                k = 0 if sign < 0 else -1
                end = row.pieces[k] * 4 + row.axes[k] * 2 + (1 if row.signs[k] * sign > 0 else 0)
                # The line through several centres says better where a row goes than the sides of its last piece.
                inner = row.pieces[min(5, len(row) - 1)] if sign < 0 else row.pieces[max(-6, -len(row))]
                outs[len(chosen)] = _unit(shape.centre[row.pieces[k]] - shape.centre[inner])
                chosen.append(end)
                signs.append(sign)
                owner.append(r)
        out = all_ends.out[chosen]
        for k, vector in outs.items():
            out[k] = vector
        ends = cls(
            all_ends.point[chosen],
            out,
            all_ends.edge[chosen],
            all_ends.extent[chosen],
            all_ends.axis[chosen],
            np.array(signs),
        )
        return ends, np.array(owner)

    def compare(
        self, a: NDArray[np.int64], b: NDArray[np.int64]
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """How end `a[k]` meets end `b[k]`: gap (pieces), shift (edge lengths), angle between the lines and between
        the edges (degrees), and how much longer one edge is."""
        towards = self.out[a] - self.out[b]
        norm = np.linalg.norm(towards, axis=1)
        line = towards / np.maximum(norm, 1e-9)[:, None]
        edge_a, edge_b = self.edge[a], self.edge[b]
        edge_b = np.where((np.sum(edge_a * edge_b, axis=1) < 0)[:, None], -edge_b, edge_b)
        length_a, length_b = (np.maximum(np.linalg.norm(e, axis=1), 1e-6) for e in (edge_a, edge_b))
        across = edge_a / length_a[:, None] + edge_b / length_b[:, None]
        across /= np.maximum(np.linalg.norm(across, axis=1), 1e-9)[:, None]
        d = self.point[b] - self.point[a]
        det = line[:, 0] * across[:, 1] - line[:, 1] * across[:, 0]
        det = np.where(np.abs(det) < 0.2, np.inf, det)
        gap = (
            (d[:, 0] * across[:, 1] - d[:, 1] * across[:, 0]) / det / ((self.extent[a] + self.extent[b]) / 2)
        )
        shift = np.abs((line[:, 0] * d[:, 1] - line[:, 1] * d[:, 0]) / det) / ((length_a + length_b) / 2)
        shift = np.where(np.isinf(det), np.inf, shift)
        angle = np.degrees(np.arccos(np.clip(-np.sum(self.out[a] * self.out[b], axis=1), -1, 1)))
        turn = np.degrees(np.arccos(np.clip(np.sum(edge_a * edge_b, axis=1) / (length_a * length_b), -1, 1)))
        return gap, shift, angle, turn, np.maximum(length_a / length_b, length_b / length_a)


# ---------------------------------------------------------------------------------------------------------------
# The own rows


@dataclass(frozen=True, slots=True)
class Own:
    """The own rows, the main one first. stands_out: False where no row does and every piece is taken for the hand."""

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
    """Which rows are the hand of who took the photo: the long row of large pieces nearest to its reader, with what
    stands close above, below or beside it as far as a hand of these sizes (kongs left out) can hold it."""
    backs = np.array([s.piece == BACK for s in sightings])
    faced = [row for row in rows if not all(backs[list(row.pieces)])]
    everything = Own(tuple(faced), False)
    candidates = [row for row in faced if np.mean(backs[list(row.pieces)]) < 0.5]
    if not candidates:
        return everything
    largest = max(_mean_size(shape, row) for row in candidates if len(row) >= min(3, len(candidates[0])))
    score = {row: _own_score(shape, row, backs, largest, width, height) for row in candidates}
    main = max(candidates, key=lambda row: score[row])
    if _is_grid(shape, main, candidates):
        return everything
    own = _with_neighbours(shape, main, candidates, sightings, sizes or (math.inf,))
    count = _count(own, sightings)
    rest = [i for row in faced if row not in own for i in row.pieces if not backs[i]]
    if not rest:
        return Own(tuple(own), True)
    if len(main) >= 7 or (len(main) >= 4 and sizes and count >= min(sizes) - 1):
        return Own(tuple(own), True)
    if len(main) >= 4 and _all_beyond(shape, main, own, rest):
        return Own(tuple(own), True)
    return everything


def _own_score(
    shape: Shape, row: Row, backs: NDArray[np.bool_], largest: float, width: int, height: int
) -> float:
    """How well a row looks like the own hand: pieces, weighted by size and by how near to its reader they lie."""
    faces = min(18, int(np.sum(~backs[list(row.pieces)])))
    upright = [i for i, axis in zip(row.pieces, row.axes, strict=True) if axis == ACROSS]
    nearness = 0.0
    if upright:
        down = _unit(shape.sides[upright, DOWN].mean(axis=0))
        middle = shape.centre[list(row.pieces)].mean(axis=0) - np.array([width, height]) / 2
        nearness = 0.25 * float(middle @ down) / (0.5 * math.hypot(width, height)) + 0.15 * float(down[1])
    return faces * (_mean_size(shape, row) / largest) ** 1.5 * (1 + nearness)


def _with_neighbours(
    shape: Shape, main: Row, rows: Sequence[Row], sightings: Sequence[Sighting], sizes: Sequence[float]
) -> list[Row]:
    """The main row and the rows, groups and single pieces beside it that belong to the same hand."""
    own = [main]
    waiting = [row for row in rows if row is not main]
    while waiting:
        offers = []
        for row in waiting:
            near = min((_offset(shape, mine, row) for mine in own), key=lambda o: o.cost)
            if near.fits and near.away < 2.6 and near.beside < 3.6:
                offers.append((near.cost, row, near))
        chosen = None
        for _, row, near in sorted(offers, key=lambda offer: offer[0]):
            if _belongs(shape, own, row, near, rows, sightings, sizes):
                chosen = row
                break
        if chosen is None:
            return own
        own.append(chosen)
        waiting = [row for row in waiting if row is not chosen]
    return own


@dataclass(frozen=True, slots=True)
class _Offset:
    """Where a row lies from another: `away` pieces across it, `beside` pieces past its ends; `fits` when it runs the
    same way with pieces of about the same size."""

    away: float
    beside: float
    fits: bool

    @property
    def cost(self) -> float:
        return max(self.away, 0.0) + 0.6 * max(self.beside, 0.0) + (0 if self.fits else 100)


def _offset(shape: Shape, main: Row, row: Row) -> _Offset:
    """Where `row` lies from `main`."""
    angle = _line_angle(main.direction(shape), row.direction(shape))
    if len(row) == 1:
        angle = min(angle, 90 - angle if angle > 45 else 90.0)
    best = _Offset(math.inf, math.inf, False)
    mine = shape.centre[list(main.pieces)]
    for i in row.pieces:
        k = int(np.argmin(np.linalg.norm(mine - shape.centre[i], axis=1)))
        along, across = main.along(shape, k), main.across(shape, k)
        det = _cross(along, across)
        if abs(det) < 1e-6:
            continue
        d = shape.centre[i] - mine[k]
        away = abs(_cross(along, d) / det) - 1
        step = _cross(d, across) / det
        past = (k == len(main) - 1 and step > 0) or (k == 0 and step < 0)
        beside = abs(step) - 1 if past else 0.0
        ratio = max(shape.size[i] / shape.size[main.pieces[k]], shape.size[main.pieces[k]] / shape.size[i])
        here = _Offset(away, beside, bool(angle < (15 if len(row) > 1 else 22) and ratio < 1.5))
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
    if all(sightings[i].piece[-1] == "f" for i in row.pieces):
        return near.away < 1.6 and near.beside < 3.0
    before = _count(own, sightings)
    after = _count([*own, row], sightings)
    if after > max(sizes) + _kongs([*own, row], sightings):
        # Too many for one hand, yet nobody lays foreign tiles edge to edge to his own, unless they are a block.
        alone = not any(
            r is not row
            and r not in own
            and len(r) > 1
            and (o := _offset(shape, row, r)).fits
            and o.away < 0.35
            for r in rows
        )
        return len(row) >= 3 and near.away < 0.35 and near.beside < 1.0 and alone
    if near.away < 0.5 and near.beside < 1.5:
        return True
    if len(row) == 1:
        # One tile set apart wins the hand: then it stands alone, and the hand lacks just one.
        mine = {i for r in own for i in r.pieces}
        distance = np.linalg.norm(shape.centre - shape.centre[row.pieces[0]], axis=1)
        to_own = min(distance[i] for i in mine)
        others = [i for i in range(len(shape)) if i not in mine and i != row.pieces[0]]
        lacking = (max(sizes) - before) % 3 == 1
        return (
            lacking
            and near.away < 1.2
            and near.beside < 1.5
            and all(distance[i] > 1.3 * to_own for i in others)
        )
    if near.away < 1.7:
        return before < min(sizes)
    return before <= min(sizes) - 2 and len(row) in (3, 4) and _best_set(row.pieces, sightings) is not None


def _is_grid(shape: Shape, main: Row, rows: Sequence[Row]) -> bool:
    """Whether the row is one of three or more like it, one above another: a tray, a wall of faces, a catalogue."""
    lines = [row for row in rows if len(row) >= max(2, 0.6 * len(main))]
    block, gaps = [main], []
    waiting = [row for row in lines if row is not main]
    while waiting:
        offers = [
            (min((_offset(shape, r, row) for r in block), key=lambda o: o.cost), row) for row in waiting
        ]
        near, nearest = min(offers, key=lambda offer: offer[0].cost)
        if not near.fits or near.away > 1.3 or near.beside > 1.0:
            break
        block.append(nearest)
        gaps.append(max(near.away, 0.0))
        waiting = [row for row in waiting if row is not nearest]
    if len(block) < 3 or (max(gaps) > 0.6 and max(gaps) > 2 * min(gaps) + 0.2):
        return False
    return sum(len(row) for row in block) > 18 or max(len(row) for row in block) <= 6


def _all_beyond(shape: Shape, main: Row, own: Sequence[Row], rest: Sequence[int]) -> bool:
    """Whether all other pieces lie on the far side of the row, seen from who reads it."""
    upright = [i for i, axis in zip(main.pieces, main.axes, strict=True) if axis == ACROSS]
    if not upright:
        return False
    down = _unit(shape.sides[upright, DOWN].mean(axis=0))
    mine = min(float(shape.centre[i] @ down) for row in own for i in row.pieces)
    edge = mine - 0.5 * float(np.median(shape.size[upright]))
    return all(float(shape.centre[i] @ down) < edge for i in rest)


def _count(rows: Iterable[Row], sightings: Sequence[Sighting]) -> int:
    """Faces in the rows that count for the size of a hand (flowers do not)."""
    return sum(
        sightings[i].piece != BACK and sightings[i].piece[-1] != "f" for row in rows for i in row.pieces
    )


def _kongs(rows: Iterable[Row], sightings: Sequence[Sighting]) -> int:
    """How many pieces stand four times in the rows, side by side, as a kong would."""
    return sum(len(_runs_of_four(row, sightings)) for row in rows)


# ---------------------------------------------------------------------------------------------------------------
# Melds


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces declared together. pieces: indices in order, backs included. readings: candidates as a set, by index."""

    kind: str
    pieces: tuple[int, ...]
    readings: Mapping[int, tuple[Candidate, ...]]
    concealed: bool = False

    def meld(self, names: Sequence[str]) -> Meld:
        """The meld, its pieces being read as `names`; a face-down piece of a kong is what its neighbours are."""
        faces = [name for name in names if name != BACK]
        if self.concealed:
            faces += [_plays_as(faces[0])] * (4 - len(faces))
        return Meld(
            self.kind, tuple(sorted((Piece.parse(name) for name in faces), key=_sort_key)), self.concealed
        )


def find_melds(
    own: Own, sightings: Sequence[Sighting], sizes: Sequence[int] = Expectation().sizes
) -> list[Group]:
    """The groups of the own rows that were declared, from left to right, row by row.

    A group is declared when it is set apart and is a set of equal pieces; three in sequence only when they stand
    wider apart. A whole row of sets beside another row is declared as well. Gaps that sort a hand (by suit, or
    every set apart) declare nothing. Four equal pieces side by side are a kong when the hand is too large without.
    """
    whole = [_parse_sets(row.pieces, sightings) for row in own.rows]
    groups: list[Group] = []
    for r, row in enumerate(own.rows):
        if whole[r] and any(not sets for k, sets in enumerate(whole) if k != r):
            groups += whole[r]
        else:
            groups += _melds_in_line(row, _segments(row), sightings)
    total = _count(own.rows, sightings)
    concealed = total - sum(sightings[i].piece != BACK for g in groups for i in g.pieces)
    if groups and concealed < 1:
        groups = [g for g in groups if g.concealed]
    hidden = sum(sightings[i].piece == BACK for g in groups for i in g.pieces)
    size = total + hidden - sum(g.kind == "kong" for g in groups)
    if sizes and size > max(sizes):
        taken = {i for g in groups for i in g.pieces}
        found = [g for row in own.rows for g in _runs_of_four(row, sightings) if not taken & set(g.pieces)]
        groups += found[: size - max(sizes)]
    places = {i: (r, k) for r, row in enumerate(own.rows) for k, i in enumerate(row.pieces)}
    return sorted(groups, key=lambda g: places[g.pieces[0]])


def _runs_of_four(row: Row, sightings: Sequence[Sighting]) -> list[Group]:
    """Four equal pieces side by side, as kongs."""
    names = [_plays_as(sightings[i].piece) for i in row.pieces]
    found = []
    for k in range(len(names) - 3):
        alike = len(set(names[k : k + 4])) == 1 and names[k] != BACK and names[k - 1 : k] != [names[k]]
        if alike and names[k + 4 : k + 5] != [names[k]]:
            found.append(Group("kong", row.pieces[k : k + 4], {}))
    return found


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
    cuts = [k for k, gap in enumerate(row.gaps) if gap > max(usual, 0.0) + 0.3]
    starts, stops = [0, *(k + 1 for k in cuts)], [*(k + 1 for k in cuts), len(row)]
    return [
        _Segment(
            range(a, b), row.gaps[a - 1] if a else math.inf, row.gaps[b - 1] if b < len(row) else math.inf
        )
        for a, b in zip(starts, stops, strict=True)
    ]


def _melds_in_line(row: Row, parts: Sequence[_Segment], sightings: Sequence[Sighting]) -> list[Group]:
    """Declared groups among the segments of one row."""
    if len(parts) < 2:
        return []
    found = [_best_set([row.pieces[k] for k in part.places], sightings) for part in parts]
    turned = [len({row.axes[k] for k in part.places}) > 1 for part in parts]
    sure = [g is not None and (g.concealed or t) for g, t in zip(found, turned, strict=True)]
    rest = [k for k, group in enumerate(found) if group is None and len(parts[k].places) > 1]
    loose = [k for k, group in enumerate(found) if group is not None and group.kind == "chow"]
    if (
        not any(sure)
        and max((len(parts[k].places) for k in rest), default=0) <= 4
        and len(rest) + len(loose) >= 2
    ):
        return []  # every set stands apart: that is how this player sorts a hand
    inner = max(
        (min(parts[k].before, parts[k + 1].before) for k in rest if k + 1 in rest), default=0.0
    )  # the widest gap inside the concealed part
    groups: list[Group] = []
    for side in (range(len(parts)), range(len(parts) - 1, -1, -1)):
        for k in side:
            group = found[k]
            if group is None or (not sure[k] and not _set_apart(parts[k], group, inner)):
                break
            if len(groups) + 1 == len(parts):
                break
            if group not in groups:
                groups.append(group)
    groups += [g for k, g in enumerate(found) if sure[k] and g is not None and g not in groups]
    return sorted(groups, key=lambda g: row.pieces.index(g.pieces[0]))


def _set_apart(part: _Segment, group: Group, inner: float) -> bool:
    gap = min(part.before, part.after)
    return gap > max(0.3, 1.7 * inner) and (group.kind != "chow" or gap > 0.8)


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
    chances = {i: _by_kind(sightings[i].candidates) for i in faces}
    if len(faces) < len(pieces):
        if len(pieces) != 4 or len(faces) != 2:
            return None
        if _plays_as(sightings[faces[0]].piece) != _plays_as(sightings[faces[1]].piece):
            return None
        return Group("kong", tuple(pieces), {}, concealed=True)
    as_read = math.prod(max(c.values()) for c in chances.values())
    options: list[tuple[float, str, tuple[str, ...]]] = []
    for kind in set().union(*chances.values()):
        if kind[-1] != "f":
            equal = math.prod(c.get(kind, 0.0) for c in chances.values())
            options.append((equal, "pung" if len(pieces) == 3 else "kong", (kind,) * len(pieces)))
    if len(pieces) == 3:
        first = _plays_as(sightings[pieces[0]].piece)
        names = sorted(_plays_as(sightings[i].piece) for i in pieces)
        suit = first[-1]
        if suit in "mps" and all(name[-1] == suit for name in names):
            low = int(names[0][0])
            if [int(name[0]) for name in names] == [low, low + 1, low + 2]:
                options.append((as_read, "chow", tuple(_plays_as(sightings[i].piece) for i in pieces)))
    chance, kind, wanted = max(options, default=(0.0, "", ()))
    if chance * MELD_PRIOR < as_read or chance <= 0:
        return None
    share = MELD_PRIOR * chance / (MELD_PRIOR * chance + max(as_read - chance, 0.0))
    readings = {
        i: _lifted(sightings[i].candidates, name, share)
        for i, name in zip(pieces, wanted, strict=True)
        if _plays_as(sightings[i].piece) != name
    }
    return Group(kind, tuple(pieces), readings)


def _lifted(candidates: Sequence[Candidate], kind: str, share: float) -> tuple[Candidate, ...]:
    """Candidates with the given kind first, its probability raised to `share`."""
    wanted = [c for c in candidates if c.piece != BACK and _plays_as(c.piece) == kind]
    others = [c for c in candidates if c not in wanted]
    sum_wanted, sum_others = (max(sum(c.confidence for c in part), 1e-9) for part in (wanted, others))
    return tuple(
        [Candidate(c.piece, c.confidence / sum_wanted * share) for c in wanted]
        + [Candidate(c.piece, c.confidence / sum_others * (1 - share)) for c in others]
    )


# ---------------------------------------------------------------------------------------------------------------
# The legal reading


def legal_choice(
    candidates: Sequence[Sequence[Candidate]],
    copies: int = 4,
    used: Mapping[str, int] | None = None,
    extra_odds: float = EXTRA_COPY_ODDS,
) -> list[tuple[Candidate, ...]]:
    """Re-rank the candidates of each piece so that the first ones together are the most probable legal reading.

    candidates: per piece, best first. copies: how many equal pieces there are (a red five counts as a five; of each
    flower there is one). used: how many of a kind lie elsewhere. extra_odds: how probable a copy too many is all the same; when the pictures are surer than
    that, the reading keeps it. The confidences become those given that limit: what is taken from a piece that cannot
    be there goes to its other candidates.

    >>> five = [[Candidate("3m", 0.99), Candidate("2m", 0.01)]] * 4 + [[Candidate("3m", 0.5), Candidate("2m", 0.4)]]
    >>> [ranked[0].piece for ranked in legal_choice(five)]
    ['3m', '3m', '3m', '3m', '2m']
    """
    if not candidates:
        return []
    chances = [_by_kind(ranked) for ranked in candidates]
    kinds = sorted(set().union(*chances))
    limits = {kind: max(0, _copies(kind, copies) - (used or {}).get(kind, 0)) for kind in kinds}
    start = [max(c, key=lambda kind: c[kind]) for c in chances]
    held = Counter(start)
    if all(held[kind] <= limits[kind] for kind in kinds):
        return [tuple(ranked) for ranked in candidates]
    chosen = _flow(chances, start, limits, -math.log(extra_odds))
    weights = [dict(c) for c in chances]
    for kind in kinds:
        if held[kind] > limits[kind]:
            believed = _given_limit([c.get(kind, 0.0) for c in chances], limits[kind], extra_odds)
            for weight, old, share in zip(weights, chances, believed, strict=True):
                if kind in old:
                    rest = sum(old.values()) - old[kind]
                    scale = (1 - share) / rest if rest > 1e-9 else 0.0
                    for other in weight:
                        weight[other] = share if other == kind else weight[other] * scale
    return [
        tuple(sorted(_rescaled(ranked, old, new), key=lambda c: (_plays_as(c.piece) != kind, -c.confidence)))
        for ranked, old, new, kind in zip(candidates, chances, weights, chosen, strict=True)
    ]


def _rescaled(
    ranked: Iterable[Candidate], old: Mapping[str, float], new: Mapping[str, float]
) -> list[Candidate]:
    """Candidates whose probability by kind went from `old` to `new`."""
    return [
        Candidate(c.piece, c.confidence * new[kind] / max(old[kind], 1e-9))
        for c in ranked
        for kind in (_plays_as(c.piece),)
    ]


def _flow(
    chances: Sequence[Mapping[str, float]], start: Sequence[str], limits: Mapping[str, int], extra_cost: float
) -> list[str]:
    """The cheapest assignment of pieces to kinds within the limits (min-cost flow, exact).

    It begins with every piece at its best kind, which is optimal but for the limits, and then moves one piece too
    many after the other along the cheapest chain of exchanges; that keeps it optimal. A chain dearer than
    `extra_cost` is not taken.
    """
    chosen = list(start)
    kinds = sorted(limits)
    given_up: Counter[str] = Counter()
    while True:
        held = Counter(chosen)
        over = [kind for kind in kinds if held[kind] - given_up[kind] > limits[kind]]
        if not over:
            return chosen
        move: dict[tuple[str, str], tuple[float, int]] = {}
        for p, c in enumerate(chances):
            here = chosen[p]
            for kind, chance in c.items():
                if kind != here and chance > 0:
                    cost = math.log(max(c[here], 1e-12)) - math.log(chance)
                    if cost < move.get((here, kind), (math.inf, 0))[0]:
                        move[here, kind] = (cost, p)
        source = over[0]
        cost_to = {source: 0.0}
        via: dict[str, tuple[str, int]] = {}
        for _ in kinds:
            changed = False
            for (a, b), (cost, p) in move.items():
                if a in cost_to and cost_to[a] + cost < cost_to.get(b, math.inf) - 1e-9:
                    cost_to[b], via[b], changed = cost_to[a] + cost, (a, p), True
            if not changed:
                break
        free = [kind for kind in cost_to if held[kind] < limits[kind]]
        end = min(free, key=lambda kind: cost_to[kind], default=None)
        if end is None or cost_to[end] > extra_cost:
            given_up[source] += 1
            continue
        while end != source:
            end_from, p = via[end]
            chosen[p] = end
            end = end_from


def _given_limit(chances: Sequence[float], limit: int, extra_odds: float) -> list[float]:
    """Probability that each piece is of a kind, given that more than `limit` are only `extra_odds` each as probable."""

    def total(values: Sequence[float], shift: int) -> float:
        counts = np.array([1.0])
        for p in values:
            counts = np.convolve(counts, [1 - p, p])
        held = np.arange(len(counts)) + shift
        return float(np.sum(counts * extra_odds ** np.maximum(held - limit, 0)))

    result = []
    for k, p in enumerate(chances):
        others = [*chances[:k], *chances[k + 1 :]]
        yes, no = p * total(others, 1), (1 - p) * total(others, 0)
        result.append(yes / (yes + no) if yes + no > 0 else 0.0)
    return result


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


def _by_kind(candidates: Iterable[Candidate]) -> dict[str, float]:
    """Probability by kind, a red five being a five."""
    chances: dict[str, float] = defaultdict(float)
    for c in candidates:
        chances[_plays_as(c.piece)] += c.confidence
    return dict(chances)


# ---------------------------------------------------------------------------------------------------------------
# Words and order


def _warnings(
    pieces: Sequence[Sighting],
    roles: Sequence[Role],
    own: Own,
    groups: Sequence[Group],
    shape: Shape,
    expected: Expectation,
    width: int,
    height: int,
) -> list[str]:
    warnings = []
    mine = [i for i, role in enumerate(roles) if role in ("hand", "meld")]
    kinds = Counter(_plays_as(pieces[i].piece) for i in mine)
    count = sum(n for kind, n in kinds.items() if kind[-1] != "f")
    kongs = sum(group.kind == "kong" for group in groups)
    hidden = sum(pieces[i].piece == BACK for group in groups for i in group.pieces)
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
            if n > _copies(kind, expected.copies):
                limit = _copies(kind, expected.copies)
                only = "is only one" if limit == 1 else f"are only {limit}"
                warnings.append(f"{n} times {_name(kind)} ({kind}) read; there {only} of it.")
    if own.stands_out:
        margin = 2.0
        corners = shape.quads[mine].reshape(-1, 2)
        if np.any(corners < margin) or np.any(corners > np.array([width, height]) - margin):
            warnings.append("The hand reaches the edge of the photo; tiles may be cut off.")
        backs_in_row = sum(pieces[i].piece == BACK for row in own.rows for i in row.pieces) - hidden
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


@lru_cache(maxsize=256)
def _plays_as(name: str) -> str:
    return name if name == BACK else str(Piece.parse(name).plays_as)


@lru_cache(maxsize=256)
def _name(name: str) -> str:
    return Piece.parse(name).name


@lru_cache(maxsize=1024)
def _copies(name: str, copies: int) -> int:
    """How many of a piece there are: what is expected, but a piece that the deck holds once is there once."""
    if name == BACK:
        return 10_000
    piece = Piece.parse(name)
    in_deck = DECKS[piece.deck].copies(piece)
    return 1 if in_deck == 1 else copies


def _sort_key(piece: Piece) -> tuple[str, int, str]:
    name = str(piece)
    return name[-1], int(piece.plays_as.rank) if piece.plays_as.rank.isdigit() else 0, name


# ---------------------------------------------------------------------------------------------------------------
# Small helpers


class _Sets:
    """Disjoint sets: which things hang together."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, x: int) -> int:
        while (parent := self._parent.get(x, x)) != x:
            self._parent[x] = self._parent.get(parent, parent)
            x = parent
        return x

    def join(self, a: int, b: int) -> bool:
        """Join the sets of a and b; False when they were one already."""
        a, b = self.find(a), self.find(b)
        self._parent[a] = b
        return a != b


def _split(items: Sequence[T], drop: Callable[[T], bool]) -> list[list[T]]:
    """The runs of items between those to drop."""
    runs: list[list[T]] = [[]]
    for item in items:
        if drop(item):
            runs.append([])
        else:
            runs[-1].append(item)
    return [run for run in runs if run]


def _mean_size(shape: Shape, row: Row) -> float:
    return float(shape.size[list(row.pieces)].mean())


def _unit(v: Floats) -> Floats:
    return np.asarray(v / max(float(np.hypot(v[0], v[1])), 1e-9))


def _cross(a: Floats, b: Floats) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def _line_angle(a: Floats, b: Floats) -> float:
    """Degrees between two unit vectors taken as lines (0-90)."""
    return math.degrees(math.acos(min(1.0, abs(float(a @ b)))))
