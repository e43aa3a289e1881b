"""Ways tiles lie on real tables: rows, hands in a game, grids, heaps, close-ups; and what else lies around.

`random_scene` draws one photo-like picture with the truth about every tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from datasets.art import FLOWERS, HONOURS, RED_FIVES, SUITED, FaceSet, drawn_sets, read_picture, shop_photos
from datasets.lettered import Lettering
from datasets.photographic import photograph
from datasets.render import Body, Camera, Placed, Pose, Scene, SceneTile, render

NOT_TABLES = ("mah_bamboo", "mah_stones", "mate_")
"""Backgrounds that show no table (data README)."""


@dataclass(frozen=True)
class Material:
    """Everything scenes are made of: weighted face sets, table textures ((h, w, 3) uint8 BGR).

    lettered: share of the scenes that show a set drawn for them alone. with_flowers: share of the tables that
    play with flowers.
    """

    sets: tuple[FaceSet, ...]
    tables: tuple[np.ndarray, ...]
    lettering: Lettering | None = None
    lettered: float = 0.0
    with_flowers: float = 1.0

    def pick_set(self, rng: np.random.Generator) -> FaceSet:
        if self.lettering is not None and rng.random() < self.lettered:
            art = self.lettering.set_of(rng)
        else:
            weights = np.array([s.weight for s in self.sets])
            art = self.sets[int(rng.choice(len(self.sets), p=weights / weights.sum()))]
        if self.with_flowers < 1 and rng.random() >= self.with_flowers:
            art = replace(art, faces={face: each for face, each in art.faces.items() if face not in FLOWERS})
        return art


HELD_OUT_SETS = (
    "imahjong-tw",
    "pysol-zy",
    "kde-traditional",
    "xmahjongg-real",
    "gnome-smooth",
    "font-symbola",
)
"""Drawn sets kept out of training, so that rendered scenes can measure unseen artwork."""
HELD_OUT_FONTS = (
    "AR-PL-UKai-TW",
    "AR-PL-UMing-TW",
    "TW-Kai",
    "Noto-Serif-CJK-TC",
    "cwTeXKai",
    "Baekmuk-Batang",
    "Ume-Mincho",
    "npm-yuji-syuku",
)
"""Fonts kept out of training alike."""


def set_filter(part: str) -> Callable[[str], bool]:
    """A filter of face sets and fonts by name: `train` leaves the held-out ones away, `held-out` keeps only
    them, `all` keeps all.
    """
    if part not in ("train", "held-out", "all"):
        raise ValueError(f"part of the art must be train, held-out or all, not {part!r}")
    held_out = HELD_OUT_SETS + HELD_OUT_FONTS
    return lambda name: part == "all" or (name.split("/")[-1] in held_out) == (part == "held-out")


def load_material(
    folder: Path,
    only: Callable[[str], bool] | None = None,
    photos: bool = True,
    lettered: float = 0.0,
    with_flowers: float = 1.0,
) -> Material:
    """Read art and textures from the data folder; `only` picks face sets and fonts by name, `photos` adds
    the shop photos; the shares are those of `Material`.
    """
    only = only or set_filter("all")
    sets = tuple(s for s in drawn_sets(folder) if only(s.name))
    if photos:
        sets += (shop_photos(folder),)
    tables = []
    for path in sorted((folder / "backgrounds").glob("*.jpg")):
        if not path.stem.startswith(NOT_TABLES):
            picture = read_picture(path)
            scale = 900 / max(picture.shape[:2])
            tables.append(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    return Material(
        sets, tuple(tables), _lettering(folder, sets, only) if lettered else None, lettered, with_flowers
    )


def _lettering(folder: Path, sets: Sequence[FaceSet], only: Callable[[str], bool]) -> Lettering:
    fonts = sorted(path for path in (folder / "fonts").glob("*.?tf") if only(path.stem))
    return Lettering.of([str(path) for path in fonts], sets)


def _faces_of(art: FaceSet, pool: tuple[str, ...]) -> list[str]:
    return [face for face in pool if art.has(face)]


class Deal:
    """Faces dealt from one deck of a set: four of each, one of each flower, no more fives than four."""

    def __init__(self, art: FaceSet) -> None:
        self.art = art
        self.dealt: Counter[str] = Counter()

    def has(self, faces: Sequence[str]) -> bool:
        """Whether the deck still holds all of these."""
        wanted = Counter(map(_kind, faces))
        enough = all(self.dealt[kind] + count <= _copies(kind) for kind, count in wanted.items())
        return enough and all(map(self.art.has, faces))

    def take(self, faces: Sequence[str]) -> None:
        self.dealt.update(map(_kind, faces))

    def draw(self, count: int, rng: np.random.Generator) -> list[str]:
        """`count` faces as a hand may hold them: suits mostly, repeats, sometimes honours, red fives,
        flowers; fewer when that is more than the deck has of them.
        """
        pool = _faces_of(self.art, SUITED)
        if rng.random() < 0.75:
            pool = pool + _faces_of(self.art, HONOURS) * 2
        if rng.random() < 0.35:
            pool = pool + _faces_of(self.art, FLOWERS) * 2
        if rng.random() < 0.2:
            pool = pool + _faces_of(self.art, RED_FIVES) * 2
        chosen: list[str] = []
        for _ in range(count):
            left = [face for face in pool if self.has([face])]
            if not left:
                break
            chosen.append(left[int(rng.integers(len(left)))])
            self.take(chosen[-1:])
        if rng.random() < 0.4:
            chosen.sort(key=lambda face: (face[1], face[0]))
        return chosen


def _kind(face: str) -> str:
    """What a face is counted as: a red five is a five."""
    return face.replace("0", "5")


def _copies(kind: str) -> int:
    return 1 if kind.endswith("f") else 4


def random_body(rng: np.random.Generator) -> Body:
    """A tile body: white, ivory, cream or tinted front, coloured back."""
    tint = rng.random()
    if tint < 0.62:
        front = np.array([246, 248, 248]) - rng.uniform(0, 14, 3)
    elif tint < 0.9:
        front = np.array([205, 232, 242]) - rng.uniform(0, 22, 3)
    elif tint < 0.96:
        front = np.array([225, 235, 215]) - rng.uniform(0, 40, 3)
    else:
        front = rng.uniform(110, 235, 3)
    hue = rng.integers(0, 180)
    shade = np.array([[[hue, rng.integers(90, 255), rng.integers(60, 240)]]], np.uint8)
    back = cv2.cvtColor(shade, cv2.COLOR_HSV2BGR)[0, 0].astype(float)
    if rng.random() < 0.15:
        back = front * rng.uniform(0.85, 1.0)
    return Body(
        height=rng.uniform(1.24, 1.45),
        depth=rng.uniform(0.55, 0.95),
        front=tuple(front),
        back=tuple(back),
        split=rng.uniform(0.15, 0.75) if rng.random() < 0.85 else 0.999,
        radius=rng.uniform(0.04, 0.12),
        margin=rng.uniform(0.04, 0.15),
    )


def _row(
    faces: list[str],
    body: Body,
    rng: np.random.Generator,
    *,
    x: float = 0.0,
    y: float = 0.0,
    yaw: float = 0.0,
    pose: Pose = "up",
    role: str = "hand",
    group: int | None = None,
    flip: float = 0.0,
    gap: float | None = None,
) -> list[Placed]:
    """Tiles side by side, centred at (x, y) along direction `yaw`."""
    gap = (0.0 if rng.random() < 0.6 else rng.uniform(0.0, 0.12)) if gap is None else gap
    jitter = rng.uniform(0, 0.06)
    lean = rng.uniform(0, 0.25) if pose == "stand" and rng.random() < 0.4 else 0.0
    placed = []
    for number, face in enumerate(faces):
        along = (number - (len(faces) - 1) / 2) * (1 + gap)
        across = rng.normal(0, jitter)
        turn = yaw + rng.normal(0, jitter * 0.5) + (np.pi if rng.random() < flip else 0.0)
        placed.append(
            Placed(
                face,
                pose,
                x + along * np.cos(yaw) - across * np.sin(yaw),
                y + along * np.sin(yaw) + across * np.cos(yaw),
                turn,
                0,
                lean,
                role,
                group,
            )
        )
    return placed


def _melds(
    deal: Deal, body: Body, rng: np.random.Generator, x: float, y: float
) -> tuple[list[Placed], float]:
    """Some declared melds laid to the right of x; returns them and where they end."""
    placed: list[Placed] = []
    for group in range(int(rng.integers(1, 5))):
        kind = rng.random()
        pool = _faces_of(deal.art, SUITED + HONOURS)
        face = pool[int(rng.integers(len(pool)))]
        if kind < 0.55:
            faces = [face] * 3
        elif kind < 0.8:
            faces = [face] * 4
        else:
            start = int(rng.integers(1, 8))
            suit = "mps"[int(rng.integers(3))]
            faces = [f"{start + i}{suit}" for i in range(3)]
        if not deal.has(faces):
            continue
        deal.take(faces)
        turned = int(rng.integers(len(faces))) if rng.random() < 0.5 else -1
        hidden = kind >= 0.7 and len(faces) == 4 and rng.random() < 0.7
        x += rng.uniform(0.25, 0.8)
        for number, name in enumerate(faces):
            wide = body.height if number == turned else 1.0
            pose: Pose = "down" if hidden and number in (0, 3) else "up"
            sink = -(body.height - 1) / 2 if number == turned else 0.0
            placed.append(
                Placed(
                    name,
                    pose,
                    x + wide / 2,
                    y + sink,
                    np.pi / 2 if number == turned else 0.0,
                    0,
                    0,
                    "meld",
                    group,
                )
            )
            x += wide + 0.01
    return placed, x


def _wall(length: int, body: Body, rng: np.random.Generator, x: float, y: float, yaw: float) -> list[Placed]:
    """A wall of face-down tiles, two high."""
    placed = []
    for level in (0, 1):
        for number in range(length):
            if level == 1 and rng.random() < 0.04:
                continue
            along = number - (length - 1) / 2
            placed.append(
                Placed(
                    "1p",
                    "down",
                    x + along * np.cos(yaw),
                    y + along * np.sin(yaw),
                    yaw + rng.normal(0, 0.01),
                    level,
                    0,
                    "back",
                )
            )
    return placed


def _heap(
    count: int, art: FaceSet, body: Body, rng: np.random.Generator, x: float, y: float, spread: float
) -> list[Placed]:
    """Discards thrown without order; no two overlap."""
    pool = _faces_of(art, SUITED + HONOURS + FLOWERS)
    placed: list[Placed] = []
    for _ in range(count * 4):
        if len(placed) >= count:
            break
        px, py = x + rng.normal(0, spread), y + rng.normal(0, spread * 0.5)
        if all((p.x - px) ** 2 + (p.y - py) ** 2 > (1.0 + 0.35 * rng.random()) ** 2 * 1.2 for p in placed):
            pose: Pose = "down" if rng.random() < 0.08 else "up"
            face = pool[int(rng.integers(len(pool)))]
            placed.append(Placed(face, pose, px, py, rng.uniform(-np.pi, np.pi), 0, 0, "other"))
    return placed


def _own_hand(art: FaceSet, body: Body, rng: np.random.Generator) -> list[Placed]:
    """The player's own tiles along the near edge: one or two rows, maybe melds and a tile set apart."""
    pose: Pose = "stand" if rng.random() < 0.5 else "up"
    count = int(rng.choice([13, 14, 14, 14, 10, 11, 7, 8, 15, 16, 17, 4, 5, 2]))
    deal = Deal(art)
    faces = deal.draw(count, rng)
    # A tile upside-down in the row happens; a whole row seen from the other side too.
    flip = rng.choice([0.0, 0.0, 0.0, 0.5, 0.1])
    placed: list[Placed] = []
    if rng.random() < 0.2 and count >= 8:
        cut = count // 2 + int(rng.integers(-2, 3))
        placed += _row(faces[:cut], body, rng, y=0, pose=pose, flip=flip)
        placed += _row(
            faces[cut:], body, rng, x=rng.normal(0, 1), y=rng.uniform(1.5, 2.2), pose="up", flip=flip
        )
    else:
        placed += _row(faces, body, rng, pose=pose, flip=flip, yaw=rng.normal(0, 0.02))
    right = max(p.x for p in placed) + 0.6
    if rng.random() < 0.15:
        last = deal.draw(1, rng)[0]
        placed.append(
            Placed(
                last,
                pose,
                right + rng.uniform(0.3, 1.0),
                rng.normal(0, 0.1),
                rng.normal(0, 0.1),
                0,
                0,
                "hand",
            )
        )
        right += 2.2
    if count <= 11 and rng.random() < 0.8:
        melds, _ = _melds(deal, body, rng, right, rng.normal(0, 0.2) + (0.6 if pose == "stand" else 0))
        placed += melds
    return placed


def _game(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    tiles = _own_hand(art, body, rng)
    if rng.random() < 0.8:
        tiles += _heap(
            int(rng.integers(3, 45)),
            art,
            body,
            rng,
            rng.normal(0, 3),
            rng.uniform(8, 13),
            rng.uniform(1.5, 4),
        )
    for _ in range(int(rng.integers(0, 4))):
        side = rng.random()
        if side < 0.45:
            tiles += _wall(
                int(rng.integers(4, 18)),
                body,
                rng,
                rng.normal(0, 4),
                rng.uniform(3.4, 7),
                rng.normal(0, 0.15),
            )
        elif side < 0.8:
            where = rng.choice([-1, 1]) * rng.uniform(10, 14)
            tiles += _wall(
                int(rng.integers(4, 14)), body, rng, where, rng.uniform(8, 13), np.pi / 2 + rng.normal(0, 0.1)
            )
        else:
            faces = Deal(art).draw(int(rng.integers(4, 14)), rng)
            row = _row(
                faces,
                body,
                rng,
                x=rng.normal(0, 2),
                y=rng.uniform(15, 20),
                yaw=np.pi,
                role="other",
                pose="stand" if rng.random() < 0.6 else "up",
            )
            tiles += row
    return tiles, {"span": rng.uniform(13, 26), "low": np.radians(22), "high": np.radians(75)}


def _lone_row(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    tiles = _own_hand(art, body, rng)
    span = max(p.x for p in tiles) - min(p.x for p in tiles) + 2
    return tiles, {"span": span * rng.uniform(1.0, 2.2), "low": np.radians(25), "high": np.radians(90)}


def _slanted(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    tiles, view = _lone_row(art, body, rng)
    turn = np.radians(rng.uniform(15, 55)) * rng.choice([-1, 1])
    return tiles, {**view, "span": view["span"] * 0.9, "high": np.radians(65), "azimuth": turn}


def _grid(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    rows, cols = int(rng.integers(2, 6)), int(rng.integers(3, 11))
    faces = Deal(art).draw(rows * cols, rng)
    gap, flip = rng.choice([0.0, 0.0, rng.uniform(0, 0.3)]), rng.choice([0.0, 0.5])
    tiles = []
    for r in range(rows):
        tiles += _row(
            faces[r * cols : (r + 1) * cols], body, rng, y=r * (body.height + gap), flip=flip, gap=gap
        )
    return tiles, {
        "span": max(cols, rows * 1.4) * rng.uniform(1.15, 1.9),
        "low": np.radians(40),
        "high": np.radians(90),
    }


def _flowers(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    """The flowers of a set in a row, some other faces among them."""
    deal = Deal(art)
    faces = [str(face) for face in rng.permutation(_faces_of(art, FLOWERS))]
    deal.take(faces)
    faces += deal.draw(int(rng.integers(2, 7)), rng)
    faces = [faces[k] for k in rng.permutation(len(faces))]
    pose: Pose = "stand" if rng.random() < 0.4 else "up"
    tiles = _row(faces, body, rng, pose=pose, flip=rng.choice([0.0, 0.0, 0.5]), yaw=rng.normal(0, 0.05))
    turn = rng.uniform(-1, 1) * (0.9 if rng.random() < 0.5 else 0.15)
    return tiles, {
        "span": len(faces) * rng.uniform(0.8, 1.3),
        "low": np.radians(22),
        "high": np.radians(90),
        "azimuth": turn,
    }


def _scatter(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    spread = rng.uniform(1.5, 4)
    tiles = [
        Placed(t.face, t.pose, t.x, t.y, t.yaw, 0, 0, "hand")
        for t in _heap(int(rng.integers(2, 25)), art, body, rng, 0, 0, spread)
    ]
    return tiles, {"span": spread * 5, "low": np.radians(30), "high": np.radians(90)}


def _close_up(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    faces = Deal(art).draw(int(rng.integers(1, 7)), rng)
    pose: Pose = "stand" if rng.random() < 0.4 else "up"
    tiles = _row(faces, body, rng, pose=pose, flip=0.2)
    return tiles, {
        "span": len(faces) * rng.uniform(1.2, 2.5) + 2,
        "low": np.radians(30),
        "high": np.radians(90),
    }


def _catalogue(art: FaceSet, body: Body, rng: np.random.Generator) -> tuple[list[Placed], dict[str, float]]:
    """Each face once, in order, a row a suit from the top: how people lay out a set to teach it."""
    suits = [_faces_of(art, tuple(f"{rank}{suit}" for rank in range(1, 10))) for suit in "mpszf"]
    rows = [row for row in suits if row]
    gap = rng.uniform(0.05, 0.3)
    tiles: list[Placed] = []
    for number, row in enumerate(reversed(rows)):
        tiles += _row(row, body, rng, y=number * (body.height + 0.1 + gap), gap=gap)
    return tiles, {"span": 9 * (1 + gap) * 1.25, "low": np.radians(55), "high": np.radians(90)}


LAYOUTS: dict[str, tuple[Callable[..., tuple[list[Placed], dict[str, float]]], float]] = {
    "game": (_game, 0.42),
    "row": (_lone_row, 0.25),
    "grid": (_grid, 0.13),
    "scatter": (_scatter, 0.1),
    "close-up": (_close_up, 0.07),
    "empty": (lambda art, body, rng: ([], {"span": 15, "low": 0.5, "high": 1.4}), 0.03),
    "catalogue": (_catalogue, 0.0),
    "slanted": (_slanted, 0.0),
    "flowers": (_flowers, 0.0),
}
"""Each layout and how often it is drawn."""


def _table(material: Material, camera: Camera, rng: np.random.Generator, edge: float) -> np.ndarray:
    """The background: a table top in perspective, a rim and a floor beyond its near edge."""
    width, height = camera.width, camera.height

    def texture() -> np.ndarray:
        picture = material.tables[int(rng.integers(len(material.tables)))].astype(np.float32)
        kind = rng.random()
        if kind < 0.45:
            # Cloth of an automatic table: one colour, a trace of the texture.
            hue = rng.choice(
                [rng.integers(35, 85), rng.integers(35, 85), rng.integers(90, 125), rng.integers(0, 180)]
            )
            colour = np.array([[[hue, rng.integers(60, 255), rng.integers(30, 210)]]], np.uint8)
            flat = cv2.cvtColor(colour, cv2.COLOR_HSV2BGR)[0, 0].astype(np.float32)
            picture = flat + (picture - picture.mean((0, 1))) * rng.uniform(0, 0.5)
        else:
            picture = picture * rng.uniform(0.4, 1.25) + rng.normal(0, 10, 3).astype(np.float32)
        return np.clip(picture, 0, 255).astype(np.uint8)

    def lay(picture: np.ndarray, near: float, far: float, side: float) -> None:
        corners = np.array([[-side, far, 0], [side, far, 0], [side, near, 0], [-side, near, 0]], float)
        quad = camera.project(corners)
        if not np.isfinite(quad).all():
            return
        h, w = picture.shape[:2]
        warp = cv2.getPerspectiveTransform(
            np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32), quad.astype(np.float32)
        )
        laid = cv2.warpPerspective(picture, warp, (width, height), flags=cv2.INTER_LINEAR)
        mask = cv2.warpPerspective(np.full((h, w), 255, np.uint8), warp, (width, height))
        image[mask > 127] = laid[mask > 127]

    floor = texture()
    y0, x0 = int(rng.integers(0, 60)), int(rng.integers(0, 60))
    image = cv2.resize(floor[y0 : y0 + 500, x0 : x0 + 600], (width, height))
    reach = 30.0
    if rng.random() < 0.75:
        lay(np.tile(texture(), (2, 2, 1)), edge - (0.0 if rng.random() < 0.8 else 20), 40, reach)
    if rng.random() < 0.6:
        lay(texture(), edge - rng.uniform(1, 4), edge, reach)
    if rng.random() < 0.2:
        lay(texture(), 22, 25, reach)
    return image


def _clutter(image: np.ndarray, rng: np.random.Generator, above: bool) -> list[np.ndarray]:
    """Hands, cups, dice, paper drawn over the picture; returns the outlines that hide what lies below."""
    height, width = image.shape[:2]
    outlines: list[np.ndarray] = []

    def blob(centre: np.ndarray, radii: tuple[float, float], turn: float, colour: np.ndarray) -> None:
        middle = (int(centre[0]), int(centre[1]))
        reach = (max(2, int(radii[0])), max(2, int(radii[1])))
        shape = np.asarray(cv2.ellipse2Poly(middle, reach, int(turn), 0, 360, 12))
        cv2.fillPoly(image, [shape], tuple(float(c) for c in np.clip(colour, 0, 255)), cv2.LINE_AA)
        outlines.append(shape)

    size = max(height, width)
    if not above:
        for _ in range(int(rng.integers(0, 4))):
            kind = rng.random()
            x, y = rng.uniform(0, width), rng.uniform(0, height)
            if kind < 0.4:
                w, h = rng.uniform(0.03, 0.3, 2) * size
                box = np.asarray(cv2.boxPoints(((x, y), (w, h), rng.uniform(0, 180))), np.int32)
                cv2.fillPoly(image, [box], tuple(rng.uniform(0, 255, 3)), cv2.LINE_AA)
            elif kind < 0.7:
                for line in range(int(rng.integers(2, 8))):
                    text = "".join(chr(int(c)) for c in rng.integers(33, 122, size=int(rng.integers(5, 25))))
                    cv2.putText(
                        image,
                        text,
                        (int(x), int(y + line * 16)),
                        int(rng.integers(0, 5)),
                        rng.uniform(0.3, 0.9),
                        tuple(rng.uniform(0, 120, 3)),
                        int(rng.integers(1, 3)),
                        cv2.LINE_AA,
                    )
            else:
                for _ in range(int(rng.integers(1, 4))):
                    side = rng.uniform(0.012, 0.03) * size
                    cx, cy = x + rng.normal(0, side * 2), y + rng.normal(0, side * 2)
                    box = np.asarray(cv2.boxPoints(((cx, cy), (side, side), rng.uniform(0, 90))), np.int32)
                    cv2.fillPoly(image, [box], tuple(rng.uniform(200, 255, 3)), cv2.LINE_AA)
                    for px, py in rng.normal(0, side * 0.22, (int(rng.integers(1, 6)), 2)):
                        cv2.circle(
                            image,
                            (int(cx + px), int(cy + py)),
                            max(1, int(side * 0.09)),
                            (40, 40, 160),
                            -1,
                            cv2.LINE_AA,
                        )
        return outlines
    skin = np.array([120, 150, 205]) * rng.uniform(0.45, 1.15) + rng.normal(0, 8, 3)
    for _ in range(int(rng.integers(1, 3))):
        side = int(rng.integers(4))
        at = [(0, rng.random()), (1, rng.random()), (rng.random(), 0), (rng.random(), 1)][side]
        base = np.array(at) * (width, height)
        inward = np.array([width / 2, height / 2]) - base
        inward /= np.linalg.norm(inward) + 1e-6
        palm = base + inward * size * rng.uniform(-0.02, 0.14)
        sleeve = rng.uniform(0, 200, 3)
        turn = np.degrees(np.arctan2(inward[1], inward[0]))
        blob(
            palm - inward * size * 0.13,
            (size * 0.14, size * 0.055),
            turn,
            sleeve if rng.random() < 0.5 else skin,
        )
        blob(palm, (size * 0.06, size * 0.045), turn, skin)
        for finger in range(int(rng.integers(2, 6))):
            spread = np.radians(turn + (finger - 2) * 16 + rng.normal(0, 5))
            tip = palm + np.array([np.cos(spread), np.sin(spread)]) * size * 0.065
            blob(tip, (size * 0.04, size * 0.011), np.degrees(spread), skin * rng.uniform(0.9, 1.05))
    return outlines


def random_scene(
    material: Material,
    rng: np.random.Generator,
    width: int = 800,
    height: int = 600,
    layout: str | None = None,
    art: FaceSet | None = None,
    body: Body | None = None,
    indexed: bool | None = None,
) -> Scene:
    """A photo of tiles as somebody might take it, with the truth. Same `rng` state, same scene.

    art, body, indexed: the artwork, the block it is printed on, and whether the faces bear an index; drawn
    when None. Photos of one real set share all three.
    """
    names = list(LAYOUTS)
    weights = np.array([LAYOUTS[name][1] for name in names])
    chosen = layout or names[int(rng.choice(len(names), p=weights / weights.sum()))]
    art = art or material.pick_set(rng)
    body = body or random_body(rng)
    tiles, view = LAYOUTS[chosen][0](art, body, rng)
    if rng.random() < 0.3:
        width, height = height, width
    focal = rng.uniform(0.7, 1.4)
    elevation = rng.uniform(view["low"], view["high"])
    distance = view["span"] * focal * rng.uniform(0.9, 1.25) * (1.0 if width >= height else 1.3)
    middle = float(np.mean([t.x for t in tiles if t.role in ("hand", "meld")])) if tiles else 0.0
    ahead = rng.uniform(-0.5, 4.0) if chosen == "game" else rng.normal(1.0, 0.8)
    target = (middle + float(rng.normal(0, 0.8)), float(ahead), 0.3)
    azimuth = rng.normal(0, 0.25)
    roll = rng.normal(0, 0.06)
    # Only tiles that lie flat show their faces to every side of the table.
    if chosen != "game" and rng.random() < 0.4 and all(t.pose in ("up", "down") for t in tiles):
        azimuth = rng.uniform(-np.pi, np.pi)
    azimuth = view.get("azimuth", azimuth)
    if rng.random() < 0.12:
        roll += rng.choice([-1, 1, 2]) * np.pi / 2
    camera = Camera.looking(target, distance, elevation, azimuth, roll, focal, width, height)
    background = _table(material, camera, rng, edge=-rng.uniform(0.8, 2.5))
    if rng.random() < 0.6:
        _clutter(background, rng, above=False)
    if indexed is None:
        indexed = art.inset and rng.random() < 0.4
    scene = render(background, tiles, camera, art, body, rng, indexed=indexed)
    if rng.random() < 0.25:
        outlines = _clutter(scene.image, rng, above=True)
        scene.tiles = _hide(scene, outlines)
    scene.image = photograph(scene.image, rng)
    return scene


def _hide(scene: Scene, outlines: list[np.ndarray]) -> list[SceneTile]:
    """Lower the visible share of tiles that clutter covers."""
    cover = np.zeros(scene.image.shape[:2], np.uint8)
    for outline in outlines:
        cv2.fillPoly(cover, [outline], 1)
    kept = []
    for tile in scene.tiles:
        inside = np.zeros_like(cover)
        cv2.fillConvexPoly(inside, np.round(tile.quad).astype(np.int32), 1)
        area = max(1, int(inside.sum()))
        kept.append(replace(tile, visible=tile.visible * (1 - float((inside & cover).sum()) / area)))
    return kept
