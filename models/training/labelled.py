"""Labelled photos as training takes them: real scenes (boxes) and rendered ones (quads)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from datasets.scenes import NO_CARDS, Label, Scene, load_scenes

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
    none. refused: quads (4, 2) of cards' parts that are no ends, though they may look it.
    """

    path: Path
    group: str
    complete: bool
    tiles: tuple[Tile, ...]
    refused: tuple[np.ndarray, ...] = ()


def real_photos(data: Path, folds: Iterable[str]) -> list[Photo]:
    """The real scenes of `mahjong/scenes` in these folds of groups.json."""
    photos = []
    for scene in load_scenes(data / "mahjong", folds=folds):
        group = scene.group or ""
        complete = not group.startswith(PARTLY_LABELLED) or group == "wood-desk"
        photos.append(Photo(scene.path, group, complete, tuple(_real_tile(lb, group) for lb in scene.labels)))
    return photos


def _real_tile(label: Label, group: str) -> Tile:
    x, y, w, h = label.box
    quad = None
    if group in SQUARE_ON and 1.12 < max(w, h) / min(w, h) < 1.62:
        quad = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]], np.float32)
        if w > h:
            quad = np.roll(quad, 1, axis=0)
    return Tile(label.piece, label.box, quad)


def rendered_photos(folder: Path) -> list[Photo]:
    """Scenes that `datasets.make_scenes` wrote into `folder`."""
    return [
        Photo(scene.path, "rendered", True, tuple(map(_rendered_tile, scene.labels)), _refused(scene))
        for scene in load_scenes(folder)
    ]


def _refused(scene: Scene) -> tuple[np.ndarray, ...]:
    """Where cards show something that is no end of theirs: the words and ornaments in their middle, and title
    cards, blank ones and backs where they would have ends. As large as the ends of the scene's other cards.
    """
    others = [(label, scene.cards[label.card]) for label in scene.labels if label.card is not None]
    shares = [_length(label.quad) / _length(card.quad) for label, card in others if card.quad and label.quad]
    if not shares:
        return ()
    share, quads = min(float(np.median(shares)), 0.5), []
    ends = np.array([np.mean(label.quad, axis=0) for label in scene.labels if label.quad])
    for card in scene.cards:
        if card.quad is None or card.visible < 0.6:
            continue
        corners = np.array(card.quad, np.float32)
        down = corners[[3, 2]] - corners[[0, 1]]
        starts = (0.0, (1 - share) / 2, 1 - share) if card.piece in NO_CARDS else ((1 - share) / 2,)
        for start in starts:
            upper = corners[:2] + down * start
            quad = np.concatenate([upper, (upper + down * share)[::-1]])
            # Another card's end may lie there.
            near = np.linalg.norm(ends - quad.mean(0), axis=1) < 0.8 * _length(quad)
            if not near.any():
                quads.append(quad)
    return tuple(quads)


def _length(quad: Any) -> float:
    """From the upper to the lower edge of a quad (4, 2), pixels."""
    corners = np.array(quad, np.float32)
    return float(np.linalg.norm(corners[:2].mean(0) - corners[2:].mean(0)))


def _rendered_tile(label: Label) -> Tile:
    quad = np.array(label.quad, np.float32)
    return Tile(label.piece, label.box, quad, label.visible, label.role or "hand")
