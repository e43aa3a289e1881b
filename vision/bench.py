"""How long this computer takes to read a photo, stage by stage: the vision half of `companion bench`."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import cv2
import numpy as np

from companion.reading import Expectation, Reading
from vision.load import Photo, load_photo
from vision.steady import View, see

PHONE = "12 megapixels"
SMALL = "1280 pixels"
FRAME = "live frame"
"""A frame of 960 pixels, as the page sends them, added to what the frames before it showed."""

CARDS = "1280 pixels of cards"
"""A fan of 18 cards with three laid before it, sent by a page where a game of cards is chosen."""

ANY_DECK = "1280 pixels of cards, any deck"
"""The same, where nobody tells which game is played."""

GOALS_MS = {PHONE: 400.0, SMALL: 120.0, FRAME: 200.0, CARDS: 200.0, ANY_DECK: 200.0}
"""Milliseconds in which a photo of this size is to be answered on two cores."""

NOISE = 4.0
"""Grey levels of sensor noise put on an enlarged photo: without it the JPEG is smaller than a phone's."""


class ReaderLike(Protocol):
    """What is measured; `vision.reader.Reader` is one."""

    def read(self, photo: Photo, deck: str = "auto", expectation: Expectation | None = None) -> Reading: ...


@dataclass(frozen=True, slots=True)
class Timing:
    """How one size of photo was read.

    size: `PHONE`, `SMALL`, `FRAME`, `CARDS` or `ANY_DECK`. width, height: pixels; bytes: of the JPEG file.
    pieces: how many were found. ms: median milliseconds of each stage and of it all (`total`), and the
    slowest of these (`worst`).
    """

    size: str
    width: int
    height: int
    bytes: int
    pieces: int
    ms: dict[str, float]

    @property
    def goal_ms(self) -> float:
        return GOALS_MS[self.size]

    def to_document(self) -> dict[str, Any]:
        return {
            "photo": self.size,
            "width": self.width,
            "height": self.height,
            "bytes": self.bytes,
            "pieces": self.pieces,
            "ms": {stage: round(ms, 1) for stage, ms in self.ms.items()},
            "goal_ms": self.goal_ms,
        }


def measure(sample: bytes, reader: ReaderLike, repeats: int = 9, cards: bytes | None = None) -> list[Timing]:
    """Read the sample photo of tiles, made as large as a phone's and as small as a messenger's, and as frames
    of a live preview, several times each; and that of cards, if there is one, as small as a messenger's.

    Nobody tells the reader what game is played, but for `CARDS`. The first reading of each size warms up and
    is not counted.
    """
    jpegs = sizes(sample)
    if cards is not None:
        jpegs |= dict.fromkeys((CARDS, ANY_DECK), sizes(cards)[SMALL])
    reads: dict[str, Callable[[Photo], Reading]] = {
        FRAME: _steadying(reader),
        CARDS: partial(reader.read, expectation=Expectation(sizes=(), deck="four-color")),
    }
    return [_measure(size, jpeg, reads.get(size, reader.read), repeats) for size, jpeg in jpegs.items()]


def sizes(sample: bytes) -> dict[str, bytes]:
    """The sample photo as a JPEG of each size, by name: `PHONE`, `SMALL` and `FRAME`."""
    photo = load_photo(sample)
    height, width = photo.image.shape[:2]
    side = max(width, height)
    scales = {PHONE: (12_192_768 / (width * height)) ** 0.5, SMALL: 1280 / side, FRAME: 960 / side}
    return {size: _resized(photo, scale) for size, scale in scales.items()}


def _steadying(reader: ReaderLike) -> Callable[[Photo], Reading]:
    """Reads photos as successive frames, five a second."""
    view: View | None = None

    def read(photo: Photo) -> Reading:
        nonlocal view
        view = see(reader.read, photo, view.state.at + 0.2 if view else 1.0, view.state if view else None)
        return view.reading

    return read


def _measure(size: str, jpeg: bytes, read: Callable[[Photo], Reading], repeats: int) -> Timing:
    runs: dict[str, list[float]] = {}
    for attempt in range(repeats + 1):
        started = time.perf_counter()
        photo = load_photo(jpeg)
        reading = read(photo)
        ended = time.perf_counter()
        if attempt:
            stages = {**reading.ms, "load": photo.load_ms, "total": (ended - started) * 1000}
            for stage, taken in stages.items():
                runs.setdefault(stage, []).append(taken)
    total = runs.pop("total")
    ms = {"load": statistics.median(runs.pop("load"))}
    ms |= {stage: statistics.median(values) for stage, values in runs.items()}
    ms |= {"total": statistics.median(total), "worst": max(total)}
    return Timing(size, photo.width, photo.height, len(jpeg), len(reading.sightings), ms)


def _resized(photo: Photo, scale: float) -> bytes:
    """The photo as a JPEG `scale` times its size."""
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    image = cv2.resize(photo.image, None, fx=scale, fy=scale, interpolation=way)
    if scale > 1:
        noise = cv2.randn(np.empty(image.shape, np.int16), np.zeros(3), np.full(3, NOISE))
        image = cv2.add(image, noise, dtype=cv2.CV_8U)
    done, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])
    assert done, "OpenCV always encodes an 8-bit picture of three channels"
    return jpeg.tobytes()
