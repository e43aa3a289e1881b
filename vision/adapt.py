"""Adapt the reader to one tile set, at once, on the CPU, with nothing but numpy.

A few labelled crops of the set correct the class logits of the shipped network. The correction is a kernel
ridge regression, over the network's embeddings, of what the shipped reader got wrong there: the true class
less the probabilities it gave; round after round of it, each on what the last one left. It is learned
firmly, and heeded only for what looks like an example: faces of another set, and those without examples, lie
farther off and keep the reading they had. With no examples nothing changes.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass

import cv2
import numpy as np

VERSION = 3
"""Of the saved form; another one is refused and made anew from the crops."""

FRAME = 80
"""Side of a kept crop, pixels: the network's crop (64) with a rim, so that it can be seen shifted too."""

SEEN = 64
"""Side of what the network sees of a kept crop."""

LOOKS = (
    (0.0, 0.0, 1.0, 0.0, (1.0, 1.0, 1.0)),
    (2.0, 1.0, 1.06, 2.2, (1.1, 0.95, 0.85)),
    (-1.0, -2.0, 0.94, 0.8, (0.65, 0.8, 0.75)),
)
"""Each crop is also learned a little off, as corners and light vary: shift x and y (pixels), size, blur
(pixels), and the light (blue, green, red).
"""

MOST = 1600
"""Views that are learned from at most; the time grows with the third power of their number."""

WIDTH = 1 / 3
"""How far the correction reaches: as a share of the usual distance between two different faces."""

HOLD = 0.3
"""How strongly the correction is held towards none, in looks: one look moves little, a dozen move much."""

GAIN, ROUNDS = 4.0, 60
"""Logits that a face read wholly wrong is moved by in one round, at most; and the rounds."""

MARGIN = 12.0
"""Logits by which the true class of an example is to lead beyond being read right, for looks farther off."""

NEAR, FAR = 0.28, 0.42
"""The correction is heeded in full up to the first distance from the nearest example and not at all beyond
the second, as shares of the usual distance between two different faces. Measured on drawn sets: tiles that it
put right lay within 0.16 but for one in ten, tiles of other sets that it would have spoilt beyond 0.33.
"""

TOTAL_LOGITS = 1.5
"""A piece is read from two looks, the second whole and the first by half: this is what both come to."""


class AdaptationError(ValueError):
    """Saved data that is no adaptation of this version; the message is for people."""


@dataclass(frozen=True)
class Examples:
    """n looks at taught faces.

    embeddings: (n, e) as the network gave them. logits: (n, classes) of the shipped reader. classes: (n,)
    index of the true class.
    """

    embeddings: np.ndarray
    logits: np.ndarray
    classes: np.ndarray


@dataclass(frozen=True)
class Adaptation:
    """What was learned about one tile set, for one model.

    model: sha256 of the network it was made for; it means nothing for another one. anchors: (n, e) float32,
    of length 1. weights: (n, classes) float32. reach: the distance (1 - cosine) over which the correction
    fades to 1/e. taught: (classes,) bool, which classes had examples.
    """

    model: str
    anchors: np.ndarray
    weights: np.ndarray
    reach: float
    taught: np.ndarray

    @staticmethod
    def learn(examples: Examples, model: str) -> Adaptation:
        """The adaptation to these examples; deterministic, and independent of their order but for rounding.

        >>> looks = Examples(np.eye(3), np.zeros((3, 2)), np.array([0, 1, 0]))
        >>> Adaptation.learn(looks, "sha").apply(np.eye(3), np.zeros((3, 2))).argmax(1).tolist()
        [0, 1, 0]
        """
        anchors = _unit(examples.embeddings)
        classes = np.asarray(examples.classes)
        n, kinds = examples.logits.shape
        if not n:
            none = np.zeros((0, kinds), np.float32)
            return Adaptation(model, anchors.astype(np.float32), none, 1.0, np.zeros(kinds, bool))
        distance = 1 - anchors @ anchors.T
        differ = classes[:, None] != classes[None]
        usual = float(np.median(distance[differ])) if differ.any() else 0.5
        reach = max(WIDTH * usual, 1e-3)
        kernel = np.exp(-distance / reach)
        solved = GAIN * np.linalg.inv(kernel + HOLD * np.eye(n))
        truth = np.eye(kinds)[classes]
        logits = np.asarray(examples.logits, np.float64) - MARGIN * truth
        weights = np.zeros((n, kinds))
        for _ in range(ROUNDS):
            weights += solved @ (truth - _chances(logits + kernel @ weights))
        taught = np.isin(np.arange(kinds), classes)
        return Adaptation(model, anchors.astype(np.float32), weights.astype(np.float32), reach, taught)

    def apply(self, embeddings: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """Corrected logits (n, classes) of pieces with these embeddings (n, e) and shipped logits.

        What looks like no example is left to the shipped reader; so is what it takes for a face that was not
        taught, unless it looks just like an example.
        """
        if not len(self.anchors):
            return logits
        distance = 1 - _unit(embeddings) @ self.anchors.T
        kernel = np.exp(-distance / self.reach)
        untaught = _chances(np.asarray(logits, np.float64))[:, ~self.taught].sum(1)
        heed = 1 - untaught * (1 - kernel.max(1) ** 2)
        usual = self.reach / WIDTH
        within = np.clip((FAR - distance.min(1) / usual) / (FAR - NEAR), 0, 1)
        heed *= within * within * (3 - 2 * within)
        corrected: np.ndarray = logits + heed[:, None] * (kernel @ self.weights)
        return corrected

    def to_bytes(self) -> bytes:
        """The saved form, an npz file; `from_bytes` gives back exactly this."""
        file = io.BytesIO()
        np.savez_compressed(
            file,
            version=np.array(VERSION),
            model=np.array(self.model),
            anchors=self.anchors,
            weights=self.weights,
            reach=np.array(self.reach),
            taught=self.taught,
        )
        return file.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> Adaptation:
        """Raises AdaptationError for what is no adaptation of this version."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as saved:
                if int(saved["version"]) != VERSION:
                    raise AdaptationError(f"saved by version {int(saved['version'])}, not {VERSION}")
                anchors, weights, taught = saved["anchors"], saved["weights"], saved["taught"]
                if anchors.ndim != 2 or weights.shape != (len(anchors), len(taught)):
                    raise AdaptationError("the saved adaptation is damaged")
                return Adaptation(str(saved["model"]), anchors, weights, float(saved["reach"]), taught)
        except (OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise AdaptationError("the saved adaptation is damaged") from error
        except ValueError as error:
            if isinstance(error, AdaptationError):
                raise
            raise AdaptationError("the saved adaptation is damaged") from error


def views(crops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kept crops (n, FRAME, FRAME, 3) as the network may meet them, and which crop each view is of.

    Every face is seen in all four quarter turns: on artwork that it does not know, the network is often
    wrong about the way up. With many crops there are fewer views of each, `MOST` in all; the newest crops
    (the last ones) win.
    """
    crops = crops[-MOST:]
    plan = [(look, turn) for look in LOOKS for turn in range(4)]
    plan = plan[: max(1, MOST // max(1, len(crops)))]
    middle, half = FRAME / 2, SEEN / 2
    seen, of = [], []
    for number, crop in enumerate(crops):
        for (x, y, size, blur, light), turn in plan:
            warp = np.array([[size, 0, half + x - middle * size], [0, size, half + y - middle * size]])
            view = cv2.warpAffine(
                crop, warp, (SEEN, SEEN), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            )
            if blur:
                view = cv2.GaussianBlur(view, (0, 0), blur)
            view = np.clip(view * np.array(light), 0, 255).astype(np.uint8)
            seen.append(np.rot90(view, turn))
            of.append(number)
    shape = (len(seen), SEEN, SEEN, 3)
    return np.array(seen, np.uint8).reshape(shape), np.array(of, int)


def _unit(rows: np.ndarray) -> np.ndarray:
    rows = np.asarray(rows, np.float64)
    unit: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def _chances(logits: np.ndarray) -> np.ndarray:
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    chances: np.ndarray = shifted / shifted.sum(1, keepdims=True)
    return chances
