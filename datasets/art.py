"""Tile faces to print on rendered tiles: drawn sets, transparent ink, and real faces cut from photos.

A `FaceSet` holds one or more pictures of every face of a set. Every picture is uint8 BGRA:
opaque where something is printed, transparent where the body shows through.
"""

from __future__ import annotations

import csv
import functools
import os
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

SUITED = tuple(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10))
HONOURS = tuple(f"{rank}z" for rank in range(1, 8))
FLOWERS = tuple(f"{rank}f" for rank in range(1, 9))
RED_FIVES = ("0m", "0p", "0s")
FACES = SUITED + HONOURS + RED_FIVES + FLOWERS
"""Every face of a mahjong tile, in the order of the reader's classes."""

TIER_WEIGHT = {"A": 1.0, "B": 0.4, "C": 0.08}
"""How often a set of each tier of the art manifest is drawn; tier C is fanciful."""


def data_folder(given: str | Path | None = None) -> Path:
    """The folder of training data: the one given, else `COMPANION_DATA`, else `../shared/data`.

    Raises FileNotFoundError when it is not there.
    """
    folder = Path(given or os.environ.get("COMPANION_DATA") or "../shared/data")
    if not folder.is_dir():
        raise FileNotFoundError(f"no training data at {folder}: give the folder or set COMPANION_DATA")
    return folder


@dataclass(frozen=True)
class FaceSet:
    """The artwork of one tile set.

    faces: name of a face -> pictures (height, width, 4) uint8 BGRA; several when the set is a mix of photos.
    weight: how often to draw it.
    inset: True when the picture is ink alone and wants a margin around it.
    """

    name: str
    faces: dict[str, list[np.ndarray]]
    weight: float
    inset: bool

    def has(self, face: str) -> bool:
        return face in self.faces

    def pick(self, face: str, rng: np.random.Generator) -> np.ndarray:
        """One picture of `face`; raises KeyError when the set lacks it."""
        pictures = self.faces[face]
        return pictures[int(rng.integers(len(pictures)))]


def read_picture(path: Path) -> np.ndarray:
    """A picture as (height, width, 3) uint8 BGR; ValueError when the file is none."""
    image = cv2.imread(str(path))
    if image is None:
        raise ValueError(f"{path} is not a picture")
    return np.asarray(image)


def _read_bgra(path: Path, height: int = 160) -> np.ndarray:
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise ValueError(f"{path} is not a picture")
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    if image.shape[2] == 3:
        image = np.dstack([image, np.full(image.shape[:2], 255, np.uint8)])
    width = max(8, round(image.shape[1] * height / image.shape[0]))
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)


def _ramp(length: int) -> np.ndarray:
    return np.clip(np.minimum(np.arange(length), np.arange(length)[::-1]) / (0.05 * length) - 0.4, 0, 1)


def paper_to_alpha(face: np.ndarray) -> np.ndarray:
    """Make the paper of a photographed face transparent, so that it prints on a body of any colour.

    face: (height, width, 3) uint8 BGR, filled by one upright tile. Returns (height, width, 4) uint8 BGRA.
    The paper is a smooth surface fitted to the brightest pixels; what is darker or more coloured than it is
    ink.
    """
    pixels = face.astype(np.float32)
    small = cv2.resize(pixels, (24, 32), interpolation=cv2.INTER_AREA)
    bright = small.mean(2)
    inner = np.zeros_like(bright, bool)
    inner[2:-2, 2:-2] = True
    keep = inner & (bright >= np.quantile(bright[inner], 0.6))
    rows, cols = np.nonzero(keep)
    basis = np.stack([np.ones_like(rows), rows / 32.0, cols / 24.0], 1).astype(np.float32)
    fit, *_ = np.linalg.lstsq(basis, small[rows, cols], rcond=None)
    height, width = face.shape[:2]
    grid_y, grid_x = np.mgrid[0:height, 0:width].astype(np.float32)
    paper = fit[0] + grid_y[..., None] / height * fit[1] + grid_x[..., None] / width * fit[2]
    paper = np.clip(paper, 40, 255)
    ratio = np.clip(pixels / paper, 0, 1.15)
    # Alpha is how far the darkest channel fell below the paper; the ink's own colour is what remains.
    alpha = np.clip((1 - ratio.min(2)) * 1.6 - 0.12, 0, 1)
    # The rim of a cut-out shows the tile's edge and what lies behind it: fade it away.
    rim = np.minimum.outer(_ramp(height), _ramp(width))
    alpha = alpha * rim
    solid = np.maximum(alpha, 0.02)[..., None]
    ink = np.clip((ratio - (1 - solid)) / solid, 0, 1) * 235
    return np.dstack([ink, alpha * 255]).astype(np.uint8)


def frame_dragon(rng: np.random.Generator) -> np.ndarray:
    """A white dragon of the kind the art lacks: a printed frame, single, double or with cut corners."""
    picture = np.zeros((160, 120, 4), np.uint8)
    ink = [(150, 60, 20), (60, 110, 30), (40, 40, 40), (40, 40, 190), (190, 110, 30)][int(rng.integers(5))]
    left, top = int(rng.integers(8, 22)), int(rng.integers(8, 22))
    thick = int(rng.integers(2, 9))
    box = ((left, top), (119 - left, 159 - top))
    cv2.rectangle(picture, *box, (*ink, 255), thick, cv2.LINE_AA)
    if rng.random() < 0.6:
        gap = thick + int(rng.integers(4, 10))
        box = ((left + gap, top + gap), (119 - left - gap, 159 - top - gap))
        cv2.rectangle(picture, *box, (*ink, 255), max(1, thick // 2), cv2.LINE_AA)
    if rng.random() < 0.4:
        for x in (left, 119 - left):
            for y in (top, 159 - top):
                cv2.circle(picture, (x, y), int(rng.integers(6, 12)), (*ink, 255), -1, cv2.LINE_AA)
    return picture


def with_missing_faces(faces: dict[str, list[np.ndarray]]) -> dict[str, list[np.ndarray]]:
    """Add what sets often lack: blank and framed white dragons, and red fives made from the fives."""
    rng = np.random.default_rng(7)
    blank = np.zeros((160, 120, 4), np.uint8)
    own = faces.get("5z", [])
    faces["5z"] = own * 3 + [blank, frame_dragon(rng), frame_dragon(rng)]
    for red, five in zip(RED_FIVES, ("5m", "5p", "5s"), strict=True):
        if red not in faces and five in faces:
            reds = []
            for picture in faces[five]:
                painted = picture.astype(np.float32)
                grey = painted[..., :3].mean(2)
                painted[..., 0] = grey * 0.30
                painted[..., 1] = grey * 0.25
                painted[..., 2] = 130 + grey * 0.45
                # On an opaque picture only what is darker than paper is ink.
                if picture[..., 3].min() > 200:
                    ink = np.clip((200 - picture[..., :3].min(2).astype(np.float32)) / 90, 0, 1)[..., None]
                    painted[..., :3] = painted[..., :3] * ink + picture[..., :3] * (1 - ink)
                reds.append(np.clip(painted, 0, 255).astype(np.uint8))
            faces[red] = reds
    return faces


@functools.lru_cache(maxsize=4)
def drawn_sets(folder: Path) -> tuple[FaceSet, ...]:
    """The drawn sets under `tile-art` and `tile-art-ink` of the data folder."""
    with (folder / "tile-art" / "MANIFEST.tsv").open(encoding="utf-8") as manifest:
        tiers = {row["set"]: row["tier"] for row in csv.DictReader(manifest, delimiter="\t")}
    sets = []
    for kind, inset in (("tile-art-ink", True), ("tile-art", False)):
        for place in sorted((folder / kind).iterdir()):
            if not place.is_dir():
                continue
            faces: dict[str, list[np.ndarray]] = {}
            for path in sorted(place.glob("*.webp")):
                if path.stem in FACES:
                    faces[path.stem] = [_read_bgra(path)]
            if len(faces) >= 20:
                weight = TIER_WEIGHT[tiers[place.name]] * (1.0 if inset else 0.45)
                sets.append(FaceSet(f"{kind}/{place.name}", with_missing_faces(faces), weight, inset))
    return tuple(sets)


@functools.lru_cache(maxsize=4)
def shop_photos(folder: Path) -> FaceSet:
    """Single faces cut from shop photos (`mahjong/crops`): one mixed set of about twenty real ones."""
    faces: dict[str, list[np.ndarray]] = {}
    for path in sorted((folder / "mahjong" / "crops").glob("*/*/*.jpg")):
        picture = _read_bgra(path)[..., :3]
        faces.setdefault(path.parent.name, []).append(paper_to_alpha(picture))
    return FaceSet("shop-photos", with_missing_faces(faces), 6.0, False)
