"""Read the face of every located piece: straighten its quad, name it, say how sure that is.

Each piece is read twice. The first pass tells which way up the piece is and how far the corners are off; the
second reads it upright from the corrected corners.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import cv2
import numpy as np

from vision.adapt import Adaptation
from vision.model import Model

CROP, QUAD = 64, 50
"""The network's input side, and the side of the located quad in its middle, pixels."""
_NEAR, _FAR = (CROP - QUAD) / 2, (CROP + QUAD) / 2
TARGET = np.array([[_NEAR, _NEAR], [_FAR, _NEAR], [_FAR, _FAR], [_NEAR, _FAR]], np.float32)
BATCH = 64

WAY_KNOWN = np.array([[3.0, 0.0, 0.0, 0.0]])
"""Logits of the ways up of what does lie as it seems to."""

TURNS_ALIKE = frozenset(
    ("1p", "2p", "4p", "5p", "8p", "9p", "2s", "4s", "5s", "6s", "8s", "9s", "5z", "0p", "0s")
)
"""Faces that look the same upside-down, unless an index is printed on them."""


@dataclass(frozen=True)
class Read:
    """Faces read from n quads.

    quads: (n, 4, 2) float32, corrected, from each piece's own top-left, clockwise. chances: (n, classes),
    calibrated. upright: (n,) how sure the way up is, 0-1. embeddings: (n, e), what the class layer saw.
    colours: (n, colours) probabilities, none for networks that tell no colours.
    """

    quads: np.ndarray
    chances: np.ndarray
    upright: np.ndarray
    embeddings: np.ndarray
    colours: np.ndarray

    def take(self, which: np.ndarray | list[int]) -> Read:
        """Some of the faces, in this order."""
        return Read(*(getattr(self, field.name)[which] for field in fields(self)))

    def put(self, which: np.ndarray, others: Read) -> Read:
        """These faces with others in the place of some."""
        parts = {field.name: getattr(self, field.name).copy() for field in fields(self)}
        for name, part in parts.items():
            part[which] = getattr(others, name)
        return Read(**parts)

    def __add__(self, other: Read) -> Read:
        """These faces and then the others."""
        names = [field.name for field in fields(self)]
        return Read(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


class Pyramid:
    """A photo at halved sizes, so that large pieces are cut out without aliasing."""

    def __init__(self, image: np.ndarray):
        self.levels = [image]

    def level(self, length: float) -> tuple[np.ndarray, float]:
        """The image, and its scale, where something `length` pixels long is about as long as a crop."""
        step = 0
        while length / 2**step > 1.9 * QUAD and min(self.levels[step].shape[:2]) > 64:
            step += 1
            if step == len(self.levels):
                last = self.levels[-1]
                size = (max(1, last.shape[1] // 2), max(1, last.shape[0] // 2))
                self.levels.append(cv2.resize(last, size, interpolation=cv2.INTER_AREA))
        image = self.levels[step]
        return image, image.shape[1] / self.levels[0].shape[1]


def rectify(pyramid: Pyramid, quads: np.ndarray, side: int = CROP) -> tuple[np.ndarray, np.ndarray]:
    """Crops (n, side, side, 3) uint8 of quads (n, 4, 2), and the warps (n, 3, 3) from photo to crop.

    The quad always fills the middle QUAD pixels: a larger side shows more of what lies around it.
    """
    crops = np.empty((len(quads), side, side, 3), np.uint8)
    target = TARGET + np.float32((side - CROP) / 2)
    warps = np.empty((len(quads), 3, 3))
    for i, quad in enumerate(quads):
        longest = float(np.linalg.norm(np.roll(quad, -1, 0) - quad, axis=1).max())
        image, scale = pyramid.level(longest)
        warp = cv2.getPerspectiveTransform((quad * scale).astype(np.float32), target)
        crops[i] = cv2.warpPerspective(
            image, warp, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        warps[i] = warp @ np.diag([scale, scale, 1.0])
    return crops, warps


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


class Classifier:
    """The reader network, ready to run.

    labels: names of the classes, in order; colours: of the colours that it tells, none for most. sha256: of
    its ONNX file.
    """

    def __init__(self, model: Model):
        self.model = model
        self.sha256 = str(model.manifest.get("sha256", ""))
        self.labels: tuple[str, ...] = tuple(model.manifest["labels"])
        self.colours: tuple[str, ...] = tuple(model.manifest.get("colours", ()))
        self.temperature = float(model.manifest["temperature"])
        self.colour_temperature = float(model.manifest.get("colour_temperature", 1.0))
        common = model.manifest.get("prior", {})
        self.prior = np.array([float(common.get(label, 1.0)) for label in self.labels])

    def _run(self, crops: np.ndarray) -> tuple[np.ndarray, ...]:
        """Logits of classes and turns, corner residuals, embeddings, logits of colours (if any)."""
        parts = [self.model.run(crops[i : i + BATCH]) for i in range(0, len(crops), BATCH)]
        outputs = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
        return outputs if self.colours else (*outputs[:4], np.zeros((len(crops), 0)))

    def embed(self, crops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Embeddings (n, e) and class logits (n, classes) of upright crops (n, CROP, CROP, 3) uint8 BGR."""
        classes, _, _, embeddings, _ = self._run(crops)
        return embeddings, classes

    def glance(self, image: np.ndarray, quads: np.ndarray) -> np.ndarray:
        """What pieces at quads (n, 4, 2) seem to be at first sight, (n, classes); `read` is surer."""
        if not len(quads):
            return np.zeros((0, len(self.labels)))
        classes, *_ = self._run(rectify(Pyramid(image), np.asarray(quads, np.float32))[0])
        return softmax(classes / self.temperature)

    def read(
        self,
        image: np.ndarray,
        quads: np.ndarray,
        adaptation: Adaptation | None = None,
        as_they_lie: bool = False,
    ) -> Read:
        """Read the pieces at quads (n, 4, 2) of a photo, (height, width, 3) uint8 BGR.

        adaptation: what was learned about the tile set in the photo, made for this very model. as_they_lie:
        it is known which way up they are; else the network tells it.
        """
        if not len(quads):
            none = np.zeros((0, len(self.labels)))
            colours = np.zeros((0, len(self.colours)))
            return Read(np.zeros((0, 4, 2), np.float32), none, np.zeros(0), np.zeros((0, 0)), colours)
        pyramid = Pyramid(image)
        quads = np.asarray(quads, np.float32)
        crops, warps = rectify(pyramid, quads)
        first, turns, corners, _, first_colours = self._run(crops)
        turns = WAY_KNOWN.repeat(len(quads), 0) if as_they_lie else turns
        straight = _corrected(quads, warps, corners, turns.argmax(1))
        crops, warps = rectify(pyramid, straight)
        second, turns, corners, embeddings, colours = self._run(crops)
        turns = WAY_KNOWN.repeat(len(quads), 0) if as_they_lie else turns
        final = _corrected(straight, warps, corners * 0.7, turns.argmax(1))
        turned = np.flatnonzero(turns.argmax(1))
        chance = softmax(turns)
        if len(turned):
            crops, _ = rectify(pyramid, final[turned])
            second[turned], turns_again, _, embeddings[turned], colours[turned] = self._run(crops)
            chance[turned] = softmax(turns_again)
        logits = second + 0.5 * first
        if adaptation is not None:
            logits = adaptation.apply(embeddings, logits)
        # Training shows all faces alike; on tables some are rarer.
        chances = softmax(logits / self.temperature) * self.prior
        chances /= chances.sum(1, keepdims=True)
        colours = colours + 0.5 * first_colours
        colours = softmax(colours / self.colour_temperature) if self.colours else colours
        return Read(final.astype(np.float32), chances, chance[:, 0], embeddings, colours)


def _corrected(quads: np.ndarray, warps: np.ndarray, corners: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Quads moved by the residuals the network saw, and started at the piece's own top-left."""
    out = np.empty_like(quads)
    for i, (warp, residual, turn) in enumerate(zip(warps, corners, turns, strict=True)):
        seen = TARGET + residual.reshape(4, 2).clip(-0.15, 0.15) * CROP
        moved = cv2.perspectiveTransform(seen[None].astype(np.float64), np.linalg.inv(warp))[0]
        out[i] = np.roll(moved, -int(turn), axis=0)
    return out
