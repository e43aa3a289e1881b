"""Labelled photos as training takes them: real scenes (boxes) and rendered ones (quads)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
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
    none. refused: quads (4, 2) of places that are no ends of cards, though they may look it; the first ones
    teach most.
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


WORDS_OF_A_TITLE = 6
"""So many places of each title card are shown to be refused."""


def rendered_photos(folder: Path) -> list[Photo]:
    """Scenes that `datasets.make_scenes` wrote into `folder`."""
    return [
        Photo(scene.path, "rendered", True, tuple(map(_rendered_tile, scene.labels)), _refused(scene))
        for scene in load_scenes(folder)
    ]


def _refused(scene: Scene) -> tuple[np.ndarray, ...]:
    """Where cards show something that is no end of theirs, about as large as a locator might take it: the
    words all along title cards, what stands in the middle of cards, corners of their frames, blank cards and
    backs. The kinds take turns.
    """
    others = [(label, scene.cards[label.card]) for label in scene.labels if label.card is not None]
    shares = [_length(label.quad) / _length(card.quad) for label, card in others if card.quad and label.quad]
    if not shares:
        return ()
    share, rng = min(float(np.median(shares)), 0.5), np.random.default_rng(zlib.crc32(scene.file.encode()))
    words: list[np.ndarray] = []
    middles: list[np.ndarray] = []
    plain: list[np.ndarray] = []
    for card in scene.cards:
        if card.quad is None or card.visible < 0.6:
            continue
        corners = np.array(card.quad, np.float32)
        if card.piece == "title":
            for _ in range(WORDS_OF_A_TITLE):
                size = rng.uniform(0.55, 1.1)
                beside = rng.choice([-0.5, 0, 0, 0, 0.5]) + rng.normal(0, 0.08)
                along = rng.uniform(share / 2, 1 - share / 2)
                words.append(_part(corners, beside, along, rng.uniform(0.55, 1.0), share * size))
        elif card.piece in NO_CARDS:
            along = float(rng.choice([share / 2, 0.5, 1 - share / 2]))
            plain.append(_part(corners, 0, along, 1, share))
        else:
            size = rng.uniform(0.4, 1.0)
            # In the very middle, or anywhere between the ends: some print columns of words.
            along = 0.5 + rng.normal(0, 0.15 * share)
            if rng.random() < 0.5:
                along = rng.uniform(min(1.3 * share, 0.5), max(1 - 1.3 * share, 0.5))
            middles.append(_part(corners, 0, along, rng.uniform(0.5, 1.0), share * size))
    frames = []
    for label in scene.labels:
        if label.quad is not None and label.visible > 0.6 and rng.random() < 0.3:
            beside, along = rng.choice([0.08, 0.92]) - 0.5, rng.choice([0.08, 0.92])
            size = rng.uniform(0.3, 0.5)
            frames.append(_part(np.array(label.quad, np.float32), beside, along, size, size))
    ends = np.array([np.mean(label.quad, axis=0) for label in scene.labels if label.quad])
    kinds = (words, middles, frames, plain)
    for places in kinds:
        rng.shuffle(places)  # type: ignore[arg-type]

    def holds_no_end(quad: np.ndarray) -> bool:
        return bool((np.linalg.norm(ends - quad.mean(0), axis=1) > 0.8 * _length(quad)).all())

    # Another card's end may lie there; a corner of a frame is too small to be one.
    return tuple(
        quad
        for turn in zip_longest(*kinds)
        for places, quad in zip(kinds, turn, strict=True)
        if quad is not None and _inside(quad, scene) and (places is frames or holds_no_end(quad))
    )


def _part(corners: np.ndarray, beside: float, along: float, wide: float, high: float) -> np.ndarray:
    """A part of a quad, (4, 2): its middle so far beside the quad's and below its upper edge, its size; all
    in widths and heights of the quad.
    """
    x = 0.5 + beside + np.array([-wide, wide, wide, -wide]) / 2
    y = along + np.array([-high, -high, high, high]) / 2
    upper, lower = (corners[a] + (corners[b] - corners[a]) * x[:, None] for a, b in ((0, 1), (3, 2)))
    return np.asarray(upper + (lower - upper) * y[:, None], np.float32)


def _inside(quad: np.ndarray, scene: Scene) -> bool:
    middle = quad.mean(0)
    return bool((middle > 0).all() and (middle < (scene.width, scene.height)).all())


def _length(quad: Any) -> float:
    """From the upper to the lower edge of a quad (4, 2), pixels."""
    corners = np.array(quad, np.float32)
    return float(np.linalg.norm(corners[:2].mean(0) - corners[2:].mean(0)))


def _rendered_tile(label: Label) -> Tile:
    quad = np.array(label.quad, np.float32)
    return Tile(label.piece, label.box, quad, label.visible, label.role or "hand")
