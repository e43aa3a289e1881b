"""Loading photos: every format and orientation ends upright, everything else in a `PhotoError` for people."""

from __future__ import annotations

import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import ExifTags, Image

from vision import load
from vision.load import Photo, PhotoError, load_photo

DATA = Path(__file__).parents[1] / "data" / "photos"

RED, GREEN, BLUE, WHITE = (220, 0, 0), (0, 200, 0), (0, 0, 220), (255, 255, 255)
UPRIGHT = "red green / blue white"
STORED_AS = {  # what a camera has done to the upright picture before it notes this orientation
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def quarters(width: int = 96, height: int = 64) -> Image.Image:
    """A picture whose four quarters tell which way it is turned."""
    pixels = np.empty((height, width, 3), np.uint8)
    top, left = height // 2, width // 2
    pixels[:top, :left], pixels[:top, left:], pixels[top:, :left], pixels[top:, left:] = (
        RED,
        GREEN,
        BLUE,
        WHITE,
    )
    return Image.fromarray(pixels)


def encoded(picture: Image.Image, kind: str, orientation: int | None = None, **options: Any) -> bytes:
    if orientation is not None:
        exif = Image.Exif()
        exif[ExifTags.Base.Orientation] = orientation
        options["exif"] = exif
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def noise_jpeg(width: int = 200, height: int = 160, **options: Any) -> bytes:
    """A JPEG with detail everywhere, so that each cut loses something."""
    pixels = np.random.default_rng(1).integers(0, 256, (height // 8, width // 8, 3), np.uint8)
    return encoded(Image.fromarray(pixels).resize((width, height)), "JPEG", **options)


def colours(photo: Photo) -> str:
    """The colours of the quarters, in reading order."""
    names = {"red": RED, "green": GREEN, "blue": BLUE, "white": WHITE}
    height, width = photo.image.shape[:2]

    def name(x: float, y: float) -> str:
        rgb = photo.image[int(y * height), int(x * width), ::-1].astype(int)
        return min(names, key=lambda n: int(np.abs(rgb - names[n]).sum()))

    return f"{name(0.25, 0.25)} {name(0.75, 0.25)} / {name(0.25, 0.75)} {name(0.75, 0.75)}"


def reason(source: Path | str | bytes) -> str:
    with pytest.raises(PhotoError) as caught:
        load_photo(source)
    return str(caught.value)


@pytest.mark.parametrize("orientation", STORED_AS)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_every_orientation_is_turned_upright(kind: str, orientation: int) -> None:
    stored = quarters() if (turn := STORED_AS[orientation]) is None else quarters().transpose(turn)
    photo = load_photo(encoded(stored, kind, orientation))
    assert colours(photo) == UPRIGHT
    assert (photo.width, photo.height) == (96, 64)
    assert photo.image.shape == (64, 96, 3)
    assert photo.image.flags.c_contiguous


@pytest.mark.parametrize("name", ["upright.heic", "turned-6.heic"])
def test_heic_is_turned_once(name: str) -> None:
    photo = load_photo(DATA / name)
    assert colours(photo) == UPRIGHT
    assert (photo.width, photo.height) == (96, 64)


@pytest.mark.parametrize("kind", ["GIF", "BMP", "MPO"])
def test_other_formats_are_read(kind: str) -> None:
    assert colours(load_photo(encoded(quarters(), kind))) == UPRIGHT


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_nonsense_orientation_is_upright(kind: str) -> None:
    assert colours(load_photo(encoded(quarters(), kind, orientation=77))) == UPRIGHT


def test_a_photo_comes_from_a_path_a_string_bytes_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tiles.png"
    quarters().save(path)
    assert load_photo(path).name == load_photo(str(path)).name == str(path)
    assert load_photo(path.read_bytes()).name == "photo"
    with path.open("rb") as file:
        photo = load_photo(file, name="upload.png")
    assert photo.name == "upload.png"
    assert colours(photo) == UPRIGHT


def test_png_with_transparency_lies_on_white() -> None:
    see_through = quarters().convert("RGBA")
    see_through.paste((0, 0, 0, 0), (0, 0, 48, 32))
    assert colours(load_photo(encoded(see_through, "PNG"))) == "white green / blue white"
    palette = quarters().quantize(4)
    red = palette.getpixel((0, 0))
    assert colours(load_photo(encoded(palette, "PNG"))) == UPRIGHT
    assert colours(load_photo(encoded(palette, "PNG", transparency=red))) == "white green / blue white"


@pytest.mark.parametrize("mode", ["L", "LA", "1"])
def test_grey_pngs_keep_their_brightness(mode: str) -> None:
    photo = load_photo(encoded(Image.new("L", (40, 40), 255).convert(mode), "PNG"))
    assert (photo.image == 255).all()


def test_sixteen_bit_pngs_are_scaled_not_clipped() -> None:
    ramp = np.tile(np.linspace(0, 65535, 64).astype(np.uint16), (40, 1))
    grey = load_photo(encoded(Image.fromarray(ramp), "PNG"))
    assert np.abs(grey.image[0, :, 0].astype(int) - np.linspace(0, 255, 64)).max() <= 1

    # Pillow cannot write 16-bit colour, so this PNG is put together by hand: two bytes a channel, no filter.
    row = b"\0" + struct.pack(">3H", 0xDC00, 0, 0) * 40
    header = struct.pack(">2I5B", 40, 40, 16, 2, 0, 0, 0)
    colour = load_photo(png(header, zlib.compress(row * 40)))
    assert colour.image[0, 0].tolist() == [0, 0, 0xDC]


def png(header: bytes, pixels: bytes) -> bytes:
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_jpegs_of_other_colour_models(mode: str) -> None:
    photo = load_photo(encoded(quarters().convert(mode), "JPEG"))
    assert photo.image.shape == (64, 96, 3)
    assert photo.image[50, 80].min() > 240


def test_huge_photos_are_decoded_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "ENOUGH_PIXELS", 96 * 64 // 3)  # as if this were a photo of 72 megapixels
    for kind in ("JPEG", "PNG"):
        photo = load_photo(encoded(quarters(), kind))
        assert photo.image.shape == (32, 48, 3)
        assert (photo.width, photo.height, photo.scale) == (96, 64, 2)
        assert colours(photo) == UPRIGHT
    turned = load_photo(
        encoded(quarters(192, 128).transpose(Image.Transpose.ROTATE_90), "JPEG", orientation=6)
    )
    assert turned.image.shape == (32, 48, 3)
    assert (turned.width, turned.height, turned.scale) == (192, 128, 4)
    assert colours(turned) == UPRIGHT


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_rows": 1}], ids=str)
def test_a_truncated_jpeg_is_refused_wherever_it_ends(options: dict[str, Any]) -> None:
    whole = noise_jpeg(**options)
    load_photo(whole)
    for end in [*range(1, len(whole), 97), *range(len(whole) - 12, len(whole))]:
        assert "photo" in reason(whole[:end])
    assert "damaged" in reason(whole[:40])
    assert "cut short" in reason(whole[: len(whole) // 2])
    assert "cut short" in reason(whole[:-2])
    assert "cut short" in reason(whole[: len(whole) // 2] + bytes(len(whole) // 2))  # room kept, never filled


def test_a_thumbnail_does_not_hide_that_a_jpeg_is_truncated() -> None:
    thumbnail = encoded(quarters(), "JPEG")
    header = b"\xff\xe1" + struct.pack(">H", len(thumbnail) + 8) + b"Exif\0\0" + thumbnail
    plain = noise_jpeg()
    whole = plain[:2] + header + plain[2:]
    assert load_photo(whole).width == 200
    assert "cut short" in reason(whole[: len(whole) - 4000])


def test_bytes_after_the_end_of_a_jpeg_are_no_harm() -> None:
    assert load_photo(noise_jpeg() + b"motion photo data" * 500).width == 200


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "AVIF", "GIF", "BMP", "HEIC"])
def test_other_truncated_photos_are_refused(kind: str) -> None:
    whole = (DATA / "upright.heic").read_bytes() if kind == "HEIC" else encoded(quarters(), kind)
    for end in (len(whole) // 4, len(whole) // 2, len(whole) * 3 // 4):
        assert "photo" in reason(whole[:end])


@pytest.mark.parametrize("name", [b"\x80xif", b"EBu\xcc"])
def test_a_heic_whose_parts_have_broken_names_is_refused(name: bytes) -> None:
    whole = (DATA / "turned-6.heic").read_bytes()
    assert whole.count(b"Exif\0\0\0\0") == 1
    assert "damaged" in reason(whole.replace(b"Exif\0", name + b"\0", 1))  # would crash pi-heif 1.4


def test_what_is_no_photo_is_named(tmp_path: Path) -> None:
    assert reason(tmp_path / "none.jpg") == "there is no such file"
    assert reason("nul\0byte.jpg") == "there is no such file"
    assert reason(tmp_path) == "this is a folder, not a photo"
    assert reason(b"") == "the file is empty"
    assert "it holds text" in reason("麻將 hand notes\n".encode() * 200)
    assert "PDF" in reason(b"%PDF-1.7\n%\xe2\xe3\0")
    assert "raw photo" in reason(encoded(quarters(), "TIFF"))
    assert "video" in reason(b"\0\0\0\x18ftypmp42" + bytes(100))
    assert "no known kind" in reason(bytes(range(256)) * 8)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert reason(tmp_path / "pipe") == "this is not an ordinary file"


@pytest.mark.parametrize(("width", "height"), [(50_000, 50_000), (12_000, 11_000), (2**31 - 1, 2**31 - 1)])
def test_bombs_are_refused_by_their_header(width: int, height: int) -> None:
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    assert "too large" in reason(png(header, zlib.compress(bytes(1_000_000))))
    jpeg = encoded(quarters(), "JPEG")
    at = jpeg.index(b"\xff\xc0") + 5
    side = struct.pack(">2H", min(height, 65535), min(width, 65535))
    assert "too large" in reason(jpeg[:at] + side + jpeg[at + 4 :])


def test_files_beyond_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 1000)
    assert "too large" in reason(noise_jpeg())
    (tmp_path / "big.jpg").write_bytes(noise_jpeg())
    assert "too large" in reason(tmp_path / "big.jpg")


@pytest.mark.parametrize("size", [(1, 1), (1000, 8)])
def test_tiny_photos_are_refused(size: tuple[int, int]) -> None:
    assert "too small" in reason(encoded(Image.new("RGB", size), "PNG"))


def test_a_jpeg_of_endless_scans_is_refused() -> None:
    jpeg = noise_jpeg(progressive=True)
    start, end = jpeg.rindex(b"\xff\xda"), len(jpeg) - 2
    assert "too many parts" in reason(jpeg[:end] + jpeg[start:end] * 200 + jpeg[end:])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_never_end_in_another_error(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(SOUND)))
    damaged = bytearray(SOUND[kind])
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        photo = load_photo(bytes(damaged))
    except PhotoError as error:
        assert str(error)
    else:
        assert photo.image.dtype == np.uint8
        assert photo.image.ndim == 3


SOUND = {kind: encoded(quarters(), kind, 6) for kind in ("JPEG", "PNG", "WEBP", "AVIF", "GIF", "BMP")} | {
    "HEIC": (DATA / "turned-6.heic").read_bytes()
}
