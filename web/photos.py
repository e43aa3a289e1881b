"""From uploaded bytes to a reading: the one place where the web meets vision."""

from __future__ import annotations

import base64
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from companion.reading import Expectation, Reading

if TYPE_CHECKING:
    from vision.load import Photo
    from vision.sets import TileSet
    from vision.steady import Steady, View

PREVIEW_SIDE = 1600
"""Longest side of the preview in pixels: sharp on a phone, 200-400 kB."""

PREVIEW_QUALITY = 82

MOST_FRAME_SIDE = 2000
"""Pixels; a frame of a live preview is small, or it is a photo and takes the way of photos."""

FRAME_WAIT_S = 0.5
"""A frame that gets no turn within this is out of date anyway."""


LARGE_BLOCK = 2**20
"""Bytes; from here on freed memory goes back to the system at once."""

GIVEN_WAY = 5
"""How far photos stand back behind everything else the computer does, as `nice` counts it (0 to 19)."""

T = TypeVar("T")


class ReaderLike(Protocol):
    """What the page needs of a reader; `vision.reader.Reader` is one."""

    def read(self, photo: Photo, deck: str = "auto") -> Reading: ...


class BadPhoto(Exception):
    """Bytes that are no readable photo; the text says why. Known here without OpenCV, too."""


class Busy(Exception):
    """Too many photos are being read; try again in a moment."""


class NotInstalled(Exception):
    """Something that reading needs is missing from this computer; the text, for its owner, says what."""


class PhotoReader:
    """Reads photos, a few at a time.

    at_once: how many photos are decoded and read at the same time; more would only make all of them slower.
    wait_s: how long a photo waits for its turn.

    Threads may call it freely. The work is done on threads of its own that give way to all others: a photo
    keeps every core busy for a moment, and phones that ask how their table stands must not wait for that.
    """

    def __init__(self, reader: ReaderLike | None = None, at_once: int = 2, wait_s: float = 20.0) -> None:
        self._reader = reader
        self._turns = threading.BoundedSemaphore(at_once)
        # Frames never take all turns, and none while a photo waits: previews must not hold up readings.
        self._frame_turns = threading.BoundedSemaphore(max(1, at_once - 1))
        self._waiting = 0
        self._counting = threading.Lock()
        self._wait_s = wait_s
        self._behind = ThreadPoolExecutor(at_once, "photos", initializer=_give_way)

    def warm_up(self) -> None:
        """Load the models now, so that the first photo need not wait for them; raises `NotInstalled`."""
        self._loaded()

    def read(
        self,
        file: BinaryIO,
        name: str,
        deck: str = "auto",
        tile_set: TileSet | None = None,
        expectation: Expectation | None = None,
    ) -> tuple[Reading, str]:
        """The reading of an open photo file, and a preview of it as a data URL.

        tile_set: the taught set in the photo. expectation: what the game can show; its deck is looked for
        first. Raises `BadPhoto` for bytes that are no readable photo, `Busy` when no turn comes up, and
        `NotInstalled`.
        """
        given = {"tile_set": tile_set, "expectation": expectation}
        how: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        with self.opened(file, name) as (reader, photo):
            return self._do(lambda: (reader.read(photo, deck=deck, **how), preview(photo)))

    @contextmanager
    def opened(self, file: BinaryIO, name: str) -> Iterator[tuple[ReaderLike, Photo]]:
        """The reader and an opened photo, for as long as this one's turn lasts. Raises the same as `read`."""
        reader = self._loaded()
        with self._turn():
            # Read only now: photos that wait for their turn must not fill the memory.
            yield reader, self._do(lambda: _opened(file, name))

    def picture(self, file: BinaryIO) -> bytes:
        """A photo file as a small upright JPEG with nothing else in it. Raises the same as `read`."""
        with self._turn():
            return self._do(lambda: jpeg(_opened(file, "photo")))

    def see(
        self,
        file: BinaryIO,
        at: float,
        before: Steady | None,
        expectation: Expectation | None = None,
        tile_set: TileSet | None = None,
    ) -> View:
        """One frame of a live preview, added to what is known from those before it (`vision.steady`).

        expectation: what the game can show; its deck alone is looked for, tiles where it names none. Raises
        the same as `read`.
        """
        how: dict[str, Any] = {} if tile_set is None else {"tile_set": tile_set}
        reader = self._loaded()
        from vision.steady import see, told_of

        def looked() -> View:
            photo = _opened(file, "frame")
            if max(photo.width, photo.height) > MOST_FRAME_SIDE:
                raise BadPhoto(f"the frame is too large: at most {MOST_FRAME_SIDE} pixels a side")
            return see(partial(reader.read, **told_of(expectation), **how), photo, at, before, expectation)

        with self._frame_turn():
            return self._do(looked)

    def _do(self, work: Callable[[], T]) -> T:
        """What `work` gives, done on a thread that gives way. There are as many of them as turns."""
        return self._behind.submit(work).result()

    def _loaded(self) -> ReaderLike:
        if self._reader is None:
            self._reader = self._do(_load)  # the networks' own threads give way like the one that makes them
        return self._reader

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._counting:
            self._waiting += 1
        try:
            if not self._turns.acquire(timeout=self._wait_s):
                raise Busy
        finally:
            with self._counting:
                self._waiting -= 1
        try:
            yield
        finally:
            self._turns.release()

    @contextmanager
    def _frame_turn(self) -> Iterator[None]:
        if not self._frame_turns.acquire(timeout=FRAME_WAIT_S):
            raise Busy
        try:
            if self._waiting or not self._turns.acquire(timeout=FRAME_WAIT_S):
                raise Busy
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._frame_turns.release()


def _opened(file: BinaryIO, name: str) -> Photo:
    """A photo file, upright. Raises `BadPhoto` and `NotInstalled`."""
    try:
        from vision.load import PhotoError, load_photo
    except ImportError as error:
        raise NotInstalled(str(error)) from error
    try:
        return load_photo(file, name=name)
    except PhotoError as error:
        raise BadPhoto(str(error)) from error


def _load() -> ReaderLike:
    _return_freed_memory()
    # Here, not at the top: typed hands are judged without OpenCV, ONNX Runtime and models.
    try:
        from vision.model import ModelError
        from vision.reader import Reader
    except ImportError as error:
        raise NotInstalled(str(error)) from error
    try:
        return Reader.default()  # cached and thread-safe: two threads get the same one
    except ModelError as error:
        raise NotInstalled(str(error)) from error


def _give_way() -> None:
    """Let this thread, and those it starts, run behind the others. Only Linux can do that for one thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            thread = threading.get_native_id()
            before = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, min(before + GIVEN_WAY, 19))


def _return_freed_memory() -> None:
    """Let large blocks go back to the system as soon as they are freed.

    glibc learns to keep blocks as large as the largest one freed, and does so for every thread that ever read
    a photo: without this a server for several visitors takes a quarter more (`companion bench server`).
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library, without that habit
            ctypes.CDLL("libc.so.6").mallopt(-3, LARGE_BLOCK)  # M_MMAP_THRESHOLD


def preview(photo: Photo) -> str:
    """The upright photo as a small JPEG in a data URL, for browsers that cannot show HEIC or turn a photo."""
    return "data:image/jpeg;base64," + base64.b64encode(jpeg(photo)).decode("ascii")


def jpeg(photo: Photo) -> bytes:
    """The upright photo as a small JPEG."""
    import cv2

    height, width = photo.image.shape[:2]
    scale = min(1.0, PREVIEW_SIDE / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(photo.image, size, interpolation=cv2.INTER_AREA)
    done, encoded = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, PREVIEW_QUALITY])
    if not done:
        raise RuntimeError("the preview could not be encoded")
    return encoded.tobytes()
