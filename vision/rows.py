"""Pieces in rows: which lie edge against edge, chained into lines, and lines joined over gaps.

Lengths are counted in pieces: a gap of 1.0 is as wide as one piece along the row, or as high as one across
it, wherever in the photo it lies. Everything compares edges of neighbours, so that slant, perspective, a bent
row and a photo that was turned do not matter.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_Step = tuple[int, int, int, float]
"""A piece in a line being chained: piece, axis, sign, and the gap before it."""

ACROSS, DOWN = 0, 1
"""The two axes of a piece: from its left to its right, and from its top to its bottom."""

PROPORTION = 1.35
"""Height of a tile's face by its width, about; it only serves to compare sizes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The geometry of n pieces.

    quads: (n, 4, 2) corners, from the piece's own top-left, clockwise.
    centre: (n, 2). sides: (n, 2, 2), `sides[i, ACROSS]` runs from the middle of the left edge to the middle
    of the right one, `sides[i, DOWN]` from top to bottom. size: (n,) width of the piece, as far as it is not
    shortened by the view: the longer one of its width and what its height says. All in pixels.
    """

    quads: Floats
    centre: Floats
    sides: Floats
    size: Floats

    @classmethod
    def of(cls, quads: Sequence[Sequence[Sequence[float]]] | Floats) -> Shape:
        """The shape of quads (n, 4, 2).

        >>> shape = Shape.of([[(0, 0), (2, 0), (2, 4), (0, 4)]])
        >>> shape.centre.tolist(), shape.sides.tolist(), round(float(shape.size[0]), 2)
        ([[1.0, 2.0]], [[[2.0, 0.0], [0.0, 4.0]]], 2.96)
        """
        corners = np.asarray(quads, dtype=np.float64).reshape(-1, 4, 2)
        top, right, bottom, left = (
            (corners[:, a] + corners[:, b]) / 2 for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))
        )
        sides = np.stack([right - left, bottom - top], axis=1)
        lengths = np.maximum(np.linalg.norm(sides, axis=2), 1e-6)
        return cls(
            corners, corners.mean(axis=1), sides, np.maximum(lengths[:, 0], lengths[:, 1] / PROPORTION)
        )

    def __len__(self) -> int:
        return len(self.centre)

    @property
    def area(self) -> Floats:
        """Area of each piece (n,), square pixels."""
        across, down = self.sides[:, ACROSS], self.sides[:, DOWN]
        return np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])


@dataclass(frozen=True, slots=True)
class Link:
    """Two pieces edge against edge, `gap` pieces apart.

    One leaves `a` at the `sign_a` end of its `axis_a` and enters `b` at the `sign_b` end of its `axis_b`.
    """

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
        return other if cross(along, other) > 0 else -other

    def direction(self, shape: Shape) -> Floats:
        """Unit vector along the line."""
        if len(self) == 1:
            return unit(self.along(shape, 0))
        return unit(shape.centre[self.pieces[-1]] - shape.centre[self.pieces[0]])


def find_links(
    shape: Shape, max_gap: float = 0.45, max_shift: float = 0.42, max_angle: float = 25.0
) -> list[Link]:
    """Pairs of pieces that touch, or nearly, edge against edge; each edge is in one link at most.

    max_gap: free space between the edges, in pieces. max_shift: how far the edges may be shifted against each
    other, in edge lengths. max_angle: degrees between the edges. All edges are tried, for a turned piece or
    one whose top was taken for its side still stands in the row.
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

    Each row runs the way most of its pieces are read: from their left to their right (or from their tops
    down, in a column).
    """
    if len(shape) == 0:
        return []
    rows = _chain(len(shape), find_links(shape) if links is None else links)
    rows = _join_over_gaps(shape, rows)
    return sorted((_oriented(row) for row in rows), key=lambda row: (-len(row), row.pieces))


def _chain(n: int, links: Iterable[Link]) -> list[Row]:
    """Chain links into rows so that every piece is in exactly one.

    A piece may be linked across and down (in a grid). Its neighbours to the left and right win, unless it has
    none.
    """
    at: dict[tuple[int, int, int], Link] = {}
    for link in links:
        at[link.a, link.axis_a, link.sign_a] = link
        at[link.b, link.axis_b, link.sign_b] = link
    has_sides = {i for i, axis, _ in at if axis == ACROSS}

    def walk(piece: int, axis: int, sign: int) -> list[_Step]:
        steps = []
        while (link := at.get((piece, axis, sign))) is not None:
            if (piece, axis, sign) == (link.a, link.axis_a, link.sign_a):
                piece, axis, sign = link.b, link.axis_b, -link.sign_b
            else:
                piece, axis, sign = link.a, link.axis_a, -link.sign_a
            steps.append((piece, axis, sign, link.gap))
        return steps

    seen: set[tuple[int, int]] = set()
    lines: list[Sequence[_Step]] = []
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

    def weighed(line: Sequence[_Step]) -> tuple[float, Sequence[_Step]]:
        return -sum(1.0 if ax == ACROSS else 0.4 if i in has_sides else 0.85 for i, ax, _, _ in line), line

    rows: list[Row] = []
    used: set[int] = set()
    waiting = [weighed(line) for line in lines]
    heapq.heapify(waiting)
    while waiting:
        best = heapq.heappop(waiting)[1]
        parts = _split(best, used)
        if len(parts) == 1 and len(parts[0]) == len(best):
            used |= {step[0] for step in best}
            pieces, axes, signs, gaps = zip(*best, strict=True)
            rows.append(Row(pieces, axes, signs, gaps[1:]))
        else:
            for part in parts:
                heapq.heappush(waiting, weighed(part))
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
    # A long row may be parted by a wide gap (melds pushed aside); two loose tiles make a row when close.
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
    for r in range(len(rows)):
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

    point: (k, 2) middle of the end's edge. out: (k, 2) unit vector out of it. edge: (k, 2) the edge as a
    vector. extent: (k,) length of a piece along the line. axis, sign: which end of the piece or row it is.
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
                # Several centres say better where a row goes than the sides of its last piece.
                inner = row.pieces[min(5, len(row) - 1)] if sign < 0 else row.pieces[max(-6, -len(row))]
                outs[len(chosen)] = unit(shape.centre[row.pieces[k]] - shape.centre[inner])
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
        """How end `a[k]` meets end `b[k]`: gap (pieces), shift (edge lengths), angle between the lines and
        between the edges (degrees), and how much longer one edge is."""
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


def _split(line: Sequence[_Step], used: Container[int]) -> list[list[_Step]]:
    """The parts of a line between pieces that are used already."""
    parts: list[list[_Step]] = [[]]
    for step in line:
        if step[0] in used:
            parts.append([])
        else:
            parts[-1].append(step)
    return [part for part in parts if part]


def unit(v: Floats) -> Floats:
    return np.asarray(v / max(float(np.hypot(v[0], v[1])), 1e-9))


def cross(a: Floats, b: Floats) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


def line_angle(a: Floats, b: Floats) -> float:
    """Degrees between two unit vectors taken as lines (0-90)."""
    return math.degrees(math.acos(min(1.0, abs(float(a @ b)))))
