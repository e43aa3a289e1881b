"""Render the sample photos of the page and the small test photos, from art whose licence allows to ship
pictures of it.

    python -m datasets.make_sample --samples web/static/samples --tests tests/data

Faces: `fluffystuff-regular` (CC0), `pysol-uni` (OFL), `imahjong-*` (M+); cards: `LXGW-WenKai-Bold`,
`Klee-One-SemiBold` (OFL); table textures: own code (`proc_*`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets.art import data_folder, drawn_sets, read_picture
from datasets.card_drawing import draw_scene
from datasets.card_layouts import CardScene, PlacedCard, true_cards
from datasets.cards import (
    COLOURS,
    FAMILIES,
    JOKER_GLYPHS,
    JOKER_PAPERS,
    JOKERS,
    PAPERS,
    RANKS,
    CardDeck,
    glyph,
)
from datasets.make_scenes import card_scene_entry, scene_entry
from datasets.photographic import photograph
from datasets.render import Body, Camera, Placed, Scene, render

IVORY = Body(1.34, 0.72, (232, 243, 246), (120, 140, 30), 0.66, 0.08, 0.09)
WHITE = Body(1.36, 0.62, (246, 248, 248), (150, 70, 20), 0.6, 0.07, 0.1)


def _row(
    faces: str, x: float, y: float, pose: str = "up", role: str = "hand", group: int | None = None
) -> list[Placed]:
    names = faces.split()
    return [Placed(name, pose, x + i * 1.012, y, 0.0, 0, 0.0, role, group) for i, name in enumerate(names)]  # type: ignore[arg-type]


def _table(data: Path, texture: str, width: int, height: int, camera: Camera) -> np.ndarray:
    picture = read_picture(data / "backgrounds" / texture)
    wide = np.tile(picture, (2, 2, 1))
    quad = camera.project(np.array([[-24.0, 30, 0], [24, 30, 0], [24, -8, 0], [-24, -8, 0]])).astype(
        np.float32
    )
    h, w = wide.shape[:2]
    warp = cv2.getPerspectiveTransform(np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32), quad)
    return cv2.warpPerspective(
        wide, warp, (width, height), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REFLECT
    )


def _scene(
    data: Path,
    art: str,
    texture: str,
    body: Body,
    tiles: list[Placed],
    camera: tuple[tuple[float, float, float], float, float, float, float, float],
    size: tuple[int, int],
    seed: int,
) -> Scene:
    """A scene drawn at twice its size and shrunk, so that edges are smooth."""
    width, height = size
    rng = np.random.default_rng(seed)
    eye = Camera.looking(*camera, 2 * width, 2 * height)
    faces = next(s for s in drawn_sets(data) if s.name == art)
    scene = render(_table(data, texture, 2 * width, 2 * height, eye), tiles, eye, faces, body, rng)
    scene.image = cv2.resize(scene.image, (width, height), interpolation=cv2.INTER_AREA)
    scene.tiles = [type(t)(t.label, t.quad / 2, t.visible, t.role, t.group) for t in scene.tiles]
    scene.image = photograph(scene.image, rng)
    return scene


def _discards(seed: int, count: int) -> list[Placed]:
    rng = np.random.default_rng(seed)
    pool = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)]
    placed: list[Placed] = []
    while len(placed) < count:
        x, y = rng.normal(5, 2.6), rng.normal(9.0, 1.2)
        if all((p.x - x) ** 2 + (p.y - y) ** 2 > 2.2 for p in placed):
            placed.append(
                Placed(pool[int(rng.integers(27))], "up", x, y, rng.uniform(-1.2, 1.2), 0, 0, "other")
            )
    return placed


def _wall(x: float, y: float, length: int) -> list[Placed]:
    return [
        Placed("1p", "down", x + i * 1.01, y, 0.0, level, 0, "back")
        for level in (0, 1)
        for i in range(length)
    ]


def scenes(data: Path) -> dict[str, Scene]:
    """The sample (`sichuan-hand`: 567m 88m 234p 678p and a pung of 2p) and the test photos, by name."""
    game = _row("5m 6m 7m 8m 8m 2p 3p 4p 6p 7p 8p", 0, 0) + _row("2p 2p 2p", 12.4, 0, role="meld", group=0)
    return {
        "sichuan-hand": _scene(
            data,
            "tile-art-ink/fluffystuff-regular",
            "proc_felt_0.jpg",
            IVORY,
            game + _wall(1, 4.6, 9) + _discards(4, 12),
            ((7.0, 2.6, 0), 20.5, np.radians(57), 0.03, 0.01, 1.05),
            (1600, 1200),
            11,
        ),
        "one-row": _scene(
            data,
            "tile-art-ink/imahjong-jp",
            "proc_wood_0.jpg",
            WHITE,
            _row("1p 1p 3p 4p 5p 7s 8s 9s 5s 5s 6m 7m 8m", 0, 0),
            ((6.0, 0.3, 0), 17.5, np.radians(66), 0.1, 0.03, 1.1),
            (960, 720),
            5,
        ),
        "standing": _scene(
            data,
            "tile-art-ink/imahjong-hk",
            "proc_felt_1.jpg",
            IVORY,
            _row("1z 1z 5z 5z 5z 2s 3s 4s 6p 7p 8p 9p 9p", 0, 0, pose="stand") + _wall(1, 6, 10),
            ((6.0, 1.5, 0.5), 18, np.radians(38), -0.1, -0.02, 1.1),
            (960, 720),
            8,
        ),
        "slanted": _scene(
            data,
            "tile-art/pysol-uni",
            "proc_wood_1.jpg",
            WHITE,
            _row("1m 2m 3m 4m 5m 6m 7m 8m 9m 4s 4s 6s 6s 6s", 0, 0),
            ((6.2, 0.6, 0), 18.5, np.radians(50), 0.7, 0.25, 1.1),
            (960, 720),
            3,
        ),
    }


# ---- cards ----


def _deck(
    data: Path, font: str, family: int, length: float, radius: float, top: float, middle: str
) -> CardDeck:
    """A pack in one font; `family` as in `datasets.cards.FAMILIES`."""
    path = str(data / "fonts" / font)
    warm, cold = FAMILIES[family]
    names = {
        rank + colour: character
        for colour in COLOURS
        for rank, character in zip(RANKS, warm if colour in "yr" else cold, strict=True)
    }
    inks = {
        name: glyph(path, each)
        for name, each in (names | dict(zip(JOKERS, JOKER_GLYPHS, strict=True))).items()
    }
    black = (26.0, 24.0, 28.0)
    return CardDeck(
        glyphs={name: ink for name, ink in inks.items() if ink is not None},
        words={},
        papers={suit: tuple(map(float, PAPERS[suit][1][::-1])) for suit in COLOURS},  # type: ignore[misc]
        joker_papers=tuple(tuple(map(float, paper[::-1])) for paper in JOKER_PAPERS),  # type: ignore[misc]
        inks=dict.fromkeys((*COLOURS, "j"), black),
        length=length,
        radius=radius,
        top=top,
        size=(0.62, 0.74),
        frame=(0.1, 0.1, 1.6),
        middle=middle,
        word_size=0.45,
        border=0.0,
        index="",
        circles=True,
        sayings=(),
        gloss=0.0,
        worn=0.0,
    )


def _fan(names: str, radius: float, step: float) -> list[PlacedCard]:
    """Cards held in one hand, the left one at the back. radius: from where they are held to their middles."""
    cards = []
    held = names.split()
    for place, name in enumerate(held):
        angle = ((len(held) - 1) / 2 - place) * step
        x, y = -radius * np.sin(angle), radius * np.cos(angle)
        cards.append(PlacedCard(name, float(x), float(y), angle, place, place=place))
    return cards


def _laid(names: str, x: float, y: float, group: int) -> list[PlacedCard]:
    return [
        PlacedCard(name, x + 0.85 * place, y, 0.02 * place, place, 0.0, 1, place, "meld", group)
        for place, name in enumerate(names.split())
    ]


def _card_scene(
    data: Path,
    texture: str,
    deck: CardDeck,
    cards: list[PlacedCard],
    camera: tuple[tuple[float, float, float], float, float, float, float, float],
    size: tuple[int, int],
    seed: int,
    layout: str,
) -> CardScene:
    """A scene of cards drawn at twice its size and shrunk, so that edges are smooth."""
    width, height = size
    rng = np.random.default_rng(seed)
    eye = Camera.looking(*camera, 2 * width, 2 * height)
    image, owner = draw_scene(_table(data, texture, 2 * width, 2 * height, eye), cards, deck, eye, rng)
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    scene = CardScene(photograph(small, rng), layout)
    shown = cv2.resize(owner, (width, height), interpolation=cv2.INTER_NEAREST)
    scene.cards = true_cards(cards, deck, Camera.looking(*camera, width, height), shown)
    return scene


def card_scenes(data: Path) -> dict[str, CardScene]:
    """The samples (`fujian-hand`: 21 cards that count 13; `guangshui-hand`: 31 cards) and the test photos."""
    long = _deck(data, "LXGW-WenKai-Bold.ttf", 0, 4.8, 0.3, 0.3, "line")
    short = _deck(data, "Klee-One-SemiBold.ttf", 2, 2.6, 0.04, 0.16, "empty")
    fujian = _fan("Ky Ay Ey Ry Hy Cy Kr Ar Er Rr Hr Cr Pw Pw Pw Kg Kw 1j", 7.2, 0.094)
    guangshui = _fan("Kg Kg Ag Ag Eg Eg Ar Ar Ar Ar Py Pr Pw Rr Hr Cr Rw Hw Cw Ky Kr Kw", 8.0, 0.088)
    return {
        "fujian-hand": _card_scene(
            data,
            "proc_felt_0.jpg",
            long,
            fujian + _laid("Hg Hg Hg", 5.6, 2.4, 0),
            ((1.2, 5.4, 0), 19.5, np.radians(66), 0.03, 0.02, 1.05),
            (1600, 1200),
            11,
            "fan",
        ),
        "guangshui-hand": _card_scene(
            data,
            "proc_wood_1.jpg",
            short,
            guangshui
            + _laid("Hw Hw Hw", -5.0, 2.2, 0)
            + _laid("Hr Hr Hr", -1.0, 2.2, 1)
            + _laid("Hy Hy Hy", 3.0, 2.2, 2),
            ((0.0, 5.4, 0), 20.5, np.radians(62), -0.03, -0.01, 1.05),
            (1600, 1200),
            5,
            "fan",
        ),
        "fan": _card_scene(
            data,
            "proc_wood_0.jpg",
            long,
            _fan("Kg Kg Ag Rg Hg Cg Pw Pw Er Er Ky Ay Ey 2j", 6.5, 0.11),
            ((0.0, 6.2, 0), 15, np.radians(60), 0.1, -0.03, 1.05),
            (960, 720),
            3,
            "fan",
        ),
        "melds": _card_scene(
            data,
            "proc_felt_1.jpg",
            short,
            _laid("Rr Hr Cr", 0, 0, 0) + _laid("Pw Pw", 3.4, 0, 1) + _laid("Py Pr Pw Pg", 6.0, 0.1, 2),
            ((4.2, 0.2, 0), 12, np.radians(64), -0.1, 0.02, 1.05),
            (960, 720),
            8,
            "melds",
        ),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--samples", type=Path, required=True, help="folder of the page's sample photos")
    parser.add_argument(
        "--tests", type=Path, required=True, help="folder of the test photos, with their truth"
    )
    args = parser.parse_args(argv)
    data = data_folder(args.data)
    cards, photo = args.tests / "cards", "photos/{}.jpg".format
    drawn = [(args.tests, n, s.image, scene_entry(s, photo(n))) for n, s in scenes(data).items()]
    drawn += [(cards, n, s.image, card_scene_entry(s, photo(n))) for n, s in card_scenes(data).items()]
    entries: dict[Path, list[dict[str, Any]]] = {args.tests: [], cards: []}
    for folder, name, image, entry in drawn:
        path = folder / photo(name)
        if name.endswith("-hand"):
            path = args.samples / f"{name}.jpg"
        else:
            entries[folder].append(entry)
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), image, [cv2.IMWRITE_JPEG_QUALITY, 88])
    for folder, listed in entries.items():
        (folder / "photos.json").write_text(json.dumps(listed) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
