"""Make int8 copies of the models, to measure whether they are worth it.

    python -m models.training.quantize --models models --out int8
    companion evaluate ../shared/data/mahjong --fold tables_never_seen --models int8

Convolutions become static QDQ: weights int8 a channel, activations uint8 in the ranges seen on photos of the
training fold.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from datasets.art import data_folder, read_picture
from models.training.labelled import Photo, real_photos
from vision.classify import Pyramid, rectify
from vision.locate import Locator
from vision.model import open_model

NAMES = ("mahjong-locator", "mahjong-reader")


class _Feed(CalibrationDataReader):
    """Inputs for calibrating, one at a time."""

    def __init__(self, inputs: Iterator[np.ndarray]):
        self.inputs = inputs

    def get_next(self) -> dict[str, np.ndarray] | None:
        batch = next(self.inputs, None)
        return None if batch is None else {"pixels": batch}


def inputs_of(name: str, photos: Sequence[Photo], locator: Locator) -> Iterator[np.ndarray]:
    """What a model sees of some photos: (1, h, w, 3) or (n, 64, 64, 3) uint8."""
    for photo in photos:
        image = read_picture(photo.path)
        if name == "mahjong-locator":
            # One size for all: calibration stacks what it sees.
            yield cv2.resize(image, (640, 640), interpolation=cv2.INTER_AREA)[None]
            continue
        quads = np.array([piece.quad for piece in locator.locate(image)], np.float32).reshape(-1, 4, 2)
        if len(quads) >= 8:
            yield rectify(Pyramid(image), quads[:8])[0]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--photos", type=int, default=80, help="photos to calibrate with")
    args = parser.parse_args(argv)
    photos = real_photos(data_folder(args.data), ["train"])
    photos = photos[:: max(1, len(photos) // args.photos)]
    args.out.mkdir(parents=True, exist_ok=True)
    locator = Locator(open_model("mahjong-locator", args.models))
    for name in NAMES:
        source, target = args.models / f"{name}.onnx", args.out / f"{name}.onnx"
        with tempfile.TemporaryDirectory() as folder:
            prepared = Path(folder) / "prepared.onnx"
            quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
            quantize_static(
                str(prepared),
                str(target),
                _Feed(inputs_of(name, photos, locator)),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=["Conv"],
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
            )
        manifest = json.loads((args.models / f"{name}.json").read_text(encoding="utf-8"))
        manifest["sha256"] = hashlib.sha256(target.read_bytes()).hexdigest()
        (args.out / f"{name}.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        print(f"{target}: {target.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
