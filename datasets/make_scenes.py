"""Render scenes into a folder in the labelled format that training and `companion evaluate` read.

    python -m datasets.make_scenes OUT --count 1000 --seed 1 --sets held-out

writes OUT/rendered.json and OUT/rendered/*.jpg. Each tile has `label`, `bbox`, and beyond the format of the
real photos `quad` (own top-left first, clockwise), `role`, `group` and `visible` (share of the face that
nothing covers). With `--deck four-color` a tile is one end of a card in sight, its framed glyph; `card` tells
which card of `cards` it belongs to.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets import card_drawing, card_layouts
from datasets.art import data_folder
from datasets.card_layouts import REFUSED, CardMaterial, CardScene
from datasets.layouts import LAYOUTS, Material, load_material, random_scene, set_filter
from datasets.render import Scene

END_IN_SIGHT = 0.05
"""A card's end of which less shows is no tile of a scene."""

_material: Material | CardMaterial | None = None


def _prepare(
    deck: str,
    data: Path,
    sets: str,
    lettered: float,
    with_flowers: float,
    trying: float,
    framed: bool,
    unpacked: Path | None,
) -> None:
    global _material
    cv2.setNumThreads(1)
    if deck == "four-color":
        _material = card_layouts.load_card_material(
            data, sets, trying=trying, framed=framed, unpacked=unpacked
        )
    else:
        _material = load_material(data, set_filter(sets), sets != "held-out", lettered, with_flowers)


def _outlined(label: str, quad: np.ndarray, visible: float, role: str, group: int | None) -> dict[str, Any]:
    low, high = quad.min(0), quad.max(0)
    return {
        "label": label,
        "bbox": [round(float(v), 1) for v in (*low, *(high - low))],
        "quad": [[round(float(x), 2), round(float(y), 2)] for x, y in quad],
        "visible": round(float(visible), 3),
        "role": role,
        "group": group,
    }


def scene_entry(scene: Scene, file: str) -> dict[str, Any]:
    """The truth of a scene as an entry of the labelled format."""
    tiles = [_outlined(t.label, t.quad, t.visible, t.role, t.group) for t in scene.tiles]
    height, width = scene.image.shape[:2]
    return {"file": file, "width": width, "height": height, "augmented": False, "tiles": tiles}


def card_scene_entry(scene: CardScene, file: str) -> dict[str, Any]:
    """The same of a scene of cards. Tiles are the ends in sight, with the card's number in `cards`, which
    tells of whole cards where they lie in their row (`row`, `place`) and names those that are none.
    """
    tiles, cards = [], []
    for number, seen in enumerate(scene.cards):
        card = seen.card
        whole = _outlined(card.piece, seen.quad, seen.visible, card.role, card.group)
        cards.append(whole | {"row": card.row, "place": card.place})
        for end in seen.ends if card.piece not in REFUSED else ():
            if end.visible >= END_IN_SIGHT:
                tiles.append(
                    _outlined(card.piece, end.quad, end.visible, card.role, card.group) | {"card": number}
                )
    height, width = scene.image.shape[:2]
    entry = {"file": file, "width": width, "height": height, "augmented": False, "tiles": tiles}
    return entry | {"cards": cards, "layout": scene.layout, "deck": "four-color"}


def _make(job: tuple[int, int, Path, int, str | None]) -> dict[str, Any]:
    seed, number, out, size, layout = job
    assert _material is not None
    rng, shape = np.random.default_rng([seed, number]), (size, size * 3 // 4)
    file = f"rendered/{seed}-{number:06d}.jpg"
    scene: Scene | CardScene
    if isinstance(_material, CardMaterial):
        scene = card_drawing.random_card_scene(_material, rng, *shape, layout)
        entry = card_scene_entry(scene, file)
    else:
        scene = random_scene(_material, rng, *shape, layout)
        entry = scene_entry(scene, file)
    cv2.imwrite(str(out / file), scene.image, [cv2.IMWRITE_JPEG_QUALITY, 93])
    return entry


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--data", type=Path, help="folder of training data (default COMPANION_DATA or ../shared/data)"
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=800, help="longer side in pixels")
    parser.add_argument("--sets", choices=("train", "held-out", "all"), default="train")
    parser.add_argument(
        "--lettered", type=float, default=0.0, help="share of scenes with a set drawn for them alone"
    )
    parser.add_argument(
        "--with-flowers", type=float, default=1.0, help="share of the tables that play with flowers"
    )
    parser.add_argument(
        "--trying",
        type=float,
        default=0.0,
        help="share of the scenes of cards with more than usual of what is easily misread",
    )
    parser.add_argument(
        "--framed", action="store_true", help="photos of cards are filled by them, as the phone is turned"
    )
    parser.add_argument(
        "--fonts",
        type=Path,
        help="folder into which packages of fonts named in fonts/manifest.json were unpacked (dpkg -x)",
    )
    parser.add_argument("--deck", choices=("mahjong", "four-color"), default="mahjong")
    parser.add_argument("--layout", choices=tuple({**LAYOUTS, **card_layouts.LAYOUTS}))
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args(argv)
    layouts = card_layouts.LAYOUTS if args.deck == "four-color" else LAYOUTS
    if args.layout and args.layout not in layouts:
        parser.error(f"no layout {args.layout!r} of {args.deck}; known: {', '.join(layouts)}")
    (args.out / "rendered").mkdir(parents=True, exist_ok=True)
    jobs = [(args.seed, number, args.out, args.size, args.layout) for number in range(args.count)]
    prepared = (
        *(args.deck, data_folder(args.data), args.sets, args.lettered, args.with_flowers),
        *(args.trying, args.framed, args.fonts),
    )
    # Started afresh, not forked: a fork of a process in which OpenCV has threads waits for them for ever.
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(args.processes, start, initializer=_prepare, initargs=prepared) as pool:
        entries = list(pool.map(_make, jobs, chunksize=8))
    (args.out / "rendered.json").write_text(json.dumps(entries), encoding="utf-8")
    print(f"{len(entries)} scenes with {sum(len(e['tiles']) for e in entries)} tiles in {args.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
