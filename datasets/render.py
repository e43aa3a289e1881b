"""Draw tiles on a table as a camera sees them, with the true corners of every face.

A small rasteriser of boxes: every tile is a cuboid in table units (1 = the width of a tile), seen through a
pinhole camera. It is built for speed (tens of milliseconds a scene), not for beauty: what the locator and the
reader have to learn is geometry, neighbours' side walls, shadows and light.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import cv2
import numpy as np

from datasets.art import FaceSet

Pose = Literal["up", "down", "stand", "stand-away"]


@dataclass(frozen=True)
class Placed:
    """A tile on the table.

    face: name of its face. pose: lying face `up` or `down`, or standing with its face towards the near edge
    (`stand`) or away from it (`stand-away`). x, y: centre on the table, tile widths; y grows away from the
    near edge. yaw: turn on the table, radians, counter-clockwise. level: how many tiles lie beneath. lean:
    how far a standing tile leans back, radians. role: what it is in the game, as in a reading.
    """

    face: str
    pose: Pose
    x: float
    y: float
    yaw: float = 0.0
    level: int = 0
    lean: float = 0.0
    role: str = "hand"
    group: int | None = None


@dataclass(frozen=True)
class Body:
    """The block a face is printed on.

    height, depth: in widths. front, back: BGR 0-255. split: share of the depth that has the back's
    colour.
    radius: corner radius of the face, widths. margin: share of the face left free around ink.
    """

    height: float
    depth: float
    front: tuple[float, float, float]
    back: tuple[float, float, float]
    split: float
    radius: float
    margin: float


@dataclass(frozen=True)
class Camera:
    """A pinhole camera over the table.

    matrix: (3, 4) projection from table units to pixels. position: (3,) in table units.
    """

    matrix: np.ndarray
    position: np.ndarray
    width: int
    height: int

    @classmethod
    def looking(
        cls,
        target: tuple[float, float, float],
        distance: float,
        elevation: float,
        azimuth: float,
        roll: float,
        focal: float,
        width: int,
        height: int,
    ) -> Camera:
        """A camera at `distance` from `target`, `elevation` above the table, turned by `azimuth` (all
        radians).

        At azimuth 0 it stands at the near edge. focal: in units of the longer picture side.
        """
        aim = np.array(target, float)
        ahead = np.array(
            [
                np.sin(azimuth) * np.cos(elevation),
                np.cos(azimuth) * np.cos(elevation),
                -np.sin(elevation),
            ]
        )
        position = aim - distance * ahead
        right = np.array([np.cos(azimuth), -np.sin(azimuth), 0.0])
        down = np.cross(ahead, right)
        turn = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
        rotation = turn @ np.stack([right, down, ahead])
        scale = focal * max(width, height)
        inner = np.array([[scale, 0, width / 2], [0, scale, height / 2], [0, 0, 1]])
        matrix = inner @ np.hstack([rotation, -(rotation @ position)[:, None]])
        return cls(matrix, position, width, height)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixels (n, 2) of table points (n, 3); points behind the camera come out as NaN."""
        seen = points @ self.matrix[:, :3].T + self.matrix[:, 3]
        depth = seen[:, 2:3]
        return np.where(depth > 0.05, seen[:, :2] / np.maximum(depth, 0.05), np.nan)


@dataclass
class Scene:
    """A rendered picture and what is on it.

    image: (height, width, 3) uint8 BGR. tiles: the visible ones.
    """

    image: np.ndarray
    tiles: list[SceneTile] = field(default_factory=list)


@dataclass(frozen=True)
class SceneTile:
    """One tile of a rendered picture.

    label: its face, or `back`. quad: (4, 2) pixels, from the face's own top-left, clockwise. visible: share
    of the face that nothing covers (0-1). role, group: as placed.
    """

    label: str
    quad: np.ndarray
    visible: float
    role: str
    group: int | None


def _frame(tile: Placed, body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Centre (3,) and axes (3, 3) of a tile: rows are its right, its up and the way its face looks."""
    cos, sin = np.cos(tile.yaw), np.sin(tile.yaw)
    right = np.array([cos, sin, 0.0])
    away = np.array([-sin, cos, 0.0])
    zenith = np.array([0.0, 0.0, 1.0])
    if tile.pose == "up":
        axes, rise = (right, away, zenith), body.depth
    elif tile.pose == "down":
        axes, rise = (-right, away, -zenith), body.depth
    else:
        lean_cos, lean_sin = np.cos(tile.lean), np.sin(tile.lean)
        up = lean_cos * zenith + lean_sin * away
        out = -lean_cos * away + lean_sin * zenith
        if tile.pose == "stand":
            axes, rise = (right, up, out), body.height
        else:
            axes, rise = (-right, up, -out), body.height
    centre = np.array([tile.x, tile.y, rise * (tile.level + 0.5)])
    return centre, np.stack(axes)


_SIDES = (
    # (axis across, its sign as the outward normal): the four side walls
    (0, 1.0),
    (0, -1.0),
    (1, 1.0),
    (1, -1.0),
)


def _quads(
    centre: np.ndarray, axes: np.ndarray, body: Body, eye: np.ndarray
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """The faces of a tile that look at `eye`: (name, corners (4, 3), outward normal)."""
    half = np.array([0.5, body.height / 2, body.depth / 2])
    right, up, out = axes * half[:, None]
    shown = []
    to_eye = eye - centre
    if (to_eye - out) @ axes[2] > 0:
        corners = centre + out + np.array([-right + up, right + up, right - up, -right - up])
        shown.append(("face", corners, axes[2]))
    if (to_eye + out) @ axes[2] < 0:
        corners = centre - out + np.array([right + up, -right + up, -right - up, right - up])
        shown.append(("back", corners, -axes[2]))
    seam = -out + 2 * out * body.split
    for axis, sign in _SIDES:
        normal = axes[axis] * sign
        reach = (right, up)[axis] * sign
        if (to_eye - reach) @ normal <= 0:
            continue
        along = (up, right)[axis]
        front = centre + reach + np.array([along + out, along + seam, -along + seam, -along + out])
        rear = centre + reach + np.array([along + seam, along - out, -along - out, -along + seam])
        shown.append(("front-side", front, normal))
        shown.append(("back-side", rear, normal))
    return shown


def face_picture(
    face: str, art: FaceSet, body: Body, rng: np.random.Generator, index: str | None = None
) -> np.ndarray:
    """The printed face on its body: (160, width, 4) uint8 BGRA, corners transparent.

    index: a small digit or letter to print in the corner, as sets for learners have it.
    """
    height, width = 160, round(160 / body.height)
    colour = np.array(body.front, np.float32)
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = colour
    ink = art.pick(face, rng)
    margin = body.margin if art.inset else min(body.margin, 0.02)
    inner_h, inner_w = round(height * (1 - 2 * margin)), round(width * (1 - 2 * margin))
    ink = cv2.resize(ink, (inner_w, inner_h), interpolation=cv2.INTER_AREA)
    top, left = (height - inner_h) // 2, (width - inner_w) // 2
    alpha = ink[..., 3:].astype(np.float32) / 255
    part = picture[top : top + inner_h, left : left + inner_w]
    # Ink on a coloured body takes on a little of its tone.
    toned = ink[..., :3].astype(np.float32)
    part[:] = toned * alpha + part * (1 - alpha)
    if index:
        _print_index(picture, index, rng)
    mask = np.zeros((height, width), np.uint8)
    radius = max(2, round(body.radius * width))
    cv2.rectangle(mask, (radius, 0), (width - 1 - radius, height - 1), 255, -1)
    cv2.rectangle(mask, (0, radius), (width - 1, height - 1 - radius), 255, -1)
    for x in (radius, width - 1 - radius):
        for y in (radius, height - 1 - radius):
            cv2.circle(mask, (x, y), radius, 255, -1)
    return np.dstack([np.clip(picture, 0, 255), mask]).astype(np.uint8)


def _print_index(picture: np.ndarray, index: str, rng: np.random.Generator) -> None:
    height, width = picture.shape[:2]
    canvas = np.zeros((height, width), np.uint8)
    size = rng.uniform(0.6, 0.95)
    place = [(4, 26), (width - 24, 26), (4, height - 8), (width - 24, height - 8)][int(rng.integers(4))]
    font = [cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX][int(rng.integers(3))]
    cv2.putText(canvas, index, place, font, size, 255, int(rng.integers(1, 4)), cv2.LINE_AA)
    colour = np.array(
        [(60, 60, 200), (40, 40, 40), (150, 70, 30), (60, 120, 40)][int(rng.integers(4))], np.float32
    )
    alpha = canvas[..., None].astype(np.float32) / 255
    picture[:] = colour * alpha + picture * (1 - alpha)


def index_of(face: str) -> str:
    """The index that learners' sets print on `face`."""
    rank, suit = face[0], face[1]
    if suit == "z":
        return "ESWNPFC"[int(rank) - 1]
    if suit == "f":
        return str((int(rank) - 1) % 4 + 1)
    return "5" if rank == "0" else rank


class _Pyramid:
    """A face picture at halved sizes, so that small tiles are drawn without aliasing."""

    def __init__(self, picture: np.ndarray):
        self.levels = [picture]
        while self.levels[-1].shape[0] > 24:
            last = self.levels[-1]
            self.levels.append(
                cv2.resize(last, (last.shape[1] // 2, last.shape[0] // 2), interpolation=cv2.INTER_AREA)
            )

    def at(self, height: float) -> np.ndarray:
        for level in reversed(self.levels):
            if level.shape[0] >= height * 0.95:
                return level
        return self.levels[0]


def _paste(image: np.ndarray, picture: np.ndarray, quad: np.ndarray, light: float) -> None:
    """Warp a BGRA picture onto `quad` of `image` (uint8 BGR), in place."""
    low = np.floor(quad.min(0)).astype(int) - 1
    high = np.ceil(quad.max(0)).astype(int) + 2
    x0, y0 = np.maximum(low, 0)
    x1, y1 = np.minimum(high, (image.shape[1], image.shape[0]))
    if x1 <= x0 or y1 <= y0:
        return
    height, width = picture.shape[:2]
    source = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
    target = (quad - (x0, y0)).astype(np.float32)
    warp = cv2.getPerspectiveTransform(source, target)
    patch = cv2.warpPerspective(picture, warp, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    alpha = patch[..., 3:].astype(np.float32) / 255
    region = image[y0:y1, x0:x1]
    mixed = np.minimum(patch[..., :3].astype(np.float32) * light, 255) * alpha + region * (1 - alpha)
    region[:] = mixed.astype(np.uint8)


def shrunk_size(quad: np.ndarray) -> tuple[float, float]:
    """Mean width and height (pixels) of a quad given from its own top-left, clockwise."""
    sides = np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1)
    return float((sides[0] + sides[2]) / 2), float((sides[1] + sides[3]) / 2)


def render(
    background: np.ndarray,
    tiles: list[Placed],
    camera: Camera,
    art: FaceSet,
    body: Body,
    rng: np.random.Generator,
    indexed: bool = False,
) -> Scene:
    """Draw `tiles` over `background` ((height, width, 3) uint8 BGR, the size of the camera's picture)."""
    image = background.copy()
    sun = np.array([rng.normal(0, 0.6), rng.normal(0, 0.6), rng.uniform(0.6, 1.6)])
    sun /= np.linalg.norm(sun)
    ambient = rng.uniform(0.45, 0.8)
    seam = rng.uniform(0.6, 0.93)
    _cast_shadows(image, tiles, camera, body, sun, rng)

    pictures: dict[str, _Pyramid] = {}
    jobs = []
    for number, tile in enumerate(tiles):
        centre, axes = _frame(tile, body)
        jobs.append((float(np.linalg.norm(centre - camera.position)), number, centre, axes))
    jobs.sort(key=lambda job: -job[0])
    owner = np.full(image.shape[:2], -1, np.int32)
    faces: dict[int, tuple[str, np.ndarray]] = {}
    for _, number, centre, axes in jobs:
        tile = tiles[number]
        for name, corners, normal in sorted(
            _quads(centre, axes, body, camera.position), key=lambda side: side[0] in ("face", "back")
        ):
            quad = camera.project(corners)
            if not np.isfinite(quad).all() or np.abs(quad).max() > 20000:
                continue
            light = ambient + (1 - ambient) * max(0.0, float(normal @ sun)) * 1.15
            colour = (
                np.array(body.back if name.startswith("back") else body.front)
                * light
                * rng.uniform(0.97, 1.03)
            )
            fixed = np.round(quad * 8).astype(np.int32)
            tone = tuple(float(c) for c in np.clip(colour * (0.93 if name == "face" else 1.0), 0, 255))
            cv2.fillConvexPoly(image, fixed, tone, cv2.LINE_AA, 3)
            # Rounded edges catch less light: without a seam a wall of backs would be one slab.
            cv2.polylines(image, [fixed], True, tuple(c * seam for c in tone), 1, cv2.LINE_AA, 3)
            key = number if name in ("face", "back") else -2
            cv2.fillConvexPoly(owner, fixed, int(key), cv2.LINE_8, 3)
            if name in ("face", "back"):
                faces[number] = (name, quad)
            if name == "face":
                if tile.face not in pictures:
                    index = index_of(tile.face) if indexed else None
                    pictures[tile.face] = _Pyramid(face_picture(tile.face, art, body, rng, index))
                shrunk = quad.mean(0) + (quad - quad.mean(0)) * 0.985
                _paste(image, pictures[tile.face].at(shrunk_size(quad)[1]), shrunk, light)
    scene = Scene(image)
    counts = (
        np.bincount(owner[owner >= 0], minlength=len(tiles)) if (owner >= 0).any() else np.zeros(len(tiles))
    )
    for number, (name, quad) in faces.items():
        area = abs(cv2.contourArea(quad.astype(np.float32)))
        if area < 30:
            continue
        tile = tiles[number]
        label = tile.face if name == "face" else "back"
        role = tile.role if name == "face" else "back"
        scene.tiles.append(SceneTile(label, quad, min(1.0, counts[number] / area), role, tile.group))
    return scene


def _cast_shadows(
    image: np.ndarray,
    tiles: list[Placed],
    camera: Camera,
    body: Body,
    sun: np.ndarray,
    rng: np.random.Generator,
) -> None:
    shadow = np.zeros(image.shape[:2], np.uint8)
    reach = -sun / max(sun[2], 0.2)
    for tile in tiles:
        centre, axes = _frame(tile, body)
        half = axes * (np.array([0.5, body.height / 2, body.depth / 2]))[:, None]
        signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
        corners = centre + signs @ half
        fallen = corners + reach * corners[:, 2:3]
        fallen[:, 2] = 0
        points = camera.project(fallen)
        if np.isfinite(points).all() and np.abs(points).max() < 20000:
            cv2.fillConvexPoly(shadow, cv2.convexHull(np.round(points).astype(np.int32)), 255)
    blur = rng.uniform(1, 14)
    small = cv2.resize(shadow, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), blur / 2)
    soft = cv2.resize(small, (image.shape[1], image.shape[0])).astype(np.float32) / 255
    image[:] = (image * (1 - soft * rng.uniform(0.2, 0.65))[..., None]).astype(np.uint8)
