"""Tables with mahjong tiles seen by a random camera: quads with known roles, to test `vision.arrange`.

A tile is 1.0 wide and 1.35 high. The owner sits at negative y and looks to positive y; lengths are in tile
widths.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from companion.reading import BACK, Candidate, Sighting

WIDTH, HEIGHT = 1600, 1200
HIGH = 1.35
FACES = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)] + [f"{rank}z" for rank in range(1, 8)]


@dataclass
class Tile:
    """A tile on the table: the middle of its bottom edge, its turn (degrees, 0 faces the owner), its lean."""

    x: float
    y: float
    name: str
    role: str
    turn: float = 0.0
    lean: float = 0.0
    """Degrees by which it stands up, 0 when it lies on its back."""

    def corners(self) -> NDArray[np.float64]:
        """(4, 3) corners from the own top-left, clockwise."""
        up = HIGH * math.cos(math.radians(self.lean)), HIGH * math.sin(math.radians(self.lean))
        flat = np.array([[-0.5, up[0], up[1]], [0.5, up[0], up[1]], [0.5, 0, 0], [-0.5, 0, 0]])
        middle = np.array([0, HIGH / 2, 0])
        c, s = math.cos(math.radians(self.turn)), math.sin(math.radians(self.turn))
        turned = (flat - middle) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        return turned + middle + np.array([self.x, self.y, 0])


@dataclass
class Table:
    """Tiles on a table, dealt from one deck."""

    rng: random.Random
    tiles: list[Tile] = field(default_factory=list)
    wall: list[str] = field(default_factory=lambda: FACES * 4)

    def deal(self, count: int) -> list[str]:
        """Tiles at random, sorted, no piece more than three times."""
        names: list[str] = []
        while len(names) < count:
            name = self.rng.choice(self.wall)
            if names.count(name) < 3:
                self.wall.remove(name)
                names.append(name)
        return sorted(names, key=lambda name: (name[1], name[0]))

    def equal(self, count: int) -> list[str]:
        """So many equal tiles."""
        name = self.rng.choice([name for name in FACES if self.wall.count(name) >= count])
        for _ in range(count):
            self.wall.remove(name)
        return [name] * count

    def row(
        self, names: list[str], role: str, x: float = 0.0, y: float = 0.0, gap: float = 0.04, turn: float =
        0.0, lean: float = 0.0, turned: int | None = None, noise: float = 0.03,
    ) -> float:  # fmt: skip
        """Lay a row that begins at (x, y) and runs in direction `turn`; the tile `turned` lies on its side.

        Returns how long the row is.
        """
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        at = 0.0
        for k, name in enumerate(names):
            wide = HIGH if k == turned else 1.0
            lift = (1.0 - HIGH) / 2 if k == turned else 0.0
            middle = at + wide / 2
            shift = self.rng.gauss(0, noise)
            # The middle of the tile when it is not turned: half a height above the line.
            cx, cy = middle, HIGH / 2 + lift + shift
            mx, my = x + c * cx - s * cy, y + s * cx + c * cy
            angle = turn + (90 if k == turned else 0) + self.rng.gauss(0, 1)
            self.tiles.append(Tile(mx, my - HIGH / 2, name, BACK if name == BACK else role, angle, lean))
            at += wide + gap + abs(self.rng.gauss(0, noise))
        return at - gap

    def heap(self, count: int, left: float, right: float, bottom: float, top: float) -> None:
        """Throw discards on the table, none on another."""
        for _ in range(50 * count):
            if sum(tile.role == "other" for tile in self.tiles) >= count:
                return
            x, y = self.rng.uniform(left, right), self.rng.uniform(bottom, top)
            if all(math.hypot(t.x - x, t.y - y) > 1.25 for t in self.tiles):
                self.tiles.append(Tile(x, y, self.deal(1)[0], "other", self.rng.uniform(0, 360)))

    def photo(self, quarter_turns: int = 0, pitch: tuple[float, float] = (30, 75)) -> list[Sighting]:
        """The tiles seen by a random camera that has all tiles in sight, in random order."""
        rng = self.rng
        corners = np.concatenate([tile.corners() for tile in self.tiles])
        middle = (corners.min(0) + corners.max(0)) / 2
        span = float(np.ptp(corners, axis=0).max())
        tilt, yaw, roll = math.radians(rng.uniform(*pitch)), math.radians(rng.gauss(0, 8)), rng.gauss(0, 4)
        away = span * rng.uniform(1.1, 2.0)
        eye = middle + away * np.array(
            [math.sin(yaw) * math.cos(tilt), -math.cos(yaw) * math.cos(tilt), math.sin(tilt)]
        )
        forward = (middle - eye) / np.linalg.norm(middle - eye)
        right = np.cross(forward, [0, 0, 1])
        right /= np.linalg.norm(right)
        seen = (corners - eye) @ np.stack([right, np.cross(forward, right), forward]).T
        flat = seen[:, :2] / seen[:, 2:]
        angle = math.radians(roll + 90 * quarter_turns)
        flat = flat @ np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        low, high = flat.min(0), flat.max(0)
        scale = 0.94 * min(WIDTH / (high[0] - low[0]), HEIGHT / (high[1] - low[1]))
        pixels = (flat - (low + high) / 2) * scale + np.array([WIDTH / 2, HEIGHT / 2])
        quads = pixels.reshape(-1, 4, 2)
        noise = 0.02 * float(np.median(np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)))
        order = list(range(len(self.tiles)))
        rng.shuffle(order)
        self.tiles = [self.tiles[i] for i in order]
        result = []
        for i, tile in zip(order, self.tiles, strict=True):
            quad = tuple((x + rng.gauss(0, noise), y + rng.gauss(0, noise)) for x, y in quads[i])
            result.append(Sighting(quad, read(tile.name)))  # type: ignore[arg-type]
        return result


def read(name: str, confidence: float = 0.97) -> tuple[Candidate, ...]:
    """Candidates of a well read tile."""
    other = "9s" if name != "9s" else "8s"
    return Candidate(name, confidence), Candidate(other, 1 - confidence)
