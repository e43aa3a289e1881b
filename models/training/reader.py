"""Train the reader of mahjong faces, or of the ends of four-color cards.

    python -m models.training.reader --rendered SCENES --out reader.pt --steps 8000
    python -m models.training.reader --deck four-color --folds --rendered SCENES --out cards.pt

The pool holds rectified pieces (the true quad stretched to the middle of an 80x80 patch): rendered ones with
exact corners, real ones of the tables that `--folds` names. Every step draws them anew: quarter turns, wrong
corners, light. Patches that show no piece, or a piece a half too far, are the class `reject`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import IterableDataset

from datasets.art import FACES, FLOWERS, data_folder, read_picture
from datasets.cards import COLOURS, JOKERS, RANKS
from datasets.photographic import relight
from models.training.fit import fit, parser_of, prepare
from models.training.labelled import Photo, Tile, real_photos, rendered_photos
from models.training.nets import Reader
from vision.classify import CROP, QUAD, TARGET

LABELS: dict[str, tuple[str, ...]] = {
    "mahjong": (*FACES, "back", "reject"),
    "four-color": (*RANKS, *(joker[0] for joker in JOKERS), "reject"),
}
"""Classes of each deck's reader, in order."""

PAPERS: dict[str, str] = {"mahjong": "", "four-color": COLOURS}
"""Colours of paper that a deck's reader tells apart: what one end shows of them, before all ends of a photo
are judged side by side.
"""


def class_of(piece: str, deck: str) -> str:
    """The class that a piece, or `reject`, is read as: itself, or a card's rank."""
    return piece[0] if deck == "four-color" and piece != "reject" else piece


PATCH = 80
"""A pool patch's side; the true quad fills as much of its middle as it does in the network's input."""
INSIDE = TARGET + np.float32((PATCH - CROP) / 2)
"""The true quad's corners in a patch."""

MOST_REFUSED, MOST_MISTAKEN = 10, 8
"""So many places of a photo of cards that are no ends go into the pool, and of those that a locator takes for
some; they differ more than ends do.
"""

UPRIGHT = ("tray-black", "dark-green", "wood-white", "wood-green")
"""Tables (by the start of their names) whose tiles stand upright in the photo: they teach the turn."""


@dataclass
class Pool:
    """Rectified pieces: patches (n, PATCH, PATCH, 3) uint8, classes (n,), weights (n,), whether turn and
    corners are true, papers' colours (n,; below 0: none).
    """

    patches: np.ndarray
    classes: np.ndarray
    weights: np.ndarray
    turned: np.ndarray
    exact: np.ndarray
    colours: np.ndarray


def _patch(image: np.ndarray, quad: np.ndarray) -> np.ndarray:
    """The surroundings of a quad, stretched so that it fills the middle QUAD x QUAD of PATCH x PATCH."""
    longest = float(np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).max())
    factor = 1.0
    if longest > QUAD * 1.6:
        # Shrink by areas first; warping a large face straight down to 50 pixels would alias.
        x0, y0 = np.maximum(np.floor(quad.min(0) - longest * 0.5).astype(int), 0)
        x1, y1 = np.ceil(quad.max(0) + longest * 0.5).astype(int)
        part = image[y0:y1, x0:x1]
        factor = QUAD * 1.2 / longest
        image = cv2.resize(part, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        quad = (quad - (x0, y0)) * factor
    warp = cv2.getPerspectiveTransform(quad.astype(np.float32), INSIDE)
    return cv2.warpPerspective(
        image, warp, (PATCH, PATCH), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )


def collect(
    photos: Sequence[Photo],
    deck: str,
    seed: int,
    quads: dict[str, list] | None = None,
    most: int = 40,
    mistaken: dict[str, list] | None = None,
) -> Pool:
    """Cut the pool out of photos; at most `most` pieces a photo.

    quads: photo's path -> quad of each tile or None, as a trained locator
    found them (models.training.harvest); without it only tiles with true quads are used. mistaken: photo's
    path -> quads that a trained locator took for pieces (likewise).
    """
    rng = np.random.default_rng(seed)
    patches, classes, weights, turned, exact, colours = [], [], [], [], [], []
    number_of = {label: i for i, label in enumerate(LABELS[deck])}

    def keep(patch: np.ndarray, piece: str, weight: float, turn: bool, corners: bool) -> None:
        patches.append(patch)
        classes.append(number_of[class_of(piece, deck)])
        weights.append(weight)
        turned.append(turn)
        exact.append(corners)
        colours.append(PAPERS[deck].find(piece[-1]))  # no name of what bears none ends in a colour's letter

    for photo in photos:
        image = read_picture(photo.path)
        found = (quads or {}).get(str(photo.path))
        rendered = photo.group == "rendered"
        taken = 0
        for at in rng.permutation(len(photo.tiles)):
            tile = photo.tiles[at]
            quad = tile.quad
            entry = found[at] if found is not None else None
            if not rendered and entry is not None:
                quad = np.array(entry["quad"], np.float32)
            if quad is None or tile.visible < 0.6 or taken >= most:
                continue
            sides = np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1)
            if sides.min() < (11 if rendered else 14):
                continue
            if tile.label == "back" and rng.random() < 0.7:
                continue
            if entry is not None:
                upright = bool(entry["upright"])
            else:
                upright = rendered or (photo.group.startswith(UPRIGHT) and tile.box[3] > tile.box[2] * 0.9)
            rare = 2.0 if tile.label.endswith("j") else 1.0
            keep(_patch(image, quad), tile.label, rare, upright, rendered)
            taken += 1
            if rng.random() < 0.06:
                # Half a piece beside, or a patch of nothing in particular.
                shift = (quad[1] - quad[0]) * rng.choice([-0.5, 0.5]) + (quad[3] - quad[0]) * rng.choice(
                    [-0.5, 0, 0.5]
                )
                keep(_patch(image, quad + shift), "reject", 1.0, False, False)
            if rng.random() < 0.1:
                # The blank side of a tile, above or below its face, is easily taken for a white dragon.
                shift = (quad[3] - quad[0]) * rng.uniform(0.75, 1.05) * rng.choice([-1, 1])
                beside = quad + shift * rng.uniform(0.8, 1.0)
                reach = 0.7 * min(tile.box[2:])
                if not any(np.hypot(*(beside.mean(0) - _centre(t))) < reach for t in photo.tiles):
                    keep(_patch(image, beside.astype(np.float32)), "reject", 1.0, False, False)
        taken_for_some = np.array((mistaken or {}).get(str(photo.path), [])[:MOST_MISTAKEN], np.float32)
        for quad in (*taken_for_some, *photo.refused[:MOST_REFUSED]):
            keep(_patch(image, quad), "reject", 1.0, False, False)
        if photo.complete:
            for _ in range(int(rng.integers(0, 3))):
                size = rng.uniform(16, 80)
                centre = rng.uniform(0, 1, 2) * (image.shape[1], image.shape[0])
                if any(np.hypot(*(centre - _centre(t))) < max(t.box[2:]) for t in photo.tiles):
                    continue
                corner = np.array([[-1, -1.3], [1, -1.3], [1, 1.3], [-1, 1.3]]) * size / 2
                turn = rng.uniform(0, np.pi)
                corner = corner @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
                keep(_patch(image, (centre + corner).astype(np.float32)), "reject", 1.0, False, False)
    parts = (classes, weights, turned, exact, colours)
    return Pool(np.stack(patches), *(np.array(part) for part in parts))


def foreign_pool(photos: Sequence[Photo], deck: str, seed: int) -> Pool:
    """Some pieces of the other deck, which the reader of `deck` has to refuse."""
    other = next(name for name in LABELS if name != deck)
    pool = collect(photos, other, seed, most=4)
    n, reject = len(pool.classes), LABELS[deck].index("reject")
    untold = np.zeros(n, bool)
    return Pool(pool.patches, np.full(n, reject), pool.weights, untold, untold, np.full(n, -1))


def _centre(tile: Tile) -> np.ndarray:
    x, y, w, h = tile.box
    return np.array([x + w / 2, y + h / 2])


def shop_pool(data: Path) -> Pool:
    """The single tiles of `mahjong/crops`, laid on plain ground as their own surroundings."""
    patches, classes = [], []
    rng = np.random.default_rng(3)
    for path in sorted((data / "mahjong" / "crops").glob("*/*/*.jpg")):
        picture = read_picture(path)
        margin = (PATCH - QUAD) // 2
        inner = cv2.resize(picture, (QUAD, QUAD), interpolation=cv2.INTER_AREA)
        mode = cv2.BORDER_REFLECT if rng.random() < 0.5 else cv2.BORDER_REPLICATE
        patches.append(cv2.copyMakeBorder(inner, margin, margin, margin, margin, mode))
        classes.append(LABELS["mahjong"].index(path.parent.name))
    n = len(patches)
    return Pool(
        np.stack(patches), np.array(classes), np.ones(n), np.ones(n, bool), np.zeros(n, bool), np.full(n, -1)
    )


class Draws(IterableDataset):
    """Endless batches drawn from pools, each pool with its share, classes balanced. papers: their colours are
    asked for too.
    """

    def __init__(
        self,
        pools: Sequence[tuple[Pool, float]],
        classes: int,
        batch: int,
        steps: int,
        seed: int,
        papers: bool = False,
    ):
        self.pools, self.batch, self.steps, self.seed = pools, batch, steps, seed
        self.papers = papers
        self.chances = []
        for pool, _ in pools:
            count = np.bincount(pool.classes, minlength=classes).astype(float)
            # The root keeps rare faces from being repeated out of proportion.
            weight = pool.weights / np.sqrt(count[pool.classes])
            self.chances.append(np.cumsum(weight / weight.sum()))

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        worker = torch.utils.data.get_worker_info()
        first, stride = (worker.id, worker.num_workers) if worker else (0, 1)
        shares = np.array([share for _, share in self.pools])
        for step in range(first, self.steps, stride):
            rng = np.random.default_rng([self.seed, step])
            batch = [
                self._draw(rng, int(rng.choice(len(shares), p=shares / shares.sum())))
                for _ in range(self.batch)
            ]
            yield tuple(torch.from_numpy(np.stack(part)) for part in zip(*batch, strict=True))

    def _draw(self, rng: np.random.Generator, which: int) -> tuple[Any, ...]:
        pool = self.pools[which][0]
        at = min(int(np.searchsorted(self.chances[which], rng.random())), len(pool.classes) - 1)
        crop, residual, turn = redraw(pool.patches[at], rng, recolour=not self.papers)
        known = np.array([pool.turned[at], pool.exact[at]], np.float32)
        drawn = crop, np.int64(pool.classes[at]), np.int64(turn), residual, known
        return (*drawn, np.int64(pool.colours[at])) if self.papers else drawn


def redraw(
    patch: np.ndarray, rng: np.random.Generator, recolour: bool = True
) -> tuple[np.ndarray, np.ndarray, int]:
    """One training view of a patch: crop (3, CROP, CROP) uint8, corner residuals (8,), quarter turns of its
    top. recolour: at times in colours that no light makes of the true ones.
    """
    true = INSIDE
    middle = PATCH / 2
    # Mostly the small errors of a second pass, at times those of a bad first one, or of a face seen aslant.
    error = float(rng.choice([1.0, 2.0, 3.2], p=[0.54, 0.3, 0.16]))
    size = np.exp(rng.normal(0, 0.06 * error, 2))
    lean = rng.normal(0, 0.05 * error, 2)
    linear = np.array([[size[0], lean[0]], [lean[1], size[1]]])
    taken = (true - middle) @ linear.T + middle
    taken += (rng.normal(0, 0.035, 2) + rng.normal(0, 0.02, (4, 2))) * QUAD * error
    turn = int(rng.integers(4)) if rng.random() < 0.5 else 0
    # The located quad starts at any of its corners: its first is the piece's corner number -turn.
    start = np.roll(taken, turn, axis=0).astype(np.float32)
    warp = cv2.getPerspectiveTransform(start, TARGET)
    crop = cv2.warpPerspective(
        patch, warp, (CROP, CROP), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    where = cv2.perspectiveTransform(np.roll(true, turn, axis=0)[None], warp)[0]
    residual = ((where - TARGET) / CROP).astype(np.float32).reshape(-1)
    view = crop
    if rng.random() < 0.25:
        scale = rng.uniform(0.3, 0.8)
        small = cv2.resize(view, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        view = cv2.resize(small, (CROP, CROP), interpolation=cv2.INTER_LINEAR)
    if rng.random() < 0.6:
        view = np.clip(relight(view.astype(np.float32), rng, 0.8), 0, 255).astype(np.uint8)
    if recolour and rng.random() < 0.15:
        shift = rng.integers(-12, 13)
        hsv = cv2.cvtColor(view, cv2.COLOR_BGR2HSV)
        hsv[..., 0] = (hsv[..., 0].astype(int) + shift) % 180
        hsv[..., 1] = np.clip(hsv[..., 1] * rng.uniform(0.3, 1.5), 0, 255)
        view = cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)
    if rng.random() < 0.2:
        view = cv2.GaussianBlur(view, (0, 0), rng.uniform(0.4, 1.5))
    if rng.random() < 0.2:
        view = np.clip(view + rng.normal(0, rng.uniform(1, 9), view.shape), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(view.transpose(2, 0, 1)), residual, turn


def loss_of(net: nn.Module, batch: Sequence[Tensor]) -> tuple[Tensor, dict[str, float]]:
    """The loss of one batch of `Draws`, and with it the share of classes read right."""
    crop, label, turn, residual, known, *papers = batch
    classes, turns, corners, _, *shades = net((crop.float() / 255).to(memory_format=torch.channels_last))
    reading = nn.functional.cross_entropy(classes, label, label_smoothing=0.03)
    turning = nn.functional.cross_entropy(turns, turn, reduction="none")
    turning = (turning * known[:, 0]).sum() / known[:, 0].sum().clamp(min=1)
    gap = ((corners - residual).abs().mean(1) * known[:, 1]).sum() / known[:, 1].sum().clamp(min=1)
    loss = reading + 0.3 * turning + 8 * gap
    parts = {"right": (classes.argmax(1) == label).float().mean().item()}
    for colour, shade in zip(papers, shades, strict=True):
        loss = loss + 0.5 * nn.functional.cross_entropy(shade, colour, ignore_index=-1)
        bears = (colour >= 0).sum().clamp(min=1)
        parts["coloured"] = ((shade.argmax(1) == colour).sum() / bears).item()
    return loss, {"loss": loss.item(), **parts}


def main(argv: Sequence[str] | None = None) -> int:
    parser = parser_of("Train a reader of faces.", steps=8000, batch=128)
    parser.add_argument("--deck", choices=tuple(LABELS), default="mahjong")
    parser.add_argument(
        "--foreign", type=Path, action="append", default=[], help="folder of another deck's rendered scenes"
    )
    parser.add_argument(
        "--shares",
        nargs=3,
        type=float,
        default=(0.5, 0.1, 0.4),
        metavar=("RENDERED", "SHOP", "REAL"),
        help="how much of a batch comes from where",
    )
    parser.add_argument(
        "--flowers", type=float, default=1.0, help="how often real flowers are drawn, against other faces"
    )
    parser.add_argument(
        "--quads", type=Path, help="quads that models.training.harvest found in the real photos"
    )
    parser.add_argument(
        "--mistaken", type=Path, help="what models.training.harvest took for ends of cards in rendered scenes"
    )
    args = parser.parse_args(argv)
    prepare(args)
    data = data_folder(args.data)
    mistaken = json.loads(args.mistaken.read_text(encoding="utf-8")) if args.mistaken else None
    quads = json.loads(args.quads.read_text(encoding="utf-8")) if args.quads else None
    rendered = [photo for folder in args.rendered for photo in rendered_photos(folder)]
    real = real_photos(data, args.folds) if args.folds else []
    labels, pools = len(LABELS[args.deck]), []
    if rendered:
        pools.append((collect(rendered, args.deck, args.seed, mistaken=mistaken), args.shares[0]))
    if real:
        photographed = [shop_pool(data), collect(real, args.deck, args.seed, quads)]
        flowers = [number for number, label in enumerate(LABELS[args.deck]) if label in FLOWERS]
        for pool in photographed:
            pool.weights[np.isin(pool.classes, flowers)] *= args.flowers
        pools += zip(photographed, args.shares[1:], strict=True)
    if not pools:
        parser.error("nothing to learn from: give --rendered or --folds")
    foreign = [photo for folder in args.foreign for photo in rendered_photos(folder)]
    if foreign:
        pools.append((foreign_pool(foreign, args.deck, args.seed), 0.04))
    print("pool:", [len(pool.classes) for pool, _ in pools], flush=True)
    papers = len(PAPERS[args.deck])
    draws = Draws(pools, labels, args.batch, args.steps, args.seed, bool(papers))
    fit(Reader(labels, papers), draws, loss_of, args, batched=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
