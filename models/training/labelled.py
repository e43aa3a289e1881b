"""Labelled photos as training takes them: real scenes (boxes) and rendered ones (quads), sorted by fold and
table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SQUARE_ON = ("tray-black", "home-row", "home-spread", "home-strip", "white-desk", "flowers", "product")
"""Tables photographed square-on: there a box whose sides fit a tile is a face's true quad."""

PARTLY_LABELLED = ("dark-green", "wood-", "black-ink", "olive", "printed-mat", "product")
"""Tables (by the start of their names) where more faces are in sight than are boxed."""


@dataclass(frozen=True)
class Tile:
    """One labelled tile: name, box (x, y, w, h; pixels), quad (4, 2) or None, share of it in sight, role."""

    label: str
    box: tuple[float, float, float, float]
    quad: np.ndarray | None
    visible: float = 1.0
    role: str = "hand"


@dataclass(frozen=True)
class Photo:
    """One labelled photo. complete: every face and back in sight is labelled. group: its table, `rendered` if
    none.
    """

    path: Path
    group: str
    complete: bool
    tiles: tuple[Tile, ...]


def real_photos(data: Path, groups: Iterable[str] | None = None) -> list[Photo]:
    """The real scenes of `mahjong/scenes`, of the named tables or of all."""
    root = data / "mahjong"
    table = json.loads((root / "groups.json").read_text(encoding="utf-8"))
    group_of = {file: name for name, group in table["groups"].items() for file in group["files"]}
    wanted = set(group_of.values()) if groups is None else set(groups)
    photos = []
    for index in sorted((root / "scenes").glob("*.json")):
        for entry in json.loads(index.read_text(encoding="utf-8")):
            group = group_of[entry["file"]]
            if group not in wanted:
                continue
            complete = not group.startswith(PARTLY_LABELLED) or group == "wood-desk"
            tiles = tuple(_real_tile(tile, group) for tile in entry["tiles"])
            photos.append(Photo(root / "scenes" / entry["file"], group, complete, tiles))
    return photos


def fold(data: Path, name: str) -> list[str]:
    """The tables of a fold of groups.json: `train`, `tables_never_seen`, `sets_never_seen`."""
    return list(json.loads((data / "mahjong" / "groups.json").read_text(encoding="utf-8"))["folds"][name])


def _real_tile(tile: dict, group: str) -> Tile:
    x, y, w, h = (float(v) for v in tile["bbox"])
    quad = None
    if group in SQUARE_ON and 1.12 < max(w, h) / min(w, h) < 1.62:
        quad = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]], np.float32)
        if w > h:
            quad = np.roll(quad, 1, axis=0)
    return Tile(tile["label"], (x, y, w, h), quad)


def rendered_photos(folder: Path) -> list[Photo]:
    """Scenes that `datasets.make_scenes` wrote into `folder`."""
    photos = []
    for entry in json.loads((folder / "rendered.json").read_text(encoding="utf-8")):
        tiles = tuple(
            Tile(t["label"], tuple(t["bbox"]), np.array(t["quad"], np.float32), t["visible"], t["role"])
            for t in entry["tiles"]
        )
        photos.append(Photo(folder / entry["file"], "rendered", True, tiles))
    return photos
