"""What the trainings of all networks share: their command line, the loop, and the average that is kept."""

from __future__ import annotations

import argparse
import copy
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from models.training.revive import revive


def parser_of(what: str, steps: int, batch: int) -> argparse.ArgumentParser:
    """The arguments of every training; `steps` and `batch` are its defaults."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--data", type=Path, help="training data (default COMPANION_DATA or ../shared/data)")
    parser.add_argument(
        "--rendered", type=Path, action="append", default=[], help="folder of datasets.make_scenes"
    )
    parser.add_argument(
        "--folds", nargs="*", default=["train"], help="folds of groups.json; none: no real photos"
    )
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--start", type=Path, help="checkpoint or shipped ONNX file to go on from")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="more than one only pays on a quiet machine")
    return parser


def prepare(args: argparse.Namespace) -> None:
    """Seeds and threads, before any data is touched."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    # Before OpenCV makes threads of its own: a forked data worker would wait for them for ever.
    cv2.setNumThreads(0)


class Average:
    """Running average of a network's weights, the one that is kept."""

    def __init__(self, net: nn.Module, decay: float = 0.998):
        self.net, self.decay, self.steps = copy.deepcopy(net).eval(), decay, 0

    @torch.no_grad()
    def update(self, net: nn.Module) -> None:
        self.steps += 1
        decay = min(self.decay, self.steps / (self.steps + 20))
        for mine, theirs in zip(self.net.state_dict().values(), net.state_dict().values(), strict=True):
            if mine.dtype.is_floating_point:
                mine.lerp_(theirs, 1 - decay)
            else:
                mine.copy_(theirs)


def fit(
    net: nn.Module,
    data: Dataset[Any],
    loss_of: Callable[[nn.Module, Any], tuple[Tensor, dict[str, float]]],
    args: argparse.Namespace,
    batched: bool = False,
) -> None:
    """Train `net` for `args.steps` steps and keep its average in `args.out`, every 500 steps and at the end.

    loss_of: the loss of a batch, and its parts for the log. batched: whether `data` gives whole batches.
    """
    loader = DataLoader(
        data,
        None if batched else args.batch,
        num_workers=args.workers,
        prefetch_factor=4 if args.workers else None,
    )
    net.to(memory_format=torch.channels_last)
    if args.start and args.start.suffix == ".onnx":
        pictures = next(iter(DataLoader(data, None if batched else args.batch)))[0]
        revive(net, args.start, pictures.float() / 255)
    elif args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    average = Average(net)
    optimiser = torch.optim.AdamW(net.parameters(), args.rate, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, args.rate, total_steps=args.steps, pct_start=0.1
    )
    started = time.time()
    sums: dict[str, float] = defaultdict(float)
    for step, batch in enumerate(loader, 1):
        loss, parts = loss_of(net, batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        schedule.step()
        average.update(net)
        for name, value in parts.items():
            sums[name] += value
        if step % 100 == 0:
            line = " ".join(f"{name} {value / 100:.3f}" for name, value in sums.items())
            print(f"{step} {line} {step * args.batch / (time.time() - started):.1f} pictures/s", flush=True)
            sums.clear()
        if step % 500 == 0 or step == args.steps:
            torch.save(average.net.state_dict(), args.out)
