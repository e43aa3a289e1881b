"""A file becomes an upright picture, or an error that says to its owner what is wrong with it.

The header is read first, so that nothing is decoded that is too large or of an unknown kind. JPEG is then
decoded by OpenCV (about 70 ms for 12 megapixels, Pillow takes twice that to an array), all else by Pillow.
"""

from __future__ import annotations

import io
import re
import stat
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import cv2
import numpy as np
import numpy.typing as npt
import pi_heif
from PIL import ExifTags, Image, UnidentifiedImageError

Pixels = npt.NDArray[np.uint8]

FORMATS = ("JPEG", "PNG", "WEBP", "HEIF", "AVIF", "GIF", "BMP")
"""Pillow's names of what is read. (A JPEG of several pictures opens as MPO.) No TIFF: raw photos are TIFFs
too, and would open as their thumbnail."""

MAX_BYTES = 100_000_000
MAX_MEGAPIXELS = {"JPEG": 120, "MPO": 120}
MAX_MEGAPIXELS_WHOLE = 64
"""The limit for all formats but JPEG, which alone can be decoded reduced and so in little memory."""
MIN_SIDE = 32
"""Pixels; smaller pictures cannot show a tile."""
MAX_SCANS = 100
"""A progressive JPEG has about ten; each scan more costs a pass over the whole photo."""
ENOUGH_PIXELS = 24_000_000
"""Photos beyond are brought to half or a quarter of their side: tiles are read at far less."""

pi_heif.register_heif_opener()
# Pillow warns on stderr about damaged metadata and large sizes; both are judged here, for people.
warnings.filterwarnings("ignore", module=r"PIL\.")


class PhotoError(ValueError):
    """The photo cannot be read; the text tells its owner why."""


@dataclass(frozen=True, slots=True, eq=False)
class Photo:
    """A photo, turned upright.

    name: what its owner calls it, such as the path.
    image: (h, w, 3) uint8, BGR, C-contiguous; smaller than the photo when that is huge.
    width, height: pixels of the full upright photo.
    load_ms: milliseconds that reading the file took.
    """

    name: str
    image: Pixels
    width: int
    height: int
    load_ms: float = 0.0

    @property
    def scale(self) -> float:
        """Pixels of the photo for one pixel of `image`: 1.0, or about 2 or 4 when it was decoded reduced."""
        return self.width / self.image.shape[1]


def load_photo(source: Path | str | bytes | BinaryIO, name: str | None = None) -> Photo:
    """Read a photo from a path, its bytes or an open binary file.

    JPEG, PNG, WebP, HEIC, AVIF, GIF (first frame) and BMP are read; EXIF orientation is obeyed, what is
    transparent becomes white. Raises `PhotoError` for all that is no photo, damaged, too large or too small.

    >>> load_photo(b"hello")
    Traceback (most recent call last):
        ...
    vision.load.PhotoError: the file is not a photo: it holds text
    """
    started = time.perf_counter()
    if isinstance(source, str | Path):
        data = _file_bytes(Path(source))
        name = str(source) if name is None else name
    elif isinstance(source, bytes):
        data = source
    else:
        data = source.read(MAX_BYTES + 1)
    if not data:
        raise PhotoError("the file is empty")
    if len(data) > MAX_BYTES:
        raise PhotoError(f"the file is too large: more than {MAX_BYTES // 1_000_000} MB")

    picture = _open(data)
    width, height = picture.size
    _check_size(width, height, picture.format or "")
    reduction = _reduction(width * height)
    orientation = _orientation(picture)
    if picture.format in ("JPEG", "MPO"):
        image = _decode_jpeg(data, reduction)
    else:
        image = _decode_whole(picture, reduction)
    if orientation >= 5:  # these four lie on their side
        width, height = height, width
    upright = _turn(image, orientation)
    return Photo(name or "photo", upright, width, height, 1000 * (time.perf_counter() - started))


def _file_bytes(path: Path) -> bytes:
    """The file's bytes, cut off just beyond the limit."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                return file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: the path has a NUL in it
        raise PhotoError("there is no such file") from None
    except OSError as error:
        raise PhotoError(f"the file cannot be opened ({error.strerror})") from error
    # Opening a pipe or a device could keep us waiting for ever.
    raise PhotoError(
        "this is a folder, not a photo" if stat.S_ISDIR(mode) else "this is not an ordinary file"
    )


def _open(data: bytes) -> Image.Image:
    """Read the header only."""
    if data[4:8] == b"ftyp" and _has_broken_names(data):
        raise _damaged_head()
    try:
        return Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError:
        raise PhotoError("the photo is too large: it says that it has hundreds of megapixels") from None
    except UnidentifiedImageError:
        if data.startswith((b"\xff\xd8\xff", b"\x89PNG", b"GIF8")):
            raise _damaged_head() from None
        raise PhotoError(f"the file is not a photo: {_what_instead(data)}") from None
    except Exception as error:  # Pillow's readers raise many kinds on damaged files
        raise _damaged_head() from error


def _has_broken_names(data: bytes) -> bool:
    """Whether a HEIC file names its parts with bytes that are no text: pi-heif 1.4 would crash, not raise.

    The names stand in the `infe` boxes of the `meta` box. After the box's type, a version (1 byte), flags
    (3), an identity (2, or 4 from version 3 on) and an index (2) come a type of 4 bytes and up to three
    texts, which end in 0.
    """
    for meta in _boxes(data, b"meta"):
        for found in re.finditer(b"infe", meta):
            start = found.end() + (10 if meta[found.end() : found.end() + 1] >= b"\3" else 8)
            kind, texts = meta[start : start + 4], meta[start + 4 : start + 1024].split(b"\0", 3)[:3]
            try:
                kind.decode("ascii")
                for text in texts:
                    text.decode()
            except UnicodeDecodeError:
                return True
    return False


def _boxes(data: bytes, kind: bytes) -> Iterator[bytes]:
    """The outermost boxes of that kind in an ISO media file (HEIC)."""
    at = 0
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if size == 1:  # a longer size follows
            size = int.from_bytes(data[at + 8 : at + 16], "big")
        elif size == 0:  # up to the end
            size = len(data) - at
        if data[at + 4 : at + 8] == kind:
            yield data[at : at + size]
        if size < 8:
            return
        at += size


def _what_instead(data: bytes) -> str:
    """What a file is that is no photo, as far as its first bytes tell."""
    head = data[:1024]
    if head.startswith(b"%PDF"):
        return "it is a PDF; take a picture of the page instead"
    if head[:4] in (b"II*\0", b"MM\0*"):
        return "it is a TIFF or a raw photo; save it as JPEG or PNG"
    if head[4:8] == b"ftyp":
        return "it is a video or a kind of picture that is not known here; save it as JPEG or PNG"
    if b"\0" not in head:
        # The cut may fall within a character, so only what comes before the last few bytes must be text.
        text = head[:-4] if len(data) > len(head) else head
        try:
            text.decode()
        except UnicodeDecodeError:
            pass
        else:
            return "it holds text"
    return "it is of no known kind (JPEG, PNG, WebP, HEIC, AVIF, GIF and BMP are read)"


def _check_size(width: int, height: int, kind: str) -> None:
    limit = MAX_MEGAPIXELS.get(kind, MAX_MEGAPIXELS_WHOLE)
    if width * height > limit * 1_000_000:
        raise PhotoError(f"the photo is too large: {width} x {height} pixels, more than {limit} megapixels")
    if min(width, height) < MIN_SIDE:
        raise PhotoError(f"the photo is too small to show a piece: {width} x {height} pixels")


def _reduction(pixels: int) -> int:
    """How many times smaller each side is made: 1, 2 or 4."""
    return next((r for r in (1, 2) if pixels <= ENOUGH_PIXELS * r * r), 4)


def _orientation(picture: Image.Image) -> int:
    """EXIF orientation, 1-8. HEIC is turned by its decoder, and its EXIF then must not turn it again."""
    if picture.format == "HEIF":
        return 1
    try:
        value = picture.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # damaged metadata says nothing about the picture
        return 1
    return value if value in range(1, 9) else 1


def _decode_jpeg(data: bytes, reduction: int) -> Pixels:
    if data.count(b"\xff\xda") > MAX_SCANS:
        raise PhotoError("the photo is damaged: it has too many parts")
    flags = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4}[reduction]
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error as error:
        raise _damaged() from error
    if image is None:  # OpenCV 5 gives no picture for a JPEG that ends early; older ones gave a grey rest
        raise _damaged()
    return image.astype(np.uint8, copy=False)


def _decode_whole(picture: Image.Image, reduction: int) -> Pixels:
    try:
        picture = _rgb(picture)
        if reduction > 1:
            picture = picture.reduce(reduction)
        return cv2.cvtColor(np.asarray(picture), cv2.COLOR_RGB2BGR).astype(np.uint8, copy=False)
    except Exception as error:  # Pillow's readers raise many kinds on damaged files
        raise _damaged() from error


def _rgb(picture: Image.Image) -> Image.Image:
    """The picture in mode RGB, on white where it is transparent; with few copies, for it may be large."""
    if picture.mode == "RGB" and not picture.has_transparency_data:
        return picture
    if picture.mode.startswith("I"):  # 16-bit grey, which Pillow would clip, not scale
        grey = np.clip(np.asarray(picture) >> 8, 0, 255).astype(np.uint8)
        return Image.fromarray(grey).convert("RGB")
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layer = picture if picture.mode == "RGBA" else picture.convert("RGBA")
    ground = Image.new("RGB", layer.size, "white")
    ground.paste(layer, mask=layer)
    return ground


def _damaged_head() -> PhotoError:
    return PhotoError("the photo is damaged: its first part cannot be read")


def _damaged() -> PhotoError:
    return PhotoError("the photo is damaged or cut short: only a part of it is there")


def _turn(image: Pixels, orientation: int) -> Pixels:
    """Undo an EXIF orientation (1-8), so that the picture stands upright."""
    if orientation >= 5:
        image = cv2.transpose(image).astype(np.uint8, copy=False)
    flip = {2: 1, 3: -1, 4: 0, 6: 1, 7: -1, 8: 0}.get(orientation)
    return image if flip is None else cv2.flip(image, flip).astype(np.uint8, copy=False)
