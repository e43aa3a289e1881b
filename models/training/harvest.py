"""Find the quads of boxed real tiles with the models at hand, so that the reader can learn from slanted
photos too.

    python -m models.training.harvest --models FOLDER --out quads.json

For each labelled tile: its quad from its own top-left and whether the way up is certain, or null when no
located piece fits its box.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets.art import data_folder, read_picture
from models.training.labelled import Tile, real_photos
from vision.classify import TURNS_ALIKE, Classifier
from vision.locate import Located, Locator
from vision.model import open_model


def match(tiles: Sequence[Tile], located: Sequence[Located]) -> list[int | None]:
    """For each tile the located piece whose bounding box fits its box best (overlap >= 0.5 of the union), or
    None.
    """
    if not located:
        return [None] * len(tiles)
    lows = np.array([p.quad.min(0) for p in located])
    highs = np.array([p.quad.max(0) for p in located])
    matches: list[int | None] = []
    for tile in tiles:
        low = np.array(tile.box[:2])
        high = low + tile.box[2:]
        inner = np.clip(np.minimum(high, highs) - np.maximum(low, lows), 0, None).prod(1)
        union = (high - low).prod() + (highs - lows).prod(1) - inner
        best = int(np.argmax(inner / union))
        matches.append(best if inner[best] / union[best] >= 0.5 else None)
    return matches


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--models", type=Path, default=Path("models"), help="folder of the ONNX files to look with"
    )
    parser.add_argument("--folds", nargs="*", default=["train"])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    data = data_folder(args.data)
    locator = Locator(open_model("mahjong-locator", args.models))
    reader = args.models / "mahjong-reader.onnx"
    classifier = Classifier(open_model("mahjong-reader", args.models)) if reader.exists() else None
    quads: dict[str, list] = {}
    wanted = found = 0
    for photo in real_photos(data, args.folds):
        image = read_picture(photo.path)
        located = locator.locate(image)
        entries: list[dict | None] = []
        read = (
            classifier.read(image, np.array([p.quad for p in located]).reshape(-1, 4, 2))
            if classifier
            else None
        )
        for tile, at in zip(photo.tiles, match(photo.tiles, located), strict=True):
            wanted += 1
            if at is None:
                entries.append(None)
                continue
            found += 1
            quad = located[at].quad if read is None else read.quads[at]
            upright = bool(read is not None and read.upright[at] > 0.9 and tile.label not in TURNS_ALIKE)
            entries.append({"quad": np.round(quad, 2).tolist(), "upright": upright})
        quads[str(photo.path)] = entries
    args.out.write_text(json.dumps(quads), encoding="utf-8")
    print(f"{found} of {wanted} tiles located")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
