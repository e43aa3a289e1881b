"""Train the locator of mahjong tiles, or of the ends of four-color cards (`--folds` without a name: those are
only rendered).

    python -m models.training.locator --rendered SCENES --out locator.pt --steps 6000

mixes rendered scenes (true quads) with real photos (boxes) of the tables that `--folds` names. A real box
teaches the centre, and the axes by the rule that the box of the predicted quad, turned back into the photo,
must be the labelled one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from datasets.art import data_folder, read_picture
from datasets.photographic import relight
from models.training.fit import fit, parser_of, prepare
from models.training.labelled import Photo, real_photos, rendered_photos
from models.training.nets import Locator
from vision.locate import shape_of_axes

SIDE = 384
STRIDE = 4
WANTED = (11, 85)
"""Between these lies the shorter side of a photo's typical tile in the input, pixels."""
LEAST = 1.7
"""Tiles with a shorter side of fewer cells are not asked for."""
GROUP_WEIGHT = {
    "home-grid": 1.0,
    "home-diagonal": 0.8,
    "home-strip": 0.5,
    "home-row": 0.9,
    "home-spread": 0.6,
    "tray-black": 1.0,
    "dark-green-blue": 1.6,
    "wood-white": 2.0,
    "wood-green": 0.4,
    "printed-mat": 0.3,
    "wood-desk": 0.5,
    "white-desk": 0.5,
    "flowers": 0.3,
    "product": 0.4,
}
"""How often a photo of each table is drawn, against the others; tables not named count 0.6."""


@dataclass(frozen=True)
class Target:
    """One tile in the input's pixels.

    centre (2,); axes: (2, 2) half axes to top and right when the quad is known; half: (2,) half sides of its
    box, pixels of the unturned photo at the input's scale. kind: 0 face, 1 back.
    """

    centre: np.ndarray
    axes: np.ndarray | None
    half: np.ndarray
    kind: int
    visible: float


class Crops(Dataset):
    """Random turns, scales and cuts of labelled photos; item i is drawn anew from seed and i."""

    def __init__(self, photos: Sequence[Photo], count: int, rendered_share: float, seed: int = 0):
        self.rendered = [p for p in photos if p.group == "rendered"]
        self.tables: dict[str, list[Photo]] = defaultdict(list)
        for photo in photos:
            if photo.group != "rendered":
                self.tables[photo.group].append(photo)
        self.names = sorted(self.tables)
        weights = np.array([GROUP_WEIGHT.get(name, 0.6) for name in self.names])
        self.weights = weights / weights.sum() if len(weights) else weights
        self.share = rendered_share if self.tables and self.rendered else float(bool(self.rendered))
        self.count, self.seed = count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        rng = np.random.default_rng([self.seed, index])
        if rng.random() < self.share:
            photo = self.rendered[int(rng.integers(len(self.rendered)))]
        else:
            table = self.tables[self.names[int(rng.choice(len(self.names), p=self.weights))]]
            photo = table[int(rng.integers(len(table)))]
        image = read_picture(photo.path)
        return encode(*cut(photo, image, rng), rng)


def cut(
    photo: Photo, image: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, list[Target], np.ndarray, float]:
    """A random view of a photo: input (SIDE, SIDE, 3) uint8, its targets, the part that is labelled, the
    turn.
    """
    sizes = [
        min(t.box[2:]) if t.quad is None else _short_side(t.quad) for t in photo.tiles if t.visible > 0.5
    ]
    typical = float(np.median(sizes)) if sizes else 40.0
    wanted = float(np.exp(rng.uniform(*np.log(WANTED))))
    scale = np.clip(wanted / max(typical, 4), SIDE * 0.7 / max(image.shape[:2]), 3.0)
    kind = rng.random()
    turn = rng.normal(0, 0.12) if kind < 0.5 else rng.integers(4) * np.pi / 2 + rng.normal(0, 0.1)
    if kind > 0.78:
        turn = rng.uniform(-np.pi, np.pi)
    mirror = -1.0 if rng.random() < 0.5 else 1.0
    if photo.tiles and rng.random() < 0.9:
        x, y, w, h = photo.tiles[int(rng.integers(len(photo.tiles)))].box
        focus = np.array([x + w / 2, y + h / 2])
    else:
        focus = rng.uniform(0, 1, 2) * (image.shape[1], image.shape[0])
    cos, sin = np.cos(turn) * scale, np.sin(turn) * scale
    linear = np.array([[cos, -sin], [sin, cos]]) @ np.diag([mirror, 1.0])
    shift = np.array([SIDE / 2, SIDE / 2]) + rng.uniform(-0.4, 0.4, 2) * SIDE - linear @ focus
    warp = np.hstack([linear, shift[:, None]])
    border = [int(v) for v in rng.integers(0, 256, 3)] if rng.random() < 0.5 else [114] * 3
    if scale < 0.6:
        # Shrink in steps of area averages first: a bilinear warp alone would alias.
        factor = max(scale * 1.2, 0.1)
        image = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        view = cv2.warpAffine(
            image, np.hstack([linear / factor, shift[:, None]]), (SIDE, SIDE), borderValue=border
        )
    else:
        view = cv2.warpAffine(image, warp, (SIDE, SIDE), flags=cv2.INTER_LINEAR, borderValue=border)
    targets = []
    labelled = np.full((SIDE // STRIDE, SIDE // STRIDE), float(photo.complete), np.float32)
    for tile in photo.tiles:
        x, y, w, h = tile.box
        axes = None
        if tile.quad is not None:
            quad = tile.quad @ linear.T + shift
            centre = quad.mean(0)
            axes = np.stack(
                [(quad[0] + quad[1] - quad[2] - quad[3]) / 4, (quad[1] + quad[2] - quad[0] - quad[3]) / 4]
            )
        else:
            centre = linear @ np.array([x + w / 2, y + h / 2]) + shift
        half = np.array([w, h]) / 2 * scale
        if not photo.complete:
            box = np.array(
                [
                    [x - w * 0.3, y - h * 0.2],
                    [x + w * 1.3, y - h * 0.2],
                    [x + w * 1.3, y + h * 1.6],
                    [x - w * 0.3, y + h * 1.6],
                ]
            )
            cv2.fillConvexPoly(labelled, np.round((box @ linear.T + shift) / STRIDE).astype(np.int32), 1.0)
        targets.append(Target(centre, axes, half, int(tile.label == "back"), tile.visible))
    return view, targets, labelled, turn


def _short_side(quad: np.ndarray) -> float:
    sides = np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1)
    return float(min(sides[0] + sides[2], sides[1] + sides[3]) / 2)


def encode(
    view: np.ndarray, targets: list[Target], labelled: np.ndarray, turn: float, rng: np.random.Generator
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Network input (3, SIDE, SIDE) and maps: heat (2, h, w), its weight (2, h, w), regression (14, h, w).

    Regression channels: 0 weight of the centre, 1 weight of known shapes, 2 weight of boxes, 3-4 offset, 5-9
    the shape as the network gives it, 10-11 half box, 12-13 cosine and sine of the turn.
    """
    if rng.random() < 0.5:
        view = np.clip(relight(view.astype(np.float32), rng, 0.6), 0, 255).astype(np.uint8)
    if rng.random() < 0.15:
        view = cv2.cvtColor(cv2.cvtColor(view, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    if rng.random() < 0.2:
        view = cv2.GaussianBlur(view, (0, 0), rng.uniform(0.4, 1.4))
    cells = SIDE // STRIDE
    heat = np.zeros((2, cells, cells), np.float32)
    weight = np.stack([labelled, labelled])
    regress = np.zeros((14, cells, cells), np.float32)
    regress[12], regress[13] = np.cos(turn), np.sin(turn)
    grid = np.arange(cells, dtype=np.float32) + 0.5
    for target in targets:
        cx, cy = target.centre / STRIDE
        short = (
            2
            * (min(np.linalg.norm(target.axes, axis=1)) if target.axes is not None else min(target.half))
            / STRIDE
        )
        if not (-short < cx < cells + short and -short < cy < cells + short):
            continue
        sigma = max(0.12 * short, 0.7)
        # Only the neighbourhood matters; a full map for each of 100 tiles would cost more than the network.
        x0, x1 = max(0, int(cx - 3 * sigma - 1)), min(cells, int(cx + 3 * sigma + 2))
        y0, y1 = max(0, int(cy - 3 * sigma - 1)), min(cells, int(cy + 3 * sigma + 2))
        inside = 0 <= cx < cells and 0 <= cy < cells
        if x0 >= x1 or y0 >= y1:
            continue
        bump = np.exp(-((grid[x0:x1] - cx)[None] ** 2 + (grid[y0:y1] - cy)[:, None] ** 2) / (2 * sigma**2))
        if target.visible < 0.55 or short < LEAST or not inside:
            # Too hidden or too small to be asked for, and no background either.
            reach = max(2.0, short * 0.5)
            hx0, hx1 = max(0, int(cx - reach)), min(cells, int(cx + reach + 1))
            hy0, hy1 = max(0, int(cy - reach)), min(cells, int(cy + reach + 1))
            weight[:, hy0:hy1, hx0:hx1] = 0
            continue
        ix, iy = int(cx), int(cy)
        shape = shape_of_axes(*(target.axes / STRIDE)) if target.axes is not None else None
        patch = heat[target.kind, y0:y1, x0:x1]
        np.maximum(patch, bump, out=patch)
        heat[target.kind, iy, ix] = 1.0
        weight[target.kind, iy, ix] = 1.0
        for y in range(max(0, iy - 1), min(cells, iy + 2)):
            for x in range(max(0, ix - 1), min(cells, ix + 2)):
                near = float(np.exp(-((x + 0.5 - cx) ** 2 + (y + 0.5 - cy) ** 2) / 2))
                if regress[0, y, x] >= near:
                    continue
                cell = regress[:, y, x]
                cell[:12] = 0
                cell[0] = near
                cell[3:5] = cx - (x + 0.5), cy - (y + 0.5)
                if target.axes is not None:
                    cell[1] = near
                    cell[5:10] = shape
                else:
                    cell[2] = near
                    cell[10:12] = target.half / STRIDE
    tensor = torch.from_numpy(np.ascontiguousarray(view.transpose(2, 0, 1)))
    return tensor, torch.from_numpy(heat), torch.from_numpy(weight), torch.from_numpy(regress)


def loss_of(out: Tensor, heat: Tensor, weight: Tensor, regress: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Penalty-reduced focal loss of the centres, L1 of offsets and axes, L1 of boxes turned back into the
    photo.
    """
    logit = out[:, :2].float()
    chance = logit.sigmoid().clamp(1e-4, 1 - 1e-4)
    positive = (heat >= 0.999).float() * weight
    gain = positive * (1 - chance) ** 2 * chance.log()
    cost = (1 - heat) ** 4 * chance**2 * (1 - chance).log() * weight * (heat < 0.999)
    centres = positive.sum().clamp(min=1)
    focal = -(gain.sum() + cost.sum()) / centres

    near, known, boxed = regress[:, 0], regress[:, 1], regress[:, 2]
    offset = ((out[:, 2:4] - regress[:, 3:5]).abs().sum(1) * near).sum() / near.sum().clamp(min=1)
    gap = (out[:, 4:9] - regress[:, 5:10]).abs()
    importance = gap.new_tensor([2.0, 1.5, 1.5, 0.7, 0.7])[None, :, None, None]
    shapes = ((gap * importance).sum(1) * known).sum() / known.sum().clamp(min=1)

    # The half axes of vision.locate.axes_of_shape, turned back into the photo. Mirroring it leaves their
    # extents as they are.
    size = out[:, 4].clamp(-3, 4).exp()
    a, b = out[:, 5], out[:, 6]
    stretch = (a**2 + b**2 + 1e-6).sqrt()
    grow, lean = (stretch / 2).cosh(), (stretch / 2).sinh() / stretch
    angle = torch.atan2(out[:, 8], out[:, 7] + 1e-4) / 4
    cos, sin = angle.cos(), angle.sin()
    root = (grow + lean * a, lean * b, lean * b, grow - lean * a)
    columns = (
        (root[0] * cos + root[1] * sin, root[2] * cos + root[3] * sin),
        (root[1] * cos - root[0] * sin, root[3] * cos - root[2] * sin),
    )
    cos_turn, sin_turn = regress[:, 12], regress[:, 13]
    half_w = size * sum((x * cos_turn + y * sin_turn).abs() for x, y in columns)
    half_h = size * sum((y * cos_turn - x * sin_turn).abs() for x, y in columns)
    box_gap = (half_w - regress[:, 10]).abs() + (half_h - regress[:, 11]).abs()
    box_gap = box_gap / (regress[:, 10] + regress[:, 11]).clamp(min=1)
    box = (box_gap * boxed).sum() / boxed.sum().clamp(min=1)
    total = focal + 0.5 * offset + shapes + 1.5 * box
    parts = {"focal": focal.item(), "offset": offset.item(), "shapes": shapes.item(), "box": box.item()}
    return total, parts


def loss_of_batch(net: nn.Module, batch: Sequence[Tensor]) -> tuple[Tensor, dict[str, float]]:
    """The loss of one batch of `Crops`, and its parts."""
    image, heat, weight, regress = batch
    pixels = (image.float() / 255).to(memory_format=torch.channels_last)
    return loss_of(net(pixels), heat, weight, regress)


def main(argv: Sequence[str] | None = None) -> int:
    parser = parser_of("Train a locator of pieces.", steps=7000, batch=8)
    parser.add_argument("--share", type=float, default=0.5, help="share of rendered scenes in a batch")
    args = parser.parse_args(argv)
    prepare(args)
    data = data_folder(args.data)
    photos = real_photos(data, args.folds) if args.folds else []
    for folder in args.rendered:
        photos += rendered_photos(folder)
    if not photos:
        parser.error("nothing to learn from: give --rendered or --folds")
    crops = Crops(photos, args.steps * args.batch, args.share, args.seed)
    fit(Locator(), crops, loss_of_batch, args)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
