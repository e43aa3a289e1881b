"""Turn trained checkpoints into the ONNX files and manifests that the project ships.

python -m models.training.export locator locator.pt --out models --note "made how"
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from datasets.art import FLOWERS, RED_FIVES
from datasets.cards import JOKERS
from models.training.nets import Locator, Reader
from models.training.reader import LABELS, PAPERS


class FromPhoto(nn.Module):
    """A network behind its input stage: (n, h, w, 3) uint8 BGR pixels become (n, 3, h, w) in 0-1."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, pixels: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self.net(pixels.permute(0, 3, 1, 2).float() / 255.0)


SHAPES = {
    "locator": ((1, 448, 448, 3), ["maps"], {0: "n", 1: "height", 2: "width"}),
    "reader": ((2, 64, 64, 3), ["classes", "turns", "corners", "embedding"], {0: "n"}),
}


def halve(model: onnx.ModelProto) -> None:
    """Store a network's large weights as float16, in half the bytes.

    Each is cast back to float32 in the graph, which ONNX Runtime does once, when it opens the file: the
    network computes as before, with weights off by at most one part in 2,000.
    """
    casts = []
    for weights in model.graph.initializer:
        if weights.data_type != TensorProto.FLOAT or np.prod(weights.dims) < 1000:
            continue
        name, values = weights.name, numpy_helper.to_array(weights)
        weights.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def export(kind: str, checkpoint: Path, out: Path, about: dict, deck: str = "mahjong") -> Path:
    """Write `<deck>-<kind>.onnx` and its manifest into `out`; keys of `about` go into the manifest."""
    name = f"{deck}-{kind}"
    shape, outputs, free = SHAPES[kind]
    papers = PAPERS[deck] if kind == "reader" else ""
    outputs = [*outputs, "colours"] if papers else outputs
    net: nn.Module = Locator() if kind == "locator" else Reader(len(LABELS[deck]), len(papers))
    net.load_state_dict(torch.load(checkpoint, weights_only=True))
    path = out / f"{name}.onnx"
    axes = {
        "pixels": free,
        **{output: ({0: "n", 2: "h4", 3: "w4"} if kind == "locator" else {0: "n"}) for output in outputs},
    }
    torch.onnx.export(
        FromPhoto(net).eval(),
        (torch.zeros(shape, dtype=torch.uint8),),
        str(path),
        input_names=["pixels"],
        output_names=outputs,
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(path)
    halve(model)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    manifest = {
        "name": name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "input": {
            "pixels": "uint8 BGR, (n, height, width, 3)",
            "size": list(shape[1:3]) if kind == "reader" else "multiples of 32",
        },
        "normalisation": "in the graph: divided by 255",
        "weights": "stored as float16, computed as float32",
        "outputs": outputs,
        "parameters": sum(p.numel() for p in net.parameters()),
        **about,
    }
    if kind == "reader":
        manifest.setdefault("labels", list(LABELS[deck]))
        if papers:
            manifest.setdefault("colours", list(papers))
        manifest.setdefault("temperature", 1.0)
        # One copy in a set against four of the others.
        single = (*RED_FIVES, *FLOWERS) if deck == "mahjong" else JOKERS
        manifest.setdefault("prior", dict.fromkeys(single, 0.25))
    (out / f"{name}.json").write_text(
        json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return path


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=tuple(SHAPES))
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--deck", choices=tuple(LABELS), default="mahjong")
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument(
        "--about", type=Path, help="JSON file with more keys for the manifest (training, measured, ...)"
    )
    parser.add_argument("--temperature", type=float, help="calibration of the reader's classes")
    args = parser.parse_args(argv)
    about = json.loads(args.about.read_text(encoding="utf-8")) if args.about else {}
    if args.temperature is not None:
        about["temperature"] = args.temperature
    path = export(args.kind, args.checkpoint, args.out, about, args.deck)
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
