"""The whole way from a photo to a `companion.reading.Reading`: locate, classify, arrange."""

from __future__ import annotations

import functools
import threading
import time
from pathlib import Path

import cv2
import numpy as np

from companion.reading import BACK, Candidate, Expectation, Reading, Sighting
from vision.adapt import Adaptation
from vision.arrange import arrange
from vision.classify import TURNS_ALIKE, Classifier, Read
from vision.debug import draw_sightings
from vision.halves import find_halves
from vision.load import Photo
from vision.locate import Located, Locator
from vision.model import open_model
from vision.sets import TileSet

REJECT = "reject"
RANKED = 6
"""How many ways to read a piece are kept at most."""
LEAST = 0.001
"""Ways to read a piece that are less probable than this are left out."""
JOINED = 0.9
"""Two places that look like halves of one face are one when it is read with at least this probability."""
DOUBTED = 0.5
"""A located place that shows no piece with at least this probability is dropped."""


class Reader:
    """Reads photos of mahjong tiles. Safe to use from several threads; each stage runs on two threads of its
    own.
    """

    def __init__(self, locator: Locator, classifier: Classifier):
        self.locator, self.classifier = locator, classifier

    @staticmethod
    def default() -> Reader:
        """The reader with the shipped models; made once and kept."""
        with _making:
            return _default()

    def read(
        self,
        photo: Photo,
        deck: str = "auto",
        expectation: Expectation | None = None,
        debug: Path | None = None,
        tile_set: TileSet | None = None,
    ) -> Reading:
        """Read a photo. Quads of the result are in pixels of the full upright photo.

        tile_set: the taught set in the photo; without one, or with one that is switched off, nothing differs.
        deck: `auto` or `mahjong`; ValueError for others. debug: a folder for a picture of every stage.
        """
        if deck not in ("auto", "mahjong"):
            raise ValueError(f"the deck {deck!r} cannot be read: only mahjong tiles can")
        adaptation = None if tile_set is None else tile_set.adaptation(self.classifier)
        start = time.perf_counter()
        located = self.locator.locate(photo.image)
        after_locate = time.perf_counter()
        quads = np.array([piece.quad for piece in located], np.float32).reshape(-1, 4, 2)
        read = self.classifier.read(photo.image, quads, adaptation)
        located, read = self._without_halves(photo.image, located, read, adaptation)
        after_classify = time.perf_counter()
        sightings = sightings_of(located, read, self.classifier.labels, photo.scale)
        placed = arrange(sightings, photo.width, photo.height, expectation)
        done = time.perf_counter()
        if debug is not None:
            _write_debug(debug, photo, located, placed.sightings)
        return Reading(
            photo=photo.name,
            deck="mahjong" if placed.sightings else None,
            width=photo.width,
            height=photo.height,
            sightings=placed.sightings,
            melds=placed.melds,
            warnings=placed.warnings,
            winning=placed.winning,
            unnamed=placed.unnamed,
            ms={
                "load": photo.load_ms,
                "locate": 1000 * (after_locate - start),
                "classify": 1000 * (after_classify - after_locate),
                "arrange": 1000 * (done - after_classify),
                "total": photo.load_ms + 1000 * (done - start),
            },
        )

    def _without_halves(
        self, image: np.ndarray, located: list[Located], read: Read, adaptation: Adaptation | None
    ) -> tuple[list[Located], Read]:
        """The same with one piece, read anew, in place of each two that are halves of it."""
        faces = [i for i, piece in enumerate(located) if piece.kind == "face"]
        pairs = find_halves(np.array([located[i].quad for i in faces], np.float64).reshape(-1, 4, 2))
        if not pairs:
            return located, read
        whole = self.classifier.read(image, np.array([pair.quad for pair in pairs]), adaptation)
        best = whole.chances.argmax(1)
        real = np.array([self.classifier.labels[k] not in (REJECT, BACK) for k in best])
        sure = np.flatnonzero(real & (whole.chances.max(1) >= JOINED))
        halves = {faces[i] for k in sure for i in (pairs[k].first, pairs[k].second)}
        rest = [i for i in range(len(located)) if i not in halves]
        joined = [Located(whole.quads[k], "face", located[faces[pairs[k].first]].score) for k in sure]
        parts = ("quads", "chances", "upright", "embeddings")
        return [located[i] for i in rest] + joined, Read(
            *(np.concatenate([getattr(read, part)[rest], getattr(whole, part)[sure]]) for part in parts)
        )


_making = threading.Lock()


@functools.cache
def _default() -> Reader:
    return Reader(Locator(open_model("mahjong-locator")), Classifier(open_model("mahjong-reader")))


def sightings_of(located: list[Located], read: Read, labels: tuple[str, ...], scale: float) -> list[Sighting]:
    """Sightings of what was read, places without a piece left out; quads multiplied by `scale`."""
    names = np.array(labels)
    reject = labels.index(REJECT)
    quads = _facing_alike(read, names)
    found = []
    for quad, chances in zip(quads, read.chances, strict=True):
        if chances[reject] >= DOUBTED:
            continue
        order = [i for i in np.argsort(-chances)[: RANKED + 1] if i != reject][:RANKED]
        candidates = tuple(
            Candidate(str(names[i]), float(chances[i])) for i in order if chances[i] >= LEAST or i == order[0]
        )
        corners = tuple((float(x), float(y)) for x, y in quad * scale)
        found.append(Sighting(corners, candidates, "back" if candidates[0].piece == BACK else "hand"))  # type: ignore[arg-type]
    return found


def _facing_alike(read: Read, names: np.ndarray) -> np.ndarray:
    """Quads with pieces that look the same upside-down turned the way of the others.

    Half a turn does not change such a piece; its neighbours say which way up it lies.
    """
    quads = read.quads.copy()
    if not len(quads):
        return quads
    ups = (quads[:, 0] + quads[:, 1] - quads[:, 2] - quads[:, 3]) / 2
    alike = np.array([str(names[i]) in TURNS_ALIKE or str(names[i]) == BACK for i in read.chances.argmax(1)])
    certain = ups[~alike & (read.upright > 0.8)]
    if not len(certain):
        return quads
    common = (certain / np.maximum(np.linalg.norm(certain, axis=1, keepdims=True), 1e-6)).sum(0)
    for i in np.flatnonzero(alike & (ups @ common < 0)):
        quads[i] = np.roll(quads[i], -2, axis=0)
    return quads


def _write_debug(folder: Path, photo: Photo, located: list[Located], sightings: tuple[Sighting, ...]) -> None:
    stem = Path(photo.name).stem
    picture = photo.image.copy()
    for piece in located:
        colour = (0, 0, 255) if piece.kind == "face" else (255, 0, 0)
        cv2.polylines(picture, [np.round(piece.quad).astype(np.int32)], True, colour, 2, cv2.LINE_AA)
    cv2.imwrite(str(folder / f"{stem}-1-located.jpg"), picture)
    cv2.imwrite(str(folder / f"{stem}-2-read.jpg"), draw_sightings(photo.image, sightings, photo.scale))
