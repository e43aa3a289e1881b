"""Frames of a camera, a video or a folder of pictures, each with the second at which it was taken."""

from __future__ import annotations

import glob
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from vision.load import Photo, PhotoError, load_photo

Frame = tuple[float, Photo]

RATE = 6.0
"""Frames a second that are taken from a video, and that the pictures of a folder are taken to be."""
WANTED = (1920, 1080)
"""Size asked of a camera; it gives the nearest it has."""
BUFFERED_S = 0.004
"""A frame that comes sooner than this had been waiting in the driver's buffer."""
MOST_BUFFERED = 8
PICTURES = frozenset((".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif", ".avif", ".bmp", ".gif"))


class FramesError(ValueError):
    """There are no frames, or no more of them; the text tells people why."""


def from_camera(index: int) -> Iterator[Frame]:
    """The newest frame of a camera whenever one is asked for, without end. Raises `FramesError`."""
    # Its own complaints on a missing camera are many lines, and for developers.
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    capture = cv2.VideoCapture(index)
    try:
        if not capture.isOpened():
            raise FramesError(
                f"there is no camera {index}, or another program uses it; "
                "--camera takes another number, --source a video or a folder of frames"
            )
        # Most webcams give their large sizes at full rate only as JPEG.
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, WANTED[0])
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, WANTED[1])
        while True:
            for _ in range(MOST_BUFFERED):
                asked = time.monotonic()
                if not capture.grab():
                    raise FramesError(f"camera {index} gives no more pictures")
                if time.monotonic() - asked > BUFFERED_S:
                    break
            at = time.monotonic()
            yield at, _photo(capture.retrieve()[1], f"camera {index}")
    finally:
        capture.release()


def from_source(source: str) -> Iterator[Frame]:
    """The frames of a video file, of a folder of pictures or of a pattern such as ``look/*.jpg``, by name.

    Raises `FramesError` for what is none of these, and for a picture that cannot be read.
    """
    path = Path(source)
    if path.is_dir():
        return _pictures(sorted(one for one in path.iterdir() if one.suffix.lower() in PICTURES), source)
    if path.is_file():
        return _video(path)
    return _pictures(sorted(map(Path, glob.glob(source))), source)  # noqa: PTH207 (it may be absolute)


def _pictures(files: list[Path], source: str) -> Iterator[Frame]:
    if not files:
        raise FramesError(f"{source}: no frames there")
    for number, file in enumerate(files):
        try:
            yield number / RATE, load_photo(file)
        except PhotoError as error:
            raise FramesError(f"{file}: {error}") from error


def _video(path: Path) -> Iterator[Frame]:
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    capture = cv2.VideoCapture(str(path))
    try:
        rate = capture.get(cv2.CAP_PROP_FPS) if capture.isOpened() else 0.0
        rate = rate if 0 < rate < 1000 else 30.0
        step, number = max(1, round(rate / RATE)), 0
        while capture.grab():
            if number % step == 0:
                yield number / rate, _photo(capture.retrieve()[1], path.name)
            number += 1
        if number == 0:
            raise FramesError(f"{path}: neither a video that can be read nor a folder of frames")
    finally:
        capture.release()


def _photo(image: np.ndarray, name: str) -> Photo:
    return Photo(name, np.ascontiguousarray(image, np.uint8), image.shape[1], image.shape[0])
