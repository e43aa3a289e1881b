"""Find with the models at hand what the reader can learn from: in real photos the quads of boxed tiles, so
that it learns slanted ones too; in rendered ones what is taken for an end of a card and is none.

    python -m models.training.harvest --models FOLDER --out quads.json
    python -m models.training.harvest --models FOLDER --rendered SCENES --out mistaken.json

For each labelled tile: its quad from its own top-left and whether the way up is certain, or null when no
located piece fits its box. For each rendered scene: the quads of the mistaken places, the surest first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets.art import data_folder, read_picture
from models.training.labelled import Photo, Tile, real_photos, rendered_photos
from vision.classify import TURNS_ALIKE, Classifier
from vision.locate import Located, Locator
from vision.model import open_model

NEAR = 0.6
"""What lies no further from the middle of a piece, in longer sides of its box, may show it."""


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


def mistaken(photo: Photo, located: Sequence[Located]) -> list[list[list[float]]]:
    """The quads of the located places that lie on no piece of a photo, however little of it shows."""
    boxes = np.array([tile.box for tile in photo.tiles]).reshape(-1, 4)
    centres, reach = boxes[:, :2] + boxes[:, 2:] / 2, boxes[:, 2:].max(1, initial=0) * NEAR
    return [
        np.round(place.quad, 2).tolist()
        for place in located
        if place.kind == "face" and (np.linalg.norm(centres - place.quad.mean(0), axis=1) > reach).all()
    ]


def quads_of_tiles(data: Path, folds: Sequence[str], models: Path) -> dict[str, list]:
    """The quads of the boxed tiles of real photos, by the photo's path."""
    locator = Locator(open_model("mahjong-locator", models))
    reader = models / "mahjong-reader.onnx"
    classifier = Classifier(open_model("mahjong-reader", models)) if reader.exists() else None
    quads: dict[str, list] = {}
    for photo in real_photos(data, folds):
        image = read_picture(photo.path)
        located = locator.locate(image)
        entries: list[dict | None] = []
        read = (
            classifier.read(image, np.array([p.quad for p in located]).reshape(-1, 4, 2))
            if classifier
            else None
        )
        for tile, at in zip(photo.tiles, match(photo.tiles, located), strict=True):
            if at is None:
                entries.append(None)
                continue
            quad = located[at].quad if read is None else read.quads[at]
            upright = bool(read is not None and read.upright[at] > 0.9 and tile.label not in TURNS_ALIKE)
            entries.append({"quad": np.round(quad, 2).tolist(), "upright": upright})
        quads[str(photo.path)] = entries
    return quads


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--models", type=Path, default=Path("models"), help="folder of the ONNX files to look with"
    )
    parser.add_argument("--folds", nargs="*", default=["train"])
    parser.add_argument(
        "--rendered", type=Path, action="append", default=[], help="folder of rendered scenes of cards"
    )
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    if args.rendered:
        locator = Locator(open_model("four-color-locator", args.models))
        photos = [photo for folder in args.rendered for photo in rendered_photos(folder)]
        found = {
            str(photo.path): mistaken(photo, locator.locate(read_picture(photo.path), faint=True))
            for photo in photos
        }
        told = f"{sum(map(len, found.values()))} mistaken places in {len(found)} scenes"
    else:
        found = quads_of_tiles(data_folder(args.data), args.folds, args.models)
        tiles = [entry for entries in found.values() for entry in entries]
        told = f"{sum(entry is not None for entry in tiles)} of {len(tiles)} tiles located"
    args.out.write_text(json.dumps(found), encoding="utf-8")
    print(told)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
