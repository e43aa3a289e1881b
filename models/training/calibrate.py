"""Fit the reader's temperature on labelled scenes that no training saw, so that its probabilities mean what
they say.

    python -m models.training.calibrate --models models --rendered SCENES [--folds NAME ...]

prints the temperature, and the calibration error before and after; `--write` puts the temperature into the
reader's manifest.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets.art import data_folder, read_picture
from datasets.measuring import gap_of_confidence
from models.training.harvest import match
from models.training.labelled import real_photos, rendered_photos
from models.training.reader import LABELS, class_of
from vision.classify import Classifier
from vision.locate import Locator
from vision.model import open_model


def rescaled(chances: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities (n, classes) as they would be at another temperature."""
    logits = np.log(np.maximum(chances, 1e-12)) / temperature
    logits = np.exp(logits - logits.max(1, keepdims=True))
    return logits / logits.sum(1, keepdims=True)


def fit_temperature(chances: np.ndarray, labels: np.ndarray) -> float:
    """The temperature with the least mean log loss for probabilities (n, classes) and true classes (n,)."""
    trials = np.exp(np.linspace(np.log(0.4), np.log(4), 93))
    losses = [
        -np.log(np.maximum(rescaled(chances, t)[np.arange(len(labels)), labels], 1e-12)).mean()
        for t in trials
    ]
    return float(trials[int(np.argmin(losses))])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--rendered", type=Path, action="append", default=[])
    parser.add_argument("--folds", nargs="*", default=[])
    parser.add_argument("--deck", choices=tuple(LABELS), default="mahjong")
    parser.add_argument("--write", action="store_true", help="put the temperature into the manifest")
    args = parser.parse_args(argv)
    photos = [photo for folder in args.rendered for photo in rendered_photos(folder)]
    if args.folds:
        data = data_folder(args.data)
        photos += real_photos(data, args.folds)
    locator = Locator(open_model(f"{args.deck}-locator", args.models))
    classifier = Classifier(open_model(f"{args.deck}-reader", args.models))
    classifier.temperature = 1.0
    classifier.prior = np.ones(len(classifier.labels))  # scenes show all faces alike, as training did
    chances: list[np.ndarray] = []
    labels: list[int] = []
    for photo in photos:
        image = read_picture(photo.path)
        located = locator.locate(image)
        tiles = [tile for tile in photo.tiles if tile.visible > 0.6]
        pairs = [(tile, at) for tile, at in zip(tiles, match(tiles, located), strict=True) if at is not None]
        if not pairs:
            continue
        read = classifier.read(image, np.array([located[at].quad for _, at in pairs]))
        chances.append(read.chances)
        labels.extend(classifier.labels.index(class_of(tile.label, args.deck)) for tile, _ in pairs)
    table, truth = np.concatenate(chances), np.array(labels)
    temperature = fit_temperature(table, truth)
    for name, at in (("as it is", 1.0), ("calibrated", temperature)):
        probable = rescaled(table, at)
        right = probable.argmax(1) == truth
        error = gap_of_confidence(probable.max(1), right, bins=15)
        print(f"{name}: temperature {at:.3f}, read right {right.mean():.4f} of {len(truth)}, ", end="")
        print(f"calibration error {error:.4f}")
    if args.write:
        path = args.models / f"{args.deck}-reader.json"
        manifest = {**json.loads(path.read_text(encoding="utf-8")), "temperature": round(temperature, 3)}
        path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
