"""A shipped ONNX file becomes a network that can be trained further, where its checkpoint is not at hand.

Exporting folds every batch norm into the convolution before it. Here each gets one anew, which changes
nothing yet: it has the mean and spread that the convolution gives on real pictures, and puts both back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

USUAL = 0.1
"""Root mean square of the weights of filters: those of the trained networks are about so large. How fast a
filter learns depends on it, what it gives does not, as a batch norm follows.
"""


def revive(net: nn.Module, path: Path, pictures: Tensor) -> None:
    """Give a network of `models.training.nets` the weights of an ONNX file that `models.training.export` made
    of one like it; they are exact but for the float16 in which the file stores them.

    pictures: (n, 3, h, w), BGR in 0-1, such as it is to learn from. Raises ValueError where the file's
    network is another one.
    """
    stored = {
        weights.name.removesuffix(".half"): torch.from_numpy(
            np.array(numpy_helper.to_array(weights), np.float32)
        )
        for weights in onnx.load(path).graph.initializer
    }
    # Folded weights bear numbers, in the order in which the network computes.
    folded = iter([stored[name] for name in sorted((n for n in stored if "::" in n), key=_number)])
    named = {name.removeprefix("net."): value for name, value in stored.items() if "::" not in name}
    try:
        norms = list(_fill(net, folded, named))
    except StopIteration:
        raise ValueError(f"{path} holds another network: it has fewer layers") from None
    missing = net.load_state_dict(named, strict=False)
    if missing.unexpected_keys or next(folded, None) is not None:
        raise ValueError(f"{path} holds another network: it has more layers")
    _spread(net, norms, pictures)


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _fill(
    net: nn.Module, folded: Iterator[Tensor], named: dict[str, Tensor]
) -> Iterator[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    """Put folded weights into their layers; the pairs of convolutions and batch norms."""
    before: nn.Module | None = None
    with torch.no_grad():
        for name, layer in net.named_modules():
            if isinstance(layer, nn.BatchNorm2d):
                assert isinstance(before, nn.Conv2d)
                _same(before.weight, next(folded), name)
                layer.weight.fill_(float(np.sqrt(1 + layer.eps)))
                _same(layer.bias, next(folded), name)
                yield before, layer
            elif isinstance(layer, nn.Linear) and f"{name}.weight" not in named:
                _same(layer.weight, next(folded).T, name)
            before = layer


def _same(there: Tensor, weights: Tensor, name: str) -> None:
    if there.shape != weights.shape:
        raise ValueError(
            f"{name}: the file has weights {tuple(weights.shape)}, the network {tuple(there.shape)}"
        )
    there.copy_(weights)


@torch.no_grad()
def _spread(net: nn.Module, norms: list[tuple[nn.Conv2d, nn.BatchNorm2d]], pictures: Tensor) -> None:
    """Let batch norms know what comes into them, so that training meets them as it left them."""
    seen: dict[nn.Module, Tensor] = {}
    hooks = [
        layer.register_forward_hook(lambda layer, _, out: seen.update({layer: out})) for layer, _ in norms
    ]
    net.eval()(pictures)
    net.train()
    for hook in hooks:
        hook.remove()
    for layer, norm in norms:
        scale = USUAL / layer.weight.square().mean((1, 2, 3)).sqrt().clamp(min=1e-6)
        out = seen[layer] * scale[None, :, None, None]
        norm.running_mean, norm.running_var = out.mean((0, 2, 3)), out.var((0, 2, 3))
        norm.weight.copy_((norm.running_var + norm.eps).sqrt() / scale)
        norm.bias += norm.running_mean / scale
        layer.weight *= scale[:, None, None, None]
