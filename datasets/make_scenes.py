"""Render scenes into a folder in the labelled format that training and `companion evaluate` read.

    python -m datasets.make_scenes OUT --count 1000 --seed 1 --sets held-out

writes OUT/rendered.json and OUT/rendered/*.jpg. Each tile has `label`, `bbox`, and beyond the format of the
real photos `quad` (own top-left first, clockwise), `role`, `group` and `visible` (share of the face that
nothing covers).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets.art import data_folder
from datasets.layouts import LAYOUTS, Material, load_material, random_scene, set_filter
from datasets.render import Scene

_material: Material | None = None


def _prepare(data: Path, sets: str, lettered: float, with_flowers: float) -> None:
    global _material
    cv2.setNumThreads(1)
    _material = load_material(data, set_filter(sets), sets != "held-out", lettered, with_flowers)


def scene_entry(scene: Scene, file: str) -> dict[str, Any]:
    """The truth of a scene as an entry of the labelled format."""
    tiles = []
    for tile in scene.tiles:
        low, high = tile.quad.min(0), tile.quad.max(0)
        tiles.append(
            {
                "label": tile.label,
                "bbox": [round(float(v), 1) for v in (*low, *(high - low))],
                "quad": [[round(float(x), 2), round(float(y), 2)] for x, y in tile.quad],
                "visible": round(float(tile.visible), 3),
                "role": tile.role,
                "group": tile.group,
            }
        )
    height, width = scene.image.shape[:2]
    return {"file": file, "width": width, "height": height, "augmented": False, "tiles": tiles}


def _make(job: tuple[int, int, Path, int, str | None]) -> dict[str, Any]:
    seed, number, out, size, layout = job
    assert _material is not None
    scene = random_scene(_material, np.random.default_rng([seed, number]), size, size * 3 // 4, layout)
    file = f"rendered/{seed}-{number:06d}.jpg"
    cv2.imwrite(str(out / file), scene.image, [cv2.IMWRITE_JPEG_QUALITY, 93])
    return scene_entry(scene, file)


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
    parser.add_argument("--layout", choices=tuple(LAYOUTS))
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args(argv)
    (args.out / "rendered").mkdir(parents=True, exist_ok=True)
    jobs = [(args.seed, number, args.out, args.size, args.layout) for number in range(args.count)]
    prepared = (data_folder(args.data), args.sets, args.lettered, args.with_flowers)
    with ProcessPoolExecutor(args.processes, initializer=_prepare, initargs=prepared) as pool:
        entries = list(pool.map(_make, jobs, chunksize=8))
    (args.out / "rendered.json").write_text(json.dumps(entries), encoding="utf-8")
    print(f"{len(entries)} scenes with {sum(len(e['tiles']) for e in entries)} tiles in {args.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
